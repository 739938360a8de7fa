// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include "base/result.h"

namespace ww {

std::string_view name_of(DiagKind kind) {
  switch (kind) {
#define WW_DIAG(name, meaning) \
  case DiagKind::name:         \
    return #name;
#include "base/diag_kinds.def"
#undef WW_DIAG
  }
  return "?";
}

std::string_view meaning_of(DiagKind kind) {
  switch (kind) {
#define WW_DIAG(name, meaning) \
  case DiagKind::name:         \
    return meaning;
#include "base/diag_kinds.def"
#undef WW_DIAG
  }
  return "?";
}

std::string_view group_of(DiagKind kind) {
  std::string_view title;
#define WW_DIAG_GROUP(text) title = text;
#define WW_DIAG(name, meaning) \
  if (kind == DiagKind::name) return title;
#include "base/diag_kinds.def"
#undef WW_DIAG
  return "?";
}

const std::vector<DiagKind>& all_diag_kinds() {
  static const std::vector<DiagKind> kinds = {
#define WW_DIAG(name, meaning) DiagKind::name,
#include "base/diag_kinds.def"
#undef WW_DIAG
  };
  return kinds;
}

Diag diag_with(DiagKind kind, fmt::string_view format, fmt::format_args args) {
  return Diag{kind, fmt::vformat(format, args), {}, {}};
}

Unexpected<Diag> fail(Diag&& d) { return Unexpected(std::move(d)); }
Unexpected<Diag> fail(const Diag& d) { return Unexpected(d); }
Unexpected<Diag> fail_with(DiagKind kind, fmt::string_view format, fmt::format_args args) {
  return Unexpected(diag_with(kind, format, args));
}

}  // namespace ww
