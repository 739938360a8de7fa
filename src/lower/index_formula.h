// SPDX-License-Identifier: Apache-2.0
// From tables back to expressions: a table over one number becomes a sum of its digits times
// strides (layout/fit.h finds them), a set of numbers becomes a condition.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/layout.h"
#include "lower/code_writer.h"

namespace ww::lower {

/// One past the largest int32.
inline constexpr std::int64_t kInt32End = std::int64_t{1} << 31;

/// values[i] = offset + Σ digits of i times strides.
std::optional<layout::TileLayout> fit_table(std::span<const std::int64_t> values);
/// The same where only some entries count: those with `used`. Entries that do not count are filled
/// in such that the table is regular, if it can be.
std::optional<layout::TileLayout> fit_table(std::span<const std::int64_t> values,
                                            const std::vector<bool>& used);
/// The formula of such a layout at `i`, which lies in the table.
ir::ExprId digits_expr(CodeWriter& code, const layout::TileLayout& form, ir::ExprId i);
/// The swizzled address as a formula.
ir::ExprId swizzle_expr(CodeWriter& code, const layout::Swizzle& swizzle, ir::ExprId address);

/// A condition that holds for the members among 0 … set.size()-1; none when all are.
ir::ExprId member_expr(CodeWriter& code, ir::ExprId u, const std::vector<bool>& set);

}  // namespace ww::lower
