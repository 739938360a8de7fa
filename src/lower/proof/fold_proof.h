// SPDX-License-Identifier: Apache-2.0
// One trial of the proof of a fold between registers, a reduction or a scan: the registers of the source
// get their elements, the code is carried out (proof/fold_replay.h), and the destination must hold what
// the call means. What that is, each kind of fold says for itself.
#pragma once

#include <vector>

#include "lower/proof/fold_replay.h"
#include "lower/proof/proof.h"
#include "lower/proof/trials.h"

namespace ww::lower {

class FoldProof {
 public:
  /// `op` folds values of `type`. With `says_elements` a difference tells how many elements went where.
  FoldProof(const Call& call, const ir::Block& code, Trial trial, Proof& proof, ir::ExprOp op,
            num::DType type, bool says_elements);
  virtual ~FoldProof() = default;
  FoldProof(const FoldProof&) = delete;
  FoldProof& operator=(const FoldProof&) = delete;

  TrialOutcome run();

 protected:
  /// What registers hold before the code: the elements of the source.
  virtual void fill();
  /// How often code in a loop is carried out that has mbarriers: all turns, and the first again.
  static constexpr int kRounds = 5;
  /// By element of the destination.
  virtual std::vector<Number> meaning() = 0;

  /// An element of an operand: of argument 1 the source.
  [[nodiscard]] Number number_of(Number operand, Name name) const;
  Number folded(Number a, Number b) { return bags_.folded(op_, type_, a, b); }

  const Call& call_;
  ProofValues values_;
  ir::ExprOp op_;
  num::DType dtype_, type_;  // of elements, and of what is folded
  Bags bags_;
  RegionElements dst_, src_;
  std::vector<std::int64_t> src_extents_;
  Registers registers_;
  /// The first thread that has an element; 0 where none has.
  [[nodiscard]] std::size_t holder_of(Name name) const {
    const std::size_t holder = holders_[static_cast<std::size_t>(name)];
    return holder > 0 ? holder - 1 : 0;
  }

 private:
  Try<bool> read(std::size_t argument, RegionElements& out);
  void refill();
  void compare(const std::vector<Number>& meant);

  std::vector<std::size_t> holders_;  // by element: the first thread that has it, from 1 on
  const ir::Block& code_;
  Trial trial_;
  Proof& proof_;
};

/// The proof of a fold by a subclass of FoldProof. A trial that finds a difference is made again, to say
/// more about it.
template <typename ProofOfFold>
Proof prove_fold(const Call& call, const ir::Block& code) {
  Proof proof;
  make_trials(call, proof, [&](Trial trial) {
    const TrialOutcome outcome = ProofOfFold(call, code, trial, proof, false).run();
    if (outcome != TrialOutcome::Failed || proof.difference.empty()) return outcome;
    proof = {};
    trial.few->clear();
    return ProofOfFold(call, code, trial, proof, true).run();
  });
  return proof;
}

}  // namespace ww::lower
