// SPDX-License-Identifier: Apache-2.0
// ww_device_sweep: every instruction on the GPU here and on the virtual one, compared bit for bit.
//
//   ww_device_sweep [--cases N] [--only TEXT] [--out FOLDER] [--json] [--every-modifier]
//   ww_device_sweep --self       without a GPU: every kernel loads, runs without findings, and
//                                gives the same results whichever way its warps take turns
//
// Built and run by scripts/device_sweep.sh. Exit status: 0 all agree, 1 something differs, 2 no
// device or no ptxas.
#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "hardware/sweep/device_run.h"
#include "hardware/sweep/forms.h"
#include "hardware/sweep/report.h"
#include "hardware/sweep/virtual_run.h"

namespace ww::sweep {
namespace {

struct Options {
  std::size_t cases = 65536;
  std::string only;
  std::string out = ".";
  bool self = false, json = false, every_modifier = false;
};

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// --- with a device -------------------------------------------------------------------------------

class Sweep {
 public:
  Sweep(const Options& options, std::vector<Kernel> kernels)
      : options_(options), kernels_(std::move(kernels)), rows_(kernels_.size()) {
    for (std::size_t i = 0; i < kernels_.size(); ++i) rows_[i].kernel = &kernels_[i];
  }

  int run();

 private:
  struct Work {
    std::vector<std::byte> inputs, device;
    VirtualResult ours;
  };

  bool run_module(DeviceRunner& runner, const Module& module);
  void conclude(std::size_t kernel, Work& work);
  void write_reports(const std::string& device) const;

