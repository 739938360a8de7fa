// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of a Recorder: the recording they fill in, and the time and author of the
// current change.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/timeline/recording.h"

namespace ww::sim {

class Unit;

struct RecorderContext {
  Unit& unit;
  Recording out = {};
  std::uint64_t now = 0;    // the step
  Doer doer = {};           // of the op that was executed; kNoOp: between ops
  std::size_t records = 0;  // spans, points and work; each part counts what it adds to `out`
};

}  // namespace ww::sim
