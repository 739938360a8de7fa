// SPDX-License-Identifier: Apache-2.0
// ww_device_corpus: the launches of tests/foreign/launches.txt on the GPU here and on the virtual
// one.
//
//   ww_device_corpus [--only TEXT] [--out FOLDER] [--virtual]
//
// Writes FOLDER/corpus.txt, a line per launch with the elements that differ, and
// FOLDER/launches.txt: the file with the digests that the device gave, and the virtual GPU's for
// sections of other architectures. `--virtual` runs there alone. Built and run by
// scripts/device_sweep.sh. Exit status: 0 all agree, 1 something differs, 2 no device or no nvcc.
#include <fcntl.h>
#include <fmt/format.h>
#include <getopt.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "foreign/corpus.h"
#include "foreign/launch_run.h"
#include "foreign/toolchain.h"
#include "hardware/cuda_driver.h"

namespace ww::corpus {
namespace {

struct Options {
  std::string only;
  std::string out = ".";
  bool virtual_only = false;
};

/// What the process prints meanwhile goes to a file: the driver writes there what kernels print.
class PrintCatcher {
 public:
  explicit PrintCatcher(const std::filesystem::path& file) : file_(file) {
    std::fflush(stdout);
    kept_ = ::dup(STDOUT_FILENO);
    const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(to, STDOUT_FILENO);
    ::close(to);
  }
  ~PrintCatcher() { restore(); }
  PrintCatcher(const PrintCatcher&) = delete;
  PrintCatcher& operator=(const PrintCatcher&) = delete;

  std::string text() {
    restore();
    return read_text(file_);
  }

 private:
  void restore() {
    if (kept_ < 0) return;
    std::fflush(stdout);
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
    kept_ = -1;
  }

  std::filesystem::path file_;
  int kept_ = -1;
};

class DeviceModule {
 public:
  DeviceModule(device::Gpu& gpu, std::filesystem::path folder)
      : gpu_(gpu), folder_(std::move(folder)) {}
  ~DeviceModule() {
    if (module_ != nullptr) gpu_.unload(module_);
  }
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;

  std::string load(const std::string& image) {
    return gpu_.load(std::as_bytes(std::span(image)), module_);
  }

  /// `kernel` says how the parameters lie.
  LaunchOutcome run(const LaunchLine& line, const sim::Code& kernel) {
    LaunchOutcome outcome;
    std::vector<std::uint64_t> addresses;
    for (const Argument& argument : line.arguments) {
      if (!argument.is_buffer) continue;
      device::Address at = 0;
      outcome.problem = gpu_.allocate(argument.bytes.size(), at);
      if (outcome.problem.empty()) outcome.problem = gpu_.upload(at, argument.bytes);
      if (!outcome.problem.empty()) return outcome;
      addresses.push_back(at);
    }
    const auto params = parameter_bytes(kernel, line, addresses, outcome.problem);
    if (!params) return outcome;
    outcome.problem = launch(line, *params, outcome.printed);
    if (outcome.problem.empty()) fetch(line, addresses, outcome);
    for (const std::uint64_t address : addresses) gpu_.release(address);
    return outcome;
  }

 private:
  std::string launch(const LaunchLine& line, std::span<const std::byte> params,
                     std::string& printed) {
    void* function = nullptr;
    const std::string problem = gpu_.find(module_, line.kernel, function);
    if (!problem.empty()) return problem;
    device::KernelLaunch launch;
    launch.grid = line.grid;
    launch.block = line.block;
    launch.cluster = line.cluster;
    launch.dynamic_shared = line.shared;
    launch.params = params;
    PrintCatcher catcher(folder_ / "printed.txt");
    std::string ended = gpu_.run(function, launch);
    if (line.prints) gpu_.synchronize();  // that is when the driver prints
    printed = catcher.text();
    return ended;
  }

  void fetch(const LaunchLine& line, const std::vector<std::uint64_t>& addresses,
             LaunchOutcome& outcome) {
    std::size_t buffer = 0;
    for (const Argument& argument : line.arguments) {
      if (!argument.is_buffer) continue;
      const std::uint64_t at = addresses[buffer++];
      if (!argument.is_output) continue;
      std::vector<std::byte> bytes(argument.bytes.size());
      const std::string problem = gpu_.download(bytes, at);
      if (!problem.empty()) outcome.problem = problem;
      outcome.outputs.push_back(std::move(bytes));
    }
  }

  device::Gpu& gpu_;
  std::filesystem::path folder_;
  void* module_ = nullptr;
};

class Runner {
 public:
  Runner(const Options& options, const Toolchain& tools, device::Gpu* gpu)
      : options_(options), tools_(tools), gpu_(gpu) {}

  void run(const Section& section);
  int finish();

 private:
  void conclude(const Section& section, const LaunchLine& launch, const LaunchOutcome& ours,
                const LaunchOutcome* device);
  void note(const std::string& text) {
    fmt::print("{}\n", text);
    report_ += text + "\n";
  }
  [[nodiscard]] bool runs_on_device(const Section& section) const {
    return gpu_ != nullptr && section.target.starts_with(fmt::format("sm_{}", gpu_->arch()));
  }

