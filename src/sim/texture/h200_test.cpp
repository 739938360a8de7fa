// SPDX-License-Identifier: Apache-2.0
// Fetches that an H200 made, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/texture/texture.h"

namespace ww::sim::h200_textures_test {
namespace {

using Bits = std::array<std::uint32_t, 4>;

struct Fetch {
  std::array<std::uint32_t, 3> where{};
  Bits came{};
};
struct Recorded {
  Texture texture;
  int gathers = -1;
  std::vector<std::byte> texels;
  std::vector<Fetch> fetches{};
};

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return bytes;
}

std::vector<Recorded> recorded() {
  std::vector<Recorded> all;
#define WW_TEXTURE(rank_, layers_, kind_, bits_, channels_, linear_, normalized_, fractions_, \
                   mode_, width_, height_, depth_, gathers_, texels_)                         \
  all.push_back({Texture{.extent = {width_, height_, depth_},                                 \
                         .rank = rank_,                                                       \
                         .layers = layers_,                                                   \
                         .kind = TexelKind::kind_,                                            \
                         .bits = bits_,                                                       \
                         .channels = channels_,                                               \
                         .is_linear = linear_,                                                \
                         .is_normalized = normalized_,                                        \
                         .reads_fractions = fractions_,                                       \
                         .mode = AddressMode::mode_},                                         \
                 gathers_, bytes_of(texels_)});
#define WW_FETCH(x, y, z, r, g, b, a) all.back().fetches.push_back({{x, y, z}, {r, g, b, a}});
#include "sim/texture/test_h200_fetches.def"
#undef WW_TEXTURE
#undef WW_FETCH
  return all;
}

Bits fetched(const Recorded& it, const Fetch& fetch) {
  const Texture& texture = it.texture;
  const std::uint32_t layer =
      texture.layers == 0 ? 0 : std::min(fetch.where[2], texture.layers - 1);
  const auto texel = [&](const Tap& tap) {
    const std::uint64_t at = texture.address_of(tap.at, layer);
    return std::span<const std::byte>(it.texels).subspan(at, texture.texel_bytes());
  };
  const std::array<float, 3> where{std::bit_cast<float>(fetch.where[0]),
                                   std::bit_cast<float>(fetch.where[1]),
                                   std::bit_cast<float>(fetch.where[2])};
  Bits out{};
  if (it.gathers >= 0) {
    const auto taps = gathered_at(texture, where);
    for (std::size_t i = 0; i < 4; ++i)
      out[i] = gathered_value(texture, texel(taps[i]), static_cast<unsigned>(it.gathers));
    return out;
  }
  const std::vector<Tap> taps = taps_at(texture, where);
  for (unsigned c = 0; c < texture.channels; ++c) {
    std::vector<double> inputs;
    for (const Tap& tap : taps)
      inputs.push_back(tap.is_border ? 0 : filter_input(texture, texel(tap), c));
    out[c] = taps.size() == 1 ? channel_value(texture, texel(taps[0]), c)
                              : std::bit_cast<std::uint32_t>(filtered(texture, taps, inputs));
  }
  return out;
}

TEST(TextureH200, EveryBitIsTheSame) {
  const std::vector<Recorded> all = recorded();
  ASSERT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Fetch& fetch : all[i].fetches)
      EXPECT_EQ(fetched(all[i], fetch), fetch.came)
          << "texture " << i << " at " << std::bit_cast<float>(fetch.where[0]) << ", "
          << std::bit_cast<float>(fetch.where[1]) << ", " << std::bit_cast<float>(fetch.where[2]);
}

// The comparison itself: other settings give other bits.
TEST(TextureH200, NoticesAnotherFilter) {
  for (Recorded it : recorded()) {
    if (!it.texture.is_linear || it.gathers >= 0) continue;
    it.texture.is_linear = false;
    EXPECT_TRUE(std::ranges::any_of(
        it.fetches, [&](const Fetch& fetch) { return fetched(it, fetch) != fetch.came; }));
  }
}

}  // namespace
}  // namespace ww::sim::h200_textures_test
