// SPDX-License-Identifier: Apache-2.0
// What `fast=True` computes: the approximate instructions of PTX in place of what makes up for
// their errors. They are the `.ftz` forms: what is smaller than 2^-126 counts as 0. How near they
// come is in elementwise/accuracy.cpp. The proof and the code follow the same table here; whether
// it gives the function is for the evaluator to say, which computes it as if `fast` were not there.
#pragma once

#include <string_view>
#include <vector>

#include "base/check.h"
#include "ir/function.h"

namespace ww::lower {

/// Does the call ask for the fast form, and is there one? float64 has none.
bool is_fast(const ir::TileCall& call, num::DType type);

/// The instructions of the fast form, one for each time that it is executed for an element.
std::vector<std::string_view> fast_instructions(ir::TileOp op);

/// The fast form, in float32, of anything that can be multiplied, added … `v` has
///
///     number(float), mul(a, b), add(a, b), fma(a, b, c), abs(a), copysign(size, sign)
///     approx(opcode, {a …})     an instruction
///
/// `y` is the second operand of fdiv and pow. One step is made after the other, so that the order
/// of instructions does not depend on the compiler.
template <typename Values>
class FastForm {
 public:
  using Value = typename Values::Value;
  FastForm(Values& values, Value x, Value y) : v_(values), x_(x), y_(y) {}

  Value of(ir::TileOp op) {
    switch (op) {
      case ir::TileOp::Exp:
        return ex2(v_.mul(x_, number(kLog2E)));
      case ir::TileOp::Exp2:
        return ex2(x_);
      case ir::TileOp::Log:
        return v_.mul(lg2(x_), number(0.693147182F));
      case ir::TileOp::Log2:
        return lg2(x_);
      case ir::TileOp::Sin:
        return v_.approx("sin.approx.ftz.f32", {x_});
      case ir::TileOp::Cos:
        return v_.approx("cos.approx.ftz.f32", {x_});
      case ir::TileOp::Tanh:
        return v_.approx("tanh.approx.f32", {x_});
      case ir::TileOp::Sqrt:
        return v_.approx("sqrt.approx.ftz.f32", {x_});
      case ir::TileOp::Rsqrt:
        return v_.approx("rsqrt.approx.ftz.f32", {x_});
      case ir::TileOp::Reciprocal:
        return rcp(x_);
      case ir::TileOp::Fdiv:
        return v_.approx("div.approx.ftz.f32", {x_, y_});
      case ir::TileOp::Pow:
        return ex2(v_.mul(y_, lg2(x_)));
      default:
        return smooth(op);
    }
  }

 private:
  static constexpr float kLog2E = 1.44269502F;

  Value number(float value) { return v_.number(value); }
  Value ex2(Value x) { return v_.approx("ex2.approx.ftz.f32", {x}); }
  Value lg2(Value x) { return v_.approx("lg2.approx.ftz.f32", {x}); }
  Value rcp(Value x) { return v_.approx("rcp.approx.ftz.f32", {x}); }

  Value smooth(ir::TileOp op) {
    switch (op) {
      case ir::TileOp::Sigmoid:
        return logistic(v_.mul(x_, number(-kLog2E)));
      case ir::TileOp::Silu:
        return v_.mul(x_, logistic(v_.mul(x_, number(-kLog2E))));
      case ir::TileOp::GeluTanh: {
        const Value square = v_.mul(x_, x_);
        const Value factor = v_.fma(square, number(-0.102943240F), number(-2.30220819F));
        return v_.mul(x_, logistic(v_.mul(x_, factor)));
      }
      case ir::TileOp::Erf:
        return erf(x_);
      case ir::TileOp::Gelu: {
        const Value half = v_.mul(x_, number(0.5F));
        const Value inner = erf(v_.mul(x_, number(0.707106781F)));
        return v_.fma(half, inner, half);
      }
      default:
        WW_CHECK(false, "`{}` has no fast form", ir::name_of(op));
        return x_;
    }
  }
  // 1 / (1 + 2^x)
  Value logistic(Value x) { return rcp(v_.add(ex2(x), number(1))); }
  // Abramowitz and Stegun 7.1.26: absolute error 1.5e-7.
  Value erf(Value x) {
    const Value size = v_.abs(x);
    const Value t = rcp(v_.fma(size, number(0.3275911F), number(1)));
    Value sum = v_.fma(t, number(1.061405429F), number(-1.453152027F));
    for (const float factor : {1.421413741F, -0.284496736F, 0.254829592F})
      sum = v_.fma(sum, t, number(factor));
    const Value weight = v_.mul(sum, t);
    const Value minus = v_.mul(v_.mul(x, x), number(-kLog2E));
    const Value left = v_.fma(v_.mul(weight, ex2(minus)), number(-1), number(1));
    return v_.copysign(left, x);
  }

  Values& v_;
  Value x_, y_;
};

}  // namespace ww::lower
