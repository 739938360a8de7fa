// SPDX-License-Identifier: Apache-2.0
// How findings name threads, CTAs and elements, and what a CTA says when it cannot go on.
#include <fmt/ranges.h>

#include <algorithm>

#include "eval/cta.h"

namespace ww::eval {

std::string Cta::cta_text() const { return fmt::format("CTA ({})", fmt::join(at_, ",")); }

std::string Cta::thread_text(Thread t) const { return fmt::format("thread {}", t); }

std::string Cta::agent_text(Agent agent) const {
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

std::string Cta::unit_text(const UnitInstance& unit) const {
  if (unit.agent.kind == AgentKind::Cta) return cta_text();
  return fmt::format("{} of {}", agent_text(unit.agent), cta_text());
}

std::string Cta::value_text(num::DType type, Word value) {
  return is_float(type) ? fmt::format("{:.6g}", as_real(type, value))
                        : fmt::format("{}", as_int(type, value));
}

std::string Cta::element_text(const Element& element) const {
  if (element.info != nullptr)
    return fmt::format(
        "`{}{}`", element.info->ir->name,
        index_text(std::span<const std::int64_t>(element.info->shape), element.flat));
  if (element.place.root == kNoRoot) return "memory at no buffer";
  const Root& root = k_.roots[static_cast<std::size_t>(element.place.root)];
  if (root.scope == ir::Scope::Tmem)
    return fmt::format("tensor memory at lane {}, column {}", element.place.bit / kTmemLaneBits,
                       element.place.bit % kTmemLaneBits / 32);
  const std::string name =
      root.buffer.valid() ? (*f_)[root.buffer].name : (*f_)[f_->params[root.param].var].name;
  return fmt::format("`{}` at byte {}", name, element.place.bit / 8);
}

std::string Cta::threads_text(Threads ts) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ts.size();) {
    std::size_t j = i;
    while (j + 1 < ts.size() && ts[j + 1] == ts[j] + 1) ++j;
    parts.push_back(i == j ? fmt::format("{}", ts[i]) : fmt::format("{}-{}", ts[i], ts[j]));
    i = j + 1;
  }
  constexpr std::size_t kMost = 6;
  const bool is_long = parts.size() > kMost;
  if (is_long) parts.resize(kMost);
  return fmt::format("{}{}{}", ts.size() == 1 ? "thread " : "threads ", fmt::join(parts, ", "),
                     is_long ? fmt::format(", … ({} in all)", ts.size()) : "");
}

Span Cta::span_of(std::uint32_t op) const {
  const ir::StmtId stmt = k_.program.ops[op].stmt;
  return stmt.valid() ? (*f_)[stmt].span : Span{};
}

Finding* Cta::finding(Check check, std::uint32_t buffer) {
  Finding* found = run_.findings.add(check, op_, buffer);
  if (found != nullptr) found->span = span_of(op_);
  return found;
}

Finding* Cta::finding(Check check, const Element& element) {
  if (element.info != nullptr) return finding(check, element.info->id.index);
  if (element.place.root == kNoRoot) return finding(check);
  return finding(check, k_.roots[static_cast<std::size_t>(element.place.root)].buffer.index);
}

void Cta::report_stuck() {
  std::map<std::uint32_t, std::vector<Thread>> waiting;  // by operation
  for (std::size_t t = 0; t < thread_count(); ++t)
    if (status_[t] != Status::Exited) waiting[pcs_[t]].push_back(static_cast<Thread>(t));
  for (const auto& [pc, threads] : waiting) {
    op_ = pc;
    std::vector<Thread> elsewhere;
    for (const auto& [other, ts] : waiting)
      if (other != pc) elsewhere.insert(elsewhere.end(), ts.begin(), ts.end());
    std::sort(elsewhere.begin(), elsewhere.end());
    Finding* found = finding(Check::Barrier);
    if (found == nullptr) continue;
    found->text = fmt::format("{} of {} wait here for ever", threads_text(threads), cta_text());
    const std::size_t gone = thread_count() - alive_;
    if (!elsewhere.empty())
      found->text += fmt::format(": {} wait elsewhere", threads_text(elsewhere));
    else if (gone != 0)
      found->text += fmt::format(": {} threads have ended", gone);
    if (!elsewhere.empty()) {
      found->note =
          fmt::format("{} wait here",
                      threads_text(waiting.begin()->first == pc ? std::next(waiting.begin())->second
                                                                : waiting.begin()->second));
      found->note_span = span_of(waiting.begin()->first == pc ? std::next(waiting.begin())->first
                                                              : waiting.begin()->first);
    }
  }
}

void Cta::report_leftovers() {
  for (const std::optional<Copy>& copy : copies_) {
    if (!copy) continue;
    op_ = copy->op;
    if (Finding* found = finding(Check::Async); found != nullptr)
      found->text = fmt::format(
          "the kernel ends before {} of {} has waited for this copy",
          copy->kind == AsyncKind::Tensor ? "anybody" : agent_text(copy->agent), cta_text());
  }
  for (const auto& [column, columns_and_op] : tmem_allocations_) {
    op_ = columns_and_op.second;
    if (Finding* found = finding(Check::Tensor); found != nullptr)
      found->text =
          fmt::format("{} columns of tensor memory from column {} are never given back by {}",
                      columns_and_op.first, column, cta_text());
  }
}

}  // namespace ww::eval
