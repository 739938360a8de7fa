// SPDX-License-Identifier: Apache-2.0
// Tile primitives: `Tx.copy`, `Tx.warp.copy`, `T.wg.copy_async` … by path.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

struct TilePath {
  ir::Unit scope = ir::Unit::Thread;
  ir::TileOp op = ir::TileOp::Copy;
};

/// "Tx", "Tx.warp", "T.wg": what primitives hang off.
bool is_tile_namespace(std::string_view path);
std::vector<std::string_view> tile_namespaces();
/// "Tx.warp.copy" → warp, copy.
std::optional<TilePath> parse_tile_path(std::string_view path);
/// Emits the call.
Result<Value> call_tile(Context& in, const TilePath& path, CallArgs& args);

}  // namespace ww::script
