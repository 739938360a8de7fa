// SPDX-License-Identifier: Apache-2.0
// What `--device` names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ww::driver {

/// A report never has Auto: by then the choice is made.
enum class DeviceKind : std::uint8_t { Auto, Sim, Cuda, Eval };

struct DeviceRow {
  DeviceKind kind;
  std::string_view name;
  std::string_view help;  // a line
};
/// One row for each kind, in their order.
std::span<const DeviceRow> device_rows();

std::string_view name_of(DeviceKind kind);
std::optional<DeviceKind> parse_device(std::string_view name);

}  // namespace ww::driver
