// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/memory_units.h"

#include <algorithm>

#include "ir/launch/shared_order.h"
#include "ir/launch/uniformity.h"
#include "ir/param_use.h"
#include "ir/visit.h"

namespace ww::ir {

MemoryUnits::MemoryUnits(const Function& function, const Definitions& definitions, ExprId more)
    : f_(function),
      definitions_(definitions),
      seen_(function.expr_count()),
      stores_(function.buffer_count()) {
  for (const ParamUse& use : param_uses(f_)) is_written_.push_back(use.writes);
  for_each_stmt(f_, f_.body, [&](StmtId id) {
    const Stmt& s = f_[id];
    if (s.kind == StmtKind::Store && f_[s.buffer].scope == Scope::Local)
      stores_[storage_of(f_, s.buffer).index].push_back(id);
    const bool decides = s.kind == StmtKind::If || s.kind == StmtKind::While;
    if (decides) left_.push_back(s.expr);
    if (s.kind == StmtKind::For) left_.insert(left_.end(), s.args.begin(), s.args.end());
  });
  left_.push_back(more);
  while (!left_.empty()) {
    const ExprId expr = left_.back();
    left_.pop_back();
    if (!expr.valid() || seen_[expr.index]) continue;
    seen_[expr.index] = true;
    look_at(expr);
  }
  if (!stored_.empty()) find_leaks();
}

void MemoryUnits::look_at(ExprId expr) {
  const Expr& e = f_[expr];
  for (const ExprId arg : e.args) left_.push_back(arg);
  const Definition name = definition_of(f_, definitions_, expr);
  if (name.value.valid()) return left_.push_back(name.value);
  if (e.op != ExprOp::Load) return;
  const Buffer& buffer = f_[e.buffer];
  for_each_root(buffer, [&](ExprId root) { left_.push_back(root); });
  const BufferId storage = storage_of(f_, e.buffer);
  if (buffer.scope == Scope::Local) return want_stores(storage);
  Known& known = loaded_[expr.index];
  if (f_[storage].origin == BufferOrigin::Pointer) {
    known.unit = Unit::Thread;
  } else if (buffer.scope == Scope::Global) {
    known.unit = Unit::Thread;
    for (std::size_t i = 0; i < f_.params.size(); ++i)
      if (f_.params[i].var == f_[storage].param && !is_written_[i]) known.unit = Unit::Kernel;
  } else if (is_shared(buffer.scope)) {
    known.unit = Unit::Cta;
    shared_.push_back(expr);
  } else {
    known.unit = Unit::Thread;
  }
}

void MemoryUnits::want_stores(BufferId storage) {
  Known known;
  if (f_[storage].origin != BufferOrigin::Alloc) known.unit = Unit::Thread;
  if (!stored_.emplace(storage.index, known).second) return;
  for (const StmtId id : stores_[storage.index]) {
    left_.push_back(f_[id].expr);
    left_.insert(left_.end(), f_[id].args.begin(), f_[id].args.end());
  }
}

// Primitives and instructions give each thread its own value, and code with a pointer may.
void MemoryUnits::find_leaks() {
  const auto leak = [&](BufferId buffer, StmtId why) {
    const auto found = stored_.find(storage_of(f_, buffer).index);
    if (found != stored_.end()) lower(found->second, Unit::Thread, why);
  };
  for_each_stmt(f_, f_.body, [&](StmtId id) {
    const Stmt& s = f_[id];
    if (s.kind == StmtKind::Tile) {
      const TileCall& call = f_[s.tile];
      if (const auto* dst = std::get_if<Region>(&call.args[0])) leak(dst->buffer, id);
      for (const auto& [name, buffer] : call.workspace) leak(buffer, id);
    }
    if (s.kind == StmtKind::Ptx)
      for (const PtxOperand& operand : f_[s.ptx].operands)
        if (operand.expr.valid() && f_[operand.expr].op == ExprOp::Load)
          leak(f_[operand.expr].buffer, id);
  });
  for_each_expr(f_, [&](ExprId id) {
    const Expr& e = f_[id];
    if (takes_address(e)) leak(e.buffer, {});
  });
}

bool MemoryUnits::lower(Known& known, Unit unit, StmtId why) {
  if (unit >= known.unit) return false;
  known = {unit, why};
  return true;
}

// Whole units must store, all threads of them together, the same to the same element.
Unit MemoryUnits::stored_by(const Stmt& store, const ActiveSet& set, ThreadValues& values) const {
  if (set.may.none()) return Unit::Kernel;
  if (set.one_lane_per_warp) return Unit::Thread;
  Unit unit = coarsest(set.may, first_threads(values.count()), set.granule);
  const auto and_of = [&](ExprId expr) {
    if (unit > Unit::Thread)
      unit = std::min(unit, uniformity_among(f_, definitions_, *this, values, expr, set.may));
  };
  and_of(store.expr);
  for (const ExprId index : store.args) and_of(index);
  for_each_root(f_[store.buffer], and_of);
  return unit;
}

bool MemoryUnits::refine(const std::vector<ActiveSet>& sets, ThreadValues& values) {
  bool has_changed = false;
  for (auto& [storage, known] : stored_) {
    for (const StmtId id : stores_[storage]) {
      if (known.unit == Unit::Thread) break;
      values.make_room();
      has_changed = lower(known, stored_by(f_[id], sets[id.index], values), id) || has_changed;
    }
  }
  if (shared_.empty()) return has_changed;
  const std::vector<SharedLoad> order = shared_order(f_, shared_, sets, values.count());
  for (std::size_t i = 0; i < shared_.size(); ++i)
    has_changed = lower(loaded_[shared_[i].index], order[i].unit, order[i].write) || has_changed;
  return has_changed;
}

void MemoryUnits::give_up() {
  for (auto& [storage, known] : stored_) lower(known, Unit::Thread, {});
  for (const ExprId load : shared_) lower(loaded_[load.index], Unit::Thread, {});
}

MemoryUnits::Known MemoryUnits::of(ExprId load) const {
  const Expr& e = f_[load];
  const bool is_private = f_[e.buffer].scope == Scope::Local;
  const auto& known = is_private ? stored_ : loaded_;
  const auto found = known.find(is_private ? storage_of(f_, e.buffer).index : load.index);
  return found == known.end() ? Known{Unit::Thread, {}} : found->second;
}

}  // namespace ww::ir
