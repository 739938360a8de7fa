// SPDX-License-Identifier: Apache-2.0
// Reading and writing elements, with every check.
#pragma once

#include <optional>
#include <string_view>

#include "eval/cta/cta.h"

namespace ww::eval {

/// An access that is made now.
inline Access access_of(const Cta& cta, Agent agent, bool is_atomic = false) {
  return {.agent = agent,
          .is_atomic = is_atomic,
          .cta = cta.number,
          .time = cta.order.now(),
          .step = cta.step};
}
inline Access access_of(const Cta& cta, Thread t, bool is_atomic = false) {
  return access_of(cta, thread_agent(t), is_atomic);
}

/// The CTA whose shared memory an address is in; a finding, and null, when that has ended.
Cta* home_of(Cta& cta, Address at);

inline Storage& storage_of(Cta& cta, std::int32_t root) {
  const auto index = static_cast<std::size_t>(root);
  const bool is_global = cta.launch.roots[index].scope == ir::Scope::Global;
  return is_global ? cta.run.globals[index] : cta.memory[index];
}
inline Storage& storage_of(Cta& cta, const Element& element) {
  const std::int32_t rank = element.at.rank;
  return storage_of(rank == kOwnCta ? cta : (*cta.cluster)[static_cast<std::size_t>(rank)],
                    element.at.root);
}
/// The element's first bit in its storage.
inline std::int64_t bit_of(const Cta& cta, const Element& element) {
  const Root& root = cta.launch.root(element.at.root);
  if (root.scope != ir::Scope::Local) return element.at.bit;
  return element.at.bit + static_cast<std::int64_t>(element.owner * root.bytes * 8);
}

/// The bits of an element in the memory that holds them.
struct Place {
  Storage* storage = nullptr;  // none: it must not be used
  std::int64_t bit = 0;
  bool is_tracked = false;  // races are looked for
};
/// Where an element is; nowhere, and a finding, when it is not in memory that may be used.
Place reach(Cta& cta, const Element& element, int bits);

/// Is it in memory that may be used? A finding when it is not.
inline bool is_reachable(Cta& cta, const Element& element, int bits) {
  return reach(cta, element, bits).storage != nullptr;
}
/// Nothing, and a finding, when it is not reachable.
Content read(Cta& cta, const Element& element, int bits, const Access& by);
/// The bits; a finding when nothing has written them.
Word read_defined(Cta& cta, const Element& element, int bits, const Access& by);
void write(Cta& cta, const Element& element, int bits, Content content, const Access& by);

/// Writes without a look at copies in flight; the access it races with, if any.
std::optional<Conflict> put(Cta& cta, const Element& element, int bits, Content content,
                            const Access& by);
/// The same, but only the history of the place changes.
std::optional<Conflict> note_write(Cta& cta, const Element& element, int bits, const Access& by);

/// The asynchronous work that has the element as a target or a source: "copy" or "product".
std::string_view work_on(Cta& cta, const Element& element, int bits);

void report_undefined(Cta& cta, const Element& element, Agent agent);
void report_race(Cta& cta, const Element& element, const Conflict& conflict, const Access& by,
                 bool is_write);

}  // namespace ww::eval
