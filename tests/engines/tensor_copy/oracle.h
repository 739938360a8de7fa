// SPDX-License-Identifier: Apache-2.0
// What a case of cases.h must leave in memory, from the definition of a tensor copy: every element of
// the box one by one, by its coordinates. Shares no code with the virtual GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/tensor_copy/cases.h"

namespace ww::tensor_cases {

struct Memories {
  std::vector<std::uint32_t> shared, slot;
};
/// Changes the memories as the copy does. Not for reductions.
void copy_by_definition(const Case& c, Memories& memories);

}  // namespace ww::tensor_cases
