// SPDX-License-Identifier: Apache-2.0
// alpha and beta of a product, as numbers of its proof: whole ones stand for themselves, those that
// are known at run time only get a number that nothing else has, and are known again by their text.
#pragma once

#include <optional>

#include "lower/call.h"
#include "lower/proof/registers.h"

namespace ww::lower {

/// What a number of the proof stands for: numbers of different things are different.
enum GemmTag : Number { kOfD, kOfA, kOfB, kOfC, kOfFactor, kOfText };

class Factors {
 public:
  /// `is_beta_zero`: a beta known at run time only is 0.
  Factors(const Call& call, bool is_beta_zero);

  [[nodiscard]] Number alpha() const { return alpha_.number; }
  [[nodiscard]] Number beta() const { return beta_.number; }
  [[nodiscard]] bool is_beta_runtime() const { return is_runtime(beta_); }
  /// Can a type hold what D holds?
  [[nodiscard]] bool keeps(ir::Type type) const;
  [[nodiscard]] bool is_zero(ir::ExprId expr) const { return constant(expr) == Number{0}; }
  /// A constant; nothing for anything else.
  [[nodiscard]] std::optional<Number> constant_of(ir::ExprId expr) const {
    return constant(without_casts(expr));
  }
  /// One of the two, by its text; nothing for anything else. Where something `has_changed` since
  /// the call began, the text may mean another number, unless it is a variable.
  [[nodiscard]] std::optional<Number> runtime_of(ir::ExprId expr, bool has_changed) const;

 private:
  struct Factor {
    ir::ExprId expr;  // where it is known at run time only
    Number number;
  };
  static bool is_runtime(const Factor& factor) { return factor.expr.valid(); }

  [[nodiscard]] Number number_of(double value) const;
  [[nodiscard]] ir::ExprId without_casts(ir::ExprId expr) const;
  [[nodiscard]] std::optional<Number> constant(ir::ExprId expr) const;
  [[nodiscard]] Factor read(const ir::TileArg& arg, double otherwise, Number id) const;

  const ir::Function& f_;
  num::DType type_;  // of D
  Factor alpha_, beta_;
};

}  // namespace ww::lower
