// SPDX-License-Identifier: Apache-2.0
// Fences. Memory here is in order already; a fence matters to the race check, which takes what a
// thread publishes after it and what it has seen before it as ordered, and to the fence check,
// which asks for those of the async proxy.
#include "sim/ops/families.h"
#include "sim/unit.h"

namespace ww::sim {
namespace {

void run_fence(Warp& warp, const Op&) {
  if (warp.unit->order != nullptr) warp.unit->order->fence(warp.unit_warp());
}

constexpr std::uint8_t kShared = 1, kGlobal = 2;  // of Op::mode: what is fenced for the async proxy

void run_fence_proxy(Warp& warp, const Op& op) {
  Order* order = warp.unit->order.get();
  if (order == nullptr) return;
  const bool is_whole_warp = warp.exec == warp.live;
  const auto fence = [&](Past what) {
    order->fence_proxy(warp.unit_warp(), warp.exec, is_whole_warp, what);
  };
  if ((op.mode & kShared) != 0) fence(Past::FencedShared);
  if ((op.mode & kGlobal) != 0) fence(Past::FencedGlobal);
}

bool decode_fence_proxy(Decode& in) {
  in.op.run = run_nothing;
  if (in.word("kind") != "async") return true;
  in.op.run = run_fence_proxy;
  in.op.mode = !in.has("space")               ? kShared | kGlobal
               : in.word("space") == "global" ? kGlobal
                                              : kShared;
  return true;
}
// Its forms name shared memory only.
bool decode_fence_one_way(Decode& in) {
  in.op.run = run_fence_proxy;
  in.op.mode = kShared;
  return true;
}

constexpr OpRow kRows[] = {
    {"membar", decode_bare<run_fence>},        {"membar.proxy", decode_bare<run_nothing>},
    {"fence", decode_bare<run_fence>},         {"fence.acquire", decode_bare<run_fence>},
    {"fence.release", decode_bare<run_fence>}, {"fence.mbarrier_init", decode_bare<run_fence>},
    {"fence.proxy", decode_fence_proxy},       {"fence.proxy.async::generic", decode_fence_one_way},
};

}  // namespace

constinit const OpFamily kFenceOps{"fence", kRows};

}  // namespace ww::sim
