// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/cuda_errors.h"
#include "runtime/cuda_event.h"
#include "runtime/cuda_fit.h"
#include "runtime/cuda_timing.h"

namespace ww::runtime {
namespace {

// Numbers of cuda.h.
constexpr int kSuccess = kCudaSuccess;
constexpr int kNotReady = 600;
constexpr int kCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kCapabilityMinor = 76;

constexpr std::uint64_t kAllocated = 256;  // cuMemAlloc gives multiples of it

int capability_of(const CudaCalls& calls, int device) {
  int major = 0;
  int minor = 0;
  if (calls.device_attribute(&major, kCapabilityMajor, device) != kSuccess ||
      calls.device_attribute(&minor, kCapabilityMinor, device) != kSuccess)
    return 0;
  return 10 * major + minor;
}

std::string name_of(const CudaCalls& calls, int device) {
  std::array<char, 256> text{};
  if (calls.device_name(text.data(), static_cast<int>(text.size()) - 1, device) != kSuccess)
    return "a GPU without a name";
  return text.data();
}

Diag no_fitting_gpu(const CudaCalls& calls, int count, std::optional<target::Arch> arch) {
  Diag out =
      arch ? diag(DiagKind::NoDevice, "no GPU here runs code for `{}`", target::info(*arch).name)
           : diag(DiagKind::NoDevice, "no GPU here is `{}` or later", target::kArchs[0].name);
  for (int i = 0; i < count; ++i) {
    int device = 0;
    if (calls.device_get(&device, i) != kSuccess) continue;
    out.notes.push_back({fmt::format("GPU {} is {} (sm_{})", i, name_of(calls, device),
                                     capability_of(calls, device)),
                         {}});
  }
  return out;
}

}  // namespace

// --- opening and closing -------------------------------------------------------------------------

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(const CudaCalls& calls,
                                                     std::optional<target::Arch> arch) {
  if (const int status = calls.init(0); status != kSuccess)
    return fail(DiagKind::NoDriver, "the CUDA driver does not start: {}",
                cuda_words(calls, status));
  int count = 0;
  if (const int status = calls.device_count(&count); status != kSuccess)
    return fail(DiagKind::NoDriver, "the CUDA driver does not say which GPUs there are: {}",
                cuda_words(calls, status));
  if (count == 0) return fail(DiagKind::NoDevice, "there is a CUDA driver here, and no GPU");
  for (int i = 0; i < count; ++i) {
    int device = 0;
    if (calls.device_get(&device, i) != kSuccess) continue;
    const int capability = capability_of(calls, device);
    if (arch ? !runs_on(*arch, capability) : !native_arch(capability)) continue;
    return start(calls, device, capability);
  }
  return fail(no_fitting_gpu(calls, count, arch));
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::open_at(const CudaCalls& calls, int number,
                                                        target::Arch arch) {
  int count = 0;
  if (const int status = calls.init(0); status != kSuccess)
    return fail(DiagKind::NoDriver, "the CUDA driver does not start: {}",
                cuda_words(calls, status));
  if (calls.device_count(&count) != kSuccess || number < 0 || number >= count)
    return fail(DiagKind::NoDevice, "there is no GPU {}: the driver has {}", number, count);
  int device = 0;
  WW_TRY_VOID(check_cuda(calls, calls.device_get(&device, number), "choosing a GPU"));
  const int capability = capability_of(calls, device);
  if (!runs_on(arch, capability))
    return fail(DiagKind::NoDevice, "{} (sm_{}) does not run code for {}", name_of(calls, device),
                capability, target::info(arch).name);
  return start(calls, device, capability);
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::start(const CudaCalls& calls, int device,
                                                      int capability) {
  std::unique_ptr<CudaDevice> out(new CudaDevice(calls, device, capability));
  const std::string what = fmt::format("starting on {}", out->name());
  WW_TRY_VOID(check_cuda(calls, calls.context_retain(&out->context_, device), what));
  WW_TRY_VOID(check_cuda(calls, calls.context_set(out->context_), what));
  return out;
}

CudaDevice::~CudaDevice() {
  if (hangs_) return;  // the end of the process frees what it can
  if (is_lost_) {      // what failed stays in the context: the next one needs another
    calls_.context_release(device_);
    calls_.context_reset(device_);
    return;
  }
  unload();
  if (context_ != nullptr) calls_.context_release(device_);
}

void CudaDevice::unload() {
  for (const Address address : memory_) calls_.release(address);
  memory_.clear();
  unload_kernel(kernel_);
}

std::string CudaDevice::name() const {
  int version = 0;
  calls_.driver_version(&version);
  return fmt::format("{} (sm_{}), driver {}.{}", name_of(calls_, device_), capability_,
                     version / 1000, version % 1000 / 10);
}

int CudaDevice::multiprocessors() const {
  int count = 0;
  return calls_.device_attribute(&count, kMultiprocessors, device_) == kSuccess ? count : 0;
}

std::optional<target::Target> CudaDevice::native_target() const {
  const auto arch = native_arch(capability_);
  if (!arch) return std::nullopt;
  return target::Target{.arch = *arch,
                        .ptx = std::max(newest_ptx(calls_), target::info(*arch).min_ptx)};
}

// --- code and memory -----------------------------------------------------------------------------

Result<void> CudaDevice::load(const Image& image) {
  unload();
  return load_kernel(kernel_, image);
}

Result<Address> CudaDevice::allocate(std::size_t bytes, std::string_view name) {
  Address address = 0;
  const std::uint64_t wanted = sim::largest_align(kernel_.params);
  const std::uint64_t align = wanted > kAllocated ? wanted : 1;  // 1: as cuMemAlloc has it
  const std::size_t room = std::max<std::size_t>(bytes, 1) + (align - 1);
  WW_TRY_VOID(check_cuda(calls_, calls_.allocate(&address, room),
                         fmt::format("allocating {} bytes for `{}`", room, name)));
  memory_.push_back(address);
  return (address + align - 1) / align * align;
}

Result<void> CudaDevice::upload(Address to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  return check_cuda(calls_, calls_.upload(to, bytes.data(), bytes.size()),
                    fmt::format("copying {} bytes to the GPU", bytes.size()));
}

Result<void> CudaDevice::download(std::span<std::byte> to, Address from) {
  if (to.empty()) return {};
  return check_cuda(calls_, calls_.download(to.data(), from, to.size()),
                    fmt::format("copying {} bytes from the GPU", to.size()));
}

Result<void> CudaDevice::copy(Address to, Address from, std::size_t bytes) {
  if (bytes == 0) return {};
  const GpuWork work = copying(calls_, to, from, bytes);
  WW_TRY_VOID(work.submit(nullptr));
  return check_cuda(calls_, calls_.synchronize(), work.name);
}

// --- launching -----------------------------------------------------------------------------------

Result<std::vector<std::byte>> CudaDevice::encode_map(const sim::TensorMap& map) const {
  if (calls_.encode_tiled == nullptr || calls_.encode_im2col == nullptr)
    return fail(DiagKind::DeviceError, "the CUDA driver is too old for tensor maps");
  struct alignas(64) MapImage {
    std::array<std::byte, 128> bytes;
  } image{};
  auto* const base = reinterpret_cast<void*>(map.address);  // NOLINT: an address of the GPU
  const int type = static_cast<int>(map.type);
  const int interleave = static_cast<int>(map.interleave);
  const int swizzle = static_cast<int>(map.swizzle);
  const int promotion = static_cast<int>(map.promotion);
  const int fill = driver_code(map.fill);
  const int status =
      map.im2col
          ? calls_.encode_im2col(&image, type, map.rank, base, map.dims.data(), map.strides.data(),
                                 map.im2col->lower.data(), map.im2col->upper.data(),
                                 map.im2col->channels, map.im2col->pixels,
                                 map.element_strides.data(), interleave, swizzle, promotion, fill)
          : calls_.encode_tiled(&image, type, map.rank, base, map.dims.data(), map.strides.data(),
                                map.box.data(), map.element_strides.data(), interleave, swizzle,
                                promotion, fill);
  if (status != kSuccess) return fail(cuda_failure(calls_, status, "encoding a tensor map"));
  return std::vector<std::byte>(image.bytes.begin(), image.bytes.end());
}

Result<GpuWork> CudaDevice::work_of(const Launch& launch) {
  const auto ready = std::make_shared<CudaLaunch>(WW_TRY(prepare(launch)));
  WW_TRY_VOID(ready->make_maps());
  return GpuWork{[ready](void* stream) { return ready->submit(stream); },
                 fmt::format("running `{}`", kernel_.name)};
}

Result<void> CudaDevice::wait() {
  WW_TRY_VOID(check_cuda(calls_, calls_.context_set(context_), "choosing the GPU"));
  return check_cuda(calls_, calls_.synchronize(), fmt::format("running `{}`", kernel_.name));
}

// Asks again and again, so that a kernel that never ends does not keep the program.
Result<void> CudaDevice::wait_for(void* event, std::string_view what) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int tries = 0;; ++tries) {
    const int status = calls_.event_query(event);
    if (status == kSuccess) return {};
    if (status != kNotReady) {
      is_lost_ = true;
      return fail(cuda_failure(calls_, status, what));
    }
    if (std::chrono::duration<double>(Clock::now() - start).count() > patience_) {
      hangs_ = is_lost_ = true;
      return fail(DiagKind::DeviceError, "{} did not end within {} seconds", what, patience_);
    }
    if (tries > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<void> CudaDevice::launch(const Launch& launch) {
  const CudaEvent end = WW_TRY(CudaEvent::make(calls_));
  const GpuWork work = WW_TRY(work_of(launch));
  WW_TRY_VOID(work.submit(nullptr));
  WW_TRY_VOID(check_cuda(calls_, calls_.event_record(end.handle(), nullptr), "recording an event"));
  WW_TRY_VOID(wait_for(end.handle(), work.name));
  // Nothing is left to wait for, but only this call writes out what kernels printed.
  return check_cuda(calls_, calls_.synchronize(), work.name);
}

Result<Timing> CudaDevice::time(const Launch& launch, int launches) {
  return time_each(*this, WW_TRY(work_of(launch)), launches);
}

}  // namespace ww::runtime
