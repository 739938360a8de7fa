// SPDX-License-Identifier: Apache-2.0
// The ids that hardware gives to threads and CTAs: `threadIdx.x`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::ir {

struct HardwareId {
  enum class Kind : std::uint8_t { BlockIdx, ThreadIdx, ClusterCtaIdx };
  Kind kind = Kind::BlockIdx;
  std::size_t dim = 0;  // x, y, z
  friend bool operator==(HardwareId, HardwareId) = default;
};
std::string_view name_of(HardwareId::Kind kind);  // "threadIdx"
std::string name_of(HardwareId id);               // "threadIdx.x"
/// BadScopeIds, without a location, when the text names no id.
Result<HardwareId> parse_hardware_id(std::string_view text);

}  // namespace ww::ir
