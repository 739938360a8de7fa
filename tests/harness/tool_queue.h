// SPDX-License-Identifier: Apache-2.0
// Kernels of all tests of a process that are to go through nvcc, compiled when the last test has
// ended. nvcc reads its headers for a third of a second in every call, so that a call for each test
// would cost more than the kernels do. Of kernels that differ in numbers only it gets one, or with
// WW_ALL_CUDA in the environment all. What nvcc or the virtual GPU says against a kernel names the
// test that made it, and fails the process.
#pragma once

#include "harness/cuda_batch.h"

namespace ww::test {

/// Leaves the kernels of the current test to the end of the process.
void compile_later(CudaBatch kernels);

}  // namespace ww::test
