// SPDX-License-Identifier: Apache-2.0
// A case of cases.h on the virtual GPU, with all checks on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/tensor_copy/cases.h"
#include "sim/tensor_map/map.h"

namespace ww::tensor_cases {

/// The arguments of the encoder as a map; the slot of the case starts there.
sim::TensorMap map_of(const Case& c, std::uint64_t slot);

/// The contents of shared memory and of the slot before the copy.
std::vector<std::uint32_t> shared_before(const Case& c);
std::vector<std::uint32_t> slot_before(const Case& c);
/// Words of the slot that are looked at: the tensor and what follows.
std::uint32_t slot_words(const Case& c);

struct VirtualRun {
  std::string problem;                // findings, or why it did not finish; empty: none
  std::vector<std::uint32_t> shared;  // afterwards
  std::vector<std::uint32_t> slot;
};
VirtualRun run_case(const Case& c);

/// The digest that the GPU's record has.
std::uint64_t digest_of_run(const Case& c, const VirtualRun& run);

/// The case in words.
std::string describe(const Case& c);

}  // namespace ww::tensor_cases
