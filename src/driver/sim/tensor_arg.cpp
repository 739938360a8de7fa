// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/tensor_arg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/suggest.h"
#include "driver/args/array.h"

namespace ww::driver {
namespace {

constexpr std::string_view kMapLists[] = {"dims",  "strides", "box", "element_strides",
                                          "lower", "upper"};
constexpr std::string_view kMapNumbers[] = {"channels", "pixels", "offset"};
constexpr std::string_view kMapWords[] = {"type", "interleave", "swizzle", "fill", "promotion"};

std::vector<std::int64_t>& map_list_named(TensorMapSettings& settings, std::string_view name) {
  if (name == "dims") return settings.dims;
  if (name == "strides") return settings.strides;
  if (name == "box") return settings.box;
  if (name == "element_strides") return settings.element_strides;
  return name == "lower" ? settings.lower : settings.upper;
}

std::int64_t& map_number_named(TensorMapSettings& settings, std::string_view name) {
  if (name == "channels") return settings.channels;
  return name == "pixels" ? settings.pixels : settings.offset;
}

Result<std::vector<std::int64_t>> parse_map_list(Piece value) {
  Piece inside = trimmed(value);
  if (inside.text.starts_with('[') && inside.text.ends_with(']')) {
    inside = {inside.text.substr(1, inside.text.size() - 2), inside.offset + 1};
  }
  std::vector<std::int64_t> numbers;
  for (const Piece& piece : split_top(unwrapped(inside), ','))
    if (!piece.empty()) numbers.push_back(WW_TRY(parse_int(piece)));
  return numbers;
}

// The value of an enumeration by its word.
template <typename E>
Result<void> set_map_word(E& value, Piece word) {
  const auto words = sim::words_of(E{});
  const auto found = std::ranges::find(words, word.text);
  if (found == words.end())
    return fail_at(word.span(), DiagKind::UnknownName, "`{}`, expected {}", word.text,
                   join(words, ", "));
  value = static_cast<E>(found - words.begin());
  return {};
}

Result<void> set_map_type(TensorMapSettings& settings, Piece word) {
  std::vector<std::string_view> names;
  for (const sim::TensorTypeInfo& type : sim::tensor_types()) names.push_back(type.name);
  const auto found = std::ranges::find(names, word.text);
  if (found == names.end())
    return fail_at(word.span(), DiagKind::UnknownName, "no element type `{}` of tensor maps{}",
                   word.text, did_you_mean(word.text, names));
  settings.type = static_cast<sim::TensorType>(found - names.begin());
  return {};
}

Result<void> set_named_word(TensorMapSettings& settings, std::string_view name, Piece value) {
  if (name == "type") return set_map_type(settings, value);
  if (name == "interleave") return set_map_word(settings.interleave, value);
  if (name == "swizzle") return set_map_word(settings.swizzle, value);
  if (name == "fill") return set_map_word(settings.fill, value);
  return set_map_word(settings.promotion, value);
}

// --- from settings to a map ----------------------------------------------------------------------

// Writes the list into the map's array, innermost dimension first.
template <typename T, std::size_t kSize>
Result<void> put_list(std::string_view name, std::span<const std::int64_t> list, std::size_t wanted,
                      std::array<T, kSize>& to) {
  if (list.size() != wanted)
    return fail(diag(DiagKind::BadArgument, "`{}` has {} numbers, expected {}: [{}]", name,
                     list.size(), wanted, join(list, ",")));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int64_t value = list[list.size() - 1 - i];
    if (!std::is_signed_v<T> && value < 0)
      return fail(
          diag(DiagKind::BadArgument, "`{}` has {}, expected no negative numbers", name, value));
    if (value > std::int64_t{std::numeric_limits<std::int32_t>::max()} && sizeof(T) == 4)
      return fail(diag(DiagKind::BadArgument, "`{}` has {}, which is too large", name, value));
    to[i] = static_cast<T>(value);
  }
  return {};
}

// Strides of an array in C order, of all dimensions but the last. `row`: bytes of that one.
std::vector<std::int64_t> dense_map_strides(std::span<const std::int64_t> shape, std::int64_t row) {
  std::vector<std::int64_t> strides(shape.size() - 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i) {
    if (i + 1 < shape.size()) row *= shape[i];
    strides[i - 1] = row;
  }
  return strides;
}

// The extents of the tensor: those given, or the array's. Where the map's elements are packed and the
// array's are not, a row holds more of them.
Result<std::vector<std::int64_t>> map_dims(const TensorMapSettings& settings, sim::TensorType type,
                                           num::DType dtype, std::span<const std::int64_t> shape) {
  if (!settings.dims.empty()) return settings.dims;
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  const auto bits = static_cast<std::int64_t>(sim::info(type).bits);
  const auto stored = static_cast<std::int64_t>(num::storage_bits(dtype));
  if (!sim::is_packed(type) || dims.empty() || stored == bits) return dims;
  if (dims.back() * stored % bits != 0)
    return fail(
        diag(DiagKind::BadArgument,
             "rows of {} {} have {} bits, which are not whole elements of {}; `dims=` gives "
             "the extents",
             dims.back(), num::name_of(dtype), dims.back() * stored, sim::info(type).name));
  dims.back() = dims.back() * stored / bits;
  return dims;
}

Result<void> put_columns(const TensorMapSettings& settings, std::size_t rank, sim::TensorMap& map) {
  sim::Im2col& columns = map.im2col.emplace();
  const std::size_t corners = rank < 2 ? 0 : rank - 2;
  const std::vector<std::int64_t> zeros(corners);
  WW_TRY_VOID(
      put_list("lower", settings.lower.empty() ? zeros : settings.lower, corners, columns.lower));
  WW_TRY_VOID(
      put_list("upper", settings.upper.empty() ? zeros : settings.upper, corners, columns.upper));
  std::array<std::uint32_t, 1> number{};
  for (const auto& [name, value, to] :
       {std::tuple{"channels", settings.channels, &columns.channels},
        std::tuple{"pixels", settings.pixels, &columns.pixels}}) {
    WW_TRY_VOID(put_list(name, std::span(&value, 1), 1, number));
    *to = number[0];
  }
  return {};
}

bool asks_im2col(const TensorMapSettings& settings) {
  return settings.channels != 0 || settings.pixels != 0 || !settings.lower.empty() ||
         !settings.upper.empty();
}

}  // namespace

