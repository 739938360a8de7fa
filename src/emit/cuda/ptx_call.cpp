// SPDX-License-Identifier: Apache-2.0
// PTX instructions: a call of the function that holds the instruction.
#include "emit/cuda/ptx_call.h"

#include "base/join.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/ptx_helper.h"
#include "emit/cuda/types.h"

namespace ww::emit::cuda {
namespace {

using ir::PtxOperand;
using ir::PtxOperandKind;

// Destinations are passed by reference.
std::string ptx_operand(Context& c, const PtxOperand& operand, const PlacedCall& placed,
                        std::size_t number) {
  const Expr& e = c.f[operand.expr];
  if (operand.kind == PtxOperandKind::Address && operand.offset.valid()) {
    if (!e.type.is_pointer())
      return fmt::format("{} + {}", expr(c, operand.expr, kSum), expr(c, operand.offset, kProduct));
    return fmt::format("{}<uint8_t>({}, {})", c.helpers.use("tvm_builtin_byte_offset"),
                       expr(c, operand.expr), expr(c, operand.offset));
  }
  bool is_written = false;
  for (const ir::PlacedOperand& group : placed.operands)
    is_written |= group.spec->role == isa::Role::Write && number >= group.first &&
                  number < group.first + group.count;
  if (!is_written || operand.kind != PtxOperandKind::Value) return expr(c, operand.expr);
  if (e.op != ExprOp::Load)
    return refuse(c, e.span, "a PTX instruction writes to an expression, expected an element");
  return element(c, e.buffer, e.args, e.span);
}

}  // namespace

void ptx_call(Context& c, const Stmt& s) {
  const ir::PtxCall& call = c.f[s.ptx];
  auto placed = place_call(c.f, call, c.options.target);
  if (!placed) return static_cast<void>(refuse(c, std::move(placed).error().with_span(s.span)));
  const bool waits = ir::is_tensor_load(call) && c.pending.waits_itself(call);
  if (ir::is_async_product(call) && c.pending.waits_itself(call))
    return static_cast<void>(refuse(
        c, s.span, "`{}` writes to memory, expected registers: its sums are indexed at run time",
        call.opcode.text()));
  auto helper = ptx_helper(c.f, call, *placed, c.known, waits);
  if (!helper) return static_cast<void>(refuse(c, std::move(helper).error().with_span(s.span)));
  if (helper->needs_bitcast) c.helpers.use("ww_bitcast");
  if (helper->hides_words) c.helpers.use("ww_hidden_zero");
  c.helpers.add(helper->name, helper->text);
  std::vector<std::string> args;
  for (const std::size_t number : helper->order)
    args.push_back(ptx_operand(c, call.operands[number], *placed, number));
  if (call.predicate.valid()) args.push_back(expr(c, call.predicate));
  line(c, "{}({});", helper->name, join(args, ", "));
}

void settle(Context& c, const Stmt& s) {
  for (const BufferId storage : c.pending.settled_by(s)) {
    const DType dtype = c.f[storage].dtype;
    std::int64_t bits = is_packed(dtype) ? num::bits_of(dtype) : bytes_of(dtype) * 8;
    for (const ExprId extent : c.f[storage].shape) bits *= ir::const_int(c.f, extent).value_or(0);
    const bool is_float = dtype == DType::Float32 && s.kind == StmtKind::Ptx &&
                          c.f[s.ptx].opcode.mnemonic() == "wgmma.wait_group";
    line(c, "{}<{}>({}{});", c.helpers.use(is_float ? "ww_settle_floats" : "ww_settle"), bits / 32,
         c.names.is_variable(storage) ? "&" : "", c.names.of(storage));
  }
}

}  // namespace ww::emit::cuda
