// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/values.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

namespace ww::sweep {
namespace {

using isa::Type;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return x ^ (x >> 31U);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_++); }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

std::uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~0ULL : (1ULL << bits) - 1; }

// --- floats --------------------------------------------------------------------------------------

struct FloatShape {
  unsigned exponent, mantissa;

  [[nodiscard]] unsigned bits() const { return 1 + exponent + mantissa; }
  [[nodiscard]] std::uint64_t top() const { return mask_of(exponent); }
  [[nodiscard]] std::uint64_t bias() const { return top() >> 1U; }
  [[nodiscard]] std::uint64_t pack(bool negative, std::uint64_t e, std::uint64_t m) const {
    return (std::uint64_t{negative} << (exponent + mantissa)) | (e << mantissa) | m;
  }
};

const FloatShape* float_shape(Type type) {
  static constexpr FloatShape kF16{5, 10}, kBf16{8, 7}, kF32{8, 23}, kF64{11, 52};
  switch (type) {
    case Type::F16:
      return &kF16;
    case Type::Bf16:
      return &kBf16;
    case Type::F32:
    case Type::Tf32:
      return &kF32;
    case Type::F64:
      return &kF64;
    default:
      return nullptr;
  }
}

/// A power of two, exactly or one step beside it; the exponents at which integers end are frequent.
std::uint64_t near_power(Random& random, const FloatShape& f) {
  static constexpr std::array<unsigned, 12> kLimits = {7,  8,  15, 16, 31, 32,
                                                       63, 64, 10, 11, 23, 24};
  std::uint64_t e = f.bias() + kLimits[random.below(kLimits.size())];
  if (random.one_in(3)) e = random.below(f.top());
  if (e >= f.top()) e = f.top() - 1;
  const std::uint64_t exact = f.pack(false, e, 0) + random.below(3) - (e == 0 ? 0 : 1);
  return exact | f.pack(random.one_in(2), 0, 0);
}

std::uint64_t float_edge(Random& random, const FloatShape& f) {
  const std::uint64_t m = mask_of(f.mantissa);
  const std::uint64_t half = 1ULL << (f.mantissa - 1);
  const std::array<std::uint64_t, 14> edges = {f.pack(false, 0, 0),
                                               f.pack(false, 0, 1),
                                               f.pack(false, 0, m),
                                               f.pack(false, 1, 0),
                                               f.pack(false, f.top() - 1, m),
                                               f.pack(false, f.top(), 0),
                                               f.pack(false, f.top(), half),
                                               f.pack(false, f.top(), 1),
                                               f.pack(false, f.top(), m),
                                               f.pack(false, f.bias(), 0),
                                               f.pack(false, f.bias(), half),
                                               f.pack(false, f.bias() - 1, 0),
                                               f.pack(false, f.bias() + 1, 0),
                                               f.pack(false, f.bias() - 1, m)};
  const std::uint64_t chosen = edges[random.below(edges.size())];
  return chosen | f.pack(random.one_in(2), 0, 0);
}

/// n / 4 for a small n: halves are the ties of roundings to an integer.
std::uint64_t quarter(Random& random, const FloatShape& f) {
  const double value = static_cast<double>(random.below(257)) / 4.0 - 32.0;
  if (value == 0) return f.pack(random.one_in(2), 0, 0);
  int e = 0;
  const double m = std::frexp(std::fabs(value), &e);  // in [0.5, 1)
  const auto fraction =
      static_cast<std::uint64_t>(std::ldexp(2 * m - 1, static_cast<int>(f.mantissa)));
  return f.pack(value < 0, f.bias() + static_cast<std::uint64_t>(e - 1 + 0), fraction);
}

/// Few bits set at the lower end: ties when it is rounded to a narrower format.
std::uint64_t sparse_mantissa(Random& random, const FloatShape& f) {
  std::uint64_t m = random.next() & mask_of(f.mantissa);
  const auto cut = static_cast<unsigned>(random.below(f.mantissa));
  m = (m >> cut | random.below(2)) << cut;
  return m & mask_of(f.mantissa);
}

enum class Style : std::uint8_t { Any, Small, Edge, NearOne, Wide, Tiny, Huge, Power, Count };

std::uint64_t exponent_between(Random& random, std::uint64_t low, std::uint64_t high) {
  return low + random.below(high - low + 1);
}

std::uint64_t float_value(Random& random, const FloatShape& f, Style style) {
  const bool negative = random.one_in(2);
  const std::uint64_t m = random.next() & mask_of(f.mantissa);
  switch (style) {
    case Style::Small:
      return quarter(random, f);
    case Style::Edge:
      return float_edge(random, f);
    case Style::NearOne:
      return f.pack(negative, exponent_between(random, f.bias() - 3, f.bias() + 3), m);
    case Style::Wide: {
      // One after the other: the order of arguments differs from host to host.
      const std::uint64_t sparse = sparse_mantissa(random, f);
      return f.pack(negative, random.below(f.top()), sparse);
    }
    case Style::Tiny:
      return f.pack(negative, random.below(3), m);
    case Style::Huge:
      return f.pack(negative, exponent_between(random, f.top() - 3, f.top() - 1), m);
    case Style::Power:
      return near_power(random, f);
    default:
      return random.next() & mask_of(f.bits());
  }
}

