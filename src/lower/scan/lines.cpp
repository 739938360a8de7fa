// SPDX-License-Identifier: Apache-2.0
#include "lower/scan/lines.h"

#include <algorithm>

#include "ir/scan.h"
#include "lower/as_index.h"
#include "lower/index_formula.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;

// --- plan ----------------------------------------------------------------------------------------

namespace scanning {
namespace {

bool has_any(const std::vector<bool>& set) { return std::ranges::find(set, true) != set.end(); }

Match<void> add_slot(const Call& call, std::size_t argument, std::vector<ThreadSlot>& slots,
                     std::int64_t slot, std::int64_t thread, std::int64_t threads) {
  auto found =
      std::ranges::find_if(slots, [&](const ThreadSlot& each) { return each.slot == slot; });
  if (found == slots.end()) {
    if (slots.size() == kMaxThreadSets)
      return decline("irregular",
                     "elements of `{}` that are scanned at once are in different registers in more "
                     "than {} sets of threads",
                     call.buffer(argument).name, kMaxThreadSets);
    slots.push_back({std::vector<bool>(as_index(threads)), slot});
    found = slots.end() - 1;
  }
  found->threads[as_index(thread)] = true;
  return {};
}

// The lanes whose runs are `distance` before, in the same sweep.
std::vector<std::int64_t> givers_of(const ScanProblem& p, const ScanLine& line,
                                    std::int64_t distance) {
  std::vector<std::int64_t> out;
  for (const ScanRun& run : line)
    out.push_back(run.sweep < 0 || run.place < distance
                      ? -1
                      : p.sweeps[as_index(run.sweep)].threads[as_index(run.place - distance)]);
  return out;
}

Match<LinePlan> line_plan(const Call& call, const ScanProblem& p, const ScanLine& line) {
  LinePlan out;
  out.has_base.resize(line.size());
  out.is_first.resize(line.size());
  std::int64_t most = 0;  // runs of a sweep
  for (std::size_t u = 0; u < line.size(); ++u) {
    const ScanRun& run = line[u];
    out.is_everywhere = out.is_everywhere && run.sweep >= 0;
    if (run.sweep < 0) continue;
    out.is_first[u] = run.first == 0;
    out.has_base[u] = p.sweeps[as_index(run.sweep)].number > 0;
    most = std::max(most, std::ssize(p.sweeps[as_index(run.sweep)].threads));
    if (run.slots.size() > out.takes.size()) out.takes.resize(run.slots.size());
    for (std::size_t j = 0; j < run.slots.size(); ++j)
      WW_TRY_VOID(
          add_slot(call, 1, out.takes[j], run.slots[j], static_cast<std::int64_t>(u), p.threads));
  }
  out.puts.resize(out.takes.size());
  for (std::int64_t distance = 1; distance < most; distance *= 2)
    out.steps.push_back({distance, WW_TRY(lane_shift(call, givers_of(p, line, distance)))});
  if (most > 1) out.before = WW_TRY(lane_shift(call, givers_of(p, line, 1)));
  return out;
}

}  // namespace
}  // namespace scanning

Match<LaneShift> lane_shift(const Call& call, const std::vector<std::int64_t>& givers) {
  LaneShift out;
  std::vector<std::int64_t> lanes;
  bool is_up = true;
  for (std::size_t u = 0; u < givers.size(); ++u) {
    const auto thread = static_cast<std::int64_t>(u);
    out.threads.push_back(givers[u] >= 0);
    lanes.push_back(givers[u] < 0 ? 0 : givers[u] % kLanesOfWarp);
    if (givers[u] < 0) continue;
    const std::int64_t distance = thread - givers[u];
    is_up = is_up && distance > 0 && (out.up == 0 || out.up == distance);
    out.up = distance;
  }
  if (is_up && out.up > 0) return out;
  out.up = 0;
  auto giver = thread_formula(lanes, out.threads);
  if (!giver)
    return decline("irregular", "no formula says which lanes hold what is before in rows of `{}`",
                   call.buffer(1).name);
  out.giver = *std::move(giver);
  return out;
}

Match<ScanPlan> scan_plan(const Call& call, ScanProblem problem) {
  ScanPlan plan{.problem = std::move(problem), .bands = {}};
  for (const ScanBand& band : plan.problem.bands) {
    std::vector<LinePlan>& lines = plan.bands.emplace_back();
    for (const ScanLine& line : band.lines) {
      LinePlan& made = lines.emplace_back(WW_TRY(scanning::line_plan(call, plan.problem, line)));
      made.first = plan.elements;
      made.number = plan.lines++;
      plan.elements += made.takes.size();
    }
  }
  for (const ScanResult& each : plan.problem.results)
    WW_TRY_VOID(scanning::add_slot(call, 0,
                                   plan.bands[each.of.band][each.of.line].puts[each.of.place],
                                   each.slot, each.thread, plan.problem.threads));
  return plan;
}

