// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/element_value.h"

#include "base/check.h"
#include "ir/elementwise.h"
#include "lower/elementwise/packed.h"

namespace ww::lower {

using ir::ExprId;

namespace {

// Expressions and instructions.
class Expressions {
 public:
  using Value = ExprId;
  Expressions(CodeWriter& code, LastInstruction& last) : code_(code), last_(last) {}

  // --- of any type ---
  Value constant(const ir::Constant& value) {
    return is_float(value.dtype) ? code_.number(value.dtype, value.real)
                                 : ir::int_imm(code_.f(), value.dtype, value.integer, code_.span());
  }
  Value binary(ir::ExprOp op, num::DType, Value a, Value b) { return code_.binary(op, a, b); }
  Value call(ir::Intrinsic callee, num::DType, std::initializer_list<Value> args) {
    return code_.call(callee, args);
  }
  Value cast(num::DType, num::DType to, Value x) { return code_.as(to, x); }
  Value unpacked(Value x) {
    const ir::BufferId halves = code_.registers("halves", num::DType::Bfloat16, 2);
    const Value word = code_.load(word_view(code_, halves, num::DType::Uint32, 2), {code_.n(0)});
    const Value pair = both_halves(code_, num::DType::Uint16, x);
    code_.ptx(kPowersToBfloat16, {{.expr = word}, {.expr = pair}});
    return code_.load(halves, {code_.n(0)});
  }
  Value choose(Value condition, num::DType, Value yes, Value no) {
    return code_.choose(ir::ExprOp::Select, condition, yes, no);
  }
  Value instruct(std::string_view opcode, num::DType type, std::initializer_list<Value> args) {
    last_.write(code_);
    if (makes_powers(opcode)) return power(opcode, *args.begin());
    last_.part = code_.new_registers("part", type, 1);
    last_.out = code_.load(last_.part, {code_.n(0)});
    last_.opcode = opcode;
    for (const Value arg : args) last_.sources.push_back({.expr = arg});
    return last_.out;
  }

  // --- of float32 ---
  Value number(float value) { return constant({kReal, 0, double{value}}); }
  Value mul(Value a, Value b) { return binary(ir::ExprOp::Mul, kReal, a, b); }
  Value add(Value a, Value b) { return binary(ir::ExprOp::Add, kReal, a, b); }
  Value fma(Value a, Value b, Value c) { return call(ir::Intrinsic::Fma, kReal, {a, b, c}); }
  Value abs(Value a) { return call(ir::Intrinsic::Abs, kReal, {a}); }
  Value copysign(Value size, Value sign) {
    return call(ir::Intrinsic::Copysign, kReal, {size, sign});
  }
  Value approx(std::string_view opcode, std::initializer_list<Value> args) {
    return instruct(opcode, kReal, args);
  }

 private:
  // The lower one of a pair.
  Value power(std::string_view opcode, Value x) {
    const bool is_word = code_.f()[x].type.dtype == num::DType::Bfloat16;
    const ir::BufferId powers = code_.registers("powers", num::DType::Float8E8M0, 2);
    const Value word = code_.load(word_view(code_, powers, num::DType::Uint16, 2), {code_.n(0)});
    std::vector<ir::PtxOperand> operands{{.expr = word}};
    if (!is_word) operands.push_back({.expr = number(0)});
    operands.push_back({.expr = is_word ? both_halves(code_, num::DType::Uint32, x) : x});
    code_.ptx(opcode, std::move(operands));
    return code_.load(powers, {code_.n(0)});
  }

