// SPDX-License-Identifier: Apache-2.0
// The grid of a launch (ir/launch/launch.h): `cta_id`, `cluster_id` and `cta_id_in_cluster` have up
// to three dimensions, may be known at launch only, and are compared dimension by dimension.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/launch/extents.h"

namespace ww::ir {

using Dims = std::array<Extent, 3>;

/// BadScopeIds at the declaration's place.
template <typename... Args>
auto refuse(const DeclaredId& declared, fmt::format_string<Args...> format, Args&&... args) {
  return fail(
      diag(DiagKind::BadScopeIds, format, std::forward<Args>(args)...).with_span(declared.span));
}

/// The value of an extent if it is constant, otherwise the expression.
Extent extent_of(const Function& function, ExprId expr);
/// The same number whenever the kernel runs? No, when that is not known.
bool surely_equal(const Function& function, const Extent& a, const Extent& b);
/// Nothing when an extent is not a constant, or 64 bits are too few.
std::optional<std::int64_t> product(const Dims& dims);
/// "4 x 2"; "?" for what is known at launch.
std::string text_of(const Dims& dims);

/// What the declarations of one kind agree on, and the one that says it with the most dimensions.
struct Stated {
  Dims dims;
  std::size_t rank = 0;
  const DeclaredId* by = nullptr;
};
/// Nothing when no extent of that kind is declared.
Result<std::optional<Stated>> stated(const Function& function,
                                     const std::vector<DeclaredId>& declared, ScopeIdKind kind);

/// Fills in `grid`, `cluster` and `has_clusters`.
Result<void> find_grid(const Function& function, const std::vector<DeclaredId>& declared,
                       LaunchShape& shape);

}  // namespace ww::ir
