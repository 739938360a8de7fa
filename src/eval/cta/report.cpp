// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/report.h"

#include "base/join.h"
#include "eval/sync/mbarriers.h"

#include <algorithm>

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
    if (Finding* found = finding(cta, Check::Async); found != nullptr)
      found->text = fmt::format("the kernel ends before {} of {} has waited for this copy",
                                copy->kind == AsyncKind::Tensor || copy->kind == AsyncKind::Counted
                                    ? "anybody"
                                    : agent_text(copy->agent),
                                cta_text(cta));
  }
  for (const auto& [column, allocation] : cta.tmem.allocations) {
    cta.step = allocation.step;
    if (Finding* found = finding(cta, Check::Tensor); found != nullptr)
      found->text =
          fmt::format("{} columns of tensor memory from column {} are never given back by {}",
                      allocation.columns, column, cta_text(cta));
  }
}

}  // namespace ww::eval
