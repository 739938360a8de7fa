// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces: arrays of texels in one, two or three dimensions, single or in layers, and
// the value of a fetch at given coordinates. Texels lie in global memory without gaps, x first; a
// kernel knows a texture by a handle of 64 bits. No mip maps, no cube maps. Where the manuals are
// silent (the rounding of coordinates, weights and sums) it follows an H200
// (docs/evidence/textures.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ww::sim {

enum class TexelKind : std::uint8_t { Unsigned, Signed, Float };
/// What coordinates outside the array mean, in the order of CUDA's enumeration. Wrap and Mirror are for
/// normalised coordinates; with others they are Clamp.
enum class AddressMode : std::uint8_t { Wrap, Clamp, Mirror, Border };
/// "wrap", "clamp", "mirror", "border".
std::span<const std::string_view> words_of(AddressMode);

struct Texture {
  std::uint64_t address = 0;  // of the first texel
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  unsigned rank = 1;         // dimensions, without that of the layers
  std::uint32_t layers = 0;  // 0: not in layers
  TexelKind kind = TexelKind::Float;
  unsigned bits = 32;  // of a channel: 8, 16 or 32
  unsigned channels = 1;
  bool is_surface = false;       // for suld, sust and sured; otherwise for tex and tld4
  bool is_linear = false;        // filtered; otherwise the texel that the coordinates lie in
  bool is_normalized = false;    // coordinates from 0 to 1
  bool reads_fractions = false;  // integers are read as floats from 0 or -1 to 1
  AddressMode mode = AddressMode::Clamp;

  [[nodiscard]] unsigned texel_bytes() const { return bits / 8 * channels; }
  [[nodiscard]] bool gives_floats() const { return kind == TexelKind::Float || reads_fractions; }
  /// Of the texel at these places, which are inside.
  [[nodiscard]] std::uint64_t address_of(const std::array<std::uint32_t, 3>& at,
                                         std::uint32_t layer) const {
    const std::uint64_t row = (std::uint64_t{layer} * extent[2] + at[2]) * extent[1] + at[1];
    return address + (row * extent[0] + at[0]) * texel_bytes();
  }
};

/// A texel that a fetch reads, and how much of the result it makes.
struct Tap {
  std::array<std::uint32_t, 3> at{};
  bool is_border = false;    // outside, and the border is black
  std::uint32_t weight = 0;  // all taps of a fetch together: 256
};

/// The texels of a fetch: one, or for linear filters two in each dimension, x fastest.
std::vector<Tap> taps_at(const Texture& texture, const std::array<float, 3>& where);
/// The four texels that tld4 takes, in its order.
std::array<Tap, 4> gathered_at(const Texture& texture, const std::array<float, 3>& where);

/// A channel of a texel, from its bytes: the bits of the float or the 32-bit integer that a fetch gives.
std::uint32_t channel_value(const Texture& texture, std::span<const std::byte> texel,
                            unsigned channel);
/// The same as tld4 gives it: fractions have 16 bits.
std::uint32_t gathered_value(const Texture& texture, std::span<const std::byte> texel,
                             unsigned channel);
/// A channel as it goes into a filter: a float, or an integer of the texel.
double filter_input(const Texture& texture, std::span<const std::byte> texel, unsigned channel);
/// The filtered value of a channel, from what goes in at all taps, in their order.
float filtered(const Texture& texture, std::span<const Tap> taps, std::span<const double> inputs);
/// The textures of a device, by their handles.
class TextureTable {
 public:
  std::uint64_t add(const Texture& texture);
  /// nullptr: not a handle.
  [[nodiscard]] const Texture* find(std::uint64_t handle) const;
  [[nodiscard]] bool empty() const { return textures_.empty(); }

 private:
  std::vector<Texture> textures_;
};

}  // namespace ww::sim
