// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/named_args.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/suggest.h"

namespace ww::driver {
namespace {

constexpr std::int64_t kLargestSmall = 1 << 30;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const Piece& piece : split_top({text, 0}, ' '))
    if (!piece.empty()) words.push_back(piece.text);
  return words;
}

std::string listed(std::string_view choices) {
  std::string out;
  for (const std::string_view word : words_of(choices))
    out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> choose(std::string_view choices, std::string_view word) {
  for (const std::string_view choice : words_of(choices))
    if (same_word(choice, word)) return choice;
  return std::nullopt;
}

Diag refused(const LayoutParam& param, Piece piece) {
  return diag(DiagKind::BadArgument, "{} is `{}`; accepted: {}", param.name, piece.text,
              listed(param.choices))
      .with_span(piece.span());
}

Result<std::int64_t> read_number(const LayoutParam& param, Piece piece) {
  const std::int64_t value = WW_TRY(parse_int(piece));
  if (!param.choices.empty() && !choose(param.choices, fmt::format("{}", value)))
    return fail(refused(param, piece));
  return value;
}

Result<std::string_view> read_word(const LayoutParam& param, Piece piece) {
  if (param.choices.empty()) return piece.text;
  if (const auto choice = choose(param.choices, piece.text)) return *choice;
  Diag bad = refused(param, piece);
  bad.text += did_you_mean(piece.text, words_of(param.choices));
  return fail(std::move(bad));
}

Result<num::DType> read_dtype(const LayoutParam& param, Piece piece) {
  const num::DType type = WW_TRY(located(num::parse_dtype(piece.text), piece));
  if (param.choices.empty() || choose(param.choices, fmt::format("{}", num::bits_of(type))))
    return type;
  return fail(diag(DiagKind::BadArgument, "{} is `{}`, {} bits wide; accepted widths: {}",
                   param.name, piece.text, num::bits_of(type), listed(param.choices))
                  .with_span(piece.span()));
}

// `64x64`, or what parse_ints reads.
Result<layout::Shape> read_dims(Piece piece) {
  if (piece.text.find('x') == std::string_view::npos) return parse_ints(piece);
  layout::Shape dims;
  for (const Piece& part : split_top(piece, 'x')) dims.push_back(WW_TRY(parse_int(part)));
  return dims;
}

bool is_list(LayoutParamKind kind) {
  return kind == LayoutParamKind::Int || kind == LayoutParamKind::Ints;
}

// Which parameter an argument is for: by keyword, by being a flag's bare name, or by its turn.
class Assigner {
 public:
  Assigner(std::string_view name, std::span<const LayoutParam> params)
      : name_(name), params_(params) {}

  Result<std::size_t> by_keyword(Piece keyword) {
    for (std::size_t i = 0; i < params_.size(); ++i)
      if (params_[i].name == keyword.text) return i;
    std::vector<std::string_view> names;
    for (const LayoutParam& param : params_) names.push_back(param.name);
    return fail(diag(DiagKind::UnknownName, "`{}` has no parameter `{}`{}", name_, keyword.text,
                     did_you_mean(keyword.text, names))
                    .with_span(keyword.span())
                    .with_note(usage()));
  }

  Result<std::size_t> by_turn(Piece piece) {
    for (std::size_t i = 0; i < params_.size(); ++i)
      if (params_[i].kind == LayoutParamKind::Flag && params_[i].name == piece.text) return i;
    if (turn_ == params_.size())
      return fail(diag(DiagKind::BadArgument,
                       "`{}` takes at most {} argument{}, and `{}` is one more", name_,
                       params_.size(), params_.size() == 1 ? "" : "s", piece.text)
                      .with_span(piece.span())
                      .with_note(usage()));
    return params_[turn_].kind == LayoutParamKind::Ints ? turn_ : turn_++;
  }

  [[nodiscard]] bool next_takes_list() const {
    return turn_ < params_.size() && is_list(params_[turn_].kind);
  }
  [[nodiscard]] std::string usage() const {
    return fmt::format("usage: {}({})", name_, signature_of(params_));
  }

 private:
  std::string_view name_;
  std::span<const LayoutParam> params_;
  std::size_t turn_ = 0;
};

bool is_keyword(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

// A parenthesised list where numbers are due stands for its numbers.
std::vector<Piece> expanded(Piece piece, const Assigner& assigner) {
  if (assigner.next_takes_list() && piece.text.starts_with('('))
    return split_top(unwrapped(piece), ',');
  return {piece};
}

}  // namespace

std::string signature_of(std::span<const LayoutParam> params) {
  std::string out;
  for (const LayoutParam& param : params) {
    if (!out.empty()) out += ", ";
    const std::string_view dots = param.kind == LayoutParamKind::Ints ? "..." : "";
    out += param.optional ? fmt::format("[{}{}]", param.name, dots)
                          : fmt::format("{}{}", param.name, dots);
  }
  return out;
}

Result<NamedArgs::Value> NamedArgs::read_flag(const LayoutParam& param, Piece piece) {
  Value value{.is_given = true, .piece = piece, .numbers = {}, .word = {}};
  if (same_word(piece.text, param.name) || same_word(piece.text, "true") || piece.text == "1") {
    value.numbers.push_back(1);
    return value;
  }
  if (same_word(piece.text, "false") || piece.text == "0") return value;
  return fail(diag(DiagKind::BadArgument, "{} is `{}`; accepted: {}, true, false", param.name,
                   piece.text, param.name)
                  .with_span(piece.span()));
}

Result<NamedArgs::Value> NamedArgs::read(const LayoutParam& param, Piece quoted) {
  const Piece piece = unquoted(quoted);
  if (piece.empty())
    return fail(
        diag(DiagKind::Syntax, "expected {}, found nothing", param.name).with_span(piece.span()));
  Value value{.is_given = true, .piece = piece, .numbers = {}, .word = {}};
  switch (param.kind) {
    case LayoutParamKind::Int:
    case LayoutParamKind::Ints:
      value.numbers.push_back(WW_TRY(read_number(param, piece)));
      break;
    case LayoutParamKind::Dims:
      value.numbers = WW_TRY(read_dims(piece));
      break;
    case LayoutParamKind::Word:
      value.word = WW_TRY(read_word(param, piece));
      break;
    case LayoutParamKind::DType:
      value.dtype = WW_TRY(read_dtype(param, piece));
      break;
    case LayoutParamKind::Flag:
      return read_flag(param, piece);
  }
  return value;
}

// A second value is welcome only where a parameter takes a list.
Result<void> NamedArgs::store(const LayoutParam& param, std::size_t index, Piece piece) {
  Value value = WW_TRY(read(param, piece));
  Value& bound = bound_[index];
  if (!bound.is_given) {
    bound = std::move(value);
    return {};
  }
  if (param.kind != LayoutParamKind::Ints)
    return fail(
        diag(DiagKind::BadArgument, "{} is given twice", param.name).with_span(piece.span()));
  bound.numbers.push_back(value.numbers.front());
  const std::size_t begin = bound.piece.offset;
  bound.piece = {arguments_.text.substr(begin - arguments_.offset, piece.span().end - begin),
                 begin};
  return {};
}

Result<NamedArgs> NamedArgs::bind(std::string_view name, Piece arguments,
                                  std::span<const LayoutParam> params) {
  NamedArgs args;
  args.arguments_ = arguments;
  args.bound_.resize(params.size());
  Assigner assigner(name, params);
  for (const Piece& argument : split_top(arguments, ',')) {
    const auto keyword = cut_first(argument, '=');
    if (keyword && is_keyword(keyword->first.text)) {
      const std::size_t index = WW_TRY(assigner.by_keyword(keyword->first));
      WW_TRY_VOID(args.store(params[index], index, keyword->second));
      continue;
    }
    for (const Piece& piece : expanded(argument, assigner)) {
      const std::size_t index = WW_TRY(assigner.by_turn(piece));
      WW_TRY_VOID(args.store(params[index], index, piece));
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i)
    if (!params[i].optional && !args.has(i))
      return fail(diag(DiagKind::BadArgument, "`{}` needs {}", name, params[i].name)
                      .with_span(arguments.span())
                      .with_note(assigner.usage()));
  return args;
}

std::int64_t NamedArgs::number(std::size_t param, std::int64_t otherwise) const {
  return has(param) ? bound_[param].numbers.front() : otherwise;
}

// Clamped, so that a silly value stays silly instead of wrapping into a plausible one.
int NamedArgs::small(std::size_t param, int otherwise) const {
  return static_cast<int>(
      std::clamp<std::int64_t>(number(param, otherwise), -kLargestSmall, kLargestSmall));
}

Piece NamedArgs::place(std::size_t param) const {
  return has(param) ? bound_[param].piece : arguments_;
}

}  // namespace ww::driver
