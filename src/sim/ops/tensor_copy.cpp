// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: boxes of a tensor, described by a tensor map
// (sim/tensor_map/map.h) and the coordinates of a corner. They are counted and waited for as runs of
// bytes are (bulk_copy.cpp): into shared memory by an mbarrier, which hears of the whole box, also of
// what lies outside the tensor; out of it in groups of the thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/checks/copied_tiles.h"
#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/families.h"
#include "sim/ops/shared_matrix.h"
#include "sim/ops/tensor_ops.h"
#include "sim/ops/tensor_parcel.h"
#include "sim/tensor_map/box.h"

namespace ww::sim::tensor_copy_ops {
namespace {

constexpr int kOwnCtaArch = 120;  // the first that loads packed elements to `.shared::cta` alone
constexpr std::uint64_t kMaxBytes = (1U << 20U) - 1;  // what one phase can count

// --- what a lane asks for ------------------------------------------------------------------------

// How a copy takes its coordinates: those of a corner, of a pixel, or a column and four rows.
enum class PointKind : std::uint8_t { Tile, Im2col, Rows };
struct BoxOp {
  Word reduction;     // none: a plain copy
  std::uint8_t rank;  // dimensions of the map
  PointKind kind;
  bool is_for_pair;  // the mbarrier may be in the other CTA of a pair
};

TensorPoint point_of(const Warp& warp, const Op& op, unsigned lane, unsigned rank) {
  TensorPoint point;
  const std::span<const Place> places = warp.places(op);
  if (op.as<BoxOp>().kind == PointKind::Rows) {
    point.at[0] = warp.source<std::int32_t>(places[0])[lane];
    std::array<std::int32_t, 4>& rows = point.rows.emplace();
    for (unsigned i = 0; i < 4; ++i) rows[i] = warp.source<std::int32_t>(places[i + 1])[lane];
    return point;
  }
  for (unsigned d = 0; d < rank; ++d) point.at[d] = warp.source<std::int32_t>(places[d])[lane];
  for (unsigned i = rank; i < op.place_count; ++i)
    point.offsets[i - rank] = warp.source<std::uint16_t>(places[i])[lane];
  return point;
}

bool pick_effect(Warp& warp, const Op& op, Parcel& parcel) {
  const Word operation = op.as<BoxOp>().reduction;
  if (operation.empty()) return true;
  parcel.effect.element = info(parcel.map.type).bits / 8;
  parcel.effect.combine = pick_combine(operation, combined_type(parcel.map.type, operation));
  const bool keeps_subnormals =
      parcel.map.type == TensorType::F32 || parcel.map.type == TensorType::Tf32;
  if (parcel.effect.combine != nullptr && keeps_subnormals)
    parcel.effect.combine = combine_f32_add_unflushed;
  if (parcel.effect.combine != nullptr) return true;
  trap(warp,
       fmt::format("`.{}` does not combine elements of {}", operation, info(parcel.map.type).name)
           .c_str());
  return false;
}

void run_store(Warp& warp, const Op& op);

// Why no GPU of the target makes that copy of packed elements; empty: it does.
std::string packed_fault(const Warp& warp, const Op& op, const TensorMap& map) {
  const std::string_view type = info(map.type).name;
  const bool is_store = op.run == run_store;
  if (!warp.program->target.has(target::Feature::Sm100))
    return fmt::format("elements of {} need sm_100", type);
  if (map.interleave != Interleave::None)
    return fmt::format("interleaved elements of {} are not modelled", type);
  if (is_store && map.type == TensorType::B4x16P64)
    return fmt::format("elements of {} are loaded, not stored", type);
  if (!is_store && map.swizzle == TensorSwizzle::Atom64 && map.type == TensorType::B6x16P32)
    return fmt::format("elements of {} with the swizzle 128B_atom_64B are stored, not loaded",
                       type);
  const bool to_cluster =
      !is_store && warp.program->addresses[op.address].space == Space::SharedCluster;
  if (to_cluster && target::info(warp.program->target.arch).number >= kOwnCtaArch)
    return fmt::format("elements of {} are loaded to `.shared::cta` on sm_120", type);
  return "";
}

bool is_modelled(Warp& warp, const Op& op, const TensorMap& map) {
  std::string why;
  if (is_packed(map.type)) why = packed_fault(warp, op, map);
  if (map.im2col && map.interleave != Interleave::None)
    why = "im2col copies of interleaved channels are not modelled";
  if (map.swizzle == TensorSwizzle::Atom32Flip && op.run == run_store)
    why = "the swizzle 128B_atom_32B_flip_8B is for loads";
  if (map.swizzle > TensorSwizzle::B128 && !warp.program->target.has(target::Feature::Sm100))
    why = fmt::format("the swizzle {} needs sm_100",
                      words_of(map.swizzle)[static_cast<std::size_t>(map.swizzle)]);
  if (!why.empty()) trap(warp, why.c_str());
  return why.empty();
}

// A map of single rows, for a copy of four of them.
bool take_four_rows(Warp& warp, TensorMap& map) {
  if (map.box[1] != 1) {
    const auto why = fmt::format("a copy of four rows with a map of {} rows, not 1", map.box[1]);
    trap(warp, why.c_str());
    return false;
  }
  map.box[1] = 4;
  map.element_strides[1] = 1;
  return true;
}

// The map says that no box leaves the tensor.
void report_outside(Warp& warp, unsigned lane, const TensorMap& map, const TensorPoint& point) {
  const auto d = left_dimension(map, point);
  if (!d || !warp.is_new(Check::Bounds)) return;
  const Region* array = warp.unit->context.memory->find(map.address);
  warp.report(
      Check::Bounds, lane_bit(lane),
      fmt::format("the box is {}:{} in dimension {} (0 is the innermost) of the tensor in {}, "
                  "which has {} there; a copy that may leave its array has `{}`",
                  point.at[*d], point.at[*d] + std::int64_t{map.box[*d]}, *d,
                  array != nullptr ? array->name : "no allocation", map.dims[*d],
                  point.writes_chunks ? "clip=True" : "fill_value="));
}

std::shared_ptr<Parcel> begin(Warp& warp, const Op& op, std::uint64_t map, unsigned lane) {
  const auto [reduction, rank, kind, is_for_pair] = op.as<BoxOp>();
  const auto found = read_tensor_map(warp, map, lane, rank);
  if (!found) return nullptr;
  auto parcel = std::make_shared<Parcel>();
  parcel->map = *found;
  if (found->im2col.has_value() != (kind == PointKind::Im2col)) {
    trap(warp, found->im2col ? "an im2col map in a copy of the tile kind"
                             : "a map of tiles in a copy of the im2col kind");
    return nullptr;
  }
  if (!is_modelled(warp, op, *found)) return nullptr;
  if (kind == PointKind::Rows && !take_four_rows(warp, parcel->map)) return nullptr;
  parcel->shape = shape_of_box(parcel->map);
  const std::uint64_t bytes = parcel->shape.bytes();
  if (bytes > kMaxBytes) {
    trap(warp, fmt::format("the box of the tensor map has {} bytes; {} are possible in one copy",
                           bytes, kMaxBytes)
                   .c_str());
    return nullptr;
  }
  if (!pick_effect(warp, op, *parcel)) return nullptr;
  parcel->size = static_cast<std::uint32_t>(bytes);
  parcel->point = point_of(warp, op, lane, rank);
  parcel->point.writes_chunks = op.run == run_store;
  const std::string illegal = illegal_point(parcel->map, parcel->point);
  if (!illegal.empty()) {
    trap(warp, illegal.c_str());
    return nullptr;
  }
  if (parcel->map.fill == TensorFill::None && kind == PointKind::Tile)
    report_outside(warp, lane, parcel->map, parcel->point);
  parcel->bytes.data.resize(parcel->size);
  return parcel;
}

// --- into shared memory --------------------------------------------------------------------------

void fill_box(Parcel& parcel) {
  const std::uint64_t bits = fill_bits(parcel.map);
  if (bits == 0) return;
  const unsigned element = info(parcel.map.type).bits / 8;
  for (std::uint32_t at = 0; at + element <= parcel.size; at += element)
    std::memcpy(&parcel.bytes.data[at], &bits, element);
}

void load_box(Warp& warp, unsigned lane, Parcel& parcel) {
  const unsigned element = std::max(1U, info(parcel.map.type).bits / 8);
  if (warp.undefined.are_kept()) parcel.bytes.undefined.resize(parcel.size);
  fill_box(parcel);
  for (const BoxRun& run : box_runs(parcel.map, parcel.point)) {
    const ByteRun from =
        find_run(warp, run.address, lane, run.bytes, AccessKind::Read, Space::Global, element);
    std::uint8_t* undefined = parcel.undefined();
    read_run(warp, from, lane, &parcel.bytes.data[run.at],
             undefined != nullptr ? undefined + run.at : nullptr);
    convert_loaded(parcel.map.type, std::span(parcel.bytes.data).subspan(run.at, from.bytes));
  }
}

// The box has landed there, for products that read it as a matrix.
void note_tile(Warp& warp, unsigned lane, const Parcel& parcel, const std::vector<ByteRun>& runs) {
  if (!looks_at_swizzles(warp)) return;
  for (const ByteRun& run : runs) {
    const auto from = static_cast<std::uint32_t>(run.address - run.region->base);
    warp.unit->ctas[run.region->owner]->tiles.add(
        {.from = from,
         .end = from + run.bytes,
         .swizzle = parcel.map.swizzle,
         .may_be_arranged = may_be_arranged(parcel.map, parcel.shape.row_bytes),
         .op = warp.current,
         .warp = static_cast<std::uint16_t>(warp.unit_warp()),
         .lane = static_cast<std::uint8_t>(lane)});
  }
}

// Starts the write of a box to one CTA; its mbarrier hears of it when it lands.
void send(Warp& warp, unsigned lane, const std::shared_ptr<const Parcel>& parcel,
          std::uint64_t address, std::uint64_t mbarrier, Space space) {
  check_shared_address(warp, address, lane);
  const auto runs = shared_runs(warp, *parcel, address, lane, AccessKind::Write, space);
  check_signalled(warp, mbarrier, lane_bit(lane));
  for (const ByteRun& run : runs) begin_write(warp, run, lane, parcel->mode());
  start_job(warp, lane, {.mbarrier = mbarrier, .bytes = parcel->size, .deliver = [=, &warp] {
                           for (const ByteRun& run : runs) end_write(warp, run, lane, false);
                           put_box(*parcel, address, runs);
                           note_tile(warp, lane, *parcel, runs);
                           complete_tx(warp, mbarrier, lane, parcel->size);
                         }});
}

// `from`: the box in shared memory that is stored; 0: it is loaded.
void note_box(const Warp& warp, unsigned lane, const Parcel& parcel, std::uint64_t from,
              std::vector<CopyTarget> to) {
  if (warp.unit->recorder == nullptr) return;
  warp.unit->recorder->note_copy({.lane = lane,
                                  .bytes = parcel.size,
                                  .box = CopiedBox{parcel.map, parcel.point},
                                  .is_store = from != 0,
                                  .from = from,
                                  .to = std::move(to)});
}

// The addresses of an op in all lanes, and the coordinates: they must be defined.
template <unsigned kCount>
std::array<LaneAddresses, kCount> addresses_of(Warp& warp, const Op& op) {
  std::array<LaneAddresses, kCount> all;
  for (unsigned i = 0; i < kCount; ++i) all[i] = used_addresses(warp, op, i);
  for (const Place place : warp.places(op)) use_value(warp, place, warp.exec);
  return all;
}

// Addresses: box, map, mbarrier; p: with multicast the mask of CTAs.
void run_load(Warp& warp, const Op& op) {
  const auto at = addresses_of<3>(warp, op);
  if (op.p[0].present()) use_value(warp, op.p[0], warp.exec);
  const Space space = warp.program->addresses[op.address].space;
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::shared_ptr<Parcel> parcel = begin(warp, op, at[1][l], l);
    if (parcel == nullptr) return;
    load_box(warp, l, *parcel);
    std::vector<CopyTarget> targets =
        copy_targets(warp, l, op.p[0], {at[0][l], at[2][l]}, op.as<BoxOp>().is_for_pair);
    for (const CopyTarget& to : targets) send(warp, l, parcel, to.address, to.mbarrier, space);
    note_box(warp, l, *parcel, 0, std::move(targets));
  });
}

