// SPDX-License-Identifier: Apache-2.0
#include "harness/exact_cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "base/check.h"
#include "harness/edges.h"

namespace ww::test {
namespace {

using num::DType;
using num::DTypeKind;

// --- formats -------------------------------------------------------------------------------------

enum class Beyond : std::uint8_t { Infinity, Nan, Nothing };  // what follows the largest number

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Beyond beyond;
  bool is_power = false;  // powers of two: no sign, no zero
  int unused = 0;         // bits below the mantissa
};

Format format_of(DType type) {
  switch (type) {
    case DType::Float64:
      return {11, 52, 1023, Beyond::Infinity};
    case DType::Float32:
      return {8, 23, 127, Beyond::Infinity};
    case DType::Tfloat32:
      return {8, 10, 127, Beyond::Infinity, false, 13};
    case DType::Float16:
      return {5, 10, 15, Beyond::Infinity};
    case DType::Bfloat16:
      return {8, 7, 127, Beyond::Infinity};
    case DType::Float8E4M3fn:
      return {4, 3, 7, Beyond::Nan};
    case DType::Float8E5M2:
      return {5, 2, 15, Beyond::Infinity};
    case DType::Float8E8M0:
      return {8, 0, 127, Beyond::Nan, true};
    case DType::Float6E2M3fn:
      return {2, 3, 1, Beyond::Nothing};
    case DType::Float6E3M2fn:
      return {3, 2, 3, Beyond::Nothing};
    case DType::Float4E2M1fn:
      return {2, 1, 1, Beyond::Nothing};
    default:
      WW_CHECK(false, "`{}` is no float", num::name_of(type));
  }
  return {};
}

std::uint64_t low_ones(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}
int width_of(const Format& f) { return f.exponent_bits + f.mantissa_bits; }  // without the sign
// Codes of numbers that are not below 0; the next one would be the number after the largest.
std::uint64_t count_of(const Format& f) {
  const std::uint64_t all = low_ones(width_of(f)) + 1;
  if (f.beyond == Beyond::Infinity) return all - (std::uint64_t{1} << f.mantissa_bits);
  return f.beyond == Beyond::Nan ? all - 1 : all;
}

// --- numbers -------------------------------------------------------------------------------------

enum class Class : std::uint8_t { Finite, Infinite, Nan };

// ± size · 2^exponent
struct Exact {
  Class cls = Class::Finite;
  bool is_negative = false;
  std::uint64_t size = 0;
  int exponent = 0;
};

// g++ 12 gives the width the type of the number.
int bits_of(const Exact& x) { return static_cast<int>(std::bit_width(x.size)); }

std::strong_ordering compare_sizes(const Exact& a, const Exact& b) {
  if (a.size == 0 || b.size == 0) return (a.size != 0) <=> (b.size != 0);
  const int a_top = bits_of(a) + a.exponent, b_top = bits_of(b) + b.exponent;
  if (a_top != b_top) return a_top <=> b_top;
  return a.size << std::countl_zero(a.size) <=> b.size << std::countl_zero(b.size);
}

// The number of a code without its sign, also of the one behind the largest.
Exact size_of_code(const Format& f, std::uint64_t code) {
  if (f.is_power) return {.size = 1, .exponent = static_cast<int>(code) - f.bias};
  const auto field = static_cast<int>(code >> f.mantissa_bits);
  const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << f.mantissa_bits;
  return {.size = (code & low_ones(f.mantissa_bits)) | hidden,
          .exponent = std::max(field, 1) - f.bias - f.mantissa_bits};
}
// Half way to the next code.
Exact middle_after(const Format& f, std::uint64_t code) {
  Exact out = size_of_code(f, code);
  if (f.is_power) return {.size = 3, .exponent = out.exponent - 1};
  return {.size = 2 * out.size + 1, .exponent = out.exponent - 1};
}

Exact exact_float(DType type, std::uint64_t bits) {
  const Format f = format_of(type);
  bits >>= f.unused;
  const std::uint64_t code = bits & low_ones(width_of(f));
  const std::uint64_t infinity = f.beyond == Beyond::Infinity ? count_of(f) : low_ones(64);
  Exact out = code < count_of(f) ? size_of_code(f, code)
                                 : Exact{code == infinity ? Class::Infinite : Class::Nan};
  out.is_negative = !f.is_power && (bits >> width_of(f) & 1U) != 0;
  return out;
}

Exact exact_number(DType type, std::uint64_t bits) {
  const int width = num::bits_of(type);
  if (num::kind_of(type) == DTypeKind::Float) return exact_float(type, bits);
  if (type == DType::Bool) return {.size = bits != 0 ? 1U : 0U};
  bits &= low_ones(width);
  if (num::kind_of(type) == DTypeKind::Uint || bits >> (width - 1) == 0) return {.size = bits};
  return {.is_negative = true, .size = (~bits + 1) & low_ones(width)};
}

// --- rounding ------------------------------------------------------------------------------------

// Between two neighbours: the one that is further from 0? `middle` compares with half way.
bool goes_up(const std::string& round, bool is_negative, bool is_low_odd,
             std::strong_ordering middle) {
  if (round == "rz") return false;
  if (round == "rm") return is_negative;
  if (round == "rp") return !is_negative;
  if (round == "rna") return middle >= 0;
  return middle > 0 || (middle == 0 && is_low_odd);
}

std::optional<std::uint64_t> code_of(const Format& f, const Exact& x, const std::string& round,
                                     bool saturates) {
  const std::uint64_t count = count_of(f);
  if (x.cls == Class::Nan)
    return f.beyond == Beyond::Nothing ? std::optional(count - 1) : std::nullopt;
  const bool is_negative = x.is_negative && !f.is_power;
  const std::uint64_t sign = is_negative ? std::uint64_t{1} << width_of(f) : 0;
  std::uint64_t low = 0, high = count + 1;  // the code is in [low, high)
  while (x.cls == Class::Finite && high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (compare_sizes(x, size_of_code(f, middle)) < 0 ? high : low) = middle;
  }
  const bool is_below = compare_sizes(x, size_of_code(f, 0)) < 0;  // all powers of two
  if (x.cls == Class::Infinite)
    low = count;
  else if (low < count && !is_below && compare_sizes(x, size_of_code(f, low)) != 0 &&
           goes_up(round, is_negative, low % 2 != 0, compare_sizes(x, middle_after(f, low))))
    ++low;
  if (low < count) return sign | low;
  const bool stops =
      x.cls == Class::Finite && !goes_up(round, is_negative, true, std::strong_ordering::greater);
  if (saturates || stops || f.beyond == Beyond::Nothing) return sign | (count - 1);
  return f.beyond == Beyond::Infinity ? std::optional(sign | count) : std::nullopt;
}

std::uint64_t whole_of(DType type, const Exact& x, const std::string& round) {
  const bool is_signed = num::kind_of(type) == DTypeKind::Int;
  const int width = num::bits_of(type);
  const std::uint64_t most = low_ones(is_signed ? width - 1 : width);
  const std::uint64_t least = is_signed ? most + 1 : 0;  // below 0
  if (x.cls == Class::Nan) return 0;
  const std::uint64_t bound = x.is_negative ? least : most;
  std::uint64_t size = bound;
  if (x.cls == Class::Finite && x.exponent >= 0) {
    if (x.size == 0) return 0;
    if (bits_of(x) + x.exponent <= 64) size = std::min(bound, x.size << x.exponent);
  } else if (x.cls == Class::Finite) {
    const int cut = -x.exponent;
    size = cut < 64 ? x.size >> cut : 0;
    const bool is_exact = cut < 64 ? size << cut == x.size : x.size == 0;
    const Exact middle{.size = 2 * size + 1, .exponent = -1};
    if (!is_exact && goes_up(round, x.is_negative, size % 2 != 0, compare_sizes(x, middle))) ++size;
    size = std::min(size, bound);
  }
  return (x.is_negative ? ~size + 1 : size) & low_ones(width);
}

// Between integers.
std::uint64_t integer_of(const Cast& cast, std::uint64_t bits) {
  const Exact x = exact_number(cast.from, bits);
  if (cast.saturate == true) return whole_of(cast.to, x, "rz");
  return (x.is_negative ? ~x.size + 1 : x.size) & low_ones(num::bits_of(cast.to));
}

}  // namespace

