// SPDX-License-Identifier: Apache-2.0
#include "emit/engines.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "base/source.h"
#include "emit/ptx/emit.h"
#include "eval/eval.h"
#include "ir/launch/launch.h"
#include "lower/lower.h"
#include "ptx/printer.h"
#include "script/compile.h"
#include "sim/launch.h"

namespace ww::engines {
namespace {

constexpr std::string_view kHead = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
)";

sim::Dim3 dims_of(const std::array<std::int64_t, 3>& sizes) {
  return {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
          static_cast<std::uint32_t>(sizes[2])};
}

// The first element of a scalar's array.
std::uint64_t scalar_of(const ir::Function& kernel, std::size_t param, const Bytes& bytes) {
  std::uint64_t bits = 0;
  const int width = num::bits_of(kernel[kernel.params[param].var].type.dtype);
  std::memcpy(&bits, bytes.data(), static_cast<std::size_t>(width) / 8);
  return bits;
}

}  // namespace

ir::Function function_of(const std::string& program) {
  const script::Compiled compiled = script::compile(SourceText("kernel.py", program));
  std::string errors;
  for (const Diag& error : compiled.errors) errors += compiled.render(error);
  if (!compiled.function) throw std::runtime_error(errors);
  return *compiled.function;
}

ir::Function kernel_of(const std::string& text) { return function_of(std::string(kHead) + text); }

std::string ptx_of(const ir::Function& kernel, target::Target target) {
  const auto module = emit::ptx_module(kernel, {.target = target});
  if (!module) throw std::runtime_error(render(module.error()));
  return ptx::print(*module);
}

Outcome evaluate(const ir::Function& kernel, std::vector<Bytes> arguments) {
  Outcome out{.arrays = std::move(arguments)};
  std::vector<eval::Argument> args;
  for (std::size_t i = 0; i < out.arrays.size(); ++i) {
    if (kernel[kernel.params[i].var].type.is_pointer()) {
      args.emplace_back(eval::BufferArg{&out.arrays[i], {}, true});
      continue;
    }
    args.emplace_back(eval::ScalarArg{scalar_of(kernel, i, out.arrays[i])});
  }
  const auto report = eval::run(kernel, std::move(args));
  if (!report) {
    out.complaints = render(report.error());
    return out;
  }
  for (const eval::Finding& finding : report->findings)
    out.complaints += fmt::format("{}: {}\n", name_of(finding.check), finding.text);
  out.printed = report->printed;
  return out;
}

Outcome simulate(const ir::Function& kernel, std::vector<Bytes> arguments, target::Target target) {
  const std::string text = ptx_of(kernel, target);
  const sim::LoadResult loaded = sim::load(text, "kernel.ptx");
  if (loaded.program != nullptr && loaded.errors.empty())
    return simulate(loaded.program, kernel, std::move(arguments));
  Outcome out;
  for (const Diag& error : loaded.errors)
    out.complaints += render(error, SourceText("kernel.ptx", text));
  return out;
}

Outcome simulate(const std::shared_ptr<const sim::Program>& program, const ir::Function& kernel,
                 std::vector<Bytes> arguments) {
  Outcome out;
  sim::Device device(program);
  sim::Launch launch{.kernel = program->find_kernel(kernel.name)};
  if (launch.kernel == nullptr) throw std::runtime_error("no kernel `" + kernel.name + "`");
  const ir::LaunchShape shape = ir::launch_shape(kernel).value();
  launch.grid = dims_of({shape.grid[0].value, shape.grid[1].value, shape.grid[2].value});
  launch.block = dims_of(shape.block);
  launch.dynamic_shared = static_cast<std::uint32_t>(lower::dynamic_shared_bytes(kernel));
  launch.params.resize(launch.kernel->param_bytes);
  std::vector<const sim::Region*> regions;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const sim::Param& param = launch.kernel->params[i];
    std::uint64_t bits = 0;
    regions.push_back(nullptr);
    if (kernel[kernel.params[i].var].type.is_pointer()) {
      sim::Region& region =
          device.memory().allocate(arguments[i].size(), 256, fmt::format("parameter {}", i));
      sim::GlobalMemory::write(region, arguments[i]);
      regions.back() = &region;
      bits = region.base;
    } else {
      bits = scalar_of(kernel, i, arguments[i]);
    }
    std::memcpy(launch.params.data() + param.offset, &bits, std::min<std::size_t>(8, param.bytes));
  }
  const auto report = device.run(launch, {.threads = 1});
  if (!report) {
    out.complaints = render(report.error());
    return out;
  }
  if (report->outcome != sim::Outcome::Finished)
    out.complaints += fmt::format("{}: {}\n", name_of(report->outcome), report->reason);
  for (const sim::Finding& finding : report->findings.list())
    out.complaints += fmt::format("{}: {}\n", name_of(finding.check), finding.text);
  out.printed = report->printed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (regions[i] != nullptr)
      std::memcpy(arguments[i].data(), regions[i]->data, arguments[i].size());
    out.arrays.push_back(arguments[i]);
  }
  return out;
}

}  // namespace ww::engines
