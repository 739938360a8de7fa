// SPDX-License-Identifier: Apache-2.0
// permute_layout between registers.
#include "lower/lowered_op.h"

#include "lower/fragment.h"

namespace ww::lower {
namespace permute_registers {
namespace {

constexpr std::size_t kDst = 0, kSrc = 1;

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

// A copy; where both are in the same registers, through others. Nothing for other memories.
Match<std::optional<Expansion>> permuted_registers(const Call& call) {
  using namespace permute_registers;
  if (call.memory(kDst) != ir::Scope::Local || call.memory(kSrc) != ir::Scope::Local)
    return std::nullopt;
  Expansion out;
  const ir::Function& f = call.f();
  const ir::TileArg to = call.tile.args[kDst], from = call.tile.args[kSrc];
  if (ir::storage_of(f, call.region(kDst).buffer) != ir::storage_of(f, call.region(kSrc).buffer)) {
    out.calls.push_back(copy_of(call, to, from));
    return out;
  }
  const ir::BufferId between = buffer_like_destination(call);
  ir::Region region = call.region(kDst);
  region.buffer = between;
  out.buffers.push_back(between);
  out.calls.push_back(copy_of(call, region, from));
  out.calls.push_back(copy_of(call, to, region));
  return out;
}

}  // namespace ww::lower
