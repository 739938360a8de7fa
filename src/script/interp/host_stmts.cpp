// SPDX-License-Identifier: Apache-2.0
// Statements of host Python. What is not modelled (an unknown module, a condition that nobody
// knows) leaves opaque values behind and goes on; only where that could change which value comes
// out is it an error: a `return` that may or may not be taken.
#include <fmt/format.h>

#include <algorithm>

#include "script/interp/interp.h"

namespace ww::script {
namespace {

constexpr std::size_t kValuesShown = 4;

/// What a statement can change: the names it binds, those whose items or methods it touches, and
/// where the program goes on behind it.
class Changes {
 public:
  explicit Changes(const Ast& ast) : ast_(ast) {}

  void add(const Stmt& s, bool in_loop = false) {
    if (s.kind == StmtKind::FunctionDef || s.kind == StmtKind::ClassDef) {
      names.push_back(s.name);
      return;  // what is inside belongs to it
    }
    for (const ExprId target : ast_.list(s.items)) add_target(target);
    for (const WithItem& with : ast_.list(s.withs))
      if (with.target.valid()) add_target(with.target);
    for (const Import& import : ast_.list(s.imports)) names.push_back(import.as);
    if (s.kind == StmtKind::Expression) add_method_base(s.a);
    if (s.kind == StmtKind::Return && s.a.valid()) returns = s.place;
    if ((s.kind == StmtKind::Break || s.kind == StmtKind::Continue) && !in_loop) leaves = s.place;
    const bool is_loop = s.kind == StmtKind::For || s.kind == StmtKind::While;
    for (const StmtId id : ast_.list(s.body)) add(ast_[id], in_loop || is_loop);
    for (const StmtId id : ast_.list(s.other)) add(ast_[id], in_loop);
  }

  std::vector<Symbol> names;
  std::optional<Place> returns;  // a `return` with a value
  std::optional<Place> leaves;   // a `break` or `continue` of a loop around the statement

