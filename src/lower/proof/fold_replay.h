// SPDX-License-Identifier: Apache-2.0
// Code that folds elements (reductions, scans), carried out on multisets of names. A value has the
// elements that are folded into it, each as often as it is, and a number: of an element by its name, of
// a conversion by the types, of two folded values by what they are. Where the order does not matter
// (integers, max, min), all ways to fold the same elements have one number; sums of floats have one for
// each way that rounds differently.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "ir/simplify/fold.h"
#include "lower/proof/number_map.h"
#include "lower/proof/register_replay.h"
#include "lower/proof/scratch_order.h"

namespace ww::lower {

inline constexpr std::size_t kFoldLanes = 32;  // of a warp

/// The elements in a value: how many, and the sum of their hashes; and what has folded them.
struct Bag {
  std::int64_t count = 0;
  Number sum = 0;
  std::optional<ir::ExprOp> by = {};  // none: a single element
  bool is_mixed = false;              // by several operations or types, or with a constant
  friend bool operator==(const Bag& a, const Bag& b) {
    return a.count == b.count && a.sum == b.sum;
  }
};

/// Values by their numbers. Where the order matters, a number follows from the numbers of its parts, and
/// the elements are kept only to say what differs.
class Bags {
 public:
  Bags(ir::ExprOp op, num::DType type, bool says_elements);

  /// Room for so many values.
  void reserve(std::size_t count) {
    if (keeps_) bags_.reserve(count);
  }
  Number element(Number number);
  Number cast(num::DType from, num::DType to, Number x);
  Number folded(ir::ExprOp op, num::DType type, Number a, Number b);
  /// Without elements for a constant, which nothing but a neutral one may be.
  [[nodiscard]] Bag bag(Number x) const;
  /// What is computed from others has the elements of the first that has any.
  Number derived(Number number, std::initializer_list<Number> from);
  void constant(const ir::Constant& constant, Number number) { constants_.put(number, constant); }
  /// How a value differs from what is meant.
  [[nodiscard]] std::string what_differs(Number wanted, std::optional<Number> number) const;

 private:
  [[nodiscard]] bool is_neutral(ir::ExprOp op, num::DType type, Number x) const;

  ir::ExprOp op_;
  num::DType type_;
  bool is_ordered_ = false;
  bool keeps_;  // the elements of values
  NumberMap<Bag> bags_;
  NumberMap<ir::Constant> constants_;
};

class FoldReplay : public RegisterReplay {
 public:
  FoldReplay(const Call& call, ProofValues& values, const RegionElements& dst, Registers& registers,
             Bags& bags, std::int64_t first_thread);
  /// What is wrong in the end, beside the results.
  [[nodiscard]] std::string what_is_left() const { return scratch_.what_is_left(); }
  /// Must the code be right again and again? It is in a loop, and an mbarrier is in another phase then.
  [[nodiscard]] bool is_repeated() const { return is_in_loop_ && scratch_.has_mbarriers(); }

 private:
  Try<ThreadNumbers> value(ir::ExprId expr, const Mask& mask) override;
  [[nodiscard]] bool is_of_threads(ir::ExprId expr) const;
  Try<ThreadNumbers> counted(ir::ExprId expr);
  Try<ThreadNumbers> computed(ir::ExprId expr, const ir::Expr& e, const Mask& mask);
  Try<ThreadNumbers> exchanged(ir::ExprId expr, const ir::Expr& e, const Mask& mask);
  Try<ThreadNumbers> fetched(const ir::Expr& e, const Mask& mask);
  Try<void> store(const ir::Stmt& s, const Mask& mask) override;
  Try<void> count(const ir::Stmt& s, const Mask& mask);
  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override;
  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) override;
  Try<void> mapped(const ir::PtxCall& call, const Mask& mask);
  Try<void> stored(const ir::PtxCall& call, const Mask& mask);
  Try<void> sent(const ir::PtxCall& call, const Mask& mask);
  Try<void> expected(const ir::PtxCall& call, const Mask& mask);
  Try<void> awaited(const ir::Expr& call, const Mask& mask);
  Try<void> reduced(const ir::PtxCall& call, const Mask& mask);

  /// A place in the shared memory of a CTA of the cluster.
  struct Remote {
    ir::BufferId storage;
    std::size_t cta;
    std::int64_t bit;
  };
  /// What the register holds that an operand names as an address.
  Try<std::vector<Remote>> remotes(const ir::PtxOperand& operand, const Mask& mask);
  /// By register (buffer, thread, bit): the address that it holds.
  std::map<std::tuple<std::uint32_t, std::size_t, std::int64_t>, Remote> remote_;
  bool has_keys_;  // what is folded are keys of elements and indices
  bool is_in_loop_;
  Bags& bags_;
  const std::vector<ir::BufferId>& turns_;  // registers that count
  ScratchOrder scratch_;
};

}  // namespace ww::lower
