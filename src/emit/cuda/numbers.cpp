// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/look_up.h"
#include "emit/cuda/types.h"
#include "num/float_format.h"

namespace ww::emit::cuda {
namespace {

using num::DTypeKind;

struct Infix {
  std::string_view sign = {};
  Precedence precedence = kAtom;
};

Infix infix_of(ExprOp op) {
  const Infix out = look_up(op,
                            {{ExprOp::Add, {"+", kSum}},
                             {ExprOp::Sub, {"-", kSum}},
                             {ExprOp::Mul, {"*", kProduct}},
                             {ExprOp::Div, {"/", kProduct}},
                             {ExprOp::FloorDiv, {"/", kProduct}},
                             {ExprOp::TruncDiv, {"/", kProduct}},
                             {ExprOp::FloorMod, {"%", kProduct}},
                             {ExprOp::TruncMod, {"%", kProduct}},
                             {ExprOp::BitAnd, {"&", kBitAnd}},
                             {ExprOp::BitOr, {"|", kBitOr}},
                             {ExprOp::BitXor, {"^", kBitXor}},
                             {ExprOp::Shl, {"<<", kShift}},
                             {ExprOp::Shr, {">>", kShift}},
                             {ExprOp::Eq, {"==", kEqual}},
                             {ExprOp::Ne, {"!=", kEqual}},
                             {ExprOp::Lt, {"<", kCompare}},
                             {ExprOp::Le, {"<=", kCompare}},
                             {ExprOp::Gt, {">", kCompare}},
                             {ExprOp::Ge, {">=", kCompare}},
                             {ExprOp::And, {"&&", kAnd}},
                             {ExprOp::Or, {"||", kOr}}},
                            Infix{});
  WW_CHECK(!out.sign.empty(), "`{}` is written between its operands", ir::name_of(op));
  return out;
}

// Readers are not asked to know how `&` and `<<` bind against the rest.
Precedence inner(Precedence outer) {
  const bool is_bitwise = outer == kBitAnd || outer == kBitOr || outer == kBitXor;
  return is_bitwise || outer == kShift ? kProduct : outer;
}

Text infix(ExprOp op, const Text& a, const Text& b) {
  const auto [sign, precedence] = infix_of(op);
  const Precedence left = inner(precedence);
  const auto right = static_cast<Precedence>(inner(precedence) + 1);
  return {fmt::format("{} {} {}", within(a, left), sign, within(b, right)), precedence};
}

Text call_of(std::string_view function, const Text& a) {
  return {fmt::format("{}({})", function, a.text)};
}
Text call_of(std::string_view function, const Text& a, const Text& b) {
  return {fmt::format("{}({}, {})", function, a.text, b.text)};
}

bool is_compare(ExprOp op) { return ir::group_of(op) == ir::ExprGroup::Compare; }
bool is_narrow(DType dtype) { return num::bits_of(dtype) < 32; }

// Narrow floats as float, exactly.
Text as_float(DType dtype, const Text& value) {
  if (dtype == DType::Float16) return call_of("__half2float", value);
  if (dtype == DType::Bfloat16) return call_of("__bfloat162float", value);
  return is_fp8(dtype) ? call_of("float", value) : value;
}
std::string narrow_name(std::string_view function, DType dtype) {
  const num::FloatFormat& format = num::format_of(dtype);
  return fmt::format("{}<{}, {}>", function, format.exponent_bits, format.mantissa_bits);
}
Text from_float(DType dtype, const Text& value) {
  if (dtype == DType::Float16) return call_of("__float2half_rn", value);
  if (dtype == DType::Bfloat16) return call_of("__float2bfloat16_rn", value);
  return is_fp8(dtype) ? call_of(value_type(dtype), value) : value;
}

}  // namespace

std::string within(const Text& text, Precedence at_least) {
  return text.precedence < at_least ? fmt::format("({})", text.text) : text.text;
}

// --- operators -----------------------------------------------------------------------------------

Text Numbers::binary(ExprOp op, DType dtype, const Text& a, const Text& b, Known known) {
  if (dtype == DType::Bool) return bool_binary(op, a, b);
  if (num::kind_of(dtype) != DTypeKind::Float) return int_binary(op, dtype, a, b, known);
  if (is_tiny(dtype)) {
    const Text left = cast(dtype, DType::Float32, a), right = cast(dtype, DType::Float32, b);
    const Text out = binary(op, DType::Float32, left, right, known);
    return is_compare(op) ? out : cast(DType::Float32, dtype, out);
  }
  if (is_compare(op)) return infix(op, as_float(dtype, a), as_float(dtype, b));
  if (is_half(dtype)) return half_binary(op, dtype, a, b);
  if (is_fp8(dtype))
    return from_float(dtype,
                      float_binary(op, DType::Float32, as_float(dtype, a), as_float(dtype, b)));
  return float_binary(op, dtype, a, b);
}

Text Numbers::bool_binary(ExprOp op, const Text& a, const Text& b) {
  switch (op) {
    case ExprOp::And:
    case ExprOp::Mul:
    case ExprOp::Min:
      return infix(ExprOp::And, a, b);
    case ExprOp::Or:
    case ExprOp::Max:
      return infix(ExprOp::Or, a, b);
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::BitXor:
      return infix(ExprOp::Ne, a, b);
    case ExprOp::BitAnd:
    case ExprOp::BitOr:
      return call_of("bool", infix(op, a, b));
    default:
      return infix(op, a, b);
  }
}

Text Numbers::int_binary(ExprOp op, DType dtype, const Text& a, const Text& b, Known known) {
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
      return wrapping(op, dtype, a, b, known.fits);
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
    case ExprOp::TruncDiv:
    case ExprOp::TruncMod:
      return dividing(op, dtype, a, b, known.divides_plainly);
    case ExprOp::Shl:
    case ExprOp::Shr:
      return shifting(op, dtype, a, b, known);
    case ExprOp::Min:
    case ExprOp::Max: {
      const std::string_view name = op == ExprOp::Min ? "min" : "max";
      if (!is_narrow(dtype)) return call_of(name, a, b);
      return call_of(value_type(dtype), call_of(name, call_of("int", a), call_of("int", b)));
    }
    case ExprOp::BitAnd:
    case ExprOp::BitOr:
    case ExprOp::BitXor:
      return is_narrow(dtype) ? call_of(value_type(dtype), infix(op, a, b)) : infix(op, a, b);
    default:
      return infix(op, a, b);
  }
}

