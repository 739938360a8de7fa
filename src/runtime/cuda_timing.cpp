// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_timing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
#include "runtime/device.h"

namespace ww::runtime {

// --- cuda graph ----------------------------------------------------------------------------------
//
// Work for a GPU that is recorded once and handed over as a whole (a CUDA graph): between two kernels of
// it the host does nothing, and the GPU waits for less than between launches that are asked for one by
// one.

namespace {

class CudaGraph {
 public:
  /// Does the driver record?
  static bool has_calls(const CudaCalls& calls);

  /// `times` times the work, ready on the GPU of the current context. `calls` outlives the result.
  static Result<CudaGraph> record(const CudaCalls& calls, const GpuWork& work, int times);
  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  CudaGraph& operator=(CudaGraph&&) = delete;
  ~CudaGraph();

  [[nodiscard]] Result<void> submit(void* stream) const;

 private:
  explicit CudaGraph(const CudaCalls& calls) : calls_(&calls) {}
  Result<void> capture(const GpuWork& work, int times);

  const CudaCalls* calls_;
  void* stream_ = nullptr;  // on which it is recorded
  void* graph_ = nullptr;
  void* ready_ = nullptr;  // a CUgraphExec
};

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kRelaxed = 2;           // CU_STREAM_CAPTURE_MODE_RELAXED

bool CudaGraph::has_calls(const CudaCalls& calls) {
  return calls.stream_create != nullptr && calls.stream_destroy != nullptr &&
         calls.capture_begin != nullptr && calls.capture_end != nullptr &&
         calls.graph_instantiate != nullptr && calls.graph_upload != nullptr &&
         calls.graph_launch != nullptr && calls.graph_destroy != nullptr &&
         calls.graph_exec_destroy != nullptr;
}

CudaGraph::CudaGraph(CudaGraph&& other) noexcept
    : calls_(other.calls_),
      stream_(std::exchange(other.stream_, nullptr)),
      graph_(std::exchange(other.graph_, nullptr)),
      ready_(std::exchange(other.ready_, nullptr)) {}

CudaGraph::~CudaGraph() {
  if (ready_ != nullptr) calls_->graph_exec_destroy(ready_);
  if (graph_ != nullptr) calls_->graph_destroy(graph_);
  if (stream_ != nullptr) calls_->stream_destroy(stream_);
}

// A capture that has begun must end, whatever happens between.
Result<void> CudaGraph::capture(const GpuWork& work, int times) {
  WW_TRY_VOID(check_cuda(*calls_, calls_->capture_begin(stream_, kRelaxed), "recording a graph"));
  Result<void> done = {};
  for (int i = 0; i < times && done; ++i) done = work.submit(stream_);
  const int ended = calls_->capture_end(stream_, &graph_);
  if (!done) return done;
  return check_cuda(*calls_, ended, "recording a graph");
}

Result<CudaGraph> CudaGraph::record(const CudaCalls& calls, const GpuWork& work, int times) {
  CudaGraph out(calls);
  WW_TRY_VOID(
      check_cuda(calls, calls.stream_create(&out.stream_, kNonBlocking), "making a stream"));
  WW_TRY_VOID(out.capture(work, times));
  WW_TRY_VOID(check_cuda(calls, calls.graph_instantiate(&out.ready_, out.graph_, 0),
                         "making a graph ready"));
  WW_TRY_VOID(check_cuda(calls, calls.graph_upload(out.ready_, nullptr), "sending a graph"));
  return out;
}

Result<void> CudaGraph::submit(void* stream) const {
  return check_cuda(*calls_, calls_->graph_launch(ready_, stream), "launching a graph");
}

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
