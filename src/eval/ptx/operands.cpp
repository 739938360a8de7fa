// SPDX-License-Identifier: Apache-2.0
#include "eval/ptx/operands.h"

#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"

namespace ww::eval {

using ir::PtxOperand;

Words ptx_value(Cta& cta, const PtxOperand& operand, Threads ts, int bits, Words* undefined) {
  if (operand.kind == PtxOperand::Kind::At) {
    const Words pointers = evaluate(cta, operand.expr, ts);
    Words out(cta.run.pool, ts.size());
    if (undefined != nullptr) *undefined = constant(cta, 0, ts.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const Element element = element_at(pointee(cta, pointers[i]), ts[i]);
      const Access by = access_of(cta, ts[i]);
      out[i] = undefined != nullptr ? read(cta, element, bits, by, (*undefined)[i])
                                    : read_defined(cta, element, bits, by);
    }
    return out;
  }
  if (undefined == nullptr) return evaluate(cta, operand.expr, ts);
  Words out = evaluate_copied(cta, operand.expr, ts, *undefined);
  if (undefined->size() != out.size()) *undefined = constant(cta, 0, out.size());
  return out;
}

Words ptx_int(Cta& cta, const PtxOperand& operand, Threads ts) {
  Words out = evaluate(cta, operand.expr, ts);
  const num::DType type = cta.type_of(operand.expr);
  for (Word& word : out) word = static_cast<Word>(as_int(type, word));
  return out;
}

std::vector<Address> ptx_address(Cta& cta, const PtxOperand& operand, Threads ts) {
  const Words bases = evaluate(cta, operand.expr, ts);
  const ir::Type type = cta.f[operand.expr].type;
  std::vector<Address> out(ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) out[i] = address_from(cta, type, bases[i]);
  if (!operand.offset.valid()) return out;
  const Words offsets = evaluate(cta, operand.offset, ts);
  for (std::size_t i = 0; i < ts.size(); ++i)
    out[i].bit += as_int(cta.type_of(operand.offset), offsets[i]) * 8;
  return out;
}

PtxTargets ptx_targets(Cta& cta, const PtxOperand& operand, Threads ts, int register_bits) {
  if (operand.kind == PtxOperand::Kind::Sink) return {};
  const ir::Expr& expr = cta.f[operand.expr];
  if (operand.kind != PtxOperand::Kind::At && expr.op == ir::ExprOp::Load) {
    const BufferInfo& info = cta.launch.info(expr.buffer);
    return {locate(cta, info, expr.args, 1, ts), info.bits};
  }
  PtxTargets out{.elements = {}, .bits = register_bits};
  const Words pointers = evaluate(cta, operand.expr, ts);
  for (std::size_t i = 0; i < ts.size(); ++i)
    out.elements.push_back(element_at(pointee(cta, pointers[i]), ts[i]));
  return out;
}

void ptx_put(Cta& cta, const PtxOperand& operand, Threads ts, int register_bits,
             const Words& values, const Words* undefined) {
  const auto [elements, bits] = ptx_targets(cta, operand, ts, register_bits);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (is_missing(elements[i])) continue;
    const Word unknown = undefined != nullptr ? (*undefined)[i] : 0;
    write(cta, elements[i], bits, values[i] & low_mask(bits), unknown & low_mask(bits),
          access_of(cta, ts[i]));
  }
}

}  // namespace ww::eval
