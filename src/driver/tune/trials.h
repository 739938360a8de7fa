// SPDX-License-Identifier: Apache-2.0
// Combinations that were tried elsewhere: by other processes, or on other machines. Each gets a part
// of the space (TuneRequest::numbers) and saves its report as text; one puts the parts together
// (TuneRequest::trials) and ranks all of them, in the order that one process would have found.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "driver/tune/space.h"
#include "driver/tune/tune.h"

namespace ww::driver {

/// The report of a part, to be read by read_trials of the same version.
std::string save_trials(const TuneReport& report);

/// Adds what was saved. The first part sets the device of the report; BadArgument for a part of
/// another device, whose costs cannot be compared, and for a text that no part of `space` saved.
Result<void> add_trials(TuneReport& report, const TuneSpace& space, std::string_view saved);

/// Fails with BadArgument unless each combination of the space is in the report once. Puts them into
/// the order of the space.
Result<void> check_trials(TuneReport& report, const TuneSpace& space);

}  // namespace ww::driver
