// SPDX-License-Identifier: Apache-2.0
// Where the layout of a buffer puts its elements, enumerated once for all trials and all calls of a
// kernel. A proof makes many trials on the same few buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "layout/layout.h"
#include "lower/call.h"

namespace ww::lower {

/// The elements of a buffer with an explicit layout. Entry `copy * size + element` of `at` and
/// `keys` is for one copy of a replicated element.
struct LayoutPlaces {
  layout::Layout layout;
  std::int64_t size = 0;
  std::int64_t copies = 1;
  std::vector<std::int64_t> at;    // in memory, or in a thread's registers, or in a lane
  std::vector<std::int64_t> keys;  // the lane, or what the thread axes of a holder add up to
  std::vector<layout::Axis> axes;  // thread axes that make up the keys of registers
};

/// `layout` is the buffer's.
std::shared_ptr<const LayoutPlaces> layout_places(const Call& call, ir::BufferId buffer,
                                                  const layout::Layout& layout);

/// Threads of a unit by key: which of them hold an element with that key.
class KeyHolders {
 public:
  KeyHolders(const Call& call, const LayoutPlaces& places, std::int64_t first_thread,
             std::size_t threads);
  [[nodiscard]] std::span<const std::size_t> of(std::int64_t key) const {
    const auto at = static_cast<std::size_t>(key);
    const std::uint32_t begin = starts_.at(at), end = starts_.at(at + 1);
    return std::span(threads_).subspan(begin, end - begin);
  }

 private:
  std::vector<std::uint32_t> starts_;  // by key
  std::vector<std::size_t> threads_;
};

}  // namespace ww::lower
