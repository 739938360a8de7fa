// SPDX-License-Identifier: Apache-2.0
#include "property/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace ww::test {

// ---- Reading and printing -----------------------------------------------------------------------

namespace {

std::vector<OIter> read_iters(const layout::Iters& iters, std::int64_t unknown) {
  std::vector<OIter> out;
  for (const layout::Iter& it : iters) {
    const std::int64_t extent = it.extent == layout::kUnknownExtent ? unknown : it.extent;
    out.push_back({extent, it.stride, std::string(it.axis.name())});
  }
  return out;
}

std::int64_t atom_value(const layout::Atom& atom, const Symbols& symbols) {
  const std::int64_t v = symbols.at(std::string(atom.var.name()));
  const std::int64_t q = floor_quotient(v, atom.div);
  return atom.mod == 0 ? q : floor_remainder(q, atom.mod);
}

std::string iters_text(const std::vector<OIter>& iters) {
  std::string extents;
  std::string strides;
  for (const OIter& it : iters) {
    const char* comma = extents.empty() ? "" : ",";
    extents += fmt::format("{}{}", comma, it.extent);
    strides += fmt::format("{}{}", comma, it.stride);
    if (it.axis != "m") strides += "@" + it.axis;
  }
  if (iters.size() == 1) return extents + ":" + strides;
  return fmt::format("({}):({})", extents, strides);
}

}  // namespace

OLayout read(const layout::Layout& layout, const Symbols& symbols, std::int64_t unknown) {
  OLayout out;
  out.shard = read_iters(layout.tile().shard(), unknown);
  out.replica = read_iters(layout.tile().replica(), 1);
  for (const layout::OffsetTerm& term : layout.tile().offset().terms()) {
    const std::int64_t value = term.is_symbolic ? atom_value(term.atom, symbols) : 1;
    out.offset[std::string(term.axis.name())] += term.coef * value;
  }
  std::erase_if(out.offset, [](const auto& entry) { return entry.second == 0; });
  const layout::Swizzle& swizzle = layout.swizzle();
  if (swizzle.len() != 0) {
    out.swizzle = {swizzle.per_element(), swizzle.len(), swizzle.atom(), swizzle.inner()};
  }
  return out;
}

std::int64_t value_of(const layout::Expr& expr, const Symbols& symbols) {
  std::int64_t sum = expr.constant();
  for (const layout::Term& term : expr.terms()) sum += term.coef * atom_value(term.atom, symbols);
  return sum;
}

std::string notation(const OLayout& layout) {
  std::string out;
  const auto append = [&](const std::string& term) { out += (out.empty() ? "" : " + ") + term; };
  if (!layout.shard.empty()) append("S[" + iters_text(layout.shard) + "]");
  if (!layout.replica.empty()) append("R[" + iters_text(layout.replica) + "]");
  for (const auto& [axis, value] : layout.offset) {
    append(axis == "m" ? fmt::format("{}", value) : fmt::format("{}@{}", value, axis));
  }
  if (out.empty()) out = "S[]";
  const OSwizzle& s = layout.swizzle;
  if (s.len == 0) return out;
  return fmt::format("ComposeLayout({},{},{}, {}{})", s.per_element, s.len, s.atom, out,
                     s.inner ? "" : ", swizzle_inner=False");
}

std::string text(const Place& place) {
  std::string out;
  for (const auto& [axis, value] : place) {
    out += fmt::format("{}{}@{}", out.empty() ? "" : " ", value, axis);
  }
  return out.empty() ? "0" : out;
}

std::string text(const Places& places) {
  std::string out;
  for (const Place& place : places) out += (out.empty() ? "" : ", ") + text(place);
  return "{" + out + "}";
}

std::string text(const Ints& values) { return fmt::format("({})", fmt::join(values, ",")); }

// ---- Numbers ------------------------------------------------------------------------------------

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  return a - b * floor_quotient(a, b);
}