// --- out of shared memory ------------------------------------------------------------------------

/// Where a part of the box goes.
struct Target {
  std::uint32_t at = 0;  // in the box
  ByteRun run;
};

std::vector<Target> begin_targets(Warp& warp, unsigned lane, const Parcel& parcel) {
  const unsigned element = std::max(1U, info(parcel.map.type).bits / 8);
  const AccessKind kind = parcel.effect.combine != nullptr ? AccessKind::Atomic : AccessKind::Write;
  std::vector<Target> targets;
  for (const BoxRun& run : box_runs(parcel.map, parcel.point)) {
    const ByteRun to = find_run(warp, run.address, lane, run.bytes, kind, Space::Global, element);
    if (to.region == nullptr) continue;
    begin_write(warp, to, lane, parcel.mode());
    targets.push_back({run.at, to});
  }
  return targets;
}

// What lies outside the tensor is not looked at, be it in a chunk that is written as a whole.
void check_written(Warp& warp, unsigned lane, const Parcel& parcel, std::uint64_t address) {
  if (parcel.undefined() == nullptr) return;
  TensorPoint inside = parcel.point;
  inside.writes_chunks = false;
  Unwritten found;
  for (const BoxRun& run : box_runs(parcel.map, inside))
    for (std::uint32_t at = run.at; at < run.at + run.bytes; ++at)
      found.look(parcel.undefined(), at, parcel.place(address, at));
  report_unwritten(warp, lane, found);
}

