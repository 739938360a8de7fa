// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/access.h"

#include <algorithm>

#include "eval/cta/report.h"

namespace ww::eval {
namespace {

inline bool is_inside(const Root& root, std::int64_t bit, int bits) {
  const int unit = std::min(bits, 8);  // a power of two, as all sizes are
  return bit >= 0 && bit + bits <= static_cast<std::int64_t>(root.bytes * 8) &&
         (bit & (unit - 1)) == 0;
}

// Races are looked for in whole bytes of shared and global memory.
inline bool is_tracked(const Root& root, int bits) {
  return bits >= 8 && (root.scope == ir::Scope::Global || ir::is_shared(root.scope));
}

// Messages are apart, for `reach`, `read` and `write` to be short: they run for every element.
[[gnu::noinline]] Place nowhere(Cta& cta, const Element& element) {
  if (Finding* found = finding(cta, Check::Bounds, element); found != nullptr)
    found->text =
        fmt::format("the place of {} in {} of {} is not in any memory", element_text(cta, element),
                    thread_text(element.owner), cta_text(cta));
  return {};
}

[[gnu::noinline]] Place not_allocated(Cta& cta, const Element& element, std::size_t column) {
  if (Finding* found = finding(cta, Check::Tensor, element); found != nullptr)
    found->text = fmt::format("{} is used by {} in column {}, which is not allocated",
                              element_text(cta, element), cta_text(cta), column);
  return {};
}

// The access that a write races with, if any.
inline std::optional<Conflict> note_write(Cta& cta, const Place& place, int bits,
                                          const Access& by) {
  if (!place.is_tracked) return {};
  return cta.races.write(*place.storage, place.bit, bits, by);
}

// Of an element that was reachable when something was started there.
inline Place known_place(Cta& cta, const Element& element, int bits) {
  return {&storage_of(cta, element), bit_of(cta, element),
          is_tracked(cta.launch.root(element.at.root), bits)};
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

Place reach(Cta& cta, const Element& element, int bits) {
  const Address& at = element.at;
  if (!at.exists()) return nowhere(cta, element);
  const Root& root = cta.launch.root(at.root);
  if (!is_inside(root, at.bit, bits)) return nowhere(cta, element);
  Cta* const home = at.rank == kOwnCta ? &cta : home_of(cta, at);
  if (home == nullptr) return {};
  if (root.scope == ir::Scope::Tmem) {
    const auto column = static_cast<std::size_t>(at.bit % kTmemLaneBits / 32);
    if (!cta.tmem.is_used[column]) return not_allocated(cta, element, column);
  }
  return {&storage_of(*home, at.root), bit_of(cta, element), is_tracked(root, bits)};
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

namespace {

// An access by `by` to what asynchronous work has yet to read or write.
[[gnu::noinline]] void report_under_way(Cta& cta, const Element& element, int bits,
                                        const Access& by, std::string_view access,
                                        std::string_view direction) {
  if (Finding* found = finding(cta, Check::Async, element); found != nullptr)
    found->text = fmt::format("{} is {} by {} of {} while a {} {} it is under way",
                              element_text(cta, element), access, agent_text(by.agent),
                              cta_text(cta), work_on(cta, element, bits), direction);
}

}  // namespace

Content read(Cta& cta, const Element& element, int bits, const Access& by) {
  const auto [storage, bit, is_tracked] = reach(cta, element, bits);
  if (storage == nullptr) return {};
  const bool is_target = storage->is_target(bit, bits);
  if (is_target) report_under_way(cta, element, bits, by, "read", "into");
  if (is_tracked)
    if (const auto conflict = cta.races.read(*storage, bit, bits, by); conflict && !is_target)
      report_race(cta, element, *conflict, by, false);
  return {storage->value(bit, bits), storage->undefined(bit, bits)};
}

Word read_defined(Cta& cta, const Element& element, int bits, const Access& by) {
  const Content content = read(cta, element, bits, by);
  if (content.undefined != 0) report_undefined(cta, element, by.agent);
  return content.value;
}

void write(Cta& cta, const Element& element, int bits, Content content, const Access& by) {
  const Place place = reach(cta, element, bits);
  if (place.storage == nullptr) return;
  const bool is_target = place.storage->is_target(place.bit, bits);
  if (is_target || place.storage->is_source(place.bit, bits))
    report_under_way(cta, element, bits, by, "written", is_target ? "into" : "from");
  const auto conflict = note_write(cta, place, bits, by);
  place.storage->put(place.bit, bits, content.value, content.undefined);
  if (conflict && !is_target) report_race(cta, element, *conflict, by, true);
}

std::optional<Conflict> put(Cta& cta, const Element& element, int bits, Content content,
                            const Access& by) {
  const Place place = known_place(cta, element, bits);
  const auto conflict = note_write(cta, place, bits, by);
  place.storage->put(place.bit, bits, content.value, content.undefined);
  return conflict;
}

std::optional<Conflict> note_write(Cta& cta, const Element& element, int bits, const Access& by) {
  return note_write(cta, known_place(cta, element, bits), bits, by);
}

}  // namespace ww::eval
