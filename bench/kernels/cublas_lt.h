// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, the part of cuBLAS that has products of 8-bit floats and fused epilogues. It is loaded while
// the program runs; the algorithm is the first that its heuristics propose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem.h"
#include "runtime/device.h"

namespace ww::bench {

/// cublasLtMatmulHeuristicResult_t.
struct CublasLtChoice {
  std::array<std::uint64_t, 8> algorithm{};
  std::size_t workspace = 0;
  int status = 0;
  float waves = 0;
  std::array<int, 4> reserved{};
};
static_assert(sizeof(CublasLtChoice) == 96);

/// The functions of cuBLASLt that are called here. All return a cublasStatus_t, an int.
struct CublasLtCalls {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*task_create)(void** task, int compute, int scale_type) = nullptr;
  int (*task_set)(void* task, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*task_destroy)(void* task) = nullptr;
  int (*matrix_create)(void** matrix, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t pitch) = nullptr;
  int (*matrix_destroy)(void* matrix) = nullptr;
  int (*wish_create)(void** wish) = nullptr;
  int (*wish_set)(void* wish, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*wish_destroy)(void* wish) = nullptr;
  int (*choose)(void* handle, void* task, void* a, void* b, void* c, void* d, void* wish, int asked,
                CublasLtChoice* choices, int* found) = nullptr;
  int (*multiply)(void* handle, void* task, const void* alpha, const void* a, void* a_matrix,
                  const void* b, void* b_matrix, const void* beta, const void* c, void* c_matrix,
                  void* d, void* d_matrix, const void* algorithm, void* workspace,
                  std::size_t workspace_bytes, void* stream) = nullptr;
};

/// Io when there is none, with the names that were tried.
Result<CublasLtCalls> load_cublas_lt(const std::vector<std::string>& places);

/// Whether cuBLASLt computes what cublasGemmEx cannot.
bool needs_cublas_lt(const Problem& problem);

/// A product made ready, in the context that is current.
class CublasLt {
 public:
  struct Places {
    runtime::Address a = 0, b = 0, d = 0, bias = 0;
    runtime::Address ones = 0;       // a float32 that is 1: the scale of 8-bit operands
    runtime::Address workspace = 0;  // kCublasWorkspace bytes
  };

  /// DeviceError when cuBLASLt has no such product.
  static Result<CublasLt> make(const CublasLtCalls& calls, const Problem& problem,
                               const Places& at);
  CublasLt(CublasLt&& other) noexcept;
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  CublasLt& operator=(CublasLt&&) = delete;
  ~CublasLt();

  Result<void> submit(void* stream = nullptr) const;

 private:
  CublasLt(const CublasLtCalls& calls, const Places& at) : calls_(calls), at_(at) {}
  Result<void> prepare(const Problem& problem);
  Result<void> set_task(const Problem& problem);
  Result<void> choose();

  CublasLtCalls calls_;
  Places at_;
  void* handle_ = nullptr;
  void* task_ = nullptr;
  void* wish_ = nullptr;
  std::array<void*, 3> matrices_{};  // B, A, D: cuBLAS counts in columns
  CublasLtChoice choice_ = {};
};

}  // namespace ww::bench
