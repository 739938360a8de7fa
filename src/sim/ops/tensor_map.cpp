// SPDX-License-Identifier: Apache-2.0
// Tensor maps in memory: the copies' look at one, tensormap.replace, which changes a field, and
// tensormap.cp_fenceproxy, which brings a changed map from shared to global memory. Copies read maps
// through a proxy of their own, so a map that the kernel itself has written needs the fences that
// FenceTracker asks for.
#include "sim/ops/tensor_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/memory_ops.h"
#include "sim/run/meet.h"
#include "sim/run/unit.h"
#include "sim/tensor_map/image.h"

namespace ww::sim {
namespace {

void fill_lanes(std::uint64_t* address, std::uint64_t value) {
  std::fill(address, address + kLanes, value);
}

// The region of the 128 bytes; null: there are none, which is reported.
Region* find_image(Warp& warp, std::uint64_t address, unsigned lane, AccessKind kind, Space space) {
  Region* region = nullptr;
  std::uint64_t at[kLanes];
  for (const std::uint64_t part : {std::uint64_t{0}, kTensorMapAlign}) {
    fill_lanes(at, address + part);
    region = nullptr;
    visit_regions(warp, at, lane_bit(lane), kTensorMapAlign, kind, space,
                  [&](Region& found, Mask) { region = &found; });
    if (region == nullptr) return nullptr;
  }
  return region;
}

TensorMapImage image_at(const Region& region, std::uint64_t address) {
  TensorMapImage image;
  std::memcpy(image.data(), region.data + (address - region.base), image.size());
  return image;
}

bool has_undefined(const Region& region, std::uint64_t address) {
  if (region.undefined == nullptr) return false;
  const std::uint8_t* first = region.undefined + (address - region.base);
  return std::any_of(first, first + kTensorMapBytes, [](std::uint8_t b) { return b != 0; });
}

void report_undefined(Warp& warp, const Region& region, std::uint64_t address, unsigned lane,
                      const char* does) {
  if (!has_undefined(region, address) || !warp.is_new(Check::Uninit)) return;
  warp.report_at(
      Check::Uninit, lane_bit(lane), address,
      fmt::format("{} the tensor map at 0x{:x}, of which nothing has written some bytes; "
                  "begin with a copy of a map or with 128 zeros",
                  does, address));
}

// --- tensormap.replace ---------------------------------------------------------------------------

struct ReplaceOp {
  MapField field;
  std::uint32_t dimension;
};

// p: the value.
void run_replace(Warp& warp, const Op& op) {
  const Address& operand = warp.program->addresses[op.address];
  const LaneAddresses address = used_addresses(warp, op);
  use_value(warp, op.p[0], warp.exec);
  for_each_lane(warp.exec, [&](unsigned l) {
    Region* region = find_image(warp, address[l], l, AccessKind::Write, operand.space);
    if (region == nullptr) return;
    if (region->space != Space::Global && region->space != Space::Shared) {
      trap(warp, "`tensormap.replace` takes maps in global and shared memory");
      return;
    }
    std::uint64_t at[kLanes];
    fill_lanes(at, address[l]);
    report_undefined(warp, *region, address[l], l, "changes");
    access_checks(warp, *region, at, lane_bit(l), kTensorMapBytes, Touched::Write);
    const std::uint64_t offset = address[l] - region->base;
    const bool is_blank = has_undefined(*region, address[l]);
    if (is_blank) std::memset(region->data + offset, 0, kTensorMapBytes);
    const std::span<std::byte, kTensorMapBytes> image(region->data + offset, kTensorMapBytes);
    const std::uint64_t value = op.bytes == 8 ? warp.source<std::uint64_t>(op.p[0])[l]
                                              : warp.source<std::uint32_t>(op.p[0])[l];
    const Result<void> done =
        replace_field(image, op.as<ReplaceOp>().field, op.as<ReplaceOp>().dimension, value);
    if (!done) trap(warp, done.error().text.c_str());
    if (region->undefined != nullptr) std::memset(region->undefined + offset, 0, kTensorMapBytes);
  });
}

std::optional<MapField> field_of(const Decode& in) {
  constexpr std::pair<std::string_view, MapField> kFields[] = {
      {"global_address", MapField::GlobalAddress},
      {"rank", MapField::Rank},
      {"box_dim", MapField::BoxDim},
      {"global_dim", MapField::GlobalDim},
      {"global_stride", MapField::GlobalStride},
      {"element_stride", MapField::ElementStride},
      {"elemtype", MapField::ElementType},
      {"interleave_layout", MapField::InterleaveLayout},
      {"swizzle_mode", MapField::SwizzleMode},
      {"swizzle_atomicity", MapField::SwizzleAtomicity},
      {"fill_mode", MapField::FillMode},
  };
  const std::string opcode = in.form.opcode();
  for (const auto& [word, field] : kFields) {
    if (opcode.find(fmt::format(".{}.", word)) != std::string::npos) return field;
  }
  return {};
}

// --- tensormap.cp_fenceproxy ---------------------------------------------------------------------

// The whole warp copies one map.
void run_copy_map(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const Address* operands = &warp.program->addresses[op.address];
  const LaneAddresses to = used_addresses(warp, op), from = used_addresses(warp, op, 1);
  const unsigned lane = first_lane(warp.exec);
  Region* source = find_image(warp, from[lane], lane, AccessKind::Read, operands[1].space);
  Region* target = find_image(warp, to[lane], lane, AccessKind::Write, operands[0].space);
  if (source == nullptr || target == nullptr) return;
  access_checks(warp, *source, from.data(), lane_bit(lane), kTensorMapBytes, Touched::Read);
  access_checks(warp, *target, to.data(), lane_bit(lane), kTensorMapBytes, Touched::Write);
  const std::uint64_t at = to[lane] - target->base;
  const std::uint64_t source_at = from[lane] - source->base;
  std::memcpy(target->data + at, source->data + source_at, kTensorMapBytes);
  if (target->undefined != nullptr) {
    if (source->undefined != nullptr) {
      std::memcpy(target->undefined + at, source->undefined + source_at, kTensorMapBytes);
    } else {
      std::memset(target->undefined + at, 0, kTensorMapBytes);
    }
  }
  FenceTracker* fences = warp.unit->fences.get();
  if (fences != nullptr) fences->release_maps(warp, lane_bit(lane));
}

}  // namespace

// --- reading -------------------------------------------------------------------------------------

std::optional<TensorMap> read_tensor_map(Warp& warp, std::uint64_t address, unsigned lane,
                                         unsigned rank) {
  Region* region = find_image(warp, address, lane, AccessKind::Read, Space::Generic);
  const auto give_up = [&](const std::string& why) -> std::optional<TensorMap> {
    trap(warp, fmt::format("the tensor map at 0x{:x}: {}", address, why).c_str());
    return {};
  };
  if (region == nullptr) return give_up("no copy can be made without it");
  if (region->space != Space::Global && region->space != Space::Param &&
      region->space != Space::Const) {
    return give_up(
        fmt::format("it is in {}; copies take maps in global and constant memory and in "
                    "the kernel's parameters",
                    region->name));
  }
  report_undefined(warp, *region, address, lane, "uses");
  FenceTracker* fences = warp.unit->fences.get();
  if (fences != nullptr) fences->check_map(warp, *region, address, lane);
  const Result<TensorMap> map = decode(image_at(*region, address));
  if (!map) return give_up(map.error().text);
  if (map->rank == rank) return *map;
  return give_up(fmt::format("it has {} dimensions, and the instruction gives {} coordinates",
                             map->rank, rank));
}

std::uint32_t map_address(Decode& in, std::size_t i) {
  const std::uint32_t index = in.address(i);
  Address& address = in.function().program().addresses[index];
  if (address.base.present()) address.space = Space::Generic;
  return index;
}

// --- decoding ------------------------------------------------------------------------------------

bool decode_prefetch_map(Decode& in) {
  in.tracks_itself(run_nothing);
  return true;
}

bool decode_replace(Decode& in) {
  const auto field = field_of(in);
  if (!field) return false;
  const bool is_wide = in.word("type") == "b64";
  const bool has_dimension = in.count() == 3;
  in.tracks_itself(run_replace);
  in.op.bytes = is_wide ? 8 : 4;
  in.op.set(ReplaceOp{*field, has_dimension ? static_cast<std::uint32_t>(in.immediate(1)) : 0});
  in.op.address = in.has("space") ? in.address(0) : map_address(in, 0);
  in.op.p[0] = in.source(has_dimension ? 2 : 1);
  return true;
}

bool decode_copy_map(Decode& in) {
  in.tracks_itself(run_copy_map);
  in.op.address = in.address(0);
  in.address(1);
  return true;
}

}  // namespace ww::sim
