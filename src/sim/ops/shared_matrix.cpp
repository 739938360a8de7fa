// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/shared_matrix.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "sim/checks/copied_tiles.h"
#include "sim/checks/undefined.h"
#include "sim/ops/async_ops.h"
#include "sim/tensor_map/box.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kMatrixChunk = MatrixDescriptor::kChunk;

/// The elements of one chunk, in order.
using ChunkElements = std::array<std::uint32_t, 32>;

template <typename Element>
void split_chunk(const std::byte* bytes, ChunkElements& out) {
  for (unsigned i = 0; i < kMatrixChunk / sizeof(Element); ++i) {
    Element element;
    std::memcpy(&element, bytes + i * sizeof element, sizeof element);
    out[i] = element;
  }
}

// Elements of fewer bits than a byte.
void split_bits(const std::byte* bytes, ElementFormat format, ChunkElements& out) {
  for (unsigned i = 0; i < format.each; ++i) {
    const unsigned bit = i * format.bits;
    const auto at = [&](unsigned byte) { return std::to_integer<std::uint32_t>(bytes[byte]); };
    std::uint32_t word = at(bit / 8);
    if (bit / 8 + 1 < kMatrixChunk) word |= at(bit / 8 + 1) << 8U;
    out[i] = (word >> (bit % 8)) & ((1U << format.bits) - 1);
  }
}

void split_elements(const std::byte* bytes, ElementFormat format, ChunkElements& out) {
  switch (format.bits) {
    case 32:
      return split_chunk<std::uint32_t>(bytes, out);
    case 16:
      return split_chunk<std::uint16_t>(bytes, out);
    case 8:
      return split_chunk<std::uint8_t>(bytes, out);
    default:
      return split_bits(bytes, format, out);
  }
}

// Chunks one behind the other.
template <typename Element>
void unpack_chunks(const Region& shared, const MatrixChunks& chunks, std::uint32_t* to) {
  constexpr unsigned kEach = kMatrixChunk / sizeof(Element);
  for (const std::uint32_t at : chunks) {
    Element elements[kEach];
    std::memcpy(elements, shared.data + at, sizeof elements);
    std::copy_n(elements, kEach, to);
    to += kEach;
  }
}

void unpack_k_major(const Region& shared, const MatrixChunks& chunks, ElementFormat format,
                    std::uint32_t* to) {
  if (format.bits == 32) return unpack_chunks<std::uint32_t>(shared, chunks, to);
  if (format.bits == 16) return unpack_chunks<std::uint16_t>(shared, chunks, to);
  if (format.bits == 8) return unpack_chunks<std::uint8_t>(shared, chunks, to);
  ChunkElements elements{};
  for (const std::uint32_t at : chunks) {
    split_bits(shared.data + at, format, elements);
    to = std::copy_n(elements.begin(), format.each, to);
  }
}

// Chunks side by side: of a line if it is K-major, else of all lines at one k.
unsigned chunks_across(const SharedMatrix& matrix) {
  return matrix.is_mn_major
             ? (matrix.lines * matrix.element_bytes + kMatrixChunk - 1) / kMatrixChunk
             : matrix.line_bytes / kMatrixChunk;
}

}  // namespace

MatrixChunks chunks_of(const SharedMatrix& matrix) {
  const MatrixDescriptor at = matrix.at;
  const unsigned across = chunks_across(matrix);
  const unsigned count =
      matrix.is_mn_major ? matrix.line_bytes / matrix.element_bytes : matrix.lines;
  MatrixChunks chunks(std::size_t{count} * across);
  auto next = chunks.begin();
  for (unsigned i = 0; i < count; ++i)
    for (unsigned chunk = 0; chunk < across; ++chunk)
      *next++ = matrix.is_mn_major ? at.mn_major(chunk, i) : at.k_major(i, chunk);
  return chunks;
}

