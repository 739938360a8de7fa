// SPDX-License-Identifier: Apache-2.0
// One spelling per layout, and equality by meaning.
//
// The shard of a constant layout has a unique shortest spelling: drop unit iters, merge neighbours
// that continue each other. The replica is a *set* of displacements: units and zero strides go,
// negative strides turn around (their reach moves to the offset), what can merge merges, the rest
// is sorted by axis, stride, extent. What a layout means never changes. Thread axes are left alone
// here: expressing `warpid`+`laneid` as `tx` is `fuse_threads` (layout/threads.h), because it needs
// to know the machine.
#pragma once

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// The shortest spelling. Idempotent. An all-unit shard keeps one `1:1` on its first axis.
Layout canonicalize(const Layout& layout);
TileLayout canonicalize(const TileLayout& layout);

/// Does `outer` go on where `inner` ends, so that the two are one iter?
bool continues(const Iter& outer, const Iter& inner);

/// Merges neighbouring iters that continue each other and drops units, in place.
void merge_iters(Iters& iters);

/// Do both have the same elements at the same sets of places? (Axes not mentioned count as 0.)
/// Decided on canonical forms where these settle it, else by enumeration; refuses only when that
/// would exceed kMaxEnumerated.
Result<bool> same_places(const Layout& a, const Layout& b);

/// Contiguous from 0 on a single memory axis, no replica, no swizzle.
bool is_trivial(const Layout& layout);

}  // namespace ww::layout
