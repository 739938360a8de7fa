// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/walk.h"

#include <algorithm>

#include "base/cancel.h"
#include "ir/print/print.h"
#include "layout/apply.h"

namespace ww::lower {

using ir::ExprId;
using ir::StmtKind;

Try<void> ProofWalk::block(const ir::Block& stmts, const Mask& mask) {
  for (const ir::StmtId id : stmts) {
    // A step takes time of its own beside that of its threads.
    constexpr std::int64_t kMaxSteps = std::int64_t{1} << 28, kOwn = 16;
    steps_ += kOwn + static_cast<std::int64_t>(mask.size());
    if (steps_ > kMaxSteps)
      return unknown(
          "carrying it out takes too many steps; a loop over smaller tiles, each a call "
          "of its own, takes few for each");
    stop_if_cancelled();
    WW_TRY_VOID(stmt(f_[id], mask));
  }
  return {};
}

Try<void> ProofWalk::stmt(const ir::Stmt& s, const Mask& mask) {
  switch (s.kind) {
    case StmtKind::Declare:
      return {};
    case StmtKind::Alloc:
      return allocate(s);
    case StmtKind::Attr:
      return block(s.body, mask);
    case StmtKind::Bind:
      return bind(s, mask);
    case StmtKind::For:
      return loop(s, mask);
    case StmtKind::If:
      return branch(s, mask);
    case StmtKind::Store:
      return store(s, mask);
    case StmtKind::Evaluate:
      return evaluate(s, mask);
    case StmtKind::Ptx:
      return ptx(f_[s.ptx], mask);
    case StmtKind::While:
    case StmtKind::Assert:
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Return:
    case StmtKind::ScopeIds:
    case StmtKind::LaunchThread:
    case StmtKind::Tile:
      break;
  }
  return unknown("a statement `{}`", ir::name_of(s.kind));
}

Try<void> ProofWalk::store(const ir::Stmt& s, const Mask& /*mask*/) {
  return unknown("a store to `{}`", f_[s.buffer].name);
}

Try<void> ProofWalk::evaluate(const ir::Stmt& s, const Mask& /*mask*/) {
  return unknown("`{}`", ir::print(f_, s.expr));
}

Try<void> ProofWalk::allocate(const ir::Stmt& s) {
  return unknown("a statement `{}`", ir::name_of(s.kind));
}

Try<void> ProofWalk::bind(const ir::Stmt& s, const Mask& /*mask*/) {
  if (f_[s.var].type.is_pointer()) {
    values_.set(s.var, WW_TRY(values_.pointer(s.expr)));
    return {};
  }
  values_.set(s.var, WW_TRY(values_.of(s.expr)));
  return {};
}

Try<void> ProofWalk::loop(const ir::Stmt& s, const Mask& mask) {
  auto trips = WW_TRY(values_.uniform(s.args[1]));
  // Where no thread comes there is nothing to see but the statements.
  if (idle_ > 0) trips = std::min<std::int64_t>(trips, 1);
  for (std::int64_t k = 0; k < trips; ++k) {
    values_.set(s.var, PerUnit(values_.threads(), k));
    WW_TRY_VOID(block(s.body, mask));
  }
  return {};
}

Try<void> ProofWalk::branch(const ir::Stmt& s, const Mask& mask) {
  const PerUnit& condition = *WW_TRY(values_.known(s.expr));
  Mask yes = mask, no = mask;
  bool has_yes = false, has_no = false;
  for (std::size_t t = 0; t < mask.size(); ++t) {
    const bool holds = condition[t] != 0;
    (holds ? no : yes)[t] = false;
    (holds ? has_yes : has_no) |= mask[t];
  }
  WW_TRY_VOID(arm(s.body, yes, has_yes));
  return arm(s.other, no, has_no);
}

Try<void> ProofWalk::arm(const ir::Block& stmts, const Mask& mask, bool is_taken) {
  idle_ += is_taken ? 0 : 1;
  const auto walked = block(stmts, mask);
  idle_ -= is_taken ? 0 : 1;
  return walked;
}

bool ProofWalk::is_shuffle(ExprId expr) const {
  const ir::Expr& e = f_[expr];
  return e.op == ir::ExprOp::Call &&
         (e.callee == ir::Intrinsic::Shfl || e.callee == ir::Intrinsic::ShflXor ||
          e.callee == ir::Intrinsic::ShflUp);
}

Try<std::vector<std::size_t>> ProofWalk::givers(ExprId shuffle, const Mask& mask) {
  const ir::Expr& e = f_[shuffle];
  const auto members = ir::const_int(f_, e.args[0]);
  const auto width = ir::const_int(f_, e.args[3]), all = ir::const_int(f_, e.args[4]);
  if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU || width != kWarpThreads ||
      all != kWarpThreads)
    return unknown("`{}` in parts of a warp", ir::print(f_, shuffle));
  const auto by = WW_TRY(values_.of(e.args[2]));
  std::vector<std::size_t> out(mask.size());
  for (const std::size_t first : WW_TRY(whole_warps(mask, "shfl.sync")))
    for (std::size_t lane = 0; lane < kWarpThreads; ++lane) {
      const auto operand = static_cast<std::size_t>(by[first + lane] & 31);
      const std::size_t below = lane < operand ? lane : lane - operand;
      out[first + lane] = first + (e.callee == ir::Intrinsic::ShflXor  ? lane ^ operand
                                   : e.callee == ir::Intrinsic::ShflUp ? below
                                                                       : operand);
    }
  return out;
}

