// SPDX-License-Identifier: Apache-2.0
// What a cast gives, from the definitions of the formats alone: a number is a whole number times a
// power of two; its neighbours among the codes of a type are found by comparing such numbers, and it
// is rounded by comparing it with the middle between them. Nothing is shared with num/ and eval/,
// which the engines rest on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/engines.h"
#include "num/dtype.h"

namespace ww::test {

struct Cast {
  num::DType from{}, to{};
  std::string round = {};  // as the setting has it; empty: not given
  std::optional<bool> saturate = {};

  /// ", round=\"rz\", saturate=True"
  [[nodiscard]] std::string settings() const;
};

/// The bits of the result; nothing where it is NaN, and any will do.
std::optional<std::uint64_t> exact_cast(const Cast& cast, std::uint64_t bits);

/// The same of a type: is it a NaN?
bool is_nan_code(num::DType type, std::uint64_t bits);

/// Source elements, as many: all codes in turn of types up to 16 bits; of wider ones edges, numbers
/// on, between and beside those of `to`, and any bits.
std::vector<std::uint64_t> cast_inputs(const Cast& cast, std::size_t count, std::uint64_t seed);
/// Elements as the units of their array: of 4 bits two to a byte.
std::vector<std::int64_t> array_units(num::DType type, const std::vector<std::uint64_t>& elements);

/// The first element of array `D` that is not the cast of its element of `A`; nothing if all are.
std::optional<std::string> wrong_cast(const Cast& cast, const Ran& ran);

}  // namespace ww::test
