// SPDX-License-Identifier: Apache-2.0
#include "ir/hardware_id.h"

namespace ww::ir {
namespace {

constexpr std::string_view kHardwareIds[] = {"blockIdx", "threadIdx", "clusterCtaIdx"};
constexpr std::string_view kDimensions = "xyz";

}  // namespace

std::string_view name_of(HardwareId::Kind kind) {
  return kHardwareIds[static_cast<std::size_t>(kind)];
}

std::string name_of(HardwareId id) {
  return fmt::format("{}.{}", name_of(id.kind), kDimensions[id.dim]);
}

Result<HardwareId> parse_hardware_id(std::string_view text) {
  for (std::size_t kind = 0; kind < std::size(kHardwareIds); ++kind)
    for (std::size_t dim = 0; dim < kDimensions.size(); ++dim) {
      const HardwareId id{static_cast<HardwareId::Kind>(kind), dim};
      if (name_of(id) == text) return id;
    }
  return fail(DiagKind::BadScopeIds,
              "`{}` is not a hardware id: expected `blockIdx`, `threadIdx` or `clusterCtaIdx` with "
              "`.x`, `.y` or `.z`",
              text);
}

}  // namespace ww::ir
