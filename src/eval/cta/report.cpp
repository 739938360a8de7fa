// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/report.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/join.h"
#include "eval/cta/cta.h"
#include "eval/cta/limits.h"
#include "eval/sync/barriers.h"

namespace ww::eval {
namespace {

// Text of a coordinate: "[3, 5]"; "?" from the dimension outwards whose extent the launch does not
// know.
std::string index_text(std::span<const std::int64_t> shape, std::int64_t flat) {
  std::vector<std::string> index(shape.size(), "?");
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (d > 0 && shape[d] == kKnownInside) break;
    const std::int64_t extent = std::max<std::int64_t>(1, shape[d]);
    index[d] = fmt::format("{}", d == 0 ? flat : flat % extent);
    flat /= extent;
  }
  return fmt::format("[{}]", join(index, ", "));
}

std::string threads_text(Threads ts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ts.size();) {
    std::size_t j = i;
    while (j + 1 < ts.size() && ts[j + 1] == ts[j] + 1) ++j;
    parts.push_back(i == j ? fmt::format("{}", ts[i]) : fmt::format("{}-{}", ts[i], ts[j]));
    i = j + 1;
  }
  constexpr std::size_t kMax = 6;
  const bool is_long = parts.size() > kMax;
  if (is_long) parts.resize(kMax);
  return fmt::format("{}{}{}", ts.size() == 1 ? "thread " : "threads ", join(parts, ", "),
                     is_long ? fmt::format(", … ({} in all)", ts.size()) : "");
}

}  // namespace

std::string cta_text(const Cta& cta) { return fmt::format("CTA ({})", join(cta.at, ",")); }

std::string thread_text(Thread t) { return fmt::format("thread {}", t); }

std::string agent_text(Agent agent) {
  switch (agent.kind) {
    case AgentKind::None:
      return "nobody";
    case AgentKind::Thread:
      return fmt::format("thread {}", agent.index);
    case AgentKind::Warp:
      return fmt::format("warp {}", agent.index);
    case AgentKind::Warpgroup:
      return fmt::format("warpgroup {}", agent.index);
    case AgentKind::Cta:
      return "the CTA";
  }
  return "?";
}

std::string value_text(num::DType type, Word value) {
  return is_float(type) ? fmt::format("{:.6g}", as_real(type, value))
                        : fmt::format("{}", as_int(type, value));
}

std::string element_text(const Cta& cta, const Element& element) {
  if (element.info != nullptr)
    return fmt::format("`{}{}`", element.info->ir->name,
                       index_text(element.info->shape, element.flat));
  if (!element.at.exists()) return "memory at no buffer";
  const Root& root = cta.launch.root(element.at.root);
  if (root.scope == ir::Scope::Tmem)
    return fmt::format("tensor memory at lane {}, column {}", element.at.bit / kTmemLaneBits,
                       element.at.bit % kTmemLaneBits / 32);
  const std::string name =
      root.buffer.valid() ? cta.f[root.buffer].name : cta.f[cta.f.params[root.param].var].name;
  return fmt::format("`{}` at byte {}", name, element.at.bit / 8);
}

Span span_of(const Cta& cta, std::uint32_t step) {
  const ir::StmtId stmt = cta.launch.steps[step].stmt;
  return stmt.valid() ? cta.f[stmt].span : Span{};
}

Finding* finding(Cta& cta, Check check, std::uint32_t buffer) {
  Finding* found = cta.run.findings.add(check, cta.step, buffer);
  if (found != nullptr) found->span = span_of(cta, cta.step);
  return found;
}

Finding* finding(Cta& cta, Check check, const Element& element) {
  if (element.info != nullptr) return finding(cta, check, element.info->id.index);
  if (!element.at.exists()) return finding(cta, check);
  return finding(cta, check, cta.launch.root(element.at.root).buffer.index);
}

void stop(Cta& cta, DiagKind kind, std::string text) {
  if (!cta.run.stop) cta.run.stop = Diag{kind, std::move(text), span_of(cta, cta.step), {}};
}

namespace {

// What the mbarrier lacks that a thread waits for.
void add_missing(Cta& cta, Thread t, Finding& found) {
  const auto wait = cta.mbarrier_waits.find(t);
  if (cta.status[t] != Status::AtMbarrier || wait == cta.mbarrier_waits.end()) return;
  const auto barrier = cta.mbarriers.find(wait->second);
  if (barrier == cta.mbarriers.end()) return;
  if (const std::string text = missing_text(barrier->second); !text.empty())
    found.text += fmt::format("; of the mbarrier at {} {}",
                              element_text(cta, element_at(wait->second, t)), text);
}

}  // namespace