void store_box(Warp& warp, unsigned lane, const std::shared_ptr<Parcel>& parcel,
               std::uint64_t address, Space space) {
  check_shared_address(warp, address, lane);
  const auto sources = shared_runs(warp, *parcel, address, lane, AccessKind::Read, space);
  std::vector<std::byte> unused;
  for (const ByteRun& run : sources) {
    unused.resize(std::max<std::size_t>(unused.size(), run.bytes));
    read_run(warp, run, lane, unused.data(), nullptr);
  }
  take_box(*parcel, address, sources);
  check_written(warp, lane, *parcel, address);
  start_group_read(warp, lane, sources);
  const auto targets = begin_targets(warp, lane, *parcel);
  start_job(warp, lane,
            {.kind = PendingJob::JobKind::BulkWrite,
             .held = parcel->size,
             .deliver = [&warp, parcel, targets, lane] {
               const std::uint8_t* undefined = parcel->undefined();
               for (const Target& target : targets)
                 land(warp, lane, target.run, &parcel->bytes.data[target.at],
                      undefined != nullptr ? undefined + target.at : nullptr, parcel->effect);
             }});
}

// Addresses: map, box.
void run_store(Warp& warp, const Op& op) {
  const auto at = addresses_of<2>(warp, op);
  const Space space = warp.program->addresses[op.address + 1].space;
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::shared_ptr<Parcel> parcel = begin(warp, op, at[0][l], l);
    if (parcel == nullptr) return;
    store_box(warp, l, parcel, at[1][l], space);
    note_box(warp, l, *parcel, at[1][l], {CopyTarget{}});
  });
}

