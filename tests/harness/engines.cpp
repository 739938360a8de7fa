// SPDX-License-Identifier: Apache-2.0
#include "harness/engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "eval/eval.h"
#include "harness/maps.h"
#include "ir/launch/launch.h"
#include "lower/lower.h"
#include "sim/tensor_map/image.h"

namespace ww::test {
namespace {

std::string text_of(const eval::Finding& finding) {
  return fmt::format("{}: {} {}", eval::name_of(finding.check), finding.text, finding.note);
}

// Every n-th flag: those of the bytes that elements are packed in.
void keep_every(std::vector<bool>& flags, std::size_t n) {
  if (n == 1) return;
  for (std::size_t i = 0; i * n < flags.size(); ++i) flags[i] = flags[i * n];
  flags.resize(flags.size() / n);
}

std::vector<std::int64_t> shape_of(const Arg& arg, bool is_flat) {
  if (!is_flat) return arg.shape;
  return {static_cast<std::int64_t>(arg.bytes.size() / arg.element_bytes * arg.packed)};
}

}  // namespace

// Lowered programs see arrays as flat.
std::optional<std::string> evaluate(const ir::Function& function, const std::vector<Arg>& args,
                                    Results& out, bool& is_evaluated, std::uint64_t schedule) {
  const bool is_flat = function.level == ir::Level::Lowered;
  out.arrays.clear();
  for (const Arg& arg : args) out.arrays.push_back(arg.bytes);
  std::vector<eval::Argument> arguments;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_array)
      arguments.emplace_back(
          eval::BufferArg{&out.arrays[i], shape_of(args[i], is_flat), !args[i].is_output});
    else
      arguments.emplace_back(eval::ScalarArg{args[i].bits});
  }
  auto report = eval::run(function, std::move(arguments), {.seed = schedule});
  is_evaluated = report.has_value() || report.error().kind != DiagKind::NotEvaluated;
  if (!report) return "the evaluator: " + report.error().text;
  if (!report->good()) return text_of(report->findings.front());
  out.written = std::move(report->written);
  for (std::size_t i = 0; i < args.size(); ++i) keep_every(out.written[i], args[i].packed);
  return std::nullopt;
}

// --- the virtual GPU -----------------------------------------------------------------------------

namespace {

Result<runtime::Launch> launch_of(const ir::Function& lowered) {
  const ir::LaunchShape shape = WW_TRY(ir::launch_shape(lowered));
  runtime::Launch out;
  for (std::size_t d = 0; d < 3; ++d) {
    out.grid[d] = static_cast<std::uint32_t>(shape.grid[d].value);
    out.block[d] = static_cast<std::uint32_t>(shape.block[d]);
  }
  out.dynamic_shared = static_cast<std::uint32_t>(lower::dynamic_shared_bytes(lowered));
  return out;
}

sim::Dim3 dim3(const runtime::Dims& dims) { return {dims[0], dims[1], dims[2]}; }

std::string text_of(const sim::Program& program, const sim::Finding& finding) {
  const std::string_view at = finding.who.op == sim::kNoOp
                                  ? std::string_view("?")
                                  : program.line(program.infos[finding.who.op].line);
  return fmt::format("{}: {} at `{}`", sim::name_of(finding.check), finding.text, at);
}

// Turns by primitive: from the comment that names it to the next barrier or primitive.
std::vector<Turns> turns_of(const sim::Program& program, const sim::Code& kernel,
                            const sim::Counters& counters) {
  std::vector<Turns> out;
  bool is_inside = false;
  std::uint32_t line = 0;
  for (std::uint32_t op = kernel.first_op; op < kernel.end_op; ++op) {
    for (; line < program.infos[op].line; ++line) {
      const std::string_view text = program.line(line + 1);
      if (text.starts_with("bar")) is_inside = false;
      if (!text.starts_with("//") || text.find(" by ") == std::string_view::npos) continue;
      is_inside = true;
      out.emplace_back();
    }
    if (!is_inside) continue;
    out.back().needed += static_cast<std::int64_t>(counters.ops[op].wavefronts);
    out.back().ideal += static_cast<std::int64_t>(counters.ops[op].ideal_wavefronts);
  }
  return out;
}

}  // namespace

