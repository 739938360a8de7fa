// SPDX-License-Identifier: Apache-2.0
// Loads, stores and moves of single threads.
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"

namespace ww::eval {

void ptx_load(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const int bits = ptx.bits;
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(ptx.count), ts);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    Words values(cta.run.pool, ts.size());
    Words undefined(cta.run.pool, ts.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
      Element element = element_at(addresses[i], ts[i]);
      element.at.bit += static_cast<std::int64_t>(r) * bits;
      values[i] = read(cta, element, bits, access_of(cta, ts[i]), undefined[i]);
    }
    ptx_put(cta, ptx.operand(r), ts, bits, values, &undefined);
  }
}

void ptx_store(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const int bits = ptx.bits;
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(0), ts);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    Words undefined = constant(cta, 0, 0);
    const Words values = ptx_value(cta, ptx.operand(r + 1), ts, bits, &undefined);
    for (std::size_t i = 0; i < ts.size(); ++i) {
      Element element = element_at(addresses[i], ts[i]);
      element.at.bit += static_cast<std::int64_t>(r) * bits;
      write(cta, element, bits, values[i] & low_mask(bits), undefined[i] & low_mask(bits),
            access_of(cta, ts[i]));
    }
  }
}

void ptx_move(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words undefined = constant(cta, 0, 0);
  const Words values = ptx_value(cta, ptx.operand(1), ts, ptx.bits, &undefined);
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, values, &undefined);
}

void ptx_add(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words values = ptx_value(cta, ptx.operand(1), ts, ptx.bits, nullptr);
  const Words more = ptx_value(cta, ptx.operand(2), ts, ptx.bits, nullptr);
  binary(ir::ExprOp::Add, ptx.type, values, more, values);
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, values, nullptr);
}

}  // namespace ww::eval
