// SPDX-License-Identifier: Apache-2.0
// Choosing parameters: `warpwright tune` as a function.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <utility>

#include "base/diag.h"
#include "bindings.h"
#include "driver/run/device_kind.h"
#include "driver/tune/tune.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

// The ranking as text and as JSON. `progress` is called with combinations done and in all.
std::pair<std::string, std::string> tune(const std::string& path, const std::string& kernel,
                                         const std::vector<std::string>& spaces,
                                         const std::vector<std::string>& wheres,
                                         const std::vector<std::string>& args,
                                         const std::vector<std::string>& expects,
                                         const std::string& target, const std::string& device,
                                         const nb::object& progress) {
  const auto kind = driver::parse_device(device);
  if (!kind || *kind == driver::DeviceKind::Eval)
    raise(DiagKind::BadArgument, "`device` is `" + device + "`: expected auto, sim or cuda");
  std::atomic<bool> stop = false;
  driver::TuneRequest request;
  request.source.path = path;
  request.source.kernel = kernel;
  request.source.target = target;
  request.spaces = spaces;
  request.wheres = wheres;
  request.device = *kind;
  request.arguments.args = args;
  request.arguments.expects = expects;
  request.progress = [&](std::uint64_t done, std::uint64_t all) {
    if (!progress.is_none()) {
      const nb::gil_scoped_acquire acquire;
      progress(done, all);
    }
    return !stop.load();
  };
  std::optional<driver::TuneOutcome> outcome;
  run_interruptibly([&] { outcome = driver::tune(request); }, stop);
  if (!outcome->report) raise(DiagKind::BadArgument, outcome->errors);
  return {driver::tune_text(*outcome->report, {}), driver::tune_json(*outcome->report)};
}

}  // namespace

void add_tune(nb::module_& module) {
  module.def("tune", tune, "path"_a, "kernel"_a, "spaces"_a, "wheres"_a, "args"_a, "expects"_a,
             "target"_a, "device"_a, "progress"_a.none());
}

}  // namespace ww::python
