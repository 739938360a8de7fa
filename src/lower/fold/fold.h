// SPDX-License-Identifier: Apache-2.0
// What reductions and scans share (ir/reduction.h, ir/scan.h): threads fold elements of their
// registers, and lanes read what other lanes have folded. A *row* is the elements that differ only
// along the folded axes. A reduction keeps the total of each row (fold/totals.h), a scan every
// prefix (fold/prefixes.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/reduction.h"
#include "layout/layout.h"
#include "lower/index_formula.h"
#include "lower/lowering_report.h"
#include "lower/operand_places.h"

namespace ww::lower {

inline constexpr std::int64_t kLanesOfWarp = 32;

// --- what is folded ------------------------------------------------------------------------------

/// A fold between registers.
struct Fold {
  bool keeps_prefix = false;              // a scan, not a reduction
  num::DType type = num::DType::Float32;  // in which it folds
  ir::ExprOp by = ir::ExprOp::Add;        // what folds two of them
  std::int64_t threads = 1;               // of the unit
  OperandPlaces dst, src;
};

/// Declines what is not in registers.
Match<Fold> fold_of(const Call& call);
/// Which row each element of the source is in; declines run-time extents.
Match<ir::FoldMap> row_map(const Call& call);
/// The extents of the source; declines run-time ones.
Match<std::vector<std::int64_t>> source_extents(const Call& call);

// --- who does what -------------------------------------------------------------------------------

/// A number for each thread of the unit, such as a lane or a place: by a formula, or, in each of a
/// few sets of threads, a constant, which may be relative to the thread's own lane.
struct ThreadFormula {
  struct Way {
    std::int64_t number = 0;
    std::vector<bool> threads;
  };
  std::optional<layout::TileLayout> form = {};
  bool is_relative = false;
  std::vector<Way> ways = {};
};
/// Nothing: no formula gives these numbers in the threads that use them.
std::optional<ThreadFormula> thread_formula(const std::vector<std::int64_t>& numbers,
                                            const std::vector<bool>& used);
/// The same; declines with "no formula says {what}".
Match<ThreadFormula> formula_of(const std::vector<std::int64_t>& numbers,
                                const std::vector<bool>& used, const std::string& what);
ir::ExprId formula_expr(CodeWriter& code, const ThreadFormula& formula, ir::ExprId thread);

/// Register `slot` in these threads.
struct ThreadSlot {
  std::vector<bool> threads;
  std::int64_t slot = 0;
};
inline constexpr std::size_t kMaxThreadSets = 8;  // in which threads fill one register
/// Registers of elements that threads take one after the other: an entry for each element.
using SlotTable = std::vector<std::vector<ThreadSlot>>;
/// Adds a thread to an entry; declines more than kMaxThreadSets different registers in it.
Match<void> add_slot(const Call& call, const Fold& p, std::size_t argument,
                     std::vector<ThreadSlot>& entry, std::int64_t slot, std::int64_t thread);
/// The registers of all entries as a formula, if each is one register of the same threads.
struct SlotForm {
  std::vector<bool> threads;
  layout::TileLayout form;
};
std::optional<SlotForm> slot_form(std::span<const std::vector<ThreadSlot>> entries);

/// These threads read a value of another lane: lane ^ by, lane - by, or one by a formula.
struct LaneRead {
  std::vector<bool> threads = {};  // none: all
  ir::Intrinsic shuffle = ir::Intrinsic::Shfl;
  std::int64_t by = 0;
  ThreadFormula giver = {};
};

bool has_any(const std::vector<bool>& threads);

// --- code ----------------------------------------------------------------------------------------

/// The value that changes nothing when it is folded in.
ir::ExprId neutral_value(CodeWriter& code, ir::ExprOp op, num::DType type);

/// Starts with views of the operands and that many registers `part`.
class FoldWriter {
 public:
  FoldWriter(const Fold& p, const Call& call, CodeWriter& code, std::size_t parts);

  /// The number of the thread in the unit.
  [[nodiscard]] ir::ExprId thread() const { return thread_; }
  ir::ExprId part(std::int64_t i) { return at(parts_, i); }
  ir::ExprId folded(ir::ExprId a, ir::ExprId b) { return code_.binary(p_.by, a, b); }
  /// What another lane has for `value`, in a new register, because all lanes execute a shuffle.
  ir::ExprId given(ir::ExprId value, const LaneRead& read);
  /// In no threads, nothing.
  template <typename Body>
  void in_threads(const std::vector<bool>& threads, Body&& body) {
    if (has_any(threads))
      code_.guarded(member_expr(code_, thread_, threads), std::forward<Body>(body));
  }

 protected:
  ir::ExprId at(ir::BufferId buffer, std::int64_t i) { return code_.load(buffer, {code_.n(i)}); }
  /// A register of an operand.
  ir::ExprId index(const OperandPlaces& side, ir::ExprId slot);
  ir::ExprId source(ir::ExprId slot);
  void set_part(std::int64_t i, ir::ExprId value) { code_.store(parts_, code_.n(i), value); }
  void store(ir::ExprId index, ir::ExprId value) {
    code_.store(dst_, index, code_.as(p_.dst.dtype, value));
  }
  ir::ExprId all_lanes();
  ir::ExprId shuffled(ir::ExprId value, const LaneRead& read);

  const Fold& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId dst_, src_, parts_;
  ir::ExprId thread_;
};

// --- report --------------------------------------------------------------------------------------

/// What the parts are folded from, and what lanes read.
struct FoldCost {
  std::vector<const SlotTable*> takes;  // of the source
  std::vector<std::int64_t> puts;       // registers of the destination
  std::vector<const LaneRead*> reads;
  std::int64_t given = 0;  // more reads by formula
  std::string redux = {};  // an instruction, and how often
  std::int64_t redux_count = 0;
};
PlanReport fold_report(const Fold& p, const Call& call, FoldCost cost);

}  // namespace ww::lower
