// SPDX-License-Identifier: Apache-2.0
// Fences that are missing although a barrier orders the two accesses:
//
//   - Memory is written by ordinary instructions (the generic proxy) and read or overwritten by
//     bulk copies, tcgen05.cp or matrix products (the async proxy): `fence.proxy.async` must come
//     between the two, by the writer before the barrier or by the thread after it. Not needed the
//     other way: a thread that waits for the end of an asynchronous operation sees what it wrote.
//   - Shared memory is read by an ordinary load, no instruction needs the value, and a bulk copy refills
//     it behind the barrier: the load may still be under way. The reader fences before the barrier. A
//     load has ended when an instruction of its warp needs or replaces the value.
//   - Copies read tensor maps through a separate proxy. A map that the kernel has written needs
//     `fence.proxy.tensormap::generic.release` by the writer (tensormap.cp_fenceproxy has it) and
//     `.acquire` of its 128 bytes by the CTA that uses it.
//   - One warp works on cells of tensor memory that another one worked on before:
//     `tcgen05.fence::before_thread_sync` before the barrier and `::after_thread_sync` behind it.
//     Of what tcgen05.commit announces, only the second one, in the same warp, too.
//
// Accesses with nothing at all to order them are races, and not looked at here. A tracker exists
// only for programs that have such instructions; it keeps the last write of each word and the last
// use of each cell. What travels with barriers is kept by Order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/checks/page_table.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/memory/tensor_memory.h"
#include "sim/order/order.h"

namespace ww::sim {

class Warp;

/// What a cell of tensor memory is used for. By the tensor core: Copy, a write (tcgen05.cp, shift, D of
/// tcgen05.mma), and Fetch, a read (its A and scales).
enum class TensorUse : std::uint8_t { Load, Store, Copy, Fetch };
constexpr bool is_by_tensor_core(TensorUse use) {
  return use == TensorUse::Copy || use == TensorUse::Fetch;
}
constexpr bool is_read(TensorUse use) { return use == TensorUse::Load || use == TensorUse::Fetch; }

class FenceTracker {
 public:
  /// `has_async_proxy`: the program uses it; else memory but for tensor memory is not looked at.
  FenceTracker(const Order& order, bool has_async_proxy)
      : order_(order), has_async_proxy_(has_async_proxy) {}
  void reset();

  /// The lanes have written these bytes through the generic proxy.
  void wrote(const Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
             unsigned bytes);
  /// The lanes read these bytes through the generic proxy.
  void read(const Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
            unsigned bytes);
  /// The running op of the warp does not start before loads that may end late have ended.
  void settled(const Warp& warp);
  /// The lanes have fenced shared memory for the async proxy, so that their loads have ended.
  void fenced(const Warp& warp, Mask lanes);
  /// The bytes were written in some other way.
  void forget(const Region& region, const std::uint64_t* address, Mask lanes, unsigned bytes);
  /// Whether any of these bytes was written through the generic proxy since.
  [[nodiscard]] bool is_rewritten(const Region& region, std::uint64_t address, unsigned bytes);
  /// The async proxy is about to read or write these bytes.
  void check_async(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                   unsigned bytes, bool is_write);

  /// The lanes let copies know the tensor maps that they have written.
  void release_maps(const Warp& warp, Mask lanes);
  /// Copies of this unit see the map at that address as it is now.
  void acquire_map(const Region& region, std::uint64_t address);
  /// A copy of that lane is about to read the map at that address.
  void check_map(Warp& warp, const Region& region, std::uint64_t address, unsigned lane);

  /// A lane of the warp is about to use a cell of the CTA of that rank: lane times columns plus
  /// column.
  void check_cell(Warp& warp, unsigned lane, unsigned rank, std::uint32_t cell, TensorUse use);
  /// It has done so, and that is complete; of `count` neighbours alike.
  void used_cell(const Warp& warp, unsigned rank, std::uint32_t cell, TensorUse use,
                 std::uint32_t count = 1);
  /// Whether the tensor core used all of these neighbours last, for this warp.
  [[nodiscard]] bool are_own(const Warp& warp, unsigned rank, std::uint32_t cell,
                             std::uint32_t count);
  /// The columns are free.
  void forget_columns(unsigned rank, unsigned first, unsigned count);

  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    return pages_.size() * sizeof(Page) + reads_.size() * sizeof(ReadPage) +
           tensors_.size() * kTensorLanes * kTensorColumns * sizeof(TensorCell);
  }

 private:
  struct Write {
    std::uint32_t clock = 0;  // of the warp; 0: nothing wrote
    std::uint32_t op = 0;
    std::uint32_t thread = 0;  // of the unit

    friend bool operator==(const Write&, const Write&) = default;
  };
  static constexpr std::size_t kMapWords = 32;
  using MapWrites = std::array<Write, kMapWords>;  // the last one of each word
  static constexpr std::uint64_t kPageWords = 256;
  using Page = std::array<Write, kPageWords>;
  /// A load, and when an instruction needed its value; 0: none has.
  struct Read : Write {
    std::uint32_t settled = 0;
  };
  using ReadPage = std::array<Read, kPageWords>;
  /// The last access of a kind to a cell.
  struct LastAccess {
    std::uint32_t clock = 0;  // 0: none
    std::uint32_t op = 0;
    std::uint16_t warp = 0;  // of the unit
    bool by_tensor_core = false;
  };
  struct TensorCell {
    LastAccess write, read;
  };

  void check_reads(Warp& warp, const std::uint64_t* address, Mask lanes, unsigned bytes);
  [[nodiscard]] MapWrites writes_of_map(std::uint64_t address);
  void check_pair(Warp& warp, unsigned lane, std::uint32_t cell, TensorUse use,
                  const LastAccess& before, const char* done);
  std::vector<TensorCell>& cells_of(unsigned rank);

  [[nodiscard]] bool is_watched(const Region& region) const {
    return has_async_proxy_ && (region.space == Space::Shared || region.space == Space::Global);
  }

  const Order& order_;
  bool has_async_proxy_;
  PageTable<Page> pages_;
  PageTable<ReadPage> reads_;  // of shared memory, that may end late
  /// By warp (upper half) and op of such a load, the words that it read when it last ran, unless it has
  /// ended.
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> open_reads_;
  std::unordered_map<std::uint32_t, std::uint32_t> fenced_;    // clocks of threads, of their loads
  std::unordered_map<std::uint64_t, MapWrites> acquired_;      // of maps, by address
  std::unordered_map<std::uint32_t, std::uint32_t> released_;  // clocks of threads, of maps
  std::vector<std::vector<TensorCell>> tensors_;               // by rank; empty until used
};

}  // namespace ww::sim
