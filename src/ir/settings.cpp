// SPDX-License-Identifier: Apache-2.0
#include "ir/settings.h"

namespace ww::ir {

const Setting* find_setting(const TileCall& call, std::string_view name) {
  for (const auto& [key, value] : call.config)
    if (key == name) return &value;
  return nullptr;
}

bool is_true(const Setting* setting) {
  const bool* flag = setting == nullptr ? nullptr : std::get_if<bool>(setting);
  return flag != nullptr && *flag;
}

bool is_true(const TileArg& arg) { return is_true(std::get_if<Setting>(&arg)); }

CopySettings copy_settings(const TileCall& call) {
  if (call.op != TileOp::Copy && call.op != TileOp::CopyAsync) return {};
  const Setting* fill = find_setting(call, "fill_mode");
  const auto* mode = fill == nullptr ? nullptr : std::get_if<std::string>(fill);
  return {.predicate = find_setting(call, "predicate"),
          .fills = mode != nullptr && *mode == "zero"};
}

}  // namespace ww::ir
