// SPDX-License-Identifier: Apache-2.0
#include "layout/algebra.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "base/wide.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/text.h"

namespace ww::layout {

// --- compose -------------------------------------------------------------------------------------
//
// compose(a, b): feed b's numbers to a. The structural rule walks a's digits: an iter e:s of b
// counts in steps of s through a's flat index, and as long as its range [s, e·s) is cut by a's
// digit boundaries into whole factors, each factor is an iter of the result. Iters of b whose
// ranges are disjoint cannot carry into one another. Everything else is composed element by element
// and read back with `fit`.

namespace {

// The one axis on which b places, or m.
Result<Axis> only_axis(const Layout& b) {
  const auto axes = moving_axes(b.tile());
  if (axes.size() > 1)
    return fail(DiagKind::BadAxis,
                "only a layout on a single axis can feed another; `{}` uses `{}` and `{}`",
                to_text(b), axes[0].name(), axes[1].name());
  return axes.empty() ? Axis() : axes[0];
}

Result<void> check_feeds(const Layout& a, const Layout& b, Axis axis) {
  if (b.is_swizzled()) return {};  // checked element by element
  const Range range = b.tile().range_on(axis);
  const bool unbounded = a.tile().has_unknown_extent();
  if (range.min >= 0 && (unbounded || range.max < a.size())) return {};
  return fail(DiagKind::OutOfBounds, "`{}` gives {}..{}, outside the {} elements of `{}`",
              to_text(b), range.min, range.max,
              unbounded ? std::string("?") : fmt::format("{}", a.size()), to_text(a));
}

// One iter of b through a's canonical shard, innermost factor first.
std::optional<Iters> through(const Iter& iter, const Iters& a) {
  Iters out;
  if (iter.extent == 1) return out;
  if (iter.stride == 0) return Iters{{iter.extent, 0, a.empty() ? Axis() : a.back().axis}};
  std::int64_t at = iter.stride;
  std::int64_t rest = iter.extent;
  std::int64_t begin = 1;  // a's current digit counts [begin, begin · extent)
  for (std::size_t k = a.size(); k-- > 0 && rest > 1;) {
    const bool outermost = k == 0;
    const std::int64_t end = outermost ? 0 : begin * a[k].extent;
    if (!outermost && at >= end) {
      begin = end;
      continue;
    }
    if (at % begin != 0) return std::nullopt;
    std::int64_t take = rest;
    if (!outermost) {
      if (end % at != 0) return std::nullopt;
      const std::int64_t room = end / at;
      if (rest > room ? rest % room != 0 : room % rest != 0) return std::nullopt;
      take = std::min(rest, room);
    }
    out.push_back({take, a[k].stride * (at / begin), a[k].axis});
    at *= take;
    rest /= take;
    begin = end;
  }
  if (rest > 1) return std::nullopt;
  return out;
}

// Ranges [s, e·s) must follow one another in whole steps, and the offset must leave them free.
bool digits_are_disjoint(const Layout& b, std::int64_t offset) {
  Iters all = b.tile().shard();
  all.append(b.tile().replica());
  auto* end = std::remove_if(all.begin(), all.end(),
                             [](const Iter& i) { return i.extent == 1 || i.stride == 0; });
  while (all.end() != end) all.pop_back();
  std::sort(all.begin(), all.end(),
            [](const Iter& x, const Iter& y) { return x.stride < y.stride; });
  std::int64_t reached = 1;
  for (const Iter& iter : all) {
    if (iter.stride < 0 || iter.stride % reached != 0) return false;
    if (offset / iter.stride % iter.extent != 0) return false;
    reached = iter.stride * iter.extent;
  }
  return true;
}

std::optional<TileLayout> compose_structure(const TileLayout& a, const Layout& b, Axis axis) {
  if (b.is_swizzled() || !b.tile().offset().is_constant() || b.tile().has_unknown_extent())
    return std::nullopt;
  const std::int64_t start = b.tile().offset().constant_on(axis);
  if (start < 0 || !digits_are_disjoint(b, start)) return std::nullopt;
  Iters inner = a.shard();
  merge_iters(inner);
  const auto map = [&](const Iters& iters) -> std::optional<Iters> {
    Iters out;
    for (const Iter& iter : iters) {
      auto parts = through(iter, inner);
      if (!parts) return std::nullopt;
      std::reverse(parts->begin(), parts->end());
      out.append(*parts);
    }
    return out;
  };
  auto shard = map(b.tile().shard());
  auto replica = map(b.tile().replica());
  if (!shard || !replica) return std::nullopt;
  replica->append(a.replica());
  Offsets offset = a.offset();
  if (start != 0) {
    const auto shard_only = TileLayout::make(inner);
    const auto place = apply(Layout(*shard_only), start);
    if (!place) return std::nullopt;
    for (const AxisValue& at : *place) offset.add(at.axis, at.value);
  }
  auto out = TileLayout::make(std::move(*shard), std::move(*replica), std::move(offset));
  if (!out) return std::nullopt;
  return *std::move(out);
}

// a at every number that b gives, before a's swizzle and replicas.
Result<Image> compose_table(const TileLayout& a, const Layout& b, Axis axis) {
  const Image numbers = WW_TRY(enumerate(b));
  const Layout shard_only = WW_TRY(TileLayout::make(a.shard()));
  Image out;
  out.size = numbers.size;
  out.copies = numbers.copies;
  out.axes = shard_only.tile().axes();
  const auto count = static_cast<std::size_t>(numbers.size * numbers.copies);
  out.values.assign(out.axes.size(), std::vector<std::int64_t>(count));
  const auto column = numbers.on(axis);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t number = column.empty() ? 0 : column[i];
    if (number < 0 || (!a.has_unknown_extent() && number >= a.size()))
      return fail(DiagKind::OutOfBounds, "`{}` gives {}, outside the {} elements of `{}`",
                  to_text(b), number, a.size(), to_text(a));
    const Place place = WW_TRY(apply(shard_only, number));
    for (std::size_t k = 0; k < place.size(); ++k) out.values[k][i] = place[k].value;
  }
  return out;
}

Result<TileLayout> add_outer(const TileLayout& fitted, const TileLayout& a) {
  Iters replica = fitted.replica();
  replica.append(a.replica());
  Offsets offset = fitted.offset();
  offset.add(a.offset());
  return TileLayout::make(fitted.shard(), std::move(replica), std::move(offset));
}

}  // namespace

