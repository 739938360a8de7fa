// SPDX-License-Identifier: Apache-2.0
// For tests of tensor memory: kernels of four warps that own 64 columns of it. Cell (lane, column)
// holds 0xA5000000 + 256 * lane + column where a test says so.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ops/test_async.h"

namespace ww::sim {

constexpr Grid kFour{.threads = 128, .target = "sm_100a"};
constexpr Grid kOne{.threads = 32, .target = "sm_100a"};

inline std::uint32_t cell(std::uint32_t lane, std::uint32_t column) {
  return 0xA5000000U + 256 * lane + column;
}

// %p1: warp 0; %r20: address of the columns; %r22: the same in the lanes of the warp.
inline std::string allocated(unsigned columns = 64) {
  return "setp.lt.u32 %p1, %r1, 32; @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
         "[cells], " +
         std::to_string(columns) +
         "; bar.sync 0; ld.shared.u32 %r20, [cells];"
         "and.b32 %r21, %r1, 96; shl.b32 %r21, %r21, 16; add.u32 %r22, %r20, %r21;\n";
}
inline std::string freed(unsigned columns = 64) {
  return "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, " +
         std::to_string(columns) + ";\n";
}

inline std::string registers(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += (i == 0 ? "%r" : ", %r") + std::to_string(first + i);
  }
  return text + "}";
}

// Every cell of the 64 columns gets its number.
inline std::string numbered() {
  std::string text = "shl.b32 %r23, %r1, 8; or.b32 %r23, %r23, 0xA5000000;";
  for (unsigned c = 0; c < 64; ++c) {
    text += "or.b32 %r" + std::to_string(100 + c) + ", %r23, " + std::to_string(c) + ";";
  }
  return text + "tcgen05.st.sync.aligned.32x32b.x64.b32 [%r22], " + registers(100, 64) + ";\n";
}
inline const std::string kStored = "tcgen05.wait::st.sync.aligned;\n";

// Word r of thread t of the output is register %r(40 + r).
inline std::string shown(unsigned count = 8) {
  std::string text = "mul.wide.u32 %d3, %r1, 32; add.u64 %d3, %d3, %a1;";
  for (unsigned r = 0; r < count; ++r) {
    text += "st.global.u32 [%d3+" + std::to_string(4 * r) + "], %r" + std::to_string(40 + r) + ";";
  }
  return text + "\n";
}
inline const std::string kLoaded = "tcgen05.wait::ld.sync.aligned;\n";
inline const std::string kBarrier =
    "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;";

}  // namespace ww::sim