// Signed overflow has no meaning in C++, so what may overflow is computed without a sign. Narrow
// types are computed as int: only a product of two uint16 could overflow there.
Text Numbers::wrapping(ExprOp op, DType dtype, const Text& a, const Text& b, bool fits) {
  const std::string_view type = value_type(dtype);
  if (is_narrow(dtype)) {
    if (dtype == DType::Uint16 && op == ExprOp::Mul)
      return call_of(type, infix(op, call_of("uint32_t", a), b));
    return call_of(type, infix(op, a, b));
  }
  if (fits || !is_signed(dtype)) return infix(op, a, b);
  const std::string_view bits = unsigned_type(num::bits_of(dtype));
  return call_of(type, infix(op, call_of(bits, a), call_of(bits, b)));
}

Text Numbers::dividing(ExprOp op, DType dtype, const Text& a, const Text& b, bool plain) {
  if (plain)
    return is_narrow(dtype) ? call_of(value_type(dtype), infix(op, a, b)) : infix(op, a, b);
  const bool is_modulo = op == ExprOp::FloorMod || op == ExprOp::TruncMod;
  const bool is_floor = is_signed(dtype) && (op == ExprOp::FloorDiv || op == ExprOp::FloorMod);
  const std::string_view name = is_floor ? (is_modulo ? "ww_floormod" : "ww_floordiv")
                                         : (is_modulo ? "ww_truncmod" : "ww_truncdiv");
  return call_of(fmt::format("{}<{}>", helpers_.use(name), value_type(dtype)), a, b);
}

Text Numbers::shifting(ExprOp op, DType dtype, const Text& a, const Text& b, Known known) {
  const std::string_view type = value_type(dtype);
  if (!known.shifts_plainly)
    return call_of(
        fmt::format("{}<{}>", helpers_.use(op == ExprOp::Shl ? "ww_shl" : "ww_shr"), type), a, b);
  if (is_narrow(dtype)) {
    const std::string_view bits = unsigned_type(num::bits_of(dtype));
    return call_of(type, infix(op, op == ExprOp::Shl ? call_of(bits, a) : a, b));
  }
  if (op == ExprOp::Shr || known.fits || !is_signed(dtype)) return infix(op, a, b);
  return call_of(type, infix(op, call_of(unsigned_type(num::bits_of(dtype)), a), b));
}

