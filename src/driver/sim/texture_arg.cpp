// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/texture_arg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/join.h"
#include "base/suggest.h"

namespace ww::driver {
namespace {

// Extents of the arrays that CUDA takes.
constexpr std::int64_t kMaxExtent = 131072;
constexpr std::int64_t kMaxLayers = 2048;

constexpr std::string_view kSurfaceSettings[] = {"channels", "layered"};
constexpr std::string_view kTextureSettings[] = {"channels", "layered",     "filter",
                                                 "address",  "coordinates", "read"};

// The number of a word in a list.
Result<std::size_t> number_of(Piece word, std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, word.text);
  if (found == words.end())
    return fail(diag(DiagKind::UnknownName, "`{}`, expected {}", word.text, join(words, ", "))
                    .with_span(word.span()));
  return static_cast<std::size_t>(found - words.begin());
}

// The second of two words.
Result<bool> is_second(Piece word, std::string_view no, std::string_view yes) {
  const std::array<std::string_view, 2> words{no, yes};
  return WW_TRY(number_of(word, words)) == 1;
}

Result<void> set_texture_setting(TextureSettings& settings, Piece name, Piece value) {
  if (name.text == "channels") {
    settings.channels = WW_TRY(parse_int(value));
    if (settings.channels == 1 || settings.channels == 2 || settings.channels == 4) return {};
    return fail(diag(DiagKind::BadArgument, "{} channels, expected 1, 2 or 4", settings.channels)
                    .with_span(value.span()));
  }
  if (name.text == "layered") {
    settings.is_layered = WW_TRY(is_second(value, "false", "true"));
  } else if (name.text == "filter") {
    settings.is_linear = WW_TRY(is_second(value, "point", "linear"));
  } else if (name.text == "coordinates") {
    settings.is_normalized = WW_TRY(is_second(value, "texels", "normalized"));
  } else if (name.text == "read") {
    settings.reads_fractions = WW_TRY(is_second(value, "elements", "fractions"));
  } else {
    const auto words = sim::words_of(sim::AddressMode{});
    settings.mode = static_cast<sim::AddressMode>(WW_TRY(number_of(value, words)));
  }
  return {};
}

struct TexelType {
  sim::TexelKind kind{};
  unsigned bits = 0;
};
std::optional<TexelType> texel_type(num::DType dtype) {
  using sim::TexelKind;
  switch (dtype) {
    case num::DType::Uint8:
      return TexelType{TexelKind::Unsigned, 8};
    case num::DType::Uint16:
      return TexelType{TexelKind::Unsigned, 16};
    case num::DType::Uint32:
      return TexelType{TexelKind::Unsigned, 32};
    case num::DType::Int8:
      return TexelType{TexelKind::Signed, 8};
    case num::DType::Int16:
      return TexelType{TexelKind::Signed, 16};
    case num::DType::Int32:
      return TexelType{TexelKind::Signed, 32};
    case num::DType::Float16:
      return TexelType{TexelKind::Float, 16};
    case num::DType::Float32:
      return TexelType{TexelKind::Float, 32};
    default:
      return std::nullopt;
  }
}

// Takes the channels from the end of the extents and the layers from their start.
Result<void> set_extents(const TextureSettings& settings, std::vector<std::int64_t> shape,
                         sim::Texture& out) {
  if (settings.channels > 1) {
    if (shape.empty() || shape.back() != settings.channels)
      return fail(diag(DiagKind::BadArgument, "the last extent of [{}] is not the {} channels",
                       join(shape, ","), settings.channels));
    shape.pop_back();
  }
  if (settings.is_layered && !shape.empty()) {
    if (shape[0] > kMaxLayers)
      return fail(DiagKind::BadArgument, "{} layers, at most {}", shape[0], kMaxLayers);
    out.layers = static_cast<std::uint32_t>(shape[0]);
    shape.erase(shape.begin());
  }
  const std::size_t most = settings.is_layered ? 2 : 3;
  if (shape.empty() || shape.size() > most)
    return fail(DiagKind::BadArgument, "a texture of {} dimensions, expected 1 to {}", shape.size(),
                most);
  out.rank = static_cast<unsigned>(shape.size());
  std::ranges::reverse(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 1 || shape[d] > kMaxExtent)
      return fail(DiagKind::BadArgument,
                  "a texture with {} texels in a dimension, expected 1 to {}", shape[d],
                  kMaxExtent);
    out.extent[d] = static_cast<std::uint32_t>(shape[d]);
  }
  return {};
}

// What CUDA would refuse.
Result<void> check_texture(const sim::Texture& it, num::DType dtype) {
  if (it.reads_fractions && (it.kind == sim::TexelKind::Float || it.bits == 32))
    return fail(DiagKind::BadArgument,
                "`read=fractions` is for integers of 8 and 16 bits, not for {}",
                num::name_of(dtype));
  if (it.is_linear && !it.gives_floats())
    return fail(diag(DiagKind::BadArgument, "`filter=linear` is for floats, and the texels are {}",
                     num::name_of(dtype))
                    .with_note("`read=fractions` reads small integers as floats"));
  const bool repeats = it.mode == sim::AddressMode::Wrap || it.mode == sim::AddressMode::Mirror;
  if (repeats && !it.is_normalized)
    return fail(DiagKind::BadArgument, "`address={}` needs `coordinates=normalized`",
                sim::words_of(it.mode)[static_cast<std::size_t>(it.mode)]);
  return {};
}

}  // namespace

Result<TextureSettings> parse_texture_settings(std::span<const Piece> pieces, bool is_surface) {
  TextureSettings settings{.is_surface = is_surface};
  const auto known = is_surface ? std::span<const std::string_view>(kSurfaceSettings)
                                : std::span<const std::string_view>(kTextureSettings);
  for (const Piece& piece : pieces) {
    const auto parts = cut_first(piece, '=');
    if (!parts)
      return fail(diag(DiagKind::Syntax, "expected `name=value`, found `{}`", piece.text)
                      .with_span(piece.span()));
    const Piece name = trimmed(parts->first);
    if (std::ranges::find(known, name.text) == known.end())
      return fail(diag(DiagKind::UnknownName, "{} have no setting `{}`{}",
                       is_surface ? "surfaces" : "textures", name.text,
                       did_you_mean(name.text, std::vector(known.begin(), known.end())))
                      .with_span(name.span()));
    WW_TRY_VOID(set_texture_setting(settings, name, trimmed(parts->second)));
  }
  return settings;
}

Result<sim::Texture> make_texture(const TextureSettings& settings, num::DType dtype,
                                  std::span<const std::int64_t> shape, std::uint64_t address) {
  const auto type = texel_type(dtype);
  if (!type)
    return fail(DiagKind::BadArgument,
                "textures have no texels of {}; there are u8, s8, u16, s16, u32, s32, f16, f32",
                num::name_of(dtype));
  sim::Texture out{.address = address,
                   .kind = type->kind,
                   .bits = type->bits,
                   .channels = static_cast<unsigned>(settings.channels),
                   .is_surface = settings.is_surface,
                   .is_linear = settings.is_linear,
                   .is_normalized = settings.is_normalized,
                   .reads_fractions = settings.reads_fractions,
                   .mode = settings.mode};
  WW_TRY_VOID(set_extents(settings, {shape.begin(), shape.end()}, out));
  WW_TRY_VOID(check_texture(out, dtype));
  return out;
}

}  // namespace ww::driver
