// SPDX-License-Identifier: Apache-2.0
// Loads, stores, moves and sums of single threads.
#include <utility>
#include <vector>

#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"

namespace ww::eval {

void ptx_load(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(ptx.count), ts);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    const auto offset = static_cast<std::int64_t>(r) * ptx.bits;
    Contents values = empty_contents(cta, ts.size());
    for (std::size_t i = 0; i < ts.size(); ++i)
      values.set(
          i, read(cta, element_at(addresses[i] + offset, ts[i]), ptx.bits, access_of(cta, ts[i])));
    ptx_put(cta, ptx.operand(r), ts, ptx.bits, values);
  }
}

void ptx_store(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(0), ts);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    const auto offset = static_cast<std::int64_t>(r) * ptx.bits;
    const Contents values = ptx_content(cta, ptx.operand(r + 1), ts, ptx.bits);
    for (std::size_t i = 0; i < ts.size(); ++i)
      write(cta, element_at(addresses[i] + offset, ts[i]), ptx.bits, values[i].part(0, ptx.bits),
            access_of(cta, ts[i]));
  }
}

void ptx_move(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, ptx_content(cta, ptx.operand(1), ts, ptx.bits));
}

void ptx_add(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words values = ptx_value(cta, ptx.operand(1), ts, ptx.bits);
  const Words more = ptx_value(cta, ptx.operand(2), ts, ptx.bits);
  binary(ir::ExprOp::Add, ptx.type, values, more, values);
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(values));
}

// Byte i is byte c[i] of the eight of a and b; bit 3 of c[i] repeats its sign instead.
void ptx_permute_bytes(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  constexpr unsigned kByte = 8;
  const Contents a = ptx_content(cta, ptx.operand(1), ts, kRegisterBits);
  const Contents b = ptx_content(cta, ptx.operand(2), ts, kRegisterBits);
  const Words pick = ptx_value(cta, ptx.operand(3), ts, kRegisterBits);
  Contents out = empty_contents(cta, ts.size());
  for (std::size_t t = 0; t < ts.size(); ++t)
    for (unsigned i = 0; i < 4; ++i) {
      const auto which = static_cast<unsigned>(pick[t] >> (4 * i) & 15U);
      Content byte = (which & 4U ? b : a)[t].part((which & 3U) * kByte, kByte);
      if ((which & 8U) != 0) {
        const auto signs = [](Word bits) { return (bits >> 7U & 1U) * 0xFFU; };
        byte = {signs(byte.value), signs(byte.undefined)};
      }
      out.add(t, byte, i * kByte);
    }
  ptx_put(cta, ptx.operand(0), ts, kRegisterBits, out);
}

namespace {

Word half_value(PackedFunction function, num::DType type, std::span<const Word> v) {
  Word out = 0;
  const auto operate = [&](ir::ExprOp op) {
    binary(op, type, v.first(1), v.subspan(1, 1), {&out, 1});
    return out;
  };
  switch (function) {
    case PackedFunction::Add:
      return operate(ir::ExprOp::Add);
    case PackedFunction::Sub:
      return operate(ir::ExprOp::Sub);
    case PackedFunction::Mul:
      return operate(ir::ExprOp::Mul);
    case PackedFunction::Min:
      return operate(ir::ExprOp::Min);
    case PackedFunction::Max:
      return operate(ir::ExprOp::Max);
    case PackedFunction::Fma:
      return fused(type, v[0], v[1], v[2]);
    case PackedFunction::Neg:
      unary(ir::ExprOp::Neg, type, v.first(1), {&out, 1});
      return out;
    case PackedFunction::Abs:
      return pure_call(ir::Intrinsic::Abs, type, v.first(1));
  }
  return out;
}

}  // namespace

void ptx_packed(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  std::vector<Words> from;
  for (std::size_t i = 1; i < ptx.operand_count(); ++i)
    from.push_back(ptx_value(cta, ptx.operand(i), ts, ptx.bits));
  const int width = ptx.bits / 2;
  const Word mask = (Word{1} << width) - 1;
  std::vector<Word> halves(from.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    Word word = 0;
    for (const int shift : {0, width}) {
      for (std::size_t k = 0; k < from.size(); ++k) halves[k] = from[k][i] >> shift & mask;
      word |= (half_value(ptx.packed, ptx.type, halves) & mask) << shift;
    }
    from[0][i] = word;
  }
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(from[0]));
}

}  // namespace ww::eval