void check_inside(Warp& warp, Mask who, const Cta& cta, const SharedMatrix& matrix,
                  MatrixChunks& chunks) {
  const std::uint64_t size = cta.shared.size;
  const auto is_outside = [&](std::uint32_t at) { return at + kMatrixChunk > size; };
  std::uint32_t last = 0;
  for (const std::uint32_t chunk : chunks) last = std::max(last, chunk);
  if (!is_outside(last)) return;
  const std::uint32_t at = *std::ranges::find_if(chunks, is_outside);
  const auto count = std::ranges::count_if(chunks, is_outside);
  const std::size_t all = chunks.size();
  chunks.clear();
  if (!warp.checks(Check::Bounds)) {
    warp.unit->stop(Outcome::Trapped,
                    fmt::format("illegal shared address 0x{:x} at line {}, {}", at,
                                warp.program->infos[warp.current].line, warp.unit->describe(cta)));
    warp.stop = 0;
    return;
  }
  if (!warp.is_new(Check::Bounds)) return;
  warp.report_at(
      Check::Bounds, who, cta.shared.base + at,
      fmt::format("{} of {} chunks of {} lie outside of shared memory ({} bytes), the first at "
                  "0x{:x}: start 0x{:x}, leading offset {}, stride offset {}",
                  count, all, matrix.name, size, at, matrix.at.start(), matrix.at.leading(),
                  matrix.at.stride()));
}

// --- what wrote the bytes ------------------------------------------------------------------------

namespace {

void check_initialised(Warp& warp, Mask who, const Cta& cta, const SharedMatrix& matrix,
                       const MatrixChunks& chunks) {
  const Region& shared = cta.shared;
  if (shared.undefined == nullptr || !warp.undefined.are_early) return;
  for (const std::uint32_t at : chunks) {
    if (undefined_bits(shared, at, matrix.used_bytes) == 0) continue;
    if (!warp.is_new(Check::Uninit)) return;
    warp.report_at(Check::Uninit, who, shared.base + at,
                   fmt::format("{} has bytes in shared memory at 0x{:x} that nothing has written",
                               matrix.name, at));
    return;
  }
}

// The swizzle of copies that fit the descriptor.
TensorSwizzle swizzle_of(const MatrixDescriptor& descriptor) {
  switch (descriptor.width()) {
    case 32:
      return TensorSwizzle::B32;
    case 64:
      return TensorSwizzle::B64;
    case 128:
      return descriptor.atom() == kMatrixChunk ? TensorSwizzle::B128 : TensorSwizzle::Atom32;
    default:
      return TensorSwizzle::None;
  }
}

// Whether the copy put something else to that place than the descriptor looks for there. Where rows
// are neighbours in global memory, they need not be the lines of the matrix, and the place alone
// counts: swizzles move some chunks alike.
bool contradicts(const MatrixDescriptor& descriptor, const CopiedTile& tile, std::uint32_t at) {
  constexpr std::uint32_t kHalf = kMatrixChunk / 2;  // that one of the swizzles moves alone
  if (!tile.may_be_arranged && swizzle_of(descriptor) != tile.swizzle) return true;
  if (tile.may_be_arranged && tile.swizzle == TensorSwizzle::None) return false;
  const std::uint32_t expected = descriptor.swizzled(at);
  return swizzled(tile.swizzle, at) != expected ||
         swizzled(tile.swizzle, at + kHalf) != expected + kHalf;
}

std::string_view word_of(TensorSwizzle swizzle) {
  return words_of(swizzle)[static_cast<std::size_t>(swizzle)];
}

std::string swizzle_text(const SharedMatrix& matrix, const CopiedTile& tile) {
  const TensorSwizzle expected = swizzle_of(matrix.at);
  if (expected == tile.swizzle)
    return fmt::format(
        "the descriptor of {} has base offset {}, and the tensor copy that wrote the tile swizzled "
        "by addresses in shared memory, whose pattern starts at multiples of {} bytes; with base "
        "offset 0 the product reads what was copied",
        matrix.name, matrix.at.base_offset(), 8 * matrix.at.width());
  std::string text = fmt::format(
      "the descriptor of {} has swizzle {}, and the map of the tensor copy that wrote the tile has "
      "{}; encode the map with {}",
      matrix.name, word_of(expected), word_of(tile.swizzle), word_of(expected));
  const bool has_descriptor = tile.swizzle <= TensorSwizzle::Atom32;
  if (has_descriptor) text += fmt::format(", or let the descriptor say {}", word_of(tile.swizzle));
  return text;
}

void check_swizzle(Warp& warp, Mask who, const Cta& cta, const SharedMatrix& matrix,
                   const MatrixChunks& chunks) {
  if (cta.tiles.empty() || !looks_at_swizzles(warp)) return;
  const Region& shared = cta.shared;
  const CopiedTile* tile = nullptr;
  for (const std::uint32_t at : chunks) {
    if (tile == nullptr || at < tile->from || at >= tile->end) tile = cta.tiles.find(at);
    if (tile == nullptr || !contradicts(matrix.at, *tile, at)) continue;
    if (warp.unit->fences->is_rewritten(shared, shared.base + at, kMatrixChunk)) continue;
    if (!warp.is_new(Check::Align, tile->op)) return;
    warp.report_at(Check::Align, who, shared.base + at, swizzle_text(matrix, *tile),
                   warp.unit->party(tile->op, tile->warp, lane_bit(tile->lane)));
    return;
  }
}

}  // namespace

