// SPDX-License-Identifier: Apache-2.0
#include "lower/permute/registers.h"

namespace ww::lower {
namespace permute_registers {
namespace {

constexpr std::size_t kDst = 0, kSrc = 1;

ir::TileCall copy_call(const Call& call, ir::TileArg to, ir::TileArg from) {
  ir::TileCall out;
  out.op = ir::TileOp::Copy;
  out.scope = call.tile.scope;
  out.args = {std::move(to), std::move(from)};
  return out;
}

// Registers with the layout of the destination.
ir::BufferId buffer_like_destination(const Call& call) {
  ir::Function& f = call.f();
  ir::Buffer out = f[call.region(kDst).buffer];
  out.name += "_turned";
  out.span = call.span;
  out.origin = ir::BufferOrigin::Alloc;
  out.base = {};
  out.elem_offset = {};
  out.byte_offset = {};
  return f.add(std::move(out));
}

}  // namespace
}  // namespace permute_registers

Match<std::optional<Expansion>> permuted_registers(const Call& call) {
  using namespace permute_registers;
  if (call.memory(kDst) != ir::Scope::Local || call.memory(kSrc) != ir::Scope::Local)
    return std::nullopt;
  Expansion out;
  const ir::Function& f = call.f();
  const ir::TileArg to = call.tile.args[kDst], from = call.tile.args[kSrc];
  if (ir::storage_of(f, call.region(kDst).buffer) != ir::storage_of(f, call.region(kSrc).buffer)) {
    out.calls.push_back(copy_call(call, to, from));
    return out;
  }
  const ir::BufferId between = buffer_like_destination(call);
  ir::Region region = call.region(kDst);
  region.buffer = between;
  out.buffers.push_back(between);
  out.calls.push_back(copy_call(call, region, from));
  out.calls.push_back(copy_call(call, to, region));
  return out;
}

}  // namespace ww::lower
