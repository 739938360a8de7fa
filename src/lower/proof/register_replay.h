// SPDX-License-Identifier: Apache-2.0
// Code that computes on registers, carried out on numbers that stand for values: what loads, stores
// and registers of its own do. Subclasses say what an expression gives. Only the destination, and
// what the code has allocated for itself, may change.
#pragma once

#include <unordered_map>

#include "lower/proof/meaning.h"
#include "lower/proof/registers.h"
#include "lower/proof/walk.h"

namespace ww::lower {

class RegisterReplay : public ProofWalk {
 public:
  RegisterReplay(const Call& call, ProofValues& values, const RegionElements& dst,
                 Registers& registers)
      : ProofWalk(call, values),
        dst_(dst),
        registers_(registers),
        of_cta_(static_cast<std::size_t>(call.context.launch.threads())),
        has_ctas_(call.is_of_cluster()) {}

 protected:
  virtual Try<ThreadNumbers> value(ir::ExprId expr, const Mask& mask) = 0;

  /// Memory is the same for all threads; shared memory for those of a CTA, by the CTA's number.
  [[nodiscard]] RegisterPlace place(const PointerValue& at, std::size_t thread, int bits) const;
  /// The same where the memory that `at` leads to is known already.
  [[nodiscard, gnu::always_inline]] RegisterPlace place(const PointerValue& at, ir::Scope scope,
                                                        std::size_t thread, int bits) const {
    const std::size_t row = scope == ir::Scope::Local ? thread
                            : ir::is_shared(scope)    ? cta_of(thread)
                                                      : 0;
    return {at.storage, row, at.bit[thread], bits};
  }
  /// The number of a thread's CTA in the cluster; 0 in calls of other units.
  [[nodiscard]] std::size_t cta_of(std::size_t thread) const {
    return has_ctas_ ? thread / of_cta_ : 0;
  }
  /// Registers that the code has taken for itself.
  [[nodiscard]] bool is_own(ir::BufferId storage) const {
    return allocated_.contains(storage.index);
  }
  /// Are reads and writes there told to `touch`?
  [[nodiscard]] virtual bool is_watched(ir::BufferId /*storage*/) const { return false; }
  virtual Try<void> touch(const RegisterPlace& /*at*/, std::size_t /*thread*/, bool /*writes*/) {
    return {};
  }
  /// What a thread reads there.
  Try<Number> read_at(const RegisterPlace& at, std::size_t thread);
  /// The same in each thread that executes, behind the bit that it points to.
  Try<ThreadNumbers> read_all(const PointerValue& from, std::int64_t behind, int bits,
                              const Mask& mask);
  /// What a load gives.
  Try<ThreadNumbers> loaded(const ir::Expr& e, const Mask& mask);
  Try<void> store(const ir::Stmt& s, const Mask& mask) override;
  Try<void> put(const RegisterPlace& at, std::size_t thread, Number number);
  /// The same in each thread that executes, behind the bit that it points to.
  Try<void> put_all(const PointerValue& to, std::int64_t behind, int bits,
                    const ThreadNumbers& numbers, const Mask& mask);
  Try<void> allocate(const ir::Stmt& s) override;

  const RegionElements& dst_;
  Registers& registers_;

 private:
  Try<void> put_in_all(Registers::Writer& writer, std::size_t place, RegisterPlace at,
                       const ThreadNumbers& numbers, const Mask& mask);
  [[nodiscard]] bool is_inside_own(const RegisterPlace& at) const;
  [[nodiscard]] Unexpected<Unproven> not_to_write(const RegisterPlace& at,
                                                  std::size_t thread) const;
  [[nodiscard]] Unexpected<Unproven> not_an_operand(const RegisterPlace& at,
                                                    std::size_t thread) const;

  std::unordered_map<std::uint32_t, std::int64_t> allocated_;  // by buffer: bits
  std::size_t of_cta_;                                         // threads
  bool has_ctas_;
};

/// A region that is inside its buffer.
struct RegionRead {
  RegionElements elements;
  std::vector<std::int64_t> extents;
};
/// Nothing: the sampled values put the region outside its buffer.
Try<std::optional<RegionRead>> read_region(const Call& call, ProofValues& values,
                                           const ir::Region& region, std::int64_t first_thread);

}  // namespace ww::lower
