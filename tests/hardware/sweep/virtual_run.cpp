// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/virtual_run.h"

#include <fmt/format.h>

#include <cstring>

#include "sim/launch.h"

namespace ww::sweep {
namespace {

sim::Launch launch_of(const sim::Code& code, std::size_t cases, std::uint64_t in,
                      std::uint64_t out) {
  sim::Launch launch;
  launch.kernel = &code;
  launch.grid.x = static_cast<std::uint32_t>(cases / kBlockThreads);
  launch.block.x = kBlockThreads;
  launch.params.resize(code.param_bytes);
  std::memcpy(launch.params.data() + code.params[0].offset, &in, sizeof in);
  std::memcpy(launch.params.data() + code.params[1].offset, &out, sizeof out);
  return launch;
}

std::string problem_of(const Result<sim::LaunchReport>& report) {
  if (!report) return report.error().text;
  if (report->outcome != sim::Outcome::Finished)
    return fmt::format("{}: {}", sim::name_of(report->outcome), report->reason);
  if (report->findings.empty()) return "";
  const sim::Finding& first = report->findings.list().front();
  return fmt::format("{}: {}", sim::name_of(first.check), first.text);
}

}  // namespace

VirtualResult run_virtual(const Kernel& kernel, std::span<const std::byte> inputs,
                          std::size_t cases, const VirtualOptions& options) {
  VirtualResult result;
  const sim::LoadResult loaded =
      sim::load(module_header(kernel.ptx) + kernel_text(kernel, "k"), "k.ptx");
  if (loaded.program == nullptr) {
    result.is_simulated = false;
    result.problem = loaded.errors.empty() ? "not loaded" : loaded.errors.front().text;
    return result;
  }
  sim::Device device(loaded.program);
  sim::Region& in = device.memory().allocate(inputs.size(), 256, "the inputs");
  sim::GlobalMemory::write(in, inputs);
  const std::size_t bytes = buffer_bytes(kernel.outputs, cases);
  sim::Region& out = device.memory().allocate(bytes, 256, "the outputs");
  sim::RunOptions run;
  run.checks = options.checked ? sim::CheckSet::all() : sim::CheckSet::nothing();
  if (options.seed != 0) run.schedule = sim::Schedule::random(options.seed);
  run.threads = 1;
  const sim::Code* code = loaded.program->find_kernel("k");
  result.problem = problem_of(device.run(launch_of(*code, cases, in.base, out.base), run));
  result.outputs.assign(out.data, out.data + bytes);
  return result;
}

}  // namespace ww::sweep
