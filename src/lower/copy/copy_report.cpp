// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/copy_report.h"

#include <algorithm>

#include "lower/copy/phase_writer.h"
#include "lower/copy/register_map.h"

namespace ww::lower {

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

namespace {

std::string access_opcode(std::string_view op, const OperandPlaces& side, std::int64_t bytes) {
  const std::string_view space = side.scope == ir::Scope::Global ? "global" : "shared";
  return fmt::format("{}.{}{}", op, space, access_type(bytes));
}

}  // namespace

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

void log_phase(AccessLog& log, const CopyPhase& phase, bool is_dst) {
  const std::vector<std::int64_t>& places = is_dst ? phase.dst_places : phase.src_places;
  log.add_rounds(phase.rounds, phase.threads, phase.bytes, [&](std::int64_t k, std::int64_t u) {
    const std::int64_t q = k * phase.threads + u;
    const bool takes_part = phase.used[as_index(u)] && (phase.count == 0 || q < phase.count);
    return takes_part ? places[as_index(q)] : WarpAccess::kNoAddress;
  });
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
