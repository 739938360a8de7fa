// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/suggest.h"
#include "driver/args/file_spec.h"
#include "driver/args/text.h"
#include "driver/report_parts.h"
#include "isa/type.h"
#include "sim/tensor_map/image.h"

namespace ww::driver {
namespace {

constexpr std::uint32_t kPointerBytes = 8;
// Kernels of machine-written PTX may have thousands of parameters; show no more than this.
constexpr std::size_t kShownParams = 64;

// --- values -------------------------------------------------------------------------------------

Result<void> read_buffer(SimArg& arg, Piece value) {
  arg.kind = ArgKind::Buffer;
  const auto parts = cut_first(value, ':');
  const Piece type = parts ? parts->first : value;
  arg.type = WW_TRY(located(parse_shaped_type(type.text), type));
  if (!parts) return {};
  arg.fill = parts->second.span();
  if (!parts->second.empty()) return {};
  return fail(diag(DiagKind::Syntax, "expected what the buffer holds behind `:`, such as `arange`")
                  .with_span(arg.fill));
}

Result<void> read_file_name(SimArg& arg, Piece value) {
  arg.kind = ArgKind::File;
  FileSpec file = WW_TRY(parse_file_spec(value));
  arg.path = std::move(file.path);
  arg.wanted = file.type;
  return {};
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Result<void> read_bytes(SimArg& arg, Piece value) {
  arg.kind = ArgKind::Bytes;
  for (std::size_t i = 0; i < value.text.size(); ++i) {
    if (hex_digit(value.text[i]) >= 0) continue;
    return fail(diag(DiagKind::Syntax, "`{}` is not a hexadecimal digit", value.text[i])
                    .with_span(Span::at(value.offset + i, value.offset + i + 1)));
  }
  if (value.text.size() % 2 != 0)
    return fail(
        diag(DiagKind::Syntax, "{}; a byte has two", plural(value.text.size(), "hexadecimal digit"))
            .with_span(value.span()));
  for (std::size_t i = 0; i < value.text.size(); i += 2)
    arg.bytes.push_back(
        static_cast<std::byte>(hex_digit(value.text[i]) * 16 + hex_digit(value.text[i + 1])));
  return {};
}

Result<void> read_scalar(SimArg& arg, Piece type, Piece value) {
  arg.kind = ArgKind::Scalar;
  const num::DType dtype = WW_TRY(located(num::parse_dtype(type.text), type));
  arg.scalar = WW_TRY(located(parse_scalar(dtype, value.text), value));
  return {};
}

Diag no_value(Piece value) {
  return diag(DiagKind::Syntax, "expected a value, found `{}`", value.text)
      .with_span(value.span())
      .with_note("buffers: `float16[8,16]:arange`, `float16[8,16]` (an output), `@in.npy`")
      .with_note("values: `i32:42`, `bytes:00ff`, `null`")
      .with_note("tensor maps: `tensormap(float16[64,64], box=[8,64])`")
      .with_note(
          "textures: `texture(float32[16,32]:randn, filter=linear)`, `surface(uint32[16,32])`");
}

Result<void> read_value(SimArg& arg, Piece value);

// What stands between the parentheses of `word(`: the array, then settings.
Result<std::vector<Piece>> inside_of(Piece value, std::string_view title) {
  const std::size_t prefix = value.text.find('(') + 1;
  if (!value.text.ends_with(')'))
    return fail(diag(DiagKind::Syntax, "expected `)` at the end of `{}`", value.text)
                    .with_span(value.span()));
  const Piece inside{value.text.substr(prefix, value.text.size() - prefix - 1),
                     value.offset + prefix};
  std::vector<Piece> pieces = split_top(inside, ',');
  if (pieces.empty() || pieces[0].empty())
    return fail(diag(DiagKind::Syntax, "expected the array of the {} behind `(`", title)
                    .with_span(value.span()));
  return pieces;
}

Result<void> read_texture(SimArg& arg, Piece value, bool is_surface) {
  const auto pieces = WW_TRY(inside_of(value, is_surface ? "surface" : "texture"));
  arg.texture = WW_TRY(parse_texture_settings(std::span(pieces).subspan(1), is_surface));
  if (pieces[0].text.contains('[') || pieces[0].text.starts_with('@'))
    return read_value(arg, pieces[0]);
  return fail(diag(DiagKind::Syntax, "expected an array such as `float32[16,32]:randn`, found `{}`",
                   pieces[0].text)
                  .with_span(pieces[0].span()));
}

Result<void> read_tensor_map(SimArg& arg, Piece value) {
  const auto pieces = WW_TRY(inside_of(value, "tensor map"));
  arg.map = WW_TRY(parse_map_settings(std::span(pieces).subspan(1)));
  const bool is_array = pieces[0].text.contains('[') || pieces[0].text.starts_with('@');
  if (is_array) return read_value(arg, pieces[0]);
  arg.kind = ArgKind::MapOfOther;
  arg.other = pieces[0].span();
  return {};
}

Result<void> read_value(SimArg& arg, Piece value) {
  if (value.text == "null") {
    arg.kind = ArgKind::Null;
    return {};
  }
  if (value.text.starts_with("tensormap(")) return read_tensor_map(arg, value);
  if (value.text.starts_with("texture(")) return read_texture(arg, value, false);
  if (value.text.starts_with("surface(")) return read_texture(arg, value, true);
  if (value.text.starts_with('@'))
    return read_file_name(arg, {value.text.substr(1), value.offset + 1});
  const auto parts = cut_first(value, ':');
  const Piece first = parts ? parts->first : value;
  if (first.text.contains('[')) return read_buffer(arg, value);
  if (!parts) return fail(no_value(value));
  if (first.text == "buffer") return read_buffer(arg, parts->second);
  if (first.text == "bytes") return read_bytes(arg, parts->second);
  return read_scalar(arg, first, parts->second);
}

// What stands before and after the first `=`.
Result<std::pair<Piece, Piece>> cut_key(std::string_view text, std::string_view wanted) {
  const Piece whole{text, 0};
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return fail(
        diag(DiagKind::Syntax, "expected `{}`, found `{}`", wanted, text).with_span(whole.span()));
  const Piece key = trimmed({text.substr(0, equals), 0});
  const Piece value = trimmed({text.substr(equals + 1), equals + 1});
  if (key.empty())
    return fail(diag(DiagKind::Syntax, "expected a parameter before `=`, found nothing")
                    .with_span(Span::at(equals, equals + 1)));
  return std::pair{key, value};
}

// --- parameters ---------------------------------------------------------------------------------

Diag no_such_name(const sim::Code& kernel, std::string_view name) {
  std::vector<std::string_view> names;
  for (const sim::Param& param : kernel.params) names.push_back(param.name);
  return diag(DiagKind::UnknownName, "kernel `{}` has no parameter `{}`{}", kernel.name, name,
              did_you_mean(name, names));
}

std::string kind_text(const SimArg& arg) {
  if (arg.map) return "a tensor map";
  if (arg.texture) return arg.texture->is_surface ? "a surface" : "a texture";
  switch (arg.kind) {
    case ArgKind::Buffer:
    case ArgKind::File:
      return "the address of a buffer";
    case ArgKind::Null:
      return "a null pointer";
    case ArgKind::Scalar:
      return fmt::format("`{}`", num::name_of(arg.scalar.dtype));
    case ArgKind::Bytes:
    case ArgKind::MapOfOther:
      break;
  }
  return "what is given";
}

std::size_t bytes_of(const SimArg& arg) {
  if (arg.map) return sim::kTensorMapBytes;
  if (arg.kind == ArgKind::Scalar) return arg.scalar.data.size();
  return arg.kind == ArgKind::Bytes ? arg.bytes.size() : kPointerBytes;
}

Result<void> check_size(const sim::Code& kernel, std::size_t index, const SimArg& arg) {
  const sim::Param& param = kernel.params[index];
  if (bytes_of(arg) == param.bytes) return {};
  return fail(diag(DiagKind::BadArgument, "{} has {}; {} is `{}` and takes {}", kind_text(arg),
                   plural(bytes_of(arg), "byte"), param_title(kernel, index),
                   param_type_text(param), param.bytes)
                  .with_span(arg.value));
}

// Puts one argument in its place.
Result<void> place(const sim::Code& kernel, std::span<const SimArg> args, std::size_t which,
                   std::vector<std::size_t>& by_param) {
  const SimArg& arg = args[which];
  const std::size_t index = WW_TRY(find_param(kernel, arg.text, arg.key));
  if (by_param[index] < args.size())
    return fail(diag(DiagKind::BadArgument, "{} is given twice", param_title(kernel, index))
                    .with_span(arg.key)
                    .with_note(fmt::format("first as `{}`", args[by_param[index]].text)));
  WW_TRY_VOID(check_size(kernel, index, arg));
  by_param[index] = which;
  return {};
}

Diag missing(const sim::Code& kernel, std::size_t index) {
  return diag(DiagKind::BadArgument, "no argument for {} of kernel `{}`",
              param_title(kernel, index), kernel.name);
}

}  // namespace

Result<SimArg> parse_sim_arg(std::string_view text) {
  const auto [key, value] = WW_TRY(cut_key(text, "PARAMETER=VALUE"));
  SimArg arg{.text = std::string(text), .key = key.span(), .value = value.span()};
  WW_TRY_VOID(read_value(arg, value));
  return arg;
}

Result<SimOut> parse_sim_out(std::string_view text) {
  const auto [key, value] = WW_TRY(cut_key(text, "PARAMETER=FILE"));
  if (value.empty())
    return fail(
        diag(DiagKind::Syntax, "expected the name of a file behind `=`").with_span(value.span()));
  return SimOut{std::string(text), key.span(), value.span(), std::string(value.text)};
}

std::string param_type_text(const sim::Param& param) {
  const isa::TypeInfo& type = isa::info(param.type);
  const auto bytes = static_cast<std::uint32_t>(std::max(8, type.bits)) / 8;
  if (param.bytes == bytes) return fmt::format(".{}", type.name);
  return fmt::format(".{}[{}]", type.name, param.bytes / bytes);
}

std::string param_title(const sim::Code& kernel, std::size_t index) {
  const std::string& name = kernel.params[index].name;
  if (name.ends_with(fmt::format("_param_{}", index))) return fmt::format("parameter {}", index);
  return fmt::format("parameter {} `{}`", index, name);
}

Diag with_params(Diag problem, const sim::Code& kernel) {
  if (kernel.params.empty())
    problem.notes.push_back({fmt::format("kernel `{}` has no parameters", kernel.name), {}});
  for (std::size_t i = 0; i < std::min(kernel.params.size(), kShownParams); ++i) {
    const sim::Param& param = kernel.params[i];
    problem.notes.push_back({fmt::format("parameter {}: `{}`, `{}`, {}", i, param.name,
                                         param_type_text(param), plural(param.bytes, "byte")),
                             {}});
  }
  if (kernel.params.size() > kShownParams)
    problem.notes.push_back(
        {fmt::format("and {} more parameters", kernel.params.size() - kShownParams), {}});
  return problem;
}

Result<std::size_t> find_param(const sim::Code& kernel, std::string_view text, Span key) {
  const std::string_view word = text.substr(key.begin, key.end - key.begin);
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    if (kernel.params[i].name == word) return i;
  if (!std::ranges::all_of(word, is_digit)) return fail(no_such_name(kernel, word).with_span(key));
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error == std::errc() && index < kernel.params.size()) return index;
  return fail(diag(DiagKind::OutOfBounds, "no parameter {}: kernel `{}` has {}", word, kernel.name,
                   kernel.params.size())
                  .with_span(key));
}

MatchedArgs match_args(const sim::Code& kernel, std::span<const SimArg> args) {
  MatchedArgs out;
  out.by_param.assign(kernel.params.size(), args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    auto placed = place(kernel, args, i, out.by_param);
    if (placed) continue;
    out.problem = ArgProblem{with_params(std::move(placed).error(), kernel), i};
    return out;
  }
  const auto gap = std::ranges::find(out.by_param, args.size());
  if (gap != out.by_param.end()) {
    const auto index = static_cast<std::size_t>(gap - out.by_param.begin());
    out.problem = ArgProblem{with_params(missing(kernel, index), kernel), args.size()};
  }
  return out;
}

}  // namespace ww::driver
