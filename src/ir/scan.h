// SPDX-License-Identifier: Apache-2.0
// Scans: `cumsum`, `cumprod`, `cummax` and `cummin` along one axis of a region. Their meaning:
//
//     dst[i] = src[0], …, src[i] folded into one; with exclusive=True src[0], …, src[i - 1], and
//              `scan_identity` where i = 0
//
// Elements are folded in `fold_type`, and each result is rounded to the type of dst once. `cummax`
// and `cummin` ignore NaN. For floats the order of a sum or product matters. It depends on the
// threads that hold the source, of several the first:
//
//   1. Elements in a row that one thread holds are a *run*. Each run is folded from its first element
//      on: element after element.
//   2. Runs in a row that lanes of one warp hold, each lane with a greater number than the one before,
//      are a *sweep*. Its runs are numbered from 0 on, and begin with what they fold to. For d = 1, 2,
//      4, … run p ≥ d folds what run p - d has with what it has, all at once.
//   3. The results of all sweeps before one are folded, sweep after sweep: its *base*.
//
// A result is the base, folded with what run p - 1 of the sweep has, folded with the elements of the
// run up to here; parts that are empty are left out. A source in memory is folded as if threads held it
// as `scan_share` says.
#pragma once

#include <cstdint>
#include <span>

#include "ir/reduction.h"
#include "ir/simplify/fold.h"

namespace ww::ir {

/// cumsum, cumprod, cummax, cummin.
bool is_scan(TileOp op);
/// What folds two elements: Add, Mul, Max or Min.
ExprOp scanning_operator(TileOp op);
/// Of src; the verifier has seen that there is one, and that it exists.
std::size_t scanned_dimension(const TileCall& call);
bool is_exclusive(const TileCall& call);
/// What no elements of the type fold to: 0, 1, its least or greatest number, an infinity of floats. In
/// `fold_type`.
Constant scan_identity(ExprOp op, num::DType dtype);

/// How the threads of a unit share a source in memory: as many threads as `memory_share` says hold the
/// elements of one row, and each of them as many elements side by side.
struct ScanShare {
  std::vector<std::int64_t> thread, slot;  // by element of the source
};
ScanShare scan_share(std::span<const std::int64_t> extents, std::size_t dimension,
                     std::int64_t threads);

}  // namespace ww::ir
