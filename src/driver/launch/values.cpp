// SPDX-License-Identifier: Apache-2.0
#include "driver/launch/values.h"

#include <algorithm>

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

}  // namespace ww::driver
