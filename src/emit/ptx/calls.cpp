// SPDX-License-Identifier: Apache-2.0
// Functions of the language: which part writes them, and the pure ones that are no mathematics.
#include <algorithm>

#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {

using ir::Expr;

Emitter::Lanes Emitter::call(const Expr& e) {
  switch (ir::facts_of(e.callee).effect) {
    case ir::Effect::Pure:
      return pure_call(e);
    case ir::Effect::Exchange:
      return exchange(e);
    case ir::Effect::Barrier:
      if (e.callee == Intrinsic::CtaReduce) return {cta_reduce(e)};
      barrier(e);
      return {};
    case ir::Effect::Reads:
      return load_run(address(e.args[0]), e.type.dtype, e.type.lanes, true);
    case ir::Effect::Writes:
      break;
  }
  switch (e.callee) {
    case Intrinsic::CopyBytes:
      copy_bytes(e);
      return {};
    case Intrinsic::Printf:
      print(e);
      return {};
    case Intrinsic::FuncCall:
      refuse(DiagKind::NotEmitted,
             "`T.cuda.func_call` needs CUDA C++, PTX has no such function (use `--emit cuda`)");
      return Lanes(e.type.lanes, int_value(0));
    default:
      return {atomic(e, true)};
  }
}

Emitter::Lanes Emitter::pure_call(const Expr& e) {
  switch (e.callee) {
    case Intrinsic::Likely:
      return lanes(e.args[0]);
    case Intrinsic::CvtaToShared:
      return {window(address(e.args[0]), Space::Shared)};
    case Intrinsic::TmemAddr:
      return {tensor_address(e)};
    case Intrinsic::PointerOffset:
    case Intrinsic::ByteOffset: {
      Address out = address(e.args[0]);
      const bool is_bytes = e.callee == Intrinsic::ByteOffset;
      add_index(out, e.args[1], is_bytes ? 8 : storage_bits(f_[e.args[0]].type.dtype));
      return {generic(out)};
    }
    default:
      break;
  }
  std::vector<Lanes> args;
  for (const ExprId arg : e.args) args.push_back(lanes(arg));
  const DType type = f_[e.args[0]].type.dtype;
  Lanes out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    std::vector<Value> own;
    for (const Lanes& arg : args) own.push_back(arg[std::min(i, arg.size() - 1)]);
    out.push_back(pure_lane(e.callee, type, own));
  }
  return out;
}

Value Emitter::pure_lane(Intrinsic callee, DType type, std::span<const Value> args) {
  if (is_float(type)) return float_call(callee, type, args);
  return int_call(callee, type, args);
}

// A lane is 16 bits up, and columns do not overflow into it.
Value Emitter::tensor_address(const Expr& e) {
  const auto as_u32 = [&](std::size_t i) {
    return cast(eval(e.args[i]), f_[e.args[i]].type.dtype, DType::Uint32);
  };
  // One after the other: arguments of a call are evaluated in any order, and each emits code.
  const Value row = product("u32", as_u32(1), int_value(65536));
  const Value lane = sum("u32", as_u32(0), row);
  const Value column = as_u32(2);
  return sum("u32", lane, column);
}

Value Emitter::int_call(Intrinsic callee, DType type, std::span<const Value> args) {
  const int bits = num::bits_of(type);
  const Value a = code_.in_register(args[0]);
  const std::string_view word = bits == 64 ? "b64" : "b32";
  const auto counted = [&](Value count) {
    return bits == 64 ? code_.pure("cvt.u64.u32", Class::Rd, {count}) : count;
  };
  const auto plain = [&] {  // the bits, zeros above
    const bool is_clean = bits >= 32 || !is_signed(type);
    return is_clean
               ? a
               : code_.pure("and.b32", Class::R, {a, int_value((std::int64_t{1} << bits) - 1)});
  };
  switch (callee) {
    case Intrinsic::Abs:
      if (!is_signed(type)) return a;
      if (bits >= 32) {
        // The lesser of x and -x without their signs. ptxas takes the result of `abs` for no less
        // than 0, which the least number's is, and mistakes `max(x, -x)` beside `x + x`.
        const Value minus = code_.pure(fmt::format("neg.s{}", bits), a.cls, {a});
        return code_.pure(fmt::format("min.u{}", bits), a.cls, {a, minus});
      }
      return wrap(type, code_.pure(fmt::format("abs.{}", arith_type(type)), a.cls, {a}));
    case Intrinsic::Popcount:
      return counted(code_.pure(fmt::format("popc.{}", word), Class::R, {plain()}));
    case Intrinsic::Clz: {
      const Value zeros = code_.pure(fmt::format("clz.{}", word), Class::R, {plain()});
      return counted(bits < 32 ? sum("s32", zeros, int_value(bits - 32)) : zeros);
    }
    case Intrinsic::Fma:
      return wrap(type, code_.pure(fmt::format("mad.lo.{}", arith_type(type)), a.cls,
                                   {a, args[1], args[2]}));
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
      refuse(DiagKind::NotEmitted, "`T.{}` of `{}`", ir::facts_of(callee).name, num::name_of(type));
      return args[0];
  }
}

}  // namespace ww::emit::to_ptx
