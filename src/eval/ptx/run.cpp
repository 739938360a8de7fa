// SPDX-License-Identifier: Apache-2.0
#include "eval/ptx/run.h"

#include <utility>

#include "eval/cta/schedule.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/instruction.h"

namespace ww::eval {
namespace {

// True when the threads go on at once.
bool dispatch_ptx(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  switch (ptx.kind) {
    case PtxKind::Unknown:
      break;
#define WW_EVAL_PTX(id, together, handler) \
  case PtxKind::id:                        \
    handler(cta, ptx, ts);                 \
    break;
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
  }
  if (ptx.kind == PtxKind::BarSync || ptx.kind == PtxKind::BarCount ||
      ptx.kind == PtxKind::WarpSync || ptx.kind == PtxKind::ClusterWait)
    return false;
  go_on(cta, ts);
  return true;
}

}  // namespace

void ptx_nothing(Cta& /*cta*/, const PtxInstruction& /*ptx*/, Threads /*ts*/) {}

bool run_ptx(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const ir::ExprId predicate = ptx.call->predicate;
  if (!predicate.valid()) return dispatch_ptx(cta, ptx, ts);
  const Words holds = evaluate(cta, predicate, ts);
  std::vector<Thread> active;
  for (std::size_t i = 0; i < ts.size(); ++i)
    if (holds[i] != 0) active.push_back(ts[i]);
  if (active.size() == ts.size()) return dispatch_ptx(cta, ptx, ts);
  // Threads that skip it go on; threads waiting at it follow.
  go_on(cta, ts);
  if (active.empty()) return true;
  for (const Thread t : active) cta.pc[t] = cta.step;
  return dispatch_ptx(cta, ptx, active) && active.size() == ts.size();
}

// --- operands ------------------------------------------------------------------------------------

using ir::PtxOperand;
using ir::PtxOperandKind;

Registers::Registers(Cta& cta, ir::ExprId pointer, Threads ts)
    : cta_(cta), threads_(ts), pointers_(evaluate(cta, pointer, ts)) {}

Element Registers::operator[](std::size_t i) const {
  return element_at(pointee(cta_, pointers_[i]), threads_[i]);
}

Words ptx_value(Cta& cta, const PtxOperand& operand, Threads ts, int bits) {
  if (operand.kind != PtxOperandKind::At) return evaluate(cta, operand.expr, ts);
  const Registers registers(cta, operand.expr, ts);
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i)
    out[i] = read_defined(cta, registers[i], bits, access_of(cta, ts[i]));
  return out;
}

Contents ptx_content(Cta& cta, const PtxOperand& operand, Threads ts, int bits) {
  if (operand.kind != PtxOperandKind::At) return evaluate_copied(cta, operand.expr, ts);
  const Registers registers(cta, operand.expr, ts);
  Contents out{Words(cta.run.pool, ts.size()), Words(cta.run.pool, ts.size())};
  for (std::size_t i = 0; i < ts.size(); ++i)
    out.set(i, read(cta, registers[i], bits, access_of(cta, ts[i])));
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

void ptx_put(Cta& cta, const PtxOperand& operand, Threads ts, int register_bits,
             const Contents& values) {
  each_target(cta, operand, ts, register_bits, [&](std::size_t i, const Element& to, int bits) {
    write(cta, to, bits, values[i].part(0, bits), access_of(cta, ts[i]));
  });
}

void ptx_put(Cta& cta, const PtxOperand& operand, Threads ts, int register_bits, Words values) {
  const std::size_t size = values.size();
  ptx_put(cta, operand, ts, register_bits, {std::move(values), constant(cta, 0, size)});
}

}  // namespace ww::eval
