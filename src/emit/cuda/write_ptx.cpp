// SPDX-License-Identifier: Apache-2.0
// PTX instructions: a call of the function that holds the instruction.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/cuda/ptx_helper.h"
#include "emit/cuda/types.h"
#include "emit/cuda/writer.h"

namespace ww::emit::cuda {

using Kind = ir::PtxOperand::Kind;

void Writer::ptx(const ir::Stmt& s) {
  const ir::PtxCall& call = f_[s.ptx];
  auto placed = place_call(f_, call, options_.target);
  if (!placed) return static_cast<void>(refuse(std::move(placed).error().with_span(s.span)));
  auto helper = ptx_helper(f_, call, *placed, is_tensor_load(call) && pending_.waits_itself(call));
  if (!helper) return static_cast<void>(refuse(std::move(helper).error().with_span(s.span)));
  if (helper->needs_bitcast) helpers_.use("ww_bitcast");
  helpers_.add(helper->name, helper->text);
  std::vector<std::string> args;
  for (const std::size_t number : helper->order)
    args.push_back(ptx_operand(call.operands[number], *placed, number));
  if (call.predicate.valid()) args.push_back(expr(call.predicate));
  line(fmt::format("{}({});", helper->name, fmt::join(args, ", ")));
}

// Behind a wait for registers of `tcgen05.ld`.
void Writer::settle(const ir::Stmt& s) {
  for (const ir::BufferId storage : pending_.settled_by(s)) {
    const num::DType dtype = f_[storage].dtype;
    std::int64_t bits = is_packed(dtype) ? num::bits_of(dtype) : bytes_of(dtype) * 8;
    for (const ir::ExprId extent : f_[storage].shape) bits *= ir::const_int(f_, extent).value_or(0);
    line(fmt::format("{}<{}>({}{});", helpers_.use("ww_settle"), bits / 32,
                     names_.is_variable(storage) ? "&" : "", names_.of(storage)));
  }
}

// Destinations are passed by reference.
std::string Writer::ptx_operand(const ir::PtxOperand& operand, const PlacedCall& placed,
                                std::size_t number) {
  const ir::Expr& e = f_[operand.expr];
  if (operand.kind == Kind::Address && operand.offset.valid()) {
    if (!e.type.is_pointer())
      return fmt::format("{} + {}", expr(operand.expr, kSum), expr(operand.offset, kProduct));
    return fmt::format("{}<uint8_t>({}, {})", helpers_.use("tvm_builtin_byte_offset"),
                       expr(operand.expr), expr(operand.offset));
  }
  bool is_written = false;
  for (const ir::PlacedOperand& group : placed.operands)
    is_written |= group.spec->role == isa::Role::Write && number >= group.first &&
                  number < group.first + group.count;
  if (!is_written || operand.kind != Kind::Value) return expr(operand.expr);
  if (e.op != ir::ExprOp::Load)
    return refuse(e.span, "a PTX instruction writes to an expression, expected an element");
  return element_at(e.buffer, flat_index(e.buffer, e.args, e.span), e.span);
}

}  // namespace ww::emit::cuda
