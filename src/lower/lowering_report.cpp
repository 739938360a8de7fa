// SPDX-License-Identifier: Apache-2.0
#include "lower/lowering_report.h"

namespace ww::lower {

void PlanReport::add_instruction(std::string opcode, std::int64_t count, std::int64_t moved) {
  for (InstructionCount& each : instructions)
    if (each.opcode == opcode) {
      each.per_thread += count;
      return;
    }
  instructions.push_back({std::move(opcode), count, moved});
}

}  // namespace ww::lower
