// SPDX-License-Identifier: Apache-2.0
#include "driver/call/gpu_call.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "driver/call/numbers.h"
#include "driver/run/device_run.h"

namespace ww::driver {
namespace {

// Further ones are worked out again.
constexpr std::size_t kMaxPlans = 64;

// Everything about the arguments but the addresses.
std::vector<std::int64_t> key_of(const std::vector<CallArg>& args) {
  std::vector<std::int64_t> key;
  for (const CallArg& arg : args) {
    key.push_back(static_cast<std::int64_t>(arg.index()));
    if (const auto* view = std::get_if<ArrayView>(&arg)) {
      key.push_back(static_cast<std::int64_t>(view->dtype));
      key.push_back(view->is_read_only ? 1 : 0);
      key.push_back(static_cast<std::int64_t>(view->shape.size()));
      key.insert(key.end(), view->shape.begin(), view->shape.end());
      key.insert(key.end(), view->strides.begin(), view->strides.end());
    } else if (const auto* real = std::get_if<double>(&arg)) {
      key.push_back(std::bit_cast<std::int64_t>(*real));
    } else if (const auto* large = std::get_if<std::uint64_t>(&arg)) {
      key.push_back(std::bit_cast<std::int64_t>(*large));
    } else if (const auto* number = std::get_if<std::int64_t>(&arg)) {
      key.push_back(*number);
    } else {
      key.push_back(std::get<bool>(arg) ? 1 : 0);
    }
  }
  return key;
}

}  // namespace

Result<runtime::CudaDevice*> GpuKernel::device(const runtime::CudaCalls& calls, int number) {
  for (const Loaded& each : loaded_)
    if (each.number == number) return each.device.get();
  auto device = WW_TRY(runtime::CudaDevice::open_at(calls, number, build_->target->arch));
  WW_TRY_VOID(device->load({.bytes = build_->ptx, .kernel = build_->entry}));
  return loaded_.emplace_back(Loaded{number, std::move(device)}).device.get();
}

Result<GpuKernel::Plan*> GpuKernel::plan(const runtime::CudaCalls& calls, int number,
                                         std::vector<std::int64_t> key,
                                         const std::vector<CallArg>& args) {
  const auto found = std::ranges::find_if(
      plans_, [&](const Plan& each) { return each.number == number && each.key == key; });
  if (found != plans_.end()) {
    std::rotate(plans_.begin(), found, found + 1);
    return &plans_.front();
  }
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build_->tile(), args));
  Plan made{.number = number, .key = std::move(key)};
  made.launch = WW_TRY(launch_in_place(*build_, bound));
  made.device = WW_TRY(device(calls, number));
  WW_TRY_VOID(made.device->prepare(made.launch));
  if (plans_.size() == kMaxPlans) plans_.pop_back();
  plans_.insert(plans_.begin(), std::move(made));
  return &plans_.front();
}

Result<GpuKernel::Plan*> GpuKernel::plan_for(const runtime::CudaCalls& calls, int number,
                                             const std::vector<CallArg>& args) {
  Plan* const found = WW_TRY(plan(calls, number, key_of(args), args));
  for (std::size_t i = 0; i < args.size(); ++i)
    if (const auto* view = std::get_if<ArrayView>(&args[i]))
      found->launch.arguments[i].bits = std::bit_cast<std::uintptr_t>(view->data);
  return found;
}

Result<void> GpuKernel::call(const runtime::CudaCalls& calls, int number, void* stream,
                             const std::vector<CallArg>& args) {
  const std::lock_guard lock(mutex_);
  const Plan* const found = WW_TRY(plan_for(calls, number, args));
  return found->device->enqueue(found->launch, stream);
}

Result<GpuKernel::Bound> GpuKernel::bind(const runtime::CudaCalls& calls, int number,
                                         const std::vector<CallArg>& args) {
  const std::lock_guard lock(mutex_);
  const Plan* const found = WW_TRY(plan_for(calls, number, args));
  Bound out;
  out.device_ = found->device;
  out.launch_ = found->launch;
  return out;
}

}  // namespace ww::driver
