// SPDX-License-Identifier: Apache-2.0
// Element types as data: one row of num/dtypes.def each. A `DType` is a small value; everything
// known about it is looked up in the table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ww::num {

enum class DType : std::uint8_t {
#define WW_DTYPE(id, name, bits, kind, aliases) id,
#include "num/dtypes.def"
#undef WW_DTYPE
};

enum class DTypeKind : std::uint8_t { Float, Int, Uint, Bool };

/// The full name, e.g. "float8_e4m3fn".
std::string_view name_of(DType type);

namespace detail {
inline constexpr std::uint8_t kDTypeBits[] = {
#define WW_DTYPE(id, name, bits, kind, aliases) bits,
#include "num/dtypes.def"
#undef WW_DTYPE
};
inline constexpr DTypeKind kDTypeKinds[] = {
#define WW_DTYPE(id, name, bits, kind, aliases) DTypeKind::kind,
#include "num/dtypes.def"
#undef WW_DTYPE
};
}  // namespace detail

/// Bits of an element's code.
constexpr int bits_of(DType type) { return detail::kDTypeBits[static_cast<std::uint8_t>(type)]; }
constexpr DTypeKind kind_of(DType type) {
  return detail::kDTypeKinds[static_cast<std::uint8_t>(type)];
}
constexpr bool is_float(DType type) { return kind_of(type) == DTypeKind::Float; }
/// Bits of an element in memory and in registers: 6-bit floats have a byte each, whose upper bits
/// are not used; two of 4 bits share one, the lower half first.
constexpr int storage_bits(DType type) { return bits_of(type) == 6 ? 8 : bits_of(type); }
/// Other accepted names, shortest use first; may be empty.
std::span<const std::string_view> aliases_of(DType type);

/// All types in the order of the table.
std::span<const DType> all_dtypes();

/// The type of that name or alias, in any case. Otherwise UnknownName with the nearest name; the
/// Diag's span covers `text`.
Result<DType> parse_dtype(std::string_view text);

}  // namespace ww::num
