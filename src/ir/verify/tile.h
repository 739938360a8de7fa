// SPDX-License-Identifier: Apache-2.0
// The tile call under check, for tile*.cpp: its arguments, its settings, and the rules that relate
// the arguments.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ir/verify/verifier.h"

namespace ww::ir::verifying {

struct TileCheck {
  Context& c;
  const TileCall& call;
  Span span;
  const Function& f = c.f;
  const std::vector<TileParam>& params = params_of(call.op);

  [[nodiscard]] std::string_view name() const { return name_of(call.op); }
  /// The argument of that name; null if it is not a region.
  [[nodiscard]] const Region* region(std::string_view param) const;
  /// Always false.
  template <typename... Args>
  bool bad(fmt::format_string<Args...> format, Args&&... args) const {
    c.report(DiagKind::BadTileCall, span, format, std::forward<Args>(args)...);
    return false;
  }
};

/// Kinds, regions and their bounds. False: the arguments cannot be looked at together.
bool check_arguments(const TileCheck& t);
/// Names and values of settings, and that they mean something in this call.
void check_settings(const TileCheck& t);

}  // namespace ww::ir::verifying