// --- integers ------------------------------------------------------------------------------------

std::uint64_t int_edge(Random& random, unsigned bits) {
  static constexpr std::array<std::uint64_t, 8> kPatterns = {0,
                                                             1,
                                                             2,
                                                             0x5555'5555'5555'5555U,
                                                             0xAAAA'AAAA'AAAA'AAAAU,
                                                             0x0001'0001'0001'0001U,
                                                             0x7FFF'8000'FFFF'0000U,
                                                             0x8080'7F7F'00FF'FF00U};
  const std::uint64_t top = 1ULL << (bits - 1);
  switch (random.below(4)) {
    case 0:
      return kPatterns[random.below(kPatterns.size())];
    case 1:
      return top + random.below(5) - 2;  // the lowest, the highest, and their neighbours
    case 2:
      return random.below(5) - 2;
    default:
      return (1ULL << random.below(bits)) + random.below(3) - 1;
  }
}

std::uint64_t int_value(Random& random, unsigned bits, Style style) {
  std::uint64_t value = random.next();
  switch (style) {
    case Style::Small:
      value = random.below(33) - 16;
      break;
    case Style::Edge:
    case Style::Power:
      value = int_edge(random, bits);
      break;
    case Style::NearOne:
    case Style::Wide: {
      const auto kept = static_cast<unsigned>(1 + random.below(bits));
      value &= mask_of(kept);
      if (random.one_in(2)) value = ~value;
      break;
    }
    default:
      break;
  }
  return value & mask_of(bits);
}

// --- operands ------------------------------------------------------------------------------------

unsigned element_bits(const Kind& kind) {
  switch (kind.type) {
    case Type::B1:
      return 1;
    case Type::S4:
    case Type::U4:
      return 4;
    case Type::S2:
    case Type::U2:
      return 2;
    default:
      return static_cast<unsigned>(isa::info(kind.type).bits);
  }
}

std::uint64_t seed_of(const Kind& kind, unsigned index, std::size_t thread) {
  const auto what =
      static_cast<std::uint64_t>(kind.type) << 8U | static_cast<std::uint64_t>(kind.use);
  return mix(mix(what * 64 + index) ^ thread);
}

Style style_of(const Kind& kind, unsigned index, std::size_t thread) {
  const std::size_t warp = thread / 32;
  const bool alike = warp % 2 == 0;
  const std::uint64_t chance = mix(seed_of(kind, index, alike ? warp : thread) ^ 0x57E1E);
  return static_cast<Style>(chance % static_cast<std::uint64_t>(Style::Count));
}

std::uint64_t element(Random& random, const Kind& kind, Style style) {
  if (const FloatShape* shape = float_shape(kind.type)) {
    const std::uint64_t value = float_value(random, *shape, style);
    return kind.type == Type::Tf32 ? value & ~0x1FFFULL : value;
  }
  return int_value(random, element_bits(kind), style);
}

/// All elements, the first one lowest.
std::uint64_t elements(Random& random, const Kind& kind, Style style) {
  if (kind.type == Type::Pred) return random.below(2);
  const unsigned bits = element_bits(kind);
  if (bits < 4) return random.next() & mask_of(bits * kind.count);
  std::uint64_t value = 0;
  for (unsigned i = 0; i < kind.count && i * bits < 64; ++i)
    value |= element(random, kind, style) << (i * bits);
  return value;
}

/// Equal to the first operand, one step beside it, or its negative.
std::uint64_t relative_of(Random& random, const Kind& kind, std::uint64_t first) {
  const unsigned bits = element_bits(kind);
  const std::uint64_t sign =
      kind.count == 2 ? (1ULL << (bits - 1)) | (1ULL << (2 * bits - 1)) : 1ULL << (bits - 1);
  switch (random.below(4)) {
    case 0:
      return first + random.below(3) - 1;
    case 1:
      return float_shape(kind.type) != nullptr ? first ^ sign : 0 - first;
    default:
      return first;
  }
}

/// What cancels the product of the first two operands, nearly or fully.
std::uint64_t against_product(const Kind& kind, std::uint64_t a, std::uint64_t b) {
  if (kind.type == Type::F64)
    return std::bit_cast<std::uint64_t>(-(std::bit_cast<double>(a) * std::bit_cast<double>(b)));
  const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(a));
  const auto y = std::bit_cast<float>(static_cast<std::uint32_t>(b));
  return std::bit_cast<std::uint32_t>(-(x * y));
}

