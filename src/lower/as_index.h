// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww::lower {

/// A number that is not negative, as an index into a container.
constexpr std::size_t as_index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace ww::lower
