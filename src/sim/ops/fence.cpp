// SPDX-License-Identifier: Apache-2.0
// Fences. Memory here is in order already; a fence matters to the race check, which takes what a
// thread publishes after it and what it has seen before it as ordered.
#include "sim/ops/families.h"
#include "sim/unit.h"

namespace ww::sim {
namespace {

void run_fence(Warp& warp, const Op&) {
  if (warp.unit->races != nullptr) warp.unit->races->fence(warp.unit_warp());
}

constexpr OpRow kRows[] = {
    {"membar", decode_bare<run_fence>},
    {"membar.proxy", decode_bare<run_nothing>},
    {"fence", decode_bare<run_fence>},
    {"fence.acquire", decode_bare<run_fence>},
    {"fence.release", decode_bare<run_fence>},
    {"fence.mbarrier_init", decode_bare<run_fence>},
    {"fence.proxy", decode_bare<run_nothing>},
    {"fence.proxy.async::generic", decode_bare<run_nothing>},
};

}  // namespace

constinit const OpFamily kFenceOps{"fence", kRows};

}  // namespace ww::sim
