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
constexpr std::int64_t kOne = 1 << kFractionBits;
// Coordinates beyond this are far outside of every array.
constexpr double kFar = 1 << 20;

constexpr std::string_view kAddressWords[] = {"wrap", "clamp", "mirror", "border"};

AddressMode mode_of(const Texture& texture) {
  const bool repeats = texture.mode == AddressMode::Wrap || texture.mode == AddressMode::Mirror;
  return repeats && !texture.is_normalized ? AddressMode::Clamp : texture.mode;
}

// A coordinate in texels. One that repeats comes back into the array first.
double texels(const Texture& texture, float where, std::uint32_t extent) {
  if (std::isnan(where)) return 0;
  if (!texture.is_normalized) return std::clamp<double>(where, -kFar, kFar);
  double part = where;
  if (!std::isfinite(part)) part = part < 0 ? -kFar : kFar;
  const AddressMode mode = mode_of(texture);
  if (mode == AddressMode::Wrap) part -= std::floor(part);
  if (mode == AddressMode::Mirror) {
    const double turn = std::floor(part);
    const bool is_back = std::fmod(turn, 2) != 0;
    part = is_back ? 1 - (part - turn) : part - turn;
  }
  return std::clamp(part * extent, -kFar, kFar);
}

// The place that an index means, or none: the border.
struct Index {
  std::uint32_t at = 0;
  bool is_border = false;
};
Index index_in(AddressMode mode, std::int64_t index, std::uint32_t extent) {
  const auto size = static_cast<std::int64_t>(extent);
  switch (mode) {
    case AddressMode::Wrap:
      return {static_cast<std::uint32_t>((index % size + size) % size)};
    case AddressMode::Border:
      if (index < 0 || index >= size) return {0, true};
      break;
    case AddressMode::Clamp:
    case AddressMode::Mirror:  // the texel beside an edge is that of the edge
      break;
  }
  return {static_cast<std::uint32_t>(std::clamp<std::int64_t>(index, 0, size - 1))};
}

// What a fetch reads along one dimension.
struct Along {
  std::array<Index, 2> index;
  std::array<std::uint32_t, 2> weight{static_cast<std::uint32_t>(kOne), 0};
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
  const auto second = static_cast<std::uint32_t>(fixed & (kOne - 1));
  return {{index_in(mode, first, extent), index_in(mode, first + 1, extent)},
          {static_cast<std::uint32_t>(kOne) - second, second}};
}

}  // namespace

std::span<const std::string_view> words_of(AddressMode) { return kAddressWords; }

std::vector<Tap> taps_at(const Texture& texture, const std::array<float, 3>& where) {
  std::vector<Tap> taps{{.weight = 1}};
  for (unsigned d = 0; d < texture.rank; ++d) {
    const Along here = along(texture, d, where[d], texture.is_linear);
    std::vector<Tap> next;
    for (unsigned side = 0; side < (texture.is_linear ? 2U : 1U); ++side) {
      for (Tap tap : taps) {
        tap.at[d] = here.index[side].at;
        tap.is_border = tap.is_border || here.index[side].is_border;
        tap.weight *= here.weight[side];
        next.push_back(tap);
      }
    }
    taps = std::move(next);
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

std::uint32_t channel_value(const Texture& texture, std::span<const std::byte> texel,
                            unsigned channel) {
  const unsigned bytes = texture.bits / 8;
  std::uint32_t bits = 0;
  std::memcpy(&bits, texel.data() + std::size_t{channel} * bytes, bytes);
  if (texture.kind == TexelKind::Float)
    return texture.bits == 32
               ? bits
               : std::bit_cast<std::uint32_t>(num::f16_to_f32(static_cast<std::uint16_t>(bits)));
  const unsigned unused = 32 - texture.bits;
  const bool is_signed = texture.kind == TexelKind::Signed;
  const auto whole = static_cast<std::int32_t>(bits << unused) >> unused;
  if (!texture.reads_fractions) return is_signed ? static_cast<std::uint32_t>(whole) : bits;
  const double most =
      static_cast<double>((std::uint32_t{1} << (texture.bits - (is_signed ? 1 : 0))) - 1);
  const double part = is_signed ? std::max(whole / most, -1.0) : bits / most;
  return std::bit_cast<std::uint32_t>(static_cast<float>(part));
}

float filtered(const Texture& texture, std::span<const Tap> taps, std::span<const float> values) {
  double sum = 0;
  for (std::size_t i = 0; i < taps.size(); ++i)
    sum += taps[i].weight * static_cast<double>(values[i]);
  return static_cast<float>(std::ldexp(sum, -static_cast<int>(kFractionBits * texture.rank)));
}

std::uint32_t missing_channel(const Texture& texture, unsigned channel) {
  if (channel < 3) return 0;
  return texture.gives_floats() ? std::bit_cast<std::uint32_t>(1.0F) : 1;
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
