// SPDX-License-Identifier: Apache-2.0
// Registers that `tcgen05.ld` writes hold their values after `tcgen05.wait::ld` only, which is
// another statement of the program. nvcc does not know this: it may use the values before the wait.
// So each wait is followed by `ww_settle`, which makes every later use depend on it:
//
//     ptx_tcgen05_ld_sync_aligned_32x32b_x2_b32(r_ptr[0], r_ptr[1], taddr);
//     ptx_tcgen05_wait__ld_sync_aligned();
//     ww_settle<2>(r_ptr);
//
// Sums of `wgmma.mma_async` are the same: they are there after `wgmma.wait_group`.
//
// An array that is not cut into registers lies in memory, where nvcc puts the values right after
// the load; a load into one has to wait itself. Sums of products cannot lie there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "emit/cuda/types.h"
#include "ir/local_storage.h"

namespace ww::emit::cuda {

class PendingLoads {
 public:
  explicit PendingLoads(const ir::Function& f);

  /// Must the load wait before nvcc can put its registers where they belong?
  [[nodiscard]] bool waits_itself(const ir::PtxCall& load) const;
  /// Local arrays with registers that may be pending until this statement, which waits for them.
  [[nodiscard]] const std::vector<ir::BufferId>& settled_by(const ir::Stmt& s) const;

 private:
  using Storages = std::set<std::uint32_t>;  // indices of buffers

  [[nodiscard]] std::vector<ir::BufferId> destinations(const ir::PtxCall& load) const;

  // Which arrays lie in memory.
  void find_fixed();
  [[nodiscard]] bool is_fixed(ir::ExprId index) const;
  void look_at(const ir::Expr& e);
  void look_at(const ir::Stmt& s);
  void access(ir::BufferId buffer, const SmallVec<ir::ExprId, 3>& indices);
  void escape(ir::ExprId pointer);

  // Which loads reach which waits.
  void walk(const ir::Block& block, Storages& pending);
  void walk_loop(const ir::Block& body, Storages& pending);
  void add_load(const ir::PtxCall& load, Storages& pending) const;
  void settle(const ir::Stmt& s, const Storages& pending);
  [[nodiscard]] bool waits_for_all(const ir::PtxCall& wait) const;
  [[nodiscard]] bool runs_foreign_code(const ir::Stmt& s) const;

  const ir::Function& f_;
  std::optional<ir::LocalStorage> storage_;  // where there are such loads
  std::vector<bool> is_fixed_;  // by variable: a number as soon as nvcc has unrolled loops
  Storages in_memory_;
  std::map<const ir::Stmt*, std::vector<ir::BufferId>> settled_;
};

}  // namespace ww::emit::cuda
