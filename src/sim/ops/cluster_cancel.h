// SPDX-License-Identifier: Apache-2.0
// Work that a running cluster takes over from one that has not started (clusterlaunchcontrol).
#pragma once

#include "sim/decode/decoder.h"

namespace ww::sim {

bool decode_try_cancel(Decode& in);
bool decode_query_cancel(Decode& in);

}  // namespace ww::sim
