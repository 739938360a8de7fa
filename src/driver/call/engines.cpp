// SPDX-License-Identifier: Apache-2.0
#include "driver/call/engines.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>

#include "driver/call/numbers.h"
#include "driver/run/device_run.h"
#include "driver/run/eval_findings.h"
#include "driver/run/sim_findings.h"
#include "eval/eval.h"
#include "runtime/cuda_device.h"

namespace ww::driver {
namespace {

RunReport report_for(const Build& build) {
  RunReport out;
  out.path = build.compiled->source.name();
  out.kernel = build.tile().name;
  return out;
}

std::uint64_t scalar_value(const KernelArg& arg) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, arg.value.data(), std::min(arg.value.size(), sizeof bits));
  return bits;
}

}  // namespace

Result<RunReport> call_on_eval(const Build& build, const std::vector<CallArg>& args,
                               const std::atomic<bool>* stop) {
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build.tile(), args));
  std::deque<std::vector<std::byte>> memory;  // the evaluator's own: one per array
  std::vector<eval::Argument> arguments;
  for (const KernelArg& arg : bound) {
    if (!arg.value.empty()) {
      arguments.emplace_back(eval::ScalarArg{scalar_value(arg)});
      continue;
    }
    const auto contents = arg.contents();
    memory.emplace_back(contents.begin(), contents.end());
    arguments.emplace_back(eval::BufferArg{&memory.back(), arg.shape});
  }
  eval::Options options;
  if (stop != nullptr) options.keep_going = [stop] { return !stop->load(); };
  const eval::Report run = WW_TRY(eval::run(build.tile(), std::move(arguments), options));
  auto result = memory.begin();
  for (const KernelArg& arg : bound) {
    if (!arg.value.empty()) continue;
    if (!arg.bytes.empty()) std::ranges::copy(*result, arg.bytes.begin());
    ++result;
  }
  RunReport report = report_for(build);
  add_eval_report(report, run, build.tile(), build.compiled->source);
  return report;
}

Result<RunReport> call_on_cuda(const Build& build, const std::vector<CallArg>& args,
                               const runtime::CudaCalls& calls, int number) {
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build.tile(), args));
  const auto device = WW_TRY(runtime::CudaDevice::open_at(calls, number, build.target->arch));
  const DeviceRun run = WW_TRY(run_on(*device, build, bound));
  RunReport report = report_for(build);
  report.device = DeviceKind::Cuda;
  report.device_name = device->name();
  report.target = build.target;
  add_launch(report, run.launch);
  return report;
}

}  // namespace ww::driver
