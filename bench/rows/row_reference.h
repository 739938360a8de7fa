// SPDX-License-Identifier: Apache-2.0
// What the arrays of row kernels hold, and whether a result is right.
//
// An array is a block of numbers again and again. The block's length is a prime, so that elements a
// row or a tile apart are different ones, and the host knows each without having the array.
//
// A result is compared line by line: a line can be computed by itself, such as a row of Y, or an
// element of Sum. An element may differ from its value in float64 by u times that value, where u is
// the rounding of its type, and by `slack`, for sums and functions in float32: 2^-17 of the terms
// that make it, and for a sum of k random numbers 2^-16 times the root of k. Attention rounds its
// weights to the element type, so its slack is twice u times the root of the sum of its terms'
// squares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "row_problems.h"

namespace ww::bench::rows {

/// The contents of an array that a kernel reads.
class Block {
 public:
  Block(const Array& array, const RowProblem& problem, std::uint64_t seed);
  [[nodiscard]] double at(std::int64_t element) const {
    return values_[static_cast<std::size_t>(element) % values_.size()];
  }
  /// As they lie in memory.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<double> values_;
  std::vector<std::byte> bytes_;
};

/// A block for each array; empty for an array that the kernel writes.
class Inputs {
 public:
  explicit Inputs(const RowProblem& problem);
  [[nodiscard]] const Block& operator[](std::size_t array) const { return blocks_[array]; }

 private:
  std::vector<Block> blocks_;
};

struct Wanted {
  double value = 0;
  double slack = 0;
};
/// Elements of an array that lie behind each other.
struct Part {
  std::size_t array = 0;  // its place in arrays_of
  std::int64_t first = 0;
  std::vector<Wanted> wanted = {};
};

std::int64_t lines_of(const RowProblem& problem);
/// What a line of the result should be.
std::vector<Part> wanted_line(const RowProblem& problem, const Inputs& inputs, std::int64_t line);
/// The first, the last and some between them: as many as take a fraction of a second.
std::vector<std::int64_t> lines_to_check(const RowProblem& problem);

/// How far an element may be off.
double allowed(num::DType type, const Wanted& wanted);

/// Reads elements of an array from `first` on.
using Read =
    std::function<Result<void>(std::span<std::byte> to, std::size_t array, std::int64_t first)>;
/// Compares the lines to check; elements compared. Fails with DeviceError, naming one that is
/// wrong.
Result<std::size_t> check_result(const RowProblem& problem, const Inputs& inputs, const Read& read);

}  // namespace ww::bench::rows
