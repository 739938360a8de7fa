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

void for_each_digits(const Ints& extents, const std::function<void(const Ints&)>& visit) {
  const std::int64_t n = product(extents);
  for (std::int64_t x = 0; x < n; ++x) visit(coordinate_of(x, extents));
}

namespace {

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

}  // namespace ww::test
