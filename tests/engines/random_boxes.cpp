// SPDX-License-Identifier: Apache-2.0
#include "engines/random_boxes.h"

#include <algorithm>
#include <numeric>

#include "engines/chance.h"
#include "ir/box_reduce.h"

namespace ww::test {
namespace {

/// A box, and whether its region leaves the array.
struct PlacedBox {
  BoxCase box;
  bool leaves = false;
  std::int64_t bytes = 0;  // of shared memory
};

// Of up to `most` dimensions. `spread`: how far from the array's start a region that leaves it may
// begin, in grains of the dimension. `is_told`: the launch tells where it begins.
PlacedBox place_box(std::uint64_t seed, std::int64_t most, std::int64_t spread, bool is_told) {
  Chance by(seed);
  PlacedBox placed;
  BoxCase& c = placed.box;
  c.dtype = by.one_of<std::string>({"uint8", "float16", "float32", "float64"});
  const int bits = bits_of(c.dtype);
  const int swizzle = by.one_of({0, 0, 32, 64, 128});
  const std::int64_t unit = swizzle == 0 ? 16 * 8 / bits * (1 + by.upto(3)) : swizzle * 8 / bits;
  const std::size_t rank = 1 + static_cast<std::size_t>(by.upto(most - 1));
  Extents strides(rank + 1);  // the last dimension has two digits
  Extents extents;
  for (std::size_t d = 0; d + 1 < rank; ++d)
    extents.push_back(1 + by.upto(rank > 4 ? 3 : rank > 2 ? 5 : 15));
  const std::int64_t columns = 1 + by.upto(2);
  extents.push_back(columns * unit);
  std::vector<std::size_t> order(rank);  // all but the lowest digit, nearest first
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), by.random);
  strides[rank] = 1;
  std::int64_t next = unit;
  for (const std::size_t d : order) {
    if (by.upto(5) == 0) next = (next * bits / 8 + 127) / 128 * 128 * 8 / bits;
    strides[d] = next;
    next *= d + 1 == rank ? columns : extents[d];
  }
  placed.bytes = next * bits / 8;
  Extents digits(extents.begin(), extents.end() - 1);
  digits.push_back(columns);
  digits.push_back(unit);
  const std::string notation = fmt::format("S[{} : {}]", tuple(digits), tuple(strides));
  const int chunk = bits == 8 ? 4 : bits == 16 ? 3 : bits == 32 ? 2 : 1;
  c.tile = swizzle == 0 ? tile(notation)
                        : swizzled(chunk,
                                   swizzle == 128  ? 3
                                   : swizzle == 64 ? 2
                                                   : 1,
                                   3, notation);
  c.shared = extents;
  c.is_load = by.coin();
  c.is_ragged = by.coin();
  const bool leaves = by.coin();
  std::string from;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t grain = d + 1 == rank ? by.one_of<std::int64_t>({128 / bits, unit}) : 1;
    // A store does not begin before the array.
    const std::int64_t least = c.is_load ? -spread : 0;
    const std::int64_t start = (leaves ? least + by.upto(spread - least) : by.upto(3)) * grain;
    const std::int64_t end = start + extents[d];
    std::int64_t size = leaves ? std::max<std::int64_t>(1, end + by.upto(6) - 3) : end + by.upto(3);
    if (leaves && by.upto(5) == 0) size = 1 + by.upto(3);  // it may lie beside the array
    if (d + 1 == rank) size = (size * bits + 127) / 128 * 128 / bits;  // a pitch of whole units
    c.array.push_back(size);
    placed.leaves = placed.leaves || start < 0 || end > size;
    std::string first = fmt::format("bx * 0 + {}", start);
    if (is_told) {
      c.starts.push_back(start / grain);
      // Of a store the compiler has to see that it does not begin before the array.
      first = c.is_load ? fmt::format("s{} * {}", d, grain)
                        : fmt::format("T.max(s{}, 0) * {}", d, grain);
    }
    from += fmt::format("{0}{1}:{1} + {2}", d == 0 ? "" : ", ", first, extents[d]);
  }
  c.from = "[" + from + "]";
  if (leaves) c.settings = c.is_load ? "fill_value=0" : "clip=True";
  return placed;
}