std::uint64_t plain_value(const Kind& kind, unsigned index, std::size_t thread) {
  if (kind.exhaustive) return (thread & 0xFFFFU) | ((thread * 40503U + 12345U) & 0xFFFFU) << 16U;
  Random random(seed_of(kind, index, thread));
  if (index > 0 && kind.type != Type::Pred && random.one_in(4))
    return relative_of(random, kind, plain_value(kind, 0, thread));
  const bool has_product = kind.type == Type::F64 || (kind.type == Type::F32 && kind.count == 1);
  if (index == 2 && has_product && random.one_in(4))
    return against_product(kind, plain_value(kind, 0, thread), plain_value(kind, 1, thread));
  return elements(random, kind, style_of(kind, index, thread));
}

std::uint64_t place_value(Random& random) {
  switch (random.below(4)) {
    case 0:
      return random.next();
    case 1:
      return random.below(300);
    default:
      return random.below(72);
  }
}

/// Bits 4..0 are the clamp, 12..8 the segment mask.
std::uint64_t clamp_value(Random& random) {
  if (random.one_in(4)) return random.next();
  const std::uint64_t segment = (32U - (1U << random.below(6))) << 8U;
  return segment | (random.one_in(2) ? 0x1FU : random.below(32));
}

std::uint64_t octet_mask(Random& random) {
  std::uint64_t mask = 0;
  for (unsigned octet = 0; octet < 4; ++octet) mask |= random.below(2) * (0xFFULL << (8 * octet));
  return mask == 0 ? 0xFF00 : mask;
}

std::uint64_t any_mask(Random& random) {
  const std::uint64_t mask = random.next() & random.next() & 0xFFFF'FFFFU;
  return random.one_in(8) ? 0xFFFF'FFFFU : mask == 0 ? 0x8000'0001U : mask;
}

std::uint64_t special_value(const Kind& kind, unsigned index, std::size_t thread) {
  Random random(seed_of(kind, index, thread));
  Random of_warp(seed_of(kind, index, thread / 32));
  switch (kind.use) {
    case Use::Place:
      return place_value(random);
    case Use::SmallSigned:
      return random.below(81) - 40;
    case Use::Lane:
      return random.below(32);
    case Use::OctetLane:
      return random.below(8);
    case Use::ShuffleLane:
      return random.one_in(8) ? random.next() : random.below(64);
    case Use::Clamp:
      return clamp_value(random);
    case Use::Octets:
      return kind.goes_up ? 0x1800U : 0x181FU;
    case Use::WarpMask:
      return octet_mask(of_warp);
    case Use::AnyWarpMask:
      return any_mask(of_warp);
    case Use::WarpLane:
      return of_warp.below(32);
    case Use::Value:
      break;
  }
  return 0;
}

/// The registers' bits beyond the type, which conversions and stores must not look at.
std::uint64_t padding(const Kind& kind, unsigned index, std::size_t thread) {
  const unsigned bits = element_bits(kind) * kind.count;
  if (bits >= 64 || kind.use != Use::Value || kind.type == Type::Pred) return 0;
  return mix(seed_of(kind, index, thread) ^ 0xABCDE) & ~mask_of(bits);
}

}  // namespace

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return mix(hash);
}

Kind kind_of(Type type, Use use) {
  Kind kind{.type = type, .use = use};
  kind.bytes = type == Type::Pred ? 4U : static_cast<unsigned>(isa::info(type).bits) / 8U;
  if (type == Type::B128) return Kind{.type = Type::B64, .count = 2, .use = use, .bytes = 16};
  const std::string_view name = isa::info(type).name;
  const auto x = name.rfind('x');
  if (x == std::string_view::npos || use != Use::Value) return kind;
  kind.count = static_cast<unsigned>(name.back() - '0');
  if (const auto element = isa::parse_type(name.substr(0, x)); element && name != "e2m1x2")
    kind.type = *element;
  if (element_bits(kind) * kind.count <= kind.bytes * 8) return kind;
  kind.count = 1;  // two to a byte: any bits will do
  kind.type = isa::bits_type(static_cast<int>(kind.bytes * 8));
  return kind;
}

std::uint64_t value_at(const Kind& kind, unsigned index, std::size_t thread) {
  if (kind.use != Use::Value) return special_value(kind, index, thread) & mask_of(8 * kind.bytes);
  const std::uint64_t value = plain_value(kind, index, thread) | padding(kind, index, thread);
  return value & mask_of(8 * kind.bytes);
}

std::vector<std::byte> make_values(const Kind& kind, unsigned index, std::size_t cases) {
  std::vector<std::byte> bytes(cases * kind.bytes);
  for (std::size_t i = 0; i < cases; ++i) {
    for (unsigned at = 0; at < kind.bytes; at += 8) {
      Kind part = kind;
      part.bytes = kind.bytes - at < 8 ? kind.bytes - at : 8;
      const std::uint64_t value = value_at(part, index + 100 * (at / 8), i);
      std::memcpy(bytes.data() + i * kind.bytes + at, &value, part.bytes);
    }
  }
  return bytes;
}

}  // namespace ww::sweep
