// SPDX-License-Identifier: Apache-2.0
#include "hardware/cuda_driver.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

namespace ww::device {
namespace {

// Numbers of cuda.h.
constexpr int kSuccess = 0;
constexpr int kNotReady = 600;
constexpr int kClusterDimension = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr unsigned kNoTiming = 2;     // CU_EVENT_DISABLE_TIMING
constexpr std::uint32_t kPlainShared = 48 * 1024;

}  // namespace

std::unique_ptr<Gpu> Gpu::open(std::string& reason) {
  const auto calls = runtime::load_cuda_calls();
  if (!calls) {
    reason = calls.error().text;
    return nullptr;
  }
  std::unique_ptr<Gpu> gpu(new Gpu(*calls));
  reason = gpu->words(gpu->calls_.init(0));
  if (reason.empty()) reason = gpu->words(gpu->calls_.device_get(&gpu->device_, 0));
  if (reason.empty()) reason = gpu->restart();
  return reason.empty() ? std::move(gpu) : nullptr;
}

std::string Gpu::words(int status) const {
  if (status == kSuccess) return "";
  const char* text = nullptr;
  calls_.error_string(status, &text);
  return text == nullptr ? fmt::format("CUDA error {}", status) : text;
}

std::string Gpu::restart() {
  calls_.context_reset(device_);
  void* context = nullptr;
  const int status = calls_.context_retain(&context, device_);
  return words(status != kSuccess ? status : calls_.context_set(context));
}

std::string Gpu::name() const {
  std::array<char, 128> text{};
  int version = 0;
  calls_.device_name(text.data(), static_cast<int>(text.size()) - 1, device_);
  calls_.driver_version(&version);
  return fmt::format("{}, driver {}.{}", text.data(), version / 1000, version % 1000 / 10);
}

int Gpu::arch() const {
  int major = 0, minor = 0;
  calls_.device_attribute(&major, kCapabilityMajor, device_);
  calls_.device_attribute(&minor, kCapabilityMajor + 1, device_);
  return 10 * major + minor;
}

std::string Gpu::load(std::span<const std::byte> image, void*& module) {
  return words(calls_.module_load(&module, image.data(), 0, nullptr, nullptr));
}

void Gpu::unload(void* module) { calls_.module_unload(module); }

std::string Gpu::find(void* module, const std::string& name, void*& function) {
  return words(calls_.module_function(&function, module, name.c_str()));
}

std::string Gpu::allocate(std::size_t bytes, Address& address) {
  return words(calls_.allocate(&address, bytes == 0 ? 1 : bytes));
}

void Gpu::release(Address address) { calls_.release(address); }

std::string Gpu::upload(Address to, std::span<const std::byte> bytes) {
  return bytes.empty() ? "" : words(calls_.upload(to, bytes.data(), bytes.size()));
}

std::string Gpu::download(std::span<std::byte> to, Address from) {
  return to.empty() ? "" : words(calls_.download(to.data(), from, to.size()));
}

std::string Gpu::wait(double seconds) {
  void* event = nullptr;
  int status = calls_.event_create(&event, kNoTiming);
  if (status == kSuccess) status = calls_.event_record(event, nullptr);
  const auto start = std::chrono::steady_clock::now();
  for (int tries = 0; status == kSuccess; ++tries) {
    status = calls_.event_query(event);
    if (status != kNotReady) break;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (waited.count() > seconds) return "timeout";  // the event goes with the context
    if (tries > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = kSuccess;
  }
  if (status == kSuccess) calls_.event_destroy(event);
  return words(status);
}

void Gpu::synchronize() { calls_.synchronize(); }

std::string Gpu::run(void* function, const KernelLaunch& launch, double seconds) {
  runtime::CudaLaunchAttribute cluster;
  cluster.id = kClusterDimension;
  if (launch.cluster) cluster.value.dims = *launch.cluster;
  const runtime::CudaLaunchConfig config{.grid = launch.grid,
                                         .block = launch.block,
                                         .dynamic_shared = launch.dynamic_shared,
                                         .attributes = &cluster,
                                         .attribute_count = launch.cluster ? 1U : 0U};
  if (launch.dynamic_shared > kPlainShared)
    calls_.function_set(function, kMaxDynamicShared, static_cast<int>(launch.dynamic_shared));
  std::size_t bytes = launch.params.size();
  // The parameters as one block of memory: pointer, size, end.
  std::array<void*, 5> extra = {reinterpret_cast<void*>(1),
                                const_cast<std::byte*>(launch.params.data()),
                                reinterpret_cast<void*>(2), &bytes, nullptr};
  const int status = calls_.launch(&config, function, nullptr, bytes == 0 ? nullptr : extra.data());
  return status == kSuccess ? wait(seconds) : words(status);
}

}  // namespace ww::device
