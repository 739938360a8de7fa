// SPDX-License-Identifier: Apache-2.0
#include "lower/promote.h"

#include <algorithm>
#include <vector>

#include "ir/build.h"
#include "ir/launch/thread_values.h"
#include "ir/visit.h"
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
    const auto is_promoted = [&](const ir::Stmt& s) {
      return s.kind == ir::StmtKind::Alloc && vars_[s.buffer.index].valid();
    };
    for (ir::Block* part : {&f_.host, &f_.body}) {
      ir::erase_stmts(f_, *part, is_promoted);
      ir::for_each_stmt(f_, *part, [&](ir::StmtId id) {
        ir::map_roots(f_, id, [&](ExprId root) { return replaced(root); });
      });
    }
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

  ExprId replaced(ExprId id) {
    if (id.index < done_.size() && done_[id.index].valid()) return done_[id.index];
    const ir::Expr& e = f_[id];
    const ExprId out = e.op == ir::ExprOp::Load && vars_[e.buffer.index].valid()
                           ? ir::var_ref(f_, vars_[e.buffer.index], e.span)
                           : ir::with_operands(f_, id, [&](ExprId arg) { return replaced(arg); });
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
