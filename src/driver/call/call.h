// SPDX-License-Identifier: Apache-2.0
// A compiled kernel as something to call: the caller's own arrays and numbers in, checked against
// the parameters by name, results written into the same arrays. Python's calls go through here; the
// command line makes its arrays itself (driver/args) and has no need of the checks.
//
//     const CallArg args[] = {{.dtype = …, .bits = address, .shape = …}, number_arg(1000)};
//     const Result<RunReport> report = call_kernel(build, args);
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "driver/build.h"
#include "driver/run/device_run.h"
#include "driver/run/tool.h"
#include "driver/sim/tensor_arg.h"
#include "num/dtype.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
#include "sim/launch.h"

namespace ww::driver {

/// A parameter as callers see it.
struct CallParam {
  std::string name;      // that of the buffer, if it has one
  std::string variable;  // that of the parameter: `A_ptr`
  bool is_array = false;
  std::optional<num::DType> dtype = {};  // none: a pointer that nothing is matched to
  std::vector<std::string> shape = {};   // extents: "128", or a name known at launch
  std::vector<std::optional<std::int64_t>> extents = {};  // the same; none: known at launch
  bool writes = false;
};
std::vector<CallParam> call_params(const ir::Function& tile);

/// What a caller gives a parameter: an array where it lies, or a number. It refers to the caller's
/// shape, so that making one allocates nothing.
struct CallArg {
  enum class Kind : std::uint8_t { Array, Bool, Int, Uint, Float };

  Kind kind = Kind::Array;
  bool is_read_only = false;
  num::DType dtype{};                          // of an array; elements of 4 bits, two to a byte
  std::uint64_t bits = 0;                      // the address, or the number's own
  std::span<const std::int64_t> shape = {};    // counts elements
  std::span<const std::int64_t> strides = {};  // in bytes; empty: C order
  const TensorMapSettings* map = nullptr;      // the parameter is a tensor map of the array

  [[nodiscard]] bool is_array() const { return kind == Kind::Array; }
  [[nodiscard]] std::byte* data() const { return std::bit_cast<std::byte*>(bits); }
};
template <typename T>
CallArg number_arg(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return {.kind = CallArg::Kind::Bool, .bits = value ? 1U : 0U};
  else if constexpr (std::is_floating_point_v<T>)
    return {.kind = CallArg::Kind::Float, .bits = std::bit_cast<std::uint64_t>(double{value})};
  else
    return {.kind = std::is_signed_v<T> ? CallArg::Kind::Int : CallArg::Kind::Uint,
            .bits = static_cast<std::uint64_t>(value)};
}
using CallArgs = std::span<const CallArg>;

struct CallOptions {
  DeviceKind device = DeviceKind::Sim;      // not Auto
  std::string checks = {};                  // of the virtual GPU, as `--check` has them; empty: all
  std::string schedule = {};                // the same, as `--schedule`
  std::string limits = {};                  // the same, as `--limit`
  bool counts_work = false;                 // of the virtual GPU: RunReport::work
  const std::atomic<bool>* stop = nullptr;  // ends the run soon after it is set, but on a GPU
  const runtime::CudaCalls* driver = nullptr;  // of a GPU, and
  int number = 0;                              // which one that is
};

/// Runs a build that has PTX, to and from a GPU with copies of the arrays. Elements that the kernel
/// does not write keep their values. What the kernel does wrong is in the report, but on a GPU it is
/// Trapped. Fails as bind_call, run_on and eval::run do; options that cannot be read are a
/// Diag without a place.
Result<RunReport> call_kernel(const Build& build, CallArgs args, const CallOptions& options = {});

// --- what calls share ----------------------------------------------------------------------------
//
// What calls of kernels and of plain PTX check alike: numbers and arrays of the caller's. Messages
// name the parameter by `title`, which brings its own quotes.

/// "1000", "0.5", "an array".
std::string number_text(const CallArg& arg);
/// The bits of a number as that type. A float is no integer; an integer may be a float. BadArgument
/// for an integer that the type does not hold, too.
Result<std::uint64_t> bits_of_number(const CallArg& arg, num::DType type, std::string_view title);

/// BadArgument for an array whose elements do not follow each other, the last dimension fastest.
Result<void> check_c_order(const CallArg& array, std::string_view title);

/// The arguments of a call in the form that the driver's runs take, if they fit the parameters: their
/// number, an array for an array, type, rank, known extents, C order, an array that may be written
/// where the kernel writes; numbers that the parameter's type holds. BadArgument with the parameter's
/// name, what came and what was expected.
Result<std::vector<KernelArg>> bind_call(const ir::Function& tile, CallArgs args);

Result<sim::RunOptions> sim_options(const CallOptions& options);

// --- calls on a GPU of the program's own ---------------------------------------------------------
//
// Calls of a kernel on a GPU that the program uses itself: arrays that are there already, on a stream
// of the program's, in its own (the primary) context. A call does not wait. What depends on the shapes
// alone is worked out once: a repeated call compares them, fills in addresses and launches.

class GpuKernel {
 public:
  /// `build` has PTX and outlives this.
  explicit GpuKernel(const Build& build) : build_(&build) {}

