// SPDX-License-Identifier: Apache-2.0
// Loads of shared memory that may end late. A barrier or an arrival does not wait for the loads before it:
// only an instruction that needs a value does. Where none comes in between, a copy engine that is told to
// refill the memory can be faster than the load (seen on an H200).
#pragma once

#include <vector>

#include "sim/program.h"

namespace ww::sim {

/// By op: whether it loads shared memory and, on some path, no instruction needs or replaces its value and
/// no `fence.proxy.async` stands before the thread meets others, arrives, or starts a bulk copy.
std::vector<bool> find_late_reads(const Program& program);

}  // namespace ww::sim
