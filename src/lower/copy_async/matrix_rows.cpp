// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/matrix_rows.h"

#include "ir/print/print.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

constexpr MatrixSwizzle kSwizzles[] = {{1, 0}, {8, 2}, {4, 4}, {2, 6}};

}  // namespace

std::uint64_t MatrixRows::fields() const {
  constexpr std::uint64_t kVersion = 1;
  return static_cast<std::uint64_t>(leading) << 16U | static_cast<std::uint64_t>(stride) << 32U |
         kVersion << 46U | swizzle.code << 61U;
}

std::string MatrixRows::text() const {
  const std::int64_t width = swizzle.units * kRowUnitBytes;
  std::string out = width == kRowUnitBytes ? std::string("no swizzle")
                                           : fmt::format("swizzle of {} bytes", width);
  if (stride != 0) out += fmt::format(", groups of 8 rows {} bytes apart", stride * kRowUnitBytes);
  if (width == kRowUnitBytes && leading != 0)
    out += fmt::format(", halves of rows {} bytes", leading * kRowUnitBytes);
  return out;
}

Match<std::optional<BaseInside>> base_inside(const Call& call, const OperandPlaces& src) {
  if (src.base_commutes()) return std::nullopt;
  const std::string& name = call.f()[src.buffer].name;
  const layout::Swizzle& own = src.swizzle;
  if (!own.inner() || own.atom() != 3 || own.len() > 3 ||
      (src.bits << own.per_element()) != kRowUnitBits)
    return decline("swizzle",
                   "`{}` begins at `{}`, with a swizzle ({}, {}, {}) that no descriptor has", name,
                   ir::print(call.f(), src.base), own.per_element(), own.len(), own.atom());
  ExprWriter write(call.f(), call.context.facts, call.span);
  const ir::ExprId rest = write.simplify(write.mod(src.base, own.period()));
  const std::int64_t most =
      ir::range_of(call.f(), rest, call.context.facts).max * src.bits / kRowUnitBits;
  const BaseInside out{.units = std::int64_t{1} << own.len(), .most = most};
  if (most >= out.units)
    return decline("start",
                   "`{}` begins at `{}`, which may be {} units of 16 bytes behind the start of a "
                   "pattern, expected less than {}",
                   name, ir::print(call.f(), src.base), most, out.units);
  return out;
}

std::optional<MatrixRows> RowFinder::find(const std::vector<std::int64_t>& units,
                                          std::int64_t per_row) const {
  for (const MatrixSwizzle& swizzle : kSwizzles)
    if (begins_with_pattern(swizzle))
      if (auto rows = with(swizzle, units, per_row)) return rows;
  return std::nullopt;
}

std::optional<MatrixSwizzle> RowFinder::misaligned(const std::vector<std::int64_t>& units,
                                                   std::int64_t per_row) const {
  for (const MatrixSwizzle& swizzle : kSwizzles)
    if (!begins_with_pattern(swizzle) && with(swizzle, units, per_row)) return swizzle;
  return std::nullopt;
}

// The swizzle is one of addresses, so that storage and base must begin with its pattern; or the
// storage alone, where it is known how far into the first row the base goes.
bool RowFinder::begins_with_pattern(const MatrixSwizzle& swizzle) const {
  if (inside_)
    return swizzle.units == inside_->units && src_.align_bytes % swizzle.pattern_bytes() == 0;
  return src_.base_is_aligned(swizzle.pattern_bytes());
}

std::optional<MatrixRows> RowFinder::with(const MatrixSwizzle& swizzle,
                                          const std::vector<std::int64_t>& units,
                                          std::int64_t per_row) const {
  const std::int64_t rows = std::ssize(units) / per_row;
  // Before the swizzle, as they are from the start when the base does not begin a pattern.
  const auto at = [&](std::int64_t row, std::int64_t k) {
    const std::int64_t unit = units[as_index(row * per_row + k)];
    return inside_ ? unit : unit ^ (unit / 8 & (swizzle.units - 1));
  };
  const bool is_swizzled = swizzle.units > 1;
  MatrixRows out{
      .swizzle = swizzle, .start = at(0, 0), .leading = is_swizzled ? 1 : 0, .stride = 0};
  if (!is_swizzled && per_row > 1) out.leading = at(0, 1) - out.start;
  if (rows > 8) out.stride = at(8, 0) - out.start;
  // Groups of 8 rows begin in the first row of a pattern, and stay in it with all their units.
  const std::int64_t pattern = 8 * swizzle.units;
  const std::int64_t furthest = out.start % pattern + (inside_ ? inside_->most : 0);
  if (is_swizzled && (furthest + per_row > swizzle.units || out.stride % pattern != 0))
    return std::nullopt;
  const auto is_field = [](std::int64_t value, bool is_used) {
    return value >= (is_used ? 1 : 0) && value <= kMaxDescriptorField;
  };
  if (!is_field(out.start, false) || !is_field(out.leading, per_row > 1) ||
      !is_field(out.stride, rows > 8))
    return std::nullopt;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < per_row; ++k)
      if (at(row, k) !=
          out.start + row % 8 * swizzle.units + row / 8 * out.stride + k * out.leading)
        return std::nullopt;
  return out;
}

}  // namespace ww::lower
