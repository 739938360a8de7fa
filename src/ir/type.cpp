// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/ascii.h"
#include "base/result.h"

namespace ww::ir {
namespace {

constexpr std::array<std::string_view, 5> kScopeNames = {"global", "shared", "shared.dyn", "local",
                                                         "tmem"};

// "float16x2" -> 2 and "float16"; element types contain no digit after an `x`, so the last one
// counts.
int split_lanes(std::string_view& text) {
  const std::size_t x = text.rfind('x');
  if (x == std::string_view::npos || x == 0 || x + 1 == text.size()) return 1;
  int lanes = 0;
  const auto [end, error] = std::from_chars(text.data() + x + 1, text.data() + text.size(), lanes);
  if (error != std::errc{} || end != text.data() + text.size() || lanes < 1 || lanes > kMaxLanes)
    return 1;
  text = text.substr(0, x);
  return lanes;
}

}  // namespace

std::string_view name_of(Scope scope) { return kScopeNames.at(static_cast<std::size_t>(scope)); }

std::optional<Scope> find_scope(std::string_view name) {
  for (std::size_t i = 0; i < kScopeNames.size(); ++i)
    if (kScopeNames.at(i) == name) return static_cast<Scope>(i);
  return std::nullopt;
}

std::string to_text(Type type) {
  switch (type.kind) {
    case Type::Kind::Void:
      return "void";
    case Type::Kind::Text:
      return "text";
    case Type::Kind::Pointer:
      return type.opaque ? "handle" : fmt::format("handle({})", num::name_of(type.dtype));
    case Type::Kind::Value:
      break;
  }
  if (type.lanes == 1) return std::string(num::name_of(type.dtype));
  return fmt::format("{}x{}", num::name_of(type.dtype), type.lanes);
}

Result<Type> parse_value_type(std::string_view text) {
  std::string_view element = text;
  const int lanes = split_lanes(element);
  return Type::of(WW_TRY(num::parse_dtype(element)), static_cast<std::uint16_t>(lanes));
}

}  // namespace ww::ir