bool looks_at_swizzles(const Warp& warp) {
  return warp.checks(Check::Align) && warp.unit->fences != nullptr;
}

void check_defined(Warp& warp, Mask who, const Cta& cta, const SharedMatrix& matrix,
                   const MatrixChunks& chunks) {
  check_initialised(warp, who, cta, matrix, chunks);
  check_swizzle(warp, who, cta, matrix, chunks);
}

LineOrigins undefined_lines(Warp& warp, const Region& shared, const SharedMatrix& matrix,
                            const MatrixChunks& chunks) {
  LineOrigins lines;
  if (shared.undefined == nullptr || !warp.undefined.are_kept() || warp.undefined.are_early)
    return lines;
  const unsigned across = chunks_across(matrix);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::uint32_t bits = undefined_bits(shared, chunks[i], matrix.used_bytes);
    if (bits == 0) continue;
    lines.resize(matrix.lines);
    for (unsigned byte = 0; byte < matrix.used_bytes; ++byte) {
      if (((bits >> byte) & 1U) == 0) continue;
      const std::size_t line = matrix.is_mn_major
                                   ? (i % across * kMatrixChunk + byte) / matrix.element_bytes
                                   : i / across;
      if (line < lines.size() && lines[line] == 0)
        lines[line] = origin_in(warp, shared, chunks[i] + byte, 0);
    }
  }
  return lines;
}

// --- the elements --------------------------------------------------------------------------------

void mark_chunks(Warp& warp, unsigned lane, const Region& shared, const MatrixChunks& chunks) {
  if (!warp.checks(Check::Async)) return;
  for (const std::uint32_t at : chunks)
    mark_shared(warp, shared, shared.base + at, kMatrixChunk, lane, AsyncUse::Read);
}

void unmark_chunks(Warp& warp, const Region& shared, const MatrixChunks& chunks) {
  if (!warp.checks(Check::Async)) return;
  for (const std::uint32_t at : chunks)
    unmark_shared(warp, shared, shared.base + at, kMatrixChunk, AsyncUse::Read);
}

MatrixWords unpack_matrix(const Region& shared, const MatrixChunks& chunks, unsigned lines,
                          unsigned k, ElementFormat format, bool is_mn_major) {
  MatrixWords words(std::size_t{lines} * k);
  if (!is_mn_major) {
    unpack_k_major(shared, chunks, format, words.data());
    return words;
  }
  const unsigned across = (lines + format.each - 1) / format.each;
  ChunkElements elements{};
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    split_elements(shared.data + chunks[i], format, elements);
    const std::size_t first = i % across * format.each;
    for (std::size_t e = 0; e < format.each && first + e < lines; ++e)
      words[(first + e) * k + i / across] = elements[e];
  }
  return words;
}

void flip_signs(MatrixWords& words, num::DType type) {
  const unsigned sign = static_cast<unsigned>(num::bits_of(type)) - 1;
  for (std::uint32_t& word : words) word ^= 1U << sign;
}

}  // namespace ww::sim
