// SPDX-License-Identifier: Apache-2.0
// Arrays of element types: what a kernel gets as arguments, what it leaves behind, and what files
// hold. The elements stand in C order (the last dimension fastest), packed and little-endian:
//
//   8 to 64 bits   whole bytes; a bool is a byte, 0 or 1, and any other byte counts as true
//   6 bits         one byte each, the code in its low six bits, the way PTX loads them
//   4 bits         two to a byte, the element of even index in the low nibble
//
// An element has three faces: its bits, its value (a double, or an int64 where that is exact), and
// its text. All arithmetic on elements goes through the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/wide.h"
#include "num/dtype.h"

namespace ww::driver {

using ArrayShape = std::vector<std::int64_t>;

/// No array is larger than this, nor has more dimensions.
inline constexpr std::int64_t kMaxArrayBytes = std::int64_t{1} << 38;
inline constexpr std::size_t kMaxArrayRank = 64;

/// The product of the extents; 1 for no dimensions. BadExtent for a negative extent; TooLarge for
/// too many dimensions, or when the extents other than 0 multiply to more than kMaxArrayBytes.
Result<std::int64_t> element_count(std::span<const std::int64_t> shape);
/// Bytes an Array of that type and shape holds; TooLarge beyond kMaxArrayBytes.
Result<std::int64_t> byte_size(num::DType type, std::span<const std::int64_t> shape);

/// "[8,16]", and "float16[8,16]".
std::string shape_text(std::span<const std::int64_t> shape);
std::string shaped_type_text(num::DType type, std::span<const std::int64_t> shape);

/// The integers that an integer type or bool holds.
struct IntRange {
  Wide min;
  Wide max;
};
IntRange int_range(num::DType type);

/// The value of an element's bits. Integers of 64 bits beyond 2^53 are rounded.
double value_of(num::DType type, std::uint64_t bits);
/// The same as an integer. Floats lose their fraction and saturate, NaN is 0; a uint64 from 2^63 on
/// comes back as the negative number with the same bits.
std::int64_t int_value_of(num::DType type, std::uint64_t bits);

/// The bits of the nearest element, ties to even. Floats by num::encode: what is too large becomes
/// infinity, or NaN where there is none. Integers saturate, and NaN becomes 0. Bool: value != 0.
std::uint64_t bits_from(num::DType type, double value);
/// The same for an integer, which integer types wrap modulo 2^bits, as conversions in PTX do.
std::uint64_t bits_from_int(num::DType type, std::int64_t value);

/// The shortest decimal number that rounds to this very element: float16 0x2e66 is "0.1". Integers
/// below 1e9 have all their digits: "65504". Also "nan", "inf", "-inf"; bools are "true" and
/// "false".
std::string element_text(num::DType type, std::uint64_t bits);

struct Array {
  num::DType dtype{};
  std::vector<std::int64_t> shape = {};
  std::vector<std::byte> data = {};

  /// All bits zero. Fails like byte_size, and with TooLarge when there is not so much memory.
  static Result<Array> zeros(num::DType type, std::vector<std::int64_t> shape);

  /// Number of elements.
  [[nodiscard]] std::int64_t size() const;

  // Elements by their place in C order. An index beyond the data is a bug of the caller.
  [[nodiscard]] std::uint64_t bits(std::int64_t index) const;
  void set_bits(std::int64_t index, std::uint64_t bits);
  [[nodiscard]] double get(std::int64_t index) const { return value_of(dtype, bits(index)); }
  [[nodiscard]] std::int64_t get_int(std::int64_t index) const {
    return int_value_of(dtype, bits(index));
  }
  void set(std::int64_t index, double value) { set_bits(index, bits_from(dtype, value)); }
  void set_int(std::int64_t index, std::int64_t value) {
    set_bits(index, bits_from_int(dtype, value));
  }
  [[nodiscard]] std::string text(std::int64_t index) const {
    return element_text(dtype, bits(index));
  }

  /// Sets every element, in C order, to the bits that bits_at(index) returns.
  template <typename BitsAt>
  void set_all(const BitsAt& bits_at) {
    const std::int64_t count = size();
    if (num::storage_bits(dtype) == 4) {
      for (std::int64_t i = 0; i < count; ++i) set_bits(i, bits_at(i));
      return;
    }
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - num::bits_of(dtype));
    with_bytes([&]<std::size_t kBytes>() {
      std::byte* to = data.data();
      for (std::int64_t i = 0; i < count; ++i, to += kBytes) {
        const std::uint64_t bits = bits_at(i) & mask;
        std::memcpy(to, &bits, kBytes);
      }
    });
  }
  /// Calls visit(index, bits) for every element, in C order.
  template <typename Visit>
  void each(const Visit& visit) const {
    const std::int64_t count = size();
    if (num::storage_bits(dtype) == 4) {
      for (std::int64_t i = 0; i < count; ++i) visit(i, bits(i));
      return;
    }
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - num::bits_of(dtype));
    with_bytes([&]<std::size_t kBytes>() {
      const std::byte* from = data.data();
      for (std::int64_t i = 0; i < count; ++i, from += kBytes) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, from, kBytes);
        visit(i, bits & mask);
      }
    });
  }

  /// The same type, shape and bits.
  friend bool operator==(const Array&, const Array&) = default;

 private:
  // go.template operator()<bytes of an element>(), so that a copy of one is an instruction.
  template <typename Go>
  void with_bytes(const Go& go) const {
    switch (num::storage_bits(dtype)) {
      case 16:
        return go.template operator()<2>();
      case 32:
        return go.template operator()<4>();
      case 64:
        return go.template operator()<8>();
      default:
        return go.template operator()<1>();
    }
  }
};

}  // namespace ww::driver