Result<Layout> compose(const Layout& a, const Layout& b) {
  const Axis axis = WW_TRY(only_axis(b));
  if (b.tile().has_unknown_extent())
    return fail(DiagKind::NeedsConstant, "compose needs known extents, and `{}` has `?`",
                to_text(b));
  WW_TRY_VOID(check_feeds(a, b, axis));
  auto tile = compose_structure(a.tile(), b, axis);
  if (tile) {
    Iters shard = tile->shard();
    merge_iters(shard);
    if (shard.empty())
      shard.push_back({1, 1, a.tile().shard().empty() ? Axis() : a.tile().shard().front().axis});
    return Layout::make(WW_TRY(TileLayout::make(std::move(shard), tile->replica(), tile->offset())),
                        a.swizzle());
  }
  const Image image = WW_TRY(compose_table(a.tile(), b, axis));
  auto fitted = fit_image(image);
  if (!fitted)
    return fail(
        std::move(fitted.error())
            .with_note(fmt::format("the composition of `{}` after `{}` exists, but only as a table",
                                   to_text(a), to_text(b))));
  return Layout::make(WW_TRY(add_outer(*fitted, a.tile())), a.swizzle());
}

// --- divide --------------------------------------------------------------------------------------
//
// Complement and the two divisions.

namespace {

// Iters on one axis, smallest reach first; direction does not matter for the set of places.
Iters by_stride(const TileLayout& tile, Axis axis) {
  Iters out;
  const auto collect = [&](const Iters& iters) {
    for (Iter iter : iters) {
      if (!(iter.axis == axis) || iter.extent == 1) continue;
      iter.stride = iter.stride < 0 ? -iter.stride : iter.stride;
      out.push_back(iter);
    }
  };
  collect(tile.shard());
  collect(tile.replica());
  std::sort(out.begin(), out.end(),
            [](const Iter& a, const Iter& b) { return a.stride < b.stride; });
  return out;
}

// The free digits of one axis, outermost first.
Result<Iters> gaps(const TileLayout& tile, const BoxSide& side) {
  Iters out;
  std::int64_t filled = 1;
  for (const Iter& iter : by_stride(tile, side.axis)) {
    if (iter.stride == 0)
      return fail(DiagKind::NotInjective, "`{}` has a stride of 0 on `{}`", to_text(tile),
                  side.axis.name());
    if (iter.stride % filled != 0)
      return fail(DiagKind::Indivisible,
                  "strides do not nest on `{}`: {} is not a multiple of the {} places below it",
                  side.axis.name(), iter.stride, filled);
    if (iter.stride > filled) out.push_back({iter.stride / filled, filled, side.axis});
    const auto reach = checked_mul(iter.stride, iter.extent);
    if (!reach || *reach > kMaxPlace)
      return fail(DiagKind::Overflow, "places on `{}` leave ±2^60", side.axis.name());
    filled = *reach;
  }
  if (side.extent < 1 || side.extent % filled != 0)
    return fail(DiagKind::Indivisible,
                "extent {} of `{}` is not a multiple of the {} places the layout spans there",
                side.extent, side.axis.name(), filled);
  if (side.extent > filled) out.push_back({side.extent / filled, filled, side.axis});
  std::reverse(out.begin(), out.end());
  return out;
}

Result<TileLayout> without_swizzle(const Layout& layout) {
  if (!layout.is_swizzled()) return layout.tile();
  auto plain = fit_image(WW_TRY(enumerate(layout)));
  if (plain) return plain;
  return fail(std::move(plain.error())
                  .with_note("the layout is swizzled, and its places are not a plain tile layout"));
}

std::int64_t lookup(const Image& image, Axis axis, std::size_t index) {
  const auto values = image.on(axis);
  return values.empty() ? 0 : values[index];
}

// X(y) for all y that the divisor reaches, replicas of the layout kept side by side.
Result<Image> quotient_table(const Layout& layout, const Layout& divisor, Axis axis) {
  const Image from = WW_TRY(enumerate(divisor));
  const Image to = WW_TRY(enumerate(layout));
  std::int64_t top = 0;
  for (std::int64_t i = 0; i < from.size * from.copies; ++i) {
    const std::int64_t y = lookup(from, axis, static_cast<std::size_t>(i));
    if (y < 0)
      return fail(DiagKind::OutOfBounds, "the divisor `{}` gives the negative number {}",
                  to_text(divisor), y);
    top = std::max(top, y);
  }
  if (top >= kMaxEnumerated || (top + 1) * to.copies > kMaxEnumerated)
    return fail(DiagKind::NotOnto, "the divisor `{}` reaches {}, far beyond its {} elements",
                to_text(divisor), top, from.size);
  Image out;
  out.size = top + 1;
  out.copies = to.copies;
  out.axes = to.axes;
  out.values.assign(to.axes.size(),
                    std::vector<std::int64_t>(static_cast<std::size_t>(out.size * out.copies)));
  std::vector<std::int64_t> holder(static_cast<std::size_t>(out.size), -1);
  for (std::int64_t i = 0; i < from.size * from.copies; ++i) {
    const std::int64_t x = i % from.size;
    const std::int64_t y = lookup(from, axis, static_cast<std::size_t>(i));
    std::int64_t& held = holder[static_cast<std::size_t>(y)];
    for (std::size_t a = 0; a < to.axes.size(); ++a) {
      for (std::int64_t r = 0; r < to.copies; ++r) {
        const std::int64_t value = to.values[a][static_cast<std::size_t>(r * to.size + x)];
        std::int64_t& slot = out.values[a][static_cast<std::size_t>(r * out.size + y)];
        if (held != -1 && slot != value)
          return fail(
              DiagKind::NotInjective,
              "the divisor sends elements {} and {} both to {}, but the layout places them apart",
              held, x, y);
        slot = value;
      }
    }
    held = x;
  }
  const auto hole = std::find(holder.begin(), holder.end(), -1);
  if (hole != holder.end())
    return fail(DiagKind::NotOnto,
                "the divisor `{}` never gives {}, so the quotient is not determined there",
                to_text(divisor), hole - holder.begin());
  return out;
}

Result<Axis> divisor_axis(const Layout& layout) {
  const auto axes = moving_axes(layout.tile());
  if (axes.size() <= 1) return axes.empty() ? Axis() : axes[0];
  return fail(DiagKind::BadAxis, "a divisor gives numbers on one axis, `{}` uses `{}` and `{}`",
              to_text(layout), axes[0].name(), axes[1].name());
}

// Through the inverse, when the divisor is a permutation of [0, size) and the rest is structural.
std::optional<Layout> divide_by_inverse(const Layout& layout, const Layout& divisor) {
  if (divisor.is_swizzled() || !divisor.tile().replica().empty()) return std::nullopt;
  const auto back = inverse(divisor);
  if (!back || back->box.size() > 1 || (!back->box.empty() && back->box[0].first != 0))
    return std::nullopt;
  auto out = compose(layout, back->map);
  if (!out) return std::nullopt;
  return *std::move(out);
}

}  // namespace

