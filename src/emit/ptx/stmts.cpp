// SPDX-License-Identifier: Apache-2.0
// Statements. Loops are tested at their end:
//
//       mov.b32    %r1, first;
//       @%p1 bra   $L_end_1;            only where no round at all is possible
//   $L_for_1:
//       …
//       add.s32    %r1, %r1, step;
//       setp.ne.s32 %p2, %r1, end;
//       @%p2 bra   $L_for_1;
//   $L_end_1:
#include <algorithm>

#include "emit/ptx/emitter.h"
#include "ir/simplify/fold.h"

namespace ww::emit::to_ptx {

using ir::Stmt;
using ir::StmtKind;

void Emitter::block(const ir::Block& block) {
  for (const ir::StmtId id : block) {
    if (problem_) return;
    const Stmt& s = f_[id];
    if (s.span.known) code_.set_span(s.span);
    mark_place(s.span);
    kept_.clear();
    stmt(s);
    kept_.clear();
  }
}

void Emitter::mark_place(Span span) {
  if (options_.source == nullptr || !span.known) return;
  const SourceText::Position at = options_.source->position(span.begin);
  if (at.line == line_) return;
  line_ = static_cast<std::uint32_t>(at.line);
  code_.add_place(line_, static_cast<std::uint32_t>(at.column));
}

void Emitter::stmt(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Bind:
      return bind(s);
    case StmtKind::Alloc:
    case StmtKind::Declare:
      return;
    case StmtKind::Store:
      return store(s);
    case StmtKind::For:
      return for_loop(s);
    case StmtKind::While:
      return while_loop(s);
    case StmtKind::If:
      return branch(s);
    case StmtKind::Assert:
      return check_assert(s);
    case StmtKind::Evaluate:
      return evaluate(s.expr);
    case StmtKind::Break:
      return jump(loops_.back().end, loops_.back().is_broken);
    case StmtKind::Continue:
      return jump(loops_.back().next, loops_.back().is_continued);
    case StmtKind::Return:
      locals_.settle();
      return code_.add("ret", {});
    case StmtKind::Attr:
      return attribute(s);
    case StmtKind::LaunchThread:
      return launch_thread(s);
    case StmtKind::Ptx:
      return ptx_call(f_[s.ptx]);
    case StmtKind::ScopeIds:
    case StmtKind::Tile:
      break;
  }
  refuse(DiagKind::NotEmitted, "`{}` in a lowered program", ir::name_of(s.kind));
}

// --- values --------------------------------------------------------------------------------------

void Emitter::bind(const Stmt& s) {
  Bound& bound = vars_[s.var.index];
  if (f_[s.expr].type.is_pointer()) {
    bound.address = settled(address(s.expr));
    return;
  }
  bound.lanes = lanes(s.expr);
  for (Value& value : bound.lanes) value = code_.snapshot(value);
}

void Emitter::store(const Stmt& s) {
  std::uint32_t since = code_.now();
  Lanes values = lanes(s.expr);
  const std::span<const ExprId> indices(s.args.begin(), s.args.size());
  const bool is_gather = !indices.empty() && f_[indices.back()].type.lanes > 1;
  const DType type = f_[s.buffer].dtype;
  // The lanes may be registers that the first stores would change, or all the same one.
  if (values.size() > 1) {
    for (Value& value : values) value = code_.snapshot(value);
    since = code_.now();
  }
  if (!is_gather) return store_run(element(s.buffer, indices), type, values, since);
  const std::vector<Address> places = gather(s.buffer, indices);
  if (places.size() == 1) return store_run(places[0], type, values, since);
  for (std::size_t i = 0; i < places.size(); ++i) store_run(places[i], type, {values[i]}, since);
}

void Emitter::evaluate(ExprId expr) {
  const ir::Expr& e = f_[expr];
  if (e.op == ExprOp::Call && e.callee >= Intrinsic::AtomicAdd && e.callee <= Intrinsic::AtomicCas)
    atomic(e, false);
  else
    lanes(expr);
}

