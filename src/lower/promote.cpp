// SPDX-License-Identifier: Apache-2.0
#include "lower/promote.h"

#include <algorithm>
#include <vector>

#include "ir/build.h"
#include "ir/launch/thread_values.h"
#include "ir/map_roots.h"

namespace ww::lower {
namespace {

using ir::ExprId;

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
    store.kind = ir::StmtKind::Bind;
    store.var = vars_[id.index];
    store.buffer = {};
    store.args = {};
  }

  void block(ir::Block& list) {
    std::erase_if(list, [&](ir::StmtId id) {
      const ir::Stmt& s = f_[id];
      return s.kind == ir::StmtKind::Alloc && vars_[s.buffer.index].valid();
    });
    for (const ir::StmtId id : list) stmt(id);
  }

  void stmt(ir::StmtId id) {
    ir::map_roots(f_, id, [&](ExprId root) { return replaced(root); });
    block(f_.at(id).body);
    block(f_.at(id).other);
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