std::string with_setting(const std::string& settings, const std::string& more) {
  return settings.empty() ? more : settings + ", " + more;
}

// Some or all CTAs of the cluster, in any order, each of which sends its share to all of them.
void share_out(Chance& by, BoxCase& c) {
  std::vector<int> ranks(static_cast<std::size_t>(c.cluster));
  std::iota(ranks.begin(), ranks.end(), 0);
  if (by.coin()) std::shuffle(ranks.begin(), ranks.end(), by.random);
  if (c.cluster > 2 && by.coin()) ranks.resize(2);
  int mask = 0;
  for (const int rank : ranks) mask |= 1 << rank;
  c.sends = fmt::format("({} >> rank) % 2 == 1", mask);
  c.receives = c.sends;
  c.settings =
      with_setting(c.settings, fmt::format("multicast=({},), split=True", fmt::join(ranks, ", ")));
}

// One CTA sends to some, not necessarily to itself.
void send_from_one(Chance& by, BoxCase& c) {
  const std::int64_t mask = 1 + by.upto((std::int64_t{1} << c.cluster) - 2);
  c.sends = fmt::format("rank == {}", by.upto(c.cluster - 1));
  c.receives = fmt::format("({} >> rank) % 2 == 1", mask);
  c.settings = with_setting(c.settings, fmt::format("cta_mask={}", mask));
}

// Each second CTA sends to itself and the next.
void send_in_pairs(BoxCase& c) {
  c.sends = "rank % 2 == 0";
  c.settings = with_setting(c.settings, "cta_mask=3 << (rank // 2 * 2)");
}

}  // namespace

BoxCase box_by_chance(std::uint64_t seed) { return place_box(seed, 4, 2, false).box; }

BoxCase multicast_by_chance(std::uint64_t seed) {
  BoxCase c = box_by_chance(seed);
  Chance by(seed ^ 0x5DEE'CE66'D15CU);
  if (!c.is_load && !c.settings.empty()) c.settings = "fill_value=0";
  c.is_load = true;
  c.cluster = by.one_of({2, 2, 4, 8});
  c.grid = {c.cluster * (1 + by.upto(1))};
  const bool has_shares =
      std::ranges::any_of(c.shared, [](std::int64_t extent) { return extent % 8 == 0; });
  const std::int64_t kind = by.upto(2);
  if (kind == 0 && has_shares)
    share_out(by, c);
  else if (kind == 1)
    send_in_pairs(c);
  else
    send_from_one(by, c);
  return c;
}

BoxCase reduce_by_chance(std::uint64_t seed) {
  Chance by(seed ^ 0x2545'F491'4F6CU);
  BoxCase c = box_by_chance(seed);
  // Nothing combines bytes, and a store does not begin before the array, as loads may.
  while (c.dtype == "uint8" || (c.is_load && !c.settings.empty())) c = box_by_chance(by.random());
  // Of the same width, so that the layout stays right.
  const std::string from = c.dtype;
  if (from == "float16") c.dtype = by.one_of<std::string>({"float16", "bfloat16"});
  if (from == "float32") c.dtype = by.one_of<std::string>({"float32", "int32", "uint32", "uint32"});
  if (from == "float64") c.dtype = by.one_of<std::string>({"float64", "int64", "uint64"});
  auto op = ir::BoxReduce::Add;
  do op = static_cast<ir::BoxReduce>(by.upto(7));
  while (!ir::takes(op, *num::parse_dtype(c.dtype)));
  if (c.is_load) c.settings = c.settings.empty() ? "" : "clip=True";
  c.is_load = false;
  c.settings = with_setting(c.settings, fmt::format("use_tma_reduce=\"{}\"", ir::name_of(op)));
  return c;
}

