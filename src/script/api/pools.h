// SPDX-License-Identifier: Apache-2.0
// Pools: memory that is handed out piece by piece while a kernel is built. Their pieces are plain
// buffers; nothing of a pool is left in the program.
#pragma once

#include <optional>
#include <string_view>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

struct PoolObject : Object {
  bool is_tensor = false;  // columns of tensor memory; otherwise bytes of shared memory
  Span span;               // where it was made
  std::string name;
  bool is_committed = false;
  std::int64_t offset = 0;  // of the next piece
  std::int64_t end = 0;     // the most that was ever needed

  // Shared memory
  ir::BufferId arena = {};  // its own allocation, or
  Value data;               // storage that the program gave
  std::int64_t align = 1;

  // Tensor memory
  std::int64_t columns = 512;
  std::int64_t cta_group = 1;
  std::int64_t alloc_warp = 0, dealloc_warp = 0;
  bool syncs = true;       // the allocating warp meets behind the allocation
  ir::BufferId slot = {};  // where the address is kept, in shared memory
  bool owns_slot = false;  // it comes from a pool
  bool is_freed = false;
  std::vector<ir::ExprId> addresses;  // of the pieces
};

/// A name of a pool that is no method: `offset`, `addr` …; nothing if there is none.
std::optional<Result<Value>> pool_attribute(Context& in, const Value& pool, std::string_view name,
                                            Span span);
/// What messages and buffers call it, once it is bound to a name.
void name_pool(ir::Function& f, PoolObject& pool, const std::string& name);
/// At the end of a kernel: a pool that nothing has committed.
std::optional<Diag> unfinished_pool(const KernelContext& kernel);

}  // namespace ww::script
