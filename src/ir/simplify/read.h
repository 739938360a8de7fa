// SPDX-License-Identifier: Apache-2.0
// From IR expressions to sums.
#pragma once

#include <optional>

#include "base/id_map.h"
#include "ir/simplify/sum.h"

namespace ww::ir {

/// Reads expressions of one function, which may share parts: what was read is kept.
class SumReader {
 public:
  /// `inlined`: variables that stand for an expression are read as that expression.
  SumReader(const Function& function, const Facts& facts, bool inlined)
      : f_(function), atoms_(function, facts), inlined_(inlined) {}

  /// Stays where it is when others are read.
  const Sum& read(ExprId expr);
  /// Did it read a variable that means an expression? If not, inlining changes nothing.
  [[nodiscard]] bool has_names() const { return has_names_; }
  [[nodiscard]] const Atoms& atoms() const { return atoms_; }

 private:
  Sum read_new(const Expr& e, ExprId id);
  Sum read_integer(const Expr& e, ExprId id);
  std::optional<Sum> read_min_max(const Expr& e);
  Sum read_division(const Expr& e, ExprId id);
  Sum read_bits(const Expr& e, ExprId id);
  Sum read_choice(const Expr& e, ExprId id);
  Sum read_logic(const Expr& e, ExprId id);
  Sum read_cast(const Expr& e, ExprId id);
  Sum read_var(const Expr& e, ExprId id);
  Sum as_it_is(const Expr& e, ExprId id);

  const Function& f_;
  Atoms atoms_;
  bool inlined_;
  bool has_names_ = false;
  StableVec<Sum> sums_;         // that were read
  IdMap<std::uint32_t> known_;  // by expression: which of them it is
  int depth_ = 0;               // variables that stand for expressions, inside each other
  int level_ = 0;               // operations inside each other
};

}  // namespace ww::ir