BoxCase hinted_by_chance(std::uint64_t seed) {
  BoxCase c = box_by_chance(seed);
  Chance by(seed ^ 0x9E37'79B9U);
  const int bits = bits_of(c.dtype);
  const bool leaves = !c.settings.empty();
  if (c.is_load && leaves)
    c.settings = by.one_of<std::string>({"fill_value=0", "oob=\"zero\"",
                                         bits == 8 ? "oob=\"zero\"" : "oob=\"nan\"",
                                         bits == 8 ? "fill_value=0" : "fill_value=float(\"nan\")"});
  const std::string hint =
      by.one_of<std::string>({"", "cache_hint=\"evict_first\"", "cache_hint=\"evict_last\"",
                              "cache_hint=T.uint64(0x1000000000000000)"});
  if (!hint.empty()) c.settings = with_setting(c.settings, hint);
  if (by.coin()) c.settings = with_setting(c.settings, "prefetch_tensormap=True");
  if (by.coin())
    c.settings = with_setting(c.settings,
                              fmt::format("tensormap_l2_promotion=\"{}\"",
                                          by.one_of<std::string>({"none", "64B", "128B", "256B"})));
  return c;
}

OutsideCase outside_by_chance(std::uint64_t seed) {
  Chance by(seed ^ 0x6A09'E667'F3BCU);
  constexpr std::int64_t kMaxBytes = 40'000;      // some targets have no more than 48 KiB
  constexpr std::int64_t kMaxElements = 100'000;  // of the array, which a reduction fills first
  PlacedBox placed = place_box(seed, 5, by.one_of({2, 2, 8, 40}), true);
  while (placed.bytes > kMaxBytes || product(placed.box.array) > kMaxElements)
    placed = place_box(by.random(), 5, by.one_of({2, 2, 8, 40}), true);
  OutsideCase out{.box = placed.box};
  BoxCase& c = out.box;
  c.variant = "tma";  // runs of bytes have no map that knows the array's extents
  c.target = by.one_of<std::string>({"sm_90a", "sm_100a", "sm_90a", "sm_100a", "sm_90", "sm_100",
                                     "sm_103a", "sm_110a", "sm_120a", "sm_121"});
  const bool may_leave = !c.settings.empty();
  if (may_leave && by.coin()) c.settings = "";
  out.is_wrong = placed.leaves && c.settings.empty();
  const bool is_wide_float = c.dtype.starts_with("float");
  if (c.settings == "fill_value=0" && is_wide_float && by.coin())
    c.settings = "fill_value=float(\"nan\")";
  if (!c.is_load && c.dtype != "uint8" && by.upto(3) == 0)
    c.settings = with_setting(c.settings, "use_tma_reduce=\"add\"");
  return out;
}

BoxCase fallback_by_chance(std::uint64_t seed) {
  Chance by(seed ^ 0x1BD1'1BDAU);
  BoxCase c = hinted_by_chance(seed);
  constexpr std::int64_t kMaxBytes = 4096;  // one thread moves them
  while (product(c.shared) * bits_of(c.dtype) / 8 > kMaxBytes) c = hinted_by_chance(by.random());
  c.target = by.one_of<std::string>({"sm_80", "sm_86", "sm_89"});
  c.may_fall_back = true;
  if (by.coin()) c.around = "if T.ptx.elect_sync() and tid < 32:";
  return c;
}

void run_outside_by_chance(std::int64_t count) {
  run_by_chance("tma, regions that may leave", count, [](std::uint64_t seed) {
    const OutsideCase made = outside_by_chance(seed);
    ProgramByChance out{
        .program = program_of(made.box), .variant = "tma", .wrong = made.is_wrong ? "bounds" : ""};
    if (out.program.source.contains("nan")) out.program.has_any_nan = true;
    return out;
  });
}

void run_by_chance(const std::string& name, std::int64_t count, BoxCase (*make)(std::uint64_t)) {
  run_by_chance(name, count, [make](std::uint64_t seed) {
    ProgramByChance out{.program = program_of(make(seed)), .variant = "tma"};
    // The engine's NaN has other bits.
    if (out.program.source.contains("nan")) out.program.has_any_nan = true;
    return out;
  });
}

}  // namespace ww::test
