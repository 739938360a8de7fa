// SPDX-License-Identifier: Apache-2.0
#include "ptx/words.h"

#include <cstddef>
#include <iterator>

namespace ww::ptx {
namespace {

// In the order of the enumerations; the empty word is never met in a text.
constexpr std::string_view kSpaces[] = {".reg", ".global", ".const", ".shared", ".local", ".param"};
constexpr std::string_view kLinkages[] = {"", ".extern", ".visible", ".weak", ".common"};
constexpr std::string_view kOpaques[] = {"", ".texref", ".samplerref", ".surfref"};

template <typename Enum, std::size_t N>
std::optional<Enum> find(const std::string_view (&words)[N], std::string_view word) {
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view word_of(Space space) { return kSpaces[static_cast<std::size_t>(space)]; }
std::string_view word_of(Linkage linkage) { return kLinkages[static_cast<std::size_t>(linkage)]; }
std::string_view word_of(Opaque opaque) { return kOpaques[static_cast<std::size_t>(opaque)]; }

std::optional<Space> space_of(std::string_view word) { return find<Space>(kSpaces, word); }
std::optional<Linkage> linkage_of(std::string_view word) { return find<Linkage>(kLinkages, word); }
std::optional<Opaque> opaque_of(std::string_view word) { return find<Opaque>(kOpaques, word); }

std::optional<std::uint8_t> vector_of(std::string_view word) {
  if (word == ".v2") return std::uint8_t{2};
  if (word == ".v4") return std::uint8_t{4};
  if (word == ".v8") return std::uint8_t{8};
  return std::nullopt;
}

std::optional<isa::Type> declared_type_of(std::string_view word) {
  if (!word.starts_with('.')) return std::nullopt;
  const std::optional<isa::Type> type = isa::parse_type(word.substr(1));
  return type && isa::info(*type).declarable ? type : std::nullopt;
}

std::optional<DirectiveKind> directive_of(std::string_view word) {
  if (!word.starts_with('.')) return std::nullopt;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(DirectiveKind::Pragma); ++i) {
    const auto kind = static_cast<DirectiveKind>(i);
    if (info(kind).text == word.substr(1)) return kind;
  }
  return std::nullopt;
}

}  // namespace ww::ptx
