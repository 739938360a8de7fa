// SPDX-License-Identifier: Apache-2.0
// `--export page.html`: one file that holds the page, its modules, and the answers about a program, to
// be sent around. It needs no server and no network, and asks nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "explore/recordings.h"
#include "explore/request.h"
#include "explore/session.h"

namespace ww::explore {

// --- snapshots -----------------------------------------------------------------------------------
//
// What a read-only copy of the page has of a run's states: the warps and the barriers at every moment, and
// the contents of memory at some of them.

/// No more is put into a copy: moments with contents, and different pieces of contents.
inline constexpr std::size_t kMaxSnapshots = 64;
inline constexpr std::uint64_t kMaxSnapshotBytes = std::uint64_t{6} << 20U;

/// The moments whose contents tell most: the first and the last, where something was found, and those at
/// which barriers have let warps go; all of them below `moments`, in order.
std::vector<std::uint64_t> telling_moments(const sim::History& history, std::uint64_t moments);

/// `states` of the copy; src/explore/page/js/snapshots.js reads it. Of the telling moments as many as
/// the bounds allow, spread over the run; equal pieces of memory are there once.
Json snapshots_json(StoredRun& run, std::uint64_t moments);

/// The file as text, for the file that the session was opened with. BadArgument where there is none,
/// or the page has no modules of the form that is put together here.
Result<std::string> exported_page(Session& session);

}  // namespace ww::explore
