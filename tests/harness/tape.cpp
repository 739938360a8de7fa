// SPDX-License-Identifier: Apache-2.0
#include "harness/tape.h"

#include <random>

namespace ww::test {

Choices random_choices(std::uint64_t seed, std::uint64_t number) {
  std::mt19937_64 engine(seed * 0x9E37'79B9'7F4A'7C15U + number);
  Choices out(120);
  for (std::int64_t& each : out) each = static_cast<std::int64_t>(engine() >> 40U);
  return out;
}

}  // namespace ww::test
