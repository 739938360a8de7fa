// SPDX-License-Identifier: Apache-2.0
// What the matrices of products hold, and whether a product is right.
//
// A matrix is a block of random numbers, again and again: normal with deviation 1, rounded to the
// element type; whole numbers of all sizes for int8. The block's length is a prime, so that
// elements a row or a tile apart are different ones, and the host knows each without having the
// matrix.
//
// An element is right when it is within `tolerance` of the sum in float64: 2u of the element, where
// u is the rounding of its type, and 2^-11 * sqrt(K) for the float32 sums of the tensor cores,
// which are cut off, not rounded; 2^-4 * sqrt(K) where the tensor core adds 8-bit floats by itself, with
// some 13 bits. Whole numbers must be the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem.h"

namespace ww::bench {

/// An element of an array as it lies in memory.
double value_at(num::DType type, std::span<const std::byte> memory, std::size_t element);

class Operand {
 public:
  Operand(num::DType type, std::uint64_t seed);
  [[nodiscard]] double at(std::size_t element) const { return values_[element % values_.size()]; }
  [[nodiscard]] std::span<const double> block() const { return values_; }
  /// As it lies in memory.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<double> values_;
  std::vector<std::byte> bytes_;
};

struct Operands {
  explicit Operands(const Problem& problem)
      : a(problem.dtype, 1), b(problem.dtype, 2), bias(bias_type(problem), 3) {}
  Operand a, b, bias;
};

struct Element {
  std::int64_t batch = 0, row = 0, col = 0;
};

/// The element of D in float64, before it is rounded.
double exact_element(const Problem& problem, const Operands& operands, const Element& at);
double tolerance(const Problem& problem, double exact);

/// Elements that were compared. Fails with DeviceError, naming one that is wrong.
using Checked = Result<std::size_t>;
/// Compares elements all over D with their sums in float64: all of them where that is quickly done,
/// otherwise 4096 at random and the corners.
Checked check_product(const Problem& problem, const Operands& operands,
                      std::span<const std::byte> d);
/// Compares all of D with what `name` made of the same operands.
Checked check_same(const Problem& problem, std::span<const std::byte> d,
                   std::span<const std::byte> other, std::string_view name);

}  // namespace ww::bench
