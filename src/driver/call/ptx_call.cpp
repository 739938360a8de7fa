// SPDX-License-Identifier: Apache-2.0
#include "driver/call/ptx_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>

#include "driver/args/array.h"
#include "driver/call/call.h"
#include "driver/launch/launch.h"
#include "driver/report_parts.h"
#include "driver/run/report.h"
#include "driver/sim/args.h"
#include "driver/sim/memory.h"
#include "driver/sim/options.h"
#include "isa/type.h"
#include "ptx/parser.h"
#include "runtime/sim_device.h"
#include "sim/tensor_map/image.h"

namespace ww::driver {
namespace {

Result<std::string> kernel_of(const PtxCallRequest& call) {
  const ptx::ParseResult parsed = ptx::parse(call.text);
  if (parsed.ok())
    return choose_kernel(parsed.module, call.kernel,
                         {.where = "the PTX", .unnamed = "none is named"});
  const SourceText source("kernel.ptx", call.text);
  std::string text = render(parsed.errors.front(), source);
  while (text.ends_with('\n')) text.pop_back();
  return fail(DiagKind::Syntax, "the PTX cannot be read\n{}", text);
}

/// An array of the call, and what the device has of it.
struct Placed {
  std::size_t param = 0;
  const CallArg* view = nullptr;
  std::vector<std::byte> results = {};

  [[nodiscard]] std::span<std::byte> bytes() const { return {view->data(), results.size()}; }
};

/// The call on one device, which has loaded the kernel.
class PtxRun {
 public:
  PtxRun(const PtxCallRequest& call, const sim::Program& program, const sim::Code& code,
         runtime::Device& device)
      : program_(program), call_(call), code_(&code), device_(device) {}

  /// Copies the arrays to the device and runs the kernel. They are as they were.
  Result<void> go(CallArgs args) {
    if (args.size() != code_->params.size())
      return fail(
          with_params(diag(DiagKind::BadArgument, "`{}` was given {} arguments: expected {}",
                           code_->name, args.size(), code_->params.size()),
                      code_->params));
    launch_ = {.grid = call_.grid,
               .block = call_.block,
               .cluster = call_.cluster,
               .dynamic_shared = call_.dynamic_shared,
               .is_cooperative = program_.has_grid_barrier};
    for (std::size_t i = 0; i < args.size(); ++i) WW_TRY_VOID(add(i, args[i]));
    return run_launch(device_, launch_, memory_);
  }
  /// Brings the results to the arrays.
  Result<void> bring_back() const {
    for (const Placed& each : placed_) {
      if (std::ranges::equal(each.results, each.bytes())) continue;
      if (each.view->is_read_only)
        return fail(DiagKind::BadArgument,
                    "{} was given a read-only array: the kernel has written it",
                    param_title(code_->params, each.param));
      std::ranges::copy(each.results, each.view->data());
    }
    return {};
  }
  /// How the results differ from what the arrays hold now; empty: they do not.
  [[nodiscard]] std::string difference() const {
    for (const Placed& each : placed_) {
      std::string text = difference_text(param_title(code_->params, each.param), each.view->dtype,
                                         each.view->shape, {each.bytes()}, {each.results});
      if (!text.empty()) return text;
    }
    return "";
  }
  [[nodiscard]] const runtime::Launch& launch() const { return launch_; }

 private:
  Result<void> add(std::size_t param, const CallArg& arg) {
    const std::uint32_t bytes = code_->params[param].bytes;
    if (!arg.is_array()) {
      launch_.arguments.push_back({.bits = WW_TRY(number(param, arg)), .bytes = bytes});
      return {};
    }
    const std::size_t wanted = arg.map ? sim::kTensorMapBytes : sizeof(runtime::Address);
    if (bytes != wanted)
      return fail(DiagKind::BadArgument, "{} was given {}: it is {}",
                  param_title(code_->params, param), arg.map ? "a tensor map" : "an array",
                  param_type_text(code_->params[param]));
    WW_TRY_VOID(check_c_order(arg, param_title(code_->params, param)));
    const auto size = static_cast<std::size_t>(WW_TRY(byte_size(arg.dtype, arg.shape)));
    const runtime::Address address = WW_TRY(place(param, arg, size));
    launch_.arguments.push_back({.bits = address});
    if (arg.map) return add_map(param, arg, address);
    return {};
  }

  // Puts the array into the device's memory. One that several parameters have is there once.
  Result<runtime::Address> place(std::size_t param, const CallArg& view, std::size_t size) {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const CallArg& other = *placed_[i].view;
      if ((other.map || view.map) && other.bits == view.bits && placed_[i].results.size() == size)
        return memory_[i].address;
    }
    Placed& placed = placed_.emplace_back(Placed{param, &view, std::vector<std::byte>(size)});
    DeviceMemory& memory = memory_.emplace_back();
    memory.address = WW_TRY(device_.allocate(size, param_title(code_->params, param)));
    memory.contents = placed.bytes();
    memory.results = placed.results;
    return memory.address;
  }

