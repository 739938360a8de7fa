// SPDX-License-Identifier: Apache-2.0
// Asynchronous work that a warp has begun and not waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/checks/origins.h"
#include "sim/lanes.h"

namespace ww::sim {

/// Copies of one cp.async instruction that have not arrived.
struct PendingCopy {
  std::uint32_t op = 0;
  std::uint32_t number = 0;  // in the order of issue
  Mask lanes = 0;            // still to be delivered
  unsigned bytes = 0;
  std::uint64_t to[kLanes];
  std::uint32_t group[kLanes];  // of the lane
  std::byte data[kLanes][16];
  std::uint8_t undefined[kLanes][16];
};

/// One cell of tensor memory for each of these lanes.
struct TouchedCells {
  Mask lanes = 0;
  std::array<std::uint32_t, kLanes> cell{};
};

/// Cells of tensor memory that a tcgen05.st writes once it is waited for.
struct PendingStore {
  struct StoredCell {
    std::uint32_t value = 0;
    std::uint16_t lane = 0, column = 0;
    std::uint8_t bytes = 0;  // bit b: byte b is written
    std::uint8_t undefined = 0;
  };
  std::uint32_t op = 0;
  std::vector<StoredCell> cells;
  std::vector<TouchedCells> touched;  // the same cells, where races are looked for
};

/// A tcgen05.cp, shift or mma of one lane that no tcgen05.commit has completed.
struct TensorWork {
  std::uint32_t op = 0;
  std::uint32_t number = 0;  // in the order of issue
  unsigned lane = 0;
  std::uint64_t held = 0;  // bytes that it keeps besides
  std::function<void()> deliver;
};

/// Registers of a tcgen05.ld that has not been waited for.
struct PendingLoad {
  std::uint32_t op = 0;
  Mask lanes = 0;
  std::uint32_t frame = 0;
  std::vector<Mask> waiting;          // by register: lanes that may not use it yet
  std::vector<std::uint32_t> values;  // register by register, 32 lanes each; empty: delivered
  std::vector<std::uint8_t> undefined;
  std::vector<OriginId> origins;    // of what is undefined; empty: nothing is
  std::vector<TouchedCells> cells;  // that it reads, where races are looked for
};

/// All of that, of one warp.
struct PendingWork {
  std::vector<PendingCopy> copies;
  std::uint32_t committed[kLanes] = {};  // cp.async groups that each lane has closed
  std::uint32_t copies_issued = 0;
  std::uint32_t bulk_committed[kLanes] = {};  // the same of bulk copies
  std::vector<PendingLoad> loads;
  std::vector<PendingStore> stores;
  std::vector<TensorWork> tensor_work;
  std::uint32_t tensor_issued = 0;
  std::uint32_t products_committed = 0;  // groups of wgmma that it has closed
  std::uint32_t products_waited = 0;     // number of the last product that it has waited for
  Mask cluster_arrived = 0;              // at the barrier of the cluster, in the phase that is open
  Mask cluster_came = 0;                 // at it, ever

  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t all = copies.size() * sizeof(PendingCopy) + loads.size() * sizeof(PendingLoad) +
                        stores.size() * sizeof(PendingStore);
    for (const TensorWork& work : tensor_work) all += sizeof(TensorWork) + work.held;
    return all;
  }
};

}  // namespace ww::sim
