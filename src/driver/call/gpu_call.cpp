// SPDX-License-Identifier: Apache-2.0
#include "driver/call/gpu_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "driver/call/call.h"
#include "driver/call/launch_description.h"
#include "driver/run/device_run.h"
#include "ir/function.h"
#include "ir/visit.h"

namespace ww::driver {
namespace {

// Further ones are worked out again.
constexpr std::size_t kMaxPlans = 64;

// Marks the parameters that an expression uses.
void mark_params(const ir::Function& f, ir::ExprId id, std::vector<bool>& marked) {
  if (!id.valid()) return;
  const ir::Expr& expr = f[id];
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (expr.op == ir::ExprOp::Var && f.params[i].var == expr.var) marked[i] = true;
  for (const ir::ExprId arg : expr.args) mark_params(f, arg, marked);
}

// Per parameter of the source: whether the grid, or the shape of an array, depends on it. Other
// numbers are for the kernel alone.
std::vector<bool> shaping_params(const Build& build) {
  const ir::Function& tile = build.tile();
  const ir::Function& lowered = *build.lowered;
  std::vector<bool> out(tile.params.size());
  for (std::size_t i = 0; i < tile.params.size(); ++i)
    if (const ir::BufferId id = ir::buffer_of_param(tile, i); id.valid())
      ir::for_each_root(tile[id], [&](ir::ExprId root) { mark_params(tile, root, out); });
  for (const ir::StmtId id : tile.host) mark_params(tile, tile[id].expr, out);
  const auto launch = describe_launch(build);
  if (!launch) return std::vector<bool>(out.size(), true);
  for (const ir::StmtId id : launch->lets) mark_params(lowered, lowered[id].expr, out);
  for (const ir::Extent& extent : launch->shape.grid) mark_params(lowered, extent.expr, out);
  return out;
}

}  // namespace

Result<runtime::CudaDevice*> GpuKernel::device(const runtime::CudaCalls& calls, int number) {
  for (const Loaded& each : loaded_)
    if (each.number == number) return each.device.get();
  auto device = WW_TRY(runtime::CudaDevice::open_at(calls, number, build_->target->arch));
  WW_TRY_VOID(device->load({.bytes = build_->ptx, .kernel = build_->entry}));
  return loaded_.emplace_back(Loaded{number, std::move(device)}).device.get();
}

Result<runtime::CudaLaunch> GpuKernel::work_out(const runtime::CudaCalls& calls, int number,
                                                CallArgs args) {
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build_->tile(), args));
  const runtime::Launch launch = WW_TRY(launch_in_place(*build_, bound));
  runtime::CudaDevice* const on = WW_TRY(device(calls, number));
  return on->prepare(launch);
}

// Everything about a call but the addresses, and numbers that are for the kernel alone.
void GpuKernel::write_key(int number, CallArgs args) {
  if (!is_shaping_) is_shaping_ = shaping_params(*build_);
  key_.clear();
  key_.push_back(number);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const CallArg& arg = args[i];
    if (!arg.is_array()) {
      key_.push_back(static_cast<std::int64_t>(arg.kind));
      if (i >= is_shaping_->size() || (*is_shaping_)[i])
        key_.push_back(std::bit_cast<std::int64_t>(arg.bits));
      continue;
    }
    key_.push_back(static_cast<std::int64_t>(arg.kind) | static_cast<std::int64_t>(arg.dtype) << 8 |
                   static_cast<std::int64_t>(arg.strides.empty()) << 16 |
                   static_cast<std::int64_t>(arg.shape.size()) << 32);
    key_.insert(key_.end(), arg.shape.begin(), arg.shape.end());
    key_.insert(key_.end(), arg.strides.begin(), arg.strides.end());
  }
}

// The plan fits: there is an argument for each parameter, and it is of its kind.
Result<void> GpuKernel::fill_in(runtime::CudaLaunch& launch, CallArgs args) const {
  const ir::Function& tile = build_->tile();
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_array()) {
      WW_TRY_VOID(launch.set_address(i, args[i].bits));
    } else if (!(*is_shaping_)[i]) {
      const ir::Var& var = tile[tile.params[i].var];
      launch.set_bits(
          i, WW_TRY(bits_of_number(args[i], var.type.dtype, fmt::format("`{}`", var.name))));
    }
  }
  return {};
}

GpuKernel::Plan* GpuKernel::find_plan() {
  const auto found = std::ranges::find(plans_, key_, &Plan::key);
  if (found == plans_.end()) return nullptr;
  if (found != plans_.begin()) std::rotate(plans_.begin(), found, found + 1);
  return &plans_.front();
}

Result<void> GpuKernel::call(const runtime::CudaCalls& calls, int number, void* stream,
                             CallArgs args) {
  const std::lock_guard lock(mutex_);
  write_key(number, args);
  Plan* plan = find_plan();
  if (plan == nullptr) {
    runtime::CudaLaunch launch = WW_TRY(work_out(calls, number, args));
    if (plans_.size() == kMaxPlans) plans_.pop_back();
    plan = &*plans_.insert(plans_.begin(), Plan{key_, std::move(launch)});
  }
  WW_TRY_VOID(fill_in(plan->launch, args));
  return plan->launch.enqueue(stream);
}

Result<GpuKernel::Bound> GpuKernel::bind(const runtime::CudaCalls& calls, int number,
                                         CallArgs args) {
  const std::lock_guard lock(mutex_);
  if (!is_shaping_) is_shaping_ = shaping_params(*build_);
  Bound out(WW_TRY(work_out(calls, number, args)));
  WW_TRY_VOID(fill_in(out.launch_, args));
  return out;
}

Result<void> GpuKernel::wait(const runtime::CudaCalls& calls, int number) {
  runtime::CudaDevice* on = nullptr;
  {
    const std::lock_guard lock(mutex_);
    on = WW_TRY(device(calls, number));
  }
  return on->wait();
}

}  // namespace ww::driver
