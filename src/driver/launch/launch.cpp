// SPDX-License-Identifier: Apache-2.0
#include "driver/launch/launch.h"

#include <algorithm>
#include <array>

#include "base/file_io.h"
#include "driver/args/npy.h"

namespace ww::driver {

void LaunchValues::keep_before() {
  for (const Expectation& expectation : expectations)
    for (const std::string& name : expectation.names_before()) {
      const std::size_t number = *find(name);
      const bool is_kept = std::ranges::find(before, number, [](const auto& each) {
                             return each.first;
                           }) != before.end();
      if (!all[number].is_output && !is_kept) before.emplace_back(number, all[number].array);
    }
}

BufferReport report_buffer(const LaunchValue& value, std::size_t number, bool is_output) {
  const Array& array = value.array;
  BufferReport out{.param = number,
                   .name = value.name,
                   .dtype = array.dtype,
                   .shape = array.shape,
                   .is_output = is_output};
  const std::int64_t size = array.size();
  for (std::int64_t i = 0; i < size && !value.written.empty(); ++i)
    if (!value.is_defined(i) && out.undefined++ == 0)
      out.first_undefined = index_of(array.shape, i);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(size, kShownElements); ++i)
    out.first.push_back(value.is_defined(i) ? array.text(i) : "?");
  return out;
}

std::vector<ExpectReport> check_expectations(const LaunchValues& values, Refusals& refusals) {
  const FindArray find = [&](std::string_view name) {
    return &values.all[*values.find(name)].array;
  };
  const FindWritten written = [&](std::string_view name) {
    const LaunchValue& value = values.all[*values.find(name)];
    return value.written.empty() ? nullptr : &value.written;
  };
  const FindArray before = [&](std::string_view name) -> const Array* {
    const std::size_t number = *values.find(name);
    for (const auto& [each, array] : values.before)
      if (each == number) return &array;
    return nullptr;
  };
  std::vector<ExpectReport> out;
  for (const Expectation& expectation : values.expectations) {
    auto result = check_expectation(expectation, find, {}, written, before);
    if (result)
      out.push_back({expectation.text, *std::move(result)});
    else
      refusals.add(result.error(), "--expect", expectation.text);
  }
  return out;
}

void write_files(const LaunchValues& values, Refusals& refusals,
                 std::vector<BufferReport>& buffers) {
  for (const OutFile& out : values.outs) {
    const auto written = write_file_atomically(out.path, to_npy(values.all[out.param].array));
    if (!written) {
      refusals.add(written.error());
      continue;
    }
    for (BufferReport& buffer : buffers)
      if (buffer.param == out.param) buffer.file = out.path;
  }
}

// --- one launch ----------------------------------------------------------------------------------

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
