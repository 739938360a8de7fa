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
// read.h makes sums from expressions, by the operations of arithmetic.h and what bounds.h knows;
// rebuild.h turns sums into expressions. Only the last changes the function.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/small_vec.h"
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

/// The atoms of a function's expressions, by number.
class Atoms {
 public:
  Atoms(const Function& function, const Facts& facts) : function_(function), facts_(facts) {}

  /// The atom as a sum, or the constant that it always is. A unique one is equal to no other.
  Sum make(SumAtom atom, bool is_unique = false);
  /// Another range and divisor that are known to hold for it.
  void narrow(AtomId id, Range range, std::int64_t divisor);
  const SumAtom& operator[](AtomId id) const { return atoms_[id]; }
  [[nodiscard]] const Function& function() const { return function_; }
  [[nodiscard]] const Facts& facts() const { return facts_; }

 private:
  struct KeyHash {
    std::size_t operator()(const std::vector<std::int64_t>& key) const {
      std::size_t out = key.size();
      for (const std::int64_t part : key)
        out = (out ^ static_cast<std::size_t>(part)) * 0x9E3779B1U;
      return out;
    }
  };

  const Function& function_;
  const Facts& facts_;
  std::vector<SumAtom> atoms_;
  std::unordered_map<std::vector<std::int64_t>, AtomId, KeyHash> numbers_;
  std::int64_t unique_ = 0;
};

/// A fixed order of atoms by what they are made of, not by when they were met.
int compare(const Atoms& atoms, AtomId a, AtomId b);
int compare(const Atoms& atoms, const Sum& a, const Sum& b);

/// An integer or bool that is no vector.
inline bool is_index(Type type) { return type.is_scalar() && (type.is_int() || type.is_bool()); }

}  // namespace ww::ir
