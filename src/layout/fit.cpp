// SPDX-License-Identifier: Apache-2.0
// The run length is found in one sweep: with s the first step, call x a *break* if the step from
// x-1 to x is not s. A block length e keeps every block linear exactly when e divides all breaks,
// so the longest one is gcd(n, all breaks). Thinning the table by e and repeating visits n + n/e +
// … < 2n entries.
#include "layout/fit.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "base/check.h"
#include "layout/replica.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

struct Table {
  std::vector<Axis> axes;
  std::vector<std::vector<std::int64_t>> values;
  std::int64_t count = 0;

  [[nodiscard]] std::int64_t step(std::size_t axis, std::int64_t x) const {
    const auto at = static_cast<std::size_t>(x);
    return values[axis][at] - values[axis][at - 1];
  }
};

// gcd of n and all breaks; `first_break` gets the smallest break, or n.
std::int64_t run_length(const Table& table, std::int64_t& first_break) {
  std::int64_t length = table.count;
  first_break = table.count;
  for (std::size_t a = 0; a < table.axes.size() && length > 1; ++a) {
    const std::int64_t first = table.step(a, 1);
    const auto& values = table.values[a];
    for (std::size_t x = 2; x < values.size(); ++x) {
      if (values[x] - values[x - 1] == first) continue;
      const auto at = static_cast<std::int64_t>(x);
      first_break = std::min(first_break, at);
      length = std::gcd(length, at);
      if (length == 1) break;
    }
  }
  return length;
}

void thin(Table& table, std::int64_t by) {
  table.count /= by;
  for (auto& column : table.values) {
    for (std::int64_t x = 0; x < table.count; ++x)
      column[static_cast<std::size_t>(x)] = column[static_cast<std::size_t>(x * by)];
    column.resize(static_cast<std::size_t>(table.count));
  }
}

// The single axis on which element 1 differs from element 0; the first axis when none does.
Result<std::size_t> stepping_axis(const Table& table, std::int64_t scale) {
  std::size_t moved = table.axes.size();
  for (std::size_t a = 0; a < table.axes.size(); ++a) {
    if (table.step(a, 1) == 0) continue;
    if (moved != table.axes.size())
      return fail(DiagKind::NotATile,
                  "element {} differs from element 0 on two axes, `{}` and `{}`", scale,
                  table.axes[moved].name(), table.axes[a].name());
    moved = a;
  }
  return moved == table.axes.size() ? 0 : moved;
}

// The places of one element, as displacements from their smallest value on every axis.
std::set<Displacement> displacements(const Image& image, std::int64_t x,
                                     std::span<const std::int64_t> base) {
  std::set<Displacement> out;
  for (std::int64_t r = 0; r < image.copies; ++r) {
    Displacement d;
    for (std::size_t a = 0; a < image.axes.size(); ++a)
      d.push_back(image.values[a][static_cast<std::size_t>(r * image.size + x)] - base[a]);
    out.insert(std::move(d));
  }
  return out;
}

}  // namespace

Result<TileLayout> fit(std::span<const Column> columns) {
  WW_CHECK(!columns.empty() && !columns[0].values.empty(), "fit needs at least one value");
  Table table;
  Offsets offset;
  for (const Column& column : columns) {
    WW_CHECK(column.values.size() == columns[0].values.size(), "columns differ in length");
    table.axes.push_back(column.axis);
    table.values.emplace_back(column.values.begin(), column.values.end());
    offset.add(column.axis, column.values[0]);
  }
  table.count = static_cast<std::int64_t>(columns[0].values.size());
  Iters shard;
  for (std::int64_t scale = 1; table.count > 1;) {
    const std::size_t axis = WW_TRY(stepping_axis(table, scale));
    const std::int64_t stride = table.step(axis, 1);
    std::int64_t first_break = 0;
    const std::int64_t length = run_length(table, first_break);
    if (length == 1)
      return fail(
          DiagKind::NotATile,
          "elements advance by {} in steps of {}, but element {} breaks the pattern where no block "
          "length fits",
          place_text(stride, table.axes[axis]), scale, first_break * scale);
    shard.push_back({length, stride, table.axes[axis]});
    thin(table, length);
    scale *= length;
  }
  std::reverse(shard.begin(), shard.end());
  return TileLayout::make(std::move(shard), {}, std::move(offset));
}

Result<TileLayout> fit_image(const Image& image) {
  const auto size = static_cast<std::size_t>(image.size);
  std::vector<std::vector<std::int64_t>> lowest;
  for (const auto& column : image.values) {
    auto& low =
        lowest.emplace_back(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t i = size; i < column.size(); ++i)
      low[i % size] = std::min(low[i % size], column[i]);
  }
  if (image.axes.empty()) return TileLayout::make({{image.size, 0, Axis()}});
  std::vector<Column> columns;
  for (std::size_t a = 0; a < lowest.size(); ++a) columns.push_back({image.axes[a], lowest[a]});
  TileLayout shard = WW_TRY(fit(columns));
  if (image.copies == 1) return shard;
  std::set<Displacement> common;
  for (std::int64_t x = 0; x < image.size; ++x) {
    std::vector<std::int64_t> base;
    for (const auto& low : lowest) base.push_back(low[static_cast<std::size_t>(x)]);
    std::set<Displacement> here = displacements(image, x, base);
    if (x == 0)
      common = std::move(here);
    else if (here != common)
      return fail(DiagKind::NotATile,
                  "the replicas of element {} lie differently from those of element 0", x);
  }
  const Displacement zero(image.axes.size(), 0);
  std::optional<Iters> replica;
  if (common.contains(zero)) replica = runs_of(common, image.axes);
  if (!replica)
    return fail(DiagKind::NotATile, "the {} places of each element are not a sum of runs",
                common.size());
  return TileLayout::make(shard.shard(), std::move(*replica), shard.offset());
}

}  // namespace ww::layout
