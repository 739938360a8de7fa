// SPDX-License-Identifier: Apache-2.0
#include "lower/promote.h"

#include <algorithm>
#include <vector>

#include "ir/build.h"
#include "ir/thread_values.h"
#include "ir/visit.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::StmtKind;

class Promote {
 public:
  explicit Promote(ir::Function& f)
      : f_(f), scalars_(ir::definitions_of(f).scalars), vars_(f.buffer_count()) {}

  void run() {
    for (std::size_t i = 0; i < scalars_.size(); ++i)
      if (scalars_[i].stmt.valid()) promote(ir::BufferId{static_cast<std::uint32_t>(i)});
    block(f_.host);
    block(f_.body);
  }

 private:
  void promote(ir::BufferId id) {
    const ir::Buffer& scalar = f_[id];
    ir::Var var{.name = scalar.name,
                .type = ir::Type::of(scalar.dtype),
                .kind = ir::VarKind::Let,
                .span = scalar.span};
    vars_[id.index] = f_.add(std::move(var));
    ir::Stmt& store = f_.at(scalars_[id.index].stmt);
    store.kind = StmtKind::Bind;
    store.var = vars_[id.index];
    store.buffer = {};
    store.args = {};
  }

  void block(ir::Block& list) {
    std::erase_if(list, [&](ir::StmtId id) {
      const ir::Stmt& s = f_[id];
      return s.kind == StmtKind::Alloc && vars_[s.buffer.index].valid();
    });
    for (const ir::StmtId id : list) stmt(id);
  }

  void stmt(ir::StmtId id) {
    ir::Stmt s = f_[id];
    const auto replace = [&](ExprId& expr) {
      if (expr.valid()) expr = replaced(expr);
    };
    replace(s.expr);
    for (ExprId& arg : s.args) replace(arg);
    replace_in(s.setting);
    for (auto& [name, setting] : s.settings) replace_in(setting);
    if (s.tile.valid()) replace_in(f_.tile_calls[s.tile.index]);
    if (s.ptx.valid()) replace_in(f_.ptx_calls[s.ptx.index]);
    if (s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare) replace_in(f_.at(s.buffer));
    block(s.body);
    block(s.other);
    f_.at(id) = std::move(s);
  }

  void replace_in(ir::Setting& setting) {
    if (auto* id = std::get_if<ExprId>(&setting); id != nullptr && id->valid()) *id = replaced(*id);
  }

  void replace_in(ir::TileCall& call) {
    for (ir::TileArg& arg : call.args) {
      if (auto* region = std::get_if<ir::Region>(&arg))
        for (ir::RangeExpr& range : region->ranges) {
          range.min = replaced(range.min);
          range.extent = replaced(range.extent);
        }
      if (auto* id = std::get_if<ExprId>(&arg); id != nullptr && id->valid()) *id = replaced(*id);
      if (auto* setting = std::get_if<ir::Setting>(&arg)) replace_in(*setting);
    }
    for (auto& [name, setting] : call.config) replace_in(setting);
  }

  void replace_in(ir::PtxCall& call) {
    for (ir::PtxOperand& operand : call.operands) {
      if (operand.expr.valid()) operand.expr = replaced(operand.expr);
      if (operand.offset.valid()) operand.offset = replaced(operand.offset);
    }
    if (call.predicate.valid()) call.predicate = replaced(call.predicate);
  }

  void replace_in(ir::Buffer& buffer) {
    for (ExprId* id :
         {&buffer.pointer, &buffer.elem_offset, &buffer.byte_offset, &buffer.allocated_addr})
      if (id->valid()) *id = replaced(*id);
    for (ExprId& extent : buffer.shape) extent = replaced(extent);
  }

  ExprId replaced(ExprId id) {
    if (id.index < done_.size() && done_[id.index].valid()) return done_[id.index];
    ir::Expr e = f_[id];
    ExprId out = id;
    if (e.op == ir::ExprOp::Load && vars_[e.buffer.index].valid()) {
      out = ir::var_ref(f_, vars_[e.buffer.index], e.span);
    } else {
      bool is_same = true;
      for (ExprId& arg : e.args) {
        const ExprId next = replaced(arg);
        is_same = is_same && next == arg;
        arg = next;
      }
      if (!is_same) out = f_.add(std::move(e));
    }
    if (done_.size() <= id.index) done_.resize(id.index + 1);
    done_[id.index] = out;
    return out;
  }

  ir::Function& f_;
  std::vector<ir::Definition> scalars_;
  std::vector<ir::VarId> vars_;  // by BufferId
  std::vector<ExprId> done_;
};

}  // namespace

void promote_scalars(ir::Function& function) { Promote(function).run(); }

}  // namespace ww::lower
