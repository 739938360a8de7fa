// SPDX-License-Identifier: Apache-2.0
// What calls share: arguments from Python, an array as the tuple that warpwright/arrays.py makes or a
// number; and the report of a run on the virtual GPU.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <forward_list>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "driver/call/call.h"

namespace ww::python {

/// `(address, "float16", shape, strides in bytes or None, read-only)`, a bool, an int or a float. A
/// sixth element, a dict of settings, makes it the tensor map of that array.
/// The arrays must outlive the result. Raises for an int of more than 64 bits.
struct HostArgs {
  explicit HostArgs(const nanobind::sequence& args);

  std::vector<driver::CallArg> all;
  std::forward_list<std::vector<std::int64_t>> kept;  // shapes and strides
  std::forward_list<driver::TensorMapSettings> maps;
};

/// A bool, an int or a float. Raises for anything else, with the parameter's name.
driver::CallArg read_number(nanobind::handle number, const std::string& name);

/// A run on the virtual GPU that Ctrl-C stops: its report as text and as JSON. Raises what it fails
/// with.
using SimCall = std::function<Result<driver::RunReport>(const driver::CallOptions&)>;
std::pair<std::string, std::string> report_of(const SimCall& run, driver::CallOptions options);

}  // namespace ww::python
