// SPDX-License-Identifier: Apache-2.0
// From pointers, buffers and indices to addresses.
#pragma once

#include <span>
#include <vector>

#include "eval/cta/cta.h"

namespace ww::eval {

/// The pointer to the byte of an address; 0 for none.
Word pointer_to(Address at);
/// The number of a CTA within its cluster.
std::int32_t rank_of(const Cta& cta);
/// The same place in the shared memory of another CTA of the cluster, by its number; a finding, and no
/// address, when there is no such CTA.
Address address_in(Cta& cta, Address at, std::int64_t rank);
/// Of an address of the shared window.
Word window_address_in(Cta& cta, Word address, std::int64_t rank);
/// Where a pointer points to; no address when it names no memory.
Address pointee(const Cta& cta, Word pointer);
/// Where an address of the shared window is.
Address shared_address(const Cta& cta, std::uint32_t address);
/// The same for a value of a type: 32 bits are in the shared window, others are a pointer.
Address address_from(const Cta& cta, ir::Type type, Word value);

/// Where the buffer begins in each thread.
std::vector<Address> bases_of(Cta& cta, const BufferInfo& info, Threads ts);
/// The elements that indices name, `lanes` of them for each thread, lane by lane. One that leaves
/// the buffer is a finding, and is at no address.
std::vector<Element> locate(Cta& cta, const BufferInfo& info, std::span<const ir::ExprId> indices,
                            int lanes, Threads ts);

}  // namespace ww::eval