std::int64_t product(const Ints& values) {
  std::int64_t p = 1;
  for (const std::int64_t v : values) p *= v;
  return p;
}

std::int64_t flat_of(const Ints& coordinate, const Ints& shape) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + coordinate[d];
  return flat;
}

Ints coordinate_of(std::int64_t flat, const Ints& shape) {
  Ints out(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    out[d] = flat % shape[d];
    flat /= shape[d];
  }
  return out;
}

Ints extents_of(const std::vector<OIter>& iters) {
  Ints out;
  for (const OIter& it : iters) out.push_back(it.extent);
  return out;
}

// ---- The map ------------------------------------------------------------------------------------

namespace {

void put(Place& place, const std::string& axis, std::int64_t amount) {
  if (amount == 0) return;
  const std::int64_t value = (place[axis] += amount);
  if (value == 0) place.erase(axis);
}

void swizzle_place(const OSwizzle& swizzle, Place& place) {
  const auto found = place.find("m");
  if (swizzle.len == 0 || found == place.end()) return;
  found->second = swizzled(swizzle, found->second);
}

/// Every digit vector below the extents, in row-major order.
void for_each_digits(const Ints& extents, const std::function<void(const Ints&)>& visit) {
  const std::int64_t n = product(extents);
  for (std::int64_t x = 0; x < n; ++x) visit(coordinate_of(x, extents));
}

Place base_place(const OLayout& layout, const Ints& digits) {
  Place place;
  for (std::size_t k = 0; k < layout.shard.size(); ++k) {
    put(place, layout.shard[k].axis, digits[k] * layout.shard[k].stride);
  }
  for (const auto& [axis, value] : layout.offset) put(place, axis, value);
  return place;
}

}  // namespace

std::int64_t size_of(const OLayout& layout) { return product(extents_of(layout.shard)); }

std::int64_t swizzled(const OSwizzle& swizzle, std::int64_t address) {
  const std::int64_t unit_size = std::int64_t{1} << swizzle.per_element;
  const std::int64_t atom = std::int64_t{1} << swizzle.atom;
  const std::int64_t count = std::int64_t{1} << swizzle.len;
  std::int64_t unit = address / unit_size;
  const std::int64_t rest = address % unit_size;
  if (swizzle.inner) {
    unit = unit ^ ((unit / atom) % count);
  } else {
    unit = unit ^ ((unit % count) * atom);
  }
  return unit * unit_size + rest;
}

Places places_of_digits(const OLayout& layout, const Ints& digits) {
  const Place base = base_place(layout, digits);
  Places out;
  for_each_digits(extents_of(layout.replica), [&](const Ints& r) {
    Place place = base;
    for (std::size_t t = 0; t < r.size(); ++t) {
      put(place, layout.replica[t].axis, r[t] * layout.replica[t].stride);
    }
    swizzle_place(layout.swizzle, place);
    out.insert(std::move(place));
  });
  return out;
}

Places places_at(const OLayout& layout, std::int64_t flat) {
  return places_of_digits(layout, coordinate_of(flat, extents_of(layout.shard)));
}

Place place_at_replica_0(const OLayout& layout, std::int64_t flat) {
  Place place = base_place(layout, coordinate_of(flat, extents_of(layout.shard)));
  swizzle_place(layout.swizzle, place);
  return place;
}

Table table_of(const OLayout& layout) {
  Table table;
  const std::int64_t n = size_of(layout);
  for (std::int64_t x = 0; x < n; ++x) table.push_back(places_at(layout, x));
  return table;
}

std::pair<std::int64_t, std::int64_t> range_on(const Table& table, const std::string& axis) {
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  for (const Places& places : table) {
    for (const Place& place : places) {
      const auto found = place.find(axis);
      const std::int64_t v = found == place.end() ? 0 : found->second;
      if (!range) range = {v, v};
      range = {std::min(range->first, v), std::max(range->second, v)};
    }
  }
  return range.value_or(std::pair<std::int64_t, std::int64_t>{0, 0});
}

