// SPDX-License-Identifier: Apache-2.0
// What operations on layouts mean, as tables; and threads on CUDA.
#include "property/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace ww::test {
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

}  // namespace ww::test
