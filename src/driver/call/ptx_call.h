// SPDX-License-Identifier: Apache-2.0
// A call of a kernel that exists as PTX only, whatever wrote it, on the virtual GPU with the caller's
// arrays. PTX does not say how large the memory behind a pointer is, nor who writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/call/call.h"
#include "driver/run/tool.h"
#include "runtime/device.h"

namespace ww::driver {

struct PtxCall {
  std::string text;
  std::string kernel = {};  // empty: the only one there is
  runtime::Dims grid{1, 1, 1};
  runtime::Dims block{1, 1, 1};
  std::optional<runtime::Dims> cluster = {};
  std::uint32_t dynamic_shared = 0;
};

/// Runs the kernel. An array is for a parameter of 8 bytes, a number for one of its kind and range;
/// BadArgument with the parameter's name otherwise, and when the kernel has changed a read-only
/// array. Errors in the text are rendered with their lines of PTX.
Result<RunReport> call_ptx_on_sim(const PtxCall& call, const std::vector<CallArg>& args,
                                  const SimCallOptions& options = {});

}  // namespace ww::driver