Result<Layout> complement(const Layout& layout, std::span<const BoxSide> extents) {
  WW_TRY_VOID(require_constant(layout, "complement"));
  const TileLayout tile = WW_TRY(without_swizzle(layout));
  for (const Axis axis : moving_axes(tile))
    if (std::none_of(extents.begin(), extents.end(),
                     [&](const BoxSide& side) { return side.axis == axis; }))
      return fail(DiagKind::BadAxis, "the box has no extent for axis `{}` of the layout",
                  axis.name());
  Iters shard;
  Offsets offset;
  for (const BoxSide& side : extents) {
    shard.append(WW_TRY(gaps(tile, side)));
    offset.add(side.axis, side.first - tile.range_on(side.axis).min);
  }
  return canonicalize(Layout(WW_TRY(TileLayout::make(std::move(shard), {}, std::move(offset)))));
}

Result<Layout> right_divide(const Layout& layout, const Layout& divisor) {
  WW_TRY_VOID(require_constant(divisor, "right division"));
  WW_TRY_VOID(require_constant(layout, "right division"));
  if (layout.size() != divisor.size())
    return fail(DiagKind::NotAdmitted, "the layout has {} elements, the divisor {}", layout.size(),
                divisor.size());
  const Axis axis = WW_TRY(divisor_axis(divisor));
  if (auto out = divide_by_inverse(layout, divisor)) return std::move(*out);
  const Layout before = layout.tile();  // the swizzle acts on the result as it acts on the layout
  auto fitted = fit_image(WW_TRY(quotient_table(before, divisor, axis)));
  if (!fitted)
    return fail(std::move(fitted.error()).with_note("the quotient exists, but only as a table"));
  return Layout::make(*std::move(fitted), layout.swizzle());
}

Result<Layout> divide(const Layout& layout, const Layout& tiler) {
  WW_TRY_VOID(require_constant(layout, "division"));
  const Axis axis = WW_TRY(divisor_axis(tiler));
  const BoxSide whole{axis, 0, layout.size()};
  const Layout rest = WW_TRY(complement(tiler, std::span(&whole, 1)));
  if (tiler.is_swizzled())
    return fail(DiagKind::BadSwizzle, "a tiler cannot be swizzled: `{}`", to_text(tiler));
  Iters shard = rest.tile().shard();
  shard.append(tiler.tile().shard());
  Offsets offset = tiler.tile().offset();
  offset.add(rest.tile().offset());
  return compose(layout, WW_TRY(TileLayout::make(std::move(shard), tiler.tile().replica(),
                                                 std::move(offset))));
}

// --- inverse -------------------------------------------------------------------------------------
//
// The inverse reads a layout backwards: sort the iters of each axis by stride; if each stride is
// the product of the extents below it, the axis is filled without gaps and its digits are exactly
// these iters. Their values in the inverse are the weights of the same digits in the flat index; a
// replica digit weighs nothing.

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
