// SPDX-License-Identifier: Apache-2.0
// What arrays of several gigabytes hold in benchmarks, and how the results of kernels are checked,
// all of them: a block of random bytes, again and again. The block is a prime number of words, so
// that an element which comes from a wrong place, one that is off by any multiple of a tile, a row
// or a power of two, is another one. Only one block crosses the bus; the GPU multiplies it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/cuda_device.h"

namespace ww::bench {

/// Fills the GPU's memory with a block, again and again; the GPU makes the copies.
Result<void> fill_with(runtime::CudaDevice& device, runtime::Address to, std::size_t bytes,
                       std::span<const std::byte> block);

class Contents {
 public:
  Contents();

  /// Makes `bytes` bytes of the GPU's memory hold the contents.
  Result<void> fill(runtime::CudaDevice& device, runtime::Address to, std::size_t bytes) const;
  /// The same with zeros, so that a kernel that writes nothing does not pass for one that does.
  static Result<void> clear(runtime::CudaDevice& device, runtime::Address to, std::size_t bytes);

  /// Does the memory hold the contents? DeviceError names the first byte that is another one.
  Result<void> check_copy(runtime::CudaDevice& device, runtime::Address at,
                          std::size_t bytes) const;
  /// Does the memory hold the transpose of a matrix of 16-bit elements with `rows` rows and `cols`
  /// columns that holds the contents? DeviceError names the first element that is another one.
  Result<void> check_transpose(runtime::CudaDevice& device, runtime::Address at, std::size_t rows,
                               std::size_t cols) const;

 private:
  using Element = std::uint16_t;
  [[nodiscard]] std::span<const std::byte> block() const {
    return std::as_bytes(std::span(elements_));
  }
  Result<void> check_rows(std::span<const Element> seen, std::size_t first, std::size_t rows,
                          std::size_t cols) const;

  std::vector<Element> elements_;
};

}  // namespace ww::bench
