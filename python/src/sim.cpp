// SPDX-License-Identifier: Apache-2.0
// PTX of any origin on the virtual GPU, a real one, or both.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "bindings.h"
#include "call_args.h"
#include "driver/call/ptx_call.h"
#include "driver/report_parts.h"
#include "sim/tensor_map/image.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

/// The report of a run as text and as JSON, the GPU's name, and how its results differ.
using SimResult = std::tuple<std::string, std::string, std::string, std::string>;

driver::WhichGpu device_of(const std::string& word) {
  return word == "cuda"   ? driver::WhichGpu::Gpu
         : word == "both" ? driver::WhichGpu::Both
                          : driver::WhichGpu::Virtual;
}

SimResult sim(const std::string& ptx, const nb::sequence& args, const std::string& kernel,
              runtime::Dims grid, runtime::Dims block, std::optional<runtime::Dims> cluster,
              std::uint32_t shared, const std::string& checks, const std::string& schedule,
              const std::string& limits, const std::string& device) {
  const HostArgs values(args);
  const driver::PtxCallRequest call{.text = ptx,
                                    .kernel = kernel,
                                    .grid = grid,
                                    .block = block,
                                    .cluster = cluster,
                                    .dynamic_shared = shared,
                                    .device = device_of(device)};
  driver::PtxReport whole;
  const std::string json =
      report_of(
          [&](const driver::CallOptions& options) -> Result<driver::RunReport> {
            whole = WW_TRY(driver::call_ptx(call, values.all, options));
            return whole.run;
          },
          {.checks = checks, .schedule = schedule, .limits = limits})
          .second;
  return {driver::ptx_text(whole), json, whole.gpu, whole.gpu_differs};
}

}  // namespace

void add_sim(nb::module_& module) {
  module.def("sim", sim, "ptx"_a, "args"_a, "kernel"_a, "grid"_a, "block"_a, "cluster"_a.none(),
             "shared"_a, "checks"_a, "schedule"_a, "limits"_a, "device"_a);
}

// --- in place ------------------------------------------------------------------------------------
//
// Kernels of PTX texts over memory that lies where its owner has it: what warpwright/check launches.

namespace {

// Address on the virtual GPU, address here, bytes, address of the bytes that say what is undefined or
// 0, name.
using Memory = std::tuple<std::uint64_t, std::uintptr_t, std::size_t, std::uintptr_t, std::string>;

driver::PlacedMemory memory_of(const Memory& memory) {
  const auto& [address, data, size, undefined, name] = memory;
  return {.address = address,
          .bytes = {reinterpret_cast<std::byte*>(data), size},
          .undefined = reinterpret_cast<std::uint8_t*>(undefined),
          .name = name};
}

runtime::Value value_of(const nb::bytes& bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.c_str());
  return {.bytes = static_cast<std::uint32_t>(bytes.size()),
          .block = std::vector<std::byte>(data, data + bytes.size())};
}

driver::PlacedKernel load_placed(const std::string& ptx, const std::string& kernel) {
  auto loaded = driver::PlacedKernel::load(ptx, kernel);
  if (!loaded) raise(loaded.error());
  return std::move(*loaded);
}

std::vector<std::pair<std::string, std::uint32_t>> placed_params_of(
    const driver::PlacedKernel& kernel) {
  std::vector<std::pair<std::string, std::uint32_t>> out;
  for (const sim::Param& param : kernel.params()) out.emplace_back(param.name, param.bytes);
  return out;
}

// Python's function of blocks done and blocks in all, which is asked from the threads that run them.
std::function<bool(std::uint64_t, std::uint64_t)> progress_of(const nb::object& progress) {
  if (progress.is_none()) return {};
  return [&progress](std::uint64_t done, std::uint64_t all) {
    const nb::gil_scoped_acquire acquire;
    progress(done, all);
    return true;
  };
}

Json placed_json(const driver::PlacedReport& report) {
  Json out = driver::run_json(report.run);
  out["blocks_left_out"] = report.blocks_left_out;
  Json places = Json::array();
  for (const driver::RunFinding& finding : report.run.findings)
    places.push_back({{"block", finding.block},
                      {"other_block", finding.other_block},
                      {"address", finding.address.value_or(0)},
                      {"line", finding.at.ptx_line},
                      {"other_line", finding.note_at.ptx_line}});
  out["places"] = places;
  return out;
}

std::string launch_placed(const driver::PlacedKernel& kernel, runtime::Dims grid,
                          runtime::Dims block, std::optional<runtime::Dims> cluster,
                          std::uint32_t shared, const nb::sequence& args,
                          const std::vector<Memory>& memory,
                          const std::vector<std::uint64_t>& awaits, const std::string& checks,
                          const std::string& limits, std::uint64_t sample,
                          const nb::object& progress) {
  driver::PlacedLaunch call{.launch = {.grid = grid,
                                       .block = block,
                                       .cluster = cluster,
                                       .dynamic_shared = shared,
                                       .awaits = awaits},
                            .sample = sample,
                            .progress = progress_of(progress)};
  for (const nb::handle each : args)
    call.launch.arguments.push_back(value_of(nb::cast<nb::bytes>(each)));
  std::ranges::transform(memory, std::back_inserter(call.memory), memory_of);
  std::optional<driver::PlacedReport> report;
  report_of(
      [&](const driver::CallOptions& options) -> Result<driver::RunReport> {
        report = WW_TRY(kernel.launch(call, options));
        return report->run;
      },
      {.checks = checks, .limits = limits});
  return driver::json_text(placed_json(*report));
}

// Lists begin with the innermost dimension.
nb::bytes encode_map(std::uint64_t address, unsigned type, const std::vector<std::uint64_t>& dims,
                     const std::vector<std::uint64_t>& strides,
                     const std::vector<std::uint32_t>& box, unsigned swizzle, unsigned fill) {
  sim::TensorMap map{.type = static_cast<sim::TensorType>(type),
                     .rank = static_cast<unsigned>(dims.size()),
                     .address = address,
                     .swizzle = static_cast<sim::TensorSwizzle>(swizzle),
                     .fill = static_cast<sim::TensorFill>(fill)};
  if (dims.size() > sim::kMaxTensorRank || box.size() != dims.size() ||
      strides.size() + 1 != dims.size() || type >= sim::tensor_types().size() ||
      swizzle >= sim::words_of(map.swizzle).size() || fill >= sim::words_of(map.fill).size())
    raise(DiagKind::BadArgument, "a tensor descriptor that cannot be read\n");
  std::ranges::copy(dims, map.dims.begin());
  std::ranges::copy(strides, map.strides.begin());
  std::ranges::copy(box, map.box.begin());
  if (const auto checked = sim::check_tensor_map(map); !checked) raise(checked.error());
  const sim::TensorMapImage image = sim::encode(map);
  return nb::bytes(image.data(), image.size());
}

}  // namespace

void add_placed(nb::module_& module) {
  nb::class_<driver::PlacedKernel>(module, "PlacedKernel")
      .def_prop_ro("params", placed_params_of)
      .def("launch", launch_placed, "grid"_a, "block"_a, "cluster"_a.none(), "shared"_a, "args"_a,
           "memory"_a, "awaits"_a, "checks"_a, "limits"_a, "sample"_a, "progress"_a.none());
  module.def("load_placed", load_placed, "ptx"_a, "kernel"_a);
  module.def("encode_map", encode_map, "address"_a, "type"_a, "dims"_a, "strides"_a, "box"_a,
             "swizzle"_a, "fill"_a);
}

}  // namespace ww::python