std::set<std::string> axes_of(const Table& table) {
  std::set<std::string> out;
  for (const Places& places : table) {
    for (const Place& place : places) {
      for (const auto& entry : place) out.insert(entry.first);
    }
  }
  return out;
}

std::optional<std::string> difference(const Table& got, const Table& want) {
  if (got.size() != want.size()) {
    return fmt::format("has {} elements, should have {}", got.size(), want.size());
  }
  for (std::size_t x = 0; x < got.size(); ++x) {
    if (got[x] != want[x]) {
      return fmt::format("element {} is at {}, should be at {}", x, text(got[x]), text(want[x]));
    }
  }
  return std::nullopt;
}

// ---- What operations mean -----------------------------------------------------------------------

namespace {

Place add(const Place& a, const Place& b) {
  Place out = a;
  for (const auto& [axis, value] : b) put(out, axis, value);
  return out;
}

/// How far the inner reaches on each axis that moves in its shard: from 0, or from its smallest
/// value where that is negative, to its largest. Other axes are absent.
std::map<std::string, std::int64_t> inner_spans(const OLayout& inner) {
  OLayout plain = inner;
  plain.swizzle = {};
  const Table table = table_of(plain);
  std::map<std::string, std::int64_t> out;
  for (const OIter& it : inner.shard) {
    if (it.extent == 1) continue;
    const auto [low, high] = range_on(table, it.axis);
    out[it.axis] = 1 + high - std::min<std::int64_t>(low, 0);
  }
  return out;
}

Place scaled(const Place& place, const std::map<std::string, std::int64_t>& factors) {
  Place out;
  for (const auto& [axis, value] : place) {
    const auto found = factors.find(axis);
    put(out, axis, value * (found == factors.end() ? 1 : found->second));
  }
  return out;
}

Ints product_shape(const Ints& a, const Ints& b) {
  Ints out;
  for (std::size_t d = 0; d < a.size(); ++d) out.push_back(a[d] * b[d]);
  return out;
}

}  // namespace

Places sum_of(const Places& a, const Places& b) {
  Places out;
  for (const Place& p : a) {
    for (const Place& q : b) out.insert(add(p, q));
  }
  return out;
}

Table slice_meaning(const OLayout& layout, const Ints& shape, const Ints& begin,
                    const Ints& extent) {
  Table out;
  for_each_digits(extent, [&](const Ints& y) {
    Ints x = y;
    for (std::size_t d = 0; d < x.size(); ++d) x[d] += begin[d];
    out.push_back(places_at(layout, flat_of(x, shape)));
  });
  return out;
}

Table tile_meaning(const OLayout& inner, const Ints& inner_shape, const OLayout& outer,
                   const Ints& outer_shape, bool scale_places) {
  OLayout plain_inner = inner;
  plain_inner.swizzle = {};
  OLayout grid = outer;
  grid.replica.clear();
  grid.offset.clear();
  OLayout origin = outer;  // the offset and the replicas of the outer alone
  origin.shard.clear();
  const auto factors = inner_spans(inner);
  Places displacement;
  for (const Place& place : places_at(origin, 0)) {
    displacement.insert(scale_places ? scaled(place, factors) : place);
  }
  Table out;
  for_each_digits(product_shape(outer_shape, inner_shape), [&](const Ints& x) {
    Ints o;
    Ints i;
    for (std::size_t d = 0; d < x.size(); ++d) {
      o.push_back(x[d] / inner_shape[d]);
      i.push_back(x[d] % inner_shape[d]);
    }
    const Place at = scaled(place_at_replica_0(grid, flat_of(o, outer_shape)), factors);
    const Places tiles = sum_of({at}, displacement);
    out.push_back(sum_of(tiles, places_at(plain_inner, flat_of(i, inner_shape))));
  });
  return out;
}

