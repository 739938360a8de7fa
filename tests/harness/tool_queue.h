// SPDX-License-Identifier: Apache-2.0
// Kernels of all tests of a process that nvcc and ptxas are to take, given to them when the last test
// has ended. nvcc reads its headers for a third of a second in every call and ptxas needs 15 ms to
// start, so that calls for each test would cost more than the kernels do. Of kernels that differ in
// numbers only nvcc gets one, or with WW_ALL_CUDA in the environment all. What a tool or the virtual
// GPU says against a kernel names the test that made it, and fails the process.
#pragma once

#include "harness/assembly.h"
#include "harness/cuda_batch.h"

namespace ww::test {

/// Leaves the kernels of the current test to the end of the process.
void compile_later(CudaBatch kernels);
void assemble_later(Assembly kernels);

}  // namespace ww::test
