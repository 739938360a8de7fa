// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/name_walk.h"

#include <optional>
#include <utility>

#include "ir/print/print.h"
#include "isa/form.h"

namespace ww::lower {
namespace {

using ir::ExprId;

}  // namespace

NameWalk::NameWalk(const Call& call, ProofValues& values, const Granules& src, Granules& dst,
                   Fill fill, int granule, std::int64_t first_thread)
    : ProofWalk(call, values),
      granule_(granule),
      scratch_(call, values, first_thread),
      moves_(call, src, dst, granule, scratch_),
      fill_(fill) {}

// Registers between a load and a store: what they hold is new in each round.
Try<void> NameWalk::allocate(const ir::Stmt& s) {
  moves_.keep(s.buffer);
  return {};
}

// Of a value that is no element.
Try<Name> NameWalk::name_of(scalars::Scalar value) const {
  if (value == fill_.value) return fill_.name;
  if (value == 0) return kZero;
  return wrong("a value is stored that is neither an element nor what fills up");
}

// buffer[indices] = other[indices], an element of each; or a value, or one of the two.
Try<void> NameWalk::store(const ir::Stmt& s, const Mask& mask) {
  const auto to = WW_TRY(element(s, mask));
  return store_value(to, num::storage_bits(f_[s.buffer].dtype), s.expr, mask);
}

Try<void> NameWalk::store_value(const PointerValue& to, int bits, ExprId stored, const Mask& mask) {
  const ir::Expr& value = f_[stored];
  if (value.op == ir::ExprOp::IfThenElse || value.op == ir::ExprOp::Select) {
    const PerUnit& condition = *WW_TRY(values_.known(value.args[0]));
    Mask yes = mask, no = mask;
    for (std::size_t t = 0; t < mask.size(); ++t) (condition[t] != 0 ? no : yes)[t] = false;
    WW_TRY_VOID(store_value(to, bits, value.args[1], yes));
    return store_value(to, bits, value.args[2], no);
  }
  const bool is_shuffled = value.op == ir::ExprOp::Call && (value.callee == ir::Intrinsic::Shfl ||
                                                            value.callee == ir::Intrinsic::ShflXor);
  if (is_shuffled) return store_shuffled(to, bits, stored, mask);
  if (value.op != ir::ExprOp::Load) {
    const PerUnit& values = *WW_TRY(values_.known(stored));
    std::optional<std::pair<scalars::Scalar, Name>> last;  // all threads store the same, mostly
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      if (!last || last->first != values[t]) last = {values[t], WW_TRY(name_of(values[t]))};
      WW_TRY_VOID(moves_.fill(to, t, to.bit[t], bits, last->second));
    }
    return {};
  }
  return moves_.move_each(to, WW_TRY(element(value, mask)), bits, mask);
}

// shfl.sync.idx and .bfly with all lanes: each gets what a lane of its warp has.
Try<void> NameWalk::store_shuffled(const PointerValue& to, int bits, ExprId stored,
                                   const Mask& mask) {
  const ir::Expr& e = f_[stored];
  const bool is_xor = e.callee == ir::Intrinsic::ShflXor;
  if (f_[e.args[1]].op != ir::ExprOp::Load)
    return unknown("a store of `{}`", ir::print(f_, stored));
  const auto members = ir::const_int(f_, e.args[0]);
  const auto width = ir::const_int(f_, e.args[3]), all = ir::const_int(f_, e.args[4]);
  if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU || width != kWarpThreads ||
      all != kWarpThreads)
    return unknown("`{}` in parts of a warp", ir::print(f_, stored));
  const auto from = WW_TRY(element(f_[e.args[1]], mask));
  const auto by = WW_TRY(values_.of(e.args[2]));
  const auto warps = WW_TRY(whole_warps(mask, "shfl.sync"));
  std::vector<std::size_t> givers(mask.size());
  for (const std::size_t first : warps)
    for (std::size_t lane = 0; lane < kWarpThreads; ++lane) {
      const auto operand = static_cast<std::size_t>(by[first + lane] & 31);
      givers[first + lane] = first + (is_xor ? lane ^ operand : operand);
    }
  return move_all(to, from, bits, mask, givers);
}

// All threads read before any writes: a register may be both.
Try<void> NameWalk::move_all(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                             const Mask& mask, const std::vector<std::size_t>& givers) {
  std::vector<std::vector<Name>> names(mask.size());
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) {
      const std::size_t u = givers[t];
      names[t] = WW_TRY(moves_.names_at(from, u, from.bit[u], bits));
    }
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(moves_.put_names(to, t, to.bit[t], names[t]));
  return {};
}

