// SPDX-License-Identifier: Apache-2.0
// Code that computes, carried out on numbers that stand for values: what loads, stores, exchanges between
// lanes, copies of bytes, registers of its own and the memory of other CTAs do. Subclasses are algebras:
// they say what number a constant has, and what operations give. Only the destination, scratch memory and
// what the code has allocated for itself may change.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "lower/proof/numbers.h"
#include "lower/proof/scratch_order.h"
#include "lower/proof/trials.h"

namespace ww::lower {

class Machine : public ProofWalk {
 public:
  Machine(const Call& call, ProofValues& values, std::int64_t first_thread,
          const RegionElements& dst, Registers& registers);

 protected:
  // --- the algebra ---

  /// Of a constant, or of what is known by its text.
  virtual std::optional<Number> known(ir::ExprId expr) = 0;
  /// What an expression gives in each thread that executes, if it is neither known nor read.
  virtual Try<ThreadNumbers> operated(ir::ExprId expr, const Mask& mask);
  /// An instruction that computes.
  virtual Try<void> instruct(const ir::PtxCall& call, const Mask& mask);

  // --- what all do ---

  Try<ThreadNumbers> value(ir::ExprId expr, const Mask& mask);
  /// Of its operands.
  Try<std::vector<ThreadNumbers>> values_of(const ir::Expr& e, const Mask& mask);
  Try<void> store(const ir::Stmt& s, const Mask& mask) override;
  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override;
  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) override;
  Try<void> allocate(const ir::Stmt& s) override;

  /// What each thread that executes reads, behind the bit that it points to.
  Try<ThreadNumbers> read_all(const PointerValue& from, std::int64_t behind, int bits,
                              const Mask& mask);
  /// The same for writing.
  Try<void> put_all(const PointerValue& to, std::int64_t behind, int bits,
                    const ThreadNumbers& numbers, const Mask& mask);
  /// Of one thread: its own registers, the memory of its CTA, or of all.
  [[nodiscard, gnu::always_inline]] RegisterPlace place(const PointerValue& at, ir::Scope scope,
                                                        std::size_t thread, int bits) const {
    const std::size_t row = scope == ir::Scope::Local ? thread
                            : ir::is_shared(scope)    ? cta_of(thread)
                                                      : 0;
    return {at.storage, row, at.bit[thread], bits};
  }
  /// Of a register.
  Try<void> put(const RegisterPlace& at, Number number);
  [[nodiscard]] Unexpected<Unproven> not_held(const RegisterPlace& at, std::size_t thread) const;
  /// A thread reads or writes the destination in memory.
  virtual Try<void> touch(const RegisterPlace& at, std::size_t thread, bool writes);

  const Call& call_;
  const RegionElements& dst_;
  Registers& registers_;
  ScratchOrder scratch_;
  std::unordered_map<std::uint32_t, ThreadNumbers> bound_;  // by variable
  bool has_changed_ = false;                                // anything
  std::string_view unheld_ = "is not an operand";           // memory or a register without a number
  int copied_bits_ =
      0;  // of elements that copies of bytes move between memories; 0: of the storage

 private:
  /// The number of a thread's CTA in the cluster; 0 in calls of other units.
  [[nodiscard]] std::size_t cta_of(std::size_t thread) const {
    return has_ctas_ ? thread / of_cta_ : 0;
  }
  [[nodiscard]] bool is_own(ir::BufferId storage) const {
    return allocated_.contains(storage.index);
  }
  [[nodiscard]] bool is_watched(ir::BufferId storage) const {
    return !dst_.is_private && storage == dst_.storage;
  }
  [[nodiscard]] bool may_change(const RegisterPlace& at, std::size_t thread) const {
    return dst_.has(at, thread) || is_inside_own(at);
  }
  [[nodiscard]] bool is_inside_own(const RegisterPlace& at) const;
  Try<void> put_in_registers(Registers::Width& width, std::size_t place, RegisterPlace at,
                             const ThreadNumbers& numbers, const Mask& mask);
  [[nodiscard]] Unexpected<Unproven> not_to_write(const RegisterPlace& at,
                                                  std::size_t thread) const;
  Try<void> copy_bytes(const ir::Expr& e, const Mask& mask);

  /// A place in the shared memory of a CTA of the cluster.
  struct Remote {
    ir::BufferId storage;
    std::size_t cta;
    std::int64_t bit;
  };
  Try<void> map_address(const ir::PtxCall& call, const Mask& mask);
  Try<std::vector<Remote>> remotes(const ir::PtxOperand& operand, const Mask& mask);
  Try<void> store_remote(const ir::PtxCall& call, const Mask& mask);
  Try<void> expect_bytes(const ir::PtxCall& call, const Mask& mask);
  Try<void> wait(const ir::Expr& call, const Mask& mask);

  std::unordered_map<std::uint32_t, std::int64_t> allocated_;  // by buffer: bits
  std::size_t of_cta_;                                         // threads
  bool has_ctas_;
  /// By register (buffer, thread, bit): the address that it holds.
  std::map<std::tuple<std::uint32_t, std::size_t, std::int64_t>, Remote> remote_;
  /// By element of the destination in memory: the threads that have used it.
  static constexpr std::int64_t kNoThread = -1, kSeveral = -2;
  struct Users {
    std::int64_t reader = kNoThread, writer = kNoThread;
  };
  std::unordered_map<std::int64_t, Users> users_;
};

/// A region that is inside its buffer.
struct RegionRead {
  RegionElements elements;
  std::vector<std::int64_t> extents;
};

/// A goal of code that computes: registers hold numbers of the operands before it, and elements of the
/// destination theirs after it.
class NumberGoal : public Goal {
 public:
  using Goal::Goal;

 protected:
  /// Nothing: the sampled values put the region outside its buffer.
  Try<std::optional<RegionRead>> read(const ir::Region& region);
  /// Elements get number(name). Those that share a register become one number by `unite_shared`.
  template <typename NumberOf>
  void fill(const RegionElements& elements, NumberOf&& number_of) {
    Registers::Width& width = registers_.width(elements.storage, elements.bits);
    elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const Number number = number_of(name);
      if (const auto other = width.put_beside(place.thread, place.bit, number))
        shared_.unite(*other, number);
    });
  }
  void unite_shared() {
    if (!shared_.empty())
      registers_.change_all([&](Number number) { return shared_.known_as(number); });
  }
  /// Wrong with text(place, name, its number or nullptr) of the first element without wanted(name).
  template <typename Wanted, typename Text>
  Try<void> first_other(const RegionElements& elements, Wanted&& wanted, Text&& text) {
    std::string out;
    const Registers::Width& width = registers_.width(elements.storage, elements.bits);
    elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      if (!out.empty()) return;
      const Number* const number = width.find(place.thread, place.bit);
      if (number == nullptr || *number != wanted(name)) out = text(place, name, number);
    });
    return out.empty() ? Try<void>() : wrong("{}", out);
  }

  Registers registers_;
  SharedNumbers shared_;
};

/// What a product multiplies.
struct ProductSizes {
  std::int64_t m = 0, n = 0, k = 0;
  bool turns_a = false, turns_b = false;

  friend bool operator==(const ProductSizes&, const ProductSizes&) = default;
};
/// `turns`: the argument that says whether A is transposed; that of B follows.
Try<ProductSizes> product_sizes(const Call& call, ProofValues& values, std::size_t turns);

}  // namespace ww::lower
