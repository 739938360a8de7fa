// SPDX-License-Identifier: Apache-2.0
// The tiles of a random program: how they are declared, and which of them a step works on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "soak/draft.h"

namespace ww::test {

/// An element type that the target has.
std::string any_type(Draft& draft);
/// Whether a tile has a type whose NaNs have unspecified bits.
bool has_odd_nans(const Draft& draft);

// --- registers ---

struct RegLayout {
  std::string text;
  bool is_packed = false;  // as of a RegTile
};
/// The layout of a tile of such elements; two of them need not be the same.
RegLayout tile_layout(Draft& draft, const std::string& dtype);
/// Declares registers, and puts them behind the others.
RegTile& add_reg(Draft& draft, const std::string& name, const std::string& dtype,
                 const Extents& shape, const std::string& layout);
/// One of the registers that anything may be computed in.
RegTile& any_work(Draft& draft);
/// Registers and shared memory of one type and shape, to be copied into registers or from there.
std::vector<std::pair<RegTile*, Shared*>> copy_pairs(Draft& draft, bool is_load);

// --- shared memory ---

/// Declares a tile; false where there is no room for another one.
bool add_shared(Draft& draft, const std::string& dtype, const Extents& shape,
                std::optional<Shared::Kind> kind = {});
/// Bytes of shared memory under a name; false where there is no room.
bool add_bytes(Draft& draft, const std::string& name, std::int64_t bytes);
/// Sometimes a setting: ", workspace={…}".
std::string any_workspace(Draft& draft);

}  // namespace ww::test