  static constexpr num::DType kReal = num::DType::Float32;
  CodeWriter& code_;
  LastInstruction& last_;
};

}  // namespace

void LastInstruction::write(CodeWriter& code, ExprId to) {
  if (opcode.empty()) return;
  if (!to.valid()) code.allocate(part);
  std::vector<ir::PtxOperand> operands{{.expr = to.valid() ? to : out}};
  operands.insert(operands.end(), sources.begin(), sources.end());
  code.ptx(opcode, std::move(operands));
  *this = {};
}

using ir::ExprOp;
using ir::TileOp;

ExprId ElementValue::converted(std::size_t i, ExprId value) {
  if (ir::is_condition(call_.tile.op, i)) {
    const ir::Type type = f_[value].type;
    return type.is_bool() ? value : code_.binary(ExprOp::Ne, value, code_.zero(type.dtype));
  }
  if (call_.tile.op == TileOp::Cast) return value;
  return code_.as(ir::computes(call_.tile.op) ? type_ : dst_, value);
}

ExprId ElementValue::scalar(std::size_t i, ExprId value) {
  if (!value.valid()) return {};
  const ExprId out = converted(i, value);
  return f_[out].op == ExprOp::FloatImm ? out : code_.let("scalar", out);
}

void ElementValue::store(ir::BufferId to, ExprId index, const std::vector<ExprId>& operands) {
  const ExprId value = code_.as(dst_, computed(operands));
  if (last_.out == value && f_[to].scope == ir::Scope::Local)
    return last_.write(code_, code_.load(to, {index}));
  last_.write(code_);
  code_.store(to, index, value);
}

ExprId ElementValue::computed(const std::vector<ExprId>& v) {
  const TileOp op = call_.tile.op;
  if (op == TileOp::Zero) return code_.zero(dst_);
  if (ir::group_of(op) == ir::ElementGroup::Choice)
    return code_.choose(ExprOp::Select, v[2], v[0], v[1]);
  if (op == TileOp::Cast) {
    Expressions values(code_, last_);
    return cast_value(values, cast_, v[0]);
  }
  if (!ir::computes(op)) return v[0];
  if (is_fast_)
    return ir::is_function(op) ? fast(argument(v[0], v[1], v[2]), {}) : fast(v[0], v[1]);
  if (ir::has_operator(op)) return code_.binary(ir::operator_of(op), v[0], v[1]);
  if (ir::is_function(op)) return function(argument(v[0], v[1], v[2]));
  if (op == TileOp::Fma) return multiply_add(code_, v[0], v[1], v[2]);
  if (op == TileOp::Pow) return code_.call(ir::Intrinsic::Pow, {v[0], v[1]});
  if (op == TileOp::Clamp)
    return code_.binary(ExprOp::Min, code_.binary(ExprOp::Max, v[0], v[1]), v[2]);
  return of_number(v[0]);
}

ExprId ElementValue::of_number(ExprId x) {
  switch (call_.tile.op) {
    case TileOp::Relu:
      return code_.binary(ExprOp::Max, x, code_.zero(type_));
    case TileOp::Neg:
      return unary(ExprOp::Neg, x);
    case TileOp::LogicalNot:
      return unary(ExprOp::Not, x);
    case TileOp::BitwiseNot:
      return unary(ExprOp::BitNot, x);
    default:
      break;
  }
  const bool is_whole = !is_float(type_) && call_.tile.op != TileOp::Abs;
  return is_whole ? x : code_.call(*ir::callee_of(call_.tile.op), {x});
}

ExprId ElementValue::unary(ExprOp op, ExprId x) {
  return ir::unary(f_, op, {x}, call_.span).value();
}

ExprId ElementValue::argument(ExprId x, ExprId scale, ExprId bias) {
  if (scale.valid() && bias.valid()) return multiply_add(code_, x, scale, bias);
  if (scale.valid()) return code_.binary(ExprOp::Mul, x, scale);
  return bias.valid() ? code_.binary(ExprOp::Add, x, bias) : x;
}

ExprId ElementValue::function(ExprId x) {
  if (const auto callee = ir::callee_of(call_.tile.op)) return code_.call(*callee, {x});
  if (call_.tile.op == TileOp::Reciprocal)
    return code_.binary(ExprOp::Div, code_.number(type_, 1), x);
  WW_CHECK(call_.tile.op == TileOp::Silu, "`{}` has no code", ir::name_of(call_.tile.op));
  const ExprId minus = unary(ExprOp::Neg, x);
  const ExprId power = code_.call(ir::Intrinsic::Exp, {minus});
  const ExprId below = code_.binary(ExprOp::Add, code_.number(type_, 1), power);
  return code_.binary(ExprOp::Div, x, below);
}

ExprId ElementValue::fast(ExprId x, ExprId y) {
  Expressions values(code_, last_);
  const ExprId a = code_.as(num::DType::Float32, x);
  const ExprId b = y.valid() ? code_.as(num::DType::Float32, y) : y;
  return code_.as(type_, FastForm<Expressions>(values, a, b).of(call_.tile.op));
}

}  // namespace ww::lower
