// SPDX-License-Identifier: Apache-2.0
// Replacing the expressions that statements hold, in the places that ir/visit.h visits: `map` gets
// each of them and gives what stands there from now on. Missing expressions stay missing.
#pragma once

#include <variant>

#include "ir/function.h"

namespace ww::ir {

template <typename Map>
void map_root(ExprId& id, Map&& map) {
  if (id.valid()) id = map(id);
}

template <typename Map>
void map_roots(Setting& setting, Map&& map) {
  if (auto* id = std::get_if<ExprId>(&setting)) map_root(*id, map);
}

template <typename Map>
void map_roots(Buffer& buffer, Map&& map) {
  for (ExprId& extent : buffer.shape) map_root(extent, map);
  for (ExprId* id :
       {&buffer.pointer, &buffer.elem_offset, &buffer.byte_offset, &buffer.allocated_addr})
    map_root(*id, map);
}

template <typename Map>
void map_roots(TileCall& call, Map&& map) {
  for (TileArg& arg : call.args) {
    if (auto* region = std::get_if<Region>(&arg))
      for (RangeExpr& range : region->ranges) {
        map_root(range.min, map);
        map_root(range.extent, map);
      }
    if (auto* id = std::get_if<ExprId>(&arg)) map_root(*id, map);
    if (auto* setting = std::get_if<Setting>(&arg)) map_roots(*setting, map);
  }
  for (auto& [key, setting] : call.config) map_roots(setting, map);
}

template <typename Map>
void map_roots(PtxCall& call, Map&& map) {
  for (PtxOperand& operand : call.operands) {
    map_root(operand.expr, map);
    map_root(operand.offset, map);
  }
  map_root(call.predicate, map);
}

/// What the statement holds itself, the buffer included that it brings into being. `map` may add
/// nodes to the function.
template <typename Map>
void map_roots(Function& f, StmtId id, Map&& map) {
  Stmt& s = f.at(id);
  map_root(s.expr, map);
  for (ExprId& arg : s.args) map_root(arg, map);
  map_roots(s.setting, map);
  for (auto& [key, setting] : s.settings) map_roots(setting, map);
  if (s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare) map_roots(f.at(s.buffer), map);
  if (s.kind == StmtKind::Tile) map_roots(f.at(s.tile), map);
  if (s.kind == StmtKind::Ptx) map_roots(f.at(s.ptx), map);
}

}  // namespace ww::ir
