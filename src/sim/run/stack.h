// SPDX-License-Identifier: Apache-2.0
// The registers and the local memory of all functions that a warp is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "sim/memory/memory.h"
#include "sim/op.h"

namespace ww::sim {

/// A call that has not returned: same caller and call give the same node.
struct CallNode {
  std::uint32_t caller = 0;            // node of the calling function
  std::uint32_t op = 0;                // the call
  std::uint32_t frame = 0, local = 0;  // of the caller
  friend bool operator==(const CallNode&, const CallNode&) = default;
};

struct Stack {
  static constexpr std::size_t kFrameAlign = 64;
  struct FrameFree {
    void operator()(std::byte* bytes) const {
      ::operator delete (bytes, std::align_val_t{kFrameAlign});
    }
  };
  std::unique_ptr<std::byte[], FrameFree> frames;
  std::unique_ptr<std::uint8_t[]> undefined;  // of the frames; null: not tracked
  /// A note for each kSuspectBytes of `undefined`: 0 if they begin the bytes of a register that are
  /// all 0. What writes `undefined` sets it; what finds them 0 may clear it.
  std::unique_ptr<std::uint8_t[]> suspect;
  std::uint64_t frames_size = 0;
  Region local{};  // of all lanes
  std::vector<std::byte> local_data;
  std::vector<std::uint8_t> local_undefined;
  std::vector<CallNode> calls;
  std::uint64_t most_frame = 0, most_local = 0;  // that calls have needed so far

  /// Empty, with room for a function of that size.
  void start(std::uint64_t frame_bytes, std::uint64_t local_bytes, bool tracks);
  void grow_frame(std::uint64_t bytes, bool tracks);
  void grow_local(std::uint64_t bytes, bool tracks);
  [[nodiscard]] std::uint8_t* undefined_at(std::uint64_t offset) const {
    return undefined != nullptr ? undefined.get() + offset : nullptr;
  }
  [[nodiscard]] std::uint8_t* suspect_at(std::uint64_t offset) const {
    return suspect != nullptr ? suspect.get() + offset / kSuspectBytes : nullptr;
  }
  /// Registers and local memory that calls have needed, if there were any.
  [[nodiscard]] std::uint64_t bytes() const;
};

}  // namespace ww::sim
