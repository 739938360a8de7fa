// SPDX-License-Identifier: Apache-2.0
// Atomic operations: `atom`, or `red` where nobody asks for the old value. What has no instruction
// (the least or greatest float) is a loop around compare-and-swap.
#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {
namespace {

std::string_view word_of(Intrinsic callee) {
  switch (callee) {
    case Intrinsic::AtomicAdd:
      return "add";
    case Intrinsic::AtomicMin:
      return "min";
    case Intrinsic::AtomicMax:
      return "max";
    case Intrinsic::AtomicAnd:
      return "and";
    case Intrinsic::AtomicOr:
      return "or";
    case Intrinsic::AtomicXor:
      return "xor";
    case Intrinsic::AtomicExch:
      return "exch";
    default:
      return "cas";
  }
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

}  // namespace

Value Emitter::atomic(const ir::Expr& e, bool is_used) {
  const DType type = f_[e.args[1]].type.dtype;
  const Address to = address(e.args[0]);
  const bool is_cas = e.callee == Intrinsic::AtomicCas;
  const bool is_half = class_of(type) == Class::Rs && (e.callee == Intrinsic::AtomicAdd || is_cas);
  if ((num::bits_of(type) < 32 && !is_half) || type == DType::Bool) {
    refuse(DiagKind::NotEmitted, "`T.{}` of `{}` has no PTX instruction",
           ir::facts_of(e.callee).name, num::name_of(type));
    return int_value(0, class_of(type));
  }
  if (is_float(type) && is_extreme(e.callee)) return atomic_loop(e, to, type);
  std::vector<Arg> args;
  const bool has_result = is_used || is_cas || e.callee == Intrinsic::AtomicExch;
  Value old;
  if (has_result) {
    old = code_.new_register(class_of(type));
    args.emplace_back(old);
  }
  std::vector<Value> values;
  for (std::size_t i = 1; i < e.args.size(); ++i)
    values.push_back(code_.in_register(eval(e.args[i])));
  args.push_back(operand(to));
  args.insert(args.end(), values.begin(), values.end());
  code_.add(fmt::format("{}{}.{}.{}", has_result ? "atom" : "red", suffix_of(to.space),
                        word_of(e.callee), type_word(e.callee, type)),
            std::move(args));
  return has_result ? old : int_value(0, class_of(type));
}

Value Emitter::atomic_loop(const ir::Expr& e, const Address& to, DType type) {
  const Class cls = class_of(type);
  const std::string word(type_of(cls));
  const Value value = code_.snapshot(code_.in_register(eval(e.args[1])));
  const Arg where = operand(to);
  const Value old = code_.new_variable(cls);
  const Value seen = code_.new_variable(cls);
  code_.add(fmt::format("atom{}.or.{}", suffix_of(to.space), word),
            {old, where, int_value(0, cls)});
  code_.touch(old);
  const std::string again = code_.new_label("again");
  code_.add_label(again);
  const Value wanted =
      float_op(e.callee == Intrinsic::AtomicMin ? ExprOp::Min : ExprOp::Max, type, old, value);
  code_.add(fmt::format("mov.{}", word), {seen, old});
  code_.add(fmt::format("atom{}.cas.{}", suffix_of(to.space), word), {old, where, seen, wanted});
  code_.touch(old);
  const Value differs = code_.new_register(Class::P);
  code_.add(fmt::format("setp.ne.{}", word), {differs, old, seen});
  code_.add("bra", {label_arg(again)}, {differs});
  return code_.snapshot(old);
}

}  // namespace ww::emit::to_ptx
