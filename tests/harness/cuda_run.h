// SPDX-License-Identifier: Apache-2.0
// Kernels of lowered programs through the CUDA emitter: written as CUDA C++, compiled by nvcc with
// warnings as errors, run on the virtual GPU with all checks, compared with the evaluator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emit/cuda/emit.h"
#include "ir/function.h"
#include "sim/program.h"

namespace ww::emit::test {

struct Kernel {
  std::string source;    // a program with one kernel; its name is unique among those of one file
  double tolerance = 0;  // relative, for functions that hardware approximates; 0: equal bits
  bool small = false;    // small whole numbers as inputs, for sums that must be exact
};

/// The sources as one file: each brings its helpers along, so each stands in a namespace of its
/// own.
std::string joined(const std::vector<std::string>& sources);

/// What nvcc, with warnings as errors, says of the sources; "" when nothing. `skipped` as below.
std::string compile_all(const std::vector<std::string>& sources, const std::string& arch,
                        bool& skipped);

/// The kernels as CUDA C++ in one file, compiled for the target and ready for the virtual GPU;
/// nothing where there is a problem, or `skipped` as below.
std::shared_ptr<const sim::Program> load_all(const std::vector<ir::Function>& functions,
                                             const std::string& arch, std::string& problem,
                                             bool& skipped);

/// Emits the kernels into one file, compiles it for the target and runs each. Returns "" or what
/// differs, kernel by kernel; `skipped` is set where nvcc is missing or does not know the target.
std::string run_all(const std::vector<Kernel>& kernels, const std::string& arch, bool& skipped);

}  // namespace ww::emit::test
