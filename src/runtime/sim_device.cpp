// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ww::runtime {
namespace {

constexpr std::uint64_t kAlign = 256;  // as cuMemAlloc gives, at least
constexpr std::uint64_t kCost = 2;     // bytes of the host for a byte of the device

sim::Dim3 dim3(const Dims& dims) { return {dims[0], dims[1], dims[2]}; }

// The first problem with its line of PTX, and how many more there are.
Diag load_problem(const std::vector<Diag>& errors, const SourceText& source) {
  Diag out = errors.front();
  if (out.span.known) {
    const std::size_t line = source.line_number(out.span.begin);
    out.text = fmt::format("line {} of the PTX: {}", line, out.text);
    std::string_view text = source.line(line);
    while (text.starts_with('\t') || text.starts_with(' ')) text.remove_prefix(1);
    out.notes.push_back({fmt::format("it is `{}`", text), {}});
  }
  for (Note& note : out.notes) note.span = {};
  out.span = {};
  if (errors.size() > 1)
    out.notes.push_back({fmt::format("and {} more such", errors.size() - 1), {}});
  return out;
}

}  // namespace

Result<void> SimDevice::load(const Image& image) { return use(WW_TRY(read(image)), image.kernel); }

Result<std::shared_ptr<const sim::Program>> SimDevice::read(const Image& image) {
  sim::LoadResult loaded = sim::load(image.bytes, "kernel.ptx", {.kernels = {image.kernel}});
  if (loaded.program == nullptr)
    return fail(load_problem(loaded.errors, SourceText("kernel.ptx", image.bytes)));
  return std::move(loaded.program);
}

Result<void> SimDevice::use(std::shared_ptr<const sim::Program> program,
                            const std::string& kernel) {
  report_.reset();
  program_ = std::move(program);
  kernel_ = program_->find_kernel(kernel);
  if (kernel_ == nullptr)
    return fail(DiagKind::DeviceError, "the module has no kernel `{}`", kernel);
  device_ = std::make_unique<sim::Device>(program_);
  return {};
}

// PTX has as many registers as it likes.
std::optional<Resources> SimDevice::resources() const {
  return Resources{.static_shared = std::max(kernel_->static_shared, program_->module_shared)};
}

Result<Address> SimDevice::allocate(std::size_t bytes, std::string_view name) {
  const std::uint64_t used = device_->memory().bytes();
  const std::uint64_t limit = options_.limits.memory / kCost;
  if (bytes > limit || used > limit - bytes)
    return fail(DiagKind::TooLarge,
                "`{}` takes {} bytes: {} of {} bytes of the virtual GPU's memory are in use", name,
                bytes, used, limit);
  const std::uint64_t align = std::max(kAlign, sim::largest_align(kernel_->params));
  return device_->memory().allocate(bytes, align, fmt::format("`{}`", name)).base;
}

Result<void> SimDevice::upload(Address to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};  // an argument that nothing is matched to has no memory
  sim::Region* const region = device_->memory().find(to);
  if (region == nullptr || !region->holds(to, bytes.size()))
    return fail(DiagKind::DeviceError, "{} bytes for 0x{:x} are outside of all memory",
                bytes.size(), to);
  const std::uint64_t at = region->offset(to, 0);
  std::memcpy(region->data + at, bytes.data(), bytes.size());
  if (region->undefined != nullptr) std::memset(region->undefined + at, 0, bytes.size());
  return {};
}

Result<void> SimDevice::download(std::span<std::byte> to, Address from) {
  if (to.empty()) return {};
  const sim::Region* const region = device_->memory().find(from);
  if (region == nullptr || !region->holds(from, to.size()))
    return fail(DiagKind::DeviceError, "{} bytes from 0x{:x} are outside of all memory", to.size(),
                from);
  std::memcpy(to.data(), region->data + region->offset(from, 0), to.size());
  return {};
}

std::span<const std::uint8_t> SimDevice::undefined(Address address) const {
  const sim::Region* const region = device_->memory().find(address);
  if (region == nullptr || region->undefined == nullptr) return {};
  const std::uint64_t at = region->offset(address, 0);
  return {region->undefined + at, region->size - at};
}

Result<std::vector<std::byte>> SimDevice::parameters(const Launch& launch) const {
  if (launch.arguments.size() != kernel_->params.size())
    return fail(DiagKind::BadLaunch, "{} arguments for `{}`, which has {} parameters",
                launch.arguments.size(), kernel_->name, kernel_->params.size());
  std::vector<std::byte> out(kernel_->param_bytes);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const sim::Param& param = kernel_->params[i];
    const Value& value = launch.arguments[i];
    if (param.bytes != value.bytes)
      return fail(DiagKind::BadLaunch, "argument {} has {} bytes: parameter `{}` has {}", i,
                  value.bytes, param.name, param.bytes);
    std::memcpy(out.data() + param.offset, value.data(), value.bytes);
  }
  return out;
}

Result<void> SimDevice::launch(const Launch& launch) {
  sim::Launch out{.kernel = kernel_,
                  .grid = dim3(launch.grid),
                  .block = dim3(launch.block),
                  .dynamic_shared = launch.dynamic_shared,
                  .awaits = launch.awaits};
  if (launch.cluster) out.cluster = dim3(*launch.cluster);
  out.params = WW_TRY(parameters(WW_TRY(with_maps(launch))));
  report_ = WW_TRY(device_->run(out, options_));
  return {};
}

Result<Timing> SimDevice::time(const Launch& /*launch*/, int /*launches*/) {
  return fail(DiagKind::BadArgument,
              "the virtual GPU counts instructions and accesses; it does not measure time");
}

}  // namespace ww::runtime
