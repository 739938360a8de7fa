// SPDX-License-Identifier: Apache-2.0
// The counts of a soak as aligned tables.
#pragma once

#include <string>

#include "soak/examine.h"

namespace ww::test {

/// All of them. Every kind of step and every variant has a row, so that what is never lowered
/// shows.
std::string summary_of(const Tally& tally);

}  // namespace ww::test
