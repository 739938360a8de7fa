// SPDX-License-Identifier: Apache-2.0
// A matrix product, as a task that several programs can be given: D = A @ B, all row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "num/dtype.h"

namespace ww::bench {

enum class Epilogue : std::uint8_t { None, BiasRelu, BiasGelu };

struct Problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  num::DType dtype = num::DType::Float16;  // of A and B
  num::DType out = num::DType::Float16;    // of D
  bool trans_a = false;                    // A is stored as K x M
  bool trans_b = false;                    // B is stored as N x K
  bool has_exact_sums = false;             // of 8-bit floats: not those of the tensor core alone
  Epilogue epilogue = Epilogue::None;      // BiasRelu: max(A @ B + bias, 0); BiasGelu: gelu of it

  [[nodiscard]] double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(batch);
  }
  [[nodiscard]] std::size_t a_elements() const { return count(batch * m * k); }
  [[nodiscard]] std::size_t b_elements() const { return count(batch * k * n); }
  [[nodiscard]] std::size_t d_elements() const { return count(batch * m * n); }

 private:
  static std::size_t count(std::int64_t elements) { return static_cast<std::size_t>(elements); }
};

/// The bias has a number for each column of D: a float32, or one of D's type for cuBLAS's gelu.
inline num::DType bias_type(const Problem& problem) {
  return problem.epilogue == Epilogue::BiasGelu ? problem.out : num::DType::Float32;
}

inline bool is_8_bit_float(num::DType type) {
  return type == num::DType::Float8E4M3fn || type == num::DType::Float8E5M2;
}

inline std::size_t bytes_of(num::DType type, std::size_t elements) {
  return elements * static_cast<std::size_t>(num::bits_of(type)) / 8;
}

/// "4096x4096x4096", "8x1024x1024x1024" for a batch of 8; "A'" and "B'" behind it where they are
/// stored transposed.
std::string size_text(const Problem& problem);

}  // namespace ww::bench
