// SPDX-License-Identifier: Apache-2.0
// Statements of host Python. What is not modelled (an unknown module, an unknown condition) leaves
// opaque values behind; it is an error only where it could change the result: a `return` that may
// or may not be taken.
#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "script/interp/evaluator.h"

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
  if (e.kind == ExprKind::Name && std::ranges::find(out, e.name) == out.end())
    out.push_back(e.name);
  for (const ExprId part : {e.a, e.b, e.c}) add_names(ast, part, out);
  for (const ExprId item : ast.list(e.items)) add_names(ast, item, out);
  for (const Arg& arg : ast.list(e.args)) add_names(ast, arg.value, out);
}

bool is_plain(const Value& v) {
  return v.is(Kind::Int) || v.is(Kind::Bool) || v.is(Kind::Float) || v.is(Kind::Str) ||
         v.is(Kind::None) || v.is(Kind::Tuple) || v.is(Kind::List) || v.is(Kind::DType);
}

void forget_changes(Context& in, const Stmt& s, Env& env, const std::string& reason) {
  Changes changes(in.ast());
  changes.add(s);
  for (const Symbol name : changes.names) env.set(name, opaque_value(in, in.span(s.head), reason));
}

// It is unknown whether or how often a block runs: the block is left out, and what it could change
// becomes opaque.
Result<Flow> skip_statement(Context& in, const Stmt& s, const Value& unknown, Span cause,
                            Env& env) {
  Changes changes(in.ast());
  changes.add(s);
  if (changes.leaves)
    return fail(needs_opaque(in, {unknown, cause})
                    .with_note("where the loop goes on depends on it", in.span(*changes.leaves)));
  if (changes.returns && !in.host_call.ambiguous_return)
    in.host_call.ambiguous_return =
        needs_opaque(in, {unknown, cause})
            .with_note("what the function returns depends on it", in.span(*changes.returns));
  forget_changes(in, s, env, unknown.as<OpaqueObject>().reason);
  return Flow::Next;
}

// --- control -------------------------------------------------------------------------------------

Result<Flow> exec_if(Context& in, const Stmt& s, Env& env) {
  const Value condition = WW_TRY(eval(in, s.a, env));
  if (condition.is(Kind::Opaque)) return skip_statement(in, s, condition, in.span(s.a), env);
  return exec_block(in, WW_TRY(truth(in, {condition, in.span(s.a)})) ? s.body : s.other, env);
}

Result<Flow> exec_for(Context& in, const Stmt& s, Env& env, std::uint64_t& turns) {
  const Value iterable = WW_TRY(eval(in, s.a, env));
  if (iterable.is(Kind::Opaque)) return skip_statement(in, s, iterable, in.span(s.a), env);
  for (const Value& item : WW_TRY(iterate(in, {iterable, in.span(s.a)}))) {
    ++turns;
    WW_TRY_VOID(spend(in, 1, in.span(s.head)));
    WW_TRY_VOID(assign_host(in, in.ast().list(s.items)[0], item, env));
    const Flow flow = WW_TRY(exec_block(in, s.body, env));
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
  }
  return exec_block(in, s.other, env);
}

Result<Flow> exec_while(Context& in, const Stmt& s, Env& env, std::uint64_t& turns) {
  while (true) {
    ++turns;
    WW_TRY_VOID(spend(in, 1, in.span(s.head)));
    const Value condition = WW_TRY(eval(in, s.a, env));
    if (condition.is(Kind::Opaque)) return skip_statement(in, s, condition, in.span(s.a), env);
    if (!WW_TRY(truth(in, {condition, in.span(s.a)}))) return exec_block(in, s.other, env);
    const Flow flow = WW_TRY(exec_block(in, s.body, env));
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
  }
}

