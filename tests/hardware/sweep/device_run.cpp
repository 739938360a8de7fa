// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/device_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "foreign/corpus.h"

namespace ww::sweep {
namespace {

constexpr std::size_t kMaxKernels = 250;  // in a module

using Group = std::vector<std::size_t>;

class Assembler {
 public:
  Assembler(const corpus::Toolchain& tools, std::span<const Kernel> kernels, Assembled& into)
      : tools_(tools), kernels_(kernels), into_(into) {}

  void assemble(const Group& group) {
    const corpus::TestFolder folder;
    write(folder.path() / "m.ptx", group);
    const corpus::Outcome outcome = tools_.assemble(folder.path(), "m.ptx", "sm_90a", "m.cubin");
    if (outcome.status == 0) return keep(group, corpus::read_text(folder.path() / "m.cubin"));
    if (group.size() == 1) return refuse(group.front(), outcome.output);
    const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
    assemble({group.begin(), middle});
    assemble({middle, group.end()});
  }

 private:
  void write(const std::filesystem::path& path, const Group& group) const {
    std::ofstream out(path);
    out << module_header(kernels_[group.front()].ptx);
    for (std::size_t i = 0; i < group.size(); ++i)
      out << kernel_text(kernels_[group[i]], fmt::format("k{}", i));
  }
  void keep(const Group& group, const std::string& image) {
    Module module{.kernels = group, .image = {}};
    module.image.resize(image.size());
    std::memcpy(module.image.data(), image.data(), image.size());
    const std::scoped_lock lock(mutex_);
    into_.modules.push_back(std::move(module));
  }
  void refuse(std::size_t kernel, const std::string& words) {
    const std::scoped_lock lock(mutex_);
    into_.problems[kernel] = "ptxas: " + words;
  }

  const corpus::Toolchain& tools_;
  std::span<const Kernel> kernels_;
  Assembled& into_;
  std::mutex mutex_;
};

std::vector<Group> groups_of(std::span<const Kernel> kernels) {
  std::map<int, std::vector<Group>> by_version;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<Group>& groups = by_version[kernels[i].ptx];
    if (groups.empty() || groups.back().size() == kMaxKernels) groups.emplace_back();
    groups.back().push_back(i);
  }
  std::vector<Group> all;
  for (const auto& [version, groups] : by_version)
    all.insert(all.end(), groups.begin(), groups.end());
  return all;
}

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::jthread> threads;
  const std::size_t wanted = std::min<std::size_t>(count, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
}

Assembled assemble(const corpus::Toolchain& tools, std::span<const Kernel> kernels) {
  Assembled assembled;
  assembled.problems.resize(kernels.size());
  Assembler assembler(tools, kernels, assembled);
  const std::vector<Group> groups = groups_of(kernels);
  in_parallel(groups.size(), [&](std::size_t i) { assembler.assemble(groups[i]); });
  std::ranges::sort(assembled.modules, {},
                    [](const Module& module) { return module.kernels.front(); });
  return assembled;
}

std::string DeviceRunner::open(const Module& module) {
  open_ = &module;
  return gpu_.load(module.image, module_);
}

void DeviceRunner::close() {
  if (module_ != nullptr) gpu_.unload(module_);
  module_ = nullptr;
}

std::string DeviceRunner::run(const std::string& name, std::span<const std::byte> inputs,
                              std::span<std::byte> outputs, std::size_t cases) {
  if (module_ == nullptr) return "the module is not loaded";
  const std::string problem = launch(name, inputs, outputs, cases);
  if (problem.empty() || problem == "timeout") return problem;
  module_ = nullptr;
  std::string again = gpu_.restart();
  if (again.empty()) again = open(*open_);
  return again.empty() ? problem : problem + "; then " + again;
}

std::string DeviceRunner::launch(const std::string& name, std::span<const std::byte> inputs,
                                 std::span<std::byte> outputs, std::size_t cases) {
  void* function = nullptr;
  device::Address in = 0, out = 0;
  std::string problem = gpu_.find(module_, name, function);
  if (problem.empty()) problem = gpu_.allocate(inputs.size(), in);
  if (problem.empty()) problem = gpu_.allocate(outputs.size(), out);
  if (problem.empty()) problem = gpu_.upload(in, inputs);
  const std::array<device::Address, 2> params = {in, out};
  device::KernelLaunch launch{.params = std::as_bytes(std::span(params))};
  launch.grid[0] = static_cast<std::uint32_t>(cases / kBlockThreads);
  launch.block[0] = kBlockThreads;
  if (problem.empty()) problem = gpu_.run(function, launch);
  if (problem.empty()) problem = gpu_.download(outputs, out);
  if (in != 0) gpu_.release(in);
  if (out != 0) gpu_.release(out);
  return problem;
}

}  // namespace ww::sweep
