// SPDX-License-Identifier: Apache-2.0
// What a read-only copy of the page has of a run's states: the warps and the barriers at every moment, and
// the contents of memory at some of them.
#pragma once

#include <cstdint>

#include "explore/recordings.h"
#include "explore/request.h"

namespace ww::explore {

/// No more is put into a copy: moments with contents, and different pieces of contents.
inline constexpr std::size_t kMaxSnapshots = 64;
inline constexpr std::uint64_t kMaxSnapshotBytes = std::uint64_t{6} << 20U;

/// The moments whose contents tell most: the first and the last, where something was found, and those at
/// which barriers have let warps go; all of them below `moments`, in order.
std::vector<std::uint64_t> telling_moments(const sim::History& history, std::uint64_t moments);

/// `states` of the copy; src/explore/page/js/snapshots.js reads it. Of the telling moments as many as
/// the bounds allow, spread over the run; equal pieces of memory are there once.
Json snapshots_json(StoredRun& run, std::uint64_t moments);

}  // namespace ww::explore
