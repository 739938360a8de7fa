// SPDX-License-Identifier: Apache-2.0
// Copies as vector accesses: what `reg`, `gmem_smem` and the rest of a matrix copy have in common.
// A *phase* is a run of accesses of one width that the same threads make, one per round.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lower/copy/problem.h"
#include "lower/index_formula.h"

namespace ww::lower {

/// How the accesses of a phase meet an edge: which coordinate each begins with, and whether it is
/// inside with all its elements or none, or may be cut off behind some of them.
struct EdgeForm {
  AddressForm form;
  bool is_cut = false;
};

/// Rounds that some threads make, in each of which a thread takes elements that lie side by side.
struct Rounds {
  std::int64_t vec = 1;      // elements that a thread takes at a time
  std::int64_t threads = 1;  // of the unit, or that share the tile
  std::int64_t rounds = 1;
  std::vector<bool> used = {};  // which threads take part
  std::int64_t count = 0;       // accesses in all, where the last round is not full; 0: it is
  /// By k·threads + u: the element that thread u begins with in round k, or -1. Entries of threads that
  /// do not take part do not count.
  std::vector<std::int32_t> first = {};
  bool is_unrolled = false;  // loads of later rounds need not wait for stores of earlier ones

  /// Numbers of its accesses, to find a formula of thread and round for.
  [[nodiscard]] AddressTable table(std::vector<std::int64_t> numbers) const {
    return {.threads = threads,
            .rounds = rounds,
            .linear = std::move(numbers),
            .used = used,
            .count = count};
  }
};
/// Elements in the order in which threads take them.
using Order = std::vector<std::int32_t>;
/// By place in the storage of a side; elements that share one by number.
Order order_of_places(const OperandPlaces& side);
/// Vectors of that order, of which vector f·T + u goes to thread u in round f.
Rounds shared_rounds(const Order& order, std::int64_t vec, std::int64_t threads);

struct CopyPhase : Rounds {
  std::int64_t bytes = 0;                                      // of one access
  std::vector<std::int64_t> dst_places = {}, src_places = {};  // as `first`, before the swizzle
  std::vector<std::int64_t> mask_places = {};  // where there is a mask: of the bool that decides
  PlaceForm dst = {}, src = {}, mask = {};
  std::vector<bool> cuts = {}, dst_cuts = {};        // by edge of a side: may it cut accesses?
  std::vector<EdgeForm> edges = {}, dst_edges = {};  // one for each of the source, the destination
};

/// Widths of an access in bytes, widest first, that the copy may use.
std::vector<std::int64_t> access_widths(const Call& call, const CopyProblem& problem);

/// Finds the formulas of a phase from `first` and the cuts; false when its addresses are irregular.
/// A phase of several rounds that fails may be cut into single rounds.
bool find_forms(const CopyProblem& problem, CopyPhase& phase);

/// How the accesses of one thread to registers pair with memory, slot by slot: phases in ascending
/// order of registers. `wanted` limits them to some slots (none: all). The reason when an access
/// cannot be expressed.
Match<std::vector<CopyPhase>> register_phases(const Call& call, const CopyProblem& problem,
                                              const std::vector<bool>* wanted_slots = nullptr);

/// A copy between two memories, shared out among the threads of the unit in accesses of that width:
/// the vectors in the order of the global side's addresses, vector f·T + u to thread u in round f.
/// Nothing when the elements are not vectors of that width on both sides, or lie irregularly, or an
/// edge would cut them where that cannot be.
std::optional<CopyPhase> shared_out_phase(const Call& call, const CopyProblem& problem,
                                          std::int64_t bytes);

/// The same with the widest vectors that there are.
Match<CopyPhase> memory_phase(const Call& call, const CopyProblem& problem);

}  // namespace ww::lower
