// SPDX-License-Identifier: Apache-2.0
// Matrix operands in shared memory, as wgmma and tcgen05.mma name them by descriptors: which chunks of
// 16 bytes they are, whether these may be read, and the elements in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "num/dtype.h"
#include "sim/checks/origins.h"
#include "sim/memory/matrix_descriptor.h"
#include "sim/run/unit.h"

namespace ww::sim {

struct SharedMatrix {
  std::string_view name;  // "A"
  MatrixDescriptor at;
  unsigned lines;          // rows of A, columns of B
  unsigned line_bytes;     // of the K elements of one
  unsigned element_bytes;  // that one takes where it is not K-major
  bool is_mn_major;
  unsigned used_bytes = MatrixDescriptor::kChunk;  // of a chunk; the rest is padding
};

/// Offsets in shared memory. K-major: line by line; MN-major: k by k.
using MatrixChunks = std::vector<std::uint32_t>;
MatrixChunks chunks_of(const SharedMatrix& matrix);

/// Reports chunks that are not in the CTA's shared memory. The matrix is not read then: `chunks` is
/// empty, its elements are zeros.
void check_inside(Warp& warp, Mask who, const Cta& cta, const SharedMatrix& matrix,
                  MatrixChunks& chunks);
/// Whether this run looks for swizzles that contradict each other (`align`). That needs to know which
/// bytes were written again, which `fence` does.
bool looks_at_swizzles(const Warp& warp);
/// Reports bytes that a tensor copy wrote with another swizzle than the descriptor's; for
/// `uninit=early` bytes that nothing has written, too.
void check_defined(Warp& warp, Mask who, const Cta& cta, const SharedMatrix& matrix,
                   const MatrixChunks& chunks);

/// Where the undefined bytes of each line come from, 0: all of its bytes are defined. Empty: those of all
/// lines are, or `uninit=early` reports them.
using LineOrigins = std::vector<OriginId>;
LineOrigins undefined_lines(Warp& warp, const Region& shared, const SharedMatrix& matrix,
                            const MatrixChunks& chunks);

/// The chunks are being read by asynchronous work of that lane; and no longer.
void mark_chunks(Warp& warp, unsigned lane, const Region& shared, const MatrixChunks& chunks);
void unmark_chunks(Warp& warp, const Region& shared, const MatrixChunks& chunks);

/// Calls visit(address of 32 lanes, lanes) for 32 chunks at a time.
template <typename Visit>
void for_chunks(const Region& shared, const MatrixChunks& chunks, Visit&& visit) {
  for (std::size_t from = 0; from < chunks.size(); from += kLanes) {
    std::uint64_t address[kLanes] = {};
    const auto count = static_cast<unsigned>(std::min<std::size_t>(kLanes, chunks.size() - from));
    for (unsigned i = 0; i < count; ++i) address[i] = shared.base + chunks[from + i];
    visit(address, count == kLanes ? kAllLanes : lane_bit(count) - 1);
  }
}

/// Elements, one in the low bits of each word.
using MatrixWords = std::vector<std::uint32_t>;
/// How the elements of a matrix are stored.
struct ElementFormat {
  unsigned bits;  // of an element; they lie side by side from the start of a chunk
  unsigned each;  // elements of a chunk; there may be room after them
};
/// [lines][k] elements from the chunks of a matrix.
MatrixWords unpack_matrix(const Region& shared, const MatrixChunks& chunks, unsigned lines,
                          unsigned k, ElementFormat format, bool is_mn_major);
void flip_signs(MatrixWords& words, num::DType type);

}  // namespace ww::sim
