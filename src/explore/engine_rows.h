// SPDX-License-Identifier: Apache-2.0
// What the copy engine and the tensor core moved for a primitive, as rows of the answer `moves`.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "driver/run/tool.h"
#include "explore/placed_buffers.h"
#include "explore/request.h"

namespace ww::explore {

struct EngineRows {
  Json rows = Json::array();  // one for each side of each instruction
  Json fragments =
      Json::array();    // matrices in registers, by opcode, side and warp of the warpgroup
  bool is_cut = false;  // there were more pieces than an answer holds
};

/// Of the ops that are wanted, in the order of execution. The capture has states.
EngineRows engine_rows(const driver::RunCapture& capture, const std::vector<PlacedBuffer>& buffers,
                       const std::function<bool(std::uint32_t)>& is_wanted);

}  // namespace ww::explore
