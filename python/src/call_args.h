// SPDX-License-Identifier: Apache-2.0
// Arguments from Python: an array as the tuple that warpwright/arrays.py makes, or a number.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "driver/call/call.h"

namespace ww::python {

/// `(address, "float16", shape, strides in bytes or None, read-only)`, a bool, an int or a float.
/// The arrays must outlive the result. Raises for an int of more than 64 bits.
std::vector<driver::CallArg> read_args(const nanobind::sequence& args);

/// A bool, an int or a float. Raises for anything else, with the parameter's name.
driver::CallArg read_number(nanobind::handle number, const std::string& name);

}  // namespace ww::python
