// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/phase_writer.h"

#include <algorithm>

#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy/problem.h"
#include "lower/index_formula.h"

namespace ww::lower {

using ir::ExprId;

std::string access_type(std::int64_t bytes) {
  return bytes > 4 ? fmt::format(".v{}.b32", bytes / 4) : fmt::format(".b{}", bytes * 8);
}

std::string access_opcode(std::string_view op, const OperandPlaces& side, std::int64_t bytes) {
  const std::string_view space = side.scope == ir::Scope::Global ? "global" : "shared";
  return fmt::format("{}.{}{}", op, space, access_type(bytes));
}

PhaseWriter::PhaseWriter(const Call& call, const CopyProblem& problem, CodeWriter& code,
                         LoadModifiers modifiers)
    : call_(call),
      problem_(problem),
      code_(code),
      modifiers_(std::move(modifiers)),
      u_(problem.register_side() == nullptr ? call.worker(code) : call.unit_thread(code)) {
  dst_ = flat_view(call, code, problem.dst);
  src_ = flat_view(call, code, problem.src);
  if (problem.mask) mask_ = flat_view(call, code, *problem.mask);
  if (problem.may_fill())
    fill_value_ = fill_value_of(call, code, ir::copy_settings(call.tile).fill_value);
}

std::vector<ThreadPart> PhaseWriter::thread_parts(const OperandPlaces& side, const PlaceForm& form,
                                                  std::string_view name, bool is_single) {
  ExprId base = side.base_expr(code_);
  if (is_single && is_narrow(side)) base = code_.simplify(code_.as_int32(base));
  std::vector<ThreadPart> parts = place_parts(code_, form, u_, base);
  // What does not depend on the round is computed once.
  if (!side.is_register() && form.form.kind != AddressForm::Kind::Joint)
    parts[0].fixed = code_.let(name, parts[0].fixed);
  return parts;
}

// Do 32 bits hold the base wherever an element of the region is inside? Elsewhere nothing is made of
// it.
bool PhaseWriter::is_narrow(const OperandPlaces& side) const {
  if (side.edges.empty() || !side.strides.empty() || !side.base.valid()) return false;
  constexpr std::int64_t kEnd = std::int64_t{1} << 30;
  const auto shape = ir::const_shape(call_.f(), call_.f()[side.buffer]);
  std::int64_t reach = view_elements(call_, side);
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape.value_or(layout::Shape{kEnd}))
    elements = std::min(kEnd, elements * extent);
  return std::max(reach, elements) < kEnd;
}

void PhaseWriter::write(const CopyPhase& phase) {
  const Move by_vectors = [&](const Access& access) { move(phase, access); };
  if (problem_.fills) {
    write(phase, by_vectors);
    return write_tails(phase);
  }
  code_.guarded(problem_.predicate, [&] {
    rounds(phase, {}, phase.is_unrolled, by_vectors);
    if (has_tails(phase))
      rounds(phase, {}, false, [&](const Access& access) { tail(phase, access); });
  });
}

void PhaseWriter::write(const CopyPhase& phase, const Move& move) {
  rounds(phase, problem_.predicate, phase.is_unrolled, move);
}

// Registers have numbers, which a loop does not count; two edges that cut are rare; and what is
// copied onto itself must be read before it is filled.
bool PhaseWriter::has_tails(const CopyPhase& phase) const {
  const auto storage = [&](const OperandPlaces& side) {
    return ir::storage_of(call_.f(), side.buffer);
  };
  return problem_.register_side() == nullptr && storage(problem_.dst) != storage(problem_.src) &&
         std::ranges::count(phase.cuts, true) + std::ranges::count(phase.dst_cuts, true) == 1;
}

void PhaseWriter::write_tails(const CopyPhase& phase) {
  if (!has_tails(phase)) return;
  rounds(phase, problem_.predicate, false, [&](const Access& access) { tail(phase, access); });
}

void PhaseWriter::tail(const CopyPhase& phase, const Access& access) {
  const bool is_source = access.inside.valid();
  const ExprId count = code_.let("inside", code_.simplify(is_source ? access.inside : access.room));
  ExprId is_cut =
      code_.both(code_.index(ir::ExprOp::Lt, code_.n(0), count), code_.less(count, phase.vec));
  if (is_source || !problem_.fills) is_cut = code_.both(access.condition, is_cut);
  code_.guarded(code_.both(access.stored, is_cut), [&] {
    parts(phase, count, [&](ExprId i) {
      ExprId value = code_.load(src_, {code_.add(access.from, i)});
      if (!is_source && problem_.fills && access.condition.valid())
        value = code_.choose(ir::ExprOp::IfThenElse, code_.simplify(access.condition), value,
                             fill_value_);
      code_.store(dst_, code_.add(access.to, i), value);
    });
  });
}

