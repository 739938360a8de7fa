// SPDX-License-Identifier: Apache-2.0
// What the variants of reductions share: threads fold their registers into parts, lanes fold their
// parts, and warps hand theirs on through memory. Each variant delivers the results in its own way.
// Plans follow from the places of elements, so two spellings of a layout get the same code.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "lower/fold/fold.h"

namespace ww::lower {

inline constexpr std::array kReductions = {ir::TileOp::Sum,    ir::TileOp::Prod,  ir::TileOp::Max,
                                           ir::TileOp::Min,    ir::TileOp::Any,   ir::TileOp::All,
                                           ir::TileOp::Argmax, ir::TileOp::Argmin};

// --- who folds what ------------------------------------------------------------------------------

/// A thread's share of the elements that go into one element of the destination.
struct FoldPart {
  std::int64_t into = -1;                  // element of the destination; -1: the thread has nothing
  std::vector<std::int64_t> slots = {};    // its registers, in the order of the elements
  std::vector<std::int64_t> indices = {};  // of the elements along the folded axes
  /// Sets of elements folded into it, sorted: its own, later those of other lanes. Two sets have no
  /// element in common. There are few, because a warp has 32 lanes.
  std::vector<std::int64_t> sets = {};
};
/// Part `row` of each thread.
using PartRow = std::vector<FoldPart>;

/// What threads do for part `row`.
struct Folding {
  bool is_everywhere = true;  // all threads have something to fold
  SlotTable takes = {};
  std::vector<std::vector<ThreadFormula>> indices = {};  // as `takes`, of argmax and argmin
};
/// Lanes fold part `row` with that of a lane whose number has one bit turned over. All lanes do so
/// with the lane that differs in nothing else; or, where rows begin anywhere in a warp, those lanes
/// that find one with part of the same element.
struct LaneStep {
  std::int64_t row = 0;
  LaneRead read;
};

struct TotalsPlan {
  Fold fold;
  std::int64_t results = 0;  // elements of the destination
  std::int64_t folded = 0;   // that go into each of them
  bool accumulates = false;
  std::vector<PartRow> rows;  // a thread's parts are in the order of the destination
  std::vector<std::int64_t> set_sizes;
  std::vector<Folding> foldings = {};  // by row
  std::vector<LaneStep> steps = {};
  std::vector<std::int64_t> redux = {};  // rows that all lanes fold at once

  /// Does any lane read another's registers?
  [[nodiscard]] bool is_shuffled() const { return !steps.empty() || !redux.empty(); }
};

/// The rows alone. Declines what is not in registers, and elements that threads share in ways that
/// no tree of lanes can follow.
Match<TotalsPlan> total_rows(const Call& call);
/// The rest. Afterwards `rows` are what the lanes have folded.
Match<void> plan_totals(const Call& call, TotalsPlan& plan);

/// The row in which a thread has all elements that go into one of the destination.
std::optional<std::int64_t> row_with_all(const TotalsPlan& plan, std::int64_t into,
                                         std::int64_t thread);
/// A thread with the greatest part of it, and how many elements that part has.
std::pair<std::int64_t, std::int64_t> greatest_part(const TotalsPlan& plan, std::int64_t into);

/// A register of a thread that gets an element of the destination.
struct Wanted {
  std::int64_t slot, thread, into;
};
/// For each slot, sorted by thread. Declines two elements in one register.
Match<std::vector<std::vector<Wanted>>> wanted_of(const Call& call, const Fold& p);

// --- between warps -------------------------------------------------------------------------------

/// The part of a warp: who has it.
struct WarpPart {
  std::int64_t thread, row;
};
/// The parts of warps by element of the destination, then by CTA.
struct WarpParts {
  std::vector<std::map<std::int64_t, std::vector<WarpPart>>> of;
  std::int64_t most_warps = 1, most_ctas = 1;  // of an element; in a CTA, and in all
};
/// Declines elements that several warps hold in part, and parts that the lanes of a warp cannot
/// bring together.
Match<WarpParts> warp_parts(const Call& call, const TotalsPlan& plan, std::int64_t threads_of_cta);

/// These threads store part `row` to a place by a formula.
struct Deposit {
  std::int64_t row = 0;
  std::vector<bool> threads;
  ThreadFormula place = {};
};
/// Places of parts: `most_warps` of each element side by side.
Match<std::vector<Deposit>> deposits_of(const Call& call, const TotalsPlan& plan,
                                        const WarpParts& parts);

/// Threads fold the parts that start at a place by a formula.
struct Collection {
  std::int64_t slot = 0;                   // of the destination
  std::vector<std::vector<bool>> threads;  // by part: which threads have it
  ThreadFormula place;

  void add(std::int64_t thread, std::size_t parts, std::int64_t unit_threads);
};
/// For a register: the parts of its element from the warps of a CTA, or from the CTAs.
Match<Collection> collection_of(const Call& call, const TotalsPlan& plan,
                                std::span<const Wanted> wanted, const WarpParts& parts,
                                bool is_of_ctas);

// --- code ----------------------------------------------------------------------------------------

class TotalsWriter : public FoldWriter {
 public:
  TotalsWriter(const TotalsPlan& plan, const Call& call, CodeWriter& code)
      : FoldWriter(plan.fold, call, code, plan.rows.size()), plan_(plan) {}

  /// From the registers of the source to one part of each row in each thread.
  void write();
  /// A result into register `slot` of the destination; accum=True folds in what that was.
  void put(std::int64_t slot, ir::ExprId value);
  /// The parts of a collection into `to[0]`. Those after the first go in a loop if there are at
  /// least `least` of them and the same threads have them all.
  void collect(const Collection& each, ir::BufferId to, std::int64_t least,
               const std::function<ir::ExprId(ir::ExprId)>& value_at);

 private:
  void take(std::int64_t row, ir::ExprId value) { set_part(row, folded(part(row), value)); }
  void fold_registers(std::int64_t row, const Folding& folding);
  void step(const LaneStep& step);

  const TotalsPlan& plan_;
};

/// What the parts cost. Variants add the registers that results go to, and the shuffles that
/// deliver them.
PlanReport totals_report(const TotalsPlan& plan, const Call& call, std::vector<std::int64_t> puts,
                         std::int64_t given);

}  // namespace ww::lower
