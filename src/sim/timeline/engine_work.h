// SPDX-License-Identifier: Apache-2.0
// What instructions gave to the copy engine and to the tensor core, as a History keeps it: what its
// registers do not tell. engine_moves.h makes the bytes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/tensor_map/box.h"

namespace ww::sim {

/// The part of a tensor that a copy moves.
struct CopiedBox {
  TensorMap map{};
  TensorPoint point{};
};

/// Where a copy lands.
struct CopyTarget {
  std::uint64_t address = 0;   // of shared memory: with the rank of its CTA
  std::uint64_t mbarrier = 0;  // on which the bytes complete; 0: the thread's bulk group
};

/// A copy that one lane issued: cp.async.bulk and cp.async.bulk.tensor, with or without reduction.
struct EngineCopy {
  std::uint64_t moment = 0;
  std::uint32_t lane = 0;
  std::uint32_t bytes = 0;
  /// Of tensor copies: the side in global memory, whose address is 0 then.
  std::optional<CopiedBox> box = {};
  bool is_store = false;  // the box is the target
  std::uint64_t from = 0;
  std::vector<CopyTarget> to = {};  // several: multicast
};

/// A wgmma.mma_async that the warps of a warpgroup issued together.
struct EngineProduct {
  std::uint64_t moment = 0;      // of the warp that came last
  std::uint32_t first_warp = 0;  // of the cluster
  std::uint32_t warps = 0;       // bit w: warp first_warp + w takes part
  std::uint64_t a = 0, b = 0;    // descriptors
  bool adds = false;             // D is added to
};

}  // namespace ww::sim
