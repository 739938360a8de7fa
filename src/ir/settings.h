// SPDX-License-Identifier: Apache-2.0
// What the arguments and the configuration of a tile call say, and the settings of `copy` and
// `copy_async` that change what they mean:
//
//   predicate=e        what the executing unit says: nothing is copied where it is false
//   fill_mode="zero"   zeros are written instead of what is not copied: everything where the
//                      predicate is false, and the elements that a source region has beyond the
//                      end of its buffer, which only this setting allows
#pragma once

#include <string_view>

#include "ir/function.h"

namespace ww::ir {

/// The value of a setting of the call's configuration, or nullptr.
const Setting* find_setting(const TileCall& call, std::string_view name);
/// Is it given, and True?
bool is_true(const Setting* setting);
bool is_true(const TileArg& arg);

struct CopySettings {
  const Setting* predicate = nullptr;  // a bool or an expression; nullptr: everything is copied
  bool fills = false;
};
/// Of a copy that has been verified.
CopySettings copy_settings(const TileCall& call);

}  // namespace ww::ir
