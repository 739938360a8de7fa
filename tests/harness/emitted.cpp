// SPDX-License-Identifier: Apache-2.0
#include "harness/emitted.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "base/source.h"
#include "emit/ptx/emit.h"
#include "eval/eval.h"
#include "harness/engines.h"
#include "ptx/printer.h"
#include "script/compile.h"

namespace ww::engines {
namespace {

constexpr std::string_view kHead = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
)";

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

KernelRun evaluate(const ir::Function& kernel, std::vector<Bytes> arguments) {
  KernelRun out{.arrays = std::move(arguments)};
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

KernelRun simulate(const ir::Function& kernel, std::vector<Bytes> arguments,
                   target::Target target) {
  const std::string text = ptx_of(kernel, target);
  const sim::LoadResult loaded = sim::load(text, "kernel.ptx");
  if (loaded.program != nullptr && loaded.errors.empty())
    return simulate(loaded.program, kernel, std::move(arguments));
  KernelRun out;
  for (const Diag& error : loaded.errors)
    out.complaints += render(error, SourceText("kernel.ptx", text));
  return out;
}

KernelRun simulate(const std::shared_ptr<const sim::Program>& program, const ir::Function& kernel,
                   std::vector<Bytes> arguments) {
  std::vector<test::Arg> args;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    test::Arg arg{.name = fmt::format("parameter {}", i),
                  .is_array = kernel[kernel.params[i].var].type.is_pointer()};
    if (arg.is_array)
      arg.bytes = arguments[i];
    else
      arg.bits = scalar_of(kernel, i, arguments[i]);
    args.push_back(std::move(arg));
  }
  KernelRun out{.arrays = std::move(arguments)};
  test::VirtualRun run(program, kernel, args);
  const auto report = run.run({.threads = 1});
  if (!report) {
    out.complaints = render(report.error());
    return out;
  }
  if (report->outcome != sim::Outcome::Finished)
    out.complaints += fmt::format("{}: {}\n", name_of(report->outcome), report->reason);
  for (const sim::Finding& finding : report->findings.list())
    out.complaints += fmt::format("{}: {}\n", name_of(finding.check), finding.text);
  out.printed = report->printed;
  test::Results left;
  run.collect(left);
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].is_array) out.arrays[i] = std::move(left.arrays[i]);
  return out;
}

}  // namespace ww::engines
