// SPDX-License-Identifier: Apache-2.0
// What dispatch needs to know of a tile primitive beside its variants. The rows are lower/ops.def.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "lower/call.h"
#include "lower/proof/proof.h"

namespace ww::lower {

/// The calls that one call stands for, in order, and buffers that are allocated before them.
struct Expansion {
  std::vector<ir::BufferId> buffers;
  std::vector<ir::BufferId> views = {};  // of these
  /// Registers of which some threads fill nothing: zero from the beginning, so that a compiler may
  /// compute with them where the result is not used. With how many each thread has.
  std::vector<std::pair<ir::BufferId, std::int64_t>> cleared = {};
  std::vector<ir::TileCall> calls;
  /// Copies of the same elements in memory: calls[first] reads them, calls[second] writes them. The
  /// barrier that this may need is put between (lower/dispatch.cpp).
  std::vector<std::pair<std::size_t, std::size_t>> in_place = {};
};

struct LoweredOp {
  ir::TileOp op;
  /// Nothing: the call is lowered as it is. A decline counts for all variants. May be null.
  Match<std::optional<Expansion>> (*expand)(const Call& call);
  /// Carries out what a variant has written for a call.
  Proof (*prove)(const Call& call, const ir::Block& code);
};

/// The expansions that lower/ops.def names: of gemm/stage.cpp, fold/stage.cpp and permute/registers.cpp.
Match<std::optional<Expansion>> staged_gemm(const Call& call);
Match<std::optional<Expansion>> staged_fold(const Call& call);
Match<std::optional<Expansion>> permuted_registers(const Call& call);

/// The row of a primitive, or nullptr where it has none: no variant lowers it.
const LoweredOp* find_lowered_op(ir::TileOp op);

/// The proof of code for a call; with what a copy before it may still `read`.
Proof prove_written(const Call& call, const ir::Block& code,
                    const std::optional<EarlierRead>& read);

}  // namespace ww::lower