VirtualRun::VirtualRun(std::shared_ptr<const sim::Program> program, const ir::Function& lowered,
                       const std::vector<Arg>& args)
    : lowered_(lowered), args_(args), device_(std::move(program)) {
  launch_.kernel = device_.program().find_kernel(lowered.name);
  WW_CHECK(launch_.kernel != nullptr, "no kernel `{}` in the PTX", lowered.name);
  launch_.params.resize(launch_.kernel->param_bytes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::uint64_t bits = args[i].bits;
    sim::Region* region = nullptr;
    if (args[i].is_array) {
      region = &device_.memory().allocate(args[i].bytes.size(), 256, args[i].name);
      if (!args[i].is_output) sim::GlobalMemory::write(*region, args[i].bytes);
      bits = region->base;
    }
    regions_.push_back(region);
    const sim::Param& param = launch_.kernel->params[i];
    std::memcpy(launch_.params.data() + param.offset, &bits,
                std::min<std::size_t>(sizeof bits, param.bytes));
  }
  for (const runtime::MapArgument& each : maps_of(lowered, args)) {
    sim::TensorMap map = each.map;
    map.address = regions_[each.array]->base + static_cast<std::uint64_t>(each.offset);
    const auto fits = sim::check_tensor_map(map);
    WW_CHECK(fits.has_value(), "a tensor map that no driver makes: {}", fits.error().text);
    const sim::TensorMapImage image = sim::encode(map);
    std::memcpy(launch_.params.data() + launch_.kernel->params[each.argument].offset, image.data(),
                image.size());
  }
}

Result<sim::LaunchReport> VirtualRun::run(const sim::RunOptions& options,
                                          std::uint32_t shared_unit) {
  const runtime::Launch shape = WW_TRY(launch_of(lowered_));
  launch_.grid = dim3(shape.grid);
  launch_.block = dim3(shape.block);
  launch_.dynamic_shared = (shape.dynamic_shared + shared_unit - 1) / shared_unit * shared_unit;
  return device_.run(launch_, options);
}

void VirtualRun::collect(Results& out) const {
  out.arrays.assign(args_.size(), {});
  out.written.assign(args_.size(), {});
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (!args_[i].is_array) continue;
    const sim::Region& region = *regions_[i];
    out.arrays[i].assign(region.data, region.data + args_[i].bytes.size());
    out.written[i].reserve(args_[i].bytes.size() / args_[i].element_bytes);
    for (std::size_t at = 0; at < args_[i].bytes.size(); at += args_[i].element_bytes)
      out.written[i].push_back(region.undefined == nullptr || region.undefined[at] == 0);
  }
}

std::optional<std::string> simulate(const Loaded& loaded, const ir::Function& lowered,
                                    const std::vector<Arg>& args, Results& out,
                                    std::vector<Turns>* turns, const sim::Schedule& schedule) {
  VirtualRun run(loaded.program, lowered, args);
  sim::RunOptions options;
  options.threads = 1;
  options.count = true;
  options.checks.add(sim::Check::Proxy);  // what we emit fences by the manual
  options.schedule = schedule;
  options.limits.instructions = 50'000'000;
  const auto report = run.run(options, loaded.shared_unit);
  if (!report) return "the launch: " + report.error().text;
  for (const sim::Finding& each : report->findings.list()) {
    std::string text = text_of(*loaded.program, each);
    const bool is_beside = text.starts_with("race: reads ") && text.contains("ld.shared.v");
    if (!loaded.reads_beside || !is_beside) return text;
  }
  if (report->outcome != sim::Outcome::Finished)
    return fmt::format("{}: {}", sim::name_of(report->outcome), report->reason);
  run.collect(out);
  if (turns != nullptr) *turns = turns_of(*loaded.program, run.kernel(), report->counters);
  return std::nullopt;
}