void report_stuck(Cta& cta) {
  std::map<std::uint32_t, std::vector<Thread>> waiting;  // by step
  for (std::size_t t = 0; t < cta.thread_count(); ++t)
    if (cta.status[t] != Status::Exited) waiting[cta.pc[t]].push_back(static_cast<Thread>(t));
  for (const auto& [pc, threads] : waiting) {
    cta.step = pc;
    std::vector<Thread> elsewhere;
    for (const auto& [other, ts] : waiting)
      if (other != pc) elsewhere.insert(elsewhere.end(), ts.begin(), ts.end());
    std::sort(elsewhere.begin(), elsewhere.end());
    Finding* found = finding(cta, Check::Barrier);
    if (found == nullptr) continue;
    found->text = fmt::format("{} of {} wait here for ever", threads_text(threads), cta_text(cta));
    const std::size_t gone = cta.thread_count() - cta.alive;
    if (!elsewhere.empty())
      found->text += fmt::format(": {} wait elsewhere", threads_text(elsewhere));
    else if (gone != 0)
      found->text += fmt::format(": {} threads have ended", gone);
    add_missing(cta, threads.front(), *found);
    if (elsewhere.empty()) continue;
    const auto& [other_pc, others] =
        *(waiting.begin()->first == pc ? std::next(waiting.begin()) : waiting.begin());
    found->note = fmt::format("{} wait here", threads_text(others));
    found->note_span = span_of(cta, other_pc);
  }
}

void report_leftovers(Cta& cta) {
  for (const std::optional<AsyncCopy>& copy : cta.async.in_flight) {
    if (!copy) continue;
    cta.step = copy->step;
    describe(finding(cta, Check::Async), "the kernel ends before {} of {} has waited for this copy",
             copy->kind == AsyncKind::Tensor || copy->kind == AsyncKind::Counted
                 ? "anybody"
                 : agent_text(copy->agent),
             cta_text(cta));
  }
  for (const auto& [column, allocation] : cta.tmem.allocations) {
    cta.step = allocation.step;
    describe(finding(cta, Check::Tensor),
             "{} columns of tensor memory from column {} are never given back by {}",
             allocation.columns, column, cta_text(cta));
  }
}

// --- findings ------------------------------------------------------------------------------------

std::string_view name_of(Check check) {
  static constexpr std::string_view kNames[] = {"uninit", "race",    "bounds",  "overflow",
                                                "async",  "barrier", "replica", "operand",
                                                "tensor", "assert"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Check::Assert) + 1);
  return kNames[static_cast<std::size_t>(check)];
}

Finding* Findings::add(Check check, std::uint32_t step, std::uint32_t buffer) {
  const auto [entry, is_new] = known_.try_emplace(Key{check, step, buffer}, findings_.size());
  if (!is_new) {
    if (entry->second < findings_.size()) ++findings_[entry->second].times;
    return nullptr;
  }
  if (findings_.size() == most_) {
    entry->second = most_;
    ++dropped_;
    return nullptr;
  }
  findings_.emplace_back().check = check;
  return &findings_.back();
}

void Findings::move_to(Report& report) {
  report.findings = std::move(findings_);
  report.dropped = dropped_;
}

// --- limits --------------------------------------------------------------------------------------
//
// Instructions are counted as they are executed, so that a run ends at the same statement
// everywhere; time and memory are looked at now and then.

namespace {

constexpr std::uint64_t kInstructionElements = 16;    // that count as an instruction
constexpr std::uint64_t kInstructionProducts = 1024;  // the same for a matrix product
constexpr std::uint64_t kWatchEvery = 2048;           // instructions and turns between two looks

/// Steps [begin, end) that took most of a run's instructions.
struct Share {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t instructions = 0;
};

// The innermost loop that took more than half; where none did, the step that took most.
Share largest_share(const Run& run) {
  const std::span<const std::uint64_t> used = run.used;
  const std::span<const Step> steps = run.launch.steps.steps;
  const auto total = std::accumulate(used.begin(), used.end(), std::uint64_t{0});
  std::optional<Share> loop;
  Share step;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    if (used[s] > step.instructions) step = {s, s + 1, used[s]};
    if (steps[s].kind != StepKind::LoopTest && steps[s].kind != StepKind::While) continue;
    const auto inside = used.subspan(s, steps[s].target - s);
    const auto sum = std::accumulate(inside.begin(), inside.end(), std::uint64_t{0});
    if (sum > total / 2) loop = Share{s, steps[s].target, sum};  // a later one is further inside
  }
  return loop.value_or(step);
}