Text Numbers::float_binary(ExprOp op, DType dtype, const Text& a, const Text& b) {
  const bool is_double = dtype == DType::Float64;
  const auto either = [&](std::string_view f64, std::string_view f32) {
    return is_double ? f64 : f32;
  };
  switch (op) {
    case ExprOp::Mul:
      return call_of(either("__dmul_rn", "__fmul_rn"), a, b);
    case ExprOp::Min:
      return call_of(either("fmin", "fminf"), a, b);
    case ExprOp::Max:
      return call_of(either("fmax", "fmaxf"), a, b);
    case ExprOp::FloorDiv:
      return call_of(either("floor", "floorf"), infix(ExprOp::Div, a, b));
    case ExprOp::TruncDiv:
      return call_of(either("trunc", "truncf"), infix(ExprOp::Div, a, b));
    case ExprOp::TruncMod:
      return call_of(either("fmod", "fmodf"), a, b);
    case ExprOp::FloorMod:
      return call_of(helpers_.use("ww_real_mod"), a, b);
    default:
      return infix(op, a, b);
  }
}

// A quotient of two halves that is rounded to float and then to half is rounded right: float has
// more than twice the bits. Remainders are rare, and exact in double.
Text Numbers::half_binary(ExprOp op, DType dtype, const Text& a, const Text& b) {
  switch (op) {
    case ExprOp::Add:
      return call_of("__hadd", a, b);
    case ExprOp::Sub:
      return call_of("__hsub", a, b);
    case ExprOp::Mul:
      return call_of("__hmul_rn", a, b);
    case ExprOp::Min:
      return call_of("__hmin", a, b);
    case ExprOp::Max:
      return call_of("__hmax", a, b);
    case ExprOp::Div:
      return from_float(dtype, infix(op, as_float(dtype, a), as_float(dtype, b)));
    default: {
      const auto wide = [&](const Text& x) { return call_of("double", as_float(dtype, x)); };
      return cast(DType::Float64, dtype, float_binary(op, DType::Float64, wide(a), wide(b)));
    }
  }
}

Text Numbers::unary(ExprOp op, DType dtype, const Text& a, Known known) {
  if (op == ExprOp::Not || dtype == DType::Bool) return {"!" + within(a, kUnary), kUnary};
  if (is_tiny(dtype))
    return cast(DType::Float32, dtype,
                unary(op, DType::Float32, cast(dtype, DType::Float32, a), known));
  const std::string_view type = value_type(dtype);
  if (num::kind_of(dtype) == DTypeKind::Float) {
    if (is_half(dtype)) return call_of("__hneg", a);
    if (is_fp8(dtype)) return from_float(dtype, {"-" + as_float(dtype, a).text, kUnary});
    return {"-" + within(a, kAtom), kUnary};
  }
  const Text plain = {(op == ExprOp::Neg ? "-" : "~") + within(a, kAtom), kUnary};
  if (is_narrow(dtype)) return call_of(type, plain);
  if (op == ExprOp::BitNot || known.fits) return plain;
  const std::string_view bits = unsigned_type(num::bits_of(dtype));
  const Text zero = {fmt::format("{}(0)", bits)};
  const Text wrapped = infix(ExprOp::Sub, zero, call_of(bits, a));
  return is_signed(dtype) ? call_of(type, wrapped) : wrapped;
}

// --- conversions ---------------------------------------------------------------------------------

Text Numbers::cast(DType from, DType to, const Text& value) {
  helpers_.note(to);
  const bool from_is_float = num::kind_of(from) == DTypeKind::Float;
  const bool to_is_float = num::kind_of(to) == DTypeKind::Float;
  if (from == to) return value;
  if (from == DType::Float8E8M0)
    return cast(DType::Float32, to, call_of(helpers_.use("ww_from_power"), value));
  if (is_tiny(from))
    return cast(DType::Float32, to,
                call_of(narrow_name(helpers_.use("ww_from_narrow"), from), value));
  if (is_tiny(to))
    return call_of(narrow_name(helpers_.use("ww_to_narrow"), to), odd_float(from, value));
  if (to == DType::Bool)
    return infix(ExprOp::Ne, as_float(from, value), {from_is_float ? "0.0f" : "0"});
  if (!to_is_float)
    return from_is_float ? float_to_int(from, to, value) : call_of(value_type(to), value);
  if (to == DType::Tfloat32) return call_of(helpers_.use("ww_to_tf32"), odd_float(from, value));
  if (!from_is_float && is_half(to)) return int_to_half(from, to, value);
  if (to == DType::Float32 || to == DType::Float64) {
    const Text wide = as_float(from, value);
    return to == DType::Float32 && from_is_float && from != DType::Float64
               ? wide
               : call_of(value_type(to), wide);
  }
  if (from == DType::Float64 && is_half(to))
    return call_of(to == DType::Float16 ? "__double2half" : "__double2bfloat16", value);
  if (from == DType::Float64) return call_of(value_type(to), value);
  return from_float(to, from_is_float ? as_float(from, value) : call_of("float", value));
}

