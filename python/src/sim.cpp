// SPDX-License-Identifier: Apache-2.0
// PTX of any origin on the virtual GPU, a real one, or both.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "bindings.h"
#include "call_args.h"
#include "driver/call/ptx_call.h"

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

}  // namespace ww::python
