// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/pending.h"

#include <algorithm>

#include "ir/below.h"
#include "ir/ptx_placement.h"
#include "ir/visit.h"

namespace ww::emit::cuda {
namespace {

// Registers hold what it writes after a wait only.
bool is_late(const ir::PtxCall& call) {
  return ir::is_tensor_load(call) || ir::is_async_product(call);
}
bool is_wait(const ir::PtxCall& call) {
  return call.opcode.mnemonic() == "tcgen05.wait::ld" ||
         call.opcode.mnemonic() == "wgmma.wait_group";
}

}  // namespace

PendingLoads::PendingLoads(const ir::Function& f) : f_(f), is_fixed_(f.var_count()) {
  if (std::ranges::none_of(f.ptx_calls, is_late)) return;
  storage_.emplace(f);
  find_fixed();
  ir::for_each_expr(f_, [&](ExprId id) { look_at(f_[id]); });
  ir::for_each_stmt(f_, f_.body, [&](ir::StmtId id) { look_at(f_[id]); });
  Storages pending;
  walk(f_.body, pending);
}

bool PendingLoads::waits_itself(const ir::PtxCall& load) const {
  return std::ranges::any_of(destinations(load), [&](BufferId storage) {
    return !storage.valid() || in_memory_.contains(storage.index);
  });
}

const std::vector<BufferId>& PendingLoads::settled_by(const Stmt& s) const {
  static const std::vector<BufferId> kNone;
  const auto found = settled_.find(&s);
  return found == settled_.end() ? kNone : found->second;
}

// --- destinations --------------------------------------------------------------------------------

// In its text they come before the address; before descriptors come the registers of a product, in
// which those of A must stay, too.
std::vector<BufferId> PendingLoads::destinations(const ir::PtxCall& load) const {
  std::vector<BufferId> out;
  for (const ir::PtxOperand& operand : load.operands) {
    if (operand.kind == ir::PtxOperandKind::Address) break;
    if (operand.kind == ir::PtxOperandKind::Sink) continue;
    if (ir::is_async_product(load) && operand.kind != ir::PtxOperandKind::At) break;
    out.push_back(operand.kind == ir::PtxOperandKind::At ? storage_->at(operand.expr)
                                                         : storage_->of(f_[operand.expr].buffer));
  }
  return out;
}

void PendingLoads::add_load(const ir::PtxCall& load, Storages& pending) const {
  if (waits_itself(load)) return;
  for (const BufferId storage : destinations(load)) pending.insert(storage.index);
}

// --- arrays in memory ----------------------------------------------------------------------------

void PendingLoads::find_fixed() {
  ir::for_each_stmt(f_, f_.body, [&](ir::StmtId id) {
    const Stmt& s = f_[id];
    if (s.kind == StmtKind::Bind) is_fixed_[s.var.index] = is_fixed(s.expr);
    if (s.kind != StmtKind::For) return;
    bool is_unrolled = s.loop == ir::LoopKind::Unroll || s.loop == ir::LoopKind::Vectorized;
    for (const auto& [key, value] : s.settings) {
      const bool* flag = std::get_if<bool>(&value);
      if (key == "unroll" && flag != nullptr) is_unrolled = *flag;
    }
    // Outer loops are seen first, so that the bounds of inner ones can count on them.
    is_fixed_[s.var.index] = is_unrolled && is_fixed(s.first()) && is_fixed(s.trips());
  });
}

// A number as soon as the loops around it are unrolled.
bool PendingLoads::is_fixed(ExprId index) const {
  return !ir::any_below(f_, index, [&](const Expr& e) {
    return e.op == ExprOp::Load || e.op == ExprOp::Call ||
           (e.op == ExprOp::Var && !is_fixed_[e.var.index]);
  });
}

void PendingLoads::access(BufferId buffer, const SmallVec<ExprId, 3>& indices) {
  const BufferId storage = storage_->of(buffer);
  if (!storage.valid()) return;
  const auto is_fixed_at = [&](ExprId at) { return !at.valid() || is_fixed(at); };
  const ir::Buffer& b = f_[buffer];
  if (!std::ranges::all_of(indices, is_fixed_at) || !is_fixed_at(b.elem_offset) ||
      !is_fixed_at(b.byte_offset))
    in_memory_.insert(storage.index);
}

void PendingLoads::escape(ExprId pointer) {
  if (!f_[pointer].type.is_pointer()) return;
  if (const BufferId storage = storage_->at(pointer); storage.valid())
    in_memory_.insert(storage.index);
}

void PendingLoads::look_at(const Expr& e) {
  if (e.op == ExprOp::Load || e.op == ExprOp::AddressOf) access(e.buffer, e.args);
  if (moves_pointer(e) && !is_fixed(e.args[1])) escape(e.args[0]);
  if (moves_pointer(e) || retypes_pointer(e) || is_call(e, Intrinsic::CopyBytes)) return;
  for (const ExprId arg : e.args) escape(arg);
}

void PendingLoads::look_at(const Stmt& s) {
  if (s.kind == StmtKind::Store) access(s.buffer, s.args);
  if (s.kind != StmtKind::Ptx) return;
  for (const ir::PtxOperand& operand : f_[s.ptx].operands)
    if (operand.kind == ir::PtxOperandKind::Address) escape(operand.expr);
}

// --- from loads to waits -------------------------------------------------------------------------

// A wait for groups may leave some of them under way.
bool PendingLoads::waits_for_all(const ir::PtxCall& wait) const {
  if (wait.predicate.valid()) return false;
  return wait.operands.empty() || ir::const_int(f_, wait.operands[0].expr) == 0;
}

// `pending`: before the block, then behind it.
void PendingLoads::walk(const ir::Block& block, Storages& pending) {
  for (const ir::StmtId id : block) {
    const Stmt& s = f_[id];
    if (s.is_loop()) {
      walk_loop(s.body, pending);
    } else if (s.kind == StmtKind::If) {
      Storages otherwise = pending;
      walk(s.body, pending);
      walk(s.other, otherwise);
      pending.merge(otherwise);
    } else if (s.kind == StmtKind::Ptx && is_late(f_[s.ptx])) {
      add_load(f_[s.ptx], pending);
    } else if (s.kind == StmtKind::Ptx && is_wait(f_[s.ptx])) {
      settle(s, pending);
      if (waits_for_all(f_[s.ptx])) pending.clear();
    } else {
      if (runs_foreign_code(s)) settle(s, pending);
      walk(s.body, pending);
    }
  }
  // What the block has brought into being ends with it.
  for (const ir::StmtId id : block)
    if (f_[id].kind == StmtKind::Alloc) pending.erase(f_[id].buffer.index);
}

// Loads at the end of the body reach waits at its beginning.
void PendingLoads::walk_loop(const ir::Block& body, Storages& pending) {
  if (ir::any_stmt(f_, body, [](const Stmt& s) { return s.is_jump(); })) {  // from anywhere in it
    Storages own;
    ir::for_each_stmt(f_, body, [&](ir::StmtId id) {
      const Stmt& s = f_[id];
      if (s.kind == StmtKind::Alloc) own.insert(s.buffer.index);
      if (s.kind == StmtKind::Ptx && is_late(f_[s.ptx])) add_load(f_[s.ptx], pending);
    });
    for (const std::uint32_t storage : own) pending.erase(storage);
  }
  for (std::size_t before = 0; before != pending.size() + 1;) {
    before = pending.size() + 1;
    Storages after = pending;
    walk(body, after);
    pending.merge(after);
  }
}

void PendingLoads::settle(const Stmt& s, const Storages& pending) {
  std::vector<BufferId>& out = settled_[&s];
  for (const std::uint32_t storage : pending)
    if (std::ranges::find(out, BufferId{storage}) == out.end()) out.push_back(BufferId{storage});
}

// CUDA C++ of the program's own may hold a wait.
bool PendingLoads::runs_foreign_code(const Stmt& s) const {
  bool found = false;
  const auto is_foreign = [](const Expr& e) { return is_call(e, Intrinsic::FuncCall); };
  ir::for_each_root(f_, s, [&](ExprId id) { found |= ir::any_below(f_, id, is_foreign); });
  return found;
}

}  // namespace ww::emit::cuda
