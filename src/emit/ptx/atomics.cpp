// SPDX-License-Identifier: Apache-2.0
// Atomic operations: `atom`, or `red` where the old value is not used. What has no instruction
// (the least or greatest float) is a loop around compare-and-swap.
#include "emit/ptx/atomics.h"

#include "emit/ptx/exprs.h"
#include "emit/ptx/floats.h"
#include "emit/ptx/pointers.h"

namespace ww::emit::to_ptx {
namespace {

std::string_view atomic_word(Intrinsic callee) {
  return word_for(callee,
                  {{Intrinsic::AtomicAdd, "add"},
                   {Intrinsic::AtomicMin, "min"},
                   {Intrinsic::AtomicMax, "max"},
                   {Intrinsic::AtomicAnd, "and"},
                   {Intrinsic::AtomicOr, "or"},
                   {Intrinsic::AtomicXor, "xor"},
                   {Intrinsic::AtomicExch, "exch"}},
                  "cas");
}

bool is_extreme(Intrinsic callee) {
  return callee == Intrinsic::AtomicMin || callee == Intrinsic::AtomicMax;
}

// The type that the instruction names: bits where it only moves or masks them.
std::string type_word(Intrinsic callee, DType type) {
  const int bits = num::bits_of(type);
  if (callee == Intrinsic::AtomicAdd) {
    if (bits == 16) return fmt::format("noftz.{}", arith_type(type));
    return type == DType::Int64 ? "u64" : std::string(arith_type(type));
  }
  if (is_extreme(callee)) return std::string(arith_type(type));
  return fmt::format("b{}", bits);
}

Value atomic_loop(Context& c, const ir::Expr& e, const Address& to, DType type) {
  const Class cls = class_of(type);
  const std::string word(type_of(cls));
  const Value value = c.code.snapshot(c.code.in_register(eval(c, e.args[1])));
  const Arg where = operand(c, to);
  const Value old = c.code.new_variable(cls);
  const Value seen = c.code.new_variable(cls);
  c.code.add(fmt::format("atom{}.or.{}", suffix_of(to.space), word),
             {old, where, int_value(0, cls)});
  c.code.touch(old);
  const std::string again = c.code.new_label("again");
  c.code.add_label(again);
  const Value wanted =
      float_op(c, e.callee == Intrinsic::AtomicMin ? ExprOp::Min : ExprOp::Max, type, old, value);
  c.code.add(fmt::format("mov.{}", word), {seen, old});
  c.code.add(fmt::format("atom{}.cas.{}", suffix_of(to.space), word), {old, where, seen, wanted});
  c.code.touch(old);
  const Value differs = c.code.new_register(Class::P);
  c.code.add(fmt::format("setp.ne.{}", word), {differs, old, seen});
  c.code.jump(again, {differs});
  return c.code.snapshot(old);
}

}  // namespace

Value atomic(Context& c, const ir::Expr& e, bool is_used) {
  const DType type = c.f[e.args[1]].type.dtype;
  const Address to = address(c, e.args[0]);
  const bool is_cas = e.callee == Intrinsic::AtomicCas;
  const bool is_half = class_of(type) == Class::Rs && (e.callee == Intrinsic::AtomicAdd || is_cas);
  if ((num::bits_of(type) < 32 && !is_half) || type == DType::Bool) {
    refuse(c, "`T.{}` of `{}` has no PTX instruction", ir::facts_of(e.callee).name,
           num::name_of(type));
    return int_value(0, class_of(type));
  }
  if (is_float(type) && is_extreme(e.callee)) return atomic_loop(c, e, to, type);
  std::vector<Arg> args;
  const bool has_result = is_used || is_cas || e.callee == Intrinsic::AtomicExch;
  Value old;
  if (has_result) {
    old = c.code.new_register(class_of(type));
    args.emplace_back(old);
  }
  std::vector<Value> values;
  for (std::size_t i = 1; i < e.args.size(); ++i)
    values.push_back(c.code.in_register(eval(c, e.args[i])));
  args.push_back(operand(c, to));
  args.insert(args.end(), values.begin(), values.end());
  c.code.add(fmt::format("{}{}.{}.{}", has_result ? "atom" : "red", suffix_of(to.space),
                         atomic_word(e.callee), type_word(e.callee, type)),
             std::move(args));
  return has_result ? old : int_value(0, class_of(type));
}

}  // namespace ww::emit::to_ptx