std::vector<PhaseWriter::EdgePart> PhaseWriter::edge_parts(const OperandPlaces& side,
                                                           const std::vector<EdgeForm>& forms,
                                                           bool is_single) {
  std::vector<EdgePart> out;
  for (std::size_t e = 0; e < forms.size(); ++e) {
    EdgePart part{&side.edges[e], &forms[e], {}, {}};
    const auto from = [&](ExprId base, std::string_view name) {
      ThreadPart made = thread_part(code_, forms[e].form, u_, base);
      made.fixed = code_.let(name, made.fixed);
      return made;
    };
    part.is_split = is_single && forms[e].form.kind == AddressForm::Kind::Sum && !forms[e].is_cut;
    if (part.edge->room.valid() && part.is_split)
      part.beyond.fixed =
          code_.let("left", code_.index(ir::ExprOp::Sub, part.edge->room,
                                        thread_part(code_, forms[e].form, u_, code_.n(0)).fixed));
    else if (part.edge->room.valid())
      part.beyond = from(code_.index(ir::ExprOp::Sub, code_.n(0), part.edge->room), "beyond");
    if (part.edge->start.valid()) part.above = from(part.edge->start, "above");
    out.push_back(part);
  }
  return out;
}

ExprId PhaseWriter::inside_of(const EdgePart& part, ExprId k, std::int64_t threads,
                              ExprId& inside) {
  ExprId out = {};
  const auto at = [&](const ThreadPart& fixed) {
    return address_expr(code_, part.form->form, fixed, u_, k, threads);
  };
  if (part.is_split) {
    const ExprId round = code_.simplify(at({code_.n(0), {}}));
    if (part.edge->start.valid())
      out = code_.index(ir::ExprOp::Ge, part.above.fixed,
                        code_.simplify(code_.index(ir::ExprOp::Sub, code_.n(0), round)));
    if (!part.edge->room.valid()) return out;
    return code_.both(out, code_.index(ir::ExprOp::Gt, part.beyond.fixed, round));
  }
  if (part.edge->start.valid()) out = code_.index(ir::ExprOp::Le, code_.n(0), at(part.above));
  if (!part.edge->room.valid()) return out;
  if (!part.form->is_cut) return code_.both(out, code_.less(at(part.beyond), 0));
  inside = code_.index(ir::ExprOp::Sub, code_.n(0), at(part.beyond));
  return out;
}

void PhaseWriter::rounds(const CopyPhase& phase, ExprId predicate, bool is_unrolled,
                         const Move& move) {
  // Of single elements the comparisons and addresses count: the round is a number in each.
  const bool is_single = phase.vec == 1 && problem_.register_side() != nullptr;
  code_.guarded(member_expr(code_, u_, phase.used), [&] {
    const auto dst_parts = thread_parts(problem_.dst, phase.dst, "dst_base", is_single);
    const auto src_parts = thread_parts(problem_.src, phase.src, "src_base", is_single);
    const auto mask_parts = problem_.mask ? thread_parts(*problem_.mask, phase.mask, "mask_base")
                                          : std::vector<ThreadPart>{};
    const auto src_edges = edge_parts(problem_.src, phase.edges, is_single);
    const auto dst_edges = edge_parts(problem_.dst, phase.dst_edges, is_single);
    if (predicate.valid()) predicate = code_.let("predicate", predicate);
    const auto kind = is_unrolled && phase.rounds > 1 ? ir::LoopKind::Unroll : ir::LoopKind::Serial;
    code_.loop("f", phase.rounds, kind, [&](ExprId k) {
      const ExprId q = code_.add(code_.mul(k, phase.threads), u_);
      const ExprId in_range = phase.count == 0 ? ExprId{} : code_.less(q, phase.count);
      const auto place = [&](const PlaceForm& form, std::span<const ThreadPart> parts) {
        return place_expr(code_, form, parts, u_, k, phase.threads);
      };
      code_.guarded(in_range, [&] {
        Access access{.to = place(phase.dst, dst_parts),
                      .from = place(phase.src, src_parts),
                      .condition = predicate};
        if (problem_.mask)
          access.condition = code_.let("mask", code_.load(mask_, {place(phase.mask, mask_parts)}));
        for (const EdgePart& part : src_edges)
          access.condition =
              code_.both(access.condition, inside_of(part, k, phase.threads, access.inside));
        for (const EdgePart& part : dst_edges)
          access.stored = code_.both(access.stored, inside_of(part, k, phase.threads, access.room));
        move(access);
      });
    });
  });
}

