// SPDX-License-Identifier: Apache-2.0
// Copies element by element, through the layouts' own formulas: for what has no vectors.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/settings.h"
#include "lower/call.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Elements of the tile; nothing when they are counted at run time only.
std::optional<std::int64_t> element_count(const Call& call);

/// Access to elements by their number in the tile.
class TileElements {
 public:
  TileElements(const Call& call, CodeWriter& code);

  ir::ExprId count();
  std::vector<ir::ExprId> indices(std::size_t operand, ir::ExprId q);
  /// What arrives: the element of the source, or the fill value where that is what the call says.
  ir::ExprId source(ir::ExprId q);
  /// Stores a value to the destination's element, where the buffer has it.
  void store(ir::ExprId q, ir::ExprId value);
  void copy(ir::ExprId q);
  /// What `body` writes, where the mask holds for the element; everywhere if there is none, or
  /// another value arrives.
  void where_copied(ir::ExprId q, const std::function<void()>& body);
  /// The value, or the fill value where the call's condition, the mask for the element and the
  /// other condition if it is given do not hold.
  ir::ExprId filled(ir::ExprId q, ir::ExprId value, ir::ExprId condition = {});
  /// The condition of a call that copies nothing where it is false; none where another value
  /// arrives, or there is no condition.
  [[nodiscard]] ir::ExprId guard() const { return settings_.fills ? ir::ExprId{} : predicate_; }

 private:
  std::vector<ir::ExprId> mask_indices(ir::ExprId q);
  ir::ExprId mask(ir::ExprId q);
  std::vector<ir::ExprId> digits_of(ir::ExprId q);
  ir::ExprId is_inside(std::size_t operand, const std::vector<ir::ExprId>& indices);
  bool is_outside(ir::BufferId buffer, const std::vector<ir::ExprId>& indices);

  const Call& call_;
  CodeWriter& code_;
  std::vector<ir::ExprId> extents_;
  ir::ExprId predicate_;
  ir::CopySettings settings_;
  ir::ExprId fill_value_ = {};
};

/// A loop with that many rounds, known at compile time or not.
void loop_over(CodeWriter& code, ir::ExprId trips, const std::function<void(ir::ExprId)>& body);

/// Declines operands in memory that hold each element at several places.
Match<void> check_one_place(const Call& call);

/// Declines a mask whose bools are in registers of certain threads.
Match<void> check_mask_reached(const Call& call);

/// Thread u moves elements u, u + T, …
void copy_shared_out(const Call& call, CodeWriter& code);
/// Each thread that comes here moves all, or the first alone does.
void copy_one_by_one(const Call& call, CodeWriter& code, bool only_first);

/// Who moves the elements.
enum class ElementOrder : std::uint8_t { SharedOut, EachThread, FirstThread };
PlanReport elements_report(const Call& call, ElementOrder order);

}  // namespace ww::lower
