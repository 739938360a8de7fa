// SPDX-License-Identifier: Apache-2.0
#include "driver/launch/run.h"

#include <algorithm>
#include <array>

namespace ww::driver {
namespace {

using Bytes = std::vector<std::byte>;

// What bytes without contents hold in the first run and in the second.
constexpr std::array<std::byte, 2> kPatterns{std::byte{0xCB}, std::byte{0x34}};

bool lacks_contents(const DeviceMemory& memory) {
  return std::ranges::any_of(memory.undefined, [](std::uint8_t each) { return each != 0; });
}

Bytes with_pattern(const DeviceMemory& memory, std::byte pattern) {
  Bytes out(memory.contents.begin(), memory.contents.end());
  out.resize(memory.results.size());
  for (std::size_t i = 0; i < memory.undefined.size(); ++i)
    if (memory.undefined[i] != 0) out[i] = pattern;
  return out;
}

class LaunchRun {
 public:
  LaunchRun(runtime::Device& device, std::span<DeviceMemory> memory)
      : device_(device), memory_(memory) {}

  Result<void> go(const runtime::Launch& launch) {
    const bool runs_twice =
        !device_.tracks_writes() && std::ranges::any_of(memory_, lacks_contents);
    std::vector<Bytes> second;  // what goes to the second run, then its results
    for (const DeviceMemory& each : memory_)
      if (runs_twice && !each.results.empty()) second.push_back(with_pattern(each, kPatterns[1]));
    for (const DeviceMemory& each : memory_) {
      // What the virtual GPU has not been given is undefined there, and shows as such.
      if (!lacks_contents(each)) {
        WW_TRY_VOID(upload(each, each.contents));
      } else if (!device_.tracks_writes()) {
        WW_TRY_VOID(upload(each, with_pattern(each, kPatterns[0])));
      }
    }
    WW_TRY_VOID(device_.launch(launch));
    for (const DeviceMemory& each : memory_) WW_TRY_VOID(download(each, each.results));
    if (runs_twice) return run_again(launch, second);
    for (const DeviceMemory& each : memory_)
      if (lacks_contents(each))
        std::copy_n(device_.undefined(each.address).begin(), each.undefined.size(),
                    each.undefined.begin());
    return {};
  }

 private:
  Result<void> upload(const DeviceMemory& to, std::span<const std::byte> bytes) {
    return to.texture != nullptr ? to.texture->upload(bytes) : device_.upload(to.address, bytes);
  }
  Result<void> download(const DeviceMemory& from, std::span<std::byte> bytes) {
    if (bytes.empty()) return {};
    return from.texture != nullptr ? from.texture->download(bytes)
                                   : device_.download(bytes, from.address);
  }

  Result<void> run_again(const runtime::Launch& launch, std::vector<Bytes>& second) {
    auto bytes = second.begin();
    for (const DeviceMemory& each : memory_)
      WW_TRY_VOID(upload(each, each.results.empty() ? each.contents : *bytes++));
    WW_TRY_VOID(device_.launch(launch));
    bytes = second.begin();
    for (const DeviceMemory& each : memory_) {
      if (each.results.empty()) continue;
      WW_TRY_VOID(download(each, *bytes));
      for (std::size_t i = 0; i < each.undefined.size(); ++i)
        if (each.results[i] != kPatterns[0] || (*bytes)[i] != kPatterns[1]) each.undefined[i] = 0;
      ++bytes;
    }
    return {};
  }

  runtime::Device& device_;
  std::span<DeviceMemory> memory_;
};

}  // namespace

Result<void> run_launch(runtime::Device& device, const runtime::Launch& launch,
                        std::span<DeviceMemory> memory) {
  return LaunchRun(device, memory).go(launch);
}

}  // namespace ww::driver
