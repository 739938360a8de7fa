// SPDX-License-Identifier: Apache-2.0
#include "num/dtype.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "base/split.h"
#include "base/suggest.h"

namespace ww::num {
namespace {

struct Row {
  std::string_view name;
  std::vector<std::string_view> aliases;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
#define WW_DTYPE(id, name, bits, kind, aliases) {name, split_words(aliases)},
#include "num/dtypes.def"
#undef WW_DTYPE
  };
  return table;
}

const Row& row_of(DType type) { return rows()[std::to_underlying(type)]; }

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_called(const Row& row, std::string_view text) {
  const auto matches = [&](std::string_view name) { return same_word(name, text); };
  return matches(row.name) || std::any_of(row.aliases.begin(), row.aliases.end(), matches);
}

std::vector<std::string_view> all_spellings() {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) names.push_back(row.name);
  for (const Row& row : rows()) names.insert(names.end(), row.aliases.begin(), row.aliases.end());
  return names;
}

}  // namespace

std::string_view name_of(DType type) { return row_of(type).name; }
std::span<const std::string_view> aliases_of(DType type) { return row_of(type).aliases; }

std::span<const DType> all_dtypes() {
  static constexpr std::array kAll = {
#define WW_DTYPE(id, name, bits, kind, aliases) DType::id,
#include "num/dtypes.def"
#undef WW_DTYPE
  };
  return kAll;
}

Result<DType> parse_dtype(std::string_view text) {
  for (const DType type : all_dtypes())
    if (is_called(row_of(type), text)) return type;
  return fail(diag(DiagKind::UnknownName, "`{}` is not an element type{}", text,
                   did_you_mean(text, all_spellings()))
                  .with_span(Span::at(0, text.size())));
}

}  // namespace ww::num
