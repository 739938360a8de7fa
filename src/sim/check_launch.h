// SPDX-License-Identifier: Apache-2.0
// Refuses launches that no GPU accepts before the kernel runs, with BadLaunch.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sim/launch.h"

namespace ww::sim {

/// Extents, shared memory in bytes, the size of the parameters and where their pointers lead.
Result<void> check_launch(const Program& program, const Launch& launch, const Dim3& cluster,
                          std::uint32_t shared);
/// For a kernel with a grid barrier: do all blocks fit on the GPU at once?
Result<void> check_resident(const Program& program, const Launch& launch, std::uint32_t shared);
/// Whether an argument is what `.ptr .align` of its parameter promises.
Result<void> check_alignment(const Param& param, std::uint64_t address);

}  // namespace ww::sim