Result<void> set_map_setting(TensorMapSettings& settings, Piece name, Piece value) {
  if (std::ranges::find(kMapLists, name.text) != std::end(kMapLists)) {
    map_list_named(settings, name.text) = WW_TRY(parse_map_list(value));
    return {};
  }
  if (std::ranges::find(kMapNumbers, name.text) != std::end(kMapNumbers)) {
    map_number_named(settings, name.text) = WW_TRY(parse_int(value));
    return {};
  }
  if (std::ranges::find(kMapWords, name.text) != std::end(kMapWords))
    return set_named_word(settings, name.text, value);
  std::vector<std::string_view> all(std::begin(kMapLists), std::end(kMapLists));
  all.insert(all.end(), std::begin(kMapNumbers), std::end(kMapNumbers));
  all.insert(all.end(), std::begin(kMapWords), std::end(kMapWords));
  return fail_at(name.span(), DiagKind::UnknownName, "tensor maps have no setting `{}`{}",
                 name.text, did_you_mean(name.text, all));
}

Result<TensorMapSettings> parse_map_settings(std::span<const Piece> pieces) {
  TensorMapSettings settings;
  for (const Piece& piece : pieces) {
    const auto parts = cut_first(piece, '=');
    if (!parts)
      return fail_at(piece.span(), DiagKind::Syntax, "expected `name=value`, found `{}`",
                     piece.text);
    WW_TRY_VOID(set_map_setting(settings, trimmed(parts->first), trimmed(parts->second)));
  }
  return settings;
}

std::optional<sim::TensorType> tensor_type_for(num::DType dtype) {
  const std::string_view name = num::name_of(dtype);
  const auto types = sim::tensor_types();
  const auto same = std::ranges::find(types, name, &sim::TensorTypeInfo::name);
  if (same != types.end()) return static_cast<sim::TensorType>(same - types.begin());
  const auto bits = num::storage_bits(dtype);
  if (bits == 8) return sim::TensorType::U8;
  if (bits == 16) return sim::TensorType::U16;
  return {};
}

Result<sim::TensorMap> make_tensor_map(const TensorMapSettings& settings, num::DType dtype,
                                       std::span<const std::int64_t> shape, std::uint64_t address) {
  sim::TensorMap map;
  const auto type = settings.type ? settings.type : tensor_type_for(dtype);
  if (!type)
    return fail(diag(DiagKind::BadArgument, "tensor maps have no elements of {}; `type=` names one",
                     num::name_of(dtype)));
  map.type = *type;
  const std::vector<std::int64_t> dims = WW_TRY(map_dims(settings, *type, dtype, shape));
  if (dims.empty() || dims.size() > sim::kMaxTensorRank)
    return fail(diag(DiagKind::BadArgument, "a tensor of {} dimensions, expected 1 to {}",
                     dims.size(), sim::kMaxTensorRank));
  map.rank = static_cast<unsigned>(dims.size());
  map.address = address + static_cast<std::uint64_t>(settings.offset);
  map.interleave = settings.interleave;
  map.swizzle = settings.swizzle;
  map.fill = settings.fill;
  map.promotion = settings.promotion;
  WW_TRY_VOID(put_list("dims", dims, map.rank, map.dims));
  const auto row = static_cast<std::int64_t>(sim::bytes_of(map, map.dims[0]));
  WW_TRY_VOID(put_list("strides",
                       settings.strides.empty() ? dense_map_strides(dims, row) : settings.strides,
                       map.rank - 1, map.strides));
  if (!settings.element_strides.empty())
    WW_TRY_VOID(
        put_list("element_strides", settings.element_strides, map.rank, map.element_strides));
  if (asks_im2col(settings)) {
    WW_TRY_VOID(put_columns(settings, map.rank, map));
  } else {
    WW_TRY_VOID(put_list("box", settings.box, map.rank, map.box));
  }
  WW_TRY_VOID(sim::check_tensor_map(map));
  return map;
}

// --- textures ------------------------------------------------------------------------------------

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
    return fail_at(word.span(), DiagKind::UnknownName, "`{}`, expected {}", word.text,
                   join(words, ", "));
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
    return fail_at(value.span(), DiagKind::BadArgument, "{} channels, expected 1, 2 or 4",
                   settings.channels);
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
      return fail_at(piece.span(), DiagKind::Syntax, "expected `name=value`, found `{}`",
                     piece.text);
    const Piece name = trimmed(parts->first);
    if (std::ranges::find(known, name.text) == known.end())
      return fail_at(name.span(), DiagKind::UnknownName, "{} have no setting `{}`{}",
                     is_surface ? "surfaces" : "textures", name.text,
                     did_you_mean(name.text, std::vector(known.begin(), known.end())));
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
