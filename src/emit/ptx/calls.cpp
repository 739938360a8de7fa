// SPDX-License-Identifier: Apache-2.0
// Functions of the language: which part writes them, and the pure ones that are no mathematics.
#include "emit/ptx/calls.h"

#include <algorithm>

#include "emit/ptx/atomics.h"
#include "emit/ptx/exchange.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/math.h"
#include "emit/ptx/memory.h"
#include "emit/ptx/pointers.h"
#include "emit/ptx/prints.h"

namespace ww::emit::to_ptx {
namespace {

using ir::Expr;

// A lane is 16 bits up, and columns do not overflow into it.
Value tensor_address(Context& c, const Expr& e) {
  const auto as_u32 = [&](std::size_t i) { return eval_as(c, e.args[i], DType::Uint32); };
  // One after the other: arguments of a call are evaluated in any order, and each emits code.
  const Value row = product(c, "u32", as_u32(1), int_value(65536));
  const Value lane = sum(c, "u32", as_u32(0), row);
  const Value column = as_u32(2);
  return sum(c, "u32", lane, column);
}

// Of 32 and 64 bits the lesser of a and -a without their signs. ptxas takes the result of `abs` for
// no less than 0, which the least number's is, and mistakes `max(a, -a)` beside `a + a`.
Value int_abs(Context& c, DType type, Value a) {
  if (!is_signed(type)) return a;
  const int bits = num::bits_of(type);
  if (bits < 32)
    return wrap(c, type, c.code.pure(fmt::format("abs.{}", arith_type(type)), a.cls, {a}));
  const Value minus = c.code.pure(fmt::format("neg.s{}", bits), a.cls, {a});
  return c.code.pure(fmt::format("min.u{}", bits), a.cls, {a, minus});
}

Value int_call(Context& c, Intrinsic callee, DType type, std::span<const Value> args) {
  const int bits = num::bits_of(type);
  const Value a = c.code.in_register(args[0]);
  const std::string_view word = bits == 64 ? "b64" : "b32";
  const auto counted = [&](Value count) {
    return bits == 64 ? c.code.pure("cvt.u64.u32", Class::Rd, {count}) : count;
  };
  const auto plain = [&] {  // the bits, zeros above
    if (bits >= 32 || !is_signed(type)) return a;
    return c.code.pure("and.b32", Class::R, {a, int_value((std::int64_t{1} << bits) - 1)});
  };
  switch (callee) {
    case Intrinsic::Abs:
      return int_abs(c, type, a);
    case Intrinsic::Popcount:
      return counted(c.code.pure(fmt::format("popc.{}", word), Class::R, {plain()}));
    case Intrinsic::Clz: {
      const Value zeros = c.code.pure(fmt::format("clz.{}", word), Class::R, {plain()});
      return counted(bits < 32 ? sum(c, "s32", zeros, int_value(bits - 32)) : zeros);
    }
    case Intrinsic::Fma:
      return wrap(
          c, type,
          c.code.pure(fmt::format("mad.lo.{}", arith_type(type)), a.cls, {a, args[1], args[2]}));
    case Intrinsic::Isnan:
    case Intrinsic::Isinf:
      return int_value(0, Class::P);
    case Intrinsic::Isfinite:
      return int_value(1, Class::P);
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Trunc:
    case Intrinsic::Round:
    case Intrinsic::Nearbyint:
      return args[0];
    default:
      refuse(c, "`T.{}` of `{}`", ir::facts_of(callee).name, num::name_of(type));
      return args[0];
  }
}

// A move behind a label that the virtual GPU knows (sim/checks/promises.h); others see a move.
Value promised(Context& c, DType type, Value value, std::string_view label) {
  if (value.is_constant()) return value;
  if (value.cls == Class::P)
    return is_not_zero(c, DType::Int32, promised(c, type, as_int(c, value), label));
  const Value out = c.code.new_register(value.cls);
  c.code.add_label(c.code.new_label(label));
  c.code.add(fmt::format("mov.{}", type_of(value.cls)), {out, value});
  return out;
}

Lanes pure_call(Context& c, const Expr& e) {
  switch (e.callee) {
    case Intrinsic::Likely:
      return lanes(c, e.args[0]);
    case Intrinsic::Uniform:
    case Intrinsic::WarpUniform:
      return {promised(c, c.f[e.args[0]].type.dtype, lanes(c, e.args[0])[0],
                       e.callee == Intrinsic::Uniform ? "uniform" : "uniform_warp")};
    case Intrinsic::CvtaToShared:
      return {window(c, address(c, e.args[0]), Space::Shared)};
    case Intrinsic::TmemAddr:
      return {tensor_address(c, e)};
    case Intrinsic::PointerOffset:
    case Intrinsic::ByteOffset:
      return {generic(c, offset_address(c, e))};
    default:
      break;
  }
  std::vector<Lanes> args;
  for (const ExprId arg : e.args) args.push_back(lanes(c, arg));
  const DType type = c.f[e.args[0]].type.dtype;
  Lanes out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    std::vector<Value> own;
    for (const Lanes& arg : args) own.push_back(arg[std::min(i, arg.size() - 1)]);
    out.push_back((is_float(type) ? float_call : int_call)(c, e.callee, type, own));
  }
  return out;
}

}  // namespace

Lanes call(Context& c, const Expr& e) {
  switch (ir::facts_of(e.callee).effect) {
    case ir::Effect::Pure:
      return pure_call(c, e);
    case ir::Effect::Exchange:
      return exchange(c, e);
    case ir::Effect::Barrier:
      if (e.callee == Intrinsic::CtaReduce) return {cta_reduce(c, e)};
      barrier(c, e);
      return {};
    case ir::Effect::Reads:
      return load_run(c, address(c, e.args[0]), e.type.dtype, e.type.lanes, true);
    case ir::Effect::Writes:
      break;
  }
  switch (e.callee) {
    case Intrinsic::CopyBytes:
      copy_bytes(c, e);
      return {};
    case Intrinsic::Printf:
      print(c, e);
      return {};
    case Intrinsic::FuncCall:
      refuse(c, "`T.cuda.func_call` needs CUDA C++, PTX has no such function (use `--emit cuda`)");
      return Lanes(e.type.lanes, int_value(0));
    default:
      return {atomic(c, e, true)};
  }
}

}  // namespace ww::emit::to_ptx
