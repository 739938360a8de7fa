// SPDX-License-Identifier: Apache-2.0
// Whether barriers stand between threads that use scratch memory (lower/scratch.h). Where the code
// begins, all of it counts as just read: by an earlier call, or by the round before.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "lower/call.h"
#include "lower/proof/unproven.h"
#include "lower/proof/walk.h"

namespace ww::lower {

class ScratchOrder {
 public:
  ScratchOrder(const Call& call, ProofValues& values, std::int64_t first_thread)
      : call_(call), values_(values), first_thread_(first_thread) {}

  [[nodiscard]] bool is_scratch(ir::BufferId storage) const;
  /// A thread of the unit reads or writes at that bit of a buffer.
  Try<void> read(ir::BufferId storage, std::int64_t bit, std::size_t thread);
  Try<void> write(ir::BufferId storage, std::int64_t bit, std::size_t thread);
  /// A barrier: of this unit, and all its threads come.
  Try<void> barrier(const ir::Expr& call, const Mask& mask);

 private:
  static constexpr std::int64_t kNever = -1;
  struct Cell {
    std::int64_t written = kNever;  // after how many barriers
    std::int64_t read = 0;
    std::size_t writer = 0;
    std::size_t reader = 0;
    bool has_readers = true;  // several, or of another call
  };
  Try<Cell*> cell(ir::BufferId storage, std::int64_t bit, std::size_t thread);

  const Call& call_;
  ProofValues& values_;
  std::int64_t first_thread_;
  std::int64_t barriers_ = 0;
  std::map<std::pair<std::uint32_t, std::int64_t>, Cell> cells_;  // by buffer and bit
};

}  // namespace ww::lower
