// SPDX-License-Identifier: Apache-2.0
// Structure: what no source text can break, only our own passes.
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

class Nodes {
 public:
  explicit Nodes(Context& c)
      : c_(c), f_(c.f), seen_exprs_(f_.expr_count()), seen_stmts_(f_.stmt_count()) {}

  bool run() {
    for (const Param& param : f_.params) check_param(param);
    for (const auto& [key, setting] : f_.attrs)
      for_each_root(setting, [&](ExprId id) { check_expr(id); });
    check_block(f_.host);
    check_block(f_.body);
    return c_.findings.empty();
  }

 private:
  template <typename... Args>
  bool broken(fmt::format_string<Args...> format, Args&&... args) {
    c_.report(DiagKind::BrokenIr, span_, format, std::forward<Args>(args)...);
    return false;
  }

  bool exists(VarId id) {
    if (id.index < f_.var_count()) return true;
    return broken("{} names no variable; there are {}", where_, f_.var_count());
  }
  bool exists(BufferId id) {
    if (id.index < f_.buffer_count()) return true;
    return broken("{} names no buffer; there are {}", where_, f_.buffer_count());
  }
  bool exists(ExprId id) {
    if (id.index < f_.expr_count()) return true;
    return broken("{} lacks an expression; there are {}", where_, f_.expr_count());
  }

  void check_param(const Param& param) {
    where_ = "a parameter";
    if (!exists(param.var)) return;
    if (f_[param.var].kind != VarKind::Param)
      broken("parameter `{}` is not a variable of kind Param", f_[param.var].name);
    if (!param.buffer.valid() || !exists(param.buffer)) return;
    const Buffer& buffer = f_[param.buffer];
    if (buffer.origin != BufferOrigin::Param || buffer.param != param.var)
      broken("buffer `{}` annotates parameter `{}` and is not matched to it", buffer.name,
             f_[param.var].name);
    check_buffer(param.buffer);
  }

  void check_block(const Block& block) {
    for (const StmtId id : block) {
      where_ = "a block";
      if (id.index >= f_.stmt_count()) {
        broken("a block names statement {} of {}", id.index, f_.stmt_count());
        continue;
      }
      if (seen_stmts_[id.index]) {
        broken("a `{}` statement stands in two places", name_of(f_[id].kind));
        continue;
      }
      seen_stmts_[id.index] = true;
      check_stmt(f_[id]);
      check_block(f_[id].body);
      check_block(f_[id].other);
    }
  }

  void check_stmt(const Stmt& s) {
    span_ = s.span;
    where_ = name_of(s.kind);
    if (!has_parts(s)) return;
    for_each_root(f_, s, [&](ExprId id) { check_expr(id); });
  }