// ldmatrix and stmatrix: between registers and the rows that lanes give the addresses of.
Try<void> NameWalk::matrix(const ir::PtxCall& call, bool is_load, const Mask& mask) {
  std::vector<PointerValue> registers;
  std::optional<PointerValue> rows;
  for (const ir::PtxOperand& operand : call.operands) {
    auto pointer = WW_TRY(values_.pointer(operand.expr));
    if (operand.kind == ir::PtxOperandKind::Address)
      rows = std::move(pointer);
    else
      registers.push_back(std::move(pointer));
  }
  if (&call != last_matrix_) fragments_ = isa::fragments_of(call.opcode.binding());
  last_matrix_ = &call;
  if (!rows || fragments_.empty()) return unknown("a matrix copy without rows");
  const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
  for (const std::size_t first : warps)
    WW_TRY_VOID(matrix_of_warp(fragments_[0], registers, *rows, first, is_load));
  return {};
}

Try<void> NameWalk::matrix_of_warp(const isa::Fragment& fragment,
                                   const std::vector<PointerValue>& registers,
                                   const PointerValue& rows, std::size_t first, bool is_load) {
  struct End {
    std::size_t thread;
    std::int64_t bit;
  };
  const int unit = 32 / fragment.parts;
  std::vector<NameMoves::Way> ways;  // by register
  for (const PointerValue& reg : registers)
    ways.push_back(WW_TRY(is_load ? moves_.way(reg, rows) : moves_.way(rows, reg)));
  const std::size_t matrices = registers.size() / static_cast<std::size_t>(fragment.regs);
  for (std::size_t m = 0; m < matrices; ++m)
    for (int r = 0; r < fragment.rows; ++r) {
      const std::size_t giver =
          first + m * static_cast<std::size_t>(fragment.rows) + static_cast<std::size_t>(r);
      const std::int64_t row = rows.bit[giver];
      if (row % 128 != 0) return wrong("lane {} gives a row at byte {}", giver - first, row / 8);
      for (int c = 0; c < fragment.cols; ++c) {
        const isa::FragmentPlace& place = fragment.at(r, c);
        const auto i =
            m * static_cast<std::size_t>(fragment.regs) + static_cast<std::size_t>(place.reg);
        const PointerValue& reg = registers[i];
        const std::size_t thread = first + static_cast<std::size_t>(place.lane);
        const End in_register{thread, reg.bit[thread] + place.part * unit};
        const End in_row{giver, row + c * unit};
        const End &to = is_load ? in_register : in_row, &from = is_load ? in_row : in_register;
        if (unit == granule_ && ways[i].has_moved(to.thread, granule_at(to.bit, unit), from.thread,
                                                  granule_at(from.bit, unit)))
          continue;
        WW_TRY_VOID(moves_.move(is_load ? reg : rows, to.thread, to.bit, is_load ? rows : reg,
                                from.thread, from.bit, unit));
      }
    }
  return {};
}

// prmt.b32: byte i of the result is byte c[i] of the eight that a and b have.
Try<void> NameWalk::permute_bytes(const ir::PtxCall& call, const Mask& mask) {
  if (call.opcode.binding().has("mode") || granule_ > 8) return unknown("`{}`", call.opcode.text());
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const auto a = WW_TRY(register_of(call.operands[1], mask));
  const auto b = WW_TRY(register_of(call.operands[2], mask));
  const auto pick = WW_TRY(values_.of(call.operands[3].expr));
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    std::vector<Name> names;
    for (unsigned i = 0; i < 4; ++i) {
      const auto byte = static_cast<std::int64_t>(pick[t] >> (4 * i) & 15);
      if (byte > 7) return unknown("a sign that `{}` repeats", call.opcode.text());
      const PointerValue& from = byte < 4 ? a : b;
      const auto part = WW_TRY(moves_.names_at(from, t, from.bit[t] + byte % 4 * 8, 8));
      names.insert(names.end(), part.begin(), part.end());
    }
    WW_TRY_VOID(moves_.put_names(to, t, to.bit[t], names));
  }
  return {};
}

// movmatrix: lane l has row l / 4, columns 2 (l % 4) and the next, before and after the matrix is
// transposed.
Try<void> NameWalk::transpose(const ir::PtxCall& call, const Mask& mask) {
  if (granule_ > 16) return unknown("`{}`", call.opcode.text());
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const auto from = WW_TRY(register_of(call.operands[1], mask));
  const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
  std::vector<std::vector<Name>> names(mask.size());
  for (const std::size_t first : warps)
    for (std::size_t lane = 0; lane < kWarpThreads; ++lane)
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t row = lane / 4, column = 2 * (lane % 4) + half;
        const std::size_t giver = first + column * 4 + row / 2;
        const std::int64_t bit = from.bit[giver] + static_cast<std::int64_t>(row % 2) * 16;
        const auto part = WW_TRY(moves_.names_at(from, giver, bit, 16));
        names[first + lane].insert(names[first + lane].end(), part.begin(), part.end());
      }
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(moves_.put_names(to, t, to.bit[t], names[t]));
  return {};
}

}  // namespace ww::lower