// What used up a budget is a loop that has gone round often.
Result<Flow> exec_loop(Context& in, const Stmt& s, Env& env) {
  constexpr std::uint64_t kOften = 1000;
  std::uint64_t turns = 0;
  Result<Flow> flow =
      s.kind == StmtKind::For ? exec_for(in, s, env, turns) : exec_while(in, s, env, turns);
  if (!flow && flow.error().kind == DiagKind::Budget && turns >= kOften)
    flow.error().notes.push_back({fmt::format("in turn {} of this loop", turns), in.span(s.head)});
  return flow;
}

// A block failed where the program is prepared for it. What happens then is not modelled: what the
// statement could change is unknown, and if it could return something, it is an error after all.
Result<Flow> recover(Context& in, const Stmt& s, Result<Flow> failed, Env& env) {
  Changes changes(in.ast());
  changes.add(s);
  if (failed.error().kind == DiagKind::Budget || changes.returns || changes.leaves) return failed;
  forget_changes(in, s, env, failed.error().text);
  return Flow::Next;
}

Result<Flow> exec_with(Context& in, const Stmt& s, Env& env) {
  bool may_catch = false;  // as `pytest.raises` does
  for (const WithItem& item : in.ast().list(s.withs)) {
    const Value value = WW_TRY(eval(in, item.value, env));
    may_catch = may_catch || value.is(Kind::Opaque);
    if (item.target.valid()) WW_TRY_VOID(assign_host(in, item.target, value, env));
  }
  Result<Flow> flow = exec_block(in, s.body, env);
  return !flow && may_catch ? recover(in, s, std::move(flow), env) : flow;
}

Result<Flow> exec_try(Context& in, const Stmt& s, Env& env) {
  Result<Flow> flow = exec_block(in, s.body, env);
  return flow ? flow : recover(in, s, std::move(flow), env);
}

// --- simple statements ---------------------------------------------------------------------------

Result<void> exec_expression(Context& in, const Stmt& s, Env& env) {
  const Value value = WW_TRY(eval(in, s.a, env));
  // A host function called from a kernel may issue instructions for it.
  const bool is_instruction = in.in_kernel() && value.is(Kind::Ir) &&
                              in.fn()[value.expr()].type.kind == ir::Type::Kind::Void;
  if (is_instruction) emit_call(in, value.expr(), in.span(s.place));
  return {};
}

Result<void> exec_assert(Context& in, const Stmt& s, Env& env) {
  const Value value = WW_TRY(eval(in, s.a, env));
  if (value.is(Kind::Opaque)) return {};
  if (WW_TRY(truth(in, {value, in.span(s.a)}))) return {};
  std::string message;
  if (s.b.valid()) {
    const Value m = WW_TRY(eval(in, s.b, env));
    if (!m.is(Kind::Opaque)) message = ": " + WW_TRY(str_of(m, in.span(s.b)));
  }
  Diag out = diag_at(in.span(s.place), DiagKind::HostError, "assertion failed{}", message);
  std::vector<Symbol> names;
  add_names(in.ast(), s.a, names);
  std::string values;
  std::size_t shown = 0;
  for (const Symbol name : names) {
    const Value* known = env.find(name);
    if (known == nullptr || !is_plain(*known) || shown++ >= kValuesShown) continue;
    values += fmt::format("{}`{}` is {}", values.empty() ? "" : ", ", in.symbols.text(name),
                          repr(*known));
  }
  if (!values.empty()) out.notes.push_back({values, {}});
  return fail(std::move(out));
}

// `raise ValueError("…")`, with what it says where that is known.
Diag raised_error(Context& in, const Stmt& s, Env& env) {
  Diag out = diag_at(in.span(s.place), DiagKind::HostError, "an exception is raised");
  if (!s.a.valid()) return out;
  const Expr& e = in.ast()[s.a];
  const Expr& type = e.kind == ExprKind::Call ? in.ast()[e.a] : e;
  if (type.kind != ExprKind::Name && type.kind != ExprKind::Attribute) return out;
  out.text = fmt::format("`{}` is raised", in.symbols.text(type.name));
  const std::span<const Arg> args = in.ast().list(e.args);
  if (e.kind != ExprKind::Call || args.empty()) return out;
  const Result<Value> message = eval(in, args[0].value, env);
  if (message && message->is(Kind::Str)) out.text += fmt::format(": {}", text_of(*message));
  return out;
}

