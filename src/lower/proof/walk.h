// SPDX-License-Identifier: Apache-2.0
// Carrying out lowered code for all threads of a unit at once: the control flow that every proof
// needs. What statements do to the data is for the one who derives from this.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lower/proof/names.h"
#include "lower/proof/values.h"

namespace ww::lower {

/// Whether a thread executes something. A byte, because a bit of `std::vector<bool>` takes several
/// instructions to read, and proofs ask for every thread of every statement.
class Executes {
 public:
  Executes(bool yes = false) : yes_(yes) {}  // NOLINT(google-explicit-constructor)
  operator bool() const { return yes_; }     // NOLINT(google-explicit-constructor)

 private:
  bool yes_;
};
/// Which threads of the unit execute something.
using Mask = std::vector<Executes>;

inline constexpr std::int64_t kMaxBytes = 32;  // of one access to memory

/// Does the call wait for other threads?
inline bool is_barrier(const ir::Expr& e) {
  return e.op == ir::ExprOp::Call &&
         (e.callee == ir::Intrinsic::CtaSync || e.callee == ir::Intrinsic::WarpgroupSync ||
          e.callee == ir::Intrinsic::WarpSync || e.callee == ir::Intrinsic::ClusterSync);
}

class ProofWalk {
 public:
  ProofWalk(const Call& call, ProofValues& values) : f_(call.f()), values_(values) {}
  ProofWalk(const ProofWalk&) = delete;
  ProofWalk& operator=(const ProofWalk&) = delete;
  virtual ~ProofWalk() = default;

  Try<void> block(const ir::Block& stmts, const Mask& mask);

 protected:
  // What a subclass does not carry out is unknown.
  virtual Try<void> store(const ir::Stmt& s, const Mask& mask);
  virtual Try<void> evaluate(const ir::Stmt& s, const Mask& mask);
  virtual Try<void> ptx(const ir::PtxCall& call, const Mask& mask) = 0;
  /// Registers that the code takes for itself.
  virtual Try<void> allocate(const ir::Stmt& s);
  /// Integers and pointers.
  virtual Try<void> bind(const ir::Stmt& s, const Mask& mask);

  /// Where the element of a load, an address or a store is, in the threads of the mask.
  template <typename Access>
  Try<PointerValue> element(const Access& access, const Mask& mask) {
    return element(access.buffer, std::span(access.args.begin(), access.args.size()), mask);
  }
  /// Is it shfl.sync.idx, .bfly or .up? Then `givers`, by thread, are those that it reads, all lanes of
  /// the warps taking part. Of `up`, a lane below the distance gets what it has.
  [[nodiscard]] bool is_shuffle(ir::ExprId expr) const;
  Try<std::vector<std::size_t>> givers(ir::ExprId shuffle, const Mask& mask);
  /// The register that an operand of an instruction names: by its address, or as an element.
  Try<PointerValue> register_of(const ir::PtxOperand& operand, const Mask& mask);

  ir::Function& f_;
  ProofValues& values_;

 private:
  Try<PointerValue> element(ir::BufferId buffer, std::span<const ir::ExprId> indices,
                            const Mask& mask);
  /// The places of the elements with these numbers, in the threads of the mask.
  static Try<PerUnit> placed(const layout::Layout& layout, const PerUnit& flat, const Mask& mask);
  Try<void> stmt(const ir::Stmt& s, const Mask& mask);
  Try<void> loop(const ir::Stmt& s, const Mask& mask);
  Try<void> branch(const ir::Stmt& s, const Mask& mask);
  Try<void> arm(const ir::Block& stmts, const Mask& mask, bool is_taken);
  std::int64_t steps_ = 0;
  int idle_ = 0;  // branches around this place that no thread takes
};

inline constexpr std::size_t kWarpThreads = 32;
/// The first lanes of the warps that execute a warp-collective instruction, all 32 lanes of each;
/// Wrong when only part of a warp does.
Try<std::vector<std::size_t>> whole_warps(const Mask& mask, std::string_view opcode);
/// The same for the warpgroups that execute one of theirs.
inline constexpr std::size_t kWarpgroupThreads = 128;
Try<std::vector<std::size_t>> whole_warpgroups(const Mask& mask, std::string_view opcode);

}  // namespace ww::lower