bool is_shuffled(const ScanPlan& plan) {
  return std::ranges::any_of(plan.bands, [](const std::vector<LinePlan>& lines) {
    return std::ranges::any_of(lines, [](const LinePlan& line) { return line.before.has_value(); });
  });
}

// --- code ----------------------------------------------------------------------------------------

namespace scanning {
namespace {

/// Registers that follow a formula, in the same threads.
struct SlotForm {
  std::vector<bool> threads;
  layout::TileLayout form;
};
// Of at least three, for a loop.
std::optional<SlotForm> form_of(std::span<const std::vector<ThreadSlot>> places) {
  std::vector<std::int64_t> slots;
  if (places.size() < 3) return std::nullopt;
  for (const std::vector<ThreadSlot>& each : places) {
    if (each.size() != 1 || each[0].threads != places[0][0].threads) return std::nullopt;
    slots.push_back(each[0].slot);
  }
  auto form = fit_table(slots);
  if (!form) return std::nullopt;
  return SlotForm{places[0][0].threads, *std::move(form)};
}

// Does every thread hold an element at this place?
bool is_full(const std::vector<ThreadSlot>& places, std::size_t threads) {
  std::vector<bool> has(threads);
  for (const ThreadSlot& each : places)
    for (std::size_t u = 0; u < threads; ++u)
      if (each.threads[u]) has[u] = true;
  return std::ranges::find(has, false) == has.end();
}

std::vector<bool> both(const std::vector<bool>& a, const std::vector<bool>& b, bool is_b) {
  std::vector<bool> out = a;
  for (std::size_t u = 0; u < out.size(); ++u) out[u] = a[u] && b[u] == is_b;
  return out;
}

}  // namespace
}  // namespace scanning

ScanWriter::ScanWriter(const ScanPlan& plan, const Call& call, CodeWriter& code)
    : plan_(plan), p_(plan.problem), call_(call), code_(code) {
  dst_ = flat_view(call_, code_, p_.dst);
  src_ = p_.src.buffer == p_.dst.buffer ? dst_ : flat_view(call_, code_, p_.src);
  thread_ = call_.unit_thread(code_);
  parts_ = code_.registers("part", p_.type, static_cast<std::int64_t>(plan.elements));
}

ExprId ScanWriter::index(const OperandPlaces& side, ExprId slot) {
  return code_.simplify(side.base.valid() ? code_.add(side.base, slot) : slot);
}

ExprId ScanWriter::source(ExprId slot) {
  return code_.as(p_.type, code_.load(src_, {index(p_.src, slot)}));
}

void ScanWriter::put(ExprId slot, ExprId value) {
  const ExprId to = index(p_.dst, slot);
  code_.store(dst_, to, code_.as(p_.dst.dtype, value));
}

ExprId ScanWriter::swept(const LinePlan& line) {
  return at(swept_, static_cast<std::int64_t>(line.number));
}

