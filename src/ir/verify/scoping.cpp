// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
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
    for (const Block* block : {&f_.host, &f_.body}) {
      for_each_stmt(f_, *block, [&](StmtId id) {
        if (f_[id].kind == StmtKind::Declare) from(f_[f_[id].buffer]);
      });
    }
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
    if (e.op == ExprOp::Load || e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData)
      use(e.buffer, e.span);
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

}  // namespace ww::ir::verifying
