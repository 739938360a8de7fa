// SPDX-License-Identifier: Apache-2.0
#include "hardware/textures/fetch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

namespace ww::device {
namespace {

using sim::AddressMode;
using sim::TexelKind;
using sim::Texture;

unsigned below(Random& random, unsigned end) { return static_cast<unsigned>(random() % end); }
bool chance(Random& random) { return below(random, 2) == 0; }

// --- textures

Texture random_texture(Random& random, bool is_surface) {
  Texture out;
  out.rank = 1 + below(random, 3);
  for (unsigned i = 0; i < out.rank; ++i) out.extent[i] = 1 + below(random, 9);
  if (out.rank < 3 && below(random, 4) == 0) out.layers = 1 + below(random, 4);
  out.is_surface = is_surface;
  if (is_surface) {
    out.kind = TexelKind::Unsigned;
    return out;
  }
  constexpr std::array<std::pair<TexelKind, unsigned>, 8> kTypes{{{TexelKind::Unsigned, 8},
                                                                  {TexelKind::Unsigned, 16},
                                                                  {TexelKind::Unsigned, 32},
                                                                  {TexelKind::Signed, 8},
                                                                  {TexelKind::Signed, 16},
                                                                  {TexelKind::Signed, 32},
                                                                  {TexelKind::Float, 16},
                                                                  {TexelKind::Float, 32}}};
  std::tie(out.kind, out.bits) = kTypes[below(random, kTypes.size())];
  out.channels = 1U << below(random, 3);
  out.reads_fractions = out.kind != TexelKind::Float && out.bits < 32 && chance(random);
  out.is_linear = out.gives_floats() && chance(random);
  out.is_normalized = chance(random);
  const AddressMode modes[] = {AddressMode::Clamp, AddressMode::Border, AddressMode::Wrap,
                               AddressMode::Mirror};
  out.mode = modes[below(random, out.is_normalized ? 4 : 2)];
  return out;
}

// Any integers; of floats, finite ones of middling size, and some small whole numbers.
std::vector<std::byte> random_texels(Random& random, const Texture& texture) {
  const std::size_t count = std::size_t{texture.extent[0]} * texture.extent[1] * texture.extent[2] *
                            std::max(texture.layers, 1U) * texture.channels;
  const unsigned bytes = texture.bits / 8;
  std::vector<std::byte> out(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    auto bits = static_cast<std::uint32_t>(random());
    if (texture.kind == TexelKind::Float && texture.bits == 32)
      bits = (bits & 0x807FFFFFU) | ((120 + below(random, 16)) << 23U);
    if (texture.kind == TexelKind::Float && texture.bits == 16)
      bits = (bits & 0x83FFU) | ((8 + below(random, 14)) << 10U);
    std::memcpy(out.data() + i * bytes, &bits, bytes);
  }
  return out;
}

// --- places

// Inside and outside, centres and edges and their neighbours, multiples of 1/512, tiny ones, and what is no
// place.
float random_coordinate(Random& random, float extent, bool is_normalized) {
  const float far = std::ldexp(1.0F, static_cast<int>(below(random, 30)));
  const float inside = extent * static_cast<float>(below(random, 1U << 20U)) / (1U << 20U);
  float out = inside;
  switch (below(random, 8)) {
    case 0:
      out = static_cast<float>(below(random, 4 * static_cast<unsigned>(extent) + 4)) / 2 - 1;
      break;
    case 1:
      out = std::floor(inside * 512) / 512;
      break;
    case 2:
      out = inside * 3 - extent;
      break;
    case 3:
      out = chance(random) ? far : -far;
      break;
    case 4:
      if (below(random, 8) == 0)
        out = chance(random) ? std::numeric_limits<float>::infinity()
                             : std::numeric_limits<float>::quiet_NaN();
      break;
    case 5:
      out = std::ldexp(chance(random) ? 1.0F : -1.0F, -static_cast<int>(below(random, 149)));
      break;
    default:
      break;
  }
  if (is_normalized) out /= extent;
  if (below(random, 4) == 0)
    out = std::nextafter(out, chance(random) ? std::numeric_limits<float>::infinity()
                                             : -std::numeric_limits<float>::infinity());
  return out;
}

std::vector<std::uint32_t> fetched_places(Random& random, const Texture& texture,
                                          std::size_t count) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      out.push_back(std::bit_cast<std::uint32_t>(random_coordinate(
          random, static_cast<float>(texture.extent[axis]), texture.is_normalized)));
    out.push_back(below(random, texture.layers + 2));
  }
  return out;
}

