// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/join.h"
#include "base/suggest.h"
#include "driver/args/file_plan.h"
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
  return fail_at(arg.fill, DiagKind::Syntax,
                 "expected what the buffer holds behind `:`, such as `arange`");
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
    return fail_at(Span::at(value.offset + i, value.offset + i + 1), DiagKind::Syntax,
                   "`{}` is not a hexadecimal digit", value.text[i]);
  }
  if (value.text.size() % 2 != 0)
    return fail_at(value.span(), DiagKind::Syntax, "{}; a byte has two",
                   plural(value.text.size(), "hexadecimal digit"));
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
  return diag_at(value.span(), DiagKind::Syntax, "expected a value, found `{}`", value.text)
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
    return fail_at(value.span(), DiagKind::Syntax, "expected `)` at the end of `{}`", value.text);
  const Piece inside{value.text.substr(prefix, value.text.size() - prefix - 1),
                     value.offset + prefix};
  std::vector<Piece> pieces = split_top(inside, ',');
  if (pieces.empty() || pieces[0].empty())
    return fail_at(value.span(), DiagKind::Syntax, "expected the array of the {} behind `(`",
                   title);
  return pieces;
}

Result<void> read_texture(SimArg& arg, Piece value, bool is_surface) {
  const auto pieces = WW_TRY(inside_of(value, is_surface ? "surface" : "texture"));
  arg.texture = WW_TRY(parse_texture_settings(std::span(pieces).subspan(1), is_surface));
  if (pieces[0].text.contains('[') || pieces[0].text.starts_with('@'))
    return read_value(arg, pieces[0]);
  return fail_at(pieces[0].span(), DiagKind::Syntax,
                 "expected an array such as `float32[16,32]:randn`, found `{}`", pieces[0].text);
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
    return fail_at(whole.span(), DiagKind::Syntax, "expected `{}`, found `{}`", wanted, text);
  const Piece key = trimmed({text.substr(0, equals), 0});
  const Piece value = trimmed({text.substr(equals + 1), equals + 1});
  if (key.empty())
    return fail_at(Span::at(equals, equals + 1), DiagKind::Syntax,
                   "expected a parameter before `=`, found nothing");
  return std::pair{key, value};
}

// --- parameters ---------------------------------------------------------------------------------

Diag no_such_name(Params params, std::string_view name) {
  std::vector<std::string_view> names;
  for (const sim::Param& param : params) names.push_back(param.name);
  return diag(DiagKind::UnknownName, "the kernel has no parameter `{}`{}", name,
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

Result<void> check_size(Params params, std::size_t index, const SimArg& arg) {
  const sim::Param& param = params[index];
  if (bytes_of(arg) == param.bytes) return {};
  Diag problem = diag_at(arg.value, DiagKind::BadArgument, "{} has {}; {} is `{}` and takes {}",
                         kind_text(arg), plural(bytes_of(arg), "byte"), param_title(params, index),
                         param_type_text(param), param.bytes);
  const bool is_part = bytes_of(arg) < param.bytes && param.type == isa::Type::B8 &&
                       param.bytes != sim::kTensorMapBytes;  // most likely one, not a struct
  if (!is_part) return fail(std::move(problem));
  return fail(std::move(problem).with_note(
      fmt::format("for a member of it, say at which byte it begins: `{}+0={}`", arg.part(arg.key),
                  arg.part(arg.value))));
}

// Puts one argument in its place.
Result<void> place(Params params, std::span<const SimArg> args, std::size_t which,
                   std::vector<std::size_t>& by_param) {
  const SimArg& arg = args[which];
  const std::size_t index = WW_TRY(find_param(params, arg.text, arg.key));
  if (by_param[index] < args.size())
    return fail(
        diag_at(arg.key, DiagKind::BadArgument, "{} is given twice", param_title(params, index))
            .with_note(fmt::format("first as `{}`", args[by_param[index]].text)));
  WW_TRY_VOID(check_size(params, index, arg));
  by_param[index] = which;
  return {};
}

Diag missing(Params params, std::size_t index) {
  return diag(DiagKind::BadArgument, "no argument for {}", param_title(params, index));
}

// The bytes of a struct that a key such as `0+128` means; nothing: it means no member.
Result<std::optional<sim::Param>> member_of(Params params, const SimArg& arg) {
  const std::string_view key = arg.part(arg.key);
  const std::size_t plus = key.rfind('+');
  if (plus == std::string_view::npos) return std::nullopt;
  const Span base = Span::at(arg.key.begin, arg.key.begin + plus);
  const sim::Param& whole = params[WW_TRY(find_param(params, arg.text, base))];
  std::uint32_t at = 0;
  const std::string_view digits = key.substr(plus + 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), at);
  if (error != std::errc() || stop != digits.data() + digits.size())
    return fail_at(arg.key, DiagKind::Syntax,
                   "expected the number of a byte behind `+`, found `{}`", digits);
  if (at > whole.bytes || bytes_of(arg) > whole.bytes - at)
    return fail_at(arg.key, DiagKind::OutOfBounds, "{} has {} from byte {} on; `{}` has {}",
                   kind_text(arg), plural(bytes_of(arg), "byte"), at, whole.name, whole.bytes);
  sim::Param out;
  out.name = std::string(key);
  out.type = isa::Type::B8;
  out.bytes = static_cast<std::uint32_t>(bytes_of(arg));
  out.offset = whole.offset + at;
  return out;
}

// Gives structs' places to the members that arguments name.
Result<void> add_members(Params params, const SimArg& arg, std::vector<sim::Param>& out) {
  const auto member = WW_TRY(member_of(params, arg));
  if (!member) return {};
  const auto overlaps = [&](const sim::Param& other) {
    return other.name.contains('+') && other.offset < member->offset + member->bytes &&
           member->offset < other.offset + other.bytes;
  };
  const auto other = std::ranges::find_if(out, overlaps);
  if (other != out.end() && other->name != member->name)
    return fail_at(arg.key, DiagKind::BadArgument, "`{}` shares bytes with `{}`", member->name,
                   other->name);
  if (other != out.end()) return {};  // given twice
  const auto whole = std::ranges::find_if(params, [&](const sim::Param& each) {
    return member->offset >= each.offset && member->offset < each.offset + each.bytes;
  });
  sim::Param& place = out[static_cast<std::size_t>(whole - params.begin())];
  if (place.name.contains('+'))
    out.push_back(*member);
  else
    place = *member;
  return {};
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
    return fail_at(value.span(), DiagKind::Syntax, "expected the name of a file behind `=`");
  return SimOut{std::string(text), key.span(), value.span(), std::string(value.text)};
}

std::string param_type_text(const sim::Param& param) {
  const isa::TypeInfo& type = isa::info(param.type);
  const auto bytes = static_cast<std::uint32_t>(std::max(8, type.bits)) / 8;
  if (param.bytes == bytes) return fmt::format(".{}", type.name);
  return fmt::format(".{}[{}]", type.name, param.bytes / bytes);
}

std::string param_title(Params params, std::size_t index) {
  const std::string& name = params[index].name;
  if (name.ends_with(fmt::format("_param_{}", index))) return fmt::format("parameter {}", index);
  return fmt::format("parameter {} `{}`", index, name);
}

Diag with_params(Diag problem, Params params) {
  if (params.empty()) problem.notes.push_back({"the kernel has no parameters", {}});
  for (std::size_t i = 0; i < std::min(params.size(), kShownParams); ++i) {
    const sim::Param& param = params[i];
    problem.notes.push_back({fmt::format("{}: `{}`, {}", param_title(params, i),
                                         param_type_text(param), plural(param.bytes, "byte")),
                             {}});
  }
  if (params.size() > kShownParams)
    problem.notes.push_back(
        {fmt::format("and {} more parameters", params.size() - kShownParams), {}});
  return problem;
}

Result<std::size_t> find_param(Params params, std::string_view text, Span key) {
  const std::string_view word = text.substr(key.begin, key.end - key.begin);
  for (std::size_t i = 0; i < params.size(); ++i)
    if (params[i].name == word) return i;
  if (!std::ranges::all_of(word, is_digit)) return fail(no_such_name(params, word).with_span(key));
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error == std::errc() && index < params.size()) return index;
  return fail_at(key, DiagKind::OutOfBounds, "no parameter {}: the kernel has {}", word,
                 params.size());
}

