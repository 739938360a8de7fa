// SPDX-License-Identifier: Apache-2.0
// PTX instructions and their operands: a flat list in the order of the PTX text. Which of them are
// destinations follows from the opcode.
#pragma once

#include <vector>

#include "eval/cta/cta.h"
#include "eval/memory/address.h"

namespace ww::eval {

inline constexpr int kRegisterBits = 32;
inline constexpr int kHalfBits = 16;

/// The bits of a register; undefined ones are found.
Words ptx_value(Cta& cta, const ir::PtxOperand& operand, Threads ts, int bits);
/// The same for a value that is only passed on.
Contents ptx_content(Cta& cta, const ir::PtxOperand& operand, Threads ts, int bits);
/// Sign-extended to 64 bits.
Words ptx_int(Cta& cta, const ir::PtxOperand& operand, Threads ts);
std::vector<Address> ptx_address(Cta& cta, const ir::PtxOperand& operand, Threads ts);

/// Registers that pointers lead to, one for each thread.
class Registers {
 public:
  Registers(Cta& cta, ir::ExprId pointer, Threads ts);
  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  Element operator[](std::size_t i) const;

 private:
  const Cta& cta_;
  Threads threads_;
  Words pointers_;
};

/// Calls `visit` with what a destination names, for each thread: its number, a register behind a
/// pointer, or an element of a buffer; and its bits. Not for a sink, nor for elements at no address,
/// which have been found.
template <typename Visit>
void each_target(Cta& cta, const ir::PtxOperand& operand, Threads ts, int register_bits,
                 const Visit& visit) {
  if (operand.kind == ir::PtxOperandKind::Sink) return;
  const ir::Expr& expr = cta.f[operand.expr];
  if (operand.kind != ir::PtxOperandKind::At && expr.op == ir::ExprOp::Load) {
    const BufferInfo& info = cta.launch.info(expr.buffer);
    const Located elements(cta, info, expr.args, 1, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      if (const Element element = elements[i]; element.at.exists()) visit(i, element, info.bits);
    return;
  }
  const Registers registers(cta, operand.expr, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) visit(i, registers[i], register_bits);
}
/// Writes a destination.
void ptx_put(Cta& cta, const ir::PtxOperand& operand, Threads ts, int register_bits,
             const Contents& values);
void ptx_put(Cta& cta, const ir::PtxOperand& operand, Threads ts, int register_bits, Words values);

/// Executes an instruction where its predicate holds. True when the threads are still together and
/// can go on.
bool run_ptx(Cta& cta, const PtxInstruction& ptx, Threads ts);

#define WW_EVAL_PTX(kind, together, handler) \
  void handler(Cta& cta, const PtxInstruction& ptx, Threads ts);
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX

}  // namespace ww::eval
