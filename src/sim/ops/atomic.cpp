// SPDX-License-Identifier: Apache-2.0
// atom and red: read, combine, write back, one lane after the other in ascending order. Kernels in
// which the order between blocks could show run block after block (Code::is_ordered), so results
// are the same every time; for the others the host's own atomic operations are used.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/atomic_values.h"
#include "sim/ops/families.h"
#include "sim/ops/memory_ops.h"
#include "sim/order/strong.h"

namespace ww::sim::atomic_ops {
namespace {

constexpr unsigned kMaxBytes = 32;  // of a vector

// Places: `count` results (or none), then as many values, then for cas as many more.
struct AtomicOp {
  Scope scope;
  bool acquires, releases, is_packed, has_result;
  std::uint8_t count;  // elements of the vector
};

// Pairs of 16-bit elements are combined one by one, and read as one.
Manner manner_of(const Op& op) {
  const auto& it = op.as<AtomicOp>();
  return Manner::strong(it.is_packed ? 0 : op.bytes, it.scope);
}

// F(value, b), or F(value, b, c) where there are three.
template <typename T, auto F>
T apply(T value, T b, T c) {
  if constexpr (std::is_invocable_v<decltype(F), T, T, T>) {
    return F(value, b, c);
  } else {
    return F(value, b);
  }
}

// Replaces the value at `at` by what F makes of it, b and c, which may be null; `old` gets what was
// there, unless it is null.
using Replace = void (*)(std::byte* at, const std::byte* b, const std::byte* c, std::byte* old);

template <typename T>
T read_as(const std::byte* at) {
  T value{};
  if (at != nullptr) std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T, auto F>
void replace(std::byte* at, const std::byte* b, const std::byte* c, std::byte* old) {
  const T second = read_as<T>(b);
  const T third = read_as<T>(c);
  T was;
  if constexpr (sizeof(T) == sizeof(Wide)) {
    was = read_as<T>(at);
    const T value = apply<T, F>(was, second, third);
    std::memcpy(at, &value, sizeof value);
  } else {
    std::atomic_ref<T> place(*reinterpret_cast<T*>(at));
    was = place.load(std::memory_order_relaxed);
    while (!place.compare_exchange_weak(was, apply<T, F>(was, second, third),
                                        std::memory_order_relaxed)) {
    }
  }
  if (old != nullptr) std::memcpy(old, &was, sizeof was);
}

void synchronise(Warp& warp, const Op& op, std::uint64_t address, unsigned lane) {
  Order* order = warp.unit->order.get();
  if (order == nullptr) return;
  const auto& it = op.as<AtomicOp>();
  const StrongAccess access{.reads = true,
                            .writes = true,
                            .acquires = it.acquires,
                            .releases = it.releases,
                            .scope = it.scope};
  for (unsigned i = 0; i < it.count; ++i)
    strong_access(*order, actor_of(warp, lane_bit(lane)), address + i * op.bytes, op.bytes, access);
}

// Undefined bytes under an atomic are used.
void use_memory(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                unsigned bytes) {
  if (region.undefined == nullptr || !warp.checks(Check::Uninit)) return;
  Mask bad = 0;
  for_each_lane(group, [&](unsigned l) {
    if (undefined_bits(region, region.offset(address[l], l), bytes) != 0) bad |= lane_bit(l);
  });
  if (bad == 0) return;
  const unsigned lane = first_lane(bad);
  if (warp.is_new(Check::Uninit, kNoOp, count_lanes(bad))) {
    warp.report_at(Check::Uninit, bad, address[lane],
                   "combines with memory that nothing has written");
  }
}

// How an element is combined with what is in memory.
struct Combination {
  Replace replace;
  unsigned bytes;
  bool takes_memory;  // the result depends on what was there
};

// The undefined bytes of a lane's element in a register.
std::uint32_t value_marks(Warp& warp, Place place, unsigned lane, unsigned bytes) {
  if (!warp.undefined.are_kept() || !place.present() || place.is_constant()) return 0;
  const std::uint8_t* const marks = warp.undefined.of(place);
  return bytes > 8 ? marks[lane] | unsigned{marks[lane + kLanes]} << 8U
                   : marks[lane] & ((1U << bytes) - 1U);
}

// Undefined bytes of what is in shared memory and of what comes to it: the result gets the old ones, and
// what depends on any of them is undefined as a whole.
void spread_atomic(Warp& warp, const Op& op, const Region& region, std::uint64_t offset,
                   unsigned lane, unsigned i, const Combination& how) {
  if (region.undefined == nullptr || !warp.undefined.are_kept()) return;
  const std::span<const Place> places = warp.places(op);
  const bool has_result = op.as<AtomicOp>().has_result;
  const Place value = places[op.as<AtomicOp>().count + i];
  const std::uint64_t at = offset + i * how.bytes;
  const std::uint32_t before = undefined_bits(region, at, how.bytes);
  std::uint32_t after = value_marks(warp, value, lane, how.bytes);
  if ((before | after) == 0) {
    if (has_result) define_lanes(warp, places[i], lane_bit(lane), how.bytes);
    return;
  }
  OriginId ids[kLanes] = {};
  ids[lane] = before != 0 ? origin_in(warp, region, at, lane) : origin_of(warp, value, lane);
  if (how.takes_memory && (before | after) != 0) after = (1U << how.bytes) - 1U;
  mark_bytes(region, at, how.bytes, after);
  if (after != 0)
    warp.unit->origins.stored(warp.unit_warp(), region, at, how.bytes,
                              warp.unit->origins.through(ids[lane], warp.current));
  if (!has_result) return;
  std::uint8_t* const marks = warp.undefined.write(places[i], lane_bit(lane));
  marks[lane] = static_cast<std::uint8_t>(before);
  if (how.bytes > 8) marks[lane + kLanes] = static_cast<std::uint8_t>(before >> 8U);
  if (before != 0) set_origins(warp, places[i], lane_bit(lane), ids);
}

// Elements of vectors are combined one by one, each at its own address.
void run_all(Warp& warp, const Op& op, const Combination& how) {
  const Program& program = *warp.program;
  const Address& at = program.addresses[op.address];
  use_base(warp, at, warp.exec);
  std::uint64_t address[kLanes];
  lane_addresses(warp, at, address);
  const auto [scope, acquires, releases, is_packed, has_result, elements] = op.as<AtomicOp>();
  const unsigned count = elements, total = op.bytes * count;
  act(warp);
  const std::span<const Place> places = warp.places(op);
  GridOrder* const grid = warp.unit->context.grid;
  // Others see what is in global memory; a comparison decides.
  const auto decides = [&](const Region& region) {
    return region.space != Space::Shared || op.p[0].present() || warp.undefined.are_early;
  };
  const auto combine = [&](Region& region, unsigned l) {
    synchronise(warp, op, address[l], l);
    const std::uint64_t offset = region.offset(address[l], l);
    for (unsigned i = 0; i < count && !decides(region); ++i)
      spread_atomic(warp, op, region, offset, l, i, how);
    const unsigned in_lane = l * how.bytes;
    std::array<std::byte, kMaxBytes> before;
    std::memcpy(before.data(), region.data + offset, total);
    for (unsigned i = 0; i < count; ++i) {
      const Place third = places[2 * count + i];
      how.replace(region.data + offset + i * how.bytes,
                  warp.source<std::byte>(places[count + i]) + in_lane,
                  third.present() ? warp.source<std::byte>(third) + in_lane : nullptr,
                  has_result ? warp.lanes<std::byte>(places[i]) + in_lane : nullptr);
    }
    if (grid != nullptr && region.space == Space::Global &&
        std::memcmp(before.data(), region.data + offset, total) != 0)
      grid->writers.note(warp.unit->party(warp.current, warp.unit_warp(), lane_bit(l)), address,
                         total);
    if (!decides(region)) return;
    mark_bytes(region, offset, total);
  };
  visit_regions(warp, address, warp.exec, total, AccessKind::Atomic, at.space,
                [&](Region& region, Mask group) {
                  access_checks(warp, region, address, group, total, Touched::Atomic,
                                manner_of(op));
                  for (unsigned i = count; i < 3 * count; ++i) {
                    if (!places[i].present()) continue;
                    if (decides(region)) use_value(warp, places[i], group, how.bytes);
                  }
                  if (decides(region)) {
                    if (how.takes_memory) use_memory(warp, region, address, group, total);
                    for (unsigned i = 0; i < count && has_result; ++i)
                      define_lanes(warp, places[i], group, how.bytes);
                  }
                  for_each_lane(group, [&](unsigned l) {
                    if (address[l] % how.bytes == 0) combine(region, l);
                  });
                });
}

template <typename T, auto F, bool kTakesMemory = true>
void run_atomic(Warp& warp, const Op& op) {
  run_all(warp, op, {&replace<T, F>, sizeof(T), kTakesMemory});
}

// --- decoding ------------------------------------------------------------------------------------

template <typename T>
RunOp pick_exchange(Word op) {
  constexpr auto kExch = [](T, T b) { return b; };
  constexpr auto kCas = [](T a, T b, T c) { return a == b ? c : a; };
  return op == "cas" ? run_atomic<T, kCas> : run_atomic<T, kExch, false>;
}

// Sums in single and double precision differ from memory to memory: lanes of a kind go together.
template <typename T, auto Shared, auto Global>
void run_add(Warp& warp, const Op& op) {
  std::uint64_t address[kLanes];
  lane_addresses(warp, warp.program->addresses[op.address], address);
  const Mask all = warp.exec;
  Mask global = 0;
  for_each_lane(all, [&](unsigned l) {
    if (address[l] >= kGlobalStart) global |= lane_bit(l);
  });
  warp.exec = global;
  if (global != 0) run_atomic<T, Global>(warp, op);
  warp.exec = all & ~global;
  if (warp.exec != 0) run_atomic<T, Shared>(warp, op);
  warp.exec = all;
}

RunOp pick_atomic(isa::Type type, Word op) {
  using isa::Type;
  if (op.is_one_of({"exch", "cas"})) {
    return type == Type::B16   ? pick_exchange<std::uint16_t>(op)
           : type == Type::B32 ? pick_exchange<std::uint32_t>(op)
           : type == Type::B64 ? pick_exchange<std::uint64_t>(op)
                               : pick_exchange<Wide>(op);
  }
  if (type == Type::F32) return run_add<std::uint32_t, add_f32, add_f32_flushed>;
  if (type == Type::F64) return run_add<std::uint64_t, add_f64_shared, add_f64_global>;
  return pick_operation(
      op, type, []<typename T, auto F>()->RunOp { return run_atomic<T, F>; });
}

bool decode_atomic(Decode& in) {
  const bool has_result = in.mnemonic() == "atom";
  const isa::Type type = in.type("type");
  const Word sem = in.word("sem");
  in.tracks_itself(pick_atomic(type, in.word("op")));
  in.op.bytes = static_cast<std::uint8_t>(isa::info(type).bits / 8);
  const bool releases = sem.is_one_of({"release", "acq_rel"}) || in.has("release");
  const bool is_packed = type == isa::Type::F16x2 || type == isa::Type::Bf16x2;
  const std::size_t first = has_result ? 1 : 0;
  const std::vector<Place> values = in.sources(first + 1);
  const std::size_t count = values.size();
  std::vector<Place> places(3 * count);
  if (has_result) {
    const std::vector<Place> results = in.results(0);
    std::copy(results.begin(), results.end(), places.begin());
  }
  std::copy(values.begin(), values.end(), places.begin() + static_cast<std::ptrdiff_t>(count));
  if (in.word("op") == "cas") in.op.p[0] = places[2 * count] = in.source(first + 2);
  in.op.address = in.address(first);
  in.further(places);
  in.op.set(AtomicOp{.scope = scope_in(in),
                     .acquires = sem.is_one_of({"acquire", "acq_rel"}),
                     .releases = releases,
                     .is_packed = is_packed,
                     .has_result = has_result,
                     .count = static_cast<std::uint8_t>(count)});
  return true;
}

// Into global memory it is a reduction with release that needs no wait.
bool decode_reduce_async(Decode& in) {
  return in.has("release") ? decode_atomic(in) : decode_red_async(in);
}

constexpr OpRow kRows[] = {
    {"atom", decode_atomic},
    {"red", decode_atomic},
    {"red.async", decode_reduce_async},
};

}  // namespace

constinit const OpFamily family{"atomic", kRows};

}  // namespace ww::sim::atomic_ops
