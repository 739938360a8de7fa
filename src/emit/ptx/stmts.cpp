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
#include "emit/ptx/stmts.h"

#include <algorithm>

#include "base/cancel.h"
#include "emit/ptx/calls.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/memory.h"
#include "emit/ptx/ptx_call.h"
#include "ir/tensor_map.h"

namespace ww::emit::to_ptx {
namespace {

using ir::Stmt;
using ir::StmtKind;

void mark_place(Context& c, Span span) {
  if (c.options.source == nullptr || !span.known) return;
  const SourceText::Position at = c.options.source->position(span.begin);
  if (c.place && at.line == c.place->line && at.file == c.place->file) return;
  c.place = at;
  c.code.add_line({.kind = LineKind::Place,
                   .line = static_cast<std::uint32_t>(at.line),
                   .column = static_cast<std::uint32_t>(at.column),
                   .file = static_cast<std::uint32_t>(at.file)});
}

// --- values --------------------------------------------------------------------------------------

void bind(Context& c, const Stmt& s) {
  if (ir::tensor_map_of(c.f, s.expr)) return;  // a parameter
  Bound& bound = c.vars[s.var.index];
  if (c.f[s.expr].type.is_pointer()) {
    bound.address = settled(c, address(c, s.expr));
    return;
  }
  bound.lanes = lanes(c, s.expr);
  for (Value& value : bound.lanes) value = c.code.snapshot(value);
}

void evaluate(Context& c, ExprId expr) {
  const ir::Expr& e = c.f[expr];
  if (e.op == ExprOp::Call && e.callee >= Intrinsic::AtomicAdd && e.callee <= Intrinsic::AtomicCas)
    atomic(c, e, false);
  else
    lanes(c, expr);
}

void attribute(Context& c, const Stmt& s) {
  const auto* text = std::get_if<std::string>(&s.setting);
  if (s.attr == ir::kPrimitiveAttr && text != nullptr) {
    std::string line = *text;
    std::ranges::replace(line, '\n', ' ');
    c.code.add_line({.kind = LineKind::Comment}, line);
  }
  emit_block(c, s.body);
}

void launch_thread(Context& c, const Stmt& s) {
  constexpr std::string_view kRegisters[] = {"%ctaid", "%tid", "%cluster_ctaid"};  // by kind
  const std::string name = fmt::format(
      "{}.{}", kRegisters[static_cast<std::size_t>(s.hardware.kind)], "xyz"[s.hardware.dim]);
  c.vars[s.var.index].lanes = {c.code.pure("mov.u32", Class::R, {special_arg(name)})};
}

// --- control flow --------------------------------------------------------------------------------

// Whether a break or continue of this loop stands in the block.
bool leaves_early(const Context& c, const ir::Block& body) {
  return std::ranges::any_of(body, [&](ir::StmtId id) {
    const Stmt& s = c.f[id];
    if (s.kind == StmtKind::Break || s.kind == StmtKind::Continue) return true;
    const bool is_loop = s.kind == StmtKind::For || s.kind == StmtKind::While;
    return !is_loop && (leaves_early(c, s.body) || leaves_early(c, s.other));
  });
}

void leave_loop(Context& c) {
  if (c.loops.back().is_broken) c.code.add_label(c.loops.back().end);
  c.loops.pop_back();
}

// A loop of one round needs no jump back; what its `break` jumps over is not known behind it.
void one_round(Context& c, const Stmt& s) {
  c.vars[s.var.index].lanes = {c.code.snapshot(eval_as(c, s.args[0], c.f[s.var].type.dtype))};
  c.loops.push_back({.next = c.code.new_label("next"), .end = c.code.new_label("end")});
  const bool was_open = leaves_early(c, s.body);
  if (was_open) c.code.open_scope(false);
  emit_block(c, s.body);
  if (was_open) {
    c.locals.settle();
    if (c.loops.back().is_continued) c.code.add_label(c.loops.back().next);
    c.code.close_scope();
  }
  leave_loop(c);
}

// What stands between the code that left the loop and its body.
void loop_head(Context& c, Value counter, Value first, Value is_empty, std::string_view start) {
  c.code.add(fmt::format("mov.{}", type_of(counter.cls)), {counter, first});
  if (is_empty.is_register()) c.code.jump(c.loops.back().end, {is_empty});
  c.code.add_label(start);
}

void for_loop(Context& c, const Stmt& s) {
  const ir::Range trips = c.ranges.range(s.args[1]);
  if (trips.max <= 0) return;
  if (trips.min == 1 && trips.max == 1) return one_round(c, s);
  const DType type = c.f[s.var].type.dtype;
  const Class cls = class_of(type);
  const std::string_view suffix = arith_type(type);
  const bool has_step = s.args.size() > 2 && s.args[2].valid();
  const Value step = int_value(has_step ? ir::const_int(c.f, s.args[2]).value_or(1) : 1, cls);
  const Value first = eval_as(c, s.args[0], type);
  const Value count = eval_as(c, s.args[1], type);
  const Value end = c.code.snapshot(sum(c, suffix, first, product(c, suffix, count, step)));
  c.locals.settle();
  Loop loop{.next = c.code.new_label("next"), .end = c.code.new_label("end")};
  const std::string start = c.code.new_label("for");
  Value is_empty;
  if (trips.min <= 0) {
    is_empty = c.code.pure(fmt::format("setp.{}.{}", is_signed(type) ? "le" : "eq", suffix),
                           Class::P, {count, int_value(0, cls)});
    loop.is_broken = true;
  }
  c.loops.push_back(std::move(loop));
  c.code.open_scope(true);
  const Value counter = c.code.new_counter(cls);
  c.vars[s.var.index].lanes = {counter};
  emit_block(c, s.body);
  c.locals.settle();
  if (c.loops.back().is_continued) c.code.add_label(c.loops.back().next);
  c.code.add(fmt::format("add.{}", suffix), {counter, counter, step});
  const Value again = c.code.new_register(Class::P);
  c.code.add(fmt::format("setp.ne.{}", suffix), {again, counter, end});
  c.code.jump(start, {again});
  c.code.close_scope([&] { loop_head(c, counter, first, is_empty, start); });
  leave_loop(c);
}

void while_loop(Context& c, const Stmt& s) {
  c.locals.settle();
  c.loops.push_back({.next = c.code.new_label("while"), .end = c.code.new_label("end")});
  c.loops.back().is_broken = true;
  c.code.open_scope(true);
  c.code.jump(c.loops.back().end, {c.code.in_register(predicate(c, s.expr)), true});
  c.locals.settle();
  c.kept.clear();
  emit_block(c, s.body);
  c.locals.settle();
  c.code.jump(c.loops.back().next);
  c.code.close_scope([&] { c.code.add_label(c.loops.back().next); });
  leave_loop(c);
}

// By `break` or `continue`.
void leave(Context& c, StmtKind kind, Guard guard = {}) {
  Loop& loop = c.loops.back();
  const bool is_break = kind == StmtKind::Break;
  (is_break ? loop.is_broken : loop.is_continued) = true;
  c.code.jump(is_break ? loop.end : loop.next, guard);
}

// A branch that does nothing but leave is a jump itself.
bool leave_if(Context& c, Value condition, const Stmt& s) {
  if (s.kind == StmtKind::Return) {
    c.code.add("ret", {}, {condition});
    return true;
  }
  if (s.kind != StmtKind::Break && s.kind != StmtKind::Continue) return false;
  leave(c, s.kind, {condition});
  return true;
}

void arm(Context& c, const ir::Block& body) {
  c.code.open_scope(false);
  emit_block(c, body);
  c.locals.settle();
  c.code.close_scope();
}

// A single store is guarded; anything more is jumped over.
void branch_around(Context& c, const ir::Block& body, Value condition) {
  c.code.open_scope(false);
  emit_block(c, body);
  c.locals.settle();
  if (c.code.close_as_guarded({condition})) return;
  const std::string end = c.code.new_label("end");
  c.code.close_scope([&] { c.code.jump(end, {condition, true}); });
  c.code.add_label(end);
}

void branch(Context& c, const Stmt& s) {
  const Value condition = c.code.snapshot(predicate(c, s.expr));
  c.locals.settle();
  if (condition.is_constant()) {
    // The arm is chosen here; nothing parts.
    emit_block(c, condition.bits != 0 ? s.body : s.other);
    return;
  }
  if (s.other.empty() && s.body.size() == 1 && leave_if(c, condition, c.f[s.body[0]])) return;
  if (s.other.empty()) return branch_around(c, s.body, c.code.in_register(condition));
  const std::string end = c.code.new_label("end");
  const std::string other = c.code.new_label("else");
  c.code.jump(other, {c.code.in_register(condition), true});
  const auto before = c.locals.filled();
  arm(c, s.body);
  const auto after = c.locals.filled();
  c.locals.set_filled(before);
  c.code.jump(end);
  c.code.add_label(other);
  arm(c, s.other);
  c.locals.add_filled(after);
  c.code.add_label(end);
}

// --- choice --------------------------------------------------------------------------------------

void stmt(Context& c, const Stmt& s) {
  stop_if_cancelled();
  switch (s.kind) {
    case StmtKind::Bind:
      return bind(c, s);
    case StmtKind::Alloc:
    case StmtKind::Declare:
      return;
    case StmtKind::Store:
      return store(c, s);
    case StmtKind::For:
      return for_loop(c, s);
    case StmtKind::While:
      return while_loop(c, s);
    case StmtKind::If:
      return branch(c, s);
    case StmtKind::Assert:
      return check_assert(c, s);
    case StmtKind::Evaluate:
      return evaluate(c, s.expr);
    case StmtKind::Break:
    case StmtKind::Continue:
      c.locals.settle();
      return leave(c, s.kind);
    case StmtKind::Return:
      c.locals.settle();
      return c.code.add("ret", {});
    case StmtKind::Attr:
      return attribute(c, s);
    case StmtKind::LaunchThread:
      return launch_thread(c, s);
    case StmtKind::Ptx:
      return ptx_call(c, c.f[s.ptx]);
    case StmtKind::ScopeIds:
    case StmtKind::Tile:
      break;
  }
  refuse(c, "`{}` in a lowered program", ir::name_of(s.kind));
}

}  // namespace

void emit_block(Context& c, const ir::Block& block) {
  for (const ir::StmtId id : block) {
    if (c.error) return;
    const Stmt& s = c.f[id];
    if (s.span.known) c.code.set_span(s.span);
    mark_place(c, s.span);
    c.kept.clear();
    stmt(c, s);
    c.kept.clear();
  }
}

}  // namespace ww::emit::to_ptx
