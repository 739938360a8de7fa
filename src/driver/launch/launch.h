// SPDX-License-Identifier: Apache-2.0
// What all runs of a kernel share, on any device: how what is wrong is said, the arrays and numbers of
// a run, and one launch with the memory that it works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "driver/args/array.h"
#include "driver/expect/expect.h"
#include "driver/report_parts.h"
#include "runtime/cuda_device.h"
#include "runtime/device.h"

namespace ww::driver {

/// What the user can do something about, rendered.
struct Refusals {
  std::string text;

  // Both return false.
  bool add(const Diag& problem) {
    text += render(problem);
    return false;
  }
  bool add(const Diag& problem, std::string_view name, std::string_view source) {
    text += render(problem, SourceText(std::string(name), std::string(source)));
    return false;
  }
  // Keeps the value of something that was read from an option.
  template <typename T, typename To>
  bool keep(Result<T> result, To& to, std::string_view option, std::string_view source) {
    if (!result) return add(result.error(), option, source);
    to = std::move(*result);
    return true;
  }
};

/// What `run` gives, or `otherwise` where the host has no memory for it.
template <typename Outcome, typename Run>
Outcome within_memory(const Run& run, Outcome otherwise) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return otherwise;
  } catch (const std::length_error&) {  // what a vector says to a size beyond all memory
    return otherwise;
  }
}

}  // namespace ww::driver

namespace ww::sim {
struct Region;
}

namespace ww::driver {

// --- values --------------------------------------------------------------------------------------
//
// The arrays and numbers of a run, and what is asked of them: before the run what parameters get,
// after it what is left there, which files it goes to, and which expectations hold.

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

// --- one launch ----------------------------------------------------------------------------------
//
// A launch with the memory that it works on, on any device: contents in, results out.

/// Memory of a device for a launch.
struct DeviceMemory {
  std::string name = {};
  runtime::Address address = 0;  // or the handle of a texture
  std::unique_ptr<runtime::CudaTexture> texture = {};
  std::span<const std::byte> contents = {};  // before the launch
  std::span<std::byte> results = {};         // after it, also the same bytes; empty: not wanted
  /// By byte, of memory whose results are wanted: not 0 where it has no contents, and after the
  /// launch where nothing was written, either. Empty: all of it has contents.
  std::span<std::uint8_t> undefined = {};
};

/// Runs the loaded kernel. Where the device does not keep track of what is written and some bytes have
/// no contents, it runs twice, with two patterns there: bytes that keep both were not written.
/// Elsewhere memory is without contents wholly or not at all.
Result<void> run_launch(runtime::Device& device, const runtime::Launch& launch,
                        std::span<DeviceMemory> memory);

}  // namespace ww::driver
