// SPDX-License-Identifier: Apache-2.0
// Expressions as sums, for ir/simplify/simplify.h. Every integer expression is read as
//
//     constant + Σ coefficient · atom
//
// where an atom is anything that is no sum: a variable, a load, a floor division of a sum by a
// number, a minimum of two sums. Equal atoms have equal numbers, so that common terms meet. A bool
// is a sum, too: a constant 0 or 1, or one atom. Values of other types are one atom each.
//
// The value is the sum modulo 2^width. It is the sum itself where the sum cannot leave the type
// (`may_wrap` is false): by its range, or because it was read from index arithmetic (`exact`). What
// needs more than a congruence (`//`, `<`, min, a wider type) asks that first.
//
// Nothing here changes the function; `Rebuild` (simplify_rebuild.h) turns sums into nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/small_vec.h"
#include "ir/effects.h"
#include "ir/simplify/simplify.h"

namespace ww::ir {

using AtomId = std::uint32_t;

struct SumTerm {
  std::int64_t coef = 0;
  AtomId atom = 0;
  friend bool operator==(const SumTerm&, const SumTerm&) = default;
};

struct Sum {
  std::int64_t constant = 0;
  SmallVec<SumTerm, 3> terms;  // by atom, coefficients not 0
  bool exact = false;          // index arithmetic, where the range alone does not tell
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  /// One atom and nothing else.
  [[nodiscard]] bool is_atom() const {
    return constant == 0 && terms.size() == 1 && terms[0].coef == 1;
  }
  /// The same sum, whatever is known about its not overflowing.
  friend bool operator==(const Sum& a, const Sum& b) {
    return a.constant == b.constant && a.terms == b.terms;
  }
};

struct SumAtom {
  ExprOp op = ExprOp::Var;
  Type type = {};
  Type arg_type = {};  // of the arguments, where `source` is none
  std::vector<Sum> args;
  ExprId source = {};  // the node that it was read from, for all that is not in `args`
  bool exact = false;  // a product or comparison of index arithmetic
  Range range = {};
  std::int64_t divisor = 1;
};

class Algebra {
 public:
  /// `inlined`: variables that stand for an expression are read as that expression.
  Algebra(const Function& function, const Facts& facts, bool inlined)
      : f_(function), facts_(facts), inlined_(inlined) {}

  Sum read(ExprId expr);
  /// Was a variable read that stands for an expression? Without one, inlining changes nothing.
  [[nodiscard]] bool has_names() const { return has_names_; }
  [[nodiscard]] const SumAtom& atom(AtomId id) const { return atoms_[id]; }

  /// What the value of a sum of that type can be: anything where it may wrap around.
  [[nodiscard]] Range range(const Sum& sum, Type type) const;
  [[nodiscard]] std::int64_t divisor(const Sum& sum, Type type) const;

  /// A fixed order of atoms by what they are made of, not by when they were met.
  [[nodiscard]] int compare(AtomId a, AtomId b) const;
  [[nodiscard]] int compare(const Sum& a, const Sum& b) const;

 private:
  // simplify_read.cpp
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
  bool has_effect(ExprId expr) { return ir::has_effect(f_, expr, effects_); }

  // simplify_compare.cpp
  Sum comparison(ExprOp op, const Sum& a, const Sum& b, Type operands, bool exact);
  std::optional<bool> decided(ExprOp op, const Sum& difference) const;
  Sum inverse(const Sum& condition);

  // simplify_algebra.cpp
  Sum make(SumAtom atom, bool is_unique = false);
  Sum single(ExprOp op, Type type, Type arg_type, std::vector<Sum> args, bool exact = false);
  std::optional<Sum> plus(const Sum& a, const Sum& b, std::int64_t factor);
  std::optional<Sum> raw_plus(const Sum& a, const Sum& b, std::int64_t factor) const;
  std::optional<Sum> product(const Sum& a, const Sum& b, Type type, bool exact);
  std::optional<Sum> scaled(const Sum& a, std::int64_t factor) const;
  Sum promised(Sum sum, Type type, bool exact) const;
  Sum settled(Sum sum, Type type, bool exact) const;
  Sum joined(Sum sum);
  std::optional<Sum> join_at(const Sum& sum, const SumTerm& term);
  [[nodiscard]] Range plain_range(const Sum& sum) const;
  [[nodiscard]] std::int64_t plain_divisor(const Sum& sum) const;
  [[nodiscard]] bool may_wrap(const Sum& sum, Type type) const;

  // simplify_division.cpp
  Sum floor_div(const Sum& x, std::int64_t k, Type type);  // x does not wrap
  Sum floor_mod(const Sum& x, std::int64_t k, Type type);  // nor here, unless k divides 2^width
  [[nodiscard]] static bool divides_width(std::int64_t k, Type type);
  Sum divide_rest(const Sum& rest, std::int64_t k, Type type);
  Sum reduce_rest(const Sum& rest, std::int64_t k, Type type);
  [[nodiscard]] std::int64_t granularity(const SumTerm& term) const;
  struct Cut {
    std::int64_t at = 1;
    Sum high;              // a multiple of `at`
    Sum low;               // in [0, at)
    bool divides = false;  // are the numbers in `high` multiples of `at`?
  };
  [[nodiscard]] std::optional<Cut> cut_below(const Sum& sum, std::int64_t k) const;

  // simplify_bounds.cpp
  [[nodiscard]] Range range_of_atom(const SumAtom& atom) const;
  [[nodiscard]] std::int64_t divisor_of_atom(const SumAtom& atom) const;

  struct KeyHash {
    std::size_t operator()(const std::vector<std::int64_t>& key) const {
      std::size_t out = key.size();
      for (const std::int64_t part : key)
        out = (out ^ static_cast<std::size_t>(part)) * 0x9E3779B1U;
      return out;
    }
  };

  const Function& f_;
  const Facts& facts_;
  bool inlined_;
  bool has_names_ = false;
  std::vector<SumAtom> atoms_;
  std::unordered_map<std::vector<std::int64_t>, AtomId, KeyHash> numbers_;
  std::unordered_map<std::uint32_t, Sum> known_;  // by expression
  Effects effects_;
  std::int64_t unique_ = 0;
  int depth_ = 0;  // variables that stand for expressions, inside each other
  int level_ = 0;  // operations inside each other
};

/// An integer or bool that is no vector.
inline bool is_index(Type type) { return type.is_scalar() && (type.is_int() || type.is_bool()); }

}  // namespace ww::ir
