// SPDX-License-Identifier: Apache-2.0
// The arrays and numbers of a run, and what is asked of them: before the run what parameters get,
// after it what is left there, which files it goes to, and which expectations hold.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/args/array.h"
#include "driver/expect/expect.h"
#include "driver/launch/refusals.h"
#include "driver/report_parts.h"

namespace ww::sim {
struct Region;
}

namespace ww::driver {

struct LaunchValue {
  std::string name;
  Array array = {};                // scalars have no dimensions
  bool is_buffer = false;          // memory, which a pointer leads to
  bool is_output = false;          // without contents before the run
  std::vector<bool> written = {};  // after it, by element; empty: all have a value
  sim::Region* region = nullptr;   // of `warpwright sim`: its memory on the virtual GPU

  [[nodiscard]] bool is_defined(std::int64_t element) const {
    return written.empty() || written[static_cast<std::size_t>(element)];
  }
};

/// A buffer to be written to a file.
struct OutFile {
  std::size_t param = 0;
  std::string path;
};

struct LaunchValues {
  std::vector<LaunchValue> all = {};  // by number
  std::vector<OutFile> outs = {};
  std::vector<Expectation> expectations = {};
  std::vector<std::pair<std::size_t, Array>> before = {};  // by number
  /// The number of the value of that name; `$2`.
  std::function<std::optional<std::size_t>(std::string_view)> find = {};

  /// Keeps the arrays as they are for expectations that ask what they were; outputs were nothing.
  void keep_before();
};

/// `is_output`: whether the kernel has written it.
BufferReport report_buffer(const LaunchValue& value, std::size_t number, bool is_output);
/// What an expectation cannot be judged for is refused.
std::vector<ExpectReport> check_expectations(const LaunchValues& values, Refusals& refusals);
/// Writes the files that were asked for, and notes their names.
void write_files(const LaunchValues& values, Refusals& refusals,
                 std::vector<BufferReport>& buffers);

}  // namespace ww::driver