// In a register of its own, which all lanes fill.
ExprId ScanWriter::shifted(const LinePlan& line, const LaneShift& shift) {
  const ir::BufferId given = code_.registers("given", p_.type, 1);
  const ExprId all = ir::int_imm(code_.f(), num::DType::Uint32, 0xFFFF'FFFF, call_.span);
  const ExprId by = shift.up > 0 ? code_.n(shift.up) : formula_expr(code_, shift.giver, thread_);
  const ExprId value =
      code_.call(shift.up > 0 ? ir::Intrinsic::ShflUp : ir::Intrinsic::Shfl,
                 {all, swept(line), by, code_.n(kLanesOfWarp), code_.n(kLanesOfWarp)});
  code_.store(given, code_.n(0), value);
  return at(given, 0);
}

void ScanWriter::add_to_base(ExprId value, bool is_first) {
  code_.store(base_, code_.n(0), is_first ? value : folded(at(base_, 0), value));
}

template <typename Body>
void ScanWriter::in_threads(const std::vector<bool>& threads, Body&& body) {
  if (scanning::has_any(threads))
    code_.guarded(member_expr(code_, thread_, threads), std::forward<Body>(body));
}

// A thread whose run is shorter than others goes on with what it has, so that the last place has the
// whole run in all of them.
void ScanWriter::fold_run(const LinePlan& line) {
  const auto first = static_cast<std::int64_t>(line.first);
  const auto count = std::ssize(line.takes);
  const auto one = [&](std::int64_t j, ExprId slot) {
    const ExprId value = source(slot);
    code_.store(parts_, code_.n(first + j),
                j == 0 ? value : folded(at(parts_, first + j - 1), value));
  };
  if (!line.is_everywhere)
    code_.store(parts_, code_.n(first + (scanning::form_of(line.takes) ? count - 1 : 0)),
                neutral_value(code_, p_.by, p_.type));
  if (const auto form = scanning::form_of(line.takes))
    return code_.guarded(member_expr(code_, thread_, form->threads), [&] {
      one(0, code_.n(line.takes[0][0].slot));
      code_.loop("i", count - 1, ir::LoopKind::Unroll, [&](ExprId i) {
        const ExprId next = code_.add(i, code_.n(1));
        const ExprId value = source(digits_expr(code_, form->form, next));
        const ExprId before = code_.load(parts_, {code_.simplify(code_.add(i, code_.n(first)))});
        code_.store(parts_, code_.simplify(code_.add(next, code_.n(first))), folded(before, value));
      });
    });
  for (std::int64_t j = 0; j < count; ++j) {
    const std::vector<ThreadSlot>& places = line.takes[as_index(j)];
    if (j > 0 && !scanning::is_full(places, as_index(p_.threads)))
      code_.store(parts_, code_.n(first + j), at(parts_, first + j - 1));
    for (const ThreadSlot& each : places)
      code_.guarded(member_expr(code_, thread_, each.threads), [&] { one(j, code_.n(each.slot)); });
  }
}

void ScanWriter::fold_lanes(const LinePlan& line) {
  const ExprId own = code_.n(static_cast<std::int64_t>(line.number));
  code_.store(swept_, own,
              at(parts_, static_cast<std::int64_t>(line.first) + std::ssize(line.takes) - 1));
  for (const LineStep& step : line.steps) {
    const ExprId other = shifted(line, step.shift);
    code_.guarded(member_expr(code_, thread_, step.shift.threads),
                  [&] { code_.store(swept_, own, folded(other, swept(line))); });
  }
}

void ScanWriter::write_sweeps() {
  const bool has_sweeps = is_shuffled(plan_) || p_.most_sweeps > 1;
  if (has_sweeps)
    swept_ = code_.registers("swept", p_.type, static_cast<std::int64_t>(plan_.lines));
  for (const std::vector<LinePlan>& lines : plan_.bands)
    for (const LinePlan& line : lines) fold_run(line);
  for (const std::vector<LinePlan>& lines : plan_.bands)
    for (const LinePlan& line : lines)
      if (has_sweeps) fold_lanes(line);
}

void ScanWriter::write_results(const std::function<void(std::size_t, std::size_t)>& advance) {
  // Filled in all threads, so that a compiler may compute with them where the result is not used.
  const auto filled = [&](std::string_view name) {
    const ir::BufferId out = code_.registers(name, p_.type, 1);
    code_.store(out, code_.n(0), neutral_value(code_, p_.by, p_.type));
    return out;
  };
  if (p_.most_sweeps > 1) base_ = filled("base");
  if (is_shuffled(plan_) || p_.most_sweeps > 1) before_ = filled("before");
  for (std::size_t b = 0; b < plan_.bands.size(); ++b)
    for (std::size_t k = 0; k < plan_.bands[b].size(); ++k) {
      const LinePlan& line = plan_.bands[b][k];
      if (scanning::has_any(line.has_base)) advance(b, k);
      find_before(line);
      if (p_.is_exclusive) put_first(line);
      put_rest(line, true);
      put_rest(line, false);
    }
}

// The base, then what the run before has. Nothing is folded where one of them is all there is, so that
// a NaN stays as it is.
void ScanWriter::find_before(const LinePlan& line) {
  const ExprId to = code_.n(0);
  if (!line.before)
    return in_threads(line.has_base, [&] { code_.store(before_, to, at(base_, 0)); });
  const ExprId given = shifted(line, *line.before);
  const std::vector<bool>& has_run = line.before->threads;
  in_threads(scanning::both(has_run, line.has_base, false),
             [&] { code_.store(before_, to, given); });
  in_threads(scanning::both(line.has_base, has_run, false),
             [&] { code_.store(before_, to, at(base_, 0)); });
  in_threads(scanning::both(line.has_base, has_run, true),
             [&] { code_.store(before_, to, folded(at(base_, 0), given)); });
}

ExprId ScanWriter::result(ExprId element, bool is_first) {
  const ExprId part = code_.load(parts_, {code_.simplify(element)});
  return is_first ? part : folded(at(before_, 0), part);
}

// Of an exclusive scan: what is before the run, or nothing.
void ScanWriter::put_first(const LinePlan& line) {
  for (const ThreadSlot& each : line.puts[0]) {
    in_threads(scanning::both(each.threads, line.is_first, true), [&] {
      const ir::Constant value = ir::scan_identity(p_.by, p_.dst.dtype);
      put(code_.n(each.slot), is_float(value.dtype)
                                  ? ir::float_imm(code_.f(), value.dtype, value.real, call_.span)
                                  : ir::int_imm(code_.f(), value.dtype, value.integer, call_.span));
    });
    in_threads(scanning::both(each.threads, line.is_first, false),
               [&] { put(code_.n(each.slot), at(before_, 0)); });
  }
}

// The results of runs that begin a row, or of the others.
void ScanWriter::put_rest(const LinePlan& line, bool is_first) {
  const auto places = std::span(line.puts).subspan(p_.is_exclusive ? 1 : 0);
  const auto first = static_cast<std::int64_t>(line.first);
  const auto in = [&](const std::vector<bool>& threads) {
    return scanning::both(threads, line.is_first, is_first);
  };
  if (const auto form = scanning::form_of(places))
    return in_threads(in(form->threads), [&] {
      code_.loop("i", std::ssize(places), ir::LoopKind::Unroll, [&](ExprId i) {
        const ExprId value = result(code_.add(i, code_.n(first)), is_first);
        put(digits_expr(code_, form->form, i), value);
      });
    });
  for (std::size_t j = 0; j < places.size(); ++j)
    for (const ThreadSlot& each : places[j])
      in_threads(in(each.threads), [&] {
        const ExprId value = result(code_.n(first + static_cast<std::int64_t>(j)), is_first);
        put(code_.n(each.slot), value);
      });
}

// --- report --------------------------------------------------------------------------------------

namespace scanning {
namespace {

std::vector<std::int64_t> slots_of(const ScanPlan& plan, bool is_dst) {
  std::vector<std::int64_t> out;
  for (const std::vector<LinePlan>& lines : plan.bands)
    for (const LinePlan& line : lines)
      for (const std::vector<ThreadSlot>& places : is_dst ? line.puts : line.takes)
        for (const ThreadSlot& each : places) out.push_back(each.slot);
  return out;
}

void add_shuffles(const ScanPlan& plan, std::int64_t given, PlanReport& out) {
  std::int64_t up = 0, by_index = given;
  const auto count = [&](const LaneShift& shift) { ++(shift.up > 0 ? up : by_index); };
  for (const std::vector<LinePlan>& lines : plan.bands)
    for (const LinePlan& line : lines) {
      for (const LineStep& step : line.steps) count(step.shift);
      if (line.before) count(*line.before);
    }
  // A value of 64 bits is shuffled in halves.
  const std::int64_t words = (num::bits_of(plan.problem.type) + 31) / 32;
  constexpr std::int64_t kWordBytes = 4;
  if (up > 0) out.add_instruction("shfl.sync.up.b32", up * words, kWordBytes);
  if (by_index > 0) out.add_instruction("shfl.sync.idx.b32", by_index * words, kWordBytes);
  const std::int64_t all = (up + by_index) * words;
  if (all > 0) out.summary += fmt::format(", then {} {}", all, all == 1 ? "shuffle" : "shuffles");
}

}  // namespace
}  // namespace scanning

PlanReport scan_report(const ScanPlan& plan, const Call& call, std::int64_t given) {
  const ScanProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.rows * p.length;
  out.flops = out.elements;
  out.bytes = out.elements * p.src.bits / 8;
  out.rounds = static_cast<std::int64_t>(plan.elements);
  const auto& params = ir::params_of(call.tile.op);
  out.operand_registers.emplace_back(params[0].name,
                                     words_of(scanning::slots_of(plan, true), p.dst.bits));
  out.operand_registers.emplace_back(params[1].name,
                                     words_of(scanning::slots_of(plan, false), p.src.bits));
  for (const auto& [name, count] : out.operand_registers) out.registers += count;
  std::vector<bool> takes_part(as_index(p.threads));
  for (const ScanSweep& sweep : p.sweeps)
    for (const std::int64_t u : sweep.threads) takes_part[as_index(u)] = true;
  out.threads = std::ranges::count(takes_part, true);
  out.summary =
      fmt::format("{} {} per thread", out.rounds, out.rounds == 1 ? "element" : "elements");
  scanning::add_shuffles(plan, given, out);
  if (p.type != p.dst.dtype) out.notes.push_back(fmt::format("folded in {}", num::name_of(p.type)));
  return out;
}

}  // namespace ww::lower
