// SPDX-License-Identifier: Apache-2.0
// Kernels of examples/ on the real GPU, each against the driver's own copy of as many bytes, which
// is timed next to it in the same memory.
//
// The rows are copies of 4 GiB with tiles of several sizes, and transposes. Others, for instance to
// find the best parameters: WW_BENCH_KERNELS has a list of FILE::EXPRESSION with `;` between them,
// which takes the place of these rows. A kernel of a file named transpose.py is checked as a
// transpose of 16-bit elements, all others as copies; each has two arrays, B made of A.
//
//   export WW_BENCH_KERNELS='copy_through.py::build(n=1 << 31, rounds=1, threads=1024)'
//   warpwright bench kernels
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "contents.h"
#include "runtime/cuda_device.h"

namespace ww::bench {

/// A row's time is the median of so many launches.
constexpr int kLaunches = 20;

enum class Timed : std::uint8_t { Kernel, DriverCopy };

struct KernelRow {
  std::string name;
  std::string file;        // below examples/
  std::string expression;  // empty: the only kernel of the file
  Timed timed = Timed::Kernel;

  [[nodiscard]] bool is_same_kernel(const KernelRow& other) const {
    return file == other.file && expression == other.expression;
  }
};
std::vector<KernelRow> kernel_rows();

struct Measured {
  double seconds = 0;
  double copy_seconds = 0;  // of the driver
  std::size_t bytes = 0;    // read and written

  [[nodiscard]] double of_copy() const { return copy_seconds / seconds; }
};

/// A matrix, or a vector as one row.
struct Extents {
  std::size_t rows = 1;
  std::size_t cols = 1;
  std::size_t element_bytes = 1;
  [[nodiscard]] std::size_t bytes() const { return rows * cols * element_bytes; }
};

/// The GPU, with the kernel of one row ready and A filled. The repetitions of a row, and rows of
/// the same kernel, find it as it was.
class KernelBench {
 public:
  /// NoDevice when there is no GPU.
  static Result<KernelBench> open();
  [[nodiscard]] std::string gpu() const { return device_->name(); }

  /// Times the row's kernel and the driver's copy. The first time, B is empty before and every byte
  /// of it is checked afterwards: DeviceError where one is wrong.
  Result<Measured> measure(const KernelRow& row);

 private:
  explicit KernelBench(std::unique_ptr<runtime::CudaDevice> device) : device_(std::move(device)) {}
  Result<void> prepare(const KernelRow& row);
  Result<double> time_kernel();
  Result<double> time_copy();
  Result<void> check();

  std::unique_ptr<runtime::CudaDevice> device_;
  Contents contents_;
  std::optional<KernelRow> row_;
  bool is_checked_ = false;
  Extents extents_;
  runtime::Launch launch_;
  runtime::Address a_ = 0;
  runtime::Address b_ = 0;
};

}  // namespace ww::bench
