// SPDX-License-Identifier: Apache-2.0
// Scale factors of block-scaled MMAs: one byte per row and block of K.
//
// In tensor memory a 32-bit column holds four bytes of 32 rows, one row per lane, and all four lane
// windows hold a copy. With M = rows / 32, the columns of one group of four factors are
//
//     TCol / 4:   0        1              M-1      M        …
//                 rows 0+  rows 32+  …    last     rows 0+  …
//                 └──── factors 0..3 ──────┘        └ factors 4..7
//
// In shared memory the same 128 rows × 4 factors are 32 lanes of 16 bytes, the four row groups side
// by side: one tcgen05.cp.32x128b.warpx4 moves them as they lie.
#include "layout/canonical.h"
#include "layout/ready_made.h"

namespace ww::layout {
namespace {

constexpr std::int64_t kPerColumn = 4;        // bytes in a column
constexpr std::int64_t kTmemBytes = 4 * 512;  // of a lane
constexpr std::int64_t kSmemBlock = 512;      // bytes of 128 rows × 4 factors

Result<void> check(std::int64_t rows, std::int64_t row_unit, std::int64_t sf_k,
                   std::int64_t sf_unit, std::int64_t q, std::int64_t reuse, std::int64_t pipe) {
  if (q != 1 && q != 2 && q != 4)
    return fail(DiagKind::BadArgument, "{} scale factors per MMA; accepted are 1, 2 and 4", q);
  if (rows < 1 || rows % row_unit != 0)
    return fail(DiagKind::BadArgument,
                "{} rows of scale factors; accepted are positive multiples of {}", rows, row_unit);
  if (sf_k < 1 || sf_k % sf_unit != 0)
    return fail(DiagKind::BadArgument,
                "{} scale factors along K; accepted are positive multiples of {}", sf_k, sf_unit);
  if (reuse < 1 || pipe < 1)
    return fail(DiagKind::BadArgument, "reuse {} and pipe {}; both are at least 1", reuse, pipe);
  return {};
}

// How many factors share a column: whole MMA steps, as many as fit and divide the row evenly.
std::int64_t shared_column(std::int64_t sf_k, std::int64_t q) {
  std::int64_t together = kPerColumn;
  while (together > q && sf_k % together != 0) together /= 2;
  return together;
}

}  // namespace

Result<Layout> scale_factor_tmem(std::int64_t rows, std::int64_t sf_k, std::int64_t q,
                                 std::int64_t reuse, std::int64_t pipe) {
  WW_TRY_VOID(check(rows, 32, sf_k, q, q, reuse, pipe));
  const std::int64_t together = shared_column(sf_k, q);
  const std::int64_t blocks = sf_k / together;
  const std::int64_t row_groups = rows / 32;
  const std::int64_t fit = kTmemBytes / kPerColumn;
  if (row_groups > fit || blocks > fit / row_groups || pipe > fit / row_groups / blocks)
    return fail(DiagKind::BadArgument,
                "{} × {} × {} columns for {} stages, {} groups of 32 rows and {} columns of "
                "factors; tensor "
                "memory has {}",
                pipe, row_groups, blocks, pipe, row_groups, blocks, fit);
  const Axis lane = axes::tlane();
  const Axis col = axes::tcol();
  const std::int64_t block = kPerColumn * row_groups;
  return canonicalize(Layout(WW_TRY(TileLayout::make({{pipe, block * blocks, col},
                                                      {row_groups, kPerColumn, col},
                                                      {32, 1, lane},
                                                      {blocks, block, col},
                                                      {together, 1, col},
                                                      {reuse, 0, col}},
                                                     {{4, 32, lane}}))));
}

Result<Layout> scale_factor_smem(std::int64_t rows, std::int64_t sf_k, std::int64_t q,
                                 std::int64_t reuse, std::int64_t pipe) {
  WW_TRY_VOID(check(rows, 128, sf_k, kPerColumn, q, reuse, pipe));
  const std::int64_t blocks = sf_k / kPerColumn;
  const std::int64_t supers = rows / 128;
  if (blocks > kMaxSize / kSmemBlock / supers || pipe > kMaxSize / kSmemBlock / supers / blocks)
    return fail(DiagKind::BadArgument,
                "{} stages of {} × {} scale factors; at most {} fit a layout", pipe, rows, sf_k,
                kMaxSize);
  const Axis m = axes::m();
  return canonicalize(Layout(WW_TRY(TileLayout::make({{pipe, kSmemBlock * blocks * supers, m},
                                                      {supers, kSmemBlock * blocks, m},
                                                      {4, kPerColumn, m},
                                                      {32, 16, m},
                                                      {blocks, kSmemBlock, m},
                                                      {kPerColumn, 1, m},
                                                      {reuse, 0, m}}))));
}

}  // namespace ww::layout