Table direct_sum_meaning(const OLayout& a, const Ints& a_shape, const OLayout& b,
                         const Ints& b_shape) {
  Ints interleaved;
  for (std::size_t d = 0; d < a_shape.size(); ++d) {
    interleaved.push_back(a_shape[d]);
    interleaved.push_back(b_shape[d]);
  }
  Table out;
  for_each_digits(interleaved, [&](const Ints& x) {
    Ints xa;
    Ints xb;
    for (std::size_t d = 0; d < x.size(); d += 2) {
      xa.push_back(x[d]);
      xb.push_back(x[d + 1]);
    }
    out.push_back(sum_of(places_at(a, flat_of(xa, a_shape)), places_at(b, flat_of(xb, b_shape))));
  });
  return out;
}

std::optional<Table> compose_meaning(const OLayout& a, const OLayout& b) {
  const Table between = table_of(b);
  if (axes_of(between).size() > 1) return std::nullopt;
  const std::int64_t n = size_of(a);
  Table out;
  for (const Places& places : between) {
    Places reached;
    for (const Place& place : places) {
      const std::int64_t v = place.empty() ? 0 : place.begin()->second;
      if (v < 0 || v >= n) return std::nullopt;
      reached.merge(places_at(a, v));
    }
    out.push_back(std::move(reached));
  }
  return out;
}

std::vector<std::set<std::int64_t>> holders(const Table& table, const std::vector<Side>& box) {
  Ints extents;
  for (const Side& side : box) extents.push_back(side.extent);
  std::map<Place, std::set<std::int64_t>> at;
  for (std::size_t x = 0; x < table.size(); ++x) {
    for (const Place& place : table[x]) at[place].insert(static_cast<std::int64_t>(x));
  }
  std::vector<std::set<std::int64_t>> out;
  for_each_digits(extents, [&](const Ints& digits) {
    Place place;
    for (std::size_t k = 0; k < box.size(); ++k) put(place, box[k].axis, box[k].first + digits[k]);
    const auto found = at.find(place);
    out.push_back(found == at.end() ? std::set<std::int64_t>{} : found->second);
  });
  return out;
}

Table permute_dims_meaning(const OLayout& layout, const Ints& shape, const Ints& p) {
  Ints permuted;
  for (const std::int64_t d : p) permuted.push_back(shape[static_cast<std::size_t>(d)]);
  Table out;
  for_each_digits(permuted, [&](const Ints& y) {
    Ints x(shape.size());
    for (std::size_t i = 0; i < p.size(); ++i) x[static_cast<std::size_t>(p[i])] = y[i];
    out.push_back(places_at(layout, flat_of(x, shape)));
  });
  return out;
}

Table unpack_meaning(const OLayout& layout, std::int64_t n, const std::string& axis) {
  Table out;
  for (const Places& places : table_of(layout)) {
    for (std::int64_t k = 0; k < n; ++k) {
      Places small;
      for (const Place& place : places) small.insert(add(scaled(place, {{axis, n}}), {{axis, k}}));
      out.push_back(std::move(small));
    }
  }
  return out;
}

// ---- Thread axes on CUDA ------------------------------------------------------------------------

std::optional<ThreadDigits> thread_digits(const std::string& axis) {
  static const std::map<std::string, ThreadDigits> kAxes = {
      {"tx", {1, 0}},
      {"laneid", {1, 32}},
      {"warpid", {32, 0}},
      {"wgid", {128, 0}},
      {"tid_in_wg", {1, 128}},
      {"wid_in_wg", {32, 4}},
      // Axes that the generator declares (generate.cpp).
      {"quad", {4, 8}},
      {"lane_in_quad", {1, 4}}};
  const auto found = kAxes.find(axis);
  if (found == kAxes.end()) return std::nullopt;
  return found->second;
}

