// SPDX-License-Identifier: Apache-2.0
// Expressions as sums, for ir/simplify/simplify.h. Every integer expression is read as
//
//     constant + Σ coefficient · atom
//
// where an atom is anything that is not a sum: a variable, a load, a floor division of a sum by a
// number, a minimum of two sums. Equal atoms have equal numbers, so that common terms meet. A bool
// is a sum, too: a constant 0 or 1, or one atom. Values of other types are one atom each.
//
// The value is the sum modulo 2^width. It is the sum itself where the sum cannot leave the type
// (`may_wrap` is false): by its range, or because it was read from index arithmetic (`exact`). What
// needs more than a congruence (`//`, `<`, min, a wider type) asks that first.
//
// simplify.cpp makes sums from expressions, by the operations below, and turns sums into expressions. Only the last changes the function.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/id_map.h"
#include "base/small_vec.h"
#include "base/stable_vec.h"
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
  /// Of an atom x // k: x % k, and the other way round. Nothing if x may wrap, or k is not
  /// positive. Found once, by `find`.
  template <typename Find>
  const std::optional<Sum>& complement(AtomId id, const Find& find) {
    if (const std::uint32_t* const known = complement_of_.find(id)) return complements_[*known];
    std::optional<Sum> found = find(atoms_[id]);
    complement_of_.add(id, static_cast<std::uint32_t>(complements_.size()));
    return complements_.push_back(std::move(found));
  }
  /// Another range and divisor that are known to hold for it.
  void narrow(AtomId id, Range range, std::int64_t divisor);
  /// Stays where it is when others are made.
  const SumAtom& operator[](AtomId id) const { return atoms_[id]; }
  [[nodiscard]] std::size_t size() const { return atoms_.size(); }
  [[nodiscard]] const Function& function() const { return function_; }
  [[nodiscard]] const Facts& facts() const { return facts_; }

 private:
  [[nodiscard]] const Expr& source_of(const SumAtom& atom) const;
  [[nodiscard]] std::uint32_t hash_of(const SumAtom& atom) const;
  [[nodiscard]] bool same(const SumAtom& a, const SumAtom& b) const;

  const Function& function_;
  const Facts& facts_;
  StableVec<SumAtom> atoms_;
  HashIndex numbers_;  // of atoms that are not unique
  StableVec<std::optional<Sum>> complements_;
  IdMap<std::uint32_t> complement_of_;  // by atom: which of them it has
};

/// A hash of the sum, with what is known about its not overflowing.
std::uint64_t hash_of(const Sum& sum);

/// A fixed order of atoms by structure, not by time of creation.
int compare(const Atoms& atoms, AtomId a, AtomId b);
int compare(const Atoms& atoms, const Sum& a, const Sum& b);

/// A scalar integer or bool.
inline bool is_index(Type type) { return type.is_scalar() && (type.is_int() || type.is_bool()); }

// --- bounds --------------------------------------------------------------------------------------
//
// Bounds for the values of atoms and sums: ranges and divisors.

/// Of the sum of whole numbers, which may leave the type.
Range plain_range(const Atoms& atoms, const Sum& sum);
std::int64_t plain_divisor(const Atoms& atoms, const Sum& sum);
/// A number that divides every value of the term.
std::int64_t granularity(const Atoms& atoms, const SumTerm& term);

/// May the sum leave the type?
bool may_wrap(const Atoms& atoms, const Sum& sum, Type type);
/// What the value of a sum of that type can be: anything where it may wrap around.
Range range_of(const Atoms& atoms, const Sum& sum, Type type);
std::int64_t divisor_of(const Atoms& atoms, const Sum& sum, Type type);

/// From what the arguments of the atom can be.
Range range_of(const Atoms& atoms, const SumAtom& atom);
std::int64_t divisor_of(const Atoms& atoms, const SumAtom& atom);

// --- operations ----------------------------------------------------------------------------------
//
// Operations on sums. Nothing comes out where a number would leave 64 bits.

/// The operation as a new atom.
Sum single(Atoms& atoms, ExprOp op, Type type, Type arg_type, std::vector<Sum> args,
           bool exact = false);
/// a + factor·b.
std::optional<Sum> plus(Atoms& atoms, const Sum& a, const Sum& b, std::int64_t factor);
std::optional<Sum> scaled(const Sum& a, std::int64_t factor);
std::optional<Sum> product(Atoms& atoms, const Sum& a, const Sum& b, Type type, bool exact);
/// The sum with the promise `exact` that it does not overflow, which counts only where the range
/// does not show it, so that equal sums are alike.
Sum promised(const Atoms& atoms, Sum sum, Type type, bool exact);
/// What an operation of that type makes. What may wrap is meant modulo 2^bits: its numbers are kept
/// small.
Sum settled(const Atoms& atoms, Sum sum, Type type, bool exact);

/// x // k, where x does not wrap.
Sum floor_quotient(Atoms& atoms, const Sum& x, std::int64_t k, Type type);
/// x % k, where x does not wrap unless k divides 2^width.
Sum floor_remainder(Atoms& atoms, const Sum& x, std::int64_t k, Type type);
/// Does k divide every 2^width that a sum of the type may be off by?
bool divides_width(std::int64_t k, Type type);

Sum comparison(Atoms& atoms, ExprOp op, const Sum& a, const Sum& b, Type operands, bool exact);
/// Does `difference op 0` hold always, or never?
std::optional<bool> decided(const Atoms& atoms, ExprOp op, const Sum& difference);
/// not condition, as one atom or a constant.
Sum inverse(Atoms& atoms, const Sum& condition);

}  // namespace ww::ir
