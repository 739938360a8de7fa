// SPDX-License-Identifier: Apache-2.0
// The part of FunctionDecoder that decodes calls: where arguments come from and results go to.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ptx/call_check.h"
#include "ptx/variable_check.h"
#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/run/builtin.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

// Puts a constant into a register, where calls take their arguments from.
void run_constant(Warp& warp, const Op& op) {
  std::memcpy(warp.frame + op.p[0].offset(), warp.constants + op.p[1].offset(),
              static_cast<std::size_t>(op.as<Constant>().value));
  define_value(warp, op.p[0]);
}

isa::OperandKind kind_of_number(ptx::OperandKind kind) {
  switch (kind) {
    case ptx::OperandKind::F32:
      return isa::OperandKind::F32Bits;
    case ptx::OperandKind::F64:
      return isa::OperandKind::F64Bits;
    case ptx::OperandKind::Decimal:
      return isa::OperandKind::Decimal;
    default:
      return isa::OperandKind::Integer;
  }
}

}  // namespace

// A register that holds the number when the call runs, or for `_` one that nothing reads.
Place FunctionDecoder::number_register(const ptx::Operand& operand, isa::Type type) {
  const Place place = frame_.new_register(type);
  if (operand.kind == ptx::OperandKind::Sink) return place;
  isa::Operand number;
  number.kind = kind_of_number(operand.kind);
  number.value = operand.kind == ptx::OperandKind::Name ? kLanes : operand.value();  // WARP_SZ
  if (operand.kind == ptx::OperandKind::Decimal) number.text = context_.module.text(operand.name);
  const auto bytes = lane_bytes(type);
  const std::uint64_t high = number.value < 0 ? ~std::uint64_t{0} : 0;
  Op op;
  op.run = run_constant;
  op.flags = kTracksItself;
  op.p[0] = place;
  op.p[1] = constant(number_bits(number, type), high, bytes);
  op.set(Constant{std::int64_t{bytes} * kLanes});
  before_.push_back({op, std::nullopt});
  return place;
}

// `is_argument`: the value comes from the operand, otherwise it goes there.
void FunctionDecoder::add_moves(const ptx::Operand& operand, const ptx::Variable& formal,
                                bool is_argument, std::vector<ValueMove>& moves) {
  const bool is_name = operand.kind == ptx::OperandKind::Name;
  const ptx::Declared what = is_name ? context_.scope.find(operand.name) : ptx::Declared{};
  ValueMove move;
  const auto set = [&](bool is_register, std::uint32_t at, std::uint32_t step) {
    (is_argument ? move.from_register : move.to_register) = is_register;
    (is_argument ? move.from : move.to) = at;
    (is_argument ? move.from_step : move.to_step) = step;
  };
  if (what.kind == ptx::Declared::Kind::Variable) {
    const std::uint32_t* local = frame_.find_local(what.variable);
    WW_CHECK(local != nullptr, "an argument that is not a parameter variable");
    move.bytes =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(ptx::size_in_bytes(*what.variable), 1));
    const auto member = what.member * ptx::member_bytes(*what.variable);
    set(false, *local + static_cast<std::uint32_t>(member), 0);
    moves.push_back(move);
    return;
  }
  const Place first = what.kind == ptx::Declared::Kind::Register
                          ? register_place(context_.module.text(operand.name))
                          : number_register(operand, formal.type);
  const unsigned bytes = lane_bytes(formal.type);
  move.is_pred = formal.type == isa::Type::Pred;
  move.bytes = bytes;
  for (unsigned c = 0; c < formal.vector; ++c) {
    set(true, first.offset() + c * bytes * kLanes, bytes);
    moves.push_back(move);
  }
}

bool FunctionDecoder::call(const ptx::Instruction& instruction, Op& op) {
  const ptx::CallParts parts = ptx::call_parts(function_, instruction);
  const auto signature = ptx::signature_of(context_.scope, function_, parts);
  WW_CHECK(signature.has_value(), "a call that was not checked");
  CallSite site;
  for (std::size_t i = 0; i < parts.results.size(); ++i)
    add_moves(parts.results[i], (*signature->results)[i], false, site.results);
  for (std::size_t i = 0; i < parts.arguments.size(); ++i)
    add_moves(parts.arguments[i], (*signature->params)[i], true, site.arguments);
  const std::string_view name = context_.module.text(parts.target->name);
  const ptx::Declared what = context_.scope.find(parts.target->name);
  if (what.kind != ptx::Declared::Kind::Function) {
    site.target = register_place(name);
  } else if (const auto found = context_.layout.functions.find(what.function->name);
             found != context_.layout.functions.end()) {
    site.function = found->second;
  } else {
    return call_builtin(instruction, name, std::move(site), op);
  }
  op.run = run_call;
  op.flags = kTracksItself;
  op.set(CallOp{static_cast<std::uint32_t>(program().calls.size())});
  program().calls.push_back(std::move(site));
  return true;
}

bool FunctionDecoder::call_builtin(const ptx::Instruction& instruction, std::string_view name,
                                   CallSite site, Op& op) {
  const auto builtin = find_builtin(name);
  if (!builtin) {
    error(instruction, fmt::format("`{}` is declared and not defined in this file", name));
    return false;
  }
  op.run = *builtin;
  if (name == "malloc" || name == "free") {
    program().uses_heap = true;
    code().is_ordered = true;
  }
  op.flags = kTracksItself;
  op.set(CallOp{static_cast<std::uint32_t>(program().calls.size())});
  program().calls.push_back(std::move(site));
  return true;
}

}  // namespace ww::sim
