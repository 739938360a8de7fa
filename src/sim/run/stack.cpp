// SPDX-License-Identifier: Apache-2.0
#include "sim/run/stack.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/lanes.h"

namespace ww::sim {

void Stack::start(std::uint64_t frame_bytes, std::uint64_t local_bytes, bool tracks) {
  calls.assign(1, CallNode{});
  grow_frame(frame_bytes, tracks);
  if (undefined != nullptr) {
    std::memset(undefined.get(), 0xFF, frame_bytes);
    std::memset(suspect.get(), 1, frame_bytes / kSuspectBytes);
  }
  grow_local(local_bytes, tracks);
  std::fill(local_undefined.begin(), local_undefined.end(), 0xFF);
  most_frame = most_local = 0;
}

void Stack::grow_frame(std::uint64_t bytes, bool tracks) {
  if (bytes <= frames_size && frames != nullptr) return;
  const std::uint64_t size = std::max<std::uint64_t>({bytes, frames_size * 2, 1024});
  auto bigger = std::unique_ptr<std::byte[], FrameFree>(
      static_cast<std::byte*>(::operator new (size, std::align_val_t{kFrameAlign})));
  std::memset(bigger.get(), 0, size);
  if (frames != nullptr) std::memcpy(bigger.get(), frames.get(), frames_size);
  frames = std::move(bigger);
  if (tracks) {
    auto shadow = std::make_unique<std::uint8_t[]>(size);
    std::memset(shadow.get(), 0xFF, size);
    if (undefined != nullptr) std::memcpy(shadow.get(), undefined.get(), frames_size);
    undefined = std::move(shadow);
    suspect = std::make_unique<std::uint8_t[]>(size / kSuspectBytes + 1);
    std::memset(suspect.get(), 1, size / kSuspectBytes + 1);
  }
  frames_size = size;
}

void Stack::grow_local(std::uint64_t bytes, bool tracks) {
  if (bytes <= local.lane_stride) {
    local.size = std::max(local.size, bytes);
    return;
  }
  const std::uint64_t stride = round_up(std::max(bytes, local.lane_stride * 2), 16);
  std::vector<std::byte> data(stride * kLanes);
  std::vector<std::uint8_t> undefined_bytes(tracks ? stride * kLanes : 0, 0xFF);
  for (unsigned l = 0; l < kLanes && local.lane_stride != 0; ++l) {
    const std::uint64_t from = l * local.lane_stride;
    std::memcpy(&data[l * stride], &local_data[from], local.lane_stride);
    if (undefined_bytes.empty()) continue;
    std::memcpy(&undefined_bytes[l * stride], &local_undefined[from], local.lane_stride);
  }
  local_data = std::move(data);
  local_undefined = std::move(undefined_bytes);
  local = {.base = kLocalWindow,
           .size = bytes,
           .data = local_data.data(),
           .undefined = local_undefined.empty() ? nullptr : local_undefined.data(),
           .lane_stride = stride,
           .space = Space::Local,
           .name = "local memory"};
}

std::uint64_t Stack::bytes() const {
  const std::uint64_t copies = undefined != nullptr ? 2 : 1;
  return copies * (most_frame + most_local * kLanes) + calls.size() * sizeof(CallNode);
}

}  // namespace ww::sim