  const Options& options_;
  const Toolchain& tools_;
  device::Gpu* gpu_;
  std::string report_;
  std::map<std::size_t, std::uint64_t> digests_;  // by line of launches.txt
  std::size_t agree_ = 0, differ_ = 0;
};

void Runner::conclude(const Section& section, const LaunchLine& launch, const LaunchOutcome& ours,
                      const LaunchOutcome* device) {
  const std::string name =
      fmt::format("{}: {} (line {})", section.title(), launch.kernel, launch.line);
  std::string trouble;
  if (!ours.problem.empty()) trouble += "    virtual GPU: " + ours.problem + "\n";
  if (device != nullptr && !device->problem.empty())
    trouble += "    device: " + device->problem + "\n";
  if (trouble.empty() && device != nullptr) trouble = difference(launch, *device, ours);
  if (device == nullptr || device->problem.empty())
    digests_[launch.line] = digest_of(launch, device == nullptr ? ours : *device);
  ++(trouble.empty() ? agree_ : differ_);
  note(fmt::format("{} {}{}", trouble.empty() ? "ok     " : "DIFFERS", name,
                   device == nullptr ? ", virtual only" : ""));
  if (!trouble.empty()) note(trouble);
}

void Runner::run(const Section& section) {
  const TestFolder folder;
  const auto files = all_files();
  const auto file = std::ranges::find(files, section.file, &File::name);
  std::string reason = "no such file";
  std::unique_ptr<VirtualModule> ours;
  if (file != files.end()) {
    const Outcome compiled =
        tools_.compile(file->path, section.target, file->options, folder.path(), "m.ptx");
    reason = compiled.output;
    if (compiled.status == 0)
      ours = VirtualModule::load(read_text(folder.path() / "m.ptx"), "m.ptx", reason);
  }
  if (ours == nullptr) {
    ++differ_;
    return note(fmt::format("DIFFERS {}: {}", section.title(), reason));
  }
  std::unique_ptr<DeviceModule> there;
  if (runs_on_device(section)) {
    const Outcome assembled = tools_.assemble(folder.path(), "m.ptx", section.target, "m.cubin");
    there = std::make_unique<DeviceModule>(*gpu_, folder.path());
    reason = assembled.status != 0 ? assembled.output
                                   : there->load(read_text(folder.path() / "m.cubin"));
    if (!reason.empty()) note(fmt::format("DIFFERS {}: {}", section.title(), reason));
  }
  for (const LaunchLine& launch : section.launches) {
    const LaunchOutcome here = ours->run(launch);
    std::optional<LaunchOutcome> device;
    const sim::Code* kernel = ours->program().find_kernel(launch.kernel);
    if (there != nullptr && kernel != nullptr) device = there->run(launch, *kernel);
    conclude(section, launch, here, device ? &*device : nullptr);
    if (device && !device->problem.empty()) {  // the context is lost
      there.release();
      gpu_->restart();
      break;
    }
  }
}

/// launches.txt with the new digests.
std::string with_digests(const std::string& text,
                         const std::map<std::size_t, std::uint64_t>& digests) {
  std::string made;
  std::istringstream in(text);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    const auto digest = digests.find(++number);
    const auto at = line.find("digest=");
    if (digest != digests.end() && at != std::string::npos)
      line = line.substr(0, at) + fmt::format("digest={:016x}", digest->second);
    made += line + "\n";
  }
  return made;
}

int Runner::finish() {
  const std::filesystem::path folder = options_.out;
  std::filesystem::create_directories(folder);
  note(fmt::format("{} launches agree, {} do not", agree_, differ_));
  std::ofstream(folder / "corpus.txt") << report_;
  const auto list = std::filesystem::path(WW_SOURCE_DIR) / "tests/foreign/launches.txt";
  std::ofstream(folder / "launches.txt") << with_digests(read_text(list), digests_);
  return differ_ == 0 ? 0 : 1;
}

int run_all(const Options& options) {
  const auto tools = Toolchain::find();
  std::string reason = "no nvcc";
  std::unique_ptr<device::Gpu> gpu;
  if (tools && !options.virtual_only) gpu = device::Gpu::open(reason);
  if (!tools || (gpu == nullptr && !options.virtual_only)) {
    fmt::print(stderr, "{}\n", reason);
    return 2;
  }
  const LaunchList list = read_launches();
  for (const std::string& error : list.errors) fmt::print(stderr, "launches.txt: {}\n", error);
  if (!list.errors.empty()) return 2;
  Runner runner(options, *tools, gpu.get());
  for (const Section& section : list.sections)
    if (section.title().contains(options.only)) runner.run(section);
  return runner.finish();
}

/// False: there is no such option.
bool read_options(int argc, char** argv, Options& options) {
  const option known[] = {{"only", required_argument, nullptr, 'n'},
                          {"out", required_argument, nullptr, 'o'},
                          {"virtual", no_argument, nullptr, 'v'},
                          {}};
  for (int c = 0; (c = ::getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    if (c == 'n') options.only = optarg;
    if (c == 'o') options.out = optarg;
    if (c == 'v') options.virtual_only = true;
    if (c == '?') return false;  // getopt_long has said why
  }
  return optind == argc;
}

}  // namespace
}  // namespace ww::corpus

int main(int argc, char** argv) {
  ww::corpus::Options options;
  if (ww::corpus::read_options(argc, argv, options)) return ww::corpus::run_all(options);
  fmt::print(stderr, "usage: ww_device_corpus [--only TEXT] [--out FOLDER] [--virtual]\n");
  return 2;
}