void PhaseWriter::move(const CopyPhase& phase, const Access& access) {
  // Only a mask is left to say that nothing is copied.
  if (!problem_.fills)
    return code_.guarded(code_.both(access.stored, access.condition), [&] { copy(phase, access); });
  code_.guarded(access.stored, [&] {
    if (!access.condition.valid() && !access.inside.valid()) return copy(phase, access);
    if (phase.vec == 1) return fill(access);
    if (problem_.dst.is_register()) return fill_registers(phase, access);
    fill_memory(phase, access);
  });
}

// All of the source is there.
void PhaseWriter::copy(const CopyPhase& phase, const Access& access) {
  if (!modifiers_.text.empty()) return load_with_modifiers(phase, access.to, access.from);
  carry(phase, access.room, dst_, access.to, src_, access.from);
}

void PhaseWriter::copy_bytes(const CopyPhase& phase, ir::BufferId into, ExprId to, ir::BufferId of,
                             ExprId from) {
  code_.copy_bytes(code_.pointer(into, to), code_.pointer(of, from), phase.bytes);
}

template <typename Part>
void PhaseWriter::parts(const CopyPhase& phase, ExprId count, Part&& part) {
  code_.loop("i", phase.vec - 1, ir::LoopKind::Unroll, [&](ExprId i) {
    code_.guarded(code_.index(ir::ExprOp::Lt, i, count), [&] { part(i); });
  });
}

void PhaseWriter::carry(const CopyPhase& phase, ExprId count, ir::BufferId into, ExprId to,
                        ir::BufferId of, ExprId from) {
  const auto whole = [&] { copy_bytes(phase, into, to, of, from); };
  if (!count.valid()) return whole();
  count = code_.let("inside", code_.simplify(count));
  const ExprId is_whole = code_.index(ir::ExprOp::Le, code_.n(phase.vec), count);
  if (has_tails(phase)) return code_.guarded(is_whole, whole);
  code_.either(is_whole, whole, [&] {
    parts(phase, count, [&](ExprId i) {
      code_.store(into, code_.add(to, i), code_.load(of, {code_.add(from, i)}));
    });
  });
}

// One element, or the fill value. The conditions of registers are as short as they get once their
// rounds are numbers; simplified, each would add the round to the start.
void PhaseWriter::fill(const Access& access) {
  const bool is_done = problem_.register_side() != nullptr;
  const ExprId condition = is_done ? access.condition : code_.simplify(access.condition);
  const ExprId value = code_.load(src_, {access.from});
  code_.store(dst_, access.to, code_.choose(ir::ExprOp::IfThenElse, condition, value, fill_value_));
}

void PhaseWriter::fill_all(const CopyPhase& phase, ir::BufferId into, ExprId first) {
  code_.loop("i", phase.vec, ir::LoopKind::Unroll,
             [&](ExprId i) { code_.store(into, code_.add(first, i), fill_value_); });
}

// Registers may be copied to themselves, so that they are not filled before they are read. Only
// memory is cut, which they are not.
void PhaseWriter::fill_registers(const CopyPhase& phase, const Access& access) {
  if (!access.inside.valid())
    return code_.either(
        access.condition, [&] { copy_bytes(phase, dst_, access.to, src_, access.from); },
        [&] { fill_all(phase, dst_, access.to); });
  fill_all(phase, dst_, access.to);
  code_.guarded(access.condition,
                [&] { carry(phase, access.inside, dst_, access.to, src_, access.from); });
}

// Through registers of its own, so that one store takes what was loaded or the fill value.
void PhaseWriter::fill_memory(const CopyPhase& phase, const Access& access) {
  const ir::BufferId filled = code_.registers("filled", problem_.dst.dtype, phase.vec);
  fill_all(phase, filled, code_.n(0));
  code_.guarded(access.condition,
                [&] { carry(phase, access.inside, filled, code_.n(0), src_, access.from); });
  carry(phase, access.room, dst_, access.to, filled, code_.n(0));
}

ExprId PhaseWriter::is_whole(const CopyPhase& phase, const Access& access) {
  if (!access.inside.valid()) return access.condition;
  return code_.both(access.condition,
                    code_.index(ir::ExprOp::Le, code_.n(phase.vec), access.inside));
}

