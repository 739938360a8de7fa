// SPDX-License-Identifier: Apache-2.0
// A lowered kernel on two engines: the reference evaluator, and the virtual GPU with PTX that was
// made of it, by our emitter or by nvcc. Both get the same arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "sim/program.h"
#include "target/target.h"

namespace ww::engines {

/// The bytes of an array, or of a scalar.
using Bytes = std::vector<std::byte>;

struct KernelRun {
  std::vector<Bytes> arrays = {};  // by parameter; scalars as they were
  std::string printed = {};
  std::string complaints = {};  // findings, one to a line; and how the run ended, if not well
};

/// The kernel of a program. Throws on one that does not compile.
ir::Function function_of(const std::string& program);
/// A kernel from the text of a lowered program without its imports: `def kernel(...)` and its body.
ir::Function kernel_of(const std::string& text);
/// The text of the PTX module. Throws with the rendered diagnostic.
std::string ptx_of(const ir::Function& kernel, target::Target target);
KernelRun evaluate(const ir::Function& kernel, std::vector<Bytes> arguments);
/// By our own PTX; throws like ptx_of.
KernelRun simulate(const ir::Function& kernel, std::vector<Bytes> arguments, target::Target target);
/// By a program that has a kernel of that name.
KernelRun simulate(const std::shared_ptr<const sim::Program>& program, const ir::Function& kernel,
                   std::vector<Bytes> arguments);

}  // namespace ww::engines