Try<PointerValue> ProofWalk::register_of(const ir::PtxOperand& operand, const Mask& mask) {
  if (operand.kind == ir::PtxOperandKind::At) return values_.pointer(operand.expr);
  const ir::Expr& e = f_[operand.expr];
  if (e.op != ir::ExprOp::Load) return unknown("operand `{}`", ir::print(f_, operand.expr));
  return element(e, mask);
}

Try<PointerValue> ProofWalk::element(ir::BufferId id, std::span<const ExprId> indices,
                                     const Mask& mask) {
  const ir::Buffer& buffer = f_[id];
  PointerValue out{.storage = ir::storage_of(f_, id), .bit = WW_TRY(values_.start_of(id))};
  const int bits = num::storage_bits(buffer.dtype);
  const bool is_explicit = buffer.layout_kind == ir::LayoutKind::Explicit;
  if (!is_explicit && indices.size() == 1 && ir::const_int(f_, buffer.shape[0]).value_or(1) != 1) {
    out.bit = out.bit.plus(*WW_TRY(values_.known(indices[0])), bits);
    return out;
  }
  PerUnit flat(values_.threads(), 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const auto extent = WW_TRY(values_.uniform(buffer.shape[d]));
    const PerUnit& index = *WW_TRY(values_.known(indices[d]));
    // The simplifier takes the index into a single element for 0.
    for (std::size_t t = 0; extent == 1 && t < mask.size(); ++t)
      if (mask[t] && index[t] != 0)
        return wrong("index {} into the single element of `{}`", index[t], buffer.name);
    flat = flat.times(extent).plus(index);
  }
  const PerUnit place = is_explicit ? WW_TRY(placed(*buffer.layout, flat, mask)) : flat;
  out.bit = out.bit.plus(place, bits);
  return out;
}

Try<PerUnit> ProofWalk::placed(const layout::Layout& layout, const PerUnit& flat,
                               const Mask& mask) {
  std::vector<std::int64_t> out(flat.size());
  for (std::size_t t = 0; t < flat.size(); ++t) {
    if (!mask[t]) continue;
    const auto at = layout::apply(layout, flat[t]);
    if (!at) return unknown("{}", at.error().text);
    for (const layout::AxisValue& v : *at)
      if (v.axis == layout::axes::m()) out[t] = v.value;
  }
  return PerUnit(std::move(out));
}

namespace {

Try<std::vector<std::size_t>> whole_groups(const Mask& mask, std::string_view opcode,
                                           std::size_t size, std::string_view members) {
  std::vector<std::size_t> out;
  for (std::size_t first = 0; first < mask.size(); first += size) {
    const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        mask.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, mask.size()));
    const auto count = static_cast<std::size_t>(std::count(begin, end, true));
    if (count != 0 && count != size) return wrong("{} {} execute {}", count, members, opcode);
    if (count != 0) out.push_back(first);
  }
  return out;
}

}  // namespace

Try<std::vector<std::size_t>> whole_warps(const Mask& mask, std::string_view opcode) {
  return whole_groups(mask, opcode, kWarpThreads, "lanes");
}

Try<std::vector<std::size_t>> whole_warpgroups(const Mask& mask, std::string_view opcode) {
  return whole_groups(mask, opcode, kWarpgroupThreads, "threads");
}

}  // namespace ww::lower