  const Options& options_;
  std::vector<Kernel> kernels_;
  std::vector<Row> rows_;
};

void Sweep::conclude(std::size_t kernel, Work& work) {
  Row& row = rows_[kernel];
  if (row.problem.empty()) row.problem = work.ours.problem;
  if (!row.problem.empty() || work.ours.outputs.size() != work.device.size()) return;
  row.comparison =
      compare(kernels_[kernel], work.inputs, work.device, work.ours.outputs, options_.cases);
  for (const std::size_t thread : row.comparison.threads) {
    row.examples += "  " +
                    show_thread(kernels_[kernel], work.inputs, work.device, work.ours.outputs,
                                options_.cases, thread) +
                    "\n";
  }
}

/// False when a kernel does not end: nothing more can be run then.
bool Sweep::run_module(DeviceRunner& runner, const Module& module) {
  const std::size_t count = module.kernels.size();
  std::vector<Work> work(count);
  in_parallel(count, [&](std::size_t i) {
    const Kernel& kernel = kernels_[module.kernels[i]];
    work[i].inputs = make_inputs(kernel, options_.cases);
    work[i].device.resize(buffer_bytes(kernel.outputs, options_.cases));
    work[i].ours = run_virtual(kernel, work[i].inputs, options_.cases, {});
  });
  const std::string problem = runner.open(module);
  bool goes_on = true;
  for (std::size_t i = 0; i < count && goes_on; ++i) {
    std::string& said = rows_[module.kernels[i]].problem;
    said = problem.empty()
               ? runner.run(fmt::format("k{}", i), work[i].inputs, work[i].device, options_.cases)
               : problem;
    if (!said.empty()) said = "device: " + said;
    goes_on = said != "device: timeout";
  }
  if (goes_on) runner.close();
  in_parallel(count, [&](std::size_t i) { conclude(module.kernels[i], work[i]); });
  return goes_on;
}

void Sweep::write_reports(const std::string& device) const {
  const std::filesystem::path folder = options_.out;
  std::filesystem::create_directories(folder);
  const ReportHead head{"scripts/device_sweep.sh", device, options_.cases};
  write(folder / "sweep.md", summary_page(head, rows_));
  write(folder / "sweep_all.md", full_table(rows_));
  write(folder / "sweep_differences.txt", differences(rows_));
  if (options_.json) write(folder / "sweep.json", json_report(head, rows_));
}

int Sweep::run() {
  const auto tools = corpus::Toolchain::find();
  std::string reason = "no ptxas";
  const auto gpu = tools ? device::Gpu::open(reason) : nullptr;
  if (gpu == nullptr) {
    fmt::print(stderr, "{}\n", reason);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  fmt::print("{}: {} kernels\n", gpu->name(), kernels_.size());
  Assembled assembled = assemble(*tools, kernels_);
  for (std::size_t i = 0; i < kernels_.size(); ++i) rows_[i].problem = assembled.problems[i];
  fmt::print("assembled {} modules, {:.0f} s\n", assembled.modules.size(), seconds());
  DeviceRunner runner(*gpu);
  for (const Module& module : assembled.modules) {
    if (!run_module(runner, module)) break;
    fmt::print("  {} ... {:.0f} s\n", kernels_[module.kernels.back()].title(), seconds());
    std::fflush(stdout);
  }
  write_reports(gpu->name());
  const auto bad = std::ranges::count_if(rows_, [](const Row& row) { return !row.is_good(); });
  fmt::print("{} of {} differ; {:.0f} s\n", bad, rows_.size(), seconds());
  std::fflush(stdout);
  return bad == 0 ? 0 : 1;
}

// --- without -------------------------------------------------------------------------------------

std::string check_self(const Kernel& kernel, std::size_t cases) {
  const std::vector<std::byte> inputs = make_inputs(kernel, cases);
  const VirtualResult first = run_virtual(kernel, inputs, cases, {.checked = true});
  if (!first.problem.empty()) return first.problem;
  const VirtualResult second = run_virtual(kernel, inputs, cases, {.checked = true, .seed = 7});
  return first.outputs == second.outputs ? "" : "the results depend on the order of warps";
}

int run_self(const Options& options, const std::vector<Kernel>& kernels) {
  std::vector<std::string> problems(kernels.size());
  in_parallel(kernels.size(),
              [&](std::size_t i) { problems[i] = check_self(kernels[i], options.cases); });
  std::size_t bad = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (problems[i].empty()) continue;
    ++bad;
    fmt::print("{}: {}\n", kernels[i].title(), problems[i]);
  }
  fmt::print("{} of {} kernels have a problem\n", bad, kernels.size());
  return bad == 0 ? 0 : 1;
}

int run(const Options& options) {
  std::vector<Kernel> kernels = all_kernels(options.only, options.every_modifier);
  if (options.self) return run_self(options, kernels);
  return Sweep(options, std::move(kernels)).run();
}

bool read_number(const char* text, std::size_t& value) {
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  return error == std::errc() && rest == end;
}

/// False: there is no such option, or the number is none.
bool read_options(int argc, char** argv, Options& options) {
  const option known[] = {{"cases", required_argument, nullptr, 'c'},
                          {"only", required_argument, nullptr, 'n'},
                          {"out", required_argument, nullptr, 'o'},
                          {"self", no_argument, nullptr, 's'},
                          {"json", no_argument, nullptr, 'j'},
                          {"every-modifier", no_argument, nullptr, 'm'},
                          {}};
  for (int c = 0; (c = ::getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    if (c == 'c' && !read_number(optarg, options.cases)) return false;
    if (c == 'n') options.only = optarg;
    if (c == 'o') options.out = optarg;
    if (c == 's') options.self = true;
    if (c == 'j') options.json = true;
    if (c == 'm') options.every_modifier = true;
    if (c == '?') return false;  // getopt_long has said why
  }
  options.cases = std::max<std::size_t>(1, options.cases / 128) * 128;
  return optind == argc;
}

}  // namespace
}  // namespace ww::sweep

int main(int argc, char** argv) {
  ww::sweep::Options options;
  if (ww::sweep::read_options(argc, argv, options)) return ww::sweep::run(options);
  fmt::print(stderr,
             "usage: ww_device_sweep [--self] [--cases N] [--only TEXT] [--out FOLDER] [--json] "
             "[--every-modifier]\n");
  return 2;
}
