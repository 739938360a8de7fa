// SPDX-License-Identifier: Apache-2.0
// Lowered kernels for the PTX emitter: control flow, memories, vectors, collectives, instructions.
#pragma once

#include <string>
#include <vector>

#include "num/dtype.h"
#include "target/target.h"

namespace ww::engines {

inline constexpr target::Target kTargets[] = {
    {target::Arch::Sm80, 80}, {target::Arch::Sm90a, 86}, {target::Arch::Sm100a, 88}};

struct PtxKernel {
  std::string name;
  std::string text;
  std::vector<num::DType> types;  // of the arrays, 512 elements each; all are inputs and outputs
  target::Target target = kTargets[1];
  double bound = 0;
};

std::vector<PtxKernel> ptx_kernels();

}  // namespace ww::engines
