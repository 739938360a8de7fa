// SPDX-License-Identifier: Apache-2.0
// Fences. Memory here is in order already; a fence matters to the race check, which takes what a
// thread publishes after it and what it has seen before it as ordered, and to the fence check,
// which asks for those of the async proxy.
#include "sim/memory/access.h"
#include "sim/ops/families.h"
#include "sim/ops/memory_ops.h"
#include "sim/order/async_fences.h"
#include "sim/order/strong.h"
#include "sim/run/mbarriers.h"
#include "sim/run/unit.h"

namespace ww::sim::fence_ops {
namespace {

void run_fence(Warp& warp, const Op& op) {
  const auto& kind = op.as<FenceKind>();
  if (warp.unit->order != nullptr) fence(*warp.unit->order, actor_of(warp, warp.exec), kind);
  if (kind.releases && kind.scope != Scope::Cta) fence_mbarriers(warp);
}

// Of `membar`, `.gl` is the GPU.
bool decode_fence(Decode& in) {
  const Word sem = in.word("sem");
  const Scope scope = in.word("level") == "cta" ? Scope::Cta : scope_in(in);
  in.op.run = run_fence;
  in.op.set(FenceKind{.acquires = sem != "release", .releases = sem != "acquire", .scope = scope});
  return true;
}
// fence.acquire and fence.release for shared memory of the cluster.
bool decode_cluster_fence(Decode& in) {
  const bool acquires = in.mnemonic() == "fence.acquire";
  in.op.run = run_fence;
  in.op.set(FenceKind{.acquires = acquires, .releases = !acquires, .scope = Scope::Cluster});
  return true;
}

// Orders nothing but the making of mbarriers.
void run_fence_init(Warp& warp, const Op&) { fence_mbarriers(warp); }

// What is fenced for the async proxy.
struct ProxyFence {
  bool shared, global;
};

void run_fence_proxy(Warp& warp, const Op& op) {
  const auto [shared, global] = op.as<ProxyFence>();
  if (shared) fence_mbarriers(warp);
  if (shared && warp.unit->fences != nullptr) warp.unit->fences->fenced(warp, warp.exec);
  Order* order = warp.unit->order.get();
  if (order == nullptr) return;
  const auto fence = [&](Past what) { fence_proxy(*order, actor_of(warp, warp.exec), what); };
  if (shared) fence(Past::FencedShared);
  if (global) fence(Past::FencedGlobal);
}

// --- of tensor maps ---

void run_release_maps(Warp& warp, const Op&) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences != nullptr) fences->release_maps(warp, warp.exec);
}

void run_acquire_map(Warp& warp, const Op& op) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  std::uint64_t address[kLanes];
  lane_addresses(warp, warp.program->addresses[op.address], address);
  for_each_address(address, warp.exec, [&](std::uint64_t here, Mask) {
    const Region* region = warp.unit->context.memory->find(here);
    if (region != nullptr) fences->acquire_map(*region, here);
  });
}

bool decode_fence_proxy(Decode& in) {
  in.op.run = run_nothing;
  if (in.word("kind") == "tensormap::generic") {
    in.op.run = in.count() == 0 ? run_release_maps : run_acquire_map;
    if (in.count() != 0) in.op.address = in.address(0);
    return true;
  }
  if (in.word("kind") != "async") return true;
  in.op.run = run_fence_proxy;
  const bool is_global = in.word("space") == "global";
  in.op.set(ProxyFence{.shared = !is_global, .global = is_global || !in.has("space")});
  return true;
}
// Its forms name shared memory only.
bool decode_fence_one_way(Decode& in) {
  in.op.run = run_fence_proxy;
  in.op.set(ProxyFence{.shared = true, .global = false});
  return true;
}

constexpr OpRow kRows[] = {
    {"membar", decode_fence},
    {"membar.proxy", decode_bare<run_nothing>},
    {"fence", decode_fence},
    {"fence.acquire", decode_cluster_fence},
    {"fence.release", decode_cluster_fence},
    {"fence.mbarrier_init", decode_bare<run_fence_init>},
    {"fence.proxy", decode_fence_proxy},
    {"fence.proxy.async::generic", decode_fence_one_way},
};

}  // namespace

constinit const OpFamily family{"fence", kRows};

}  // namespace ww::sim::fence_ops
