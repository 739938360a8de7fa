// SPDX-License-Identifier: Apache-2.0
#include "driver/run/device_kind.h"

namespace ww::driver {

std::span<const DeviceRow> device_rows() {
  static constexpr DeviceRow kRows[] = {
      {DeviceKind::Auto, "auto",
       "a GPU that can run code for the target, otherwise the virtual GPU"},
      {DeviceKind::Sim, "sim", "the virtual GPU, with all checks"},
      {DeviceKind::Cuda, "cuda", "a GPU"},
      {DeviceKind::Eval, "eval", "the reference evaluator, which does not lower the program"}};
  return kRows;
}

std::string_view name_of(DeviceKind kind) {
  return device_rows()[static_cast<std::size_t>(kind)].name;
}

std::optional<DeviceKind> parse_device(std::string_view name) {
  for (const DeviceRow& row : device_rows())
    if (row.name == name) return row.kind;
  return std::nullopt;
}

}  // namespace ww::driver