  // Has the statement what its kind asks for?
  bool has_parts(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::Bind:
        return exists(s.var) && exists(s.expr);
      case StmtKind::Alloc:
      case StmtKind::Declare:
        return exists(s.buffer) && check_buffer(s.buffer);
      case StmtKind::Store:
        return exists(s.buffer) && exists(s.expr);
      case StmtKind::For:
        return exists(s.var) && has_arguments(s, 2, 3);
      case StmtKind::While:
      case StmtKind::If:
      case StmtKind::Assert:
      case StmtKind::Evaluate:
        return exists(s.expr);
      case StmtKind::ScopeIds:
        return has_ids(s);
      case StmtKind::LaunchThread:
        return exists(s.var) && has_arguments(s, 1, 1);
      case StmtKind::Tile:
        return has_tile_call(s);
      case StmtKind::Ptx:
        return has_ptx_call(s);
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Return:
      case StmtKind::Attr:
        return true;
    }
    return broken("a statement of kind {}", static_cast<int>(s.kind));
  }

  bool has_arguments(const Stmt& s, std::size_t least, std::size_t most) {
    if (s.args.size() < least || s.args.size() > most)
      return broken("`{}` with {}", where_, counted(s.args.size(), "argument", "arguments"));
    for (const ExprId arg : s.args) {
      if (!exists(arg)) return false;
    }
    return true;
  }

  bool has_ids(const Stmt& s) {
    for (const VarId var : s.vars) {
      if (!exists(var)) return false;
    }
    return true;
  }

  bool has_tile_call(const Stmt& s) {
    if (s.tile.index >= f_.tile_calls.size()) return broken("`Tile` without a call");
    const TileCall& call = f_[s.tile];
    if (call.args.size() != params_of(call.op).size())
      return broken("`{}` with {}; it has {} parameters", name_of(call.op),
                    counted(call.args.size(), "argument", "arguments"), params_of(call.op).size());
    for (const TileArg& arg : call.args) {
      const auto* region = std::get_if<Region>(&arg);
      if (region == nullptr) continue;
      if (!exists(region->buffer)) return false;
      for (const RangeExpr& range : region->ranges) {
        if (!exists(range.min) || !exists(range.extent)) return false;
      }
    }
    for (const auto& [key, buffer] : call.workspace) {
      if (!exists(buffer)) return false;
    }
    return true;
  }

  bool has_ptx_call(const Stmt& s) {
    if (s.ptx.index >= f_.ptx_calls.size()) return broken("`Ptx` without a call");
    if (!f_[s.ptx].opcode.valid()) return broken("`Ptx` without an opcode");
    for (const PtxOperand& operand : f_[s.ptx].operands) {
      if (operand.kind != PtxOperandKind::Sink && !exists(operand.expr)) return false;
    }
    return true;
  }

  bool check_buffer(BufferId id) {
    const Buffer& buffer = f_[id];
    where_ = fmt::format("buffer `{}`", buffer.name);
    for (const ExprId extent : buffer.shape) {
      if (!exists(extent)) return false;
    }
    if ((buffer.layout_kind == LayoutKind::Explicit) != buffer.layout.has_value())
      return broken("buffer `{}` {} a layout against its kind", buffer.name,
                    buffer.layout ? "has" : "lacks");
    switch (buffer.origin) {
      case BufferOrigin::Param:
        if (!exists(buffer.param)) return false;
        break;
      case BufferOrigin::View:
        if (!exists(buffer.base)) return false;
        if (f_[buffer.base].origin == BufferOrigin::View)
          return broken("`{}` is a view of `{}`, which is a view itself", buffer.name,
                        f_[buffer.base].name);
        break;
      case BufferOrigin::Pointer:
        if (buffer.scope != Scope::Tmem && !exists(buffer.pointer)) return false;
        break;
      case BufferOrigin::Alloc:
        break;
    }
    for_each_root(buffer, [&](ExprId expr) { check_expr(expr); });
    return true;
  }

  // Operands are made before those who use them, so that there are no cycles.
  void check_expr(ExprId id) {
    if (!exists(id) || seen_exprs_[id.index]) return;
    seen_exprs_[id.index] = true;
    const Expr& e = f_[id];
    if (!has_leaf(e)) return;
    const int arity = e.op == ExprOp::Call ? -1 : arity_of(e.op);
    if (arity >= 0 && e.args.size() != static_cast<std::size_t>(arity)) {
      broken("`{}` with {}", name_of(e.op), counted(e.args.size(), "operand", "operands"));
      return;
    }
    for (const ExprId arg : e.args) {
      if (!exists(arg)) return;
      if (arg.index >= id.index) {
        broken("`{}` has an operand that was made after it", name_of(e.op));
        return;
      }
      check_expr(arg);
    }
  }

  bool has_leaf(const Expr& e) {
    switch (e.op) {
      case ExprOp::TextImm:
        return e.text < f_.texts.size() || broken("text {} of {}", e.text, f_.texts.size());
      case ExprOp::Var:
        return exists(e.var);
      case ExprOp::Load:
      case ExprOp::AddressOf:
      case ExprOp::BufferData:
        return exists(e.buffer);
      case ExprOp::Shuffle:
        return e.args.size() > e.type.lanes || broken("`Shuffle` without a vector");
      case ExprOp::Call:
        return has_arguments(e);
      default:
        return true;
    }
  }

  bool has_arguments(const Expr& e) {
    const IntrinsicFacts& facts = facts_of(e.callee);
    const auto count = static_cast<int>(e.args.size());
    if (count >= facts.min_args && (facts.max_args < 0 || count <= facts.max_args)) return true;
    return broken("`T.{}` with {}", facts.name, counted(e.args.size(), "argument", "arguments"));
  }

  Context& c_;
  const Function& f_;
  std::vector<bool> seen_exprs_;
  std::vector<bool> seen_stmts_;
  Span span_;
  std::string where_;
};

}  // namespace

bool check_nodes(Context& c) { return Nodes(c).run(); }

}  // namespace ww::ir::verifying
