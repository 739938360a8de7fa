// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/access.h"

#include <algorithm>

#include "eval/cta/report.h"

namespace ww::eval {
namespace {

bool is_inside(const Cta& cta, Address at, int bits) {
  if (!at.exists() || at.bit < 0) return false;
  const std::size_t bytes = cta.launch.root(at.root).bytes;
  return at.bit + bits <= static_cast<std::int64_t>(bytes * 8) && at.bit % std::min(bits, 8) == 0;
}

// Races are looked for in whole bytes of shared and global memory.
bool is_tracked(const Cta& cta, const Element& element, int bits) {
  const ir::Scope scope = cta.launch.root(element.at.root).scope;
  return bits >= 8 && (scope == ir::Scope::Global || ir::is_shared(scope));
}

}  // namespace

Cta* home_of(Cta& cta, Address at) {
  if (at.rank == kOwnCta) return &cta;
  Cta& home = (*cta.cluster)[static_cast<std::size_t>(at.rank)];
  if (home.alive != 0) return &home;
  if (Finding* found = finding(cta, Check::Race); found != nullptr)
    found->text = fmt::format("{} reaches into the shared memory of {}, which has ended",
                              cta_text(cta), cta_text(home));
  return nullptr;
}

Storage& storage_of(Cta& cta, std::int32_t root) {
  const auto index = static_cast<std::size_t>(root);
  return cta.launch.roots[index].scope == ir::Scope::Global ? cta.run.globals[index]
                                                            : cta.memory[index];
}

Storage& storage_of(Cta& cta, const Element& element) {
  const std::int32_t rank = element.at.rank;
  return storage_of(rank == kOwnCta ? cta : (*cta.cluster)[static_cast<std::size_t>(rank)],
                    element.at.root);
}

std::int64_t bit_of(const Cta& cta, const Element& element) {
  const Root& root = cta.launch.root(element.at.root);
  if (root.scope != ir::Scope::Local) return element.at.bit;
  return element.at.bit + static_cast<std::int64_t>(element.owner * root.bytes * 8);
}

Access access_of(const Cta& cta, Agent agent, bool is_atomic) {
  return {.agent = agent,
          .is_atomic = is_atomic,
          .cta = cta.number,
          .time = cta.order.now(),
          .step = cta.step};
}

Access access_of(const Cta& cta, Thread t, bool is_atomic) {
  return access_of(cta, thread_agent(t), is_atomic);
}

bool is_reachable(Cta& cta, const Element& element, int bits) {
  const std::int64_t bit = element.at.bit;
  if (!is_inside(cta, element.at, bits)) {
    if (Finding* found = finding(cta, Check::Bounds, element); found != nullptr)
      found->text =
          fmt::format("the place of {} in {} of {} is not in any memory",
                      element_text(cta, element), thread_text(element.owner), cta_text(cta));
    return false;
  }
  if (home_of(cta, element.at) == nullptr) return false;
  const auto column = static_cast<std::size_t>(bit % kTmemLaneBits / 32);
  if (cta.launch.root(element.at.root).scope != ir::Scope::Tmem || cta.tmem.is_used[column])
    return true;
  if (Finding* found = finding(cta, Check::Tensor, element); found != nullptr)
    found->text = fmt::format("{} is used by {} in column {}, which is not allocated",
                              element_text(cta, element), cta_text(cta), column);
  return false;
}

void report_undefined(Cta& cta, const Element& element, Agent agent) {
  if (Finding* found = finding(cta, Check::Uninit, element); found != nullptr)
    found->text = fmt::format("{} is used by {} of {}, and nothing has written it",
                              element_text(cta, element), agent_text(agent), cta_text(cta));
}

void report_race(Cta& cta, const Element& element, const Conflict& conflict, const Access& by,
                 bool is_write) {
  Finding* found = finding(cta, Check::Race, element);
  if (found == nullptr) return;
  const std::string_view before = conflict.earlier_wrote ? "written" : "read";
  const bool is_other = conflict.earlier.cta != cta.number;
  const std::string who =
      is_other ? std::string("another CTA") : agent_text(conflict.earlier.agent);
  found->text = fmt::format("{} is {} by {} of {} and {} by {}, and nothing orders them",
                            element_text(cta, element), is_write ? "written" : "read",
                            agent_text(by.agent), cta_text(cta), before, who);
  found->note = fmt::format("{} here by {}", before, who);
  found->note_span = span_of(cta, conflict.earlier.step);
}

std::string_view work_on(Cta& cta, const Element& element, int bits) {
  const auto is_there = [&](const Element& other, int other_bits) {
    if (other.at.root != element.at.root || &storage_of(cta, other) != &storage_of(cta, element))
      return false;
    const std::int64_t mine = bit_of(cta, element), theirs = bit_of(cta, other);
    return mine < theirs + other_bits && theirs < mine + bits;
  };
  for (const std::optional<AsyncCopy>& copy : cta.async.in_flight) {
    if (!copy || copy->kind != AsyncKind::Product) continue;
    for (const Transfer& transfer : copy->transfers)
      if (is_there(transfer.to, transfer.bits)) return "product";
    for (const auto& [source, source_bits] : copy->sources)
      if (is_there(source, source_bits)) return "product";
  }
  return "copy";
}

Content read(Cta& cta, const Element& element, int bits, const Access& by) {
  if (!is_reachable(cta, element, bits)) return {};
  Storage& storage = storage_of(cta, element);
  const std::int64_t bit = bit_of(cta, element);
  const bool is_target = storage.is_target(bit, bits);
  if (is_target) {
    if (Finding* found = finding(cta, Check::Async, element); found != nullptr)
      found->text = fmt::format("{} is read by {} of {} while a {} into it is under way",
                                element_text(cta, element), agent_text(by.agent), cta_text(cta),
                                work_on(cta, element, bits));
  }
  if (is_tracked(cta, element, bits))
    if (const auto conflict = cta.races.read(storage, bit, bits, by); conflict && !is_target)
      report_race(cta, element, *conflict, by, false);
  return {storage.value(bit, bits), storage.undefined(bit, bits)};
}

Word read_defined(Cta& cta, const Element& element, int bits, const Access& by) {
  const Content content = read(cta, element, bits, by);
  if (content.undefined != 0) report_undefined(cta, element, by.agent);
  return content.value;
}

void write(Cta& cta, const Element& element, int bits, Content content, const Access& by) {
  if (!is_reachable(cta, element, bits)) return;
  Storage& storage = storage_of(cta, element);
  const std::int64_t bit = bit_of(cta, element);
  const bool is_target = storage.is_target(bit, bits);
  if (is_target || storage.is_source(bit, bits)) {
    if (Finding* found = finding(cta, Check::Async, element); found != nullptr)
      found->text = fmt::format("{} is written by {} of {} while a {} {} it is under way",
                                element_text(cta, element), agent_text(by.agent), cta_text(cta),
                                work_on(cta, element, bits), is_target ? "into" : "from");
  }
  const auto conflict = put(cta, element, bits, content, by);
  if (conflict && !is_target) report_race(cta, element, *conflict, by, true);
}

std::optional<Conflict> put(Cta& cta, const Element& element, int bits, Content content,
                            const Access& by) {
  const auto conflict = note_write(cta, element, bits, by);
  storage_of(cta, element).put(bit_of(cta, element), bits, content.value, content.undefined);
  return conflict;
}

std::optional<Conflict> note_write(Cta& cta, const Element& element, int bits, const Access& by) {
  if (!is_tracked(cta, element, bits)) return {};
  return cta.races.write(storage_of(cta, element), bit_of(cta, element), bits, by);
}

}  // namespace ww::eval
