// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements, or 8x16 and 16x16 of bytes,
// between rows of 16 bytes in shared memory and fragments over a warp. Row i of matrix m is at the
// address of lane R * m + i, where R is 16 for m16n16 and 8 otherwise.
//
//   g = lane / 4, t = lane % 4
//   m8n8           register m, half h:     row g,         element 2t + h
//   m8n8.trans     register m, half h:     row 2t + h,    element g
//   m8n16          register m, byte b:     row g,         byte 4t + b
//   m16n16.trans   register 2m + q, byte b: row 4t + b,   byte g + 8q
//   m16n8.trans    register m, byte b:     row 2t + b % 2, byte g + 8 * (b / 2)     (stores)
#include <array>
#include <bit>
#include <cstring>

#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/ops/families.h"
#include "sim/ops/memory_ops.h"
#include "sim/run/meet.h"

namespace ww::sim::matrix_ops {
namespace {

constexpr unsigned kRowBytes = 16;

enum class Format : std::uint8_t { Bytes, Packed6, Packed4 };

/// What a byte of a fragment register is: byte `at` of row `row`.
struct FragmentByte {
  unsigned row;
  unsigned at;
};
enum class MatrixShape : std::uint8_t { Plain8, Trans8, Plain8x16, Trans16, Trans16x8 };

FragmentByte fragment_byte(MatrixShape shape, unsigned lane, unsigned reg, unsigned byte) {
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;
  switch (shape) {
    case MatrixShape::Plain8:
    case MatrixShape::Plain8x16:
      return {8 * reg + g, 4 * t + byte};
    case MatrixShape::Trans8:
      return {8 * reg + 2 * t + byte / 2, 2 * g + byte % 2};
    case MatrixShape::Trans16:
      return {16 * (reg / 2) + 4 * t + byte, g + 8 * (reg % 2)};
    case MatrixShape::Trans16x8:
      return {8 * reg + 2 * t + byte % 2, g + 8 * (byte / 2)};
  }
  return {};
}

// A register of the warp has 128 bytes, eight rows.
unsigned rows_of(unsigned regs) { return 8 * regs; }

using Rows = std::array<std::array<std::byte, kRowBytes>, kLanes>;
using RowBits = std::array<std::uint32_t, kLanes>;  // undefined bytes

// Sub-byte elements at the low end of a row, one to a byte.
void unpack(Format format, std::array<std::byte, kRowBytes>& row, std::uint32_t& bits) {
  if (format == Format::Bytes) return;
  const unsigned width = format == Format::Packed6 ? 6 : 4;
  const std::array<std::byte, kRowBytes> packed = row;
  const std::uint32_t undefined = bits;
  bits = 0;
  for (unsigned c = 0; c < kRowBytes; ++c) {
    const unsigned first = c * width;
    const unsigned at = first / 8;
    unsigned word = std::to_integer<unsigned>(packed[at]);
    if (at + 1 < kRowBytes) word |= std::to_integer<unsigned>(packed[at + 1]) << 8U;
    row[c] = static_cast<std::byte>((word >> (first % 8)) & ((1U << width) - 1));
    const unsigned last = (first + width - 1) / 8;
    if (((undefined >> at) & 1U) != 0 || ((undefined >> last) & 1U) != 0) bits |= 1U << c;
  }
}

void count_rows(Warp& warp, const std::uint64_t* address, unsigned rows) {
  if (!warp.unit->context.options->count) return;
  OpCount& count = warp.unit->counters.ops[warp.current];
  const Wavefronts w = row_wavefronts(address, rows);
  count.wavefronts += w.needed;
  count.ideal_wavefronts += w.ideal;
}

Mask first_lanes(unsigned count) { return count >= kLanes ? kAllLanes : (Mask{1} << count) - 1; }

// The rows of shared memory that the lanes point to. `stored`: of a store, what it writes.
template <typename Visit>
void visit_rows(Warp& warp, const Op& op, unsigned rows, const StoredBytes* stored, Visit&& visit) {
  const Address& at = warp.program->addresses[op.address];
  const Mask who = first_lanes(rows) & warp.exec;
  use_base(warp, at, who);
  std::uint64_t address[kLanes];
  lane_addresses(warp, at, address);
  const Space space = at.space == Space::Generic ? Space::Shared : at.space;
  const bool writes = stored != nullptr;
  const AccessKind kind = writes ? AccessKind::Write : AccessKind::Read;
  visit_regions(warp, address, who, kRowBytes, kind, space, [&](Region& region, Mask group) {
    note_access(warp, region, address, group, kRowBytes, writes ? Touched::Write : Touched::Read,
                {}, stored);
    check_async(warp, region, address, group, kRowBytes, writes);
    for_each_lane(group, [&](unsigned l) { visit(region, region.offset(address[l], l), l); });
  });
  count_rows(warp, address, rows);
}

struct MatrixOp {
  MatrixShape shape;
  Format format = Format::Bytes;  // of the source
};

void run_load(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const auto [shape, format] = op.as<MatrixOp>();
  const unsigned regs = op.place_count;
  Rows rows{};
  RowBits bits{};
  OriginId origin = 0;  // of one of the undefined bytes
  visit_rows(warp, op, rows_of(regs), nullptr,
             [&, format = format](Region& region, std::uint64_t offset, unsigned row) {
               std::memcpy(rows[row].data(), region.data + offset, kRowBytes);
               if (warp.undefined.are_kept()) bits[row] = undefined_bits(region, offset, kRowBytes);
               if (bits[row] != 0 && origin == 0)
                 origin =
                     origin_in(warp, region,
                               offset + static_cast<unsigned>(std::countr_zero(bits[row])), row);
               unpack(format, rows[row], bits[row]);
             });
  for (unsigned r = 0; r < regs; ++r) {
    const Place place = warp.places(op)[r];
    std::uint32_t words[kLanes];
    std::uint8_t undefined[kLanes] = {};
    for (unsigned l = 0; l < kLanes; ++l) {
      std::uint32_t word = 0;
      for (unsigned b = 0; b < 4; ++b) {
        const FragmentByte cell = fragment_byte(shape, l, r, b);
        word |= std::to_integer<std::uint32_t>(rows[cell.row][cell.at]) << (8 * b);
        undefined[l] |= static_cast<std::uint8_t>(((bits[cell.row] >> cell.at) & 1U) << b);
      }
      words[l] = word;
    }
    warp.write(place, words);
    if (warp.undefined.are_kept()) set_loaded_bytes(warp, place, undefined, origin);
  }
}

void run_store(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const MatrixShape shape = op.as<MatrixOp>().shape;
  const unsigned regs = op.place_count;
  Rows rows{};
  RowBits bits{};
  OriginId origin = 0;  // of one of them
  for (unsigned r = 0; r < regs; ++r) {
    const Place place = warp.places(op)[r];
    const auto* words = warp.source<std::uint32_t>(place);
    const bool tracks = warp.undefined.are_kept() && !place.is_constant();
    const std::uint8_t* undefined = tracks ? warp.undefined.of(place) : nullptr;
    for (unsigned l = 0; l < kLanes; ++l) {
      for (unsigned b = 0; b < 4; ++b) {
        const FragmentByte cell = fragment_byte(shape, l, r, b);
        rows[cell.row][cell.at] = static_cast<std::byte>((words[l] >> (8 * b)) & 0xFFU);
        if (!tracks || ((undefined[l] >> b) & 1U) == 0) continue;
        bits[cell.row] |= 1U << cell.at;
        if (origin == 0)
          origin = warp.unit->origins.through(origin_of(warp, place, l), warp.current);
      }
    }
  }
  act(warp);
  const auto leaves = [&](const Region& region, std::uint64_t address, unsigned row) {
    return std::memcmp(region.data + region.offset(address, row), rows[row].data(), kRowBytes) == 0;
  };
  const StoredBytes stored(leaves);
  visit_rows(warp, op, rows_of(regs), &stored,
             [&](Region& region, std::uint64_t offset, unsigned row) {
               std::memcpy(region.data + offset, rows[row].data(), kRowBytes);
               mark_bytes(region, offset, kRowBytes, bits[row]);
               if (bits[row] != 0)
                 warp.unit->origins.stored(warp.unit_warp(), region, offset, kRowBytes, origin);
             });
}

// Transposes a matrix that one register holds: half h of lane l is row 2t + h, element g.
void run_move(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const auto* a = warp.source<std::uint32_t>(op.p[1]);
  const bool tracks = warp.undefined.are_kept() && !op.p[1].is_constant();
  const std::uint8_t* bits = tracks ? warp.undefined.of(op.p[1]) : nullptr;
  std::uint32_t words[kLanes];
  std::uint8_t undefined[kLanes] = {};
  OriginId origins[kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l) {
    words[l] = 0;
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned from = 4 * (2 * (l % 4) + h) + l / 8;
      const unsigned half = (l / 4) % 2;
      words[l] |= ((a[from] >> (16 * half)) & 0xFFFFU) << (16 * h);
      const unsigned open = tracks ? (bits[from] >> (2 * half)) & 3U : 0U;
      undefined[l] |= static_cast<std::uint8_t>(open << (2 * h));
      if (open != 0) origins[l] = origin_of(warp, op.p[1], from);
    }
  }
  warp.write(op.p[0], words);
  if (!warp.undefined.are_kept()) return;
  set_undefined_bytes(warp, op.p[0], undefined);
  if (std::ranges::any_of(undefined, [](std::uint8_t bytes) { return bytes != 0; }))
    set_origins(warp, op.p[0], warp.exec, origins);
}

// --- decoding ------------------------------------------------------------------------------------

MatrixShape shape_in(const Decode& in) {
  return in.word("shape")
      .as<MatrixShape>({{"m16n16", MatrixShape::Trans16},
                        {"m16n8", MatrixShape::Trans16x8},
                        {"m8n16", MatrixShape::Plain8x16}})
      .value_or(in.has("trans") ? MatrixShape::Trans8 : MatrixShape::Plain8);
}

bool decode_load(Decode& in) {
  in.tracks_itself(run_load);
  const auto format =
      in.word("src").as<Format>({{"b6x16_p32", Format::Packed6}, {"b4x16_p64", Format::Packed4}});
  in.op.set(MatrixOp{shape_in(in), format.value_or(Format::Bytes)});
  in.further(in.results(0));
  in.op.address = in.address(1);
  return true;
}

bool decode_store(Decode& in) {
  in.tracks_itself(run_store);
  in.op.set(MatrixOp{shape_in(in)});
  in.op.address = in.address(0);
  in.further(in.sources(1));
  return true;
}

bool decode_move(Decode& in) {
  in.op.flags = kTracksItself;
  return in.runs(run_move, {in.result(0), in.source(1)});
}

constexpr OpRow kRows[] = {
    {"ldmatrix", decode_load}, {"stmatrix", decode_store}, {"movmatrix", decode_move}};

}  // namespace

constinit const OpFamily family{"matrix", kRows};

}  // namespace ww::sim::matrix_ops
