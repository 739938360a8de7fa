// SPDX-License-Identifier: Apache-2.0
// Choosing parameters: `warpwright tune` as a function, whole or in parts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "base/diag.h"
#include "base/source.h"
#include "bindings.h"
#include "call_args.h"
#include "driver/report_parts.h"
#include "driver/run/device_run.h"
#include "driver/tune/tune.h"
#include "kernel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

/// What is asked, in the words of the command line.
struct Question {
  std::string path, kernel;
  std::vector<std::string> spaces, wheres, args, expects;
  std::string target, device;
  SourceText text;  // of the file

  [[nodiscard]] driver::TuneRequest request() const {
    const auto kind = driver::parse_device(device);
    if (!kind || *kind == driver::DeviceKind::Eval)
      raise(DiagKind::BadArgument, "`device` is `" + device + "`: expected auto, sim or cuda");
    driver::TuneRequest out;
    out.source.path = path;
    out.source.kernel = kernel;
    out.source.target = target;
    out.source.text = &text;
    out.spaces = spaces;
    out.wheres = wheres;
    out.device = *kind;
    out.arguments.args = args;
    out.arguments.expects = expects;
    return out;
  }
};

// `progress` is called with combinations done and in all.
driver::TuneReport run(driver::TuneRequest request, const nb::object& progress) {
  std::atomic<bool> stop = false;
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
  return *std::move(outcome->report);
}

// The ranking as text and as JSON.
std::pair<std::string, std::string> texts(const driver::TuneReport& report) {
  return {driver::tune_text(report, {}), driver::json_text(driver::tune_json(report))};
}

std::pair<std::string, std::string> tune(const Question& question, const nb::object& progress) {
  return texts(run(question.request(), progress));
}

// A run on the virtual GPU: its report as text and as JSON, and its work as trials have it.
std::tuple<std::string, std::string, std::array<std::uint64_t, 5>> run_counted(
    const Kernel& kernel, const nb::sequence& args) {
  const HostArgs values(args);
  driver::SimWork work;
  auto [text, json] = report_of(
      [&](const driver::CallOptions& options) {
        auto report = driver::call_kernel(kernel.build, values.all, options);
        if (report) work = report->work.value_or(work);
        return report;
      },
      {.counts_work = true});
  return {std::move(text),
          std::move(json),
          {work.blocks, work.instructions, work.wavefronts, work.sectors, work.tensor}};
}

std::size_t tune_size(const Question& question) {
  std::string errors;
  const auto size = driver::tune_size(question.request(), errors);
  if (!size) raise(DiagKind::BadArgument, errors);
  return *size;
}

std::string tune_part(const Question& question, const std::vector<std::size_t>& numbers) {
  driver::TuneRequest request = question.request();
  request.numbers = numbers;
  return driver::save_trials(run(std::move(request), nb::none()));
}

std::pair<std::string, std::string> tune_whole(const Question& question,
                                               const std::vector<std::string>& trials) {
  driver::TuneRequest request = question.request();
  request.trials = trials;
  return texts(run(std::move(request), nb::none()));
}

}  // namespace

void add_tune(nb::module_& module) {
  using Texts = const std::vector<std::string>&;
  nb::class_<Question>(module, "Question")
      .def(
          "__init__",
          [](Question* self, const std::string& path, const std::string& kernel, Texts spaces,
             Texts wheres, Texts args, Texts expects, const std::string& target,
             const std::string& device, const std::string& text) {
            new (self) Question{path,   kernel, spaces,
                                wheres, args,   expects,
                                target, device, SourceText(path, text)};
          },
          "path"_a, "kernel"_a, "spaces"_a, "wheres"_a, "args"_a, "expects"_a, "target"_a,
          "device"_a, "text"_a);
  module.def("tune", tune, "question"_a, "progress"_a.none());
  module.def("run_counted", run_counted, "kernel"_a, "args"_a);
  module.def("tune_size", tune_size, "question"_a);
  module.def("tune_part", tune_part, "question"_a, "numbers"_a);
  module.def("tune_whole", tune_whole, "question"_a, "trials"_a);
}

}  // namespace ww::python
