// SPDX-License-Identifier: Apache-2.0
// `cast` with a rounding mode, and with saturation. Everything goes through a double, which holds
// every number but those of 64-bit integers; these are rounded to odd, or by their own bits.
#include <bit>
#include <cmath>
#include <limits>

#include "eval/tile/casts.h"
#include "num/float_format.h"

namespace ww::eval {
namespace {

using num::DType;
using num::Rounding;

__extension__ using Wide = __int128;

Wide whole_of(DType type, Word bits) {
  return type == DType::Uint64 ? Wide{bits} : Wide{as_int(type, bits)};
}

Word clamped(DType from, DType to, Word bits) {
  const int width = num::bits_of(to);
  const bool is_signed = num::kind_of(to) == num::DTypeKind::Int;
  const Wide low = is_signed ? -(Wide{1} << (width - 1)) : Wide{0};
  const Wide high = (Wide{1} << (is_signed ? width - 1 : width)) - 1;
  const Wide value = whole_of(from, bits);
  return static_cast<Word>(value < low ? low : value > high ? high : value) & low_mask(width);
}

double whole_number(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::NearestEven: {
      const double cut = std::floor(x), rest = x - cut;  // whatever the host rounds to
      const bool is_up = rest > 0.5 || (rest == 0.5 && std::fmod(cut, 2) != 0);
      return is_up ? cut + 1 : cut;
    }
    case Rounding::NearestAway:
      return std::round(x);
    case Rounding::Down:
      return std::floor(x);
    case Rounding::Up:
      return std::ceil(x);
    default:
      return std::trunc(x);
  }
}

// The double next to an integer of 64 bits.
double next_double(DType from, Word bits, Rounding rounding) {
  const Wide value = whole_of(from, bits);
  const bool is_negative = value < 0;
  const auto size = static_cast<Word>(is_negative ? -value : value);
  const int extra = static_cast<int>(std::bit_width(size)) - std::numeric_limits<double>::digits;
  if (extra <= 0) return static_cast<double>(value);
  const Word cut = size >> extra, rest = size & low_mask(extra), half = Word{1} << (extra - 1);
  const bool is_up = rest != 0 && (rounding == Rounding::NearestEven
                                       ? rest > half || (rest == half && cut % 2 != 0)
                                   : rounding == Rounding::NearestAway ? rest >= half
                                   : rounding == Rounding::Up          ? !is_negative
                                   : rounding == Rounding::Down        ? is_negative
                                                                       : false);
  const double out = std::ldexp(static_cast<double>(cut + (is_up ? 1 : 0)), extra);
  return is_negative ? -out : out;
}

}  // namespace

Word cast_as(DType from, DType to, Word bits, const ir::CastSettings& settings) {
  if ((!settings.round && !settings.saturate) || from == DType::Bool || to == DType::Bool)
    return convert(from, to, bits);
  if (!is_float(to)) {
    if (is_float(from))
      return from_real(
          to, whole_number(as_real(from, bits), settings.round.value_or(Rounding::TowardZero)));
    return settings.saturate == true ? clamped(from, to, bits) : convert(from, to, bits);
  }
  const Rounding rounding = settings.round.value_or(Rounding::NearestEven);
  const bool is_wide = !is_float(from) && num::bits_of(from) == 64 && to == DType::Float64;
  const double value = is_wide ? next_double(from, bits, rounding) : as_real(from, bits);
  if (from == to && !std::isinf(value)) return bits;
  const bool saturates = settings.saturate.value_or(from != to && num::bits_of(to) <= 8);
  return num::encode(to, value, rounding,
                     saturates ? num::Overflow::Saturate : num::Overflow::Ieee);
}

}  // namespace ww::eval
