// SPDX-License-Identifier: Apache-2.0
#include "driver/call/placed_call.h"

#include <algorithm>

#include "driver/call/numbers.h"
#include "driver/run/findings.h"
#include "runtime/sim_device.h"

namespace ww::driver {

Result<PlacedKernel> PlacedKernel::load(const std::string& text, const std::string& kernel) {
  auto program = WW_TRY(runtime::SimDevice::read({.bytes = text, .kernel = kernel}));
  if (program->find_kernel(kernel) == nullptr)
    return fail(DiagKind::UnknownName, "the PTX has no kernel `{}`", kernel);
  return PlacedKernel(std::move(program), kernel);
}

const std::vector<sim::Param>& PlacedKernel::params() const {
  return program_->find_kernel(kernel_)->params;
}

Result<PlacedReport> PlacedKernel::launch(const PlacedLaunch& call,
                                          const CallOptions& options) const {
  sim::RunOptions run_options = WW_TRY(sim_options(options));
  run_options.allows_rewrites = !run_options.checks.has(sim::Check::Rewrite);
  run_options.sample = call.sample;
  run_options.progress = call.progress;
  runtime::SimDevice device(std::move(run_options));
  WW_TRY_VOID(device.use(program_, kernel_));
  std::vector<PlacedMemory> memory = call.memory;
  std::ranges::sort(memory, {}, &PlacedMemory::address);
  for (PlacedMemory& each : memory)
    device.adopt(each.address, each.bytes, each.undefined, std::move(each.name));
  WW_TRY_VOID(device.launch(call.launch));
  return PlacedReport{.run = launch_report(kernel_, SourceText("kernel.ptx", ""), program_->target,
                                           device, call.launch),
                      .blocks_left_out = device.report()->blocks_left_out};
}

}  // namespace ww::driver
