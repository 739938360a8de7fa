// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/phase_writer.h"

#include <algorithm>

#include "ir/settings.h"
#include "lower/checks.h"
#include "lower/index_formula.h"

namespace ww::lower {

using ir::ExprId;

std::string access_type(std::int64_t bytes) {
  return bytes > 4 ? fmt::format(".v{}.b32", bytes / 4) : fmt::format(".b{}", bytes * 8);
}

PhaseWriter::PhaseWriter(const Call& call, const CopyProblem& problem, CodeWriter& code,
                         std::string modifiers)
    : call_(call),
      problem_(problem),
      code_(code),
      modifiers_(std::move(modifiers)),
      u_(problem.register_side() == nullptr ? call.worker(code) : call.unit_thread(code)) {
  dst_ = flat_view(call, code, problem.dst);
  src_ = flat_view(call, code, problem.src);
}

std::vector<ThreadPart> PhaseWriter::thread_parts(const OperandPlaces& side, const PlaceForm& form,
                                                  std::string_view name) {
  const ExprId base = side.base_expr(code_);
  std::vector<ThreadPart> parts{thread_part(code_, form.form, u_, base)};
  for (const auto& [stride, coef] : form.strides)
    parts.push_back(thread_part(code_, coef, u_, code_.n(0)));
  // What does not depend on the round is computed once.
  if (!side.is_register() && form.form.kind != AddressForm::Kind::Joint)
    parts[0].fixed = code_.let(name, parts[0].fixed);
  return parts;
}

ExprId PhaseWriter::address(const PlaceForm& form, const std::vector<ThreadPart>& parts, ExprId k,
                            std::int64_t threads) {
  ExprId out = address_expr(code_, form.form, parts[0], u_, k, threads);
  for (std::size_t i = 0; i < form.strides.size(); ++i) {
    const auto& [stride, coef] = form.strides[i];
    const ExprId times = address_expr(code_, coef, parts[i + 1], u_, k, threads);
    out = code_.add(out, wide_mul(code_, times, stride));
  }
  return out;
}

void PhaseWriter::write(const CopyPhase& phase) {
  const Move by_vectors = [&](const Access& access) { move(phase, access); };
  if (problem_.fills) return write(phase, by_vectors);
  code_.guarded(problem_.predicate, [&] { rounds(phase, {}, by_vectors); });
}

void PhaseWriter::write(const CopyPhase& phase, const Move& move) {
  rounds(phase, problem_.predicate, move);
}

std::vector<PhaseWriter::EdgePart> PhaseWriter::edge_parts(const OperandPlaces& side,
                                                           const std::vector<EdgeForm>& forms) {
  std::vector<EdgePart> out;
  for (std::size_t e = 0; e < forms.size(); ++e) {
    EdgePart part{&side.edges[e], &forms[e], {}, {}};
    const auto from = [&](ExprId base, std::string_view name) {
      ThreadPart made = thread_part(code_, forms[e].form, u_, base);
      made.fixed = code_.let(name, made.fixed);
      return made;
    };
    if (part.edge->room.valid())
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
  if (part.edge->start.valid()) out = code_.index(ir::ExprOp::Le, code_.n(0), at(part.above));
  if (!part.edge->room.valid()) return out;
  if (!part.form->is_cut) return code_.both(out, code_.less(at(part.beyond), 0));
  inside = code_.index(ir::ExprOp::Sub, code_.n(0), at(part.beyond));
  return out;
}

void PhaseWriter::rounds(const CopyPhase& phase, ExprId predicate, const Move& move) {
  code_.guarded(member_expr(code_, u_, phase.used), [&] {
    const auto dst_parts = thread_parts(problem_.dst, phase.dst, "dst_base");
    const auto src_parts = thread_parts(problem_.src, phase.src, "src_base");
    const auto src_edges = edge_parts(problem_.src, phase.edges);
    const auto dst_edges = edge_parts(problem_.dst, phase.dst_edges);
    if (predicate.valid()) predicate = code_.let("predicate", predicate);
    const bool is_unrolled = phase.is_unrolled && phase.rounds > 1;
    const auto kind = is_unrolled ? ir::LoopKind::Unroll : ir::LoopKind::Serial;
    code_.loop("f", phase.rounds, kind, [&](ExprId k) {
      const ExprId q = code_.add(code_.mul(k, phase.threads), u_);
      const ExprId in_range = phase.count == 0 ? ExprId{} : code_.less(q, phase.count);
      code_.guarded(in_range, [&] {
        Access access{.to = address(phase.dst, dst_parts, k, phase.threads),
                      .from = address(phase.src, src_parts, k, phase.threads),
                      .condition = predicate};
        for (const EdgePart& part : src_edges)
          access.condition =
              code_.both(access.condition, inside_of(part, k, phase.threads, access.inside));
        for (const EdgePart& part : dst_edges)
          access.stored =
              code_.both(access.stored, inside_of(part, k, phase.threads, access.inside));
        move(access);
      });
    });
  });
}

void PhaseWriter::move(const CopyPhase& phase, const Access& access) {
  if (access.stored.valid()) {
    Access inside = access;
    inside.stored = {};
    return code_.guarded(access.stored, [&] { move(phase, inside); });
  }
  if (access.condition.valid()) return fill(access);
  if (!modifiers_.empty()) return load_with_modifiers(phase, access.to, access.from);
  const ExprId dst = code_.let("dst_ptr", code_.pointer(dst_, access.to));
  const ExprId src = code_.let("src_ptr", code_.pointer(src_, access.from));
  const ExprId bytes = code_.n(phase.bytes);
  code_.evaluate(ir::Intrinsic::CopyBytes, {dst, src, bytes});
}

// One element, or zero.
void PhaseWriter::fill(const Access& access) {
  code_.store(dst_, access.to,
              code_.choose(ir::ExprOp::IfThenElse, code_.simplify(access.condition),
                           code_.load(src_, {access.from}), code_.zero(problem_.dst.dtype)));
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
  code_.ptx("ld.global" + modifiers_ + access_type(phase.bytes), std::move(operands));
  if (has_registers) return;
  const ExprId dst = code_.let("dst_ptr", code_.pointer(dst_, to));
  code_.evaluate(ir::Intrinsic::CopyBytes,
                 {dst, code_.pointer(view, code_.n(0)), code_.n(phase.bytes)});
}

Match<PhasePlan> phase_plan(const Call& call, std::shared_ptr<const CopyProblem> problem,
                            std::vector<CopyPhase> phases) {
  struct Row {
    std::string_view name, prefix;
  };
  static constexpr Row kRows[] = {
      {"cache", "."}, {"l1_evict", ".L1::"}, {"l2_evict", ".L2::"}, {"prefetch_size", ".L2::"}};
  std::string out;
  for (const Row& row : kRows) {
    const std::string word = ir::word_of(call.setting(row.name));
    if (word.empty()) continue;
    out += std::string(row.prefix) + word + (row.name == "prefetch_size" ? "B" : "");
  }
  for (const CopyPhase& phase : phases) {
    const std::string opcode = "ld.global" + out + access_type(phase.bytes);
    if (!out.empty() && !is_on_target(opcode, call.context.target))
      return decline("config", "there is no `{}` on {}", opcode,
                     target::info(call.context.target.arch).name);
  }
  return PhasePlan{std::move(problem), std::move(phases), std::move(out)};
}

void emit_phases(const PhasePlan& plan, const Call& call, CodeWriter& code) {
  PhaseWriter writer(call, *plan.problem, code, plan.modifiers);
  for (const CopyPhase& phase : plan.phases) writer.write(phase);
}

}  // namespace ww::lower