void Emitter::launch_thread(const Stmt& s) {
  std::string name = s.name;
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (name.starts_with(from)) name = std::string(to) + name.substr(from.size());
  };
  replace("threadIdx", "%tid");
  replace("blockIdx", "%ctaid");
  replace("clusterCtaIdx", "%cluster_ctaid");
  vars_[s.var.index].lanes = {code_.pure("mov.u32", Class::R, {special_arg(name)})};
}

void Emitter::attribute(const Stmt& s) {
  const auto* text = std::get_if<std::string>(&s.setting);
  if (s.name == "primitive" && text != nullptr) {
    std::string line = *text;
    std::ranges::replace(line, '\n', ' ');
    code_.add_comment(std::move(line));
  }
  block(s.body);
}

// --- control flow --------------------------------------------------------------------------------

void Emitter::jump_unless(Value condition, const std::string& label) {
  code_.add("bra", {label_arg(label)}, {code_.in_register(condition), true});
}

void Emitter::jump(std::string& label, bool& is_used) {
  locals_.settle();
  is_used = true;
  code_.add("bra", {label_arg(label)});
}

void Emitter::for_loop(const Stmt& s) {
  const ir::Range trips = range(s.args[1]);
  if (trips.max <= 0) return;
  if (trips.min == 1 && trips.max == 1) return one_round(s);
  const DType type = f_[s.var].type.dtype;
  const Class cls = class_of(type);
  const std::string_view suffix = arith_type(type);
  const bool has_step = s.args.size() > 2 && s.args[2].valid();
  const std::int64_t step = has_step ? ir::const_int(f_, s.args[2]).value_or(1) : 1;
  const Value first = cast(eval(s.args[0]), f_[s.args[0]].type.dtype, type);
  const Value count = cast(eval(s.args[1]), f_[s.args[1]].type.dtype, type);
  const Value end =
      code_.snapshot(sum(suffix, first, product(suffix, count, int_value(step, cls))));
  locals_.settle();
  Loop loop{.next = code_.new_label("next"), .end = code_.new_label("end")};
  const std::string start = code_.new_label("for");
  std::vector<Line> before;
  if (trips.min <= 0) {
    const Value none = code_.pure(fmt::format("setp.{}.{}", is_signed(type) ? "le" : "eq", suffix),
                                  Class::P, {count, int_value(0, cls)});
    before.push_back({.text = "bra", .args = {label_arg(loop.end)}, .guard = {none}});
    loop.is_broken = true;
  }
  loops_.push_back(std::move(loop));
  code_.open_scope(true);
  const Value counter = code_.new_register(cls);
  before.insert(before.begin(),
                {.text = fmt::format("mov.{}", type_of(cls)), .args = {counter, first}});
  before.push_back({.kind = Line::Kind::Label, .text = start});
  vars_[s.var.index].lanes = {counter};
  block(s.body);
  locals_.settle();
  if (loops_.back().is_continued) code_.add_label(loops_.back().next);
  code_.add(fmt::format("add.{}", suffix), {counter, counter, int_value(step, cls)});
  const Value again = code_.new_register(Class::P);
  code_.add(fmt::format("setp.ne.{}", suffix), {again, counter, end});
  code_.add("bra", {label_arg(start)}, {again});
  code_.close_scope(std::move(before));
  leave_loop();
}

void Emitter::leave_loop() {
  if (loops_.back().is_broken) code_.add_label(loops_.back().end);
  loops_.pop_back();
}

// A loop of one round is no loop; what its `break` jumps over is not known behind it.
void Emitter::one_round(const Stmt& s) {
  vars_[s.var.index].lanes = {
      code_.snapshot(cast(eval(s.args[0]), f_[s.args[0]].type.dtype, f_[s.var].type.dtype))};
  loops_.push_back({.next = code_.new_label("next"), .end = code_.new_label("end")});
  const bool was_open = leaves_early(s.body);
  if (was_open) code_.open_scope(false);
  block(s.body);
  if (was_open) {
    locals_.settle();
    if (loops_.back().is_continued) code_.add_label(loops_.back().next);
    code_.close_scope();
  }
  leave_loop();
}

