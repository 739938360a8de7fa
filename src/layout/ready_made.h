// SPDX-License-Identifier: Apache-2.0
// Layouts that the hardware prescribes, ready to use: where tensor memory, shared memory and the
// registers of matrix instructions hold the elements of a tile. Element types appear as their width
// in bits only; every constructor refuses parameters that no instruction has with BadArgument,
// which names the value seen and the valid ones.
//
// Strides on storage axes count elements, not bytes: on `m` for registers and shared memory, on
// `TCol` for tensor memory (a 32-bit column holds 32 / bits elements).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

// ---- Tensor memory (Blackwell)

/// Register tile of one warpgroup for tcgen05.ld/st, over (rows, cols). `shape` is "32x32b",
/// "16x64b", "16x128b" or "16x256b"; rows 64 or 128; elements of 8, 16 or 32 bits, as many to a
/// 32-bit register as fit. The repetition count `.xN` follows from `cols` and must be one the
/// instruction has.
///
/// With w = wid_in_wg, register r of a lane holds, for 32-bit elements and 64 rows,
///
///     16x64b    row 16w + lane/4 + 8·(lane%2)       col 2r + (lane/2)%2
///     16x128b   row 16w + lane/4 + 8·(r%2)          col 4·(r/2) + lane%4
///     16x256b   row 16w + lane/4 + 8·((r/2)%2)      col 8·(r/4) + 2·(lane%4) + r%2
///
/// 128 rows take two instructions, one for the upper and one for the lower 16 of a warp's 32 rows,
/// in the first and second half of the registers. "32x32b" is one row per thread; with 64 rows it
/// is the image of an accumulator on datapath B or E (32-bit only): thread t holds row t%64 of the
/// left (t < 64) or right column half.
Result<Layout> tcgen05_atom(std::string_view shape, std::int64_t rows, std::int64_t cols, int bits);

/// One row per thread of a warpgroup: `(rows,cols):(1@tid_in_wg,1)`. Rows 1 to 128.
Result<Layout> wg_local(std::int64_t cols, std::int64_t rows = 128);

/// Accumulator rows and columns in tensor memory, over (rows, cols), for datapath 'A' … 'G' of the
/// PTX manual; rows are those of one CTA:
///
///     A, D  128 rows   lane r                        column c
///     B, E   64 rows   lane r + 64·(c / (cols/2))    column c % (cols/2)
///     C, F   64 rows   lane 32·(r/16) + r%16         column c
///     G      32 rows   lane r + 32·(c / (cols/4))    column c % (cols/4)
///
/// C and F use every other 16 lanes; sub_slab 1 means the ones that sub_slab 0 leaves free.
Result<Layout> tmem_datapath(char letter, std::int64_t rows, std::int64_t cols, int sub_slab = 0);

struct TmemOperand {
  char operand = 'D';  // 'A' or 'D'
  int m = 128;         // rows of the whole MMA
  int cta_group = 1;   // 1 or 2
  bool ws = false;
  bool sparse = false;
  std::vector<std::int64_t> group = {};  // (s, 2, n) for a 2-D D operand on datapaths B and E
};

/// The datapath letter of a tcgen05.mma, refused when the instruction has no such form.
Result<char> tmem_datapath_letter(const TmemOperand& operand);

/// Placement of an MMA operand in tensor memory; canonical. The shape has m / cta_group rows.
///
/// Operand D, 2-D: the datapath's layout. On B and E also (2,rows,n), (rows,2,n) and (rows,s,2,n),
/// where the extent 2 selects lanes 0 to 63 or 64 to 127.
///
/// Operand A (dense): the lanes of D on datapaths A, D and F. On B both halves of the lanes read A:
/// (rows,K) is held twice, (2,rows,K) names the halves. On E only (2,rows,K).
Result<Layout> tmem_mma_operand(std::span<const std::int64_t> shape, const TmemOperand& operand);

