// SPDX-License-Identifier: Apache-2.0
#include "harness/cuda_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "emit/cuda/emit.h"
#include "foreign/corpus.h"
#include "foreign/toolchain.h"
#include "harness/assembly.h"
#include "harness/cuda_run.h"
#include "sim/launch.h"

namespace ww::test {
namespace {

constexpr std::size_t kKernelsPerFile = 300;
// Bytes of shared memory are read in aligned words where nvcc likes, the last ones too.
constexpr std::uint32_t kSharedUnit = 16;

// Unoptimised code moves registers that a load of tensor memory, or a product, has yet to fill. For
// loads it is enough that arrays become registers; accumulators of products need every optimisation.
std::vector<std::string> options_for(const corpus::Toolchain& tools, std::string_view source) {
  if (source.contains("wgmma_mma_async")) return {};
  return source.contains("tcgen05_ld") ? tools.register_options() : tools.quick_options();
}

// Warnings are errors, but what a program computes is its own business: `u < 0`,
// `x / 0`.
std::string to_ptx(const corpus::Toolchain& tools, const std::string& target,
                   const std::string& source, std::string& ptx) {
  const corpus::TestFolder folder;
  std::ofstream(folder.path() / "kernels.cu") << source;
  std::vector<std::string> options = options_for(tools, source);
  for (const char* option : {"-std=c++17", "-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings",
                             "-diag-suppress", "186,39"})
    options.emplace_back(option);
  const corpus::Outcome outcome =
      tools.compile(folder.path() / "kernels.cu", target, options, folder.path(), "kernels.ptx");
  if (outcome.status != 0) return outcome.output + source;
  ptx = corpus::read_text(folder.path() / "kernels.ptx");
  return "";
}

ir::Function renamed(const ir::Function& lowered, std::size_t i) {
  ir::Function out = lowered;
  out.name = fmt::format("kernel_{}", i);
  return out;
}

// `a[12] = b3;` as `a[#] = b#;`, without comments.
std::string without_numbers(std::string_view source) {
  std::string out;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.substr(i).starts_with("//")) i = std::min(source.find('\n', i), source.size() - 1);
    const bool is_digit = std::isdigit(static_cast<unsigned char>(source[i])) != 0;
    if (!is_digit)
      out += source[i];
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

// "" or what is wrong with the kernel on the virtual GPU.
std::string compare(const std::shared_ptr<const sim::Program>& program, const ir::Function& lowered,
                    const Ran& ran) {
  Results seen;
  std::optional<std::string> why;
  try {
    why = simulate({program, kSharedUnit, true}, lowered, ran.args, seen, nullptr);
  } catch (const BugError& bug) {
    why = fmt::format("a broken promise: {}", bug.what());
  }
  if (!why) why = distance_of(ran.args, ran.expected, seen, ran.tolerance);
  return why.value_or("");
}

}  // namespace

void CudaBatch::add(const Checked& checked) {
  const Group group{checked.ran->target,
                    checked.ptx.contains("tcgen05.ld") || checked.ptx.contains("wgmma.mma_async")};
  kernels_[group].push_back({checked.ran, checked.source, current_test()});
  ++count_;
}

void CudaBatch::take(CudaBatch other) {
  WW_CHECK(edits_.empty() && other.edits_.empty(), "edits would be lost");
  for (auto& [group, kernels] : other.kernels_)
    std::ranges::move(kernels, std::back_inserter(kernels_[group]));
  count_ += other.count_;
}

void CudaBatch::keep_one_of_a_kind() {
  WW_CHECK(edits_.empty(), "a fault may be in the number that is dropped");
  count_ = 0;
  for (auto& [group, kernels] : kernels_) {
    std::set<std::string> kinds;
    std::erase_if(kernels, [&](const Kernel& kernel) {
      std::string problem;
      const std::string text = text_of(kernel.ran->lowered, group.target, problem);
      return problem.empty() && !kinds.insert(without_numbers(text)).second;
    });
    count_ += kernels.size();
  }
}

std::string CudaBatch::text_of(const ir::Function& lowered, const std::string& target,
                               std::string& problem) const {
  const auto text =
      emit::cuda_source(lowered, {.target = {.arch = target::parse_arch(target).value()}});
  if (!text) problem = text.error().text;
  std::string out = text.value_or("");
  for (const auto& [from, to] : edits_)
    if (const std::size_t at = out.find(from); at != std::string::npos)
      out.replace(at, from.size(), to);
  return out;
}

std::string CudaBatch::run_file(const corpus::Toolchain& tools,
                                std::span<const Kernel> kernels) const {
  const std::string& target = kernels.front().ran->target;
  std::vector<ir::Function> functions;
  std::vector<std::string> sources;
  std::string problem, ptx;
  for (const Kernel& kernel : kernels) {
    functions.push_back(renamed(kernel.ran->lowered, functions.size()));
    sources.push_back(with_own_array(text_of(functions.back(), target, problem),
                                     "extern __shared__", sources.size()));
    if (!problem.empty())
      return fmt::format("CUDA C++: {}\n{}\n{}", problem, kernel.test, kernel.source);
  }
  problem = to_ptx(tools, target, emit::test::joined(sources), ptx);
  if (!problem.empty()) return problem;
  const sim::LoadResult loaded = sim::load(ptx, "kernels.ptx");
  if (loaded.program == nullptr) return "PTX of nvcc: " + loaded.errors.at(0).text;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string found = compare(loaded.program, functions[i], *kernels[i].ran);
    if (!found.empty())
      problem += fmt::format(
          "CUDA C++ on the virtual GPU: {}\n--- test\n{}\n--- source\n{}--- CUDA C++\n{}", found,
          kernels[i].test, kernels[i].source, sources[i]);
  }
  return problem;
}

std::string CudaBatch::run(std::string& skipped) const {
  const auto tools = corpus::Toolchain::find();
  if (!tools) {
    skipped = "there is no nvcc";
    return {};
  }
  std::string out;
  for (const auto& [group, kernels] : kernels_) {
    if (!tools->knows(group.target)) {
      skipped += fmt::format("this nvcc does not know {}; ", group.target);
      continue;
    }
    for (std::size_t i = 0; i < kernels.size(); i += kKernelsPerFile)
      out += run_file(*tools,
                      std::span(kernels).subspan(i, std::min(kKernelsPerFile, kernels.size() - i)));
  }
  return out;
}

}  // namespace ww::test
