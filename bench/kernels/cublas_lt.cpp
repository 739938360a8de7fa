// SPDX-License-Identifier: Apache-2.0
#include "cublas_lt.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "cublas_numbers.h"

namespace ww::bench {
namespace {

// Numbers of cublasLt.h.
constexpr int kTransA = 3;             // CUBLASLT_MATMUL_DESC_TRANSA
constexpr int kTransB = 4;             // CUBLASLT_MATMUL_DESC_TRANSB
constexpr int kEpilogue = 7;           // CUBLASLT_MATMUL_DESC_EPILOGUE
constexpr int kBiasPointer = 8;        // CUBLASLT_MATMUL_DESC_BIAS_POINTER
constexpr int kScaleOfA = 17;          // CUBLASLT_MATMUL_DESC_A_SCALE_POINTER
constexpr int kScaleOfB = 18;          // CUBLASLT_MATMUL_DESC_B_SCALE_POINTER
constexpr int kFastSums = 25;          // CUBLASLT_MATMUL_DESC_FAST_ACCUM
constexpr int kGeluWithBias = 36;      // CUBLASLT_EPILOGUE_GELU_BIAS
constexpr int kMaxWorkspaceBytes = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

Result<void> check(int status, std::string_view what) {
  if (status == 0) return {};
  return fail(DiagKind::DeviceError, "cuBLASLt: {}: status {}", what, status);
}

}  // namespace

Result<CublasLtCalls> load_cublas_lt(const std::vector<std::string>& places) {
  void* const library = WW_TRY(open_library("cuBLASLt", places));
  CublasLtCalls calls;
  if (find_symbol(library, "cublasLtCreate", calls.create) &&
      find_symbol(library, "cublasLtDestroy", calls.destroy) &&
      find_symbol(library, "cublasLtMatmulDescCreate", calls.task_create) &&
      find_symbol(library, "cublasLtMatmulDescSetAttribute", calls.task_set) &&
      find_symbol(library, "cublasLtMatmulDescDestroy", calls.task_destroy) &&
      find_symbol(library, "cublasLtMatrixLayoutCreate", calls.matrix_create) &&
      find_symbol(library, "cublasLtMatrixLayoutDestroy", calls.matrix_destroy) &&
      find_symbol(library, "cublasLtMatmulPreferenceCreate", calls.wish_create) &&
      find_symbol(library, "cublasLtMatmulPreferenceSetAttribute", calls.wish_set) &&
      find_symbol(library, "cublasLtMatmulPreferenceDestroy", calls.wish_destroy) &&
      find_symbol(library, "cublasLtMatmulAlgoGetHeuristic", calls.choose) &&
      find_symbol(library, "cublasLtMatmul", calls.multiply))
    return calls;
  return fail(DiagKind::Io, "the cuBLASLt here is too old: it lacks functions");
}

bool needs_cublas_lt(const Problem& problem) {
  return is_8_bit_float(problem.dtype) || problem.epilogue == Epilogue::BiasGelu;
}

Result<CublasLt> CublasLt::make(const CublasLtCalls& calls, const Problem& problem,
                                const Places& at) {
  CublasLt out(calls, at);
  WW_TRY_VOID(out.prepare(problem));
  return out;
}

CublasLt::CublasLt(CublasLt&& other) noexcept
    : calls_(other.calls_),
      at_(other.at_),
      handle_(std::exchange(other.handle_, nullptr)),
      task_(std::exchange(other.task_, nullptr)),
      wish_(std::exchange(other.wish_, nullptr)),
      matrices_(std::exchange(other.matrices_, {})),
      choice_(other.choice_) {}

CublasLt::~CublasLt() {
  for (void* const matrix : matrices_)
    if (matrix != nullptr) calls_.matrix_destroy(matrix);
  if (wish_ != nullptr) calls_.wish_destroy(wish_);
  if (task_ != nullptr) calls_.task_destroy(task_);
  if (handle_ != nullptr) calls_.destroy(handle_);
}

Result<void> CublasLt::set_task(const Problem& problem) {
  const auto set = [&](int attribute, const auto& value) {
    return check(calls_.task_set(task_, attribute, &value, sizeof value), "describing a product");
  };
  WW_TRY_VOID(set(kTransA, problem.trans_b ? kTransposed : kBlasPlain));
  WW_TRY_VOID(set(kTransB, problem.trans_a ? kTransposed : kBlasPlain));
  if (is_8_bit_float(problem.dtype)) {
    WW_TRY_VOID(set(kScaleOfA, at_.ones));
    WW_TRY_VOID(set(kScaleOfB, at_.ones));
    WW_TRY_VOID(set(kFastSums, static_cast<std::int8_t>(problem.has_exact_sums ? 0 : 1)));
  }
  if (problem.epilogue != Epilogue::BiasGelu) return {};
  WW_TRY_VOID(set(kEpilogue, kGeluWithBias));
  return set(kBiasPointer, at_.bias);
}

// cuBLAS counts in columns: a row-major matrix is its transpose there, and D' = B' @ A'.
Result<void> CublasLt::prepare(const Problem& problem) {
  const int type = WW_TRY(cublas_type(problem.dtype));
  const int out = WW_TRY(cublas_type(problem.out));
  WW_TRY_VOID(check(calls_.create(&handle_), "starting"));
  WW_TRY_VOID(check(calls_.task_create(&task_, kComputeF32, kTypeF32), "describing a product"));
  WW_TRY_VOID(set_task(problem));
  const auto make = [&](void*& matrix, int of, std::int64_t rows, std::int64_t columns) {
    return check(calls_.matrix_create(&matrix, of, static_cast<std::uint64_t>(columns),
                                      static_cast<std::uint64_t>(rows), columns),
                 "describing a matrix");
  };
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  WW_TRY_VOID(make(matrices_[0], type, problem.trans_b ? n : k, problem.trans_b ? k : n));
  WW_TRY_VOID(make(matrices_[1], type, problem.trans_a ? k : m, problem.trans_a ? m : k));
  WW_TRY_VOID(make(matrices_[2], out, m, n));
  return choose();
}

Result<void> CublasLt::choose() {
  WW_TRY_VOID(check(calls_.wish_create(&wish_), "choosing"));
  WW_TRY_VOID(
      check(calls_.wish_set(wish_, kMaxWorkspaceBytes, &kCublasWorkspace, sizeof kCublasWorkspace),
            "choosing"));
  int found = 0;
  const int status = calls_.choose(handle_, task_, matrices_[0], matrices_[1], matrices_[2],
                                   matrices_[2], wish_, 1, &choice_, &found);
  if (status == 0 && found > 0) return {};
  return fail(DiagKind::DeviceError, "cuBLASLt has no such product: status {}", status);
}

Result<void> CublasLt::submit(void* stream) const {
  const float one = 1, zero = 0;
  void* const d = gpu_pointer(at_.d);
  return check(calls_.multiply(handle_, task_, &one, gpu_pointer(at_.b), matrices_[0],
                               gpu_pointer(at_.a), matrices_[1], &zero, d, matrices_[2], d,
                               matrices_[2], choice_.algorithm.data(), gpu_pointer(at_.workspace),
                               kCublasWorkspace, stream),
               "a product");
}

}  // namespace ww::bench
