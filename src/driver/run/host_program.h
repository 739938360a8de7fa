// SPDX-License-Identifier: Apache-2.0
// The host program of `compile --emit cuda --main`: arguments as `warpwright run` gives them, and
// the results of the reference evaluator to compare with.
#pragma once

#include <optional>
#include <string>

#include "driver/args/kernel_args.h"
#include "driver/build.h"
#include "emit/cuda/emit.h"
#include "eval/eval.h"

namespace ww::driver {

/// For a lowered build. What the evaluator does not execute, or finds something wrong with, is not
/// compared. Nothing when the arguments are wrong or the evaluator reaches one of its limits; why
/// is added to `errors`.
std::optional<emit::HostProgram> host_program(const Build& build, const ArgRequest& request,
                                              const eval::Limits& limits, std::string& errors);

}  // namespace ww::driver
