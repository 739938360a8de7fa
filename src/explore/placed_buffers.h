// SPDX-License-Identifier: Apache-2.0
// The buffers of a kernel as a run placed them: which buffer has an address, and which of its elements is
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/run/tool.h"
#include "explore/request.h"

namespace ww::explore {

/// Where a buffer lies, and the element at each place of it.
struct PlacedBuffer {
  std::string name;
  bool is_shared = false;
  std::uint64_t begin = 0, bytes = 0;
  unsigned element_bits = 8;
  bool is_numbered = true;                  // its layout says which element is where
  std::vector<std::int64_t> elements = {};  // by place; empty: in their order
};

/// Shared buffers and array arguments; shared addresses are offsets in a CTA.
std::vector<PlacedBuffer> placed_buffers(const ir::Function& f, const driver::RunCapture& capture);
/// Several names may stand for the same bytes: those of the primitive at that place come first.
void put_operands_first(const driver::Build& build, std::uint64_t line, std::uint64_t column,
                        std::vector<PlacedBuffer>& buffers);
/// The first buffer with that address, or nullptr.
const PlacedBuffer* find_buffer(const std::vector<PlacedBuffer>& buffers, bool is_shared,
                                std::uint64_t address);
/// The smallest: a buffer rather than the pool that it is a part of.
const PlacedBuffer* find_smallest_buffer(const std::vector<PlacedBuffer>& buffers, bool is_shared,
                                         std::uint64_t address);
/// The number of the element at a place, row by row; none: padding, or it is not known.
std::optional<std::int64_t> element_at(const PlacedBuffer& buffer, std::uint64_t place);

}  // namespace ww::explore