// --- a device ------------------------------------------------------------------------------------

namespace {

// What outputs hold before the first run, and before the second: no byte is the same.
constexpr std::array<std::byte, 2> kPatterns{std::byte{0xCB}, std::byte{0x34}};

class DeviceRun {
 public:
  DeviceRun(runtime::Device& device, const std::vector<Arg>& args) : device_(device), args_(args) {}

  Result<void> load(const std::string& ptx, const ir::Function& lowered) {
    launch_ = WW_TRY(launch_of(lowered));
    WW_TRY_VOID(device_.load({.bytes = ptx, .kernel = lowered.name}));
    for (const Arg& arg : args_) {
      if (arg.is_array)
        launch_.arguments.push_back({WW_TRY(device_.allocate(arg.bytes.size(), arg.name))});
      else
        launch_.arguments.push_back({arg.bits, static_cast<std::uint32_t>(arg.scalar_bytes)});
    }
    launch_.maps = maps_of(lowered, args_);
    launch_.arguments.resize(launch_.arguments.size() + launch_.maps.size());
    return {};
  }

  Result<std::vector<Bytes>> once(std::byte pattern) {
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!args_[i].is_array) continue;
      const Bytes before =
          args_[i].is_output ? Bytes(args_[i].bytes.size(), pattern) : args_[i].bytes;
      WW_TRY_VOID(device_.upload(launch_.arguments[i].bits, before));
    }
    WW_TRY_VOID(device_.launch(launch_));
    std::vector<Bytes> out(args_.size());
    for (std::size_t i = 0; i < args_.size(); ++i) {
      if (!args_[i].is_array) continue;
      out[i].resize(args_[i].bytes.size());
      WW_TRY_VOID(device_.download(out[i], launch_.arguments[i].bits));
    }
    return out;
  }

 private:
  runtime::Device& device_;
  const std::vector<Arg>& args_;
  runtime::Launch launch_;
};

// Which elements do not hold the pattern any more.
std::vector<bool> changed(const Arg& arg, const Bytes& bytes, std::byte pattern) {
  std::vector<bool> out;
  for (auto at = bytes.begin(); at != bytes.end();) {
    const auto end = at + static_cast<std::ptrdiff_t>(arg.element_bytes);
    out.push_back(std::any_of(at, end, [&](std::byte each) { return each != pattern; }));
    at = end;
  }
  return out;
}

// Written: changed in either run. What a kernel writes does not depend on what was there, so both
// runs left the same in those.
std::optional<std::string> merge(const std::vector<Arg>& args, const std::vector<Bytes>& second,
                                 Results& out) {
  Results again{.arrays = second};
  for (std::size_t i = 0; i < args.size(); ++i) {
    out.written.push_back(changed(args[i], out.arrays[i], kPatterns[0]));
    const std::vector<bool> other = changed(args[i], second[i], kPatterns[1]);
    for (std::size_t at = 0; at < other.size(); ++at)
      out.written[i][at] = out.written[i][at] || other[at];
  }
  again.written = out.written;
  if (const auto found = difference_of(args, out, again))
    return "two runs on the same inputs differ: " + *found;
  return std::nullopt;
}

std::string text_of(const Diag& problem) {
  std::string out = problem.text;
  for (const Note& note : problem.notes) out += "\n" + note.text;
  return out;
}

}  // namespace

std::optional<std::string> run_on(runtime::Device& device, const std::string& ptx,
                                  const ir::Function& lowered, const std::vector<Arg>& args,
                                  Results& out) {
  DeviceRun run(device, args);
  if (const auto loaded = run.load(ptx, lowered); !loaded) return text_of(loaded.error());
  auto first = run.once(kPatterns[0]);
  if (!first) return text_of(first.error());
  const auto second = run.once(kPatterns[1]);
  if (!second) return text_of(second.error());
  out = {.arrays = *std::move(first)};
  return merge(args, *second, out);
}

}  // namespace ww::test
