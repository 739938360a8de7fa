// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include "sim/tensor_map/image.h"

namespace ww::runtime {

namespace {

using target::ArchInfo;
using target::ArchKind;

// The one that can do most, of two that both run on a GPU: a later number, then `a` before plain
// before `f`.
bool is_better(const ArchInfo& one, const ArchInfo& other) {
  if (one.number != other.number) return one.number > other.number;
  const auto rank = [](ArchKind kind) {
    return kind == ArchKind::Accelerated ? 2 : kind == ArchKind::Plain ? 1 : 0;
  };
  return rank(one.kind) > rank(other.kind);
}

}  // namespace

Result<std::vector<std::byte>> Device::encode_map(const sim::TensorMap& map) const {
  WW_TRY_VOID(sim::check_tensor_map(map));
  const sim::TensorMapImage image = sim::encode(map);
  return std::vector<std::byte>(image.begin(), image.end());
}

Result<std::vector<std::byte>> Device::made_map(const MapArgument& argument, Address array) const {
  sim::TensorMap map = argument.map;
  map.address = array + static_cast<Address>(argument.offset);
  if (const auto checked = sim::check_tensor_map(map); !checked)
    return fail(DiagKind::BadLaunch, "the tensor map `{}` of `{}`: {}", argument.name,
                argument.array_name, checked.error().text);
  return encode_map(map);
}

Result<Launch> Device::with_maps(Launch launch) const {
  for (const MapArgument& map : launch.maps) {
    Value& value = launch.arguments[map.argument];
    value.block = WW_TRY(made_map(map, launch.arguments[map.array].bits));
    value.bytes = static_cast<std::uint32_t>(value.block.size());
  }
  return launch;
}

std::span<const std::uint8_t> Device::undefined(Address /*address*/) const { return {}; }

bool runs_on(target::Arch arch, int capability) {
  const ArchInfo& code = target::info(arch);
  switch (code.kind) {
    case ArchKind::Plain:
      return code.number <= capability;
    case ArchKind::Accelerated:
      return code.number == capability;
    case ArchKind::Family:
      return code.number / 10 == capability / 10 && code.number <= capability;
  }
  return false;
}

std::optional<target::Arch> native_arch(int capability) {
  const ArchInfo* best = nullptr;
  for (const ArchInfo& each : target::kArchs) {
    if (!runs_on(each.arch, capability)) continue;
    if (best == nullptr || is_better(each, *best)) best = &each;
  }
  if (best == nullptr) return std::nullopt;
  return best->arch;
}

}  // namespace ww::runtime
