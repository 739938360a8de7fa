// SPDX-License-Identifier: Apache-2.0
// Other people's matrix products, where they are on the machine: cuBLAS, loaded while the program
// runs, and a kernel in Triton (triton_gemm.py) in a process of its own, which has operands of its
// own and waits for its turn.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "child.h"
#include "problem.h"
#include "runtime/cuda_device.h"

namespace ww::bench {

// --- cuBLAS --------------------------------------------------------------------------------------

/// The functions of cuBLAS that are called here. All return a cublasStatus_t, an int.
struct CublasCalls {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*set_stream)(void* handle, void* stream) = nullptr;
  int (*set_workspace)(void* handle, void* workspace, std::size_t bytes) = nullptr;
  int (*gemm)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
              const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
              const void* beta, void* c, int c_type, int ldc, int compute, int algorithm) = nullptr;
  int (*gemm_batched)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                      const void* a, int a_type, int lda, long long a_stride, const void* b,
                      int b_type, int ldb, long long b_stride, const void* beta, void* c,
                      int c_type, int ldc, long long c_stride, int count, int compute,
                      int algorithm) = nullptr;
};

/// Names and paths of a library ("cublas", "cublasLt") to try, in this order; `folders` as in
/// LD_LIBRARY_PATH.
std::vector<std::string> cublas_places(std::string_view library, std::string_view folders);
/// Io when there is none, with the names that were tried.
Result<CublasCalls> load_cublas(const std::vector<std::string>& places);

/// Where a product's matrices are.
struct Matrices {
  runtime::Address a = 0, b = 0, d = 0;
};

/// A handle of cuBLAS in the context that is current.
class Cublas {
 public:
  /// `workspace`: kCublasWorkspace bytes. Without it, cuBLAS allocates where a graph is recorded.
  static Result<Cublas> open(const CublasCalls& calls, runtime::Address workspace);
  Cublas(Cublas&& other) noexcept;
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  Cublas& operator=(Cublas&&) = delete;
  ~Cublas();

  /// Asks for A @ B, sums in float32 or int32, without an epilogue. DeviceError when cuBLAS has no
  /// such product.
  Result<void> submit(const Problem& problem, const Matrices& at, void* stream = nullptr) const;

 private:
  Cublas(const CublasCalls& calls, void* handle, runtime::Address workspace)
      : calls_(calls), handle_(handle), workspace_(workspace) {}
  Result<void> use(void* stream) const;

  CublasCalls calls_;
  void* handle_ = nullptr;
  runtime::Address workspace_ = 0;
};

// --- Triton --------------------------------------------------------------------------------------

/// What a child says that answers `ok TEXT` or `no REASON`; the reason is an Io.
Result<std::string> answer_of(Child& child, std::string_view question);
/// Of a time as the children write it, in milliseconds.
Result<double> seconds_of(std::string_view milliseconds);

/// What the child is asked to get ready for: `prepare M N K BATCH DTYPE OUT TRANS_A TRANS_B`.
std::string triton_question(const Problem& problem);

class Triton {
 public:
  /// Starts the script with a Python interpreter. Io when that has no torch or no triton, with the
  /// child's reason.
  static Result<Triton> start(const std::string& python, const std::string& script);
  [[nodiscard]] const std::string& versions() const { return versions_; }

  /// Compiles the kernel and chooses its parameters, which it answers. Io when it cannot.
  Result<std::string> prepare(const Problem& problem);
  /// Seconds of so many launches in a row.
  Result<double> time(int launches);

 private:
  Triton(Child child, std::string versions)
      : child_(std::move(child)), versions_(std::move(versions)) {}
  Child child_;
  std::string versions_;
};

}  // namespace ww::bench
