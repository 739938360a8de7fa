// SPDX-License-Identifier: Apache-2.0
// Calls as call.h has them on the other engines, for comparisons: the reference evaluator, which runs
// the tile program by its meaning, and a GPU, to and from which the arrays are copied.
#pragma once

#include <atomic>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/call/call.h"
#include "runtime/cuda_calls.h"

namespace ww::driver {

/// Fails as bind_call (numbers.h) and eval::run do. `stop` ends the run soon after it is set.
Result<RunReport> call_on_eval(const Build& build, const std::vector<CallArg>& args,
                               const std::atomic<bool>* stop = nullptr);

/// Runs a build that has PTX to its end on GPU `number`. Fails as bind_call and run_on do; a kernel
/// that traps is Trapped.
Result<RunReport> call_on_cuda(const Build& build, const std::vector<CallArg>& args,
                               const runtime::CudaCalls& calls, int number = 0);

}  // namespace ww::driver
