// SPDX-License-Identifier: Apache-2.0
// Thread axes as arithmetic. Every thread axis of one counter reads digits of it: `laneid` the
// digits [1,32), `wid_in_wg` [32,128), `wgid` [128,∞). Axes whose digit ranges are adjacent can be
// fused into the axis that reads both ranges, and split again; ranges that overlap or leave a gap
// cannot.
//
// All of this is about one machine model, which is therefore an argument.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// The hardware that defines the thread axes of a layout. `None` keeps all axes apart.
enum class Machine : std::uint8_t { None, Cuda };

/// The digits of the CTA's linear thread id that a layout's thread axes read, as [unit, whole):
/// `laneid` gives [1,32): a thread within a warp; `warpid`+`laneid` give [1,∞): a thread within a
/// CTA.
struct ThreadScope {
  std::int64_t unit = 1;
  std::int64_t whole = 0;    // 0: up to the CTA
  bool across_ctas = false;  // an axis on a cluster or grid counter occurs as well
  friend bool operator==(const ThreadScope&, const ThreadScope&) = default;
  /// "thread in warp", "warp in cta", "threads 4..31 in …"
  [[nodiscard]] std::string text() const;
};

/// The scope of the thread axes in shard, replica and offset; nothing if there is none. Fails when
/// two axes overlap (`laneid` with `tx`) or leave a gap (`laneid` with `wgid`), naming both.
Result<std::optional<ThreadScope>> thread_scope(const Layout& layout);

/// Rewrites thread axes of the CTA onto the fewest axes: `warpid`+`laneid` → `tx`,
/// `wid_in_wg`+`laneid` → `tid_in_wg`, `wgid`+`wid_in_wg` → `warpid`, declared axes likewise; then
/// canonicalizes. Axes that overlap, leave a gap, or take values outside their range stay as they
/// are; axes that are always at 0 do not take part. Meaning is unchanged: every place names the
/// same threads. For Machine::None this is `canonicalize`.
Layout fuse_threads(const Layout& layout, Machine machine);

/// Rewrites `whole` as `outer` and `inner` (e.g. tx → warpid, laneid). Fails when `outer` and
/// `inner` are not the two halves of `whole`, or when the split map is no tile layout.
Result<Layout> split_threads(const Layout& layout, Axis whole, Axis outer, Axis inner);

/// Rewrites `layout` so that its thread axes break at the same digits as those of `like`, where
/// they can; the pair of axes for a piece is chosen among `like`'s axes first, then the built-in
/// ones.
Result<Layout> split_like(const Layout& layout, const Layout& like, Machine machine);

}  // namespace ww::layout
