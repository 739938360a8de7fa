// SPDX-License-Identifier: Apache-2.0
// Which operand of a call goes where in its instruction.
#include <algorithm>

#include "emit/cuda/ptx_helper.h"
#include "emit/cuda/types.h"
#include "isa/check.h"

namespace ww::emit::cuda {
namespace {

using ir::ExprOp;
using ir::PlacedOperand;
using ir::PtxCall;
using ir::PtxOperand;
using ir::PtxOperandKind;
using isa::OperandSpec;
using isa::Role;

bool fits_register(const ir::Function& f, const PtxOperand& operand, const OperandSpec& spec,
                   std::optional<isa::Type> wanted) {
  if (operand.kind == PtxOperandKind::Sink) return spec.role == Role::Write;
  const ir::Type type = f[operand.expr].type;
  if (!wanted) return true;
  if (*wanted == isa::Type::Pred) return type.is_value() && !type.is_float();
  const int bits = isa::info(*wanted).bits;
  if (operand.kind == PtxOperandKind::At) return bits == 32 || *wanted == isa::Type::B128;
  if (f[operand.expr].op == ExprOp::IntImm && spec.role != Role::Write) return true;
  return register_bits(type) == bits || (spec.wider && register_bits(type) > bits);
}

bool fits(const ir::Function& f, const PtxCall& call, const PlacedOperand& placed,
          const isa::Binding& binding) {
  const OperandSpec& spec = *placed.spec;
  const auto wanted = isa::type_of(spec, binding);
  for (std::size_t i = 0; i < placed.count; ++i) {
    const PtxOperand& operand = call.operands[placed.first + i];
    const bool is_base = spec.role == Role::Address && i == 0;
    if (is_base != (operand.kind == PtxOperandKind::Address)) return false;
    if (is_base || spec.role == Role::Address) continue;
    if (spec.role == Role::Immediate && f[operand.expr].op != ExprOp::IntImm) return false;
    if (spec.role == Role::Label || spec.role == Role::Rest) return false;
    const auto type = i < placed.main ? wanted : std::optional(isa::Type::Pred);
    if (spec.role != Role::Immediate && !fits_register(f, operand, spec, type)) return false;
  }
  return true;
}

}  // namespace

bool is_immediate(const ir::Function& f, const PtxOperand& operand, const OperandSpec& spec) {
  const bool is_limited = !spec.values.empty() || spec.low <= spec.high;
  return operand.expr.valid() && f[operand.expr].op == ExprOp::IntImm &&
         operand.kind == PtxOperandKind::Value && (spec.role == Role::Immediate || is_limited);
}

Result<PlacedCall> place_call(const ir::Function& f, const PtxCall& call, target::Target target) {
  if (call.opcode.forms().empty())
    return fail(DiagKind::NotEmitted, "{}", call.opcode.misfit().text);
  std::optional<Diag> missing;
  for (const isa::Binding& binding : call.opcode.forms()) {
    PlacedCall out{binding, {}};
    const bool is_placed = ir::place_operands(
        binding, call.operands.size(), [&](std::span<const PlacedOperand> placed) {
          out.operands.assign(placed.begin(), placed.end());
          return std::ranges::all_of(placed, [&](const PlacedOperand& operand) {
            return fits(f, call, operand, binding);
          });
        });
    if (!is_placed) continue;
    std::optional<Diag> problem = isa::missing_on(binding, target);
    if (!problem) return out;
    if (!missing) missing = std::move(problem);
  }
  if (missing) return fail(*std::move(missing));
  return fail(DiagKind::NotEmitted, "the operands of `{}` fit no form of it, such as `{}`",
              call.opcode.text(), isa::syntax_line(call.opcode.binding().form()));
}

}  // namespace ww::emit::cuda
