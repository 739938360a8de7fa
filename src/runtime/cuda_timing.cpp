// SPDX-License-Identifier: Apache-2.0
// How long work takes on a GPU, by its own events: launches one by one, launches in a row, copies.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/cuda_device.h"
#include "runtime/cuda_errors.h"
#include "runtime/cuda_event.h"
#include "runtime/cuda_graph.h"

namespace ww::runtime {

Result<double> CudaDevice::time_one(const GpuWork& work, void* start, void* end) {
  WW_TRY_VOID(check_cuda(calls_, calls_.event_record(start, nullptr), "recording an event"));
  WW_TRY_VOID(work.submit(nullptr));
  WW_TRY_VOID(check_cuda(calls_, calls_.event_record(end, nullptr), "recording an event"));
  WW_TRY_VOID(wait_for(end, work.name));
  float milliseconds = 0;
  WW_TRY_VOID(check_cuda(calls_, calls_.event_elapsed(&milliseconds, start, end),
                         "reading an event's time"));
  return static_cast<double>(milliseconds) / 1000;
}

Result<Timing> CudaDevice::time_work(const GpuWork& work, int times) {
  const CudaEvent start = WW_TRY(CudaEvent::make(calls_));
  const CudaEvent end = WW_TRY(CudaEvent::make(calls_));
  std::vector<double> seconds;
  for (int i = 0; i <= times; ++i) {
    const double one = WW_TRY(time_one(work, start.handle(), end.handle()));
    if (i > 0) seconds.push_back(one);
  }
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return Timing{median, seconds.front(), seconds.back(), times};
}

Result<Timing> CudaDevice::time(const Launch& given, int launches) {
  WW_TRY_VOID(allow(given));
  const Launch launch = WW_TRY(with_maps(given));
  CudaLaunch prepared = ready(launch);
  return time_work(
      {[&](void* stream) { return prepared.submit(stream); }, fmt::format("running `{}`", kernel_)},
      launches);
}

Result<double> CudaDevice::time_in_a_row(const Launch& given, int launches) {
  WW_TRY_VOID(allow(given));
  const Launch launch = WW_TRY(with_maps(given));
  CudaLaunch prepared = ready(launch);
  return time_in_a_row(
      {[&](void* stream) { return prepared.submit(stream); }, fmt::format("running `{}`", kernel_)},
      launches);
}

Result<double> CudaDevice::time_in_a_row(const GpuWork& work, int times) {
  if (!CudaGraph::has_calls(calls_)) return time_one_by_one(work, times);
  const CudaGraph graph = WW_TRY(CudaGraph::record(calls_, work, times));
  return time_one_by_one({[&](void* stream) { return graph.submit(stream); }, work.name}, 1);
}

Result<double> CudaDevice::time_one_by_one(const GpuWork& work, int times) {
  const CudaEvent start = WW_TRY(CudaEvent::make(calls_));
  const CudaEvent end = WW_TRY(CudaEvent::make(calls_));
  const auto submit = [&](void* stream) -> Result<void> {
    for (int i = 0; i < times; ++i) WW_TRY_VOID(work.submit(stream));
    return {};
  };
  return time_one({submit, work.name}, start.handle(), end.handle());
}

GpuWork CudaDevice::copying(Address to, Address from, std::size_t bytes) {
  std::string name = fmt::format("copying {} bytes on the GPU", bytes);
  return {[=, this](void* stream) {
            return check_cuda(calls_, calls_.copy(to, from, bytes, stream), name);
          },
          name};
}

Result<void> CudaDevice::copy(Address to, Address from, std::size_t bytes) {
  if (bytes == 0) return {};
  const GpuWork work = copying(to, from, bytes);
  WW_TRY_VOID(work.submit(nullptr));
  return check_cuda(calls_, calls_.synchronize(), work.name);
}

Result<Timing> CudaDevice::time_copy(Address to, Address from, std::size_t bytes, int copies) {
  return time_work(copying(to, from, bytes), copies);
}

}  // namespace ww::runtime
