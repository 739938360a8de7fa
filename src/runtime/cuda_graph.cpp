// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_graph.h"

#include <utility>

#include "runtime/cuda_errors.h"

namespace ww::runtime {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kRelaxed = 2;           // CU_STREAM_CAPTURE_MODE_RELAXED

}  // namespace

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

}  // namespace ww::runtime
