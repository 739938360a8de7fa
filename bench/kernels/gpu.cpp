// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "driver/run/device_run.h"
#include "ir/launch/launch.h"
#include "ir/tensor_map.h"
#include "lower/lower.h"

namespace ww::bench {

using runtime::CudaDevice;

std::string words_of(const Diag& problem) {
  constexpr std::string_view kNote = "  note: ";
  std::string_view rest = problem.text;
  std::string out(rest.substr(0, rest.find('\n')));
  for (std::size_t at = rest.find(kNote); at != std::string_view::npos; at = rest.find(kNote)) {
    rest.remove_prefix(at + kNote.size());
    out += fmt::format("; {}", rest.substr(0, rest.find('\n')));
  }
  for (const auto& note : problem.notes) out += fmt::format("; {}", note.text);
  return out;
}

Result<driver::Build> build_for(const target::Target& target, const SourceText& source,
                                const std::string& expression) {
  driver::Build out = driver::build_file(
      {.path = source.name(), .kernel = expression, .text = &source}, driver::Phase::Tile);
  driver::set_target(out, target);
  driver::advance(out, driver::Phase::Ptx);
  if (!out.good()) return fail(DiagKind::BadArgument, "{}", out.errors);
  return out;
}

Result<runtime::Launch> launch_of(const ir::Function& lowered,
                                  std::vector<runtime::Value> arguments) {
  const ir::LaunchShape shape = WW_TRY(ir::launch_shape(lowered));
  runtime::Launch out{.arguments = std::move(arguments)};
  for (std::size_t d = 0; d < 3; ++d) {
    if (!shape.grid[d].is_constant())
      return fail(DiagKind::BadArgument, "the grid of `{}` is not constant", lowered.name);
    out.grid[d] = static_cast<std::uint32_t>(shape.grid[d].value);
    out.block[d] = static_cast<std::uint32_t>(shape.block[d]);
  }
  if (shape.has_clusters)
    out.cluster = runtime::Dims{static_cast<std::uint32_t>(shape.cluster[0]),
                                static_cast<std::uint32_t>(shape.cluster[1]),
                                static_cast<std::uint32_t>(shape.cluster[2])};
  out.dynamic_shared = static_cast<std::uint32_t>(lower::dynamic_shared_bytes(lowered));
  out.is_cooperative = shape.is_cooperative;
  out.is_programmatic = shape.is_programmatic;
  out.maps = WW_TRY(driver::launch_maps(lowered, {}));
  for (std::size_t i = 0; i < out.maps.size(); ++i)
    out.arguments.push_back({.bytes = static_cast<std::uint32_t>(ir::kMapBytes),
                             .block = std::vector<std::byte>(ir::kMapBytes)});
  return out;
}

Result<Gpu> Gpu::open(const runtime::CudaCalls& calls) {
  Gpu out(calls);
  WW_TRY(out.add_device());
  return out;
}

// All of them share the GPU's primary context.
Result<CudaDevice*> Gpu::add_device() {
  devices_.push_back(WW_TRY(CudaDevice::open(calls_)));
  return devices_.back().get();
}

Result<CudaDevice*> Gpu::load(const driver::Build& build) {
  CudaDevice* const out = WW_TRY(add_device());
  WW_TRY_VOID(out->load({.bytes = build.ptx, .kernel = build.entry}));
  return out;
}

// Ending a failed one takes the context away from the others, so it is the last; one that hangs
// would block the end of every other, so none is ended.
Gpu::~Gpu() {
  const bool hangs = lost_ != nullptr && lost_->hangs();
  for (auto& device : devices_) {
    if (hangs)
      (void)device.release();
    else if (device.get() != lost_)
      device.reset();
  }
}

}  // namespace ww::bench
