// SPDX-License-Identifier: Apache-2.0
// The inverse reads a layout backwards: sort the iters of each axis by stride; if each stride is
// the product of the extents below it, the axis is filled without gaps and its digits are exactly
// these iters. Their values in the inverse are the weights of the same digits in the flat index; a
// replica digit weighs nothing.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "base/wide.h"
#include "layout/algebra.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

int kind_rank(AxisKind kind) {
  switch (kind) {
    case AxisKind::Device:
      return 0;
    case AxisKind::Thread:
      return 1;
    case AxisKind::Unknown:
      return 2;
    case AxisKind::Memory:
      return 3;
  }
  return 4;
}

std::size_t table_rank(Axis axis) {
  const auto builtin = builtin_axes();
  return static_cast<std::size_t>(std::find(builtin.begin(), builtin.end(), axis) -
                                  builtin.begin());
}

bool comes_before(Axis a, Axis b) {
  const auto key = [](Axis axis) {
    const AxisFacts& f = axis.facts();
    const bool is_thread = axis.is_thread();
    return std::tuple(kind_rank(f.kind), is_thread ? -static_cast<int>(f.counter) : 0,
                      is_thread ? -f.divisor : 0, table_rank(axis), f.name);
  };
  return key(a) < key(b);
}

Result<std::vector<Axis>> axis_order(const TileLayout& tile, std::span<const Axis> wanted) {
  const auto present = tile.axes();
  std::vector<Axis> order(present.begin(), present.end());
  std::sort(order.begin(), order.end(), comes_before);
  if (wanted.empty()) return order;
  const bool same =
      wanted.size() == order.size() && std::all_of(order.begin(), order.end(), [&](Axis axis) {
        return std::count(wanted.begin(), wanted.end(), axis) == 1;
      });
  if (same) return std::vector<Axis>(wanted.begin(), wanted.end());
  std::string names;
  for (const Axis axis : order)
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", axis.name());
  return fail(DiagKind::BadAxis, "the axis order must name each of {} once", names);
}

struct Digit {
  Iter iter;
  std::int64_t weight = 0;  // in the flat index
};

// Digits of one axis, smallest stride first, if they fill it without gaps.
std::optional<std::vector<Digit>> digits_of(const TileLayout& tile, Axis axis) {
  std::vector<Digit> digits;
  std::int64_t weight = 1;
  for (std::size_t k = tile.shard().size(); k-- > 0;) {
    const Iter& iter = tile.shard()[k];
    if (iter.axis == axis && iter.extent > 1) digits.push_back({iter, weight});
    weight *= iter.extent;
  }
  for (const Iter& iter : tile.replica())
    if (iter.axis == axis && iter.extent > 1) digits.push_back({iter, 0});
  std::sort(digits.begin(), digits.end(),
            [](const Digit& a, const Digit& b) { return a.iter.stride < b.iter.stride; });
  std::int64_t expected = 1;
  for (const Digit& digit : digits) {
    if (digit.iter.stride != expected) return std::nullopt;
    expected *= digit.iter.extent;
  }
  return digits;
}

std::optional<Inverse> invert_structure(const Layout& layout, std::span<const Axis> order) {
  if (layout.is_swizzled()) return std::nullopt;
  Inverse out;
  Iters shard;
  for (const Axis axis : order) {
    const auto digits = digits_of(layout.tile(), axis);
    if (!digits) return std::nullopt;
    std::int64_t extent = 1;
    for (std::size_t i = digits->size(); i-- > 0;) {
      shard.push_back({(*digits)[i].iter.extent, (*digits)[i].weight, Axis()});
      extent *= (*digits)[i].iter.extent;
    }
    out.box.push_back({axis, layout.tile().offset().constant_on(axis), extent});
  }
  merge_iters(shard);
  if (shard.empty()) shard.push_back({1, 1, Axis()});
  auto tile = TileLayout::make(std::move(shard));
  if (!tile) return std::nullopt;
  out.map = Layout(*std::move(tile));
  return out;
}

std::string describe_place(std::int64_t flat, std::span<const BoxSide> box) {
  std::vector<std::int64_t> at(box.size());
  for (std::size_t d = box.size(); d-- > 0;) {
    at[d] = box[d].first + flat % box[d].extent;
    flat /= box[d].extent;
  }
  std::string out;
  for (std::size_t d = 0; d < box.size(); ++d)
    out += fmt::format("{}{}={}", d == 0 ? "" : ", ", box[d].axis.name(), at[d]);
  return out.empty() ? "the only place" : out;
}

std::vector<BoxSide> box_around(const Image& image, std::span<const Axis> order) {
  std::vector<BoxSide> box;
  for (const Axis axis : order) {
    const auto values = image.on(axis);
    const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
    box.push_back({axis, *lo, *hi - *lo + 1});
  }
  return box;
}

// Which element each place of the box holds.
Result<std::vector<std::int64_t>> occupants(const Image& image, std::span<const BoxSide> box) {
  Wide count = 1;
  for (const BoxSide& side : box) count = std::min<Wide>(count * side.extent, kMaxPlace);
  if (count > kMaxEnumerated)
    return fail(DiagKind::NotOnto,
                "the places span a box of more than {} places, of which at most {} are held",
                kMaxEnumerated, image.size * image.copies);
  std::vector<std::int64_t> holder(static_cast<std::size_t>(count), -1);
  for (std::int64_t i = 0; i < image.size * image.copies; ++i) {
    std::int64_t at = 0;
    for (const BoxSide& side : box)
      at = at * side.extent + image.on(side.axis)[static_cast<std::size_t>(i)] - side.first;
    std::int64_t& here = holder[static_cast<std::size_t>(at)];
    const std::int64_t element = i % image.size;
    if (here != -1 && here != element)
      return fail(DiagKind::NotInjective, "elements {} and {} share a place: {}",
                  std::min(here, element), std::max(here, element), describe_place(at, box));
    here = element;
  }
  const auto hole = std::find(holder.begin(), holder.end(), -1);
  if (hole != holder.end())
    return fail(DiagKind::NotOnto, "no element is held at {}",
                describe_place(hole - holder.begin(), box));
  return holder;
}

Result<Inverse> invert_table(const Layout& layout, std::span<const Axis> order) {
  const Image image = WW_TRY(enumerate(layout));
  Inverse out;
  out.box = box_around(image, order);
  std::vector<std::int64_t> holder = WW_TRY(occupants(image, out.box));
  const Column column{Axis(), holder};
  auto plain = fit(std::span(&column, 1));
  if (plain) {
    out.map = Layout(*std::move(plain));
    return out;
  }
  if (layout.is_swizzled()) {  // the inverse of a swizzle is itself; it may sit on the other side
    std::vector<std::int64_t> turned(holder.size());
    std::transform(holder.begin(), holder.end(), turned.begin(), layout.swizzle());
    const Column turned_column{Axis(), turned};
    if (auto tile = fit(std::span(&turned_column, 1))) {
      out.map = WW_TRY(Layout::make(*std::move(tile), layout.swizzle()));
      return out;
    }
  }
  return fail(std::move(plain.error()).with_note("the inverse exists, but only as a table"));
}

}  // namespace

Result<Inverse> inverse(const Layout& layout, std::span<const Axis> order) {
  WW_TRY_VOID(require_constant(layout, "inverse"));
  const std::vector<Axis> axes = WW_TRY(axis_order(layout.tile(), order));
  if (auto out = invert_structure(layout, axes)) return std::move(*out);
  return invert_table(layout, axes);
}

}  // namespace ww::layout
