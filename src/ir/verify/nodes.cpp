// SPDX-License-Identifier: Apache-2.0
// Structure: what no source text can break, only our own passes.
#include <algorithm>

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

  template <typename Ids>
  bool all_exist(const Ids& ids) {
    return std::ranges::all_of(ids, [&](auto id) { return exists(id); });
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
        return all_exist(s.vars);
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
    return all_exist(s.args);
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
    return std::ranges::all_of(call.workspace,
                               [&](const auto& each) { return exists(each.second); });
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
    if (!all_exist(buffer.shape)) return false;
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

// --- names ---------------------------------------------------------------------------------------

namespace {

enum class State : std::uint8_t { Unbound, Visible, Gone };

/// Where variables or buffers stand while the function is gone through.
template <typename IdType>
struct Table {
  explicit Table(std::size_t count) : states(count), is_reported(count) {}
  std::vector<State> states;
  std::vector<bool> is_reported;  // each is reported once
};

class Scoping {
 public:
  explicit Scoping(Context& c)
      : c_(c),
        f_(c.f),
        vars_(f_.var_count()),
        buffers_(f_.buffer_count()),
        seen_(f_.expr_count()) {}

  void run() {
    for (const Param& param : f_.params) bind(param.var, VarKind::Param, f_[param.var].span);
    bind_extents();
    for (const Param& param : f_.params) {
      if (!param.buffer.valid()) continue;
      begin(f_[param.buffer].span);
      for_each_root(f_[param.buffer], [&](ExprId id) { use(id); });
      bind(param.buffer, f_[param.buffer].span);
    }
    go_through(f_.host);
    go_through(f_.body);
  }

 private:
  // An extent gets its value at launch, from a parameter whose shape it stands in by itself.
  void bind_extents() {
    const auto from = [&](const Buffer& buffer) {
      if (buffer.origin != BufferOrigin::Param) return;
      for (const ExprId extent : buffer.shape) {
        const Expr& e = f_[extent];
        if (e.op == ExprOp::Var && f_[e.var].kind == VarKind::Extent)
          vars_.states[e.var.index] = State::Visible;
      }
    };
    for (const Param& param : f_.params) {
      if (param.buffer.valid()) from(f_[param.buffer]);
    }
    for_each_stmt(f_, [&](StmtId id) {
      if (f_[id].kind == StmtKind::Declare) from(f_[f_[id].buffer]);
    });
  }

  void go_through(const Block& block) {
    for (const StmtId id : block) stmt(f_[id]);
  }

  // A block of its own: what it binds is gone behind it.
  void frame(const Block& block, VarId loop_var = {}, Span span = {}) {
    const std::size_t vars = bound_vars_.size();
    const std::size_t buffers = bound_buffers_.size();
    if (loop_var.valid()) bind(loop_var, VarKind::Loop, span);
    go_through(block);
    forget(vars_, bound_vars_, vars);
    forget(buffers_, bound_buffers_, buffers);
  }

  template <typename IdType>
  static void forget(Table<IdType>& table, std::vector<IdType>& bound, std::size_t keep) {
    for (std::size_t i = keep; i < bound.size(); ++i) table.states[bound[i].index] = State::Gone;
    bound.resize(keep);
  }

  void stmt(const Stmt& s) {
    begin(s.span);
    for_each_root(f_, s, [&](ExprId id) { use(id); });
    use_buffers(s);
    switch (s.kind) {
      case StmtKind::Bind:
        bind(s.var, VarKind::Let, s.span);
        break;
      case StmtKind::LaunchThread:
        bind(s.var, VarKind::Launch, s.span);
        break;
      case StmtKind::ScopeIds:
        for (const VarId var : s.vars) bind(var, VarKind::ScopeId, s.span);
        break;
      case StmtKind::Alloc:
      case StmtKind::Declare:
        bind(s.buffer, s.span);
        break;
      case StmtKind::For:
        frame(s.body, s.var, s.span);
        break;
      default:
        frame(s.body);
        frame(s.other);
        break;
    }
  }

  void use_buffers(const Stmt& s) {
    if (s.kind == StmtKind::Store) use(s.buffer, s.span);
    if (s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare) {
      const Buffer& buffer = f_[s.buffer];
      if (buffer.origin == BufferOrigin::View) use(buffer.base, s.span);
      if (buffer.origin == BufferOrigin::Param) use(buffer.param, s.span);
    }
    if (s.kind != StmtKind::Tile) return;
    for (const TileArg& arg : f_[s.tile].args) {
      if (const auto* region = std::get_if<Region>(&arg)) use(region->buffer, region->span);
    }
    for (const auto& [key, buffer] : f_[s.tile].workspace) use(buffer, s.span);
  }

  // Expressions are shared; one statement looks at each once.
  void begin(Span span) {
    span_ = span;
    ++round_;
  }
  void use(ExprId id) {
    if (seen_[id.index] == round_) return;
    seen_[id.index] = round_;
    const Expr& e = f_[id];
    if (e.op == ExprOp::Var) use(e.var, e.span);
    if (e.op == ExprOp::Load || takes_address(e)) use(e.buffer, e.span);
    for (const ExprId arg : e.args) use(arg);
  }

  void use(VarId var, Span span) {
    if (vars_.states[var.index] == State::Visible || vars_.is_reported[var.index]) return;
    vars_.is_reported[var.index] = true;
    const Var& v = f_[var];
    if (v.kind == VarKind::Extent) {
      c_.report(DiagKind::NotBound, span.known ? span : span_,
                "`{}` has no value at launch: it is the extent of no parameter", v.name);
    } else {
      not_bound(v.name, vars_.states[var.index], v.span, span);
    }
  }
  void use(BufferId buffer, Span span) {
    if (buffers_.states[buffer.index] == State::Visible || buffers_.is_reported[buffer.index])
      return;
    buffers_.is_reported[buffer.index] = true;
    not_bound(f_[buffer].name, buffers_.states[buffer.index], f_[buffer].span, span);
  }

  void not_bound(const std::string& name, State state, Span bound_at, Span span) {
    const bool gone = state == State::Gone;
    c_.report(DiagKind::NotBound, span.known ? span : span_, "`{}` is used {}", name,
              gone ? "outside the block that binds it" : "before it is bound");
    if (bound_at.known) c_.findings.back().notes.push_back({"bound here", bound_at});
  }

  void bind(VarId var, VarKind kind, Span span) {
    const Var& v = f_[var];
    if (v.kind != kind)
      c_.report(DiagKind::BrokenIr, span,
                "`{}` is bound by a statement of another kind than its own", v.name);
    bind_in(vars_, bound_vars_, var, v.name, span);
  }
  void bind(BufferId buffer, Span span) {
    bind_in(buffers_, bound_buffers_, buffer, f_[buffer].name, span);
  }
  template <typename IdType>
  void bind_in(Table<IdType>& table, std::vector<IdType>& bound, IdType id, const std::string& name,
               Span span) {
    State& state = table.states[id.index];
    if (state != State::Unbound) c_.report(DiagKind::BrokenIr, span, "`{}` is bound twice", name);
    state = State::Visible;
    bound.push_back(id);
  }

  Context& c_;
  const Function& f_;
  Table<VarId> vars_;
  Table<BufferId> buffers_;
  std::vector<VarId> bound_vars_;
  std::vector<BufferId> bound_buffers_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  Span span_;
};

}  // namespace

void check_scoping(Context& c) { Scoping(c).run(); }

// --- statements ----------------------------------------------------------------------------------
//
// Statements: the types of what they hold, where jumps stand, and which level they belong to.

namespace {

class StmtCheck {
 public:
  explicit StmtCheck(Context& c) : c_(c), f_(c.f) {}

  void block(const Block& block) {
    for (const StmtId id : block) stmt(f_[id]);
  }

 private:
  void stmt(const Stmt& s) {
    check_level(s);
    check_parts(s);
    if (s.is_loop()) ++loops_;
    block(s.body);
    block(s.other);
    if (s.is_loop()) --loops_;
  }

  void check_parts(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::Bind:
        if (f_[s.var].type != f_[s.expr].type)
          bad_type(s, "`{}` has type `{}`, its value `{}`", f_[s.var].name, to_text(f_[s.var].type),
                   to_text(f_[s.expr].type));
        break;
      case StmtKind::Store:
        return check_store(s);
      case StmtKind::For:
        return check_loop(s);
      case StmtKind::While:
      case StmtKind::If:
      case StmtKind::Assert:
        if (f_[s.expr].type != Type::of(num::DType::Bool))
          bad_type(s, "the condition has type `{}`, expected `bool`", to_text(f_[s.expr].type));
        break;
      case StmtKind::Break:
      case StmtKind::Continue:
        if (loops_ == 0)
          c_.report(DiagKind::BrokenIr, s.span, "`{}` stands in no loop",
                    s.kind == StmtKind::Break ? "break" : "continue");
        break;
      case StmtKind::ScopeIds:
      case StmtKind::LaunchThread:
        for (const ExprId extent : s.args) {
          if (extent.valid() && !is_index(f_[extent].type))
            bad_type(s, "an extent has type `{}`, expected an integer", to_text(f_[extent].type));
        }
        break;
      default:
        break;
    }
  }

  static bool is_index(Type type) { return type.is_int() && type.is_scalar(); }

  template <typename... Args>
  void bad_type(const Stmt& s, fmt::format_string<Args...> format, Args&&... args) {
    c_.report(DiagKind::BadType, s.span, format, std::forward<Args>(args)...);
  }

  void check_store(const Stmt& s) {
    const Type value = f_[s.expr].type;
    const Buffer& buffer = f_[s.buffer];
    const std::uint16_t by_vector = s.args.empty() ? 1 : f_[s.args.back()].type.lanes;
    check_access(c_, s.buffer, s.args, by_vector > 1 ? 1 : value.lanes, s.span);
    const Type wanted = Type::of(buffer.dtype, by_vector > 1 ? by_vector : value.lanes);
    if (value != wanted)
      c_.report(DiagKind::BadType, s.span, buffer, "`{}` is stored into `{}`, which has `{}`",
                to_text(value), buffer.name, to_text(wanted));
  }

  void check_loop(const Stmt& s) {
    const Type type = f_[s.var].type;
    if (!is_index(type))
      bad_type(s, "loop variable `{}` has type `{}`, expected an integer", f_[s.var].name,
               to_text(type));
    for (const ExprId arg : s.args) {
      if (f_[arg].type != type)
        bad_type(s, "a bound of `{}` has type `{}`, the variable `{}`", f_[s.var].name,
                 to_text(f_[arg].type), to_text(type));
    }
    if (s.args.size() > 2) {
      const std::optional<std::int64_t> step = const_int(f_, s.args[2]);
      if (!step || *step < 1)
        c_.report(DiagKind::BadArgument, s.span,
                  "the step of `{}` is {}, expected a constant from 1", f_[s.var].name,
                  step ? std::to_string(*step) : "not constant");
    }
    const bool is_expanded = s.loop == LoopKind::Unroll || s.loop == LoopKind::Vectorized;
    if (is_expanded && !const_int(f_, s.args[1]))
      c_.report(DiagKind::NeedsConstant, s.span,
                "the extent of the `{}` loop over `{}` is not constant", name_of(s.loop),
                f_[s.var].name);
  }

  // What belongs to the other level.
  void check_level(const Stmt& s) {
    if (f_.level == Level::Tile) {
      if (s.kind == StmtKind::LaunchThread)
        c_.report(DiagKind::BrokenIr, s.span, "launch variable `{}` in a tile program",
                  f_[s.var].name);
      return;
    }
    if (s.kind == StmtKind::Tile)
      c_.report(DiagKind::BrokenIr, s.span, "tile call `{}` in a lowered program",
                name_of(f_[s.tile].op));
    if (s.kind == StmtKind::ScopeIds) {
      c_.report(DiagKind::BrokenIr, s.span, "scope id `{}` in a lowered program",
                facts_of(s.scope_id).name);
      c_.findings.back().notes.push_back(
          {"`T.launch_thread` makes it a lowered one, without tile calls and layouts; a tile "
           "program has `T.cta_id` and `T.thread_id` only",
           {}});
    }
    const bool has_buffer = s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare;
    if (has_buffer && f_[s.buffer].layout_kind == LayoutKind::Explicit)
      c_.report(DiagKind::BrokenIr, s.span, "buffer `{}` has a layout in a lowered program",
                f_[s.buffer].name);
  }

  Context& c_;
  const Function& f_;
  int loops_ = 0;
};

}  // namespace

void check_stmts(Context& c) {
  for (const Param& param : c.f.params) {
    if (c.f.level == Level::Lowered && param.buffer.valid() &&
        c.f[param.buffer].layout_kind == LayoutKind::Explicit)
      c.report(DiagKind::BrokenIr, c.f[param.buffer].span,
               "buffer `{}` has a layout in a lowered program", c.f[param.buffer].name);
  }
  StmtCheck check(c);
  check.block(c.f.host);
  check.block(c.f.body);
}

}  // namespace ww::ir::verifying
