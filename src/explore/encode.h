// SPDX-License-Identifier: Apache-2.0
// Parts of a state as JSON, for answers about one moment (states.cpp) and for copies of many
// (export.cpp).
#pragma once

#include <string_view>

#include "explore/recordings.h"
#include "explore/request.h"

namespace ww::explore {

/// "runs", "mbarrier", …, "ended".
std::string_view state_name(const sim::WarpStatus& status);
/// "full[0]", "barrier 1"; null: nothing that has a name.
Json subject_json(const StoredRun& run, const sim::WarpStatus& status);
/// `kind`, `rank`, `name`, `offset`.
Json barrier_json(const StoredRun& run, const sim::BarrierHistory& barrier);
/// The parts of shared memory that have names.
Json names_json(const StoredRun& run);
/// Of a lane of a register.
unsigned lane_bytes(isa::Type type);

}  // namespace ww::explore
