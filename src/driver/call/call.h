// SPDX-License-Identifier: Apache-2.0
// A compiled kernel as something to call: the caller's own arrays and numbers in, checked against
// the parameters by name, results written into the same arrays. Python's calls go through here; the
// command line makes its arrays itself (driver/args) and has no need of the checks.
//
//     const std::vector<CallArg> args = {ArrayView{...}, 1000};
//     const Result<RunReport> report = call_on_sim(build, args);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/run/param_writes.h"
#include "driver/run/tool.h"
#include "driver/sim/tensor_arg.h"
#include "num/dtype.h"

namespace ww::driver {

/// A parameter as callers see it.
struct CallParam {
  std::string name;      // that of the buffer, if it has one
  std::string variable;  // that of the parameter: `A_ptr`
  bool is_array = false;
  std::optional<num::DType> dtype = {};  // none: a pointer that nothing is matched to
  std::vector<std::string> shape = {};   // extents: "128", or a name known at launch
  std::vector<std::optional<std::int64_t>> extents = {};  // the same; none: known at launch
  Writing writing = Writing::No;
};
std::vector<CallParam> call_params(const ir::Function& tile);

/// An array of the caller's, where it lies. Elements of 4 bits stand two to a byte
/// (driver/args/array.h), and the shape counts elements.
struct ArrayView {
  std::byte* data = nullptr;
  num::DType dtype{};
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> strides = {};  // in bytes; empty: C order
  bool is_read_only = false;
  std::optional<TensorMapSettings> map = {};  // the parameter is a tensor map of the array
};
using CallArg = std::variant<ArrayView, bool, std::int64_t, std::uint64_t, double>;

struct SimCallOptions {
  std::string checks = {};                  // as `--check` has them; empty: all
  std::string schedule = {};                // as `--schedule`
  std::string limits = {};                  // as `--limit`
  const std::atomic<bool>* stop = nullptr;  // ends the run soon after it is set
};

/// Runs a build that has PTX on the virtual GPU. Elements that the kernel does not write keep their
/// values. What the kernel does wrong is in the report. Fails as bind_call (numbers.h) and run_on do; options
/// that cannot be read are a Diag without a place.
Result<RunReport> call_on_sim(const Build& build, const std::vector<CallArg>& args,
                              const SimCallOptions& options = {});

}  // namespace ww::driver