// --- prefetch ------------------------------------------------------------------------------------

// Nothing is cached here, but a map that is wrong is as wrong.
void run_prefetch(Warp& warp, const Op& op) {
  const auto at = addresses_of<1>(warp, op);
  for_each_lane(warp.exec, [&](unsigned l) { (void)begin(warp, op, at[0][l], l); });
}

// --- decoding ------------------------------------------------------------------------------------

// What is not modelled of the newer modes.
bool is_known_mode(Decode& in) {
  const Word mode = in.word("mode");
  if (mode.is_one_of({"im2col::w", "im2col::w::128"}))
    in.refusal = fmt::format(
        "the mode `.{}` is not modelled: where its halo pixels go is known from "
        "figures alone",
        mode);
  return in.refusal.empty();
}

// Coordinates, then the offsets of im2col; `map` is the operand of the map.
void decode_point(Decode& in, std::size_t map) {
  std::vector<Place> places = in.coordinates(map);
  const PointKind kind = in.word("mode")
                             .as<PointKind>({{"im2col", PointKind::Im2col},
                                             {"im2col_no_offs", PointKind::Im2col},
                                             {"tile::gather4", PointKind::Rows},
                                             {"tile::scatter4", PointKind::Rows}})
                             .value_or(PointKind::Tile);
  in.op.set(BoxOp{.reduction = in.word("op"),
                  .rank = static_cast<std::uint8_t>(kind == PointKind::Rows ? 2 : places.size()),
                  .kind = kind,
                  .is_for_pair = in.word("group") == "cta_group::2"});
  const std::size_t offsets = in.find("offsets");
  if (offsets < in.count()) {
    const std::vector<Place> more = in.sources(offsets);
    places.insert(places.end(), more.begin(), more.end());
  }
  in.further(places);
  in.op.flags = kTracksItself;
  in.function().program().uses_async_proxy = true;
}

bool decode_copy(Decode& in) {
  if (!is_known_mode(in)) return false;
  if (in.word("dst") == "global") {
    in.op.run = run_store;
    in.op.address = map_address(in, 0);
    in.address(1);
    decode_point(in, 0);
    return true;
  }
  in.op.run = run_load;
  in.op.address = in.address(0);
  map_address(in, 1);
  in.address(2);
  decode_point(in, 1);
  const std::size_t mask = in.find("mask");
  if (mask < in.count()) in.op.p[0] = in.source(mask);
  return true;
}

bool decode_prefetch(Decode& in) {
  if (!is_known_mode(in)) return false;
  in.op.run = run_prefetch;
  in.op.address = map_address(in, 0);
  decode_point(in, 0);
  return true;
}

constexpr OpRow kRows[] = {
    {"cp.async.bulk.tensor", decode_copy},
    {"cp.reduce.async.bulk.tensor", decode_copy},
    {"cp.async.bulk.prefetch.tensor", decode_prefetch},
    {"prefetch", decode_prefetch_map},
    {"tensormap.replace", decode_replace},
    {"tensormap.cp_fenceproxy", decode_copy_map},
};

}  // namespace

constinit const OpFamily family{"tensor_copy", kRows};

}  // namespace ww::sim::tensor_copy_ops
