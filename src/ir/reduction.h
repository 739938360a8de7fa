// SPDX-License-Identifier: Apache-2.0
// Reductions: `sum`, `prod`, `max`, `min`, `any`, `all`, `argmax` and `argmin` along axes of a
// region. Their meaning:
//
//     dst[i] = the elements of src that have i as their other coordinates, folded into one;
//              with accum=True what dst[i] was is folded in, last
//
// Elements are folded in `fold_type`, and the result is rounded to the type of dst once. `max` and
// `min` ignore NaN: the result is NaN only if all elements are. `any` and `all` are the maximum and
// the minimum of 0 and 1. `argmax` and `argmin` give the least index of an element that is what
// `max` or `min` gives, 0 where all are NaN; the index is row-major over the folded axes. For floats the order of a sum or product matters. Of a source in
// registers it is
//
//   1. in each thread, the elements that it holds, one after the other in row-major order; an
//      element that several threads hold counts in the first of them,
//   2. in each warp, lanes whose numbers differ in bit 0, then those in bit 1, … up to bit 4,
//   3. the warps, one after the other; of a call at cluster scope, those of each CTA,
//   4. and then its CTAs, one after the other.
//
// A source in memory is folded as if threads held it as `memory_share` says, or the threads of a cluster
// as `cluster_share` does. In shared memory every CTA of a cluster has all of it, and all of the
// destination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

/// sum, prod, max, min, any, all, argmax, argmin.
bool is_reduction(TileOp op);
/// argmax, argmin.
bool gives_index(TileOp op);
/// What folds two elements: Add, Mul, Max or Min.
ExprOp folding_operator(TileOp op);
/// float32 for narrower floats, int32 for narrower integers and bool, otherwise the type itself.
num::DType fold_type(num::DType dtype);
/// Does the order matter in which elements of the type are folded?
bool is_ordered_fold(ExprOp op, num::DType type);
/// Is what the destination was folded in?
bool accumulates(const TileCall& call);
/// The axes as they are given, one or several; negative ones count from the last.
std::vector<std::int64_t> folded_axes(const TileCall& call);
/// By dimension of src, whether it is folded; the verifier has seen that the axes exist.
std::vector<bool> folded_dimensions(const TileCall& call);

/// Where the elements of a source go, in row-major order on both sides.
struct FoldMap {
  std::vector<std::int64_t> into;   // by element of the source
  std::vector<std::int64_t> index;  // of it among the elements that go into the same one, row-major
  std::int64_t results = 1;         // elements of the destination
  std::int64_t folded = 1;          // that go into each of them
};
FoldMap fold_map(std::span<const std::int64_t> extents, const std::vector<bool>& is_folded);

/// How the threads of a unit share a source in memory. Of W threads, the greatest power of two that
/// the unit has, so many hold elements of one result:
///
///   no whole warps          1
///   last dimension folded   up to 32, or W / results if that is more: G side by side
///   otherwise               up to W / results: G, one for each result side by side
///
/// G is a divisor of the folded extent, found from the last folded dimension on: element i of it is
/// in the thread i % G of the result's threads, which begin at a multiple of G rounded up to a power
/// of two.
struct MemoryShare {
  std::vector<std::int64_t> thread, slot;                // by element of the source
  std::vector<std::int64_t> result_thread, result_slot;  // by element of the destination
  std::int64_t parts = 1;                                // G
};
MemoryShare memory_share(std::span<const std::int64_t> extents, const std::vector<bool>& is_folded,
                         std::int64_t threads);

/// How the CTAs of a cluster share a source in memory: in equal parts of one dimension, the first that
/// is folded, or else the first of all, whose extent is a multiple of their number. The threads of a CTA
/// share its part as `memory_share` says.
struct ClusterShare {
  std::size_t dimension = 0;
  std::vector<std::int64_t> part;  // extents of a CTA's
  MemoryShare share;               // of it
  std::vector<std::int64_t> cta,
      index;  // by element of the source: whose it is, and where in the part
};
/// Nothing: no dimension has such an extent.
std::optional<ClusterShare> cluster_share(std::span<const std::int64_t> extents,
                                          const std::vector<bool>& is_folded, std::int64_t ctas,
                                          std::int64_t threads);

}  // namespace ww::ir
