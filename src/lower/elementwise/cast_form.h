// SPDX-License-Identifier: Apache-2.0
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
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/elementwise.h"
#include "lower/call.h"
#include "num/float_format.h"

namespace ww::lower {

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

}  // namespace ww::lower