MatchedArgs match_args(Params params, std::span<const SimArg> args) {
  MatchedArgs out;
  out.params.assign(params.begin(), params.end());
  const auto refuse = [&](Diag problem, std::size_t which) {
    out.problem = ArgProblem{with_params(std::move(problem), params), which};
    return out;
  };
  for (std::size_t i = 0; i < args.size(); ++i)
    if (auto added = add_members(params, args[i], out.params); !added)
      return refuse(std::move(added).error(), i);
  out.by_param.assign(out.params.size(), args.size());
  for (std::size_t i = 0; i < args.size(); ++i)
    if (auto placed = place(out.params, args, i, out.by_param); !placed)
      return refuse(std::move(placed).error(), i);
  const auto gap = std::ranges::find(out.by_param, args.size());
  if (gap == out.by_param.end()) return out;
  return refuse(missing(out.params, static_cast<std::size_t>(gap - out.by_param.begin())),
                args.size());
}

// --- which kernel --------------------------------------------------------------------------------

namespace {

// The names of the kernels that a module has code for.
std::vector<std::string_view> kernel_names(const ptx::Module& module) {
  std::vector<std::string_view> names;
  for (const ptx::Function& function : module.functions) {
    if (function.kind == ptx::FunctionKind::Entry && function.has_body)
      names.push_back(module.text(function.name));
  }
  return names;
}

}  // namespace

Result<std::string> choose_kernel(const ptx::Module& module, const std::string& wanted,
                                  const ChoiceWords& words) {
  const auto names = kernel_names(module);
  if (names.empty()) return fail(DiagKind::BadArgument, "{} has no kernel", words.where);
  const std::string listed = fmt::format("kernels: {}", join(names, ", "));
  if (!wanted.empty() && std::ranges::find(names, wanted) == names.end())
    return fail(diag(DiagKind::UnknownName, "{} has no kernel `{}`{}", words.where, wanted,
                     did_you_mean(wanted, names))
                    .with_note(listed));
  if (wanted.empty() && names.size() > 1)
    return fail(diag(DiagKind::BadArgument, "{} has {} kernels, and {}", words.where, names.size(),
                     words.unnamed)
                    .with_note(listed));
  return wanted.empty() ? std::string(names.front()) : wanted;
}

}  // namespace ww::driver
