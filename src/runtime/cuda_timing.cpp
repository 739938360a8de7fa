// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_timing.h"

#include <algorithm>
#include <vector>

#include "runtime/cuda_errors.h"
#include "runtime/cuda_event.h"
#include "runtime/cuda_graph.h"

namespace ww::runtime {
namespace {

Result<double> time_between(CudaDevice& device, const GpuWork& work, void* start, void* end) {
  const CudaCalls& calls = device.calls();
  WW_TRY_VOID(check_cuda(calls, calls.event_record(start, nullptr), "recording an event"));
  WW_TRY_VOID(work.submit(nullptr));
  WW_TRY_VOID(check_cuda(calls, calls.event_record(end, nullptr), "recording an event"));
  WW_TRY_VOID(device.wait_for(end, work.name));
  float milliseconds = 0;
  WW_TRY_VOID(
      check_cuda(calls, calls.event_elapsed(&milliseconds, start, end), "reading an event's time"));
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace

Result<Timing> time_each(CudaDevice& device, const GpuWork& work, int times) {
  const CudaEvent start = WW_TRY(CudaEvent::make(device.calls()));
  const CudaEvent end = WW_TRY(CudaEvent::make(device.calls()));
  std::vector<double> seconds;
  for (int i = 0; i <= times; ++i) {
    const double one = WW_TRY(time_between(device, work, start.handle(), end.handle()));
    if (i > 0) seconds.push_back(one);
  }
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return Timing{median, seconds.front(), seconds.back(), times};
}

Result<Timing> time_copy(CudaDevice& device, Address to, Address from, std::size_t bytes,
                         int copies) {
  return time_each(device, copying(device.calls(), to, from, bytes), copies);
}

Result<double> time_in_a_row(CudaDevice& device, const GpuWork& work, int times) {
  if (!CudaGraph::has_calls(device.calls())) return time_one_by_one(device, work, times);
  const CudaGraph graph = WW_TRY(CudaGraph::record(device.calls(), work, times));
  const auto submit = [&](void* stream) { return graph.submit(stream); };
  return time_one_by_one(device, {submit, work.name}, 1);
}

Result<double> time_in_a_row(CudaDevice& device, const Launch& launch, int launches) {
  return time_in_a_row(device, WW_TRY(device.work_of(launch)), launches);
}

Result<double> time_one_by_one(CudaDevice& device, const GpuWork& work, int times) {
  const CudaEvent start = WW_TRY(CudaEvent::make(device.calls()));
  const CudaEvent end = WW_TRY(CudaEvent::make(device.calls()));
  const auto submit = [&](void* stream) -> Result<void> {
    for (int i = 0; i < times; ++i) WW_TRY_VOID(work.submit(stream));
    return {};
  };
  return time_between(device, {submit, work.name}, start.handle(), end.handle());
}

}  // namespace ww::runtime