void PhaseWriter::store_fill(const CopyPhase& phase, const Access& access) {
  if (phase.vec == 1) return code_.store(dst_, access.to, fill_value_);
  const ir::BufferId filled = code_.registers("filled", problem_.dst.dtype, phase.vec);
  fill_all(phase, filled, code_.n(0));
  copy_bytes(phase, dst_, access.to, filled, code_.n(0));
}

// Into words of the registers, seen as unsigned integers; between memories through others.
void PhaseWriter::load_with_modifiers(const CopyPhase& phase, ExprId to, ExprId from) {
  const std::int64_t word = std::min<std::int64_t>(4, phase.bytes);
  const num::DType type = word == 4   ? num::DType::Uint32
                          : word == 2 ? num::DType::Uint16
                                      : num::DType::Uint8;
  const bool has_registers = problem_.dst.is_register();
  const std::int64_t bits = problem_.dst.bits;
  const std::int64_t words =
      (view_elements(call_, problem_.dst) * bits + word * 8 - 1) / (word * 8);
  const ir::BufferId view = has_registers ? code_.flat_view(problem_.dst.buffer, type, words,
                                                            call_.f()[dst_].name + "_words")
                                          : code_.registers("words", type, phase.bytes / word);
  const ExprId first = has_registers ? code_.div(code_.mul(to, bits), word * 8) : code_.n(0);
  std::vector<ir::PtxOperand> operands;
  for (std::int64_t i = 0; i < phase.bytes / word; ++i)
    operands.push_back({.expr = code_.load(view, {code_.add(first, i)})});
  operands.push_back(address_operand(code_.let("src_ptr", code_.pointer(src_, from))));
  if (modifiers_.policy)
    operands.push_back(
        {.expr = ir::int_imm(call_.f(), num::DType::Uint64, *modifiers_.policy, call_.span)});
  code_.ptx("ld.global" + modifiers_.text + access_type(phase.bytes), std::move(operands));
  if (has_registers) return;
  const ExprId dst = code_.let("dst_ptr", code_.pointer(dst_, to));
  code_.evaluate(ir::Intrinsic::CopyBytes,
                 {dst, code_.pointer(view, code_.n(0)), code_.n(phase.bytes)});
}

namespace {

// `.L2::evict_first` and the like, or the hint that takes a policy in their place.
std::string modifiers_of(const Call& call, bool is_policy) {
  struct Row {
    std::string_view name, prefix;
  };
  static constexpr Row kRows[] = {
      {"cache", "."}, {"l1_evict", ".L1::"}, {"l2_evict", ".L2::"}, {"prefetch_size", ".L2::"}};
  std::string out;
  for (const Row& row : kRows) {
    const std::string word = ir::word_of(call.setting(row.name));
    if (word.empty()) continue;
    if (is_policy && row.name == "l2_evict")
      out += ".L2::cache_hint";
    else
      out += std::string(row.prefix) + word + (row.name == "prefetch_size" ? "B" : "");
  }
  return out;
}

// The first load of the phases that the target does not have; empty: it has all of them. The forms
// with `.L2::evict_…` are listed for every width, and load 32 bytes.
std::string missing_load(const Call& call, const std::vector<CopyPhase>& phases,
                         const std::string& modifiers) {
  const bool is_wide = modifiers.find(".L2::evict") != std::string::npos;
  for (const CopyPhase& phase : phases) {
    std::string opcode = "ld.global" + modifiers + access_type(phase.bytes);
    if ((is_wide && phase.bytes != 32) || !is_on_target(opcode, call.context.target)) return opcode;
  }
  return {};
}

}  // namespace

Match<PhasePlan> phase_plan(const Call& call, std::shared_ptr<const CopyProblem> problem,
                            std::vector<CopyPhase> phases) {
  LoadModifiers out{.text = modifiers_of(call, false)};
  if (out.text.empty()) return PhasePlan{std::move(problem), std::move(phases), {}};
  if (problem->may_fill() || !problem->dst.edges.empty())
    return decline("config", "`ld.global{}` of a copy that fills or clips, expected one of the two",
                   out.text);
  std::string missing = missing_load(call, phases, out.text);
  const std::string priority = ir::word_of(call.setting("l2_evict"));
  if (!missing.empty() && !priority.empty()) {
    out = {modifiers_of(call, true), ir::cache_policy(priority)};
    missing = missing_load(call, phases, out.text);
  }
  if (!missing.empty())
    return decline("config", "there is no `{}` on {}", missing,
                   target::info(call.context.target.arch).name);
  return PhasePlan{std::move(problem), std::move(phases), std::move(out)};
}

