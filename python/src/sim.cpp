// SPDX-License-Identifier: Apache-2.0
// PTX of any origin on the virtual GPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

#include "bindings.h"
#include "call_args.h"
#include "driver/call/ptx_call.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

// The report of a run as text and as JSON.
std::pair<std::string, std::string> sim(const std::string& ptx, const nb::sequence& args,
                                        const std::string& kernel, runtime::Dims grid,
                                        runtime::Dims block, std::optional<runtime::Dims> cluster,
                                        std::uint32_t shared, const std::string& checks,
                                        const std::string& schedule, const std::string& limits) {
  const std::vector<driver::CallArg> values = read_args(args);
  const driver::PtxCall call{.text = ptx,
                             .kernel = kernel,
                             .grid = grid,
                             .block = block,
                             .cluster = cluster,
                             .dynamic_shared = shared};
  return report_of(
      [&](const driver::SimCallOptions& options) {
        return driver::call_ptx_on_sim(call, values, options);
      },
      {.checks = checks, .schedule = schedule, .limits = limits});
}

}  // namespace

void add_sim(nb::module_& module) {
  module.def("sim", sim, "ptx"_a, "args"_a, "kernel"_a, "grid"_a, "block"_a, "cluster"_a.none(),
             "shared"_a, "checks"_a, "schedule"_a, "limits"_a);
}

}  // namespace ww::python