// Whole texels from two before the array to two behind it, each once: stores do not meet.
std::vector<std::uint32_t> surface_places(const Texture& texture) {
  const auto end = [&](unsigned axis) {
    return axis < texture.rank ? static_cast<int>(texture.extent[axis]) + 2 : 1;
  };
  const auto begin = [&](unsigned axis) { return axis < texture.rank ? -2 : 0; };
  std::vector<std::uint32_t> out;
  for (std::uint32_t layer = 0; layer < std::max(texture.layers, 1U); ++layer)
    for (int z = begin(2); z < end(2); ++z)
      for (int y = begin(1); y < end(1); ++y)
        for (int x = begin(0); x < end(0); ++x)
          for (const int word :
               {x * static_cast<int>(texture.texel_bytes()), y, z, static_cast<int>(layer)})
            out.push_back(static_cast<std::uint32_t>(word));
  return out;
}

// --- the kernel

// "{%r4, %r0, %r1, %r1}": the layer first; three are filled up to four.
std::string coordinates(const Texture& texture) {
  std::vector<std::string> out;
  if (texture.layers > 0) out.emplace_back("%r3");
  for (unsigned i = 0; i < texture.rank; ++i) out.push_back(fmt::format("%r{}", i));
  if (out.size() == 3) out.push_back(out.back());
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::string_view result_type(const Texture& texture) {
  if (texture.gives_floats()) return "f32";
  return texture.kind == TexelKind::Signed ? "s32" : "u32";
}

std::string instruction_text(const TextureCase& each) {
  const std::string_view out = "{%r4, %r5, %r6, %r7}";
  const Texture& texture = each.texture;
  const std::string shape = fmt::format("{}{}d", texture.layers > 0 ? "a" : "", texture.rank);
  const std::string at = fmt::format("[%rd0, {}]", coordinates(texture));
  const std::string_view outside = each.is_clamped ? "clamp" : "zero";
  switch (each.instruction) {
    case Instruction::Fetch:
      return fmt::format("tex.{}.v4.{}.f32 {}, {};", shape, result_type(texture), out, at);
    case Instruction::Gather:
      return fmt::format("tld4.{}.{}.v4.{}.f32 {}, {};", each.channel, shape, result_type(texture),
                         out, at);
    case Instruction::SurfaceLoad:
      return fmt::format("suld.b.{}.b32.{} %r4, {};", shape, outside, at);
    case Instruction::SurfaceStore:
      return fmt::format("sust.b.{}.b32.{} {}, %r4;", shape, outside, at);
  }
  return "";
}

}  // namespace

TextureCase random_case(Random& random, std::size_t places) {
  TextureCase out;
  const bool is_surface = below(random, 8) == 0;
  out.texture = random_texture(random, is_surface);
  out.texels = random_texels(random, out.texture);
  if (is_surface) {
    out.instruction = chance(random) ? Instruction::SurfaceLoad : Instruction::SurfaceStore;
    out.is_clamped = out.instruction == Instruction::SurfaceLoad && chance(random);
    out.places = surface_places(out.texture);
    return out;
  }
  const bool gathers = out.texture.rank == 2 && out.texture.layers == 0 && below(random, 4) == 0;
  out.instruction = gathers ? Instruction::Gather : Instruction::Fetch;
  out.channel = "rgba"[below(random, out.texture.channels)];
  out.places = fetched_places(random, out.texture, places);
  return out;
}

std::string kernel_of(const TextureCase& each) {
  return fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry fetch(.param .u64 image, .param .u64 places, .param .u64 out, .param .u32 n)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    mov.u32 %r8, %ctaid.x;
    mov.u32 %r9, %ntid.x;
    mov.u32 %r10, %tid.x;
    mad.lo.u32 %r8, %r8, %r9, %r10;
    ld.param.u32 %r9, [n];
    setp.ge.u32 %p1, %r8, %r9;
    @%p1 ret;
    ld.param.u64 %rd0, [image];
    ld.param.u64 %rd1, [places];
    ld.param.u64 %rd2, [out];
    mul.wide.u32 %rd3, %r8, 16;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%rd1];
    mov.u32 %r4, %r8;
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
    {}
    st.global.v4.b32 [%rd2], {{%r4, %r5, %r6, %r7}};
    ret;
}}
)",
                     instruction_text(each));
}

Row row_of(const TextureCase& each) {
  const Texture& texture = each.texture;
  if (texture.is_surface) return {"surfaces: suld, sust"};
  if (each.instruction == Instruction::Gather) return {"tld4"};
  if (!texture.is_linear) return {"points"};
  if (texture.kind == TexelKind::Signed && texture.bits == 8) return {"linear: fractions of s8"};
  if (texture.rank == 1 && texture.mode == AddressMode::Border) return {"linear, 1-D, border"};
  if (texture.rank < 3) return {"linear, 1-D and 2-D"};
  if (texture.kind == TexelKind::Float) return {"linear, 3-D: floats", false};
  return {"linear, 3-D: fractions"};
}

}  // namespace ww::device