// As float32, so that rounding it again gives what rounding the number once would.
Text Numbers::odd_float(DType from, const Text& value) {
  const bool is_wide = num::bits_of(from) == 64,
             is_integer = num::kind_of(from) != DTypeKind::Float;
  if (!is_wide && (!is_integer || num::bits_of(from) < 32))
    return cast(from, DType::Float32, value);
  return call_of(helpers_.use("ww_odd_float"),
                 call_of(value_type(is_wide ? from : DType::Float64), value));
}

// C++ leaves open what does not fit; the hardware's conversions give the nearest number.
Text Numbers::float_to_int(DType from, DType to, const Text& value) {
  const bool is_double = from == DType::Float64;
  const bool is_unsigned = !is_signed(to);
  if (num::bits_of(to) == 64)
    return call_of(helpers_.use(is_unsigned ? "ww_to_uint64" : "ww_to_int64"),
                   as_float(from, value));
  const bool as_uint32 = to == DType::Uint32;
  const Text whole =
      is_double ? call_of(helpers_.use(as_uint32 ? "ww_to_uint32" : "ww_to_int32"), value)
                : call_of(as_uint32 ? "__float2uint_rz" : "__float2int_rz", as_float(from, value));
  if (!is_narrow(to)) return whole;
  const int bits = num::bits_of(to);
  const int low = is_unsigned ? 0 : -(1 << (bits - 1));
  const int high = is_unsigned ? (1 << bits) - 1 : (1 << (bits - 1)) - 1;
  return call_of(value_type(to), {fmt::format("min(max({}, {}), {})", whole.text, low, high)});
}

Text Numbers::int_to_half(DType from, DType to, const Text& value) {
  const bool is_wide = num::bits_of(from) == 64;
  const bool is_unsigned = !is_signed(from) && !is_narrow(from);
  const std::string_view source = is_wide       ? (is_unsigned ? "ull" : "ll")
                                  : is_unsigned ? "uint"
                                                : "int";
  return call_of(fmt::format("__{}2{}_rn", source, to == DType::Float16 ? "half" : "bfloat16"),
                 from == DType::Bool ? call_of("int", value) : value);
}

// --- functions -----------------------------------------------------------------------------------

namespace {

bool is_question(Intrinsic callee) {
  return callee == Intrinsic::Isnan || callee == Intrinsic::Isinf || callee == Intrinsic::Isfinite;
}

}  // namespace

Text Numbers::call(Intrinsic callee, DType dtype, std::span<const Text> args) {
  if (ir::is_its_argument(callee)) return args[0];
  if (is_tiny(dtype)) {
    std::vector<Text> wide;
    for (const Text& arg : args) wide.push_back(cast(dtype, DType::Float32, arg));
    const Text out = call(callee, DType::Float32, wide);
    return is_question(callee) ? out : cast(DType::Float32, dtype, out);
  }
  return num::kind_of(dtype) == DTypeKind::Float ? float_call(callee, dtype, args)
                                                 : int_call(callee, dtype, args);
}

Text Numbers::int_call(Intrinsic callee, DType dtype, std::span<const Text> args) {
  const int bits = num::bits_of(dtype);
  const Text raw = call_of(unsigned_type(bits), args[0]);
  switch (callee) {
    case Intrinsic::Abs:
      if (!is_signed(dtype)) return args[0];
      return call_of(fmt::format("{}<{}>", helpers_.use("ww_abs"), value_type(dtype)), args[0]);
    case Intrinsic::Popcount:
      return call_of(value_type(dtype), call_of(bits == 64 ? "__popcll" : "__popc", raw));
    case Intrinsic::Clz: {
      const Text zeros = bits == 64 ? call_of("__clzll", call_of("int64_t", args[0]))
                                    : call_of("__clz", call_of("int", raw));
      if (bits >= 32) return call_of(value_type(dtype), zeros);
      return call_of(value_type(dtype), {fmt::format("{} - {}", zeros.text, 32 - bits)});
    }
    case Intrinsic::Fma:
      return binary(ExprOp::Add, dtype, binary(ExprOp::Mul, dtype, args[0], args[1]), args[2]);
    case Intrinsic::Isnan:
    case Intrinsic::Isinf:
      return {"false"};
    case Intrinsic::Isfinite:
      return {"true"};
    default:
      return args[0];  // floor, round … of a whole number
  }
}