// Whether a break or continue of this loop stands in the block.
bool Emitter::leaves_early(const ir::Block& body) const {
  return std::ranges::any_of(body, [&](ir::StmtId id) {
    const Stmt& s = f_[id];
    if (s.kind == StmtKind::Break || s.kind == StmtKind::Continue) return true;
    const bool is_loop = s.kind == StmtKind::For || s.kind == StmtKind::While;
    return !is_loop && (leaves_early(s.body) || leaves_early(s.other));
  });
}

namespace {

// A constant as the type of the suffix has it.
Value wrapped(std::string_view suffix, std::uint64_t bits, Class cls) {
  const DType type = suffix == "s32"   ? DType::Int32
                     : suffix == "u32" ? DType::Uint32
                                       : DType::Int64;
  return int_value(ir::wrap(type, static_cast<std::int64_t>(bits)), cls);
}

std::uint64_t low_bits(Value value) { return static_cast<std::uint64_t>(value.bits); }

}  // namespace

Value Emitter::sum(std::string_view suffix, Value a, Value b) {
  if (a.is_constant() && b.is_constant()) return wrapped(suffix, low_bits(a) + low_bits(b), a.cls);
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant() && b.bits == 0) return a;
  return code_.pure(fmt::format("add.{}", suffix), a.cls, {a, b});
}

Value Emitter::product(std::string_view suffix, Value a, Value b) {
  if (a.is_constant() && b.is_constant()) return wrapped(suffix, low_bits(a) * low_bits(b), a.cls);
  if (a.is_constant()) std::swap(a, b);
  if (b.is_constant() && b.bits == 1) return a;
  return code_.pure(fmt::format("mul.lo.{}", suffix), a.cls, {a, b});
}

void Emitter::while_loop(const Stmt& s) {
  locals_.settle();
  loops_.push_back({.next = code_.new_label("while"), .end = code_.new_label("end")});
  loops_.back().is_broken = true;
  code_.open_scope(true);
  jump_unless(predicate(s.expr), loops_.back().end);
  locals_.settle();
  kept_.clear();
  block(s.body);
  locals_.settle();
  code_.add("bra", {label_arg(loops_.back().next)});
  std::vector<Line> before;
  before.push_back({.kind = Line::Kind::Label, .text = loops_.back().next});
  code_.close_scope(std::move(before));
  leave_loop();
}

void Emitter::branch(const Stmt& s) {
  const Value condition = code_.snapshot(predicate(s.expr));
  locals_.settle();
  if (condition.is_constant()) {
    // The arm is chosen here; nothing parts.
    block(condition.bits != 0 ? s.body : s.other);
    return;
  }
  if (s.other.empty() && s.body.size() == 1 && leave_if(condition, f_[s.body[0]])) return;
  const std::string end = code_.new_label("end");
  const std::string other = s.other.empty() ? end : code_.new_label("else");
  jump_unless(condition, other);
  const auto before = locals_.filled();
  arm(s.body);
  if (!s.other.empty()) {
    const auto after = locals_.filled();
    locals_.set_filled(before);
    code_.add("bra", {label_arg(end)});
    code_.add_label(other);
    arm(s.other);
    locals_.add_filled(after);
  }
  code_.add_label(end);
}

// A branch that does nothing but leave is a jump itself.
bool Emitter::leave_if(Value condition, const Stmt& s) {
  if (s.kind == StmtKind::Return) {
    code_.add("ret", {}, {condition});
    return true;
  }
  if (s.kind != StmtKind::Break && s.kind != StmtKind::Continue) return false;
  Loop& loop = loops_.back();
  const bool is_break = s.kind == StmtKind::Break;
  (is_break ? loop.is_broken : loop.is_continued) = true;
  code_.add("bra", {label_arg(is_break ? loop.end : loop.next)}, {condition});
  return true;
}

void Emitter::arm(const ir::Block& body) {
  code_.open_scope(false);
  block(body);
  locals_.settle();
  code_.close_scope();
}

}  // namespace ww::emit::to_ptx
