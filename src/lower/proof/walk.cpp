// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/walk.h"

#include <algorithm>

#include "ir/print/print.h"
#include "layout/apply.h"

namespace ww::lower {

using ir::ExprId;
using ir::StmtKind;

Try<void> ProofWalk::block(const ir::Block& stmts, const Mask& mask) {
  for (const ir::StmtId id : stmts) {
    // A step takes time of its own beside that of its threads.
    constexpr std::int64_t kMostSteps = std::int64_t{1} << 28, kOwn = 16;
    steps_ += kOwn + static_cast<std::int64_t>(mask.size());
    if (steps_ > kMostSteps)
      return std::unexpected(std::string(
          "carrying it out takes too many steps; a loop over smaller tiles, each a call "
          "of its own, takes few for each"));
    if (auto good = stmt(f_[id], mask); !good) return good;
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
      return bind(s);
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
  return std::unexpected(fmt::format("a statement `{}`", ir::name_of(s.kind)));
}

Try<void> ProofWalk::allocate(const ir::Stmt& s) {
  return std::unexpected(fmt::format("a statement `{}`", ir::name_of(s.kind)));
}

Try<void> ProofWalk::bind(const ir::Stmt& s) {
  if (f_[s.var].type.is_pointer()) {
    auto pointer = values_.pointer(s.expr);
    if (!pointer) return std::unexpected(pointer.error());
    values_.set(s.var, *std::move(pointer));
    return {};
  }
  auto value = values_.of(s.expr);
  if (!value) return std::unexpected(value.error());
  values_.set(s.var, *std::move(value));
  return {};
}

Try<void> ProofWalk::loop(const ir::Stmt& s, const Mask& mask) {
  const auto trips = values_.uniform(s.args[1]);
  if (!trips) return std::unexpected(trips.error());
  for (std::int64_t k = 0; k < *trips; ++k) {
    values_.set(s.var, PerUnit(values_.threads(), k));
    if (auto good = block(s.body, mask); !good) return good;
  }
  return {};
}

Try<void> ProofWalk::branch(const ir::Stmt& s, const Mask& mask) {
  const auto condition = values_.of(s.expr);
  if (!condition) return std::unexpected(condition.error());
  Mask yes = mask, no = mask;
  for (std::size_t t = 0; t < mask.size(); ++t) {
    yes[t] = mask[t] && (*condition)[t] != 0;
    no[t] = mask[t] && (*condition)[t] == 0;
  }
  if (auto good = block(s.body, yes); !good) return good;
  return block(s.other, no);
}

Try<PointerValue> ProofWalk::register_of(const ir::PtxOperand& operand, const Mask& mask) {
  if (operand.kind == ir::PtxOperand::Kind::At) return values_.pointer(operand.expr);
  const ir::Expr e = f_[operand.expr];
  if (e.op != ir::ExprOp::Load)
    return std::unexpected(fmt::format("operand `{}`", ir::print(f_, operand.expr)));
  return element(e, mask);
}

Try<PointerValue> ProofWalk::element(ir::BufferId id, std::span<const ExprId> indices,
                                     const Mask& mask) {
  const ir::Buffer buffer = f_[id];
  auto start = values_.start_of(id);
  if (!start) return std::unexpected(start.error());
  PointerValue out{.storage = ir::storage_of(f_, id), .bit = *std::move(start)};
  PerUnit flat(values_.threads(), 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const auto index = values_.of(indices[d]);
    const auto extent = values_.uniform(buffer.shape[d]);
    if (!index || !extent) return std::unexpected(!index ? index.error() : extent.error());
    for (std::size_t t = 0; t < flat.size(); ++t) {
      // Whoever simplifies takes the index into a single element for 0.
      if (*extent == 1 && mask[t] && (*index)[t] != 0)
        return std::unexpected(fmt::format("{}index {} into the single element of `{}`", kWrong,
                                           (*index)[t], buffer.name));
      flat[t] = flat[t] * *extent + (*index)[t];
    }
  }
  for (std::size_t t = 0; t < flat.size(); ++t) {
    if (!mask[t]) continue;
    std::int64_t place = flat[t];
    if (buffer.layout_kind == ir::LayoutKind::Explicit) {
      const auto at = layout::apply(*buffer.layout, flat[t]);
      if (!at) return std::unexpected(at.error().text);
      place = 0;
      for (const layout::AxisValue& v : *at)
        if (v.axis == layout::axes::m()) place = v.value;
    }
    out.bit[t] += place * num::bits_of(buffer.dtype);
  }
  return out;
}

Try<std::vector<std::size_t>> whole_warps(const Mask& mask, std::string_view opcode) {
  std::vector<std::size_t> out;
  for (std::size_t first = 0; first < mask.size(); first += 32) {
    const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = mask.begin() + static_cast<std::ptrdiff_t>(std::min(first + 32, mask.size()));
    const auto count = std::count(begin, end, true);
    if (count != 0 && count != 32)
      return std::unexpected(fmt::format("{}{} lanes execute {}", kWrong, count, opcode));
    if (count != 0) out.push_back(first);
  }
  return out;
}

}  // namespace ww::lower
