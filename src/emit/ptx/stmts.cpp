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
#include "emit/ptx/casts.h"
#include "emit/ptx/context.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/memory.h"
#include "ir/ptx_placement.h"
#include "ir/tensor_map.h"
#include "ir/unroll/unroll.h"
#include "isa/check.h"

namespace ww::emit::to_ptx {
namespace {

using ir::PtxOperand;
using ir::PtxOperandKind;
using isa::OperandSpec;
using isa::Role;

// --- instructions --------------------------------------------------------------------------------
//
// Instructions that the program gives itself. The operands are flat; each form that the opcode may
// be of is tried until the checker likes the instruction (as ir/verify/verify.h does, which has
// accepted the program before).
//
// PTX instructions that the program contains.

Class class_for(isa::Type type) {
  if (type == isa::Type::E2m1x2) return Class::B;
  switch (isa::info(type).bits) {
    case 1:
      return Class::P;
    case 8:
    case 16:
      return Class::Rs;
    case 64:
      return Class::Rd;
    case 128:
      return Class::Rq;
    default:
      return Class::R;
  }
}

/// An instruction while its operands are found.
struct Issue {
  struct Output {
    PtxOperand operand;
    Value value;
  };
  const ir::PtxCall& call;
  const isa::Binding& binding;
  Guard guard;
  std::vector<Output> outputs = {};  // that are put where they belong after the instruction
};

bool fits_type(const Context& c, const PtxOperand& operand, const OperandSpec& spec,
               isa::Type type) {
  const bool wants_predicate = type == isa::Type::Pred;
  if (operand.kind == PtxOperandKind::Sink) return true;
  if (operand.kind == PtxOperandKind::Predicate) return wants_predicate;
  if (operand.kind == PtxOperandKind::At)
    return isa::info(type).bits == 32 || type == isa::Type::B128;
  const ir::Expr& e = c.f[operand.expr];
  if (e.op == ExprOp::IntImm && spec.role != Role::Write) return true;
  if (wants_predicate) return e.type.is_bool() || e.type.is_int();
  const int bits = e.type.is_pointer() ? 64 : storage_bits(e.type.dtype) * e.type.lanes;
  return bits == isa::info(type).bits || (spec.wider && bits > isa::info(type).bits);
}

// Do the operands go where this placement puts them? Addresses must be where addresses are wanted,
// and widths must agree.
bool is_fitting(const Context& c, const ir::PtxCall& call, const FormPlacement& placed) {
  for (std::size_t number = 0; number < placed.operands.size(); ++number) {
    const ir::PlacedOperand& one = placed.operands[number];
    const OperandSpec& spec = *one.spec;
    const auto type = placed.shapes[number].type;
    for (std::size_t i = 0; i < one.count; ++i) {
      const PtxOperand& operand = call.operands[one.first + i];
      const bool wants_address = spec.role == Role::Address && i == 0;
      const bool is_address = operand.kind == PtxOperandKind::Address;
      if (wants_address ? !is_address : is_address) return false;
      if (wants_address || spec.role == Role::Address || !type) continue;
      if (!fits_type(c, operand, spec, i >= one.main ? isa::Type::Pred : *type)) return false;
    }
  }
  return true;
}

// --- operands ------------------------------------------------------------------------------------

// Has a register of 16 bits, as integers that are computed with do not: a float that stands for
// them here.
constexpr DType kHalfWord = DType::Float16;

// The bits of an expression in a register of that class.
Value in_class(Context& c, ExprId expr, Class cls) {
  const ir::Expr& e = c.f[expr];
  const ir::Type type = e.type;
  if (type.is_pointer()) return generic(c, address(c, expr));
  if (e.op == ExprOp::Load && cls == Class::Rs && type.is_int() && type.lanes == 1 &&
      storage_bits(type.dtype) == 16) {
    const Address place = element(c, e.buffer, e.args);
    if (place.space == Space::Registers)
      return c.code.in_register(load_run(c, place, kHalfWord, 1)[0]);
  }
  const Lanes values = lanes(c, expr);
  if (values.size() == 1) return c.code.in_register(raw(c, values[0], type.dtype, cls));
  const std::vector<Value> words = words_of(c, values, type.dtype);
  if (words.size() == 1) return words[0];
  if (cls == Class::Rq) return c.code.pure("mov.b128", cls, {vector_arg(words)});
  return c.code.pure("mov.b64", Class::Rd, {vector_arg(words)});
}

Arg ptx_address(Context& c, std::span<const PtxOperand> own, const OperandSpec& spec,
                const isa::Binding& binding) {
  const PtxOperand& base = own[0];
  const ir::Expr& e = c.f[base.expr];
  const isa::Space space = isa::space_of(spec, binding);
  Arg out;
  if (e.type.is_pointer()) {
    Address place = address(c, base.expr);
    if (base.offset.valid()) add_index(c, place, base.offset, 8);
    out = operand_in(c, place, space);
  } else {
    const Class cls = num::bits_of(e.type.dtype) == 64 ? Class::Rd : Class::R;
    Address place{.space = cls == Class::R ? Space::Shared : Space::Generic};
    place.base = c.code.in_register(eval(c, base.expr));
    if (base.offset.valid()) add_index(c, place, base.offset, 8);
    out = operand(c, place);
  }
  if (own.size() == 1) return out;
  std::vector<Arg> coordinates;
  for (const PtxOperand& one : own.subspan(1))
    coordinates.emplace_back(in_class(c, one.expr, Class::R));
  out.parts.push_back(vector_arg(std::move(coordinates)));
  return out;
}

// A cell of a register array is written by the instruction itself, everything else afterwards.
Arg ptx_target(Context& c, Issue& issue, const PtxOperand& operand, std::optional<isa::Type> type) {
  const ir::Expr& e = c.f[operand.expr];
  const bool is_at = operand.kind == PtxOperandKind::At;
  const bool is_wide = type == isa::Type::B128;
  const Class cls = (is_at && !is_wide) || !type ? Class::R : class_for(*type);
  const Address place = is_at ? address(c, operand.expr) : element(c, e.buffer, e.args);
  if (place.space == Space::Registers) {
    const LocalPlan& plan = c.locals.plan(place.storage);
    const int bits = is_at ? 32 : storage_bits(c.f[e.buffer].dtype);
    if (plan.cls == cls && plan.cell_bits == bits && bits >= 16)
      return c.locals.cell_to_write(place.storage, place.bits,
                                    issue.guard.present() || ir::is_async_product(issue.call));
  }
  if (ir::is_async_product(issue.call))
    refuse(c,
           "`{}` writes to memory, expected registers: `{}` is indexed by what is known at run "
           "time only",
           issue.call.opcode.text(), c.f[ir::storage_of(c.f, e.buffer)].name);
  issue.outputs.push_back({operand, c.code.new_register(cls)});
  return issue.outputs.back().value;
}

// The 32 bits of private memory at a place.
Value word_at(Context& c, const Address& place) {
  if (place.space == Space::Registers)
    return c.code.in_register(c.locals.cell(place.storage, place.bits));
  return load_run(c, place, DType::Uint32, 1)[0];
}

Arg ptx_source(Context& c, const PtxOperand& operand, const OperandSpec& spec,
               std::optional<isa::Type> type, bool is_listed) {
  if (operand.kind == PtxOperandKind::At) {
    const Address place = address(c, operand.expr);
    if (type != isa::Type::B128) return word_at(c, place);
    std::vector<Value> words;
    for (int i = 0; i < 4; ++i) words.push_back(word_at(c, moved(place, 4 * i)));
    return c.code.pure("mov.b128", Class::Rq, {vector_arg(words)});
  }
  const ir::Expr& e = c.f[operand.expr];
  const bool is_predicate = type == isa::Type::Pred || operand.kind == PtxOperandKind::Predicate;
  if (is_predicate && e.op == ExprOp::IntImm && !spec.values.empty() && spec.allows(e.integer))
    return int_value(e.integer);
  if (is_predicate) return c.code.in_register(predicate(c, operand.expr));
  const bool is_number = e.op == ExprOp::IntImm && (!type || isa::is_whole(*type));
  if (is_number && (spec.role == Role::Immediate || (!is_listed && !spec.register_only)))
    return int_value(e.integer, type ? class_for(*type) : Class::R);
  return in_class(c, operand.expr, type ? class_for(*type) : Class::R);
}

Arg ptx_one(Context& c, Issue& issue, const PtxOperand& operand, const OperandSpec& spec,
            std::optional<isa::Type> type, bool is_listed) {
  if (operand.kind == PtxOperandKind::Sink) return {};
  if (spec.role == Role::Write) return ptx_target(c, issue, operand, type);
  return ptx_source(c, operand, spec, type, is_listed);
}

// The same word to a GPU, but not to ptxas (ir/known_words.h).
Value hidden(Context& c, Value word) {
  const Value clock = c.code.pure("mov.u64", Class::Rd, {special_arg("%clock64")});
  const Value top = c.code.pure("shr.u64", Class::Rd, {clock, int_value(63)});
  const std::string_view bits = word.cls == Class::Rs ? "16" : "32";
  const Value zero = c.code.pure(fmt::format("cvt.u{}.u64", bits), word.cls, {top});
  return c.code.pure(fmt::format("xor.b{}", bits), word.cls, {word, zero});
}

Arg ptx_operand(Context& c, Issue& issue, const ir::PlacedOperand& placed,
                const FormPlacement::Shape& shape) {
  const std::span<const PtxOperand> own =
      std::span(issue.call.operands).subspan(placed.first, placed.count);
  const OperandSpec& spec = *placed.spec;
  if (spec.role == Role::Address) return ptx_address(c, own, spec, issue.binding);
  const auto [type, is_listed] = shape;
  std::vector<Arg> parts;
  parts.reserve(placed.main);
  for (std::size_t i = 0; i < placed.main; ++i)
    parts.push_back(ptx_one(c, issue, own[i], spec, type, is_listed));
  if (c.known.must_hide(issue.call, issue.binding, placed))
    for (Arg& part : parts) part = hidden(c, part.value);
  Arg main = is_listed ? vector_arg(std::move(parts)) : std::move(parts[0]);
  if (placed.count == placed.main) return main;
  return pair_arg(std::move(main),
                  ptx_one(c, issue, own[placed.main], spec, isa::Type::Pred, true));
}

void write_back(Context& c, const Issue::Output& output, Guard guard) {
  const ir::Expr& e = c.f[output.operand.expr];
  const bool is_at = output.operand.kind == PtxOperandKind::At;
  const DType own = is_at ? DType::Uint32 : c.f[e.buffer].dtype;
  const bool is_half = output.value.cls == Class::Rs && storage_bits(own) == 16;
  const DType type = is_half ? kHalfWord : own;
  const Address place = is_at ? address(c, output.operand.expr) : element(c, e.buffer, e.args);
  Value value = output.value;
  if (value.cls == Class::Rq) {
    const std::vector<Value> words = c.code.pure_vector("mov.b128", Class::R, 4, {value});
    for (int i = 0; i < 4; ++i)
      store_run(c, moved(place, 4 * i), type, {words[static_cast<std::size_t>(i)]}, c.code.now(),
                guard);
    return;
  }
  if (value.cls == Class::P && type != DType::Bool)
    value = cast(c, value, DType::Bool, type);
  else if (value.cls != Class::P)
    value = type == DType::Bool ? is_not_zero(c, DType::Uint32, value) : from_raw(c, value, type);
  store_run(c, place, type, {value}, c.code.now(), guard);
}

// --- instructions --------------------------------------------------------------------------------

// The forms and placements are judged by their shape alone, before anything is written.
bool try_form(Context& c, const ir::PtxCall& call, const isa::Binding& binding,
              const FormPlacement& placed, Guard guard) {
  if (!is_fitting(c, call, placed)) return false;
  Issue issue{call, binding, guard};
  const std::vector<ir::PlacedOperand>& operands = placed.operands;
  std::vector<Arg> args(operands.size());
  // Sources first: a register may be both, and writing gives up what it holds.
  for (const bool is_written : {false, true}) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if ((operands[i].spec->role == Role::Write) == is_written)
        args[i] = ptx_operand(c, issue, operands[i], placed.shapes[i]);
  }
  c.code.add(call.opcode.text(), std::move(args), guard);
  // Registers of this instruction are there after a wait, and may be put elsewhere no earlier.
  if (ir::is_tensor_load(call) && !issue.outputs.empty())
    c.code.add("tcgen05.wait::ld.sync.aligned", {}, guard);
  for (const Issue::Output& output : issue.outputs) write_back(c, output, guard);
  return true;
}

FormPlacement placement_of(const isa::Binding& binding, std::span<const ir::PlacedOperand> placed) {
  FormPlacement out{.operands = {placed.begin(), placed.end()}};
  for (const ir::PlacedOperand& one : placed)
    out.shapes.push_back({.type = isa::type_of(*one.spec, binding),
                          .is_listed = isa::count_of(*one.spec, binding).has_value()});
  return out;
}

// An instruction stands in a kernel many times: how the form takes its operands is found once.
const FormPlacement* first_placement(Context& c, const ir::PtxCall& call,
                                     const isa::Binding& binding) {
  const auto made = c.placements.try_emplace({&binding, call.operands.size()});
  auto& placement = made.first->second;
  if (made.second)
    ir::place_operands(binding, call.operands.size(),
                       [&](std::span<const ir::PlacedOperand> placed) {
                         placement = placement_of(binding, placed);
                         return true;
                       });
  return placement ? &*placement : nullptr;
}

void ptx_call(Context& c, const ir::PtxCall& call) {
  Guard guard;
  if (call.predicate.valid())
    guard.value = c.code.snapshot(c.code.in_register(predicate(c, call.predicate)));
  for (const isa::Binding& binding : call.opcode.forms()) {
    const FormPlacement* const first = first_placement(c, call, binding);
    if (first == nullptr) continue;
    if (try_form(c, call, binding, *first, guard)) return;
    const bool is_done = ir::place_operands(
        binding, call.operands.size(), [&](std::span<const ir::PlacedOperand> placed) {
          return try_form(c, call, binding, placement_of(binding, placed), guard);
        });
    if (is_done) return;
  }
  refuse(c, "no form of `{}` takes {} operands like these", call.opcode.text(),
         call.operands.size());
}

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

void leave_loop(Context& c) {
  if (c.loops.back().is_broken) c.code.add_label(c.loops.back().end);
  c.loops.pop_back();
}

// A loop of one round needs no jump back; what its `break` jumps over is not known behind it.
void one_round(Context& c, const Stmt& s) {
  c.vars[s.var.index].lanes = {c.code.snapshot(eval_as(c, s.first(), c.f[s.var].type.dtype))};
  c.loops.push_back({.next = c.code.new_label("next"), .end = c.code.new_label("end")});
  const bool was_open = ir::has_jump(c.f, s.body);
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
  const ir::Range trips = c.ranges.range(s.trips());
  if (trips.max <= 0) return;
  if (trips.min == 1 && trips.max == 1) return one_round(c, s);
  const DType type = c.f[s.var].type.dtype;
  const Class cls = class_of(type);
  const std::string_view suffix = arith_type(type);
  const Value step = int_value(ir::step_of(c.f, s), cls);
  const Value first = eval_as(c, s.first(), type);
  const Value count = eval_as(c, s.trips(), type);
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
  if (!s.is_jump()) return false;
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
