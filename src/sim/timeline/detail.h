// SPDX-License-Identifier: Apache-2.0
// The level of detail of a recording: neighbours that are shorter than a grain become one record, which
// says how many it stands for. Longer ones stay as they are, so that what took long is still exact. A
// row of n steps has at most about 2 n / grain records afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/timeline/recording.h"

namespace ww::sim {

/// The spans of a warp, but for the last `keep`. What is merged for the first time is added up in
/// `sums`, if any.
void merge_spans(std::vector<WarpSpan>& spans, std::uint64_t grain, std::size_t keep,
                 std::vector<StateSteps>* sums = nullptr);
/// The phases of an mbarrier, but for the last `keep`.
void merge_phases(std::vector<RecordedPhase>& phases, std::uint64_t grain, std::size_t keep);
/// A row of work, in which pieces follow on each other.
void merge_work(std::vector<AsyncRecord>& row, std::uint64_t grain);
/// All work: pieces of one instruction of one warp that begin within a grain. A piece stays where
/// `is_live`, by index, says so. The new index of each.
std::vector<std::uint32_t> merge_all_work(std::vector<AsyncRecord>& work, std::uint64_t grain,
                                          const std::vector<bool>& is_live);

/// Adds steps to those of the same state and subject.
void add_steps(std::vector<StateSteps>& sums, const StateSteps& more);

}  // namespace ww::sim