Result<void> exec_scope(Context& in, const Stmt& s, Env& env) {
  for (const Symbol name : in.ast().list(s.names)) {
    Env* target = in.module;
    if (s.kind == StmtKind::Nonlocal) {
      target = env.parent() == nullptr ? nullptr : env.parent()->owner(name);
      if (target == nullptr || target == in.module)
        return fail_at(in.span(s.place), DiagKind::UnknownName,
                       "`nonlocal {}`, but no function around has the name", in.symbols.text(name));
    }
    if (target != &env) env.redirect(name, *target);
  }
  return {};
}

Result<Flow> exec_kind(Context& in, const Stmt& s, StmtId id, Env& env) {
  Result<void> done;
  switch (s.kind) {
    case StmtKind::If:
      return exec_if(in, s, env);
    case StmtKind::While:
    case StmtKind::For:
      return exec_loop(in, s, env);
    case StmtKind::With:
      return exec_with(in, s, env);
    case StmtKind::Try:
      return exec_try(in, s, env);
    case StmtKind::Break:
      return Flow::Break;
    case StmtKind::Continue:
      return Flow::Continue;
    case StmtKind::Return:
      in.host_call.returned = s.a.valid() ? WW_TRY(eval(in, s.a, env)) : none();
      return Flow::Return;
    case StmtKind::Raise:
      return fail(raised_error(in, s, env));
    case StmtKind::Expression:
      done = exec_expression(in, s, env);
      break;
    case StmtKind::Assign:
    case StmtKind::AugAssign:
    case StmtKind::AnnAssign:
      done = exec_assign(in, s, env);
      break;
    case StmtKind::FunctionDef: {
      const Value function = WW_TRY(make_function(in, id, env));
      done = bind_name(in, env, s.name, WW_TRY(decorate(in, function, s, env)), in.span(s.head));
      break;
    }
    case StmtKind::ClassDef:
      done = exec_class(in, s, env);
      break;
    case StmtKind::Assert:
      done = exec_assert(in, s, env);
      break;
    case StmtKind::Import:
    case StmtKind::ImportFrom:
      done = exec_import(in, s, env);
      break;
    case StmtKind::Global:
    case StmtKind::Nonlocal:
      done = exec_scope(in, s, env);
      break;
    case StmtKind::Delete:
      done = exec_delete(in, s, env);
      break;
    case StmtKind::Pass:
      break;
    case StmtKind::Unsupported:
      forget_changes(in, s, env, fmt::format("`{}` is not modelled", in.symbols.text(s.name)));
      break;
  }
  if (!done) return std::move(done).failure();
  return Flow::Next;
}

template <typename Ends>
Result<void> run_statements(Context& in, const Unit& unit, const Ends& ends) {
  in.unit = &unit;
  for (const StmtId id : in.ast().list(unit.ast.body)) {
    Result<Flow> flow = exec(in, id, *in.module);
    if (flow) continue;
    if (in.budget.steps_left == 0 || in.heap.is_full() || ends(flow.error()))
      return std::move(flow).failure();
    forget_changes(in, in.ast()[id], *in.module, flow.error().text);
  }
  return {};
}

}  // namespace

// --- running -------------------------------------------------------------------------------------

Result<void> run_module(Context& in, const Unit& unit) {
  return run_statements(in, unit,
                        [](const Diag& error) { return error.kind == DiagKind::HostError; });
}

Result<void> run_prelude(Context& in, const Unit& unit) {
  return run_statements(in, unit, [](const Diag&) { return false; });
}

Result<Value> eval_in_module(Context& in, const Unit& unit, ExprId expr) {
  in.unit = &unit;
  return eval(in, expr, *in.module);
}

