// SPDX-License-Identifier: Apache-2.0
#include "driver/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/process.h"
#include "base/split.h"
#include "driver/report_parts.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"

namespace ww::driver {
namespace {

using Find = Result<std::string> (*)(const DoctorRequest& request);

struct Tool {
  std::string_view name;
  std::string_view programs;           // the first one in PATH is asked; empty: the GPU's driver
  std::vector<std::string> arguments;  // that make it print its version
  std::string_view least;              // the oldest version that is of use; empty: any
  std::string_view without;
  std::string_view remedy;
  Find find = nullptr;  // where a variable may name the program
};

constexpr std::string_view kToolkit =
    "install NVIDIA's CUDA toolkit, https://developer.nvidia.com/cuda-downloads";

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      {"compiler",
       "g++",
       {"--version"},
       "12",
       "no build of a checkout and no `pip install .`",
       "apt-get install g++"},
      {"CUDA",
       "nvcc",
       {"--version"},
       "",
       "what `compile --emit cuda` prints cannot be compiled here; the path through PTX needs no "
       "CUDA",
       kToolkit},
      {"ptxas",
       "ptxas",
       {"--version"},
       "",
       "no `compile --emit cubin`, no `--sass`, no `tune --ptxas`",
       "install NVIDIA's CUDA toolkit; PTXAS=/path/to/ptxas names one in no folder of PATH",
       [](const DoctorRequest& request) { return runtime::find_ptxas(request.tools.ptxas); }},
      {"nvdisasm",
       "nvdisasm",
       {"--version"},
       "",
       "no `--sass`",
       "install NVIDIA's CUDA toolkit; NVDISASM=/path/to/nvdisasm names one in no folder of PATH",
       [](const DoctorRequest& request) { return runtime::find_nvdisasm(request.tools.nvdisasm); }},
      {"GPU",
       "",
       {},
       "",
       "kernels run on the virtual GPU, which has all checks and no times: no `--device cuda`, no "
       "`bench kernels`",
       "install NVIDIA's driver, https://www.nvidia.com/drivers; in a container, give it the GPU"},
      {"Python",
       "python3",
       {"--version"},
       "3.10",
       "no `import warpwright` and no `python -m warpwright check`",
       "apt-get install python3 python3-venv"},
      {"Triton",
       "python3",
       {"-c", "import importlib.metadata as m; print(m.version('triton'))"},
       "3.4",
       "no `python -m warpwright check` of Triton kernels",
       "pip install triton"},
      {"browser",
       "firefox chromium chromium-browser google-chrome",
       {"--version"},
       "",
       "`explore` shows its page only in a browser elsewhere, through `ssh -L`, or as a file, with "
       "`--export`",
       "apt-get install chromium"},
  };
  return kTools;
}

// The first number with a point in it: the 12.4 of "release 12.4, V12.4.131".
std::string_view version_in(std::string_view text) {
  const auto goes_on = [](char c) { return is_digit(c) || c == '.'; };
  while (!text.empty()) {
    const auto begin = std::ranges::find_if(text, is_digit);
    const auto end = std::find_if_not(begin, text.end(), goes_on);
    const std::string_view number(begin, end);
    if (number.contains('.')) return number.substr(0, number.find_last_not_of('.') + 1);
    text = std::string_view(end, text.end());
  }
  return {};
}

std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> out;
  for (const std::string_view part : split_words(version, '.'))
    std::from_chars(part.data(), part.data() + part.size(), out.emplace_back());
  return out;
}

Result<std::string> find(const Tool& tool, const DoctorRequest& request) {
  if (tool.find != nullptr) return tool.find(request);
  const std::string folders = fmt::format("{}:{}", request.path, runtime::kCudaPrograms);
  for (const std::string_view name : split_words(tool.programs))
    if (std::string found = find_program(name, folders); !found.empty()) return found;
  return fail(DiagKind::Io, "no folder of PATH has `{}`",
              fmt::join(split_words(tool.programs), "`, `"));
}

// Asks the program for its version.
Result<std::string> answer_of(const std::string& program, const Tool& tool) {
  std::vector<std::string> words{program};
  std::ranges::copy(tool.arguments, std::back_inserter(words));
  const Finished finished = WW_TRY(run_program(std::move(words)));
  const std::vector<std::string_view> lines = split_words(finished.output, '\n');
  const std::string_view last = lines.empty() ? "it printed nothing" : lines.back();
  if (!finished.good())
    return fail(DiagKind::Io, "asked for its version, it ended with {} {}: {}",
                finished.signal == 0 ? "exit status" : "signal",
                finished.signal == 0 ? finished.status : finished.signal, last);
  const std::string_view version = version_in(finished.output);
  if (version.empty())
    return fail(DiagKind::Io, "asked for its version, it printed none: {}", last);
  if (numbers_of(version) < numbers_of(tool.least))
    return fail(DiagKind::Io, "it is version {}, and {} or newer is needed", version, tool.least);
  return std::string(version);
}

Result<std::string> gpu_name() {
  const runtime::CudaCalls calls = WW_TRY(runtime::load_cuda_calls());
  return WW_TRY(runtime::CudaDevice::open(calls))->name();
}

ToolState state_of(const Tool& tool, const DoctorRequest& request) {
  ToolState out{.name = tool.name, .without = tool.without, .remedy = tool.remedy};
  const bool is_gpu = tool.programs.empty();
  const auto take = [&out](const Result<std::string>& from, std::string& to) {
    (from ? to : out.problem) = from ? *from : from.error().text;
  };
  take(is_gpu ? gpu_name() : find(tool, request), out.place);
  if (is_gpu)
    out.version = version_in(std::string_view(out.place).substr(out.place.rfind(' ') + 1));
  else if (out.problem.empty())
    take(answer_of(out.place, tool), out.version);
  return out;
}

}  // namespace

std::vector<ToolState> examine(const DoctorRequest& request) {
  std::vector<ToolState> out;
  for (const Tool& each : tools()) out.push_back(state_of(each, request));
  return out;
}

std::string doctor_text(const std::vector<ToolState>& tools) {
  std::string out;
  for (const ToolState& each : tools) {
    if (each.problem.empty()) {
      out += fmt::format("{:<10}{:<10}{}\n", each.name, each.version, each.place);
      continue;
    }
    const std::string where = each.place.empty() ? "" : fmt::format(" ({})", each.place);
    out += fmt::format("{:<10}{}{}: {}\n", each.name, each.place.empty() ? "missing" : "not usable",
                       where, each.problem);
    out += fmt::format("{:<10}without it: {}\n", "", each.without);
    out += fmt::format("{:<10}to get it: {}\n", "", each.remedy);
  }
  return out;
}

Json doctor_json(const std::vector<ToolState>& tools) {
  Json rows = json_list(tools, [&](const ToolState& each) -> Json {
    return {{"name", each.name},
            {"found", each.problem.empty()},
            {"version", text_or_null(each.version)},
            {"place", text_or_null(each.place)},
            {"problem", text_or_null(each.problem)},
            {"without", each.without},
            {"remedy", each.remedy}};
  });
  return with_schema("doctor", {{"tools", rows}});
}

}  // namespace ww::driver