  Result<void> add_map(std::size_t param, const CallArg& view, runtime::Address address) {
    auto map = make_tensor_map(*view.map, view.dtype, view.shape, address);
    if (!map)
      return fail(DiagKind::BadArgument, "{}: {}", param_title(code_->params, param),
                  map.error().text);
    launch_.arguments.back().block = WW_TRY(device_.encode_map(*map));
    launch_.arguments.back().bytes = sim::kTensorMapBytes;
    return {};
  }

  // The bits of a number by the parameter's type; a `.b32` holds whole numbers, as its bits.
  [[nodiscard]] Result<std::uint64_t> number(std::size_t param, const CallArg& arg) const {
    const isa::Type type = code_->params[param].type;
    const std::string title = param_title(code_->params, param);
    const bool is_plain =
        code_->params[param].bytes * 8U == static_cast<unsigned>(isa::info(type).bits);
    if (!is_plain || isa::info(type).bits > 64)
      return fail(DiagKind::BadArgument, "{} was given {}: it is {}", title, number_text(arg),
                  param_type_text(code_->params[param]));
    return bits_of_number(arg, number_type(type), title);
  }
  static num::DType number_type(isa::Type type) {
    const isa::TypeInfo& info = isa::info(type);
    using enum num::DType;
    if (info.cls == isa::TypeClass::Float)
      return info.bits == 16 ? Float16 : info.bits == 32 ? Float32 : Float64;
    if (info.cls == isa::TypeClass::Signed)
      return info.bits == 8 ? Int8 : info.bits == 16 ? Int16 : info.bits == 32 ? Int32 : Int64;
    return info.bits == 8 ? Uint8 : info.bits == 16 ? Uint16 : info.bits == 32 ? Uint32 : Uint64;
  }

  const sim::Program& program_;
  const PtxCallRequest& call_;
  const sim::Code* code_;
  runtime::Device& device_;
  runtime::Launch launch_;
  std::vector<Placed> placed_;
  std::vector<DeviceMemory> memory_;  // of each
};

// `.loc` leads to a text that is not here: findings name its file.
RunReport report_of(const runtime::Device& device, const sim::Program& program, const PtxRun& run,
                    const std::string& kernel) {
  return launch_report(kernel, SourceText("kernel.ptx", ""), program.target, device, run.launch());
}

// The arguments that the virtual GPU would take.
Result<PtxReport> call_on_gpu(const PtxCallRequest& call, const sim::Program& program,
                              const sim::Code& code, CallArgs args) {
  const auto device = WW_TRY(open_gpu(call.driver, program, {call.text, code.name}));
  PtxRun run(call, program, code, *device);
  WW_TRY_VOID(run.go(args));
  WW_TRY_VOID(run.bring_back());
  return PtxReport{.run = report_of(*device, program, run, code.name), .gpu = device->name()};
}

}  // namespace

std::string ptx_text(const PtxReport& report) {
  std::string text = run_text(report.run);
  if (report.run.device != DeviceKind::Sim || report.gpu.empty()) return text;
  add_fact(text, "gpu",
           report.gpu_differs.empty()
               ? report.gpu + ": the same bits as on the virtual GPU, in every array"
               : fmt::format("{} differs: {}", report.gpu, report.gpu_differs));
  return text;
}

Result<PtxReport> call_ptx(const PtxCallRequest& call, CallArgs args, const CallOptions& options) {
  const std::string kernel = WW_TRY(kernel_of(call));
  sim::RunOptions run_options = WW_TRY(sim_options(options));
  run_options.allows_rewrites = !run_options.checks.has(sim::Check::Rewrite);
  runtime::SimDevice device(std::move(run_options));
  WW_TRY_VOID(device.load({.bytes = call.text, .kernel = kernel}));
  const sim::Program& program = *device.program();
  const sim::Code& code = *program.find_kernel(kernel);
  if (call.device == WhichGpu::Gpu) return call_on_gpu(call, program, code, args);
  PtxRun run(call, program, code, device);
  WW_TRY_VOID(run.go(args));
  PtxReport report{.run = report_of(device, program, run, kernel)};
  if (call.device == WhichGpu::Virtual || report.run.outcome != sim::Outcome::Finished) {
    WW_TRY_VOID(run.bring_back());
    return report;
  }
  const auto gpu = WW_TRY(open_gpu(call.driver, program, {call.text, kernel}));
  PtxRun other(call, program, code, *gpu);
  WW_TRY_VOID(other.go(args));
  WW_TRY_VOID(run.bring_back());
  report.gpu = gpu->name();
  report.gpu_differs = other.difference();
  return report;
}

// --- in place ------------------------------------------------------------------------------------

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
  if (call.sample == 0) run_options.schedules = schedule_budget({}, options.schedule);
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
