// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/split.h"
#include "ptx/parser.h"
#include "runtime/cuda_errors.h"
#include "runtime/cuda_fit.h"

namespace ww::runtime {
namespace {

// Numbers of cuda.h.
constexpr int kLocalBytes = 3;   // CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
constexpr int kRegisters = 4;    // CU_FUNC_ATTRIBUTE_NUM_REGS
constexpr int kJitErrorLog = 5;  // CU_JIT_ERROR_LOG_BUFFER
constexpr int kJitErrorLogBytes = 6;

constexpr std::size_t kMaxLogLines = 12;

// The newest PTX that the driver of each CUDA version reads, from the PTX manual's release notes.
struct PtxOfDriver {
  int driver;  // 1000·major + 10·minor
  int ptx;
};
constexpr PtxOfDriver kPtxOfDriver[] = {
    {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84}, {12030, 83},
    {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {11070, 77}, {11060, 76}, {11050, 75},
    {11040, 74}, {11030, 73}, {11020, 72}, {11010, 71}, {11000, 70}};

// "the driver is for CUDA 12.4 and reads PTX up to 8.4"
std::string ptx_of_driver(const CudaCalls& calls) {
  int version = 0;
  calls.driver_version(&version);
  const int ptx = newest_ptx(calls);
  return fmt::format("the driver is for CUDA {}.{} and reads PTX up to {}.{}", version / 1000,
                     version % 1000 / 10, ptx / 10, ptx % 10);
}

// The parameters of a kernel in PTX text: their names and what their addresses are multiples of.
// None where it is another image, or PTX that only the driver reads.
std::vector<sim::Param> params_of(const Image& image) {
  std::vector<sim::Param> out;
  const ptx::ParseResult parsed = ptx::parse(image.bytes);
  for (const ptx::Function& function : parsed.module.functions) {
    if (!parsed.ok() || parsed.module.text(function.name) != image.kernel) continue;
    for (const ptx::Variable& param : function.params)
      out.push_back({.name = std::string(parsed.module.text(param.name)),
                     .pointee_align = std::max(1U, param.pointee.align)});
    if (function.has_body) break;
    out.clear();
  }
  return out;
}

// The compiler's log as notes, a line each.
Diag with_log(Diag problem, std::string_view log) {
  std::vector<std::string_view> lines = split_words(log.substr(0, log.find('\0')), '\n');
  lines.resize(std::min(lines.size(), kMaxLogLines));
  for (const std::string_view line : lines) problem.notes.push_back({std::string(line), {}});
  return problem;
}

}  // namespace

int newest_ptx(const CudaCalls& calls) {
  int version = 0;
  calls.driver_version(&version);
  for (const PtxOfDriver& row : kPtxOfDriver)
    if (version >= row.driver) return std::min(row.ptx, target::ptx_versions().back());
  return kPtxOfDriver[std::size(kPtxOfDriver) - 1].ptx;
}

Result<void> load_kernel(CudaKernel& kernel, const Image& image) {
  const CudaCalls& calls = kernel.calls;
  kernel.name = image.kernel;
  std::string log(16 * 1024, '\0');
  std::array<int, 2> options{kJitErrorLog, kJitErrorLogBytes};
  // The driver wants the number of bytes in the place of a pointer.
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  const int status =
      calls.module_load(&kernel.module, image.bytes.c_str(), static_cast<unsigned>(options.size()),
                        options.data(), values.data());
  if (status != kCudaSuccess) {
    kernel.module = nullptr;
    Diag problem = cuda_failure(calls, status, fmt::format("loading `{}`", kernel.name));
    if (problem.kind == DiagKind::OldDriver) problem.notes.push_back({ptx_of_driver(calls), {}});
    return fail(with_log(std::move(problem), log));
  }
  kernel.params = params_of(image);
  return check_cuda(calls,
                    calls.module_function(&kernel.function, kernel.module, kernel.name.c_str()),
                    fmt::format("finding `{}` in its module", kernel.name));
}

void unload_kernel(CudaKernel& kernel) {
  if (kernel.module != nullptr) kernel.calls.module_unload(kernel.module);
  kernel.module = nullptr;
  kernel.function = nullptr;
}

std::optional<Resources> resources_of(const CudaKernel& kernel) {
  std::array<int, 3> values{};
  constexpr std::array kAttributes{kStaticShared, kLocalBytes, kRegisters};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (kernel.calls.function_get(&values[i], kAttributes[i], kernel.function) != kCudaSuccess)
      return std::nullopt;
  const auto size = [](int value) { return static_cast<std::uint32_t>(std::max(value, 0)); };
  return Resources{size(values[0]), size(values[2]), size(values[1])};
}

}  // namespace ww::runtime
