// SPDX-License-Identifier: Apache-2.0
// The declarations repeat the driver's ABI, which is fixed: names with `_v2` included.
#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace ww::device {
namespace {

constexpr int kSuccess = 0;
constexpr int kNotReady = 600;
constexpr int kClusterDimension = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr std::uint32_t kPlainShared = 48 * 1024;

struct Attribute {
  int id = 0;
  std::array<char, 4> pad{};
  union {
    std::array<char, 64> bytes;
    std::array<std::uint32_t, 3> dims;
  } value{};
};

struct Config {
  std::uint32_t grid[3], block[3];
  std::uint32_t shared;
  void* stream;
  Attribute* attributes;
  std::uint32_t attribute_count;
};

}  // namespace

struct Gpu::Calls {
  void* library = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*context_retain)(void**, int) = nullptr;
  int (*context_reset)(int) = nullptr;
  int (*context_set)(void*) = nullptr;
  int (*module_load)(void**, const void*) = nullptr;
  int (*module_unload)(void*) = nullptr;
  int (*module_function)(void**, void*, const char*) = nullptr;
  int (*function_set)(void*, int, int) = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*upload)(Address, const void*, std::size_t) = nullptr;
  int (*download)(void*, Address, std::size_t) = nullptr;
  int (*launch)(const Config*, void*, void**, void**) = nullptr;
  int (*query)(void*) = nullptr;
  int (*synchronize)() = nullptr;
  int (*error_text)(int, const char**) = nullptr;

  template <typename Function>
  bool find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(::dlsym(library, symbol));
    return function != nullptr;
  }
  bool find_all() {
    return find(init, "cuInit") && find(version, "cuDriverGetVersion") &&
           find(device_get, "cuDeviceGet") && find(device_name, "cuDeviceGetName") &&
           find(device_attribute, "cuDeviceGetAttribute") &&
           find(context_retain, "cuDevicePrimaryCtxRetain") &&
           find(context_reset, "cuDevicePrimaryCtxReset_v2") &&
           find(context_set, "cuCtxSetCurrent") && find(module_load, "cuModuleLoadData") &&
           find(module_unload, "cuModuleUnload") && find(module_function, "cuModuleGetFunction") &&
           find(function_set, "cuFuncSetAttribute") && find(allocate, "cuMemAlloc_v2") &&
           find(release, "cuMemFree_v2") && find(upload, "cuMemcpyHtoD_v2") &&
           find(download, "cuMemcpyDtoH_v2") && find(launch, "cuLaunchKernelEx") &&
           find(query, "cuStreamQuery") && find(synchronize, "cuCtxSynchronize") &&
           find(error_text, "cuGetErrorString");
  }
};

Gpu::Gpu(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
Gpu::~Gpu() = default;  // the library stays loaded: it does not like to be unloaded

std::unique_ptr<Gpu> Gpu::open(std::string& reason) {
  auto calls = std::make_unique<Calls>();
  calls->library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  reason = "no libcuda.so.1";
  if (calls->library == nullptr) return nullptr;
  reason = "libcuda.so.1 lacks a function";
  if (!calls->find_all()) return nullptr;
  std::unique_ptr<Gpu> gpu(new Gpu(std::move(calls)));
  reason = gpu->words(gpu->calls_->init(0));
  if (reason.empty()) reason = gpu->words(gpu->calls_->device_get(&gpu->device_, 0));
  if (reason.empty()) reason = gpu->restart();
  return reason.empty() ? std::move(gpu) : nullptr;
}

std::string Gpu::words(int status) const {
  if (status == kSuccess) return "";
  const char* text = nullptr;
  calls_->error_text(status, &text);
  return text == nullptr ? fmt::format("CUDA error {}", status) : text;
}

std::string Gpu::restart() {
  calls_->context_reset(device_);
  void* context = nullptr;
  const int status = calls_->context_retain(&context, device_);
  return words(status != kSuccess ? status : calls_->context_set(context));
}

std::string Gpu::name() const {
  std::array<char, 128> text{};
  int version = 0;
  calls_->device_name(text.data(), static_cast<int>(text.size()) - 1, device_);
  calls_->version(&version);
  return fmt::format("{}, driver {}.{}", text.data(), version / 1000, version % 1000 / 10);
}

int Gpu::arch() const {
  int major = 0, minor = 0;
  calls_->device_attribute(&major, kCapabilityMajor, device_);
  calls_->device_attribute(&minor, kCapabilityMajor + 1, device_);
  return 10 * major + minor;
}

std::string Gpu::load(std::span<const std::byte> image, void*& module) {
  return words(calls_->module_load(&module, image.data()));
}

void Gpu::unload(void* module) { calls_->module_unload(module); }

std::string Gpu::find(void* module, const std::string& name, void*& function) {
  return words(calls_->module_function(&function, module, name.c_str()));
}

std::string Gpu::allocate(std::size_t bytes, Address& address) {
  return words(calls_->allocate(&address, bytes == 0 ? 1 : bytes));
}

void Gpu::release(Address address) { calls_->release(address); }

std::string Gpu::upload(Address to, std::span<const std::byte> bytes) {
  return bytes.empty() ? "" : words(calls_->upload(to, bytes.data(), bytes.size()));
}

std::string Gpu::download(std::span<std::byte> to, Address from) {
  return to.empty() ? "" : words(calls_->download(to.data(), from, to.size()));
}

std::string Gpu::wait(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  for (int tries = 0;; ++tries) {
    const int status = calls_->query(nullptr);
    if (status != kNotReady) return words(status);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (waited.count() > seconds) return "timeout";
    if (tries > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Gpu::synchronize() { calls_->synchronize(); }

std::string Gpu::run(void* function, const KernelLaunch& launch, double seconds) {
  Attribute cluster;
  cluster.id = kClusterDimension;
  if (launch.cluster) cluster.value.dims = *launch.cluster;
  Config config{{launch.grid[0], launch.grid[1], launch.grid[2]},
                {launch.block[0], launch.block[1], launch.block[2]},
                launch.dynamic_shared,
                nullptr,
                &cluster,
                launch.cluster ? 1U : 0U};
  if (launch.dynamic_shared > kPlainShared)
    calls_->function_set(function, kMaxDynamicShared, static_cast<int>(launch.dynamic_shared));
  std::size_t bytes = launch.params.size();
  // The parameters as one block of memory: pointer, size, end.
  std::array<void*, 5> extra = {reinterpret_cast<void*>(1),
                                const_cast<std::byte*>(launch.params.data()),
                                reinterpret_cast<void*>(2), &bytes, nullptr};
  const int status =
      calls_->launch(&config, function, nullptr, bytes == 0 ? nullptr : extra.data());
  return status == kSuccess ? wait(seconds) : words(status);
}

}  // namespace ww::device
