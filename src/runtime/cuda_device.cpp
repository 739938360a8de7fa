// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/split.h"
#include "ptx/parser.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"
#include "sim/check_launch.h"
#include "sim/tensor_map/image.h"

namespace ww::runtime {

// --- textures ------------------------------------------------------------------------------------

namespace {

// cuda.h's names for these are beside them.
constexpr std::uint32_t kLayered = 0x01;        // CUDA_ARRAY3D_LAYERED
constexpr std::uint32_t kForSurfaces = 0x02;    // CUDA_ARRAY3D_SURFACE_LDST
constexpr std::uint32_t kForGather = 0x08;      // CUDA_ARRAY3D_TEXTURE_GATHER
constexpr std::uint32_t kReadsIntegers = 0x01;  // CU_TRSF_READ_AS_INTEGER
constexpr std::uint32_t kNormalized = 0x02;     // CU_TRSF_NORMALIZED_COORDINATES
constexpr int kHost = 1;                        // CU_MEMORYTYPE_HOST
constexpr int kArray = 3;                       // CU_MEMORYTYPE_ARRAY
// Arrays that tld4 reads have no larger extents.
constexpr std::uint32_t kMaxGathered = 32768;

// CUarray_format.
int format_of(const sim::Texture& texture) {
  if (texture.kind == sim::TexelKind::Float) return texture.bits == 16 ? 0x10 : 0x20;
  const int first = texture.kind == sim::TexelKind::Signed ? 0x08 : 0x01;
  return first + (texture.bits == 8 ? 0 : texture.bits == 16 ? 1 : 2);
}

std::uint32_t array_flags(const sim::Texture& texture) {
  std::uint32_t out = texture.layers > 0 ? kLayered : 0;
  if (texture.is_surface) return out | kForSurfaces;
  const bool is_gathered = texture.rank == 2 && texture.layers == 0 &&
                           std::max(texture.extent[0], texture.extent[1]) <= kMaxGathered;
  return is_gathered ? out | kForGather : out;
}

}  // namespace

Result<std::unique_ptr<CudaTexture>> CudaTexture::make(const CudaCalls& calls,
                                                       const sim::Texture& texture,
                                                       std::string_view name) {
  if (calls.array_create == nullptr || calls.array_destroy == nullptr ||
      calls.array_copy == nullptr || calls.texture_create == nullptr ||
      calls.texture_destroy == nullptr || calls.surface_create == nullptr ||
      calls.surface_destroy == nullptr)
    return fail(DiagKind::OldDriver, "the CUDA driver is too old for texture objects");
  std::unique_ptr<CudaTexture> out(new CudaTexture(calls, texture, name));  // NOLINT: private
  WW_TRY_VOID(out->create_array());
  WW_TRY_VOID(out->create_object());
  return out;
}

// Extents that an array does not have are 0; the depth of one in layers is their number.
Result<void> CudaTexture::create_array() {
  CudaArrayDesc desc;
  desc.width = texture_.extent[0];
  if (texture_.rank > 1) desc.height = texture_.extent[1];
  desc.depth = texture_.layers > 0 ? texture_.layers : texture_.rank > 2 ? texture_.extent[2] : 0;
  desc.format = format_of(texture_);
  desc.channels = texture_.channels;
  desc.flags = array_flags(texture_);
  return check_cuda(calls_, calls_.array_create(&array_, &desc),
                    fmt::format("making an array of {} x {} x {} texels for `{}`", desc.width,
                                desc.height, desc.depth, name_));
}

Result<void> CudaTexture::create_object() {
  CudaResourceDesc resource;
  resource.array = array_;
  if (texture_.is_surface)
    return check_cuda(calls_, calls_.surface_create(&handle_, &resource),
                      fmt::format("making a surface object for `{}`", name_));
  CudaTextureDesc desc;
  desc.address.fill(static_cast<int>(texture_.mode));
  desc.filter = texture_.is_linear ? 1 : 0;
  if (!texture_.gives_floats()) desc.flags |= kReadsIntegers;
  if (texture_.is_normalized) desc.flags |= kNormalized;
  return check_cuda(calls_, calls_.texture_create(&handle_, &resource, &desc, nullptr),
                    fmt::format("making a texture object for `{}`", name_));
}

CudaTexture::~CudaTexture() {
  if (handle_ != 0)
    (texture_.is_surface ? calls_.surface_destroy : calls_.texture_destroy)(handle_);
  if (array_ != nullptr) calls_.array_destroy(array_);
}

// All of the array; one side is still to be said.
CudaArrayCopy CudaTexture::whole() const {
  CudaArrayCopy out;
  out.width_bytes = std::size_t{texture_.extent[0]} * texture_.texel_bytes();
  out.height = texture_.extent[1];
  out.depth = std::size_t{texture_.extent[2]} * std::max<std::uint32_t>(texture_.layers, 1);
  for (CudaCopySide* const side : {&out.from, &out.to}) {
    side->pitch = out.width_bytes;
    side->height = out.height;
  }
  return out;
}

Result<void> CudaTexture::upload(std::span<const std::byte> texels) {
  CudaArrayCopy copy = whole();
  WW_CHECK(texels.size() == copy.width_bytes * copy.height * copy.depth, "{} bytes", texels.size());
  copy.from.memory = kHost;
  copy.from.host = const_cast<std::byte*>(texels.data());  // NOLINT: it is only read
  copy.to.memory = kArray;
  copy.to.array = array_;
  return check_cuda(calls_, calls_.array_copy(&copy),
                    fmt::format("copying {} bytes to the array of `{}`", texels.size(), name_));
}

Result<void> CudaTexture::download(std::span<std::byte> texels) {
  CudaArrayCopy copy = whole();
  WW_CHECK(texels.size() == copy.width_bytes * copy.height * copy.depth, "{} bytes", texels.size());
  copy.from.memory = kArray;
  copy.from.array = array_;
  copy.to.memory = kHost;
  copy.to.host = texels.data();
  return check_cuda(calls_, calls_.array_copy(&copy),
                    fmt::format("copying {} bytes from the array of `{}`", texels.size(), name_));
}

// --- the device ----------------------------------------------------------------------------------

// --- cuda fit ------------------------------------------------------------------------------------
//
// Whether a GPU can run a launch at all: shared memory of a block, clusters, and grids whose blocks run
// all at once. The driver's own refusals name neither the number nor the limit.

namespace {

// Numbers of cuda.h.
constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int kStaticShared = 1;      // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES

/// The blocks of a grid or a cluster, the threads of a block.
constexpr std::uint64_t volume(const std::array<std::uint32_t, 3>& dims) {
  return std::uint64_t{dims[0]} * dims[1] * dims[2];
}

/// A launch of a kernel. Clusters and shared memory are allowed already.
struct CudaDemand {
  const CudaLaunchConfig& config;
  std::uint64_t cluster = 1;  // CTAs of one
  bool is_cooperative = false;
};

constexpr int kMaxSharedOfBlock = 97;  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

// 0: the driver does not say.
std::int64_t device_value(const CudaKernel& kernel, int attribute) {
  int value = 0;
  const int status = kernel.calls.device_attribute(&value, attribute, kernel.device);
  return status == kCudaSuccess ? value : 0;
}

std::int64_t static_shared(const CudaKernel& kernel) {
  int value = 0;
  const int status = kernel.calls.function_get(&value, kStaticShared, kernel.function);
  return status == kCudaSuccess ? value : 0;
}

std::string block_text(const CudaKernel& kernel, const CudaLaunchConfig& config) {
  return fmt::format("blocks of {} threads and {} bytes of shared memory", volume(config.block),
                     static_shared(kernel) + config.dynamic_shared);
}

// How many clusters run at once; nothing where the driver does not say.
std::optional<std::uint64_t> clusters_at_once(const CudaKernel& kernel, const CudaDemand& demand) {
  int count = 0;
  if (kernel.calls.active_clusters == nullptr ||
      kernel.calls.active_clusters(&count, kernel.function, &demand.config) != kCudaSuccess)
    return std::nullopt;
  return static_cast<std::uint64_t>(count);
}

std::optional<std::uint64_t> blocks_at_once(const CudaKernel& kernel, const CudaDemand& demand) {
  if (demand.cluster > 1) {
    const auto clusters = clusters_at_once(kernel, demand);
    return clusters ? std::optional(*clusters * demand.cluster) : std::nullopt;
  }
  int count = 0;
  if (kernel.calls.active_blocks == nullptr ||
      kernel.calls.active_blocks(&count, kernel.function,
                                 static_cast<int>(volume(demand.config.block)),
                                 demand.config.dynamic_shared) != kCudaSuccess)
    return std::nullopt;
  return static_cast<std::uint64_t>(count * device_value(kernel, kMultiprocessors));
}

Result<void> check_clusters(const CudaKernel& kernel, const CudaDemand& demand) {
  const auto at_once = clusters_at_once(kernel, demand);
  if (!at_once || *at_once > 0) return {};
  Diag out =
      diag(DiagKind::BadLaunch, "clusters of {} CTAs for `{}`: the GPU can hold none with {}",
           demand.cluster, kernel.name, block_text(kernel, demand.config));
  int most = 0;
  if (kernel.calls.max_cluster == nullptr ||
      kernel.calls.max_cluster(&most, kernel.function, &demand.config) != kCudaSuccess || most < 1)
    return fail(std::move(out));
  return fail(
      std::move(out).with_note(fmt::format("at most {} CTAs of such blocks make a cluster", most)));
}

// BadLaunch where a block needs more shared memory than the GPU gives one.
Result<void> check_shared_memory(const CudaKernel& kernel, std::uint32_t dynamic) {
  const std::int64_t most = device_value(kernel, kMaxSharedOfBlock);
  const std::int64_t fixed = static_shared(kernel);
  if (most == 0 || fixed + dynamic <= most) return {};
  return fail(DiagKind::BadLaunch,
              "`{}` needs {} bytes of shared memory ({} static, {} dynamic), and the GPU gives a "
              "block at most {}",
              kernel.name, fixed + dynamic, fixed, dynamic, most);
}

// BadLaunch where the GPU can hold none of the clusters, or not all blocks of a cooperative launch.
// Drivers that cannot be asked are not.
Result<void> check_fit(const CudaKernel& kernel, const CudaDemand& demand) {
  if (demand.cluster > 1) WW_TRY_VOID(check_clusters(kernel, demand));
  if (!demand.is_cooperative) return {};
  const auto most = blocks_at_once(kernel, demand);
  const std::uint64_t blocks = volume(demand.config.grid);
  if (!most || blocks <= *most) return {};
  return fail(DiagKind::BadLaunch,
              "a cooperative launch of `{}` with {} blocks: the GPU holds {} at once, as {}",
              kernel.name, blocks, *most, block_text(kernel, demand.config));
}

}  // namespace

// --- cuda kernel ---------------------------------------------------------------------------------

namespace {

// Numbers of cuda.h.
constexpr int kLocalBytes = 3;   // CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
constexpr int kRegisters = 4;    // CU_FUNC_ATTRIBUTE_NUM_REGS
constexpr int kJitErrorLog = 5;  // CU_JIT_ERROR_LOG_BUFFER
constexpr int kJitErrorLogBytes = 6;

constexpr std::size_t kMaxLogLines = 12;

// The newest PTX that the driver of each CUDA version reads, from the PTX manual's release notes.
struct PtxOfDriver {
  int driver;  // 1000·major + 10·minor
  int ptx;
};
constexpr PtxOfDriver kPtxOfDriver[] = {
    {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84}, {12030, 83},
    {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {11070, 77}, {11060, 76}, {11050, 75},
    {11040, 74}, {11030, 73}, {11020, 72}, {11010, 71}, {11000, 70}};

// "the driver is for CUDA 12.4 and reads PTX up to 8.4"
std::string ptx_of_driver(const CudaCalls& calls) {
  int version = 0;
  calls.driver_version(&version);
  const int ptx = newest_ptx(calls);
  return fmt::format("the driver is for CUDA {}.{} and reads PTX up to {}.{}", version / 1000,
                     version % 1000 / 10, ptx / 10, ptx % 10);
}

// The parameters of a kernel in PTX text: their names and what their addresses are multiples of.
// None where it is another image, or PTX that only the driver reads.
std::vector<sim::Param> params_of(const Image& image) {
  std::vector<sim::Param> out;
  const ptx::ParseResult parsed = ptx::parse(image.bytes);
  for (const ptx::Function& function : parsed.module.functions) {
    if (!parsed.ok() || parsed.module.text(function.name) != image.kernel) continue;
    for (const ptx::Variable& param : function.params)
      out.push_back({.name = std::string(parsed.module.text(param.name)),
                     .pointee_align = std::max(1U, param.pointee.align)});
    if (function.has_body) break;
    out.clear();
  }
  return out;
}

// The compiler's log as notes, a line each.
Diag with_log(Diag problem, std::string_view log) {
  std::vector<std::string_view> lines = split_words(log.substr(0, log.find('\0')), '\n');
  lines.resize(std::min(lines.size(), kMaxLogLines));
  for (const std::string_view line : lines) problem.notes.push_back({std::string(line), {}});
  return problem;
}

}  // namespace

int newest_ptx(const CudaCalls& calls) {
  int version = 0;
  calls.driver_version(&version);
  for (const PtxOfDriver& row : kPtxOfDriver)
    if (version >= row.driver) return std::min(row.ptx, target::ptx_versions().back());
  return kPtxOfDriver[std::size(kPtxOfDriver) - 1].ptx;
}

Result<void> load_kernel(CudaKernel& kernel, const Image& image) {
  const CudaCalls& calls = kernel.calls;
  kernel.name = image.kernel;
  std::string log(16 * 1024, '\0');
  std::array<int, 2> options{kJitErrorLog, kJitErrorLogBytes};
  // The driver wants the number of bytes in the place of a pointer.
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  const int status =
      calls.module_load(&kernel.module, image.bytes.c_str(), static_cast<unsigned>(options.size()),
                        options.data(), values.data());
  if (status != kCudaSuccess) {
    kernel.module = nullptr;
    Diag problem = cuda_failure(calls, status, fmt::format("loading `{}`", kernel.name));
    if (problem.kind == DiagKind::OldDriver) problem.notes.push_back({ptx_of_driver(calls), {}});
    return fail(with_log(std::move(problem), log));
  }
  kernel.params = params_of(image);
  return check_cuda(calls,
                    calls.module_function(&kernel.function, kernel.module, kernel.name.c_str()),
                    fmt::format("finding `{}` in its module", kernel.name));
}

void unload_kernel(CudaKernel& kernel) {
  if (kernel.module != nullptr) kernel.calls.module_unload(kernel.module);
  kernel.module = nullptr;
  kernel.function = nullptr;
}

std::optional<Resources> resources_of(const CudaKernel& kernel) {
  std::array<int, 3> values{};
  constexpr std::array kAttributes{kStaticShared, kLocalBytes, kRegisters};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (kernel.calls.function_get(&values[i], kAttributes[i], kernel.function) != kCudaSuccess)
      return std::nullopt;
  const auto size = [](int value) { return static_cast<std::uint32_t>(std::max(value, 0)); };
  return Resources{size(values[0]), size(values[2]), size(values[1])};
}

// --- cuda launch ---------------------------------------------------------------------------------

namespace {

// Numbers of cuda.h.
constexpr int kMaxDynamicShared = 8;       // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kRequiredClusterWidth = 11;  // CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
constexpr int kLargeClusterAllowed = 14;   // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
constexpr int kCooperative = 2;            // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
constexpr int kClusterDimension = 4;       // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kProgrammatic = 6;           // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

constexpr std::uint64_t kPortableCluster = 8;

Result<void> check_arguments(const CudaKernel& kernel, const Launch& launch) {
  if (kernel.params.empty()) return {};
  if (launch.arguments.size() != kernel.params.size())
    return fail(DiagKind::BadLaunch, "{} arguments for `{}`, which has {} parameters",
                launch.arguments.size(), kernel.name, kernel.params.size());
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    WW_TRY_VOID(sim::check_alignment(kernel.params[i], launch.arguments[i].bits));
  return {};
}

// What the kernel must be allowed before it can be launched like this.
Result<void> allow(const CudaKernel& kernel, const Launch& launch) {
  const CudaCalls& calls = kernel.calls;
  WW_TRY_VOID(check_shared_memory(kernel, launch.dynamic_shared));
  if (launch.dynamic_shared > 0)
    WW_TRY_VOID(check_cuda(
        calls,
        calls.function_set(kernel.function, kMaxDynamicShared,
                           static_cast<int>(launch.dynamic_shared)),
        fmt::format("giving `{}` {} bytes of shared memory", kernel.name, launch.dynamic_shared)));
  if (launch.cluster && volume(*launch.cluster) > kPortableCluster)
    WW_TRY_VOID(check_cuda(
        calls, calls.function_set(kernel.function, kLargeClusterAllowed, 1),
        fmt::format("giving `{}` clusters of {} CTAs", kernel.name, volume(*launch.cluster))));
  return {};
}

// A kernel that states its clusters does not take them from a launch.
bool states_clusters(const CudaKernel& kernel) {
  int required = 0;
  return kernel.calls.function_get(&required, kRequiredClusterWidth, kernel.function) ==
             kCudaSuccess &&
         required > 0;
}

std::vector<CudaLaunchAttribute> attributes_of(const CudaKernel& kernel, const Launch& launch) {
  std::vector<CudaLaunchAttribute> out;
  if (launch.cluster && !states_clusters(kernel)) {
    out.emplace_back().id = kClusterDimension;
    out.back().value.dims = *launch.cluster;
  }
  for (const auto& [is_set, id] :
       {std::pair(launch.is_cooperative, kCooperative), {launch.is_programmatic, kProgrammatic}}) {
    if (!is_set) continue;
    out.emplace_back().id = id;
    out.back().value.dims = {1, 0, 0};
  }
  return out;
}

}  // namespace

CudaLaunch::CudaLaunch(const Device& device, const CudaKernel& kernel, void* context,
                       const Launch& launch)
    : device_(&device),
      kernel_(&kernel),
      context_(context),
      attributes_(attributes_of(kernel, launch)),
      maps_(launch.maps),
      are_maps_old_(!launch.maps.empty()) {
  config_.grid = launch.grid;
  config_.block = launch.block;
  config_.dynamic_shared = launch.dynamic_shared;
  config_.attributes = attributes_.empty() ? nullptr : attributes_.data();
  config_.attribute_count = static_cast<std::uint32_t>(attributes_.size());
  for (const Value& value : launch.arguments) {
    values_.push_back(value.bits);
    blocks_.push_back(value.block);
  }
  for (const MapArgument& map : maps_) blocks_[map.argument].resize(sim::kTensorMapBytes);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    pointers_.push_back(blocks_[i].empty() ? static_cast<void*>(&values_[i]) : blocks_[i].data());
    low_bits_.push_back(i < kernel.params.size() ? kernel.params[i].pointee_align - 1 : 0);
  }
}

Result<CudaLaunch> CudaLaunch::make(const Device& device, const CudaKernel& kernel, void* context,
                                    const Launch& launch) {
  WW_TRY_VOID(check_arguments(kernel, launch));
  WW_TRY_VOID(allow(kernel, launch));
  CudaLaunch out(device, kernel, context, launch);
  WW_TRY_VOID(check_fit(kernel, {.config = out.config_,
                                 .cluster = launch.cluster ? volume(*launch.cluster) : 1,
                                 .is_cooperative = launch.is_cooperative}));
  return out;
}

Result<void> CudaLaunch::misaligned(std::size_t param) const {
  return sim::check_alignment(kernel_->params[param], values_[param]);
}

Result<void> CudaLaunch::submit(void* stream) {
  config_.stream = stream;
  const CudaCalls& calls = kernel_->calls;
  const int status = calls.launch(&config_, kernel_->function, pointers_.data(), nullptr);
  if (status == kCudaSuccess) return {};
  return fail(cuda_failure(calls, status, fmt::format("launching `{}`", kernel_->name)));
}

Result<void> CudaLaunch::make_maps() {
  for (const MapArgument& map : maps_)
    std::ranges::copy(WW_TRY(device_->made_map(map, values_[map.array])),
                      blocks_[map.argument].begin());
  are_maps_old_ = false;
  return {};
}

Result<void> CudaLaunch::enqueue(void* stream) {
  if (are_maps_old_) WW_TRY_VOID(make_maps());
  const CudaCalls& calls = kernel_->calls;
  void* current = nullptr;
  if (calls.context_get(&current) != kCudaSuccess || current != context_)
    WW_TRY_VOID(check_cuda(calls, calls.context_set(context_), "choosing the GPU"));
  return submit(stream);
}

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

// --- times of launches ---------------------------------------------------------------------------

// --- cuda graph ----------------------------------------------------------------------------------
//
// Work for a GPU that is recorded once and handed over as a whole (a CUDA graph): between two kernels of
// it the host does nothing, and the GPU waits for less than between launches that are asked for one by
// one.

namespace {

class CudaGraph {
 public:
  /// Does the driver record?
  static bool has_calls(const CudaCalls& calls);