std::string Cast::settings() const {
  return (round.empty() ? "" : fmt::format(", round=\"{}\"", round)) +
         (saturate ? fmt::format(", saturate={}", *saturate ? "True" : "False") : "");
}

std::optional<std::uint64_t> exact_cast(const Cast& cast, std::uint64_t bits) {
  const bool is_from_float = num::is_float(cast.from);
  const Exact x = exact_number(cast.from, bits);
  if (cast.to == DType::Bool) return x.cls != Class::Finite || x.size != 0 ? 1U : 0U;
  if (!num::is_float(cast.to))
    return is_from_float ? whole_of(cast.to, x, cast.round.empty() ? "rz" : cast.round)
                         : integer_of(cast, bits);
  const Format f = format_of(cast.to);
  // The same type: nothing is rounded, and nothing is too large unless that is asked for.
  const bool saturates = cast.saturate.value_or(num::bits_of(cast.to) <= 8 && cast.from != cast.to);
  const auto code = code_of(f, x, cast.round.empty() ? "rn" : cast.round, saturates);
  return code ? std::optional(*code << f.unused) : std::nullopt;
}

bool is_nan_code(DType type, std::uint64_t bits) {
  return num::is_float(type) && exact_float(type, bits).cls == Class::Nan;
}

namespace {

// A number on a code of `to`, half way to the next, or a whole one; in `from`, cut off there.
std::uint64_t beside_code(const Cast& cast, std::mt19937_64& engine) {
  const std::uint64_t drawn = engine();
  Exact x{.size = drawn >> (drawn % 64U)};
  if (num::is_float(cast.to)) {
    const Format f = format_of(cast.to);
    const std::uint64_t code = (drawn >> 8U) % (count_of(f) + 1);
    x = (drawn & 1U) != 0 ? middle_after(f, code) : size_of_code(f, code);
  } else if ((drawn & 64U) != 0) {  // near the end of integers
    x = {.size = 2 * low_ones(num::bits_of(cast.to) - 1) + (drawn >> 8U) % 5, .exponent = -1};
  } else {
    x.exponent = -static_cast<int>((drawn >> 6U) % 3);
  }
  x.is_negative = (drawn & 2U) != 0;
  const Cast back{.from = cast.to, .to = cast.from};
  if (!num::is_float(cast.from)) return whole_of(back.to, x, "rz");
  const Format f = format_of(cast.from);
  return code_of(f, x, "rz", false).value_or(0) << f.unused;
}

}  // namespace