/// Scale factors (8-bit) in tensor memory, over (pipe, rows, sf_k · reuse). One tcgen05.mma reads
/// `q` (1, 2 or 4) of the `sf_k` factors of a row; steps that fit share a 32-bit column. The rows
/// lie 32 to a column, copied into all four lane windows. `reuse` consecutive steps share a factor;
/// pipeline stages are whole columns and never overlap. At most the 512 columns that exist.
Result<Layout> scale_factor_tmem(std::int64_t rows, std::int64_t sf_k, std::int64_t q,
                                 std::int64_t reuse = 1, std::int64_t pipe = 1);
/// The same scale factors in shared memory, as tcgen05.cp.32x128b.warpx4 expects them: blocks of
/// 128 rows × 4 factors in 512 bytes, 32 lanes of 16 bytes. `rows` in multiples of 128, `sf_k` of
/// 4.
Result<Layout> scale_factor_smem(std::int64_t rows, std::int64_t sf_k, std::int64_t q,
                                 std::int64_t reuse = 1, std::int64_t pipe = 1);

/// Lanes written by one tcgen05.cp, over its source rows: "128x256b", "128x128b", "4x256b",
/// "64x128b_02_13", "64x128b_01_23", "32x128b_warpx4". Multicast is a replica. For the 64-row forms
/// this is the reading in which the two named warps of a pair hold the same rows.
Result<Layout> tcgen05_cp_lanes(std::string_view shape);

// ---- Shared memory

enum class SwizzleMode : std::uint8_t { None, B32, B64, B128 };

/// "none", "32B", "64B", "128B".
std::string_view name_of(SwizzleMode mode);
/// The mode of that name.
Result<SwizzleMode> swizzle_mode(std::string_view name);

/// The XOR swizzle of a mode for elements of 4, 8, 16, 32 or 64 bits: 16-byte units move, eight
/// rows of the mode's width make the pattern.
Result<Swizzle> swizzle_for(SwizzleMode mode, int bits);
/// (8, elements in one swizzle width); the width of mode none is 16 bytes.
Result<Shape> mma_atom_shape(SwizzleMode mode, int bits);
/// Eight rows of one swizzle width: the unit that TMA and MMA descriptors know; 256, 512 or 1024
/// bytes, or the 128 bytes of a core matrix for mode none.
Result<Layout> mma_atom(SwizzleMode mode, int bits);
/// A shared-memory operand tile over (batches…, rows, K): atoms along the rows first, then along K,
/// batches outermost; canonical. With w elements in a swizzle width, element (b, r, k) is at
///
///     b·rows·K + (k/w)·rows·w + r·w + k%w          before the swizzle.
///
/// A swizzled tile needs rows in multiples of 8 and K in multiples of w. Mode none is the same with
/// 16-byte widths (core matrices), any number of rows; a K of no whole 16-byte units makes it plain
/// row-major, which copies know but no MMA descriptor.
Result<Layout> mma_shared(std::span<const std::int64_t> shape, SwizzleMode mode, int bits);

/// The widest mode that whole tiles of this shape have: 128B where rows are multiples of 128 bytes,
/// then 64B and 32B; none for other rows, and where there are not whole groups of eight rows.
SwizzleMode widest_swizzle(std::span<const std::int64_t> shape, int bits);

// ---- mma.sync and ldmatrix fragments

struct MmaShape {
  int m = 16;
  int n = 8;
  int k = 16;
  friend bool operator==(const MmaShape&, const MmaShape&) = default;
};

