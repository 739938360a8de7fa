// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/tensor_parcel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/memory/access.h"

namespace ww::sim {

namespace {
constexpr std::uint64_t kSharedAlign = 128;
constexpr int kUnwrittenByte =
    0xFF;  // what Region::undefined has for a byte that nothing has written
}  // namespace

void check_shared_address(Warp& warp, std::uint64_t address, unsigned lane) {
  if (address % kSharedAlign == 0 || !warp.is_new(Check::Align)) return;
  warp.report_at(Check::Align, lane_bit(lane), address,
                 fmt::format("the box is at 0x{:x} of shared memory, expected a multiple of {}",
                             shared_offset(address), kSharedAlign));
}

std::vector<ByteRun> shared_runs(Warp& warp, const Parcel& parcel, std::uint64_t address,
                                 unsigned lane, AccessKind kind, Space space) {
  const unsigned width = std::max(kBoxChunk, swizzle_bytes(parcel.map.swizzle));
  const bool is_dense = parcel.shape.pitch == parcel.shape.row_bytes && address % width == 0 &&
                        parcel.size % width == 0;
  std::vector<ByteRun> runs;
  if (is_dense) {
    runs.push_back(find_run(warp, address, lane, parcel.size, kind, space));
  } else {
    std::vector<std::uint64_t> chunks;
    for (std::uint32_t at = 0; at < parcel.size; at += parcel.shape.group)
      chunks.push_back(parcel.place(address, at));
    std::ranges::sort(chunks);
    for (std::size_t first = 0, next = 0; first < chunks.size(); first = next) {
      while (++next < chunks.size() && chunks[next] == chunks[next - 1] + kBoxChunk) {
      }
      const auto bytes = static_cast<std::uint32_t>(next - first) * kBoxChunk;
      runs.push_back(find_run(warp, chunks[first], lane, bytes, kind, space));
    }
  }
  std::erase_if(runs, [](const ByteRun& run) { return run.region == nullptr; });
  return runs;
}

namespace {

// Calls visit(region, offset in the box, byte of the region, bytes) for the parts that swizzles keep
// together and that are accessible.
template <typename Visit>
void for_each_chunk(const Parcel& parcel, std::uint64_t address, const std::vector<ByteRun>& runs,
                    Visit&& visit) {
  if (runs.empty()) return;
  const Region& region = *runs[0].region;
  const bool has_halves = parcel.map.swizzle == TensorSwizzle::Atom32Flip;
  const std::uint32_t step = has_halves ? kBoxChunk / 2 : parcel.shape.group;
  const bool is_spread = parcel.shape.group != kBoxChunk;
  for (std::uint32_t at = 0; at < parcel.size; at += step) {
    const std::uint64_t there = parcel.place(address, at);
    const std::uint32_t bytes = std::min(step, parcel.size - at);
    if (region.holds(there, is_spread ? kBoxChunk : bytes))
      visit(region, at, there - region.base, bytes);
  }
}

// Six bits of each of 16 bytes, without gaps.
std::array<std::byte, 12> packed_sixes(const std::byte* bytes) {
  std::array<std::uint32_t, 4> triples{};  // of four numbers
  for (unsigned i = 0; i < 16; ++i)
    triples[i / 4] |= (static_cast<std::uint32_t>(bytes[i]) & 0x3FU) << (i % 4 * 6);
  std::array<std::byte, 12> packed{};
  for (unsigned i = 0; i < packed.size(); ++i)
    packed[i] = static_cast<std::byte>((triples[i / 3] >> (i % 3 * 8)) & 0xFFU);
  return packed;
}

// Byte i of three holds bits of numbers i and i + 1 of four.
void take_sixes(Parcel& parcel, const Region& region, std::uint32_t at, std::uint64_t from) {
  const auto packed = packed_sixes(region.data + from);
  std::ranges::copy(packed, &parcel.bytes.data[at]);
  if (region.undefined == nullptr) return;
  if (parcel.bytes.undefined.empty()) parcel.bytes.undefined.resize(parcel.size);
  for (unsigned i = 0; i < packed.size(); ++i) {
    const std::uint8_t* two = region.undefined + from + i / 3 * 4 + i % 3;
    parcel.bytes.undefined[at + i] = two[0] | two[1];
  }
}

}  // namespace

void put_box(const Parcel& parcel, std::uint64_t address, const std::vector<ByteRun>& runs) {
  const std::uint32_t padding = kBoxChunk - parcel.shape.group;
  for_each_chunk(parcel, address, runs,
                 [&](const Region& region, std::uint32_t at, std::uint64_t to, std::uint32_t n) {
                   std::memcpy(region.data + to, &parcel.bytes.data[at], n);
                   if (region.undefined == nullptr) return;
                   if (parcel.undefined() == nullptr) {
                     std::memset(region.undefined + to, 0, n);
                   } else {
                     std::memcpy(region.undefined + to, parcel.undefined() + at, n);
                   }
                   std::memset(region.undefined + to + n, kUnwrittenByte, padding);
                 });
}

void take_box(Parcel& parcel, std::uint64_t address, const std::vector<ByteRun>& runs) {
  for_each_chunk(parcel, address, runs,
                 [&](const Region& region, std::uint32_t at, std::uint64_t from, std::uint32_t n) {
                   if (parcel.map.type == TensorType::B6x16P32) {
                     take_sixes(parcel, region, at, from);
                     return;
                   }
                   std::memcpy(&parcel.bytes.data[at], region.data + from, n);
                   if (region.undefined == nullptr) return;
                   if (parcel.bytes.undefined.empty()) parcel.bytes.undefined.resize(parcel.size);
                   std::memcpy(&parcel.bytes.undefined[at], region.undefined + from, n);
                 });
}

}  // namespace ww::sim