  /// Launches on GPU `number` with arrays that lie there. Fails as bind_call does, with BadLaunch for
  /// an address that is not aligned as the parameter needs it, NoDevice for a GPU that does not run
  /// the code, and as runtime::check_cuda does for what the driver refuses.
  Result<void> call(const runtime::CudaCalls& calls, int number, void* stream, CallArgs args);

  /// A call with its arguments, to be launched often. It holds as long as the kernel does.
  class Bound {
   public:
    Result<void> launch(void* stream) { return launch_.enqueue(stream); }

   private:
    friend class GpuKernel;
    explicit Bound(runtime::CudaLaunch launch) : launch_(std::move(launch)) {}
    runtime::CudaLaunch launch_;
  };
  /// Fails as `call` does, but launches nothing.
  Result<Bound> bind(const runtime::CudaCalls& calls, int number, CallArgs args);

  /// Waits for everything that was launched on the GPU, by anyone in the process. Trapped when a
  /// kernel did not run to its end.
  Result<void> wait(const runtime::CudaCalls& calls, int number);

  /// How many shapes have been worked out.
  [[nodiscard]] std::size_t plan_count() const { return plans_.size(); }

 private:
  struct Loaded {
    int number = 0;
    std::unique_ptr<runtime::CudaDevice> device = {};
  };
  struct Plan {
    std::vector<std::int64_t> key = {};  // GPU, types, shapes, numbers that the launch depends on
    runtime::CudaLaunch launch;
  };

  Result<runtime::CudaDevice*> device(const runtime::CudaCalls& calls, int number);
  Result<runtime::CudaLaunch> work_out(const runtime::CudaCalls& calls, int number, CallArgs args);
  Result<void> fill_in(runtime::CudaLaunch& launch, CallArgs args) const;
  void write_key(int number, CallArgs args);
  /// The plan with the key `key_`, first of all from now on; null if there is none.
  Plan* find_plan();

  const Build* build_;
  std::mutex mutex_;  // of all below
  std::vector<Loaded> loaded_;
  std::vector<Plan> plans_;        // the one used last is first
  std::vector<std::int64_t> key_;  // of the current call; keeps its memory
  std::optional<std::vector<bool>>
      is_shaping_;  // per parameter: a number that the launch depends on
};

// --- builds as text ------------------------------------------------------------------------------
//
// A build as text, to be kept between processes: what a call needs, and no more. Reading it back
// takes a tenth of the time of compiling, because it lowers and proves nothing.

/// Of a build that has PTX.
std::string save_build(const Build& build);

/// The build that was saved: tile program, lowered program, PTX and target, with an empty report;
/// `source` is what it was compiled from. Syntax or BadArgument when the text is not one that
/// save_build of this version has written.
Result<Build> load_build(std::string_view saved, const SourceText& source);

}  // namespace ww::driver
