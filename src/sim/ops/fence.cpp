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
void run_proxy_fence(Warp&, const Op&) {}

bool decode_fence(Decode& in) {
  in.op.run = run_fence;
  return true;
}
bool decode_proxy_fence(Decode& in) {
  in.op.run = run_proxy_fence;
  in.op.flags = kTracksItself;
  return true;
}

constexpr OpRow kRows[] = {
    {"membar", decode_fence},
    {"membar.proxy", decode_proxy_fence},
    {"fence", decode_fence},
    {"fence.acquire", decode_fence},
    {"fence.release", decode_fence},
    {"fence.mbarrier_init", decode_fence},
    {"fence.proxy", decode_proxy_fence},
    {"fence.proxy.async::generic", decode_proxy_fence},
};

}  // namespace

constinit const OpFamily kFenceOps{"fence", kRows};

}  // namespace ww::sim