Table on_threads(const Table& table) {
  Table out;
  for (const Places& places : table) {
    Places seen;
    for (const Place& place : places) {
      Place physical;
      for (const auto& [axis, value] : place) {
        const auto digits = thread_digits(axis);
        put(physical, digits ? "thread" : axis, digits ? value * digits->divisor : value);
      }
      seen.insert(std::move(physical));
    }
    out.push_back(std::move(seen));
  }
  return out;
}

bool threads_in_range(const Table& table) {
  return std::ranges::all_of(axes_of(table), [&](const std::string& axis) {
    const auto digits = thread_digits(axis);
    if (!digits) return true;
    const auto [low, high] = range_on(table, axis);
    return low >= 0 && (digits->modulus == 0 || high < digits->modulus);
  });
}

Table split_axis(const Table& table, const std::string& whole, const std::string& outer,
                 const std::string& inner, std::int64_t factor) {
  Table out;
  for (const Places& places : table) {
    Places cut;
    for (const Place& place : places) {
      Place p = place;
      const auto found = p.find(whole);
      const std::int64_t v = found == p.end() ? 0 : found->second;
      if (found != p.end()) p.erase(found);
      put(p, outer, floor_quotient(v, factor));
      put(p, inner, floor_remainder(v, factor));
      cut.insert(std::move(p));
    }
    out.push_back(std::move(cut));
  }
  return out;
}

// ---- Does an answer exist? ----------------------------------------------------------------------

namespace {

/// Values of a table as vectors over a fixed list of axes.
struct Dense {
  std::vector<std::string> axes;
  std::vector<std::set<Ints>> sets;
};

Ints dense_place(const Place& place, const std::vector<std::string>& axes) {
  Ints out;
  for (const std::string& axis : axes) {
    const auto found = place.find(axis);
    out.push_back(found == place.end() ? 0 : found->second);
  }
  return out;
}

Dense dense(const Table& table) {
  const std::set<std::string> axes = axes_of(table);
  Dense out{{axes.begin(), axes.end()}, {}};
  for (const Places& places : table) {
    std::set<Ints> set;
    for (const Place& place : places) set.insert(dense_place(place, out.axes));
    out.sets.push_back(std::move(set));
  }
  return out;
}

Ints minus(const Ints& a, const Ints& b) {
  Ints out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = a[k] - b[k];
  return out;
}

Ints plus_multiple(const Ints& a, const Ints& b, std::int64_t factor) {
  Ints out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = a[k] + b[k] * factor;
  return out;
}

/// Displacement of every element from element 0, if all sets are moved copies of the first. A
/// finite set is a moved copy of another in at most one way: smallest onto smallest.
std::optional<std::vector<Ints>> displacements(const Dense& table) {
  const std::set<Ints>& first = table.sets.front();
  std::vector<Ints> out;
  for (const std::set<Ints>& set : table.sets) {
    if (set.size() != first.size()) return std::nullopt;
    out.push_back(minus(*set.begin(), *first.begin()));
    for (const Ints& p : first) {
      if (!set.contains(plus_multiple(p, out.back(), 1))) return std::nullopt;
    }
  }
  return out;
}

/// Is f, looked at every `step` elements, the table of some list of iters? By definition of a
/// digit: yes for one element; else some innermost extent e makes every block of e a progression
/// with a step on one axis, and the block starts are again such a table. All e are tried.
bool is_strided(const std::vector<Ints>& f, std::size_t step, std::map<std::size_t, bool>& known) {
  const std::size_t n = f.size() / step;
  if (n == 1) return true;
  const auto found = known.find(step);
  if (found != known.end()) return found->second;
  const Ints stride = minus(f[step], f[0]);
  const auto moving = std::ranges::count_if(stride, [](std::int64_t s) { return s != 0; });
  bool answer = false;
  for (std::size_t e = 2; moving <= 1 && e <= n && !answer; ++e) {
    if (n % e != 0) continue;
    bool linear = true;
    for (std::size_t x = 0; linear && x < n; ++x) {
      const Ints want =
          plus_multiple(f[(x - x % e) * step], stride, static_cast<std::int64_t>(x % e));
      linear = f[x * step] == want;
    }
    answer = linear && is_strided(f, step * e, known);
  }
  known[step] = answer;
  return answer;
}

/// Is `a` (smallest element 0) the set of all subset sums of some list of positive numbers? A
/// progression of extent e is e-1 equal two-element sets added up, so this decides "sum of
/// progressions". The list is searched in ascending order; the sums of a part of it lie in `a`.
bool is_subset_sums(const std::set<std::int64_t>& a, const std::set<std::int64_t>& sums,
                    std::int64_t at_least) {
  if (sums == a) return true;
  for (auto s = a.lower_bound(at_least); s != a.end(); ++s) {
    std::set<std::int64_t> more = sums;
    for (const std::int64_t v : sums) more.insert(v + *s);
    if (!std::ranges::includes(a, more)) continue;
    if (is_subset_sums(a, more, *s)) return true;
  }
  return false;
}

bool is_replica_values(const std::set<Ints>& set, std::size_t axis_count) {
  std::size_t boxed = 1;
  for (std::size_t k = 0; k < axis_count; ++k) {
    std::set<std::int64_t> values;
    for (const Ints& p : set) values.insert(p[k]);
    boxed *= values.size();
    std::set<std::int64_t> from_0;
    for (const std::int64_t v : values) from_0.insert(v - *values.begin());
    if (!is_subset_sums(from_0, {0}, 1)) return false;
  }
  // Every progression moves along one axis, so the whole is the product of what it is on each axis.
  return boxed == set.size();
}

}  // namespace