namespace {

// The functions of one double; `f` behind them makes those of a float.
constexpr std::pair<Intrinsic, std::string_view> kMathNames[] = {
    {Intrinsic::Exp, "exp"},
    {Intrinsic::Exp2, "exp2"},
    {Intrinsic::Exp10, "exp10"},
    {Intrinsic::Log, "log"},
    {Intrinsic::Log2, "log2"},
    {Intrinsic::Log10, "log10"},
    {Intrinsic::Log1p, "log1p"},
    {Intrinsic::Expm1, "expm1"},
    {Intrinsic::Sqrt, "sqrt"},
    {Intrinsic::Rsqrt, "rsqrt"},
    {Intrinsic::Sin, "sin"},
    {Intrinsic::Cos, "cos"},
    {Intrinsic::Tan, "tan"},
    {Intrinsic::Tanh, "tanh"},
    {Intrinsic::Erf, "erf"},
    {Intrinsic::Pow, "pow"},
    {Intrinsic::Fmod, "fmod"},
    {Intrinsic::Floor, "floor"},
    {Intrinsic::Ceil, "ceil"},
    {Intrinsic::Trunc, "trunc"},
    {Intrinsic::Round, "round"},
    {Intrinsic::Nearbyint, "nearbyint"},
    {Intrinsic::Copysign, "copysign"},
    {Intrinsic::Abs, "fabs"},
    {Intrinsic::Fma, "fma"}};

std::string_view math_name(Intrinsic callee) {
  const auto* const found =
      std::ranges::find(kMathNames, callee, &std::pair<Intrinsic, std::string_view>::first);
  WW_CHECK(found != std::end(kMathNames), "`{}` is not a function of floats",
           ir::facts_of(callee).name);
  return found->second;
}

}  // namespace

Text Numbers::float_call(Intrinsic callee, DType dtype, std::span<const Text> args) {
  if (is_question(callee)) return call_of(ir::facts_of(callee).name, as_float(dtype, args[0]));
  if (callee == Intrinsic::Fma && is_half(dtype))
    return {fmt::format("__hfma({}, {}, {})", args[0].text, args[1].text, args[2].text)};
  if (callee == Intrinsic::Abs && is_half(dtype)) return call_of("__habs", args[0]);
  const bool is_double = dtype == DType::Float64;
  if (callee == Intrinsic::Gelu || callee == Intrinsic::GeluTanh) {
    const auto name = helpers_.use(callee == Intrinsic::Gelu ? "ww_gelu" : "ww_gelu_tanh");
    return from_float(dtype, call_of(name, as_float(dtype, args[0])));
  }
  if (callee == Intrinsic::Sigmoid) {
    const Text minus = {"-" + within(as_float(dtype, args[0]), kAtom), kUnary};
    const std::string_view format =
        is_double ? "1.0 / (1.0 + exp({}))" : "1.0f / (1.0f + expf({}))";
    return from_float(dtype, {fmt::format(fmt::runtime(format), minus.text), kProduct});
  }
  std::string list;
  for (const Text& arg : args)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", as_float(dtype, arg).text);
  return from_float(dtype,
                    {fmt::format("{}{}({})", math_name(callee), is_double ? "" : "f", list)});
}

Text Numbers::shuffle(std::string_view name, DType dtype, const std::string& mask,
                      const Text& value, const std::string& rest) {
  const auto with = [&](const Text& text) {
    return Text{fmt::format("{}({}, {}, {})", name, mask, text.text, rest)};
  };
  if (dtype == DType::Bool) return infix(ExprOp::Ne, with(call_of("int", value)), {"0"});
  if (is_fp8(dtype)) {
    helpers_.use("ww_bitcast");
    const Text bits = with({fmt::format("uint32_t(ww_bitcast<uint8_t>({}))", value.text)});
    return {fmt::format("ww_bitcast<{}>(uint8_t({}))", value_type(dtype), bits.text)};
  }
  if (is_narrow(dtype) && !is_half(dtype))
    return call_of(value_type(dtype), with(call_of("int", value)));
  return with(value);
}

}  // namespace ww::emit::cuda