/// Register fragment of mma.sync for one warp: operand 'A' (m×k), 'B' (k×n), 'C' or 'D' (m×n).
/// `bits` is the width of that operand's elements; axis `m` counts elements, e = 32 / bits to a
/// register (one for 32 and 64 bits), in the register order of the PTX manual. With g = lane/4 and
/// t = lane%4:
///
///     A, m16   register r, element j:  row g + 8·(r%2)   k = 4e·(r/2) + e·t + j
///     A, m8    register r, element j:  row g             k = 4e·r     + e·t + j
///     B        register r, element j:  column g          k = 4e·r     + e·t + j
///     C, D     element i:              row g + 8·(i/2)   column 2t + i%2
///
/// So A of m16n8k16 in 16 bits is a0,a1: row g; a2,a3: row g+8; a4,a5: row g, k+8; a6,a7: row g+8,
/// k+8. Four- and six-bit floats that an instruction takes one to a byte count as 8 bits.
///
///     bits  A and B                       C and D
///       1   m8n8k128, m16n8k128, k256     32
///       4   m8n8k32, m16n8k32, k64        32
///       8   m8n8k16, m16n8k16, k32        32; 16 for m16
///      16   m16n8k8, k16                  32, 16
///      32   m16n8k4, k8 (tf32)            32
///      64   m8n8k4, m16n8k4, k8, k16      64
Result<Layout> mma_fragment(char operand, const MmaShape& shape, int bits);
/// The same for m16n8k{k}, and m8n8k4 where k is 4 and bits 64.
Result<Layout> mma_fragment(char operand, int k, int bits);

/// Register fragment of ldmatrix.m8n8.x{num}.b16 for one warp, over 8 rows × (8·num) columns of
/// 16-bit elements, matrix i being columns 8i to 8i+7; num 1, 2 or 4. Rows are those of shared
/// memory. Register i holds, low half first, row lane/4, columns 2·(lane%4) and +1 of matrix i;
/// with `trans` rows 2·(lane%4) and +1 of column lane/4.
Result<Layout> ldmatrix_fragment(int num, bool trans = false);

// ---- Register tiles over warps and threads

struct WarpGrid {
  std::int64_t m = 1;
  std::int64_t n = 1;
};

/// Registers of an operand of a product over a whole tile: 'A' (M×K), 'B' (K×N), 'C' or 'D' (M×N),
/// or the other way round when it is transposed. Warp i + m·j of the grid has block (i, j) of D,
/// and the rows of A and the columns of B that belong to it, so A is held by all warps of a row of
/// the grid, and B by those of a column. Each block consists of fragments of mma.sync, those of D row
/// by row, those of A and B step by step along K; A and B of m16n8k64 for 4 bits, k32 for 8, k16 for
/// 16, k8 for 32, and of m8n8k4 for 64.
Result<Layout> mma_tile(char operand, std::span<const std::int64_t> shape, int bits,
                        const WarpGrid& warps, bool is_transposed = false);

/// Registers of operand 'A' (M×K), 'C' or 'D' (M×N) of wgmma: 64 rows of each of so many warpgroups
/// side by side, on the axes `warpid` (or `wid_in_wg` for one warpgroup) and `laneid`. Further 64
/// rows of a warpgroup go to further registers; those of A are step by step along K. Elements of
/// 8, 16 and 32 bits for A, 16 and 32 for D. With warp w of the warpgroup, g = lane/4, t = lane%4 and
/// e = 32 / bits:
///
///     D   element i              row 16w + g + 8·(i/2%2)   column 8·(i/4) + 2t + i%2
///     A   register r, element j  row 16w + g + 8·(r%2)     k = 4e·(r/2) + e·t + j
Result<Layout> wgmma_tile(char operand, std::span<const std::int64_t> shape, int bits,
                          std::int64_t warpgroups = 1);

/// Vectors of up to 16 bytes, neighbours in neighbouring threads, as loads and stores of global
/// memory prefer. As many threads as share a row are side by side in it, the others take further
/// rows.
Result<Layout> coalesced(std::span<const std::int64_t> shape, std::int64_t threads, int bits,
                         Axis axis = axes::tx());
/// Each thread has whole rows, every `threads`-th; where there are fewer rows, neighbouring threads
/// share one in runs. The last dimension is the row, all others count rows.
Result<Layout> row_owned(std::span<const std::int64_t> shape, std::int64_t threads,
                         Axis axis = axes::tx());
/// Each thread has whole columns, every `threads`-th; where there are fewer, the rows are shared.
Result<Layout> column_owned(std::span<const std::int64_t> shape, std::int64_t threads,
                            Axis axis = axes::tx());
/// The layout of a reduction over some dimensions: every thread that held a part holds the result.
Result<Layout> reduced(const Layout& layout, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> dims);

}  // namespace ww::layout
