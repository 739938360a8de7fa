// SPDX-License-Identifier: Apache-2.0
// Ranges and divisors of integers, and simpler expressions of the same value.
//
// Values wrap around; index arithmetic does not (ir/indices.h). So an identity is used where it
// holds modulo 2^width, where ranges show that nothing wraps, or on nodes with `no_wrap`.
// `//` and `%` are floor operations throughout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ir/function.h"
#include "layout/expr.h"

namespace ww::ir {

using layout::Range;

/// What is known about the values of variables.
class Facts {
 public:
  /// min ≤ var ≤ max. The default knows the range of the variable's type only.
  void set_range(VarId var, Range range);
  /// var is always a multiple of n ≥ 1.
  void set_divisor(VarId var, std::int64_t n);
  /// var means this expression (a T.let, or a scalar that is assigned once).
  void set_value(VarId var, ExprId value);

  [[nodiscard]] std::optional<Range> range(VarId var) const;
  [[nodiscard]] std::int64_t divisor(VarId var) const;
  [[nodiscard]] ExprId value(VarId var) const;

 private:
  struct Row {
    std::optional<Range> range;
    std::int64_t divisor = 1;
    ExprId value = {};
  };
  std::vector<Row> rows_;
};

/// Ranges of scope ids and loop variables, from the function itself (loops with constant or bounded
/// extents).
Facts facts_of(const Function& function);

/// A range that holds every value of an integer expression (saturated at ±2^62): all of the type's
/// where it may wrap. Of index arithmetic it is that of the whole number, which may leave the type.
Range range_of(const Function& function, ExprId expr, const Facts& facts);
/// A number that divides every value; 0 when the value is always 0.
std::int64_t divisor_of(const Function& function, ExprId expr, const Facts& facts);

class SumReader;
/// The same two questions about many expressions of one function, which share parts: what was found
/// for one is kept for the next. The function may grow meanwhile; what is known about a variable
/// must not change once an expression with it has been asked about.
class Ranges {
 public:
  Ranges(const Function& function, const Facts& facts);
  ~Ranges();
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  [[nodiscard]] Range range(ExprId expr) const;
  [[nodiscard]] std::int64_t divisor(ExprId expr) const;
  /// Does a sum, product, negation, shift or conversion of integers stay in its type, by what its
  /// operands can be? Other operations do, but for the least number divided by -1.
  [[nodiscard]] bool stays_in_type(ExprId expr) const;

 private:
  const Function& f_;
  std::unique_ptr<SumReader> inlined_;
  std::unique_ptr<SumReader> named_;  // a name may have tighter bounds than its expression
};

/// An expression with the same value wherever the facts hold, with fewer operations where one is
/// found: sums collected over common terms, constants folded, `//` and `%` by constants resolved
/// where ranges or divisors allow ((32*w + l) // 32 is w for 0 ≤ l < 32), comparisons and choices
/// decided, min and max resolved. Integers and bools; parts of other types are kept. Idempotent.
ExprId simplify(Function& function, ExprId expr, const Facts& facts);

class SimplifierState;
/// The same for many expressions of one function, which share parts. The function may grow
/// meanwhile; what is known about a variable must not change once an expression with it has been
/// simplified.
class Simplifier {
 public:
  Simplifier(Function& function, const Facts& facts);
  ~Simplifier();
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;

  ExprId simplify(ExprId expr);

 private:
  std::unique_ptr<SimplifierState> state_;
};

/// Does the bool expression hold always / never? Nothing when not known.
std::optional<bool> decide(const Function& function, ExprId condition, const Facts& facts);

/// A copy of the expression with variables replaced; `replace` gives none for those that stay.
ExprId substitute(Function& function, ExprId expr, const std::function<ExprId(VarId)>& replace);

}  // namespace ww::ir
