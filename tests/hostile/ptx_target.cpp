// SPDX-License-Identifier: Apache-2.0
// PTX text: read and printed (tests/ptx/reader_law.h), checked, loaded into the virtual GPU, and
// every kernel run with all checks in narrow limits.
#include <cstring>
#include <string>

#include "hostile/targets.h"
#include "ptx/reader_law.h"
#include "sim/launch.h"

namespace ww::fuzz {
namespace {

std::string broken_diags(const std::vector<Diag>& errors, std::size_t end) {
  for (const Diag& error : errors) {
    if (error.text.empty()) return "an error says nothing";
    if (error.span.known && (error.span.begin > error.span.end || error.span.end > end))
      return "an error is not inside the text: " + error.text;
  }
  return "";
}

// All pointers lead to the same few bytes.
sim::Launch small_launch(const sim::Code& kernel, std::uint64_t address) {
  sim::Launch launch{.kernel = &kernel, .grid = {2}, .block = {40}};
  if (kernel.required_block) launch.block = *kernel.required_block;
  launch.params.resize(kernel.param_bytes);
  for (const sim::Param& param : kernel.params)
    if (param.bytes == sizeof address)
      std::memcpy(launch.params.data() + param.offset, &address, sizeof address);
  return launch;
}

}  // namespace

std::string ptx_law(std::string_view bytes) {
  std::string broken = ptx::broken_law(bytes);
  if (!broken.empty()) return broken;
  const sim::LoadResult loaded = sim::load(bytes, "fuzz.ptx");
  if ((loaded.program == nullptr) == loaded.errors.empty()) return "a program beside errors";
  if (loaded.program == nullptr) return broken_diags(loaded.errors, bytes.size());
  for (const sim::Code* kernel : loaded.program->kernels()) {
    sim::Device device(loaded.program);
    const sim::Region& buffer = device.memory().allocate(512, 256, "parameter 0");
    sim::RunOptions options;
    options.limits = {.instructions = 4'000, .memory = std::uint64_t{1} << 26U};
    options.threads = 1;
    const auto report = device.run(small_launch(*kernel, buffer.base), options);
    if (!report && report.error().text.empty()) return "a launch is refused without a word";
  }
  return "";
}

}  // namespace ww::fuzz