  /// `times` times the work, ready on the GPU of the current context. `calls` outlives the result.
  static Result<CudaGraph> record(const CudaCalls& calls, const GpuWork& work, int times);
  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  CudaGraph& operator=(CudaGraph&&) = delete;
  ~CudaGraph();

  [[nodiscard]] Result<void> submit(void* stream) const;

 private:
  explicit CudaGraph(const CudaCalls& calls) : calls_(&calls) {}
  Result<void> capture(const GpuWork& work, int times);

  const CudaCalls* calls_;
  void* stream_ = nullptr;  // on which it is recorded
  void* graph_ = nullptr;
  void* ready_ = nullptr;  // a CUgraphExec
};

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kRelaxed = 2;           // CU_STREAM_CAPTURE_MODE_RELAXED

bool CudaGraph::has_calls(const CudaCalls& calls) {
  return calls.stream_create != nullptr && calls.stream_destroy != nullptr &&
         calls.capture_begin != nullptr && calls.capture_end != nullptr &&
         calls.graph_instantiate != nullptr && calls.graph_upload != nullptr &&
         calls.graph_launch != nullptr && calls.graph_destroy != nullptr &&
         calls.graph_exec_destroy != nullptr;
}

CudaGraph::CudaGraph(CudaGraph&& other) noexcept
    : calls_(other.calls_),
      stream_(std::exchange(other.stream_, nullptr)),
      graph_(std::exchange(other.graph_, nullptr)),
      ready_(std::exchange(other.ready_, nullptr)) {}

CudaGraph::~CudaGraph() {
  if (ready_ != nullptr) calls_->graph_exec_destroy(ready_);
  if (graph_ != nullptr) calls_->graph_destroy(graph_);
  if (stream_ != nullptr) calls_->stream_destroy(stream_);
}

// A capture that has begun must end, whatever happens between.
Result<void> CudaGraph::capture(const GpuWork& work, int times) {
  WW_TRY_VOID(check_cuda(*calls_, calls_->capture_begin(stream_, kRelaxed), "recording a graph"));
  Result<void> done = {};
  for (int i = 0; i < times && done; ++i) done = work.submit(stream_);
  const int ended = calls_->capture_end(stream_, &graph_);
  if (!done) return done;
  return check_cuda(*calls_, ended, "recording a graph");
}

Result<CudaGraph> CudaGraph::record(const CudaCalls& calls, const GpuWork& work, int times) {
  CudaGraph out(calls);
  WW_TRY_VOID(
      check_cuda(calls, calls.stream_create(&out.stream_, kNonBlocking), "making a stream"));
  WW_TRY_VOID(out.capture(work, times));
  WW_TRY_VOID(check_cuda(calls, calls.graph_instantiate(&out.ready_, out.graph_, 0),
                         "making a graph ready"));
  WW_TRY_VOID(check_cuda(calls, calls.graph_upload(out.ready_, nullptr), "sending a graph"));
  return out;
}

Result<void> CudaGraph::submit(void* stream) const {
  return check_cuda(*calls_, calls_->graph_launch(ready_, stream), "launching a graph");
}

Result<double> time_between(CudaDevice& device, const GpuWork& work, void* start, void* end) {
  const CudaCalls& calls = device.calls();
  WW_TRY_VOID(check_cuda(calls, calls.event_record(start, nullptr), "recording an event"));
  WW_TRY_VOID(work.submit(nullptr));
  WW_TRY_VOID(check_cuda(calls, calls.event_record(end, nullptr), "recording an event"));
  WW_TRY_VOID(device.wait_for(end, work.name));
  float milliseconds = 0;
  WW_TRY_VOID(
      check_cuda(calls, calls.event_elapsed(&milliseconds, start, end), "reading an event's time"));
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace

Result<Timing> time_each(CudaDevice& device, const GpuWork& work, int times) {
  const CudaEvent start = WW_TRY(CudaEvent::make(device.calls()));
  const CudaEvent end = WW_TRY(CudaEvent::make(device.calls()));
  std::vector<double> seconds;
  for (int i = 0; i <= times; ++i) {
    const double one = WW_TRY(time_between(device, work, start.handle(), end.handle()));
    if (i > 0) seconds.push_back(one);
  }
  std::ranges::sort(seconds);
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return Timing{median, seconds.front(), seconds.back(), times};
}

Result<Timing> time_copy(CudaDevice& device, Address to, Address from, std::size_t bytes,
                         int copies) {
  return time_each(device, copying(device.calls(), to, from, bytes), copies);
}

Result<double> time_in_a_row(CudaDevice& device, const GpuWork& work, int times) {
  if (!CudaGraph::has_calls(device.calls())) return time_one_by_one(device, work, times);
  const CudaGraph graph = WW_TRY(CudaGraph::record(device.calls(), work, times));
  const auto submit = [&](void* stream) { return graph.submit(stream); };
  return time_one_by_one(device, {submit, work.name}, 1);
}

Result<double> time_in_a_row(CudaDevice& device, const Launch& launch, int launches) {
  return time_in_a_row(device, WW_TRY(device.work_of(launch)), launches);
}

Result<double> time_one_by_one(CudaDevice& device, const GpuWork& work, int times) {
  const CudaEvent start = WW_TRY(CudaEvent::make(device.calls()));
  const CudaEvent end = WW_TRY(CudaEvent::make(device.calls()));
  const auto submit = [&](void* stream) -> Result<void> {
    for (int i = 0; i < times; ++i) WW_TRY_VOID(work.submit(stream));
    return {};
  };
  return time_between(device, {submit, work.name}, start.handle(), end.handle());
}

}  // namespace ww::runtime
