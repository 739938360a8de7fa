// SPDX-License-Identifier: Apache-2.0
// A lowered kernel on two engines: the reference evaluator, and the virtual GPU with the PTX that
// the emitter makes of it. Both get the same arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "target/target.h"

namespace ww::engines {

/// The bytes of an array, or of a scalar.
using Bytes = std::vector<std::byte>;

struct Outcome {
  std::vector<Bytes> arrays = {};  // by parameter; scalars as they were
  std::string printed = {};
  std::string complaints = {};  // findings, one to a line; and how the run ended, if not well
};

/// A kernel from the text of a lowered program without its imports: `def kernel(...)` and its body.
ir::Function kernel_of(const std::string& text);
/// The text of the PTX module. Throws with the rendered diagnostic.
std::string ptx_of(const ir::Function& kernel, target::Target target);
Outcome evaluate(const ir::Function& kernel, std::vector<Bytes> arguments);
Outcome simulate(const ir::Function& kernel, std::vector<Bytes> arguments, target::Target target);

}  // namespace ww::engines