bool is_tile_table(const Table& table) {
  const Dense values = dense(table);
  const auto f = displacements(values);
  std::map<std::size_t, bool> known;
  return f && is_strided(*f, 1, known) &&
         is_replica_values(values.sets.front(), values.axes.size());
}

bool is_tile_table_under(const Table& table, const OSwizzle& swizzle) {
  Table plain;
  for (const Places& places : table) {
    Places back;  // the swizzle is its own inverse
    for (Place place : places) {
      swizzle_place(swizzle, place);
      back.insert(std::move(place));
    }
    plain.push_back(std::move(back));
  }
  return is_tile_table(plain);
}

bool is_additive(const Table& table, const Ints& shape) {
  const Dense values = dense(table);
  const auto f = displacements(values);
  if (!f) return false;
  for (std::size_t x = 0; x < f->size(); ++x) {
    const Ints coordinate = coordinate_of(static_cast<std::int64_t>(x), shape);
    Ints sum(values.axes.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Ints alone(shape.size());
      alone[d] = coordinate[d];
      sum = plus_multiple(sum, (*f)[static_cast<std::size_t>(flat_of(alone, shape))], 1);
    }
    if (sum != (*f)[x]) return false;
  }
  return true;
}

bool is_replica_set(const Places& places) {
  const Dense values = dense({places});
  return is_replica_values(values.sets.front(), values.axes.size());
}

std::optional<std::set<std::int64_t>> interval_complement(const std::set<std::int64_t>& a,
                                                          std::int64_t extent) {
  std::set<std::int64_t> covered;
  std::set<std::int64_t> c;
  for (std::int64_t v = 0; v < extent; ++v) {
    if (covered.contains(v)) continue;
    // The smallest number not reached yet can only be reached by the smallest of a.
    const std::int64_t shift = v - *a.begin();
    c.insert(shift);
    for (const std::int64_t p : a) {
      const bool fresh = covered.insert(p + shift).second;
      if (!fresh || p + shift >= extent || p + shift < 0) return std::nullopt;
    }
  }
  return c;
}

}  // namespace ww::test
