// SPDX-License-Identifier: Apache-2.0
// Values of an element type that arithmetic is most often wrong about.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "num/dtype.h"

namespace ww::test {

/// Bits of such values, the plainest first: 0, 1, 2, the ends of the type, powers of two and their
/// neighbours; of floats also -0, infinities, NaN, denormals and what integers end at.
const std::vector<std::uint64_t>& edges_of(num::DType type);

/// Any bits, an edge, or a small number. Bool: 0 or 1.
std::uint64_t edgy_bits(num::DType type, std::mt19937_64& engine);

}  // namespace ww::test