void stop_at(Cta& cta, std::string_view limit, std::string text) {
  if (cta.run.stop) return;
  stop(cta, DiagKind::RunLimit, std::move(text));
  const Share share = largest_share(cta.run);
  if (share.instructions != 0)
    cta.run.stop->notes.push_back(
        {fmt::format("{} of {} instructions so far were spent in this {}", share.instructions,
                     cta.run.instructions, share.end - share.begin > 1 ? "loop" : "statement"),
         span_of(cta, share.begin)});
  cta.run.stop->notes.push_back({fmt::format("`--limit {}` raises it", limit), {}});
}

bool watch(Cta& cta) {
  const double seconds = cta.run.options.limits.seconds;
  if (seconds > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - cta.run.start).count() >
          seconds) {
    stop_at(cta, "seconds=S", fmt::format("the limit of {} seconds is reached here", seconds));
    return false;
  }
  if (cta.run.options.keep_going && !cta.run.options.keep_going()) {
    stop(cta, DiagKind::RunLimit,
         fmt::format("the evaluation was ended after {} steps", cta.run.steps));
    return false;
  }
  return may_take(cta, 0);
}

bool add_instructions(Cta& cta, std::uint64_t count) {
  const std::uint64_t most = cta.run.options.limits.instructions;
  cta.run.instructions += count;
  cta.run.used[cta.step] += count;
  cta.run.watched += count;
  if (cta.run.instructions > most) {
    stop_at(cta, "instructions=N",
            fmt::format("the limit of {} instructions is reached here", most));
    return false;
  }
  if (cta.run.watched < kWatchEvery) return true;
  cta.run.watched = 0;
  return watch(cta);
}

std::uint64_t own_bytes(const Cta& cta) {
  std::uint64_t bytes = cta.async.bytes + cta.vars.values.size() * sizeof(cta.vars.values[0]) +
                        cta.async.in_flight.capacity() * sizeof(cta.async.in_flight[0]);
  for (const Storage& storage : cta.memory) bytes += storage.host_bytes();
  for (const auto& [key, barrier] : cta.barriers) bytes += barrier.arrived.size() * sizeof(Thread);
  return bytes;
}

}  // namespace

bool spend_step(Cta& cta, std::size_t threads) {
  cta.run.steps += threads;
  ++cta.run.watched;  // a turn takes time of its own, however few its threads
  const std::uint64_t operations = cta.launch.steps[cta.step].operations;
  return add_instructions(cta, (threads + kWarp - 1) / kWarp * operations);
}

bool spend_elements(Cta& cta, std::uint64_t elements) {
  return add_instructions(cta, (elements + kInstructionElements - 1) / kInstructionElements);
}

bool spend_products(Cta& cta, std::uint64_t products) {
  cta.run.products += products;
  const std::uint64_t count = cta.run.products / kInstructionProducts;
  cta.run.products %= kInstructionProducts;
  return count == 0 || add_instructions(cta, count);
}

bool may_take(Cta& cta, std::uint64_t bytes) {
  const std::uint64_t own = own_bytes(cta);
  cta.run.held += own - cta.held;
  cta.held = own;
  std::uint64_t all = cta.run.held + cta.run.printed.size() + bytes;
  for (const Storage& storage : cta.run.globals) all += storage.host_bytes();
  const std::uint64_t most = cta.run.options.limits.memory;
  if (all <= most) return true;
  const char* const what =
      cta.async.bytes > all / 2          ? ", most of it for asynchronous work without a wait"
      : cta.run.printed.size() > all / 2 ? ", most of it for what the kernel prints"
      : bytes > all / 2                  ? ", most of it for the operands of this statement"
                                         : "";
  stop_at(cta, "memory=BYTES",
          fmt::format("the limit of {} bytes of memory is reached here{}", most, what));
  return false;
}

}  // namespace ww::eval
