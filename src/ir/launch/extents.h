// SPDX-License-Identifier: Apache-2.0
// How many of one unit make up another, below a cluster: the closure behind ir/launch/launch.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/launch/launch.h"

namespace ww::ir {

/// A ScopeIds statement, with its extents looked at. No extent: it follows from other ids.
struct DeclaredId {
  ScopeIdKind kind{};
  Span span;
  std::vector<Extent> extents;
};
/// "`thread_id([32, 4])` is declared here".
std::string declared_here(const DeclaredId& declared);

class UnitExtents {
 public:
  /// The ids below the grid state their extents; what is fixed (32 threads of a warp) is added
  /// where an id counts such units. `declared` must outlive this.
  explicit UnitExtents(const std::vector<DeclaredId>& declared) : declared_(declared) {}

  /// A cluster has that many CTAs.
  Result<void> state_cluster(std::int64_t ctas);
  /// (a->b)·(b->c) = (a->c), solved for each of the three, until nothing changes. BadScopeIds when
  /// two ways give different numbers or a quotient is no integer.
  Result<void> close();
  /// How many `child` a `parent` has, if that is known.
  [[nodiscard]] std::optional<std::int64_t> find(Unit parent, Unit child) const;
  /// Do all ids below the grid that were declared without extent have one now?
  [[nodiscard]] Result<void> check_followers() const;

 private:
  static constexpr std::size_t kUnits = 7;
  struct Known {
    std::int64_t extent = 0;
    std::vector<std::size_t> by;  // the declarations it follows from; none: always so
  };

  [[nodiscard]] std::optional<std::size_t> find_partial_group() const;
  Result<void> state_declared();
  Result<void> state(Unit parent, Unit child, const Known& known);
  Result<void> relate(Unit a, Unit b, Unit c);
  Result<void> divide(Unit a, Unit b, Unit c, bool by_outer);
  [[nodiscard]] bool counts(Unit unit) const;
  [[nodiscard]] std::string says(Unit child, const Known& known) const;
  [[nodiscard]] Diag with_places(Diag problem, const Known& a, const Known& b) const;

  std::optional<Known>& at(Unit parent, Unit child) {
    return table_[static_cast<std::size_t>(parent)][static_cast<std::size_t>(child)];
  }
  [[nodiscard]] const std::optional<Known>& at(Unit parent, Unit child) const {
    return table_[static_cast<std::size_t>(parent)][static_cast<std::size_t>(child)];
  }

  const std::vector<DeclaredId>& declared_;
  std::array<std::array<std::optional<Known>, kUnits>, kUnits> table_;
  bool changed_ = false;
};

}  // namespace ww::ir
