// SPDX-License-Identifier: Apache-2.0
#include "sim/texture/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "num/half_lanes.h"

namespace ww::sim {
namespace {

// Handles start here and are a step apart, so that neither small numbers nor addresses are one.
constexpr std::uint64_t kFirstHandle = 0x6'0000'0000U;
constexpr std::uint64_t kHandleStep = 32;
// Bits of a filter's weight.
constexpr unsigned kFractionBits = 8;
constexpr std::uint32_t kOne = 1U << kFractionBits;
// Coordinates beyond this are far outside of every array.
constexpr double kFar = 1 << 20;

constexpr std::string_view kAddressWords[] = {"wrap", "clamp", "mirror", "border"};

AddressMode mode_of(const Texture& texture) {
  const bool repeats = texture.mode == AddressMode::Wrap || texture.mode == AddressMode::Mirror;
  return repeats && !texture.is_normalized ? AddressMode::Clamp : texture.mode;
}

// Bits of the fraction of a normalised coordinate.
constexpr int kNormalBits = 21;

// A coordinate in texels. Coordinates that repeat start over after two lengths, which is right for both
// ways of repeating.
double texels(const Texture& texture, float where, std::uint32_t extent) {
  if (std::isnan(where) || std::fpclassify(where) == FP_SUBNORMAL) return 0;
  if (!texture.is_normalized) return std::clamp<double>(where, -kFar, kFar);
  double part = where;
  if (mode_of(texture) == AddressMode::Wrap || mode_of(texture) == AddressMode::Mirror)
    part = std::isfinite(part) ? part - 2 * std::floor(part / 2) : 0;
  part = std::floor(std::ldexp(std::clamp(part, -kFar, kFar), kNormalBits));
  return std::clamp(std::ldexp(part, -kNormalBits) * extent, -kFar, kFar);
}

// The place that an index means, or none: the border.
struct Index {
  std::uint32_t at = 0;
  bool is_border = false;
};
Index index_in(AddressMode mode, std::int64_t index, std::uint32_t extent) {
  const auto size = static_cast<std::int64_t>(extent);
  const auto inside = [](std::int64_t value) { return Index{static_cast<std::uint32_t>(value)}; };
  switch (mode) {
    case AddressMode::Wrap:
      return inside((index % size + size) % size);
    case AddressMode::Mirror: {
      const std::int64_t turn = (index % (2 * size) + 2 * size) % (2 * size);
      return inside(turn < size ? turn : 2 * size - 1 - turn);
    }
    case AddressMode::Border:
      if (index < 0 || index >= size) return {0, true};
      return inside(index);
    case AddressMode::Clamp:
      break;
  }
  return inside(std::clamp<std::int64_t>(index, 0, size - 1));
}

// What a fetch reads along one dimension: two texels, and the weight of the second in 1/256.
struct Along {
  std::array<Index, 2> index;
  std::uint32_t weight = 0;
};

Along along(const Texture& texture, unsigned dim, float where, bool is_pair) {
  const std::uint32_t extent = texture.extent[dim];
  const double at = texels(texture, where, extent);
  const AddressMode mode = mode_of(texture);
  if (!is_pair) {
    const Index one = index_in(mode, static_cast<std::int64_t>(std::floor(at)), extent);
    return {{one, one}};
  }
  const auto fixed = static_cast<std::int64_t>(std::floor((at - 0.5) * kOne + 0.5));
  const std::int64_t first = fixed >> kFractionBits;
  Along out{{index_in(mode, first, extent), index_in(mode, first + 1, extent)},
            static_cast<std::uint32_t>(fixed) & (kOne - 1)};
  // Beyond an edge there is one texel, and nothing between two.
  if (mode == AddressMode::Clamp && out.index[0].at == out.index[1].at) out.weight = 0;
  return out;
}

std::uint32_t part_of(std::uint32_t whole, std::uint32_t weight) {
  return (whole * weight + kOne / 2) / kOne;
}

// The weights of four texels that have `whole` together, [y][x]. Each product is rounded, and its
// neighbour along y gets the rest.
std::array<std::array<std::uint32_t, 2>, 2> split_plane(std::uint32_t whole, std::uint32_t x,
                                                        std::uint32_t y) {
  const std::uint32_t right = part_of(whole, x);
  const std::uint32_t left = whole - right;
  const std::uint32_t right_far = part_of(right, y);
  const std::uint32_t left_near = part_of(left, kOne - y);
  return {{{left_near, right - right_far}, {left - left_near, right_far}}};
}

// How far the values of a filter reach beyond the last bit of the largest; what is below is cut off.
constexpr int kGuardBits = 4;

// To that many bits, halves away from zero. Floats of 16 bits have a smallest step.
double rounded_to(double value, int bits, int least_exponent) {
  if (value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent - bits, least_exponent);
  return std::copysign(std::ldexp(std::floor(std::ldexp(std::fabs(value), -step) + 0.5), step),
                       value);
}

// The sum over a plane.
double plane_sum(std::span<const Tap> taps, std::span<const double> inputs, int bits) {
  double largest = 0;
  for (std::size_t i = 0; i < taps.size(); ++i)
    if (taps[i].weight != 0) largest = std::max(largest, std::fabs(inputs[i]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  const int step = exponent - bits - kGuardBits;
  double sum = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    if (taps[i].weight == 0) continue;
    const bool is_cut = std::isfinite(largest);
    sum += taps[i].weight *
           (is_cut ? std::ldexp(std::trunc(std::ldexp(inputs[i], -step)), step) : inputs[i]);
  }
  return sum / kOne;
}

float filtered_floats(std::span<const Tap> taps, std::span<const double> inputs, bool is_half) {
  constexpr std::size_t kPlane = 4;  // texels of one; lines have fewer
  const int bits = is_half ? 11 : 24;
  double sum = 0;
  for (std::size_t i = 0; i < taps.size(); i += kPlane) {
    const std::size_t count = std::min(kPlane, taps.size() - i);
    sum += plane_sum(taps.subspan(i, count), inputs.subspan(i, count), bits);
  }
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  return static_cast<float>(rounded_to(sum, bits, is_half ? -24 : -149));
}

// Of an integer that is read as a fraction: what is 1.
double whole_of(const Texture& texture) {
  const unsigned bits = texture.bits - (texture.kind == TexelKind::Signed ? 1 : 0);
  return static_cast<double>((std::uint32_t{1} << bits) - 1);
}
// Filters and tld4 work on integers of 16 bits, with their sign; one of 8 bits is multiplied with 257, or
// with 258 1/128 if it is signed, and rounded.
double widened(const Texture& texture, double value) {
  if (texture.bits == 16) return value;
  const double factor = texture.kind == TexelKind::Signed ? 258 + 1.0 / 128 : 257;
  return std::floor(value * factor + 0.5);
}
// A sum of such integers as a fraction.
float fraction(const Texture& texture, double wide) {
  const double whole = texture.kind == TexelKind::Signed ? 32767 : 65535;
  return static_cast<float>(std::floor(wide + 0.5) / whole);
}

}  // namespace

std::span<const std::string_view> words_of(AddressMode) { return kAddressWords; }

std::vector<Tap> taps_at(const Texture& texture, const std::array<float, 3>& where) {
  // A line with a border is filtered as one row of a plane, at its upper edge.
  if (texture.is_linear && texture.rank == 1 && texture.mode == AddressMode::Border) {
    Texture plane = texture;
    plane.rank = 2;
    return taps_at(plane, {where[0], 0, 0});
  }
  std::array<Along, 3> axes{};
  for (unsigned d = 0; d < texture.rank; ++d)
    axes[d] = along(texture, d, where[d], texture.is_linear);
  std::vector<Tap> taps;
  const auto add = [&](const std::array<unsigned, 3>& side, std::uint32_t weight) {
    Tap tap{.weight = weight};
    for (unsigned d = 0; d < texture.rank; ++d) {
      tap.at[d] = axes[d].index[side[d]].at;
      tap.is_border = tap.is_border || axes[d].index[side[d]].is_border;
    }
    taps.push_back(tap);
  };
  if (!texture.is_linear) {
    add({0, 0, 0}, kOne);
    return taps;
  }
  for (unsigned z = 0; z < (texture.rank > 2 ? 2U : 1U); ++z) {
    const std::uint32_t whole = z == 0 ? kOne - axes[2].weight : axes[2].weight;
    const auto weights = split_plane(whole, axes[0].weight, axes[1].weight);
    for (unsigned y = 0; y < (texture.rank > 1 ? 2U : 1U); ++y)
      for (unsigned x = 0; x < 2; ++x) add({x, y, z}, weights[y][x]);
  }
  return taps;
}

std::array<Tap, 4> gathered_at(const Texture& texture, const std::array<float, 3>& where) {
  const Along x = along(texture, 0, where[0], true);
  const Along y = along(texture, 1, where[1], true);
  const auto tap = [&](unsigned i, unsigned j) {
    return Tap{.at = {x.index[i].at, y.index[j].at, 0},
               .is_border = x.index[i].is_border || y.index[j].is_border};
  };
  return {tap(0, 1), tap(1, 1), tap(1, 0), tap(0, 0)};
}

double filter_input(const Texture& texture, std::span<const std::byte> texel, unsigned channel) {
  const unsigned bytes = texture.bits / 8;
  std::uint32_t bits = 0;
  std::memcpy(&bits, texel.data() + std::size_t{channel} * bytes, bytes);
  if (texture.kind == TexelKind::Float)
    return texture.bits == 32 ? std::bit_cast<float>(bits)
                              : num::f16_to_f32(static_cast<std::uint16_t>(bits));
  if (texture.kind == TexelKind::Unsigned) return bits;
  const unsigned unused = 32 - texture.bits;
  const double value = static_cast<std::int32_t>(bits << unused) >> unused;
  return texture.reads_fractions ? std::max(value, -whole_of(texture)) : value;
}

std::uint32_t channel_value(const Texture& texture, std::span<const std::byte> texel,
                            unsigned channel) {
  const double value = filter_input(texture, texel, channel);
  if (texture.kind == TexelKind::Float && texture.bits == 32) {
    std::uint32_t bits = 0;  // NaNs as they are
    std::memcpy(&bits, texel.data() + std::size_t{channel} * 4, 4);
    return bits;
  }
  if (texture.kind == TexelKind::Float)
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (texture.reads_fractions)
    return std::bit_cast<std::uint32_t>(static_cast<float>(value / whole_of(texture)));
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}

std::uint32_t gathered_value(const Texture& texture, std::span<const std::byte> texel,
                             unsigned channel) {
  if (!texture.reads_fractions) return channel_value(texture, texel, channel);
  const double value = filter_input(texture, texel, channel);
  return std::bit_cast<std::uint32_t>(fraction(texture, widened(texture, value)));
}

float filtered(const Texture& texture, std::span<const Tap> taps, std::span<const double> inputs) {
  if (texture.kind == TexelKind::Float) return filtered_floats(taps, inputs, texture.bits == 16);
  double sum = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) sum += taps[i].weight * widened(texture, inputs[i]);
  return fraction(texture, sum / kOne);
}

std::uint64_t TextureTable::add(const Texture& texture) {
  textures_.push_back(texture);
  return kFirstHandle + (textures_.size() - 1) * kHandleStep;
}

const Texture* TextureTable::find(std::uint64_t handle) const {
  const std::uint64_t from = handle - kFirstHandle;
  if (from % kHandleStep != 0 || from / kHandleStep >= textures_.size()) return nullptr;
  return &textures_[from / kHandleStep];
}

}  // namespace ww::sim