 private:
  void add_target(ExprId id) {
    const Expr& e = ast_[id];
    switch (e.kind) {
      case ExprKind::Name:
        names.push_back(e.name);
        break;
      case ExprKind::Attribute:
      case ExprKind::Subscript:
      case ExprKind::Starred:
        add_target(e.a);
        break;
      default:
        for (const ExprId item : ast_.list(e.items)) add_target(item);
    }
  }
  // `kernels.append(k)` changes `kernels`.
  void add_method_base(ExprId id) {
    const Expr& e = ast_[id];
    if (e.kind != ExprKind::Call) return;
    const Expr& callee = ast_[e.a];
    if (callee.kind == ExprKind::Attribute && ast_[callee.a].kind == ExprKind::Name)
      add_target(callee.a);
  }
  const Ast& ast_;
};

// The names that a condition is about, in the order of the text.
void add_names(const Ast& ast, ExprId id, std::vector<Symbol>& out) {
  if (!id.valid()) return;
  const Expr& e = ast[id];
  if (e.kind == ExprKind::Lambda || e.clauses.count != 0) return;
  if (e.kind == ExprKind::Name && std::find(out.begin(), out.end(), e.name) == out.end())
    out.push_back(e.name);
  for (const ExprId part : {e.a, e.b, e.c}) add_names(ast, part, out);
  for (const ExprId item : ast.list(e.items)) add_names(ast, item, out);
  for (const Arg& arg : ast.list(e.args)) add_names(ast, arg.value, out);
}

bool is_plain(const Value& v) {
  return v.is(Kind::Int) || v.is(Kind::Bool) || v.is(Kind::Float) || v.is(Kind::Str) ||
         v.is(Kind::None) || v.is(Kind::Tuple) || v.is(Kind::List) || v.is(Kind::DType);
}

}  // namespace

// --- running -------------------------------------------------------------------------------------

Interp::Interp(const Options& options, Dialect dialect, SymbolTable names)
    : symbols(std::move(names)),
      dialect_(dialect),
      steps_left_(options.max_steps),
      stack_base_(static_cast<const char*>(__builtin_frame_address(0))) {
  module_ = new_env(nullptr);
  module_->set(symbols.intern("__name__"), heap.str("__kernels__"));
}
Interp::~Interp() = default;

Env* Interp::new_env(Env* parent) {
  envs_.push_back(std::make_unique<Env>(parent));
  heap.count(sizeof(Env) / 8 + Heap::kPerObject + 2 * Heap::kPerValue);
  return envs_.back().get();
}

Result<void> Interp::run_module(const Unit& unit) {
  unit_ = &unit;
  ast_ = &unit.ast;
  for (const StmtId id : ast_->list(unit.ast.body)) {
    Result<Flow> flow = exec(id, *module_);
    if (flow) continue;
    if (steps_left_ == 0 || heap.is_full()) return fail(std::move(flow).error());
    make_opaque((*ast_)[id], *module_, flow.error().text);
  }
  return {};
}

Result<Value> Interp::eval_in_module(const Unit& unit, ExprId expr) {
  unit_ = &unit;
  ast_ = &unit.ast;
  return eval(expr, *module_);
}

void Interp::make_opaque(const Stmt& s, Env& env, const std::string& reason) {
  Changes changes(*ast_);
  changes.add(s);
  for (const Symbol name : changes.names) env.set(name, opaque(span(s.head), reason));
}

// Nobody knows whether or how often a block runs: it is left out, and what it could change is
// unknown.
Result<Flow> Interp::skip(const Stmt& s, const Value& unknown, Span cause, Env& env) {
  Changes changes(*ast_);
  changes.add(s);
  if (changes.leaves)
    return fail(needs_opaque(unknown, cause)
                    .with_note("where the loop goes on depends on it", span(*changes.leaves)));
  if (changes.returns && !ambiguous_return_)
    ambiguous_return_ =
        needs_opaque(unknown, cause)
            .with_note("what the function returns depends on it", span(*changes.returns));
  make_opaque(s, env, unknown.as<OpaqueObject>().reason);
  return Flow::Next;
}

Result<Flow> Interp::exec_block(ListOf<StmtId> block, Env& env) {
  for (const StmtId id : ast_->list(block)) {
    const Flow flow = WW_TRY(exec(id, env));
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Result<Flow> Interp::exec(StmtId id, Env& env) {
  const Stmt& s = (*ast_)[id];
  const Saved depth(depth_, depth_ + 1);
  if (depth_ > kMaxDepth)
    return fail(diag(DiagKind::Budget, "compile-time evaluation is nested too deeply")
                    .with_span(span(s.head)));
  WW_TRY_VOID(spend(1, span(s.head)));
  return exec_kind(s, id, env);
}

Result<Flow> Interp::exec_kind(const Stmt& s, StmtId id, Env& env) {
  Result<void> done;
  switch (s.kind) {
    case StmtKind::If:
      return exec_if(s, env);
    case StmtKind::While:
      return exec_while(s, env);
    case StmtKind::For:
      return exec_for(s, env);
    case StmtKind::With:
      return exec_with(s, env);
    case StmtKind::Try:
      return exec_try(s, env);
    case StmtKind::Break:
      return Flow::Break;
    case StmtKind::Continue:
      return Flow::Continue;
    case StmtKind::Return:
      returned_ = s.a.valid() ? WW_TRY(eval(s.a, env)) : none();
      return Flow::Return;
    case StmtKind::Raise:
      return fail(raised(s, env));
    case StmtKind::Expression:
      done = exec_expression(s, env);
      break;
    case StmtKind::Assign:
    case StmtKind::AugAssign:
    case StmtKind::AnnAssign:
      done = exec_assign(s, env);
      break;
    case StmtKind::FunctionDef: {
      const Value function = WW_TRY(make_function(id, env));
      done = bind(env, s.name, WW_TRY(decorate(function, s, env)), span(s.head));
      break;
    }
    case StmtKind::ClassDef:
      done = exec_class(s, env);
      break;
    case StmtKind::Assert:
      done = exec_assert(s, env);
      break;
    case StmtKind::Import:
    case StmtKind::ImportFrom:
      done = exec_import(s, env);
      break;
    case StmtKind::Global:
    case StmtKind::Nonlocal:
      done = exec_scope(s, env);
      break;
    case StmtKind::Delete:
      done = exec_delete(s, env);
      break;
    case StmtKind::Pass:
      break;
    case StmtKind::Unsupported:
      make_opaque(s, env, fmt::format("`{}` is not modelled", symbols.text(s.name)));
      break;
  }
  if (!done) return fail(std::move(done).error());
  return Flow::Next;
}

// --- control -------------------------------------------------------------------------------------

Result<Flow> Interp::exec_if(const Stmt& s, Env& env) {
  const Value condition = WW_TRY(eval(s.a, env));
  if (condition.is(Kind::Opaque)) return skip(s, condition, span(s.a), env);
  return exec_block(WW_TRY(truth(condition, span(s.a))) ? s.body : s.other, env);
}

Result<Flow> Interp::exec_for(const Stmt& s, Env& env) {
  const Value iterable = WW_TRY(eval(s.a, env));
  if (iterable.is(Kind::Opaque)) return skip(s, iterable, span(s.a), env);
  for (const Value& item : WW_TRY(iterate(iterable, span(s.a)))) {
    WW_TRY_VOID(spend(1, span(s.head)));
    WW_TRY_VOID(assign(ast_->list(s.items)[0], item, env));
    const Flow flow = WW_TRY(exec_block(s.body, env));
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
  }
  return exec_block(s.other, env);
}

Result<Flow> Interp::exec_while(const Stmt& s, Env& env) {
  while (true) {
    WW_TRY_VOID(spend(1, span(s.head)));
    const Value condition = WW_TRY(eval(s.a, env));
    if (condition.is(Kind::Opaque)) return skip(s, condition, span(s.a), env);
    if (!WW_TRY(truth(condition, span(s.a)))) return exec_block(s.other, env);
    const Flow flow = WW_TRY(exec_block(s.body, env));
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
  }
}

Result<Flow> Interp::exec_with(const Stmt& s, Env& env) {
  bool may_catch = false;  // as `pytest.raises` does
  for (const WithItem& item : ast_->list(s.withs)) {
    const Value value = WW_TRY(eval(item.value, env));
    may_catch = may_catch || value.is(Kind::Opaque);
    if (item.target.valid()) WW_TRY_VOID(assign(item.target, value, env));
  }
  Result<Flow> flow = exec_block(s.body, env);
  return !flow && may_catch ? caught(s, std::move(flow), env) : flow;
}

Result<Flow> Interp::exec_try(const Stmt& s, Env& env) {
  Result<Flow> flow = exec_block(s.body, env);
  return flow ? flow : caught(s, std::move(flow), env);
}

// A block failed where the program is prepared for it. What happens then is not modelled: what the
// statement could change is unknown, and if it could return something, it is an error after all.
Result<Flow> Interp::caught(const Stmt& s, Result<Flow> failed, Env& env) {
  Changes changes(*ast_);
  changes.add(s);
  if (failed.error().kind == DiagKind::Budget || changes.returns || changes.leaves) return failed;
  make_opaque(s, env, failed.error().text);
  return Flow::Next;
}

// --- simple statements ---------------------------------------------------------------------------

Result<void> Interp::exec_expression(const Stmt& s, Env& env) {
  const Value value = WW_TRY(eval(s.a, env));
  // A host function called from a kernel may issue instructions for it.
  const bool is_instruction =
      in_kernel() && value.is(Kind::Ir) && fn()[value.expr()].type.kind == ir::Type::Kind::Void;
  if (!is_instruction) return {};
  ir::Stmt out;
  out.kind = ir::StmtKind::Evaluate;
  out.span = span(s.place);
  out.expr = value.expr();
  emit(std::move(out));
  return {};
}

Result<void> Interp::exec_assert(const Stmt& s, Env& env) {
  const Value value = WW_TRY(eval(s.a, env));
  if (value.is(Kind::Opaque)) return {};
  if (WW_TRY(truth(value, span(s.a)))) return {};
  std::string message;
  if (s.b.valid()) {
    const Value m = WW_TRY(eval(s.b, env));
    if (!m.is(Kind::Opaque)) message = ": " + WW_TRY(str_of(m, span(s.b)));
  }
  Diag out = diag(DiagKind::HostError, "assertion failed{}", message).with_span(span(s.place));
  std::vector<Symbol> names;
  add_names(*ast_, s.a, names);
  std::string values;
  std::size_t shown = 0;
  for (const Symbol name : names) {
    const Value* known = env.find(name);
    if (known == nullptr || !is_plain(*known) || shown++ >= kValuesShown) continue;
    values +=
        fmt::format("{}`{}` is {}", values.empty() ? "" : ", ", symbols.text(name), repr(*known));
  }
  if (!values.empty()) out.notes.push_back({values, {}});
  return fail(std::move(out));
}

// `raise ValueError("…")`, with what it says where that is known.
Diag Interp::raised(const Stmt& s, Env& env) {
  Diag out = diag(DiagKind::HostError, "an exception is raised").with_span(span(s.place));
  if (!s.a.valid()) return out;
  const Expr& e = (*ast_)[s.a];
  const Expr& type = e.kind == ExprKind::Call ? (*ast_)[e.a] : e;
  if (type.kind != ExprKind::Name && type.kind != ExprKind::Attribute) return out;
  out.text = fmt::format("`{}` is raised", symbols.text(type.name));
  const std::span<const Arg> args = ast_->list(e.args);
  if (e.kind != ExprKind::Call || args.empty()) return out;
  const Result<Value> message = eval(args[0].value, env);
  if (message && message->is(Kind::Str)) out.text += fmt::format(": {}", text_of(*message));
  return out;
}

Result<void> Interp::exec_scope(const Stmt& s, Env& env) {
  for (const Symbol name : ast_->list(s.names)) {
    Env* target = module_;
    if (s.kind == StmtKind::Nonlocal) {
      target = env.parent() == nullptr ? nullptr : env.parent()->owner(name);
      if (target == nullptr || target == module_)
        return fail(diag(DiagKind::UnknownName,
                         "`nonlocal {}`, but no function around has the name", symbols.text(name))
                        .with_span(span(s.place)));
    }
    if (target != &env) env.redirect(name, *target);
  }
  return {};
}

}  // namespace ww::script