std::vector<std::uint64_t> cast_inputs(const Cast& cast, std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> out(count);
  const int bits = cast.from == DType::Bool ? 1 : num::bits_of(cast.from);
  std::mt19937_64 engine(seed);
  const int unused = num::is_float(cast.from) ? format_of(cast.from).unused : 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (bits <= 16) {
      out[i] = i & low_ones(bits);
      continue;
    }
    const std::uint64_t kind = engine() % 4;
    std::uint64_t code = kind == 0   ? edgy_bits(cast.from, engine)
                         : kind == 1 ? engine()
                                     : beside_code(cast, engine) +
                                           ((engine() % 5 - 2) << static_cast<unsigned>(unused));
    out[i] = code & low_ones(bits) & ~low_ones(unused);
  }
  return out;
}

std::vector<std::int64_t> array_units(DType type, const std::vector<std::uint64_t>& elements) {
  std::vector<std::int64_t> out;
  if (num::bits_of(type) != 4) {
    out.assign(elements.begin(), elements.end());
    return out;
  }
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2)
    out.push_back(static_cast<std::int64_t>(elements[i] | elements[i + 1] << 4U));
  return out;
}

namespace {

std::uint64_t element_at(const Arg& arg, const Bytes& bytes, std::size_t i) {
  std::uint64_t unit = 0;
  std::memcpy(&unit, bytes.data() + i / arg.packed * arg.element_bytes, arg.element_bytes);
  return arg.packed == 1 ? unit : unit >> (i % arg.packed * 4) & 15U;
}

}  // namespace

std::optional<std::string> wrong_cast(const Cast& cast, const Ran& ran) {
  const auto place_of = [&](std::string_view name) {
    const auto found = std::ranges::find(ran.args, name, &Arg::name);
    WW_CHECK(found != ran.args.end(), "no array `{}`", name);
    return static_cast<std::size_t>(found - ran.args.begin());
  };
  const std::size_t a = place_of("A"), d = place_of("D");
  const Arg& to = ran.args[d];
  const std::size_t count = ran.expected.arrays[d].size() / to.element_bytes * to.packed;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t from = element_at(ran.args[a], ran.expected.arrays[a], i);
    const std::uint64_t seen = element_at(to, ran.expected.arrays[d], i);
    const auto wanted = exact_cast(cast, from);
    if (wanted ? *wanted == seen : is_nan_code(cast.to, seen)) continue;
    return fmt::format("element {}: {} 0x{:x} to {}{} is 0x{:x}, expected {}", i,
                       num::name_of(cast.from), from, num::name_of(cast.to), cast.settings(), seen,
                       wanted ? fmt::format("0x{:x}", *wanted) : "a NaN");
  }
  return std::nullopt;
}

}  // namespace ww::test
