// SPDX-License-Identifier: Apache-2.0
// What the expressions of a function are in one round of its expanded loops (lower/expand.cpp).
// Nodes in which no replaced name occurs stay as they are; the others are made anew, with constants
// folded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/id_map.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::lower {

/// a + b in `f` with one constant at the end: (x + 1) + y is (x + y) + 1. `like` says whether that is
/// index arithmetic; what is taken apart must be, too.
ir::ExprId folded_sum(ir::Function& f, ir::ExprId a, ir::ExprId b, ir::Expr like);

class RoundExprs {
 public:
  /// `out` begins as a copy of `in`. Both must outlive this, as must the facts.
  RoundExprs(const ir::Function& in, ir::Function& out, const ir::Facts& facts)
      : in_(in),
        out_(out),
        var_depths_(in.var_count(), kStays),
        twins_(in.buffer_count()),
        buffer_depths_(in.buffer_count(), kStays),
        expr_depths_(in.expr_count(), kUnknown),
        values_(in.var_count()),
        done_(in.expr_count()),
        constants_(in.expr_count()),
        simplifier_(out, facts) {}

  // Before the first round, in program order: the names that mean something else in each round of the
  // loop of that depth, counted among the loops around it that are expanded.
  void open(ir::VarId var, int depth = 1) { var_depths_[var.index] = depth; }
  void open(ir::BufferId buffer, int depth) {
    twins_[buffer.index] = buffer;
    buffer_depths_[buffer.index] = depth;
  }
  /// Does an opened name occur in it?
  bool changes(ir::ExprId id) { return depth_of(id) != kStays; }

  /// Another round of the loop with that variable. What depends on loops around it alone stays.
  void begin_round(ir::VarId loop) {
    const auto depth = static_cast<std::size_t>(var_depths_[loop.index]);
    if (began_.size() <= depth) began_.resize(depth + 1, 1);
    began_[depth] = ++round_;
  }
  /// What stands for the name from here on.
  void set(ir::VarId var, ir::ExprId value) { values_[var.index] = value; }
  void set(ir::BufferId buffer, ir::BufferId twin) { twins_[buffer.index] = twin; }
  [[nodiscard]] bool has_twins(ir::BufferId id) const { return twins_[id.index].valid(); }
  [[nodiscard]] ir::BufferId buffer(ir::BufferId id) const {
    return has_twins(id) ? twins_[id.index] : id;
  }

  /// The expression in this round; none stays none.
  ir::ExprId value(ir::ExprId id);
  /// The same, simplified where folding alone leaves more than a sum.
  ir::ExprId index(ir::ExprId id) { return id.valid() ? simpler(id, value(id)) : id; }
  /// An expression of the new function.
  ir::ExprId simplified(ir::ExprId id) { return simplifier_.simplify(id); }

 private:
  static constexpr int kUnknown = -2, kStays = -1;  // in place of a depth
  /// By ExprId: what the expression is, or which number, and in which round.
  template <typename T>
  struct Found {
    std::uint64_t round = 0;
    T value = {};
  };

  /// The greatest depth of an opened name in it.
  int depth_of(ir::ExprId id);
  /// Does what was found in that round still hold for an expression that changes? Round 0 is none.
  [[nodiscard]] bool lasts(std::uint64_t round, ir::ExprId id) const {
    const auto depth = static_cast<std::size_t>(expr_depths_[id.index]);
    return round >= (depth < began_.size() ? began_[depth] : 1);
  }
  ir::ExprId rebuilt(ir::ExprId id);
  /// The integer that an expression is in this round, if constants alone make it up. Most indices are
  /// one, and none of the nodes on the way to it is needed.
  std::optional<std::int64_t> constant(ir::ExprId id);
  [[nodiscard]] std::optional<std::int64_t> folded_constant(const ir::Expr& e);
  ir::ExprId number(num::DType type, std::int64_t value);
  ir::ExprId simpler(ir::ExprId before, ir::ExprId after);
  bool is_hard(ir::ExprId id);

  const ir::Function& in_;
  ir::Function& out_;
  std::vector<int> var_depths_;       // by VarId: of the loop in whose rounds it changes
  std::vector<ir::BufferId> twins_;   // by BufferId: that of this round; none where all share one
  std::vector<int> buffer_depths_;    // by BufferId
  std::vector<int> expr_depths_;      // by ExprId
  std::vector<std::uint64_t> began_;  // by depth: the round that lasts
  std::vector<ir::ExprId> values_;    // by VarId: what stands for it now
  std::vector<Found<ir::ExprId>> done_;
  std::vector<Found<std::optional<std::int64_t>>> constants_;
  HashIndex numbers_;  // constants that were made already
  std::uint64_t round_ = 1;
  ir::Simplifier simplifier_;
};

}  // namespace ww::lower
