// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/convert_lanes.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "num/dtype.h"
#include "num/float_format.h"

namespace ww::sim {
namespace {

using isa::Type;
using num::DType;
using std::int64_t;
using std::uint64_t;

DType dtype_of(Type type) {
  switch (type) {
    case Type::F16:
      return DType::Float16;
    case Type::Bf16:
      return DType::Bfloat16;
    case Type::F32:
      return DType::Float32;
    case Type::F64:
      return DType::Float64;
    default:
      break;
  }
  WW_CHECK(false, "`{}` is not a scalar float type", isa::info(type).name);
  return DType::Float32;
}

bool is_signed(Type type) { return isa::info(type).cls == isa::TypeClass::Signed; }
unsigned bits_of(Type type) { return static_cast<unsigned>(isa::info(type).bits); }
uint64_t ones(unsigned bits) { return bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits); }

// The greatest value, and the size of the least, of an integer type.
uint64_t greatest(Type type) { return ones(bits_of(type) - (is_signed(type) ? 1 : 0)); }
uint64_t size_of_least(Type type) {
  return is_signed(type) ? uint64_t{1} << (bits_of(type) - 1) : 0;
}

// --- integers -----------------------------------------------------------------------------------

// A number by sign and size, which holds every s64 and u64.
struct Whole {
  bool negative;
  uint64_t size;
};

Whole whole_of(Type type, uint64_t bits) {
  const uint64_t value = extended(type, bits);
  const bool negative = is_signed(type) && static_cast<int64_t>(value) < 0;
  return {negative, negative ? 0 - value : value};
}

uint64_t clamped(Type type, Whole value) {
  if (value.negative) return 0 - std::min(value.size, size_of_least(type));
  return std::min(value.size, greatest(type));
}

uint64_t int_to_int(const Conversion& how, uint64_t bits) {
  if ((how.clamp & kSat) == 0) return extended(how.to, extended(how.from, bits));
  return extended(how.to, clamped(how.to, whole_of(how.from, bits)));
}

// --- integers to floats -------------------------------------------------------------------------

// A size to a double that rounds to anything narrower as the size does: where bits must go, the
// last one that stays is set (rounding to odd).
double odd_double(uint64_t size) {
  if (size >> 53U == 0) return static_cast<double>(size);
  return static_cast<double>((size & ~uint64_t{0x7FF}) | (size & 0x7FFU ? 0x800U : 0U));
}

Rounding mirrored(Rounding rounding) {
  if (rounding == Rounding::Down) return Rounding::Up;
  return rounding == Rounding::Up ? Rounding::Down : rounding;
}

// A size to the nearest double, or the one below it, or the one above.
double rounded_double(uint64_t size, Rounding rounding) {
  const auto near = static_cast<double>(size);
  const bool above = near >= 0x1p64 || static_cast<uint64_t>(near) > size;
  const bool below = near < 0x1p64 && static_cast<uint64_t>(near) < size;
  switch (rounding) {
    case Rounding::TowardZero:
    case Rounding::Down:
      return rounded<Rounding::Down>(near, above, below);
    case Rounding::Up:
      return rounded<Rounding::Up>(near, above, below);
    default:
      return near;
  }
}

double whole_to_double(const Conversion& how, Whole value) {
  const Rounding of_size = value.negative ? mirrored(how.rounding) : how.rounding;
  const double size =
      how.to == Type::F64 ? rounded_double(value.size, of_size) : odd_double(value.size);
  return value.negative ? -size : size;
}

// --- floats -------------------------------------------------------------------------------------

double clamped(const Conversion& how, double value) {
  if ((how.clamp & kSat) != 0) return value > 0 ? std::min(value, 1.0) : 0.0;
  if ((how.clamp & kRelu) != 0 && std::signbit(value)) return 0.0;
  return value;
}

uint64_t encoded(const Conversion& how, double value) {
  const auto overflow = (how.clamp & kFinite) != 0 ? num::Overflow::Saturate : num::Overflow::Ieee;
  const uint64_t code = num::encode(dtype_of(how.to), clamped(how, value), how.rounding, overflow);
  if (!how.ftz || how.to != Type::F32) return code;
  return F32::flushed(static_cast<std::uint32_t>(code));
}

uint64_t widened_nan(const Conversion& how, uint64_t bits) {
  switch (how.from) {
    case Type::F16:
      return nan_to_f64<F16>(static_cast<std::uint16_t>(bits));
    case Type::Bf16:
      return nan_to_f64<Bf16>(static_cast<std::uint16_t>(bits));
    case Type::F32:
      return nan_to_f64<F32>(how.ftz ? F32::kNan : static_cast<std::uint32_t>(bits));
    default:
      return F64::quiet(bits);
  }
}
uint64_t narrowed_nan(Type to, uint64_t bits) {
  if (to == Type::F16) return nan_from_f64<F16>(bits);
  return to == Type::Bf16 ? nan_from_f64<Bf16>(bits) : nan_from_f64<F32>(bits);
}

// NaNs come out canonical, except that f64 keeps what it is given and gives what it has, and that
// bf16 is the upper half of f32.
uint64_t converted_nan(const Conversion& how, uint64_t bits) {
  if ((how.clamp & kSat) != 0) return 0;
  if (how.to == Type::F64) return widened_nan(how, bits);
  if (how.from == Type::F64) return narrowed_nan(how.to, bits);
  const bool is_upper_half = how.from == Type::Bf16 && how.to == Type::F32 && !how.ftz;
  if (is_upper_half) return bf16_to_f32_lane(static_cast<std::uint16_t>(bits));
  return encoded({.to = how.to}, std::nan(""));
}

bool is_move(const Conversion& how) {
  const bool is_changed = how.integral || how.ftz || how.clamp != kNoClamp;
  return how.from == how.to && (how.to == Type::F32 || how.to == Type::F64) && !is_changed;
}

// visit.template operator()<rounding>(), for the roundings of conversions.
template <typename Visit>
auto with_rounding(Rounding rounding, Visit&& visit) {
  switch (rounding) {
    case Rounding::TowardZero:
      return visit.template operator()<Rounding::TowardZero>();
    case Rounding::Down:
      return visit.template operator()<Rounding::Down>();
    case Rounding::Up:
      return visit.template operator()<Rounding::Up>();
    default:
      return visit.template operator()<Rounding::NearestEven>();
  }
}

double to_whole(double value, Rounding rounding) {
  return with_rounding(rounding, [&]<Rounding kMode>() { return whole_number<kMode>(value); });
}

uint64_t float_to_int(const Conversion& how, double value) {
  const Type to = how.to;
  if (std::isnan(value)) {
    const bool is_wide = how.from == Type::F64 || bits_of(to) == 64;
    return is_wide ? extended(to, uint64_t{1} << (bits_of(to) - 1)) : 0;
  }
  const double whole = to_whole(value, how.rounding);
  return extended(to, clamped(to, {whole < 0, to_integer<uint64_t>(std::abs(whole))}));
}

// Whether `.ftz` makes a zero of what the number is rounded to.
bool is_tiny(double value, Rounding rounding) {
  return with_rounding(rounding, [&]<Rounding kMode>() { return rounds_to_tiny<kMode>(value); });
}

uint64_t float_to_float(const Conversion& how, double value, uint64_t bits) {
  if (is_move(how)) return bits;
  if (std::isnan(value)) return converted_nan(how, bits);
  const bool narrows = how.from == Type::F64 && how.to == Type::F32;
  if (how.ftz && narrows && is_tiny(value, how.rounding)) value = std::copysign(0.0, value);
  return encoded(how, how.integral ? to_whole(value, how.rounding) : value);
}

}  // namespace

std::uint64_t extended(Type type, std::uint64_t bits) {
  const unsigned unused = 64 - bits_of(type);
  const uint64_t high = bits << unused;
  if (!is_signed(type)) return high >> unused;
  return static_cast<uint64_t>(static_cast<int64_t>(high) >> unused);
}

std::uint64_t convert(const Conversion& how, std::uint64_t bits) {
  if (isa::is_whole(how.from)) {
    if (isa::is_whole(how.to)) return int_to_int(how, bits);
    return encoded(how, whole_to_double(how, whole_of(how.from, bits)));
  }
  uint64_t code = extended(how.from, bits);
  const bool is_flushed = how.ftz && how.from == Type::F32 && how.to != Type::F16;
  if (is_flushed) code = F32::flushed(static_cast<std::uint32_t>(code));
  const double value = num::decode(dtype_of(how.from), code);
  return isa::is_whole(how.to) ? float_to_int(how, value) : float_to_float(how, value, code);
}

}  // namespace ww::sim
