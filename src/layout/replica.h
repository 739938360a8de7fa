// SPDX-License-Identifier: Apache-2.0
// Replicas as sets of displacements: a replica list means the set of all sums of digit · stride,
// and two lists are the same replica when the sets are equal.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// A value per axis, in the order of some list of axes.
using Displacement = std::vector<std::int64_t>;

/// The axes of some iters, by name, each once.
std::vector<Axis> axes_of(const Iters& iters);

/// All displacements of a replica over `axes`, which must contain its axes.
std::set<Displacement> displacement_set(const Iters& replica, std::span<const Axis> axes);

/// Writes a set whose smallest member is zero as a sum of runs, or nothing if it is no direct sum
/// of runs. The answer depends on the set alone.
std::optional<Iters> runs_of(const std::set<Displacement>& set, std::span<const Axis> axes);

/// The normal form: no idle iters, no negative strides (their reach moves to `offset`), merged,
/// sorted by axis, stride, extent.
void normalize_replica(Iters& replica, Offsets& offset);

/// Are two normalized replicas the same set? Refuses sets too large to write out.
Result<bool> same_replica(const Iters& a, const Iters& b);

/// The replica that, added to `known`, gives `total`, every displacement once. Both normalized.
Result<Iters> divide_replicas(const Iters& total, const Iters& known);

}  // namespace ww::layout