Result<Flow> exec_block(Context& in, ListOf<StmtId> block, Env& env) {
  for (const StmtId id : in.ast().list(block)) {
    const Flow flow = WW_TRY(exec(in, id, env));
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Result<Flow> exec(Context& in, StmtId id, Env& env) {
  const Stmt& s = in.ast()[id];
  const Saved depth(in.budget.depth, in.budget.depth + 1);
  if (in.budget.depth > Budget::kMaxDepth)
    return fail_at(in.span(s.head), DiagKind::Budget,
                   "compile-time evaluation is nested too deeply");
  WW_TRY_VOID(spend(in, 1, in.span(s.head)));
  return exec_kind(in, s, id, env);
}

// --- what host statements bind -------------------------------------------------------------------
//
// What host statements bind, store and delete.

namespace {

Result<void> exec_augmented(Context& in, const Stmt& s, Env& env) {
  const ExprId target = in.ast().list(s.items)[0];
  const Value old = WW_TRY(eval(in, target, env));
  const Value value = WW_TRY(eval(in, s.a, env));
  if (old.is(Kind::List) && s.op == Op::Add && !value.is(Kind::Opaque)) {  // in place
    for (const Value& item : WW_TRY(iterate(in, {value, in.span(s.a)})))
      WW_TRY_VOID(append(in, old.as<SeqObject>(), item, in.span(s.a)));
    return {};
  }
  return assign_host(in, target, WW_TRY(binary(in, s.op, old, value, in.span(s.place))), env);
}

Result<void> assign_unpacked(Context& in, const Expr& e, const Value& value, Env& env) {
  if (value.is(Kind::Opaque) || value.is(Kind::Poison)) {
    for (const ExprId target : in.ast().list(e.items))
      WW_TRY_VOID(assign_host(in, target, value, env));
    return {};
  }
  for (const auto& [target, item] : WW_TRY(unpack(in, e, value)))
    WW_TRY_VOID(assign_host(in, target, item, env));
  return {};
}

}  // namespace

Result<void> assign_field(Context& in, const Value& object, Symbol name, const Value& value,
                          Span where) {
  if (object.is(Kind::Opaque) || object.is(Kind::Poison)) return {};
  if (object.is(Kind::Class)) {
    WW_TRY_VOID(check_holds(in, object.as<ClassObject>(), value, where));
    object.as<ClassObject>().env->set(name, value);
    return {};
  }
  if (!object.is(Kind::Instance))
    return fail_at(where, DiagKind::ReadOnly, "cannot assign an attribute of {}",
                   type_name(object));
  WW_TRY_VOID(check_holds(in, object.as<InstanceObject>(), value, where));
  if (Value* found = object.as<InstanceObject>().find(name)) {
    *found = value;
    return {};
  }
  in.heap.count_values(1);
  object.as<InstanceObject>().fields.emplace_back(name, value);
  return {};
}

Result<void> exec_assign(Context& in, const Stmt& s, Env& env) {
  if (s.kind == StmtKind::AugAssign) return exec_augmented(in, s, env);
  if (!s.a.valid()) return {};  // `x: int`
  const Value value = WW_TRY(eval(in, s.a, env));
  for (const ExprId target : in.ast().list(s.items))
    WW_TRY_VOID(assign_host(in, target, value, env));
  return {};
}

// A name that is bound further out (by `global`) must not hold a part of a kernel.
Result<void> bind_name(Context& in, Env& env, Symbol name, const Value& value, Span where) {
  if (in.in_kernel() && env.redirected(name) != nullptr)
    WW_TRY_VOID(check_holds(in, {}, value, where));
  env.set(name, value);
  return {};
}

Result<void> assign_host(Context& in, ExprId target, const Value& value, Env& env) {
  const Expr& e = in.ast()[target];
  switch (e.kind) {
    case ExprKind::Name:
      return bind_name(in, env, e.name, value, in.span(e.place));
    case ExprKind::Subscript: {
      const Value object = WW_TRY(eval(in, e.a, env));
      return assign_item(in, object, WW_TRY(eval(in, e.b, env)), value, in.span(e.place));
    }
    case ExprKind::Attribute:
      return assign_field(in, WW_TRY(eval(in, e.a, env)), e.name, value, in.span(e.place));
    case ExprKind::Tuple:
    case ExprKind::List:
      return assign_unpacked(in, e, value, env);
    case ExprKind::Starred:
      return assign_host(in, e.a, value, env);
    default:
      return fail_at(in.span(e.place), DiagKind::Syntax, "cannot assign to this");
  }
}

// Pairs the targets of a tuple with the elements of a value; `*rest` takes what is left.
Result<std::vector<std::pair<ExprId, Value>>> unpack(Context& in, const Expr& e,
                                                     const Value& value) {
  const std::span<const ExprId> targets = in.ast().list(e.items);
  const std::vector<Value> items = WW_TRY(iterate(in, {value, in.span(e.place)}));
  const auto star = std::ranges::find_if(
      targets, [&](ExprId t) { return in.ast()[t].kind == ExprKind::Starred; });
  const bool has_star = star != targets.end();
  const bool fits = has_star ? items.size() + 1 >= targets.size() : items.size() == targets.size();
  if (!fits)
    return fail_at(in.span(e.place), DiagKind::HostError, "{} value{} for {} name{}", items.size(),
                   items.size() == 1 ? "" : "s", targets.size(), targets.size() == 1 ? "" : "s");
  std::vector<std::pair<ExprId, Value>> out;
  std::size_t next = 0;
  for (const ExprId target : targets) {
    if (!has_star || target != *star) {
      out.emplace_back(target, items[next++]);
      continue;
    }
    const std::size_t count = items.size() + 1 - targets.size();
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(next);
    out.emplace_back(target, in.heap.list({first, first + static_cast<std::ptrdiff_t>(count)}));
    next += count;
  }
  return out;
}

Result<void> assign_item(Context& in, const Value& object, const Value& index, const Value& value,
                         Span where) {
  if (object.is(Kind::Opaque) || object.is(Kind::Poison)) return {};
  if (object.is(Kind::Dict)) return put(in, object.as<DictObject>(), index, value, where);
  if (object.is(Kind::List)) {
    auto& items = object.as<SeqObject>().items;
    const std::size_t place = WW_TRY(place_in(in, object, index, items.size(), where));
    WW_TRY_VOID(check_holds(in, object.as<SeqObject>(), value, where));
    items[place] = value;
    return {};
  }
  if (object.is(Kind::Buffer))
    return fail(diag_at(where, DiagKind::BadType, "a store to `{}` in a host function",
                        in.fn()[object.buffer()].name)
                    .with_note("decorate the function with `@T.inline` to make its statements part "
                               "of the kernel"));
  return fail_at(where, DiagKind::ReadOnly, "cannot assign an item of {}", type_name(object));
}

// `del` of an item; a name may stay, as no program asks for it again.
Result<void> exec_delete(Context& in, const Stmt& s, Env& env) {
  for (const ExprId target : in.ast().list(s.items)) {
    const Expr& e = in.ast()[target];
    if (e.kind != ExprKind::Subscript) continue;
    const Value object = WW_TRY(eval(in, e.a, env));
    const Value index = WW_TRY(eval(in, e.b, env));
    if (object.is(Kind::Opaque)) continue;
    if (object.is(Kind::Dict)) {
      auto& items = object.as<DictObject>().items;
      const Value* found = WW_TRY(find_key(in, object.as<DictObject>(), index, in.span(e.place)));
      if (found == nullptr)
        return fail_at(in.span(e.place), DiagKind::HostError, "no key {} in the dict", repr(index));
      std::erase_if(items, [&](const auto& item) { return &item.second == found; });
      continue;
    }
    if (!object.is(Kind::List) || index.is(Kind::Slice))
      return fail_at(in.span(e.place), DiagKind::BadType, "`del` of an item of {}",
                     type_name(object));
    auto& items = object.as<SeqObject>().items;
    const std::size_t place = WW_TRY(place_in(in, object, index, items.size(), in.span(e.place)));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return {};
}

}  // namespace ww::script
