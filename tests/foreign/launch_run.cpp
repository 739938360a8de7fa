// SPDX-License-Identifier: Apache-2.0
#include "foreign/launch_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

namespace ww::corpus {
namespace {

std::string checks_that_found(const sim::Findings& findings) {
  std::set<std::string_view> names;
  for (const sim::Finding& finding : findings.list()) names.insert(sim::name_of(finding.check));
  return fmt::format("{}", fmt::join(names, ","));
}

std::string problem_of(const sim::Program& program, const LaunchLine& launch,
                       const Result<sim::LaunchReport>& report) {
  if (!report) return report.error().text;
  if (report->outcome != sim::Outcome::Finished)
    return fmt::format("{}: {}", sim::name_of(report->outcome), report->reason);
  if (checks_that_found(report->findings) == launch.finds) return "";
  if (report->findings.empty()) return fmt::format("nothing found, not {}", launch.finds);
  const sim::Finding& first = report->findings.list().front();
  const std::uint32_t line = first.who.op == sim::kNoOp ? 0 : program.infos[first.who.op].line;
  return fmt::format("{} in line {} of the PTX: {}", sim::name_of(first.check), line, first.text);
}

sim::Dim3 dim_of(const std::array<std::uint32_t, 3>& extent) {
  return {extent[0], extent[1], extent[2]};
}

std::string hex(const std::byte* bytes, std::size_t size) {
  std::string text = "0x";
  for (std::size_t i = size; i-- > 0;)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return text;
}

bool agrees(const LaunchLine& launch, isa::Type type, const std::byte* device,
            const std::byte* ours) {
  if (launch.approx == 0) return std::memcmp(device, ours, size_of(type)) == 0;
  const double x = number_of(type, device), y = number_of(type, ours);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
  return x == y || std::fabs(x - y) <= launch.approx * std::max(1.0, std::fabs(y));
}

}  // namespace

std::unique_ptr<VirtualModule> VirtualModule::load(const std::string& text, const std::string& name,
                                                   std::string& reason) {
  const sim::LoadResult loaded = sim::load(text, name);
  reason = loaded.errors.empty() ? "" : loaded.errors.front().text;
  if (loaded.program == nullptr) return nullptr;
  return std::make_unique<VirtualModule>(loaded.program);
}

std::optional<std::vector<std::byte>> parameter_bytes(const sim::Code& kernel,
                                                      const LaunchLine& launch,
                                                      const std::vector<std::uint64_t>& addresses,
                                                      std::string& reason) {
  std::vector<std::byte> bytes(kernel.param_bytes);
  reason =
      fmt::format("{} arguments for {} parameters", launch.arguments.size(), kernel.params.size());
  if (launch.arguments.size() != kernel.params.size()) return std::nullopt;
  std::size_t buffer = 0;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const sim::Param& param = kernel.params[i];
    const Argument& argument = launch.arguments[i];
    const std::size_t size = argument.is_buffer ? sizeof(std::uint64_t) : argument.bytes.size();
    reason = fmt::format("argument {} has {} bytes, the parameter {}", i, size, param.bytes);
    if (size != param.bytes) return std::nullopt;
    const void* from = argument.is_buffer ? static_cast<const void*>(&addresses[buffer++])
                                          : static_cast<const void*>(argument.bytes.data());
    std::memcpy(bytes.data() + param.offset, from, size);
  }
  return bytes;
}

LaunchOutcome VirtualModule::run(const LaunchLine& line) {
  LaunchOutcome outcome;
  sim::Launch launch;
  launch.kernel = program().find_kernel(line.kernel);
  outcome.problem = "no such kernel";
  if (launch.kernel == nullptr) return outcome;
  std::vector<sim::Region*> buffers;
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Argument& argument = line.arguments[i];
    if (!argument.is_buffer) continue;
    sim::Region& region =
        device_.memory().allocate(argument.bytes.size(), 256, fmt::format("parameter {}", i));
    sim::GlobalMemory::write(region, argument.bytes);
    addresses.push_back(region.base);
    if (argument.is_output) buffers.push_back(&region);
  }
  const auto params = parameter_bytes(*launch.kernel, line, addresses, outcome.problem);
  if (!params) return outcome;
  launch.params = *params;
  launch.grid = dim_of(line.grid);
  launch.block = dim_of(line.block);
  if (line.cluster) launch.cluster = dim_of(*line.cluster);
  launch.dynamic_shared = line.shared;
  const auto report = device_.run(launch, {});
  outcome.problem = problem_of(program(), line, report);
  if (report) outcome.printed = report->printed;
  for (const sim::Region* region : buffers)
    outcome.outputs.emplace_back(region->data, region->data + region->size);
  return outcome;
}

std::uint64_t digest_of(const LaunchLine& launch, const LaunchOutcome& outcome) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100'0000'01B3U; };
  for (const auto& buffer : outcome.outputs)
    for (const std::byte byte : buffer) add(std::to_integer<std::uint8_t>(byte));
  if (launch.prints)
    for (const char c : outcome.printed) add(static_cast<std::uint8_t>(c));
  return hash;
}

std::string difference(const LaunchLine& launch, const LaunchOutcome& device,
                       const LaunchOutcome& ours) {
  std::string text;
  std::size_t count = 0, output = 0;
  if (launch.prints && device.printed != ours.printed)
    text += fmt::format("    printed there: {}    printed here:  {}", device.printed, ours.printed);
  for (const Argument& argument : launch.arguments) {
    if (!argument.is_output) continue;
    const std::size_t size = size_of(argument.type);
    const auto& there = device.outputs[output];
    const auto& here = ours.outputs[output];
    for (std::size_t i = 0; i < argument.count; ++i) {
      const std::byte* x = there.data() + i * size;
      const std::byte* y = here.data() + i * size;
      if (agrees(launch, argument.type, x, y) || ++count > 8) continue;
      text +=
          fmt::format("    output {}[{}]: device {} ({}), ours {} ({})\n", output, i, hex(x, size),
                      number_of(argument.type, x), hex(y, size), number_of(argument.type, y));
    }
    ++output;
  }
  return count > 8 ? text + fmt::format("    {} elements differ\n", count) : text;
}

}  // namespace ww::corpus
