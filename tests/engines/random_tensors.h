// SPDX-License-Identifier: Apache-2.0
// Random copies between tensor memory and registers: every shape of tcgen05.ld and .st, any number
// of repetitions, element types of 8, 16 and 32 bits, 16-bit elements with a column each, columns
// and registers in any order and with gaps, slices, stages at run time, tiles of any rank, warps,
// warpgroups and CTAs, the datapaths of accumulators; up to three copies in a program. In one copy
// of five something does not fit.
#pragma once

#include "engines/tensor_programs.h"
#include "harness/tape.h"

namespace ww::test {

struct RandomTensor {
  TensorProgram program;
  bool fits = true;  // otherwise it may be declined, and must never be wrong
};
RandomTensor random_tensor(const Choices& choices);

}  // namespace ww::test
