// SPDX-License-Identifier: Apache-2.0
#include "driver/args/array.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/join.h"
#include "num/float_format.h"

namespace ww::driver {
namespace {

using num::DType;
using num::DTypeKind;

static_assert(std::endian::native == std::endian::little,
              "elements are copied as they stand in memory");

std::uint64_t low_mask(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

Diag too_large(std::string what) {
  return diag(DiagKind::TooLarge, "{} is beyond the largest array, 2^38 bytes", what);
}

std::int64_t sign_extended(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

// Toward zero; NaN is 0.
std::int64_t saturated(double value) {
  constexpr double kEdge = 0x1p63;
  if (std::isnan(value)) return 0;
  if (value >= kEdge) return std::numeric_limits<std::int64_t>::max();
  if (value <= -kEdge) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::uint64_t int_bits(DType type, double value) {
  const IntRange range = int_range(type);
  const std::uint64_t mask = low_mask(num::bits_of(type));
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(range.min)) return static_cast<std::uint64_t>(range.min) & mask;
  if (value >= static_cast<double>(range.max)) return static_cast<std::uint64_t>(range.max) & mask;
  return static_cast<std::uint64_t>(static_cast<Wide>(std::nearbyint(value))) & mask;
}

std::string float_text(DType type, double value, std::uint64_t bits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::trunc(value) == value && std::fabs(value) < 1e9) return fmt::format("{:.0f}", value);
  for (int digits = 1; digits < 17; ++digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (num::encode(type, read) == bits) return text;
  }
  return fmt::format("{}", value);
}

}  // namespace

Result<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  if (shape.size() > kMaxArrayRank)
    return fail(DiagKind::TooLarge, "the shape has {} dimensions; there may be at most {}",
                shape.size(), kMaxArrayRank);
  std::int64_t product = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      return fail(DiagKind::BadExtent, "the shape {} has the negative extent {}", shape_text(shape),
                  extent);
    is_empty |= extent == 0;
    const auto next = checked_mul(product, extent == 0 ? 1 : extent);
    if (!next || *next > kMaxArrayBytes)
      return fail(too_large(fmt::format("the shape {}", shape_text(shape))));
    product = *next;
  }
  return is_empty ? 0 : product;
}

Result<std::int64_t> byte_size(DType type, std::span<const std::int64_t> shape) {
  const std::int64_t count = WW_TRY(element_count(shape));
  const std::int64_t bytes = (count * num::storage_bits(type) + 7) / 8;  // 2^38 · 64 fits
  if (bytes > kMaxArrayBytes) return fail(too_large(shaped_type_text(type, shape)));
  return bytes;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", join(shape, ","));
}

std::string shaped_type_text(DType type, std::span<const std::int64_t> shape) {
  return fmt::format("{}{}", num::name_of(type), shape_text(shape));
}

IntRange int_range(DType type) {
  const int bits = num::bits_of(type);
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return {0, 1};
    case DTypeKind::Uint:
      return {0, (Wide{1} << bits) - 1};
    case DTypeKind::Int:
      return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
    case DTypeKind::Float:
      break;
  }
  WW_CHECK(false, "`{}` is not an integer type", num::name_of(type));
  return {};
}

double value_of(DType type, std::uint64_t bits) {
  // The two common types have a short way.
  if (type == DType::Float32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (type == DType::Float64) return std::bit_cast<double>(bits);
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return bits != 0 ? 1 : 0;
    case DTypeKind::Uint:
      return static_cast<double>(bits);
    case DTypeKind::Int:
      return static_cast<double>(sign_extended(bits, num::bits_of(type)));
    case DTypeKind::Float:
      break;
  }
  return num::decode(type, bits);
}

std::int64_t int_value_of(DType type, std::uint64_t bits) {
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return bits != 0 ? 1 : 0;
    case DTypeKind::Uint:
      return static_cast<std::int64_t>(bits);
    case DTypeKind::Int:
      return sign_extended(bits, num::bits_of(type));
    case DTypeKind::Float:
      break;
  }
  return saturated(value_of(type, bits));
}

std::uint64_t bits_from(DType type, double value) {
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return value != 0 ? 1 : 0;
    case DTypeKind::Uint:
    case DTypeKind::Int:
      return int_bits(type, value);
    case DTypeKind::Float:
      break;
  }
  return num::encode(type, value);
}

std::uint64_t bits_from_int(DType type, std::int64_t value) {
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return value != 0 ? 1 : 0;
    case DTypeKind::Uint:
    case DTypeKind::Int:
      return static_cast<std::uint64_t>(value) & low_mask(num::bits_of(type));
    case DTypeKind::Float:
      break;
  }
  return num::encode(type, static_cast<double>(value));
}

std::string element_text(DType type, std::uint64_t bits) {
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return bits != 0 ? "true" : "false";
    case DTypeKind::Uint:
      return fmt::format("{}", bits);
    case DTypeKind::Int:
      return fmt::format("{}", sign_extended(bits, num::bits_of(type)));
    case DTypeKind::Float:
      break;
  }
  const double value = value_of(type, bits);
  return float_text(type, value, num::encode(type, value));
}

Result<Array> Array::zeros(DType type, std::vector<std::int64_t> shape) {
  const std::int64_t bytes = WW_TRY(byte_size(type, shape));
  try {
    return Array{type, std::move(shape), std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  } catch (const std::bad_alloc&) {
    return fail(DiagKind::TooLarge, "not enough memory for an array of {} bytes", bytes);
  }
}

std::int64_t Array::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::uint64_t Array::bits(std::int64_t index) const {
  const int width = num::storage_bits(dtype);
  const auto at = static_cast<std::size_t>(index) * static_cast<std::size_t>(width) / 8;
  const std::size_t bytes = width < 8 ? 1 : static_cast<std::size_t>(width) / 8;
  WW_CHECK(index >= 0 && at + bytes <= data.size(), "element {} of {} bytes", index, data.size());
  std::uint64_t out = 0;
  std::memcpy(&out, data.data() + at, bytes);
  if (width == 4 && index % 2 != 0) out >>= 4U;
  return out & low_mask(num::bits_of(dtype));
}

void Array::set_bits(std::int64_t index, std::uint64_t bits) {
  const int width = num::storage_bits(dtype);
  const auto at = static_cast<std::size_t>(index) * static_cast<std::size_t>(width) / 8;
  const std::size_t bytes = width < 8 ? 1 : static_cast<std::size_t>(width) / 8;
  WW_CHECK(index >= 0 && at + bytes <= data.size(), "element {} of {} bytes", index, data.size());
  bits &= low_mask(num::bits_of(dtype));
  if (width == 4) {
    const auto old = std::to_integer<std::uint64_t>(data[at]);
    bits = index % 2 != 0 ? (old & 0x0FU) | (bits << 4U) : (old & 0xF0U) | bits;
  }
  std::memcpy(data.data() + at, &bits, bytes);
}

}  // namespace ww::driver
