// SPDX-License-Identifier: Apache-2.0
// Times work on a GPU by its own events: single launches, launches in a row, copies. All functions
// wait, fail as CudaDevice::launch does, and leave the device unusable in the same cases.
#pragma once

#include <cstddef>

#include "runtime/cuda_device.h"
#include "runtime/device.h"

namespace ww::runtime {

/// Does the work once more than `times` times, an event around each: the first one does not count.
Result<Timing> time_each(CudaDevice& device, const GpuWork& work, int times);
/// The same of a copy. What no kernel that reads and writes the same bytes is expected to beat.
Result<Timing> time_copy(CudaDevice& device, Address to, Address from, std::size_t bytes,
                         int copies);

/// Seconds from the beginning of the first to the end of the last, recorded in a graph
/// (runtime/cuda_timing.h), or asked for without waiting in between where the driver has none.
Result<double> time_in_a_row(CudaDevice& device, const GpuWork& work, int times);
Result<double> time_in_a_row(CudaDevice& device, const Launch& launch, int launches);
/// The same, never recorded: in a graph the driver copies by other engines, at two thirds of the rate.
Result<double> time_one_by_one(CudaDevice& device, const GpuWork& work, int times);

}  // namespace ww::runtime
