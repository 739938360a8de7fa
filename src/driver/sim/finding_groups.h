// SPDX-License-Identifier: Apache-2.0
// Findings by cause. One wrong wait in unrolled code makes a finding for every pair of instructions
// behind it. Two findings of one check have one cause if they share an instruction, or if both parties
// stand at the same source lines; without `.loc`, if both parties have the same opcodes and the
// findings say the same but for their numbers. Findings of different checks have one cause if both
// parties are the same instructions. The first finding of a group, in the order of execution, stands
// for it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/program.h"

namespace ww::driver {

/// Places in the list of findings, ascending; the first is the root.
using FindingGroup = std::vector<std::size_t>;

/// In the order of their roots.
std::vector<FindingGroup> group_findings(const sim::Program& program,
                                         std::span<const sim::Finding> findings);

/// A group whose findings are not all shown one by one.
inline constexpr std::size_t kMinFolded = 4;
inline bool is_folded(const FindingGroup& group) { return group.size() >= kMinFolded; }

/// "219 more of this cause, 5632 times: lines 120, 124, … with lines 33, 35, …".
std::string rest_text(const sim::Program& program, std::span<const sim::Finding> findings,
                      const FindingGroup& group);

/// "3", or "220 of 3 causes" where some are folded.
std::string findings_count_text(std::size_t findings, std::span<const FindingGroup> groups);

}  // namespace ww::driver
