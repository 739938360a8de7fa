// SPDX-License-Identifier: Apache-2.0
// From sums back to nodes, for ir/simplify/simplify.h: `i*16 + j//4 - k + 3`. Nodes are shared: a sum
// that was written before is the expression that it became then.
#pragma once

#include <optional>
#include <vector>

#include "base/id_map.h"
#include "base/stable_vec.h"
#include "ir/simplify/sum.h"

namespace ww::ir {

class Rebuild {
 public:
  Rebuild(Function& function, const Atoms& atoms) : f_(function), atoms_(atoms) {}

  /// The sum as an expression of that type. Nothing when a number does not fit the type, or an
  /// unsigned value would have to be negated.
  std::optional<ExprId> expr(const Sum& sum, Type type);

 private:
  // Positive terms before negative ones, greater coefficients first; terms of one coefficient
  // become one product.
  struct Group {
    std::int64_t coef = 1;  // ≥ 1
    std::vector<AtomId> added;
    std::vector<AtomId> subtracted;
  };
  [[nodiscard]] std::vector<Group> groups(const Sum& sum) const;
  struct Written {
    Sum sum;
    Type type;
    std::optional<ExprId> expr;
  };
  std::optional<ExprId> written(const Sum& sum, Type type);
  std::optional<ExprId> chain(const std::vector<AtomId>& added,
                              const std::vector<AtomId>& subtracted, bool exact);
  std::optional<ExprId> negated(const Group& group, Type type, bool exact);
  std::optional<ExprId> atom(AtomId id);
  std::optional<ExprId> copied(const SumAtom& atom);
  std::optional<ExprId> number(std::int64_t value, Type type);
  std::optional<ExprId> apply(ExprOp op, std::optional<ExprId> a, std::optional<ExprId> b,
                              bool exact);

  Function& f_;
  const Atoms& atoms_;
  IdMap<std::optional<ExprId>> made_;  // by atom
  StableVec<Written> written_;
  HashIndex numbers_;  // of what was written
};

}  // namespace ww::ir
