// SPDX-License-Identifier: Apache-2.0
#include "rivals.h"
#include "base/join.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <tuple>
#include <utility>

#include "cublas_numbers.h"

namespace ww::bench {

// --- cuBLAS --------------------------------------------------------------------------------------

namespace {

constexpr int kDefaultAlgorithm = -1;

constexpr std::string_view kVersions[] = {".13", ".12", ""};
constexpr std::string_view kUsualPlace = "/usr/local/cuda/lib64";

}  // namespace

Result<int> cublas_type(num::DType type) {
  switch (type) {
    case num::DType::Float32:
      return kTypeF32;
    case num::DType::Float16:
      return 2;
    case num::DType::Int8:
      return 3;
    case num::DType::Int32:
      return 10;
    case num::DType::Bfloat16:
      return 14;
    case num::DType::Float8E4M3fn:
      return 28;
    case num::DType::Float8E5M2:
      return 29;
    default:
      return fail(DiagKind::BadArgument, "no type of cuBLAS for `{}`", num::name_of(type));
  }
}

std::vector<std::string> cublas_places(std::string_view library, std::string_view folders) {
  std::vector<std::string> names, out;
  for (const std::string_view version : kVersions)
    names.push_back(fmt::format("lib{}.so{}", library, version));
  out = names;
  const std::string all = fmt::format("{}:{}", folders, kUsualPlace);
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    for (const std::string& name : names)
      if (end > 0) out.push_back(fmt::format("{}/{}", rest.substr(0, end), name));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

Result<void*> open_library(std::string_view name, const std::vector<std::string>& places) {
  for (const std::string& place : places)
    if (void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr)
      return library;
  return fail(DiagKind::Io, "{} is not here: none of {} can be loaded", name, join(places, ", "));
}

Result<CublasCalls> load_cublas(const std::vector<std::string>& places) {
  void* const library = WW_TRY(open_library("cuBLAS", places));
  CublasCalls calls;
  if (find_symbol(library, "cublasCreate_v2", calls.create) &&
      find_symbol(library, "cublasDestroy_v2", calls.destroy) &&
      find_symbol(library, "cublasSetStream_v2", calls.set_stream) &&
      find_symbol(library, "cublasSetWorkspace_v2", calls.set_workspace) &&
      find_symbol(library, "cublasGemmEx", calls.gemm) &&
      find_symbol(library, "cublasGemmStridedBatchedEx", calls.gemm_batched))
    return calls;
  return fail(DiagKind::Io, "the cuBLAS here is too old: it lacks functions");
}

Result<Cublas> Cublas::open(const CublasCalls& calls, runtime::Address workspace) {
  void* handle = nullptr;
  if (const int status = calls.create(&handle); status != 0)
    return fail(DiagKind::DeviceError, "cuBLAS does not start: status {}", status);
  return Cublas(calls, handle, workspace);
}

Cublas::Cublas(Cublas&& other) noexcept
    : calls_(other.calls_),
      handle_(std::exchange(other.handle_, nullptr)),
      workspace_(other.workspace_) {}

Cublas::~Cublas() {
  if (handle_ != nullptr) calls_.destroy(handle_);
}

// A new stream brings cuBLAS's own workspace back.
Result<void> Cublas::use(void* stream) const {
  int status = calls_.set_stream(handle_, stream);
  if (status == 0)
    status = calls_.set_workspace(handle_, gpu_pointer(workspace_), kCublasWorkspace);
  if (status == 0) return {};
  return fail(DiagKind::DeviceError, "cuBLAS does not take a stream: status {}", status);
}

// cuBLAS counts in columns: a row-major matrix is its transpose there, and D' = B' @ A'.
Result<void> Cublas::submit(const Problem& problem, const Matrices& at, void* stream) const {
  const int type = WW_TRY(cublas_type(problem.dtype));
  const int out = WW_TRY(cublas_type(problem.out));
  const auto [m, n, k] = std::tuple(static_cast<int>(problem.m), static_cast<int>(problem.n),
                                    static_cast<int>(problem.k));
  const int op_b = problem.trans_b ? kTransposed : kBlasPlain;
  const int op_a = problem.trans_a ? kTransposed : kBlasPlain;
  const int ldb = problem.trans_b ? k : n;
  const int lda = problem.trans_a ? m : k;
  const bool is_whole = problem.out == num::DType::Int32;
  const float one = 1, zero = 0;
  const int whole_one = 1, whole_zero = 0;
  const void* const alpha = is_whole ? static_cast<const void*>(&whole_one) : &one;
  const void* const beta = is_whole ? static_cast<const void*>(&whole_zero) : &zero;
  const int compute = is_whole ? kComputeI32 : kComputeF32;
  void* const d = gpu_pointer(at.d);
  WW_TRY_VOID(use(stream));
  const int status =
      problem.batch == 1
          ? calls_.gemm(handle_, op_b, op_a, n, m, k, alpha, gpu_pointer(at.b), type, ldb,
                        gpu_pointer(at.a), type, lda, beta, d, out, n, compute, kDefaultAlgorithm)
          : calls_.gemm_batched(handle_, op_b, op_a, n, m, k, alpha, gpu_pointer(at.b), type, ldb,
                                problem.k * problem.n, gpu_pointer(at.a), type, lda,
                                problem.m * problem.k, beta, d, out, n, problem.m * problem.n,
                                static_cast<int>(problem.batch), compute, kDefaultAlgorithm);
  if (status == 0) return {};
  return fail(DiagKind::DeviceError, "cuBLAS has no such product: status {}", status);
}

// --- Triton --------------------------------------------------------------------------------------

Result<std::string> answer_of(Child& child, std::string_view question) {
  constexpr double kPatience = 600;  // it compiles a dozen kernels
  const std::string line = WW_TRY(child.ask(question, kPatience));
  if (line == "ok") return std::string();
  if (line.starts_with("ok ")) return line.substr(3);
  if (line.starts_with("no ")) return fail(DiagKind::Io, "{}", line.substr(3));
  return fail(DiagKind::Io, "`{}` is no answer to `{}`", line, question);
}

Result<double> seconds_of(std::string_view text) {
  double milliseconds = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error != std::errc() || rest != text.data() + text.size())
    return fail(DiagKind::Io, "`{}` is no number of milliseconds", text);
  return milliseconds / 1000;
}

std::string triton_question(const Problem& problem) {
  return fmt::format("prepare {} {} {} {} {} {} {:d} {:d}", problem.m, problem.n, problem.k,
                     problem.batch, num::name_of(problem.dtype), num::name_of(problem.out),
                     problem.trans_a, problem.trans_b);
}

Result<Triton> Triton::start(const std::string& python, const std::string& script) {
  Child child = WW_TRY(Child::start({python, script}));
  std::string versions = WW_TRY(answer_of(child, "hello"));
  return Triton(std::move(child), std::move(versions));
}

Result<std::string> Triton::prepare(const Problem& problem) {
  if (problem.epilogue != Epilogue::None)
    return fail(DiagKind::Io, "the kernel in Triton has no epilogue");
  if (problem.has_exact_sums)
    return fail(DiagKind::Io, "the kernel in Triton does not promote partial sums");
  return answer_of(child_, triton_question(problem));
}

Result<double> Triton::time(int launches) {
  return seconds_of(WW_TRY(answer_of(child_, fmt::format("run {}", launches))));
}

}  // namespace ww::bench
