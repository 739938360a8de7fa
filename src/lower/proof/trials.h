// SPDX-License-Identifier: Apache-2.0
// Trials of a proof: the first and the last unit of threads that come to the call, each with a few
// choices of what is known at run time only; and what a trial consists of.
#pragma once

#include <cstdint>
#include <functional>

#include "lower/proof/proof.h"
#include "lower/proof/walk.h"

namespace ww::lower {

/// One unit of threads with one choice of what is known at run time only.
struct Trial {
  std::int64_t first_thread;
  int sample;
  FewValues* few;      // takes note of the choice
  UnitTables* tables;  // what trials of this unit have computed
};

enum class TrialOutcome : std::uint8_t {
  Held,
  HeldAlways,  // nothing depended on the choice
  Skipped,     // the choice puts a region outside its buffer
  Failed
};

inline constexpr int kMaxTrials = 60;    // of a unit
inline constexpr int kWantedTrials = 2;  // that hold, for a unit

inline bool are_enough(int held) { return held >= kWantedTrials; }

/// Makes trials until one fails, or until enough of them hold: `is_enough` of how many do so far in
/// this unit, and what has few values has had them all, as far as they can be had. Says in `proof`
/// when no choice keeps the regions inside their buffers.
void make_trials(const Call& call, Proof& proof, const std::function<TrialOutcome(Trial)>& attempt,
                 const std::function<bool(int)>& is_enough = are_enough);

/// One trial of what a primitive is to do: what is there before the code, and what must be there after it.
class Goal {
 public:
  Goal(const Call& call, const ir::Block& code, Trial trial, Proof& proof)
      : call_(call),
        trial_(trial),
        proof_(proof),
        values_(call, trial.first_thread, trial.sample, *trial.few, *trial.tables),
        code_(code) {}
  Goal(const Goal&) = delete;
  Goal& operator=(const Goal&) = delete;
  virtual ~Goal() = default;

  TrialOutcome run();

 protected:
  /// False: the sampled values put a region outside its buffer.
  virtual Try<bool> prepare() = 0;
  /// Carries the code out, and looks at what is there then.
  virtual Try<void> compare() = 0;
  /// Was anything chosen beside sampled values?
  [[nodiscard]] virtual bool has_chosen() const { return false; }

  /// Carries the code out for the threads that arrive.
  Try<void> carry_out(ProofWalk& walk);

  const Call& call_;
  Trial trial_;
  Proof& proof_;
  ProofValues values_;

 private:
  const ir::Block& code_;
};

/// Trials of a Goal that is made from these.
template <typename GoalOf, typename... More>
Proof prove_with(const Call& call, const ir::Block& code, More&... more) {
  Proof proof;
  make_trials(call, proof,
              [&](Trial trial) { return GoalOf(call, code, trial, proof, more...).run(); });
  return proof;
}

}  // namespace ww::lower
