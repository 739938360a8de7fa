// SPDX-License-Identifier: Apache-2.0
// ld and st in every state space, with vectors and orders of the memory model. Caches do not exist
// here: their operators, hints and priorities change nothing.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/memory_ops.h"
#include "sim/order/strong.h"

namespace ww::sim::load_store_ops {
namespace {

// Moves one element of each lane between memory and its register.
using Move = void (*)(Warp& warp, Place place, const Region& region, const std::uint64_t* address,
                      Mask group, unsigned offset);

struct [[gnu::packed]] AccessOp {  // no bytes are left for padding
  Move move;
  std::uint8_t width;  // of a register
  Scope scope : 3;
  bool is_signed : 1, is_strong : 1, orders : 1, is_volatile : 1, is_non_coherent : 1;
};

Manner manner_of(const Op& op) {
  const auto& it = op.as<AccessOp>();
  if (!it.is_strong) return {};
  return {.is_strong = true, .is_volatile = it.is_volatile, .bytes = op.bytes, .scope = it.scope};
}

// One element of each lane, extended to the register's width.
template <typename Element, typename Register>
void load_elements(Warp& warp, Place place, const Region& region, const std::uint64_t* address,
                   Mask group, unsigned offset) {
  auto* to = warp.lanes<Register>(place);
  const std::byte* from = region.data + offset - region.base;
  if (group == kAllLanes && region.lane_stride == 0) {
    for (unsigned l = 0; l < kLanes; ++l) {
      Element value;
      std::memcpy(&value, from + address[l], sizeof value);
      to[l] = static_cast<Register>(value);
    }
    return;
  }
  for_each_lane(group, [&](unsigned l) {
    Element value;
    std::memcpy(&value, from + address[l] + l * region.lane_stride, sizeof value);
    to[l] = static_cast<Register>(value);
  });
}

template <typename Element, typename Register>
void store_elements(Warp& warp, Place place, const Region& region, const std::uint64_t* address,
                    Mask group, unsigned offset) {
  const auto* from = warp.source<Register>(place);
  std::byte* const to = region.data + offset - region.base;
  const std::uint64_t stride = region.lane_stride;
  const auto store = [=](unsigned l) {
    Element value;
    if constexpr (std::is_same_v<Element, Register>) {
      value = from[l];
    } else {
      value = static_cast<Element>(from[l]);  // of a float: rounded to nearest
    }
    std::memcpy(to + address[l] + l * stride, &value, sizeof value);
  };
  if (group == kAllLanes) {
    for (unsigned l = 0; l < kLanes; ++l) store(l);
  } else {
    for_each_lane(group, store);
  }
}

// Of a 64-bit register, `st.f32` stores the number converted from an unsigned integer, whatever the
// version of PTX, the space, the order and the vector (ptxas 13.0, seen on an H200); the manual has
// it store the low bits.
constexpr Move kConverting = store_elements<float, std::uint64_t>;

// By element bytes, register bytes and sign, for the widths that exist.
Move load_move(unsigned bytes, unsigned width, bool is_signed) {
  if (bytes == sizeof(Wide)) return load_elements<Wide, Wide>;
  return with_bytes(bytes, [&]<typename E>() {
    return with_bytes(width, [&]<typename R>() -> Move {
      if (is_signed && width > 1)
        return load_elements<std::make_signed_t<E>, std::make_signed_t<R>>;
      return load_elements<E, R>;
    });
  });
}

Move store_move(unsigned bytes, unsigned width) {
  if (bytes == sizeof(Wide)) return store_elements<Wide, Wide>;
  return with_bytes(bytes, [&]<typename E>() {
    return with_bytes(width, []<typename R>() -> Move { return store_elements<E, R>; });
  });
}

// --- undefined bytes -----------------------------------------------------------------------------

// Bits of the register's bytes beyond the element: defined when extended by zeros, as the sign is
// when extended by it.
std::uint32_t extended(std::uint32_t bits, unsigned bytes, bool is_signed) {
  if (!is_signed || ((bits >> (bytes - 1)) & 1U) == 0) return bits;
  return bits | (0xFFU << bytes);
}

void set_undefined(Warp& warp, Place place, unsigned lane, std::uint32_t bits, bool wide) {
  std::uint8_t* flags = warp.undefined.write(place, lane_bit(lane));
  flags[lane] = static_cast<std::uint8_t>(bits);
  if (wide) flags[lane + kLanes] = static_cast<std::uint8_t>(bits >> 8U);
}

// Memory has a mask for each byte: bits of it that are known although others are not.
std::uint64_t known_in(const Region& region, std::uint64_t offset, unsigned bytes) {
  std::uint64_t known = 0;
  for (unsigned b = 0; b < bytes && bytes <= 8; ++b) {
    const std::uint8_t undefined = region.undefined[offset + b];
    if (undefined != 0) known |= std::uint64_t{0xFFU & ~unsigned{undefined}} << (8 * b);
  }
  return known;
}

// Elements of all lanes, of which no byte is undefined.
template <typename Element>
bool is_defined(const Region& region, const std::uint64_t* address, Mask group, unsigned offset) {
  if (region.undefined == nullptr) return true;
  if (group != kAllLanes || region.lane_stride != 0) return false;
  const std::uint8_t* const from = region.undefined + offset - region.base;
  Element any = 0;
#pragma GCC unroll 8
  for (unsigned l = 0; l < kLanes; ++l) {
    Element bytes = 0;
    std::memcpy(&bytes, from + address[l], sizeof bytes);
    any = static_cast<Element>(any | bytes);
  }
  return any == 0;
}

void track_load(Warp& warp, const Op& op, Place place, const Region& region,
                const std::uint64_t* address, Mask group, unsigned offset) {
  const bool all_defined = with_bytes(op.bytes, [&]<typename Element>() {
    return is_defined<Element>(region, address, group, offset);
  });
  if (all_defined) return define_lanes(warp, place, group);
  std::uint64_t known[kLanes] = {};
  OriginId origins[kLanes] = {};
  std::uint64_t any = 0;
  Mask open = 0;
  for_each_lane(group, [&](unsigned l) {
    const std::uint64_t at = region.offset(address[l], l) + offset;
    const std::uint32_t bits = undefined_bits(region, at, op.bytes);
    if (bits != 0) {
      any |= known[l] = known_in(region, at, op.bytes);
      open |= lane_bit(l);
      origins[l] = origin_in(warp, region, at, l);
    }
    const bool by_sign = op.as<AccessOp>().is_signed && (known[l] >> (8 * op.bytes - 1)) == 0;
    set_undefined(warp, place, l, extended(bits, op.bytes, by_sign), op.bytes == 16);
  });
  if (open != 0) set_origins(warp, place, open, origins);
  if (any == 0) return;
  const Mask all = std::exchange(warp.exec, group);
  set_known_bits(warp, place, known);
  warp.exec = all;
}

// Words of lanes are defined.
void mark_words(const Region& region, const std::uint64_t* address, Mask group, unsigned offset) {
  std::uint8_t* const to = region.undefined + offset - region.base;
  const std::uint64_t stride = region.lane_stride;
  const auto mark = [=](unsigned l) {
    std::memset(to + address[l] + l * stride, 0, sizeof(std::uint32_t));
  };
  if (group == kAllLanes) {
#pragma GCC unroll 8
    for (unsigned l = 0; l < kLanes; ++l) mark(l);
  } else {
    for_each_lane(group, mark);
  }
}

// Memory may be tracked where registers are not; all that is written is defined then.
void track_store(Warp& warp, const Op& op, Place place, const Region& region,
                 const std::uint64_t* address, Mask group, unsigned offset) {
  if (region.undefined == nullptr) return;
  const bool is_known =
      !warp.undefined.are_kept() || place.is_constant() || !warp.undefined.is_suspect(place);
  if (is_known && op.bytes == 4) return mark_words(region, address, group, offset);
  const std::uint8_t* flags = is_known ? nullptr : warp.undefined.of(place);
  const bool converts = op.as<AccessOp>().move == kConverting;
  for_each_lane(group, [&](unsigned l) {
    std::uint32_t bits = is_known ? 0U : flags[l];
    if (converts && bits != 0) bits = 0xF;
    if (!is_known && op.bytes == 16) bits |= static_cast<std::uint32_t>(flags[l + kLanes]) << 8U;
    const std::uint64_t at = region.offset(address[l], l) + offset;
    mark_bytes(region, at, op.bytes, bits);
    if (bits != 0)
      warp.unit->origins.stored(
          warp.unit_warp(), region, at, op.bytes,
          warp.unit->origins.through(origin_of(warp, place, l), warp.current));
    const bool has_known = bits != 0 && op.bytes <= 8 && !converts;
    const std::uint64_t known = has_known ? known_bits(warp, place, l) : 0;
    for (unsigned b = 0; known != 0 && b < op.bytes; ++b)
      region.undefined[at + b] &= static_cast<std::uint8_t>(~(known >> (8 * b)));
  });
}

// --- running -------------------------------------------------------------------------------------

// The elements of a vector are accesses of their own.
void synchronise(Warp& warp, const Op& op, const std::uint64_t* address, Mask group, bool is_load) {
  Order* order = warp.unit->order.get();
  const auto& it = op.as<AccessOp>();
  if (order == nullptr || !it.is_strong) return;
  const StrongAccess access{.reads = is_load,
                            .writes = !is_load,
                            .acquires = is_load && it.orders,
                            .releases = !is_load && it.orders,
                            .scope = it.scope};
  for_each_address(address, group, [&](std::uint64_t here, Mask same) {
    for (unsigned i = 0; i < op.place_count; ++i)
      strong_access(*order, actor_of(warp, same), here + i * op.bytes, op.bytes, access);
  });
}

void run_load(Warp& warp, const Op& op) {
  const Program& program = *warp.program;
  const Address& from = program.addresses[op.address];
  use_base(warp, from, warp.exec);
  std::uint64_t address[kLanes];
  lane_addresses(warp, from, address);
  const std::span<const Place> places = warp.places(op);
  const unsigned total = op.bytes * op.place_count;
  const AccessOp it = op.as<AccessOp>();
  const Touched how = it.is_non_coherent ? Touched::ReadNc : Touched::Read;
  Mask loaded = 0;
  visit_regions(warp, address, warp.exec, total, AccessKind::Read, from.space,
                [&](Region& region, Mask group) {
                  loaded |= group;
                  synchronise(warp, op, address, group, true);
                  access_checks(warp, region, address, group, total, how, manner_of(op));
                  for (unsigned i = 0; i < op.place_count; ++i) {
                    const Place place = places[i];
                    it.move(warp, place, region, address, group, i * op.bytes);
                    if (warp.undefined.are_kept()) {
                      track_load(warp, op, place, region, address, group, i * op.bytes);
                    }
                  }
                });
  const Mask failed = warp.exec & ~loaded;
  if (failed == 0) return;
  // What could not be read is zero, and known: the finding has been made.
  for (unsigned i = 0; i < op.place_count; ++i) {
    const Place place = places[i];
    const unsigned width = it.width;
    for_each_lane(failed, [&](unsigned l) {
      std::memset(warp.lanes<std::byte>(place) + std::size_t{l} * width, 0, width);
      if (warp.undefined.are_kept()) set_undefined(warp, place, l, 0, width == 16);
    });
  }
}

void run_store(Warp& warp, const Op& op) {
  const Program& program = *warp.program;
  const Address& to = program.addresses[op.address];
  use_base(warp, to, warp.exec);
  std::uint64_t address[kLanes];
  lane_addresses(warp, to, address);
  const std::span<const Place> places = warp.places(op);
  const unsigned total = op.bytes * op.place_count;
  const AccessOp it = op.as<AccessOp>();
  act(warp);
  const RegisterRun registers{places.data(), op.place_count, op.bytes, it.width};
  const auto leaves = [&](const Region& region, std::uint64_t at, unsigned lane) {
    return it.move != kConverting && registers.are_at(warp, region, at, lane);
  };
  const StoredBytes stored(leaves);
  visit_regions(warp, address, warp.exec, total, AccessKind::Write, to.space,
                [&](Region& region, Mask group) {
                  synchronise(warp, op, address, group, false);
                  access_checks(warp, region, address, group, total, Touched::Write, manner_of(op),
                                &stored);
                  for (unsigned i = 0; i < op.place_count; ++i) {
                    const Place place = places[i];
                    // What others see of this kernel is in global memory.
                    if (region.space == Space::Global) show_value(warp, place, group, op.bytes);
                    it.move(warp, place, region, address, group, i * op.bytes);
                    track_store(warp, op, place, region, address, group, i * op.bytes);
                  }
                });
}

// --- decoding ------------------------------------------------------------------------------------

bool is_signed(const Decode& in) {
  return isa::info(in.type("type")).cls == isa::TypeClass::Signed;
}

unsigned bytes_in(const Decode& in) {
  return static_cast<unsigned>(isa::info(in.type("type")).bits) / 8;
}

// Volatile accesses are relaxed ones for the whole system, and so are those of `.mmio`.
bool decode_access(Decode& in, RunOp run, Move move, unsigned width) {
  const Word sem = in.word("sem");
  const bool orders = sem.is_one_of({"acquire", "release"}) || in.has("release");
  const bool is_volatile = in.has("volatile");
  in.tracks_itself(run);
  in.op.bytes = static_cast<std::uint8_t>(bytes_in(in));
  in.op.set(AccessOp{.move = move,
                     .width = static_cast<std::uint8_t>(width),
                     .scope = scope_in(in),
                     .is_signed = is_signed(in),
                     .is_strong = orders || sem == "relaxed" || is_volatile || in.has("mmio"),
                     .orders = orders,
                     .is_volatile = is_volatile,
                     .is_non_coherent = in.has("nc")});
  return move != nullptr;
}

bool decode_load(Decode& in) {
  const unsigned width = in.width(0);
  in.further(in.results(0));
  in.op.address = in.address(1);
  return decode_access(in, run_load, load_move(bytes_in(in), width, is_signed(in)), width);
}

// What the assembler takes and turns into something else (ptxas 13.0, seen on an H200).
std::string_view why_not(const Decode& in) {
  if (in.word("vec") == "v8" && isa::info(in.type("type")).bits <= 16) {
    return "the assembler takes vectors of eight 8- or 16-bit elements and stores only part of "
           "them";
  }
  if (in.word("type") == "f32" && in.width(1) > 8)
    return "what the assembler stores of a 128-bit register is not known";
  return "";
}

bool decode_store(Decode& in) {
  in.refusal = why_not(in);
  if (!in.refusal.empty()) return false;
  const unsigned width = in.width(1);
  in.op.address = in.address(0);
  in.further(in.sources(1));
  const bool converts = in.word("type") == "f32" && width > 4;
  return decode_access(in, run_store, converts ? kConverting : store_move(bytes_in(in), width),
                       width);
}

// Into global memory it is a store with release that needs no wait.
bool decode_store_async(Decode& in) {
  return in.has("release") ? decode_store(in) : decode_st_async(in);
}

// A cache policy is a number that nothing looks into.
void run_policy(Warp& warp, const Op& op) {
  const std::uint64_t policy[kLanes] = {};
  warp.write(op.p[0], policy);
  define_value(warp, op.p[0]);
}
bool decode_policy(Decode& in) {
  in.op.flags = kTracksItself;
  return in.runs(run_policy, {in.result(0)});
}

// st.bulk: zeros.
void run_fill(Warp& warp, const Op& op) {
  std::uint64_t address[kLanes];
  const Address& to = warp.program->addresses[op.address];
  lane_addresses(warp, to, address);
  const auto* size = warp.source<std::uint64_t>(op.p[0]);
  for_each_lane(warp.exec, [&](unsigned l) {
    if (size[l] == 0 || size[l] > (1U << kRankShift)) return;
    const ByteRun run = find_run(warp, address[l], l, static_cast<std::uint32_t>(size[l]),
                                 AccessKind::Write, Space::Shared);
    if (run.region == nullptr || run.bytes == 0) return;
    std::uint64_t at[kLanes] = {};
    at[l] = run.address;
    const std::uint64_t offset = run.address - run.region->base;
    std::byte* const data = run.region->data + offset;
    const auto are_zeros = [is_zero = std::all_of(data, data + run.bytes, [](std::byte b) {
                              return b == std::byte{0};
                            })](const Region&, std::uint64_t, unsigned) { return is_zero; };
    const StoredBytes stored(are_zeros);
    note_access(warp, *run.region, at, lane_bit(l), run.bytes, Touched::Write, {}, &stored);
    check_async(warp, *run.region, at, lane_bit(l), run.bytes, true);
    std::memset(data, 0, run.bytes);
    mark_bytes(*run.region, offset, run.bytes);
  });
}
bool decode_fill(Decode& in) {
  in.op.address = in.address(0);
  return in.runs(run_fill, {in.source(1)});
}

constexpr OpRow kRows[] = {
    {"ld", decode_load},
    {"ldu", decode_load},
    {"st", decode_store},
    {"st.async", decode_store_async},
    {"st.bulk", decode_fill},
    {"prefetch", decode_bare<run_nothing>},
    {"prefetchu", decode_bare<run_nothing>},
    {"applypriority", decode_bare<run_nothing>},
    {"discard", decode_bare<run_nothing>},
    {"createpolicy.fractional", decode_policy},
    {"createpolicy.range", decode_policy},
    {"createpolicy.cvt", decode_policy},
};

}  // namespace

// --- shared with other families -----------------------------------------------------------------

constinit const OpFamily family{"load_store", kRows};

}  // namespace ww::sim::load_store_ops

namespace ww::sim {

void count_access(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                  unsigned bytes, Touched how) {
  Spins* const spins = warp.unit->spins;
  if (spins != nullptr) return spins->accesses(warp, region, address, group, bytes, how);
  if (!warp.unit->context.options->count) return;
  OpCount& count = warp.unit->counters.ops[warp.current];
  if (region.space == Space::Shared) {
    const Wavefronts w = shared_wavefronts(address, group, bytes);
    count.wavefronts += w.needed;
    count.ideal_wavefronts += w.ideal;
  } else if (region.space == Space::Global) {
    const Sectors s = global_sectors(address, group, bytes);
    count.sectors += s.needed;
    count.ideal_sectors += s.ideal;
  }
}

}  // namespace ww::sim
