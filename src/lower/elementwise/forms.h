// SPDX-License-Identifier: Apache-2.0
// What `cast` and functions with `fast=True` compute, step by step: the code and the proof follow the same steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "ir/elementwise.h"
#include "ir/function.h"
#include "lower/call.h"
#include "num/float_format.h"

namespace ww::lower {

// --- casts ---------------------------------------------------------------------------------------

// How `cast` converts an element with `round=` and `saturate=`: by T.Cast where that rounds so, by
// a `cvt` instruction, or through a type or a whole number that loses nothing. The proof and the
// code follow the same steps; whether they give the conversion is for the evaluator to say, which
// rounds in its own way.
//
// Powers of two (float8_e8m0fnu) are converted two at a time only: to bfloat16, which holds them
// all, and from float32 or bfloat16 with `round="rz"` or `"rp"`. A single one is half of a pair.
// Targets without these instructions convert from powers of two by T.Cast.
//
// Floats of 8, 6 and 4 bits go through float16 and float32 where the target converts them two at a
// time; elsewhere T.Cast converts them, which emitters write as arithmetic on their bits.

/// The steps, in this order; a step that is left out is empty.
struct CastForm {
  num::DType from{}, to{};
  std::optional<std::int64_t> low, high;  // whole numbers are clamped to these
  num::DType wide{};                      // holds all of `from`; the same: no step
  num::DType wider{};                     // holds all of `wide`; the same: no step
  std::optional<ir::Intrinsic> whole;     // floor, ceil …: of floats on the way to integers
  std::string opcode = {};                // wider to `to`, maybe of two; empty: T.Cast
  bool is_bounded = false;                // infinities become the largest number
  bool unpacks = false;                   // `from` to `wide` by kPowersToBfloat16

  /// T.Cast alone?
  [[nodiscard]] bool is_plain() const {
    return !low && !high && wide == from && !whole && opcode.empty() && !is_bounded;
  }
};

/// The instruction that converts two powers of two.
inline constexpr std::string_view kPowersToBfloat16 = "cvt.rn.bf16x2.ue8m0x2";

/// Does the instruction convert two elements into a word of powers of two?
inline bool makes_powers(std::string_view opcode) {
  return opcode.find(".ue8m0x2.") != std::string_view::npos;
}

/// The name of two elements in `cvt`, of floats of 8 bits and fewer but powers of two; else empty.
std::string_view narrow_pair(num::DType type);

/// Of a call of `cast`. Declines settings that say nothing about these types, and what the target
/// has no instruction for.
Match<CastForm> cast_form(const Call& call);

/// The steps on anything that has
///
///     cast(from, to, x), call(intrinsic, type, {…}), binary(op, type, a, b), constant(Constant)
///     choose(condition, type, yes, no), instruct(opcode, type, {…})
///     unpacked(x): a power of two as bfloat16
template <typename Values>
typename Values::Value cast_value(Values& v, const CastForm& form, typename Values::Value x) {
  using ir::ExprOp;
  if (form.low) x = v.binary(ExprOp::Max, form.from, x, v.constant({form.from, *form.low, 0}));
  if (form.high) x = v.binary(ExprOp::Min, form.from, x, v.constant({form.from, *form.high, 0}));
  x = form.unpacks ? v.unpacked(x) : v.cast(form.from, form.wide, x);
  x = v.cast(form.wide, form.wider, x);
  if (form.whole) x = v.call(*form.whole, form.wider, {x});
  x = form.opcode.empty() ? v.cast(form.wider, form.to, x) : v.instruct(form.opcode, form.to, {x});
  if (!form.is_bounded) return x;
  // What is only moved is compared as a type that holds it.
  const num::DType type = form.to == num::DType::Tfloat32 ? num::DType::Float32
                          : num::bits_of(form.to) <= 8    ? num::DType::Float16
                                                          : form.to;
  const auto number = v.cast(form.to, type, x);
  for (const double bound : {num::largest(form.to), -num::largest(form.to)}) {
    const auto is_beyond = v.binary(bound > 0 ? ExprOp::Gt : ExprOp::Lt, type, number,
                                    v.constant({type, 0, bound}));  // not NaN
    x = v.choose(is_beyond, form.to, v.constant({form.to, 0, bound}), x);
  }
  return x;
}

// --- fast=True -----------------------------------------------------------------------------------

// What `fast=True` computes: the approximate instructions of PTX in place of what makes up for
// their errors. They are the `.ftz` forms: what is smaller than 2^-126 counts as 0. How near they
// come is in elementwise/element_checks.cpp. The proof and the code follow the same table here; whether
// it gives the function is for the evaluator to say, which computes it as if `fast` were not there.

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
