// SPDX-License-Identifier: Apache-2.0
// Reading and writing elements, with every check.
#pragma once

#include <optional>
#include <string_view>

#include "eval/cta/cta.h"

namespace ww::eval {

/// An access that is made now.
Access access_of(const Cta& cta, Agent agent, bool is_atomic = false);
Access access_of(const Cta& cta, Thread t, bool is_atomic = false);

/// The CTA whose shared memory an address is in; a finding, and null, when that has ended.
Cta* home_of(Cta& cta, Address at);

Storage& storage_of(Cta& cta, std::int32_t root);
Storage& storage_of(Cta& cta, const Element& element);
/// The element's first bit in its storage.
std::int64_t bit_of(const Cta& cta, const Element& element);

/// Is it in memory that may be used? A finding when it is not.
bool is_reachable(Cta& cta, const Element& element, int bits);
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
