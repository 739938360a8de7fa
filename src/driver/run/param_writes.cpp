// SPDX-License-Identifier: Apache-2.0
#include "driver/run/param_writes.h"

#include <algorithm>
#include <cstring>

#include "ir/param_use.h"
#include "ir/visit.h"

namespace ww::driver {
namespace {

// The buffer that a statement writes; invalid when there is none.
ir::BufferId target_of(const ir::Function& f, const ir::Stmt& stmt) {
  if (stmt.kind == ir::StmtKind::Store) return stmt.buffer;
  if (stmt.kind != ir::StmtKind::Tile || f[stmt.tile].args.empty()) return {};
  const auto* region = std::get_if<ir::Region>(&f[stmt.tile].args[0]);
  return region != nullptr ? region->buffer : ir::BufferId{};
}

}  // namespace

std::vector<Writing> param_writes(const ir::Function& function) {
  std::vector<Writing> out;
  for (const ir::ParamUse& use : ir::param_uses(function))
    out.push_back(use.writes ? Writing::Maybe : Writing::No);
  ir::for_each_stmt(function, function.body, [&](ir::StmtId id) {
    const ir::BufferId target = target_of(function, function[id]);
    if (!target.valid()) return;
    const ir::Buffer& storage = function[ir::storage_of(function, target)];
    if (storage.origin != ir::BufferOrigin::Param) return;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (function.params[i].var == storage.param) out[i] = Writing::Yes;
  });
  return out;
}

std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t out = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    out = (out ^ word) * 0x9e3779b97f4a7c15U;
    out ^= out >> 32U;
    bytes = bytes.subspan(count);
  }
  return out;
}

}  // namespace ww::driver
