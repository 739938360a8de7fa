// SPDX-License-Identifier: Apache-2.0
// The expressions of a function in one round of its expanded loops (ir/unroll/unroll.cpp). Nodes
// without replaced names stay; the others are rebuilt with constants folded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/id_map.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::ir {

/// a + b in `f` with one constant at the end: (x + 1) + y is (x + y) + 1. `like` says whether that is
/// index arithmetic; what is taken apart must be, too.
ExprId folded_sum(Function& f, ExprId a, ExprId b, Expr like);

class RoundExprs {
 public:
  /// `out` begins as a copy of `in`. Both must outlive this, as must the facts.
  RoundExprs(const Function& in, Function& out, const Facts& facts)
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
  void open(VarId var, int depth = 1) { var_depths_[var.index] = depth; }
  void open(BufferId buffer, int depth) {
    twins_[buffer.index] = buffer;
    buffer_depths_[buffer.index] = depth;
  }
  /// Does an opened name occur in it?
  bool changes(ExprId id) { return depth_of(id) != kStays; }

  /// Another round of the loop with that variable. What depends on loops around it alone stays.
  void begin_round(VarId loop) {
    const auto depth = static_cast<std::size_t>(var_depths_[loop.index]);
    if (began_.size() <= depth) began_.resize(depth + 1, 1);
    began_[depth] = ++round_;
  }
  /// Replaces the name from here on.
  void set(VarId var, ExprId value) { values_[var.index] = value; }
  void set(BufferId buffer, BufferId twin) { twins_[buffer.index] = twin; }
  [[nodiscard]] bool has_twins(BufferId id) const { return twins_[id.index].valid(); }
  [[nodiscard]] BufferId buffer(BufferId id) const { return has_twins(id) ? twins_[id.index] : id; }

  /// The expression in this round; none stays none.
  ExprId value(ExprId id);
  /// The same, simplified where folding alone leaves more than a sum.
  ExprId index(ExprId id) { return id.valid() ? simpler(id, value(id)) : id; }
  /// An expression of the new function.
  ExprId simplified(ExprId id) { return simplifier_.simplify(id); }

 private:
  static constexpr int kUnknown = -2, kStays = -1;  // in place of a depth
  /// By ExprId: what the expression is, or which number, and in which round.
  template <typename T>
  struct Found {
    std::uint64_t round = 0;
    T value = {};
  };

  /// The greatest depth of an opened name in it.
  int depth_of(ExprId id);
  /// Does what was found in that round still hold for an expression that changes? Round 0 is none.
  [[nodiscard]] bool lasts(std::uint64_t round, ExprId id) const {
    const auto depth = static_cast<std::size_t>(expr_depths_[id.index]);
    return round >= (depth < began_.size() ? began_[depth] : 1);
  }
  ExprId rebuilt(ExprId id);
  /// The integer that an expression is in this round, if constants alone make it up. Most indices are
  /// one, and none of the nodes on the way to it is needed.
  std::optional<std::int64_t> constant(ExprId id);
  [[nodiscard]] std::optional<std::int64_t> folded_constant(const Expr& e);
  ExprId number(num::DType type, std::int64_t value);
  ExprId simpler(ExprId before, ExprId after);
  bool is_hard(ExprId id);

  const Function& in_;
  Function& out_;
  std::vector<int> var_depths_;       // by VarId: of the loop in whose rounds it changes
  std::vector<BufferId> twins_;       // by BufferId: that of this round; none where all share one
  std::vector<int> buffer_depths_;    // by BufferId
  std::vector<int> expr_depths_;      // by ExprId
  std::vector<std::uint64_t> began_;  // by depth: the round that lasts
  std::vector<ExprId> values_;        // by VarId: what stands for it now
  std::vector<Found<ExprId>> done_;
  std::vector<Found<std::optional<std::int64_t>>> constants_;
  HashIndex numbers_;  // constants that were made already
  std::uint64_t round_ = 1;
  Simplifier simplifier_;
};

}  // namespace ww::ir
