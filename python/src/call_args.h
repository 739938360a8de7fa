// SPDX-License-Identifier: Apache-2.0
// Arguments from Python: an array as the tuple that warpwright/arrays.py makes, or a number.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "driver/call/call.h"

namespace ww::python {

/// `(address, "float16", shape, strides in bytes or None, read-only)`, a bool, an int or a float.
/// The arrays must outlive the result. Raises for an int of more than 64 bits.
std::vector<driver::CallArg> read_args(const nanobind::sequence& args);

}  // namespace ww::python
