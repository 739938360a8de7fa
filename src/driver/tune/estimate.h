// SPDX-License-Identifier: Apache-2.0
// How long a kernel may take, from what the virtual GPU counts: enough to rank kernels that do the
// same, no time. An SM issues four instructions a cycle, serves one wavefront of shared memory and
// one sector of global memory, and its tensor cores do a number of multiply-adds. The unit that is
// busy longest sets the pace, and SMs take blocks in turn:
//
//     cycles = ceil(blocks / SMs) · max(instructions / 4, wavefronts, sectors, multiply-adds /
//     rate)
//
// with the counts of a mean block. Nothing here waits: latency, barriers, caches and the depth of a
// pipeline do not show. docs/guide/tuning.md has the numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/launch.h"
#include "target/target.h"

namespace ww::driver {

/// What all blocks of a launch did.
struct SimWork {
  std::uint64_t blocks = 0;
  std::uint64_t instructions = 0;  // of warps
  std::uint64_t wavefronts = 0;    // of shared memory, bank conflicts included
  std::uint64_t sectors = 0;       // 32 bytes of global memory
  // Multiply-adds of matrix instructions, as many 16-bit ones as take the same time.
  std::uint64_t tensor = 0;
};

/// Of a run with RunOptions::count.
SimWork work_of(const sim::Program& program, const sim::LaunchReport& run);

/// The GPU that is thought of for an architecture.
struct SmRates {
  int number = 0;            // the architecture's, and later ones that have no row
  std::uint64_t sms = 1;     // of the GPU
  std::uint64_t tensor = 1;  // 16-bit multiply-adds of an SM in a cycle, by mma.sync
};
const SmRates& rates_of(target::Arch arch);

struct Estimate {
  double cycles = 0;
  std::string_view bound;  // "issue", "shared", "global" or "tensor"
};
Estimate estimate(const SimWork& work, target::Arch arch);

/// Multiply-adds of an instruction by its name,
/// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, counted as SimWork::tensor; 0 where the
/// name tells no shape.
std::uint64_t tensor_work(std::string_view opcode);

}  // namespace ww::driver
