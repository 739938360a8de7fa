// SPDX-License-Identifier: Apache-2.0
// Symbolic integers: just enough to carry a runtime tile offset through slicing and applying a
// layout.
//
// A `Sym` is a runtime variable with a known range and a known divisor. An `Expr` is affine in
// *atoms*,
//
//     constant + Σ coef · ((sym / div) % mod)          (mod 0: no modulo; `/` and `%` are floor)
//
// and knows the range and the divisor of its value. `floor_div` and `floor_mod` stay exact: they
// answer only where nothing can carry from one digit into the next, and otherwise say that they
// cannot.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/small_vec.h"

namespace ww::layout {

/// Values beyond ±kMaxPlace are refused everywhere, so that sums of a few never overflow 64 bits.
inline constexpr std::int64_t kMaxPlace = std::int64_t{1} << 60;

/// A closed range of integers.
struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

class Sym {
 public:
  /// A variable in [range.min, range.max], always a multiple of `multiple_of` (≥ 1); the range is
  /// tightened to such multiples. The name must be an identifier. Equal facts give equal symbols.
  static Result<Sym> make(std::string_view name, Range range, std::int64_t multiple_of = 1);

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] Range range() const;
  [[nodiscard]] std::int64_t multiple_of() const;
  friend bool operator==(Sym a, Sym b) { return a.facts_ == b.facts_; }

  struct Facts;

 private:
  friend struct Atom;
  Sym() = default;
  const Facts* facts_ = nullptr;
};

/// (var / div) % mod.
struct Atom {
  Sym var;
  std::int64_t div = 1;
  std::int64_t mod = 0;

  [[nodiscard]] Range range() const;
  [[nodiscard]] std::int64_t multiple_of() const;
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Atom&, const Atom&) = default;

  // SmallVec needs a default value; an Atom without a variable is never part of an Expr.
  Atom() = default;
  explicit Atom(Sym v, std::int64_t d = 1, std::int64_t m = 0) : var(v), div(d), mod(m) {}
};

struct Term {
  std::int64_t coef = 0;
  Atom atom;
  friend bool operator==(const Term&, const Term&) = default;
};

class Expr {
 public:
  Expr() = default;
  Expr(std::int64_t constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  Expr(Sym sym);                                        // NOLINT(google-explicit-constructor)
  explicit Expr(Term term) { add(term); }

  [[nodiscard]] std::int64_t constant() const { return constant_; }
  [[nodiscard]] std::span<const Term> terms() const { return terms_; }
  [[nodiscard]] bool is_constant() const { return terms_.empty(); }

  /// A range that holds every value; exact when no symbol occurs twice and no modulo wraps.
  /// Saturates at ±kMaxPlace·2.
  [[nodiscard]] Range range() const;
  /// A number that divides the value always (0 for the constant 0).
  [[nodiscard]] std::int64_t multiple_of() const;
  [[nodiscard]] std::int64_t evaluate(const std::function<std::int64_t(Sym)>& value_of) const;
  /// "16*k + 8", parses back through layout/text.h.
  [[nodiscard]] std::string text() const;

  Expr& operator+=(const Expr& other);
  Expr& operator*=(std::int64_t factor);
  friend Expr operator+(Expr a, const Expr& b) { return a += b; }
  friend Expr operator-(Expr a, Expr b) { return a += (b *= -1); }
  friend Expr operator*(Expr a, std::int64_t k) { return a *= k; }
  friend bool operator==(const Expr&, const Expr&) = default;

 private:
  void add(Term term);
  std::int64_t constant_ = 0;
  SmallVec<Term, 2> terms_;  // sorted by text, coefficients non-zero
};

/// Exact floor division and modulo by d ≥ 1, or nothing when the result is not affine in atoms as
/// far as the known ranges and divisors can tell.
std::optional<Expr> floor_div(const Expr& value, std::int64_t d);
std::optional<Expr> floor_mod(const Expr& value, std::int64_t d);

/// Does value ∈ [0, bound) always hold?
bool provably_below(const Expr& value, std::int64_t bound);

}  // namespace ww::layout