void emit_phases(const PhasePlan& plan, const Call& call, CodeWriter& code) {
  PhaseWriter writer(call, *plan.problem, code, plan.modifiers);
  for (const CopyPhase& phase : plan.phases) writer.write(phase);
}

PlanReport copy_report(const Call& call, const CopyProblem& problem) {
  PlanReport out;
  out.elements = problem.elements;
  out.bytes = (problem.elements * problem.dst.bits + 7) / 8;
  out.threads = call.unit_threads();
  if (const OperandPlaces* own = problem.register_side()) {
    const RegisterMap map = register_map(call, *own, own == &problem.dst);
    std::int64_t occupied = 0;
    for (std::int64_t slot = 0; slot < map.slots; ++slot) occupied += map.is_occupied(slot) ? 1 : 0;
    out.registers = (occupied * own->bits + 31) / 32;
  }
  return out;
}

void add_phase(PlanReport& report, const CopyProblem& problem, const CopyPhase& phase) {
  if (!problem.src.is_register())
    report.add_instruction(access_opcode("ld", problem.src, phase.bytes), phase.rounds,
                           phase.bytes);
  if (!problem.dst.is_register())
    report.add_instruction(access_opcode("st", problem.dst, phase.bytes), phase.rounds,
                           phase.bytes);
  if (problem.mask && !problem.mask->is_register())
    report.add_instruction(access_opcode("ld", *problem.mask, 1), phase.rounds, 1);
  if (problem.src.is_register() && problem.dst.is_register())
    report.add_instruction("mov", phase.rounds, phase.bytes);
  report.rounds += phase.rounds;
  report.vector_bits = std::max(report.vector_bits, static_cast<int>(phase.bytes * 8));
}

void log_rounds(AccessLog& log, const Rounds& rounds, std::int64_t bytes,
                const std::vector<std::int64_t>& places, bool is_once) {
  log.add_rounds(is_once ? 1 : rounds.rounds, rounds.threads, bytes,
                 [&](std::int64_t k, std::int64_t u) {
                   const std::size_t q = as_index(k * rounds.threads + u);
                   const bool takes_part = rounds.used[as_index(u)] && rounds.first[q] >= 0;
                   return takes_part ? places[q] : WarpAccess::kNoAddress;
                 });
}

void log_phase(AccessLog& log, const CopyPhase& phase, bool is_dst) {
  log_rounds(log, phase, phase.bytes, is_dst ? phase.dst_places : phase.src_places);
}

PlanReport phases_report(const Call& call, const CopyProblem& problem,
                         const std::vector<CopyPhase>& phases) {
  PlanReport report = copy_report(call, problem);
  std::vector<bool> busy(phases.empty() ? 0 : phases[0].used.size());
  for (const CopyPhase& phase : phases) {
    add_phase(report, problem, phase);
    for (std::size_t u = 0; u < busy.size(); ++u) busy[u] = busy[u] || phase.used[u];
  }
  report.threads = std::ranges::count(busy, true);
  if (problem.mask)
    report.notes.push_back(fmt::format("one element of `{}` decides each access",
                                       call.f()[problem.mask->buffer].name));
  for (const bool is_dst : {false, true}) {
    const OperandPlaces& side = is_dst ? problem.dst : problem.src;
    if (!ir::is_shared(side.scope)) continue;
    AccessLog log(side);
    for (const CopyPhase& phase : phases) log_phase(log, phase, is_dst);
    add_costs(report, call, log);
  }
  return report;
}

std::string rounds_text(PlanReport& report, const CopyPhase& phase) {
  const std::int64_t idle = phase.threads - report.threads;
  if (idle > 0)
    report.notes.push_back(fmt::format("{} of {} threads have nothing to do", idle, phase.threads));
  if (phase.count != 0)
    report.notes.push_back(fmt::format("the last round is done by {} of {} threads",
                                       phase.count % phase.threads, phase.threads));
  return fmt::format("{} round{} of {} thread{}", report.rounds, report.rounds == 1 ? "" : "s",
                     report.threads, report.threads == 1 ? "" : "s");
}

PlanReport memory_report(const Call& call, const CopyProblem& problem, const CopyPhase& phase) {
  PlanReport out = phases_report(call, problem, {phase});
  const std::string rounds = rounds_text(out, phase);
  out.summary = fmt::format("{}-bit vectors, {}", out.vector_bits, rounds);
  return out;
}

}  // namespace ww::lower
