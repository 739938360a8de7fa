// SPDX-License-Identifier: Apache-2.0
#include "eval/tile/operands.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "eval/cta/limits.h"
#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"

namespace ww::eval {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 26;
// Of an element: its index, value, which bits are defined.
constexpr std::uint64_t kValueBytes = 64;

// A value that must be the same in all threads of the unit; a finding where it is not. It is
// `what`, of a dimension of a buffer if that is given.
Word uniform(Cta& cta, ExprId id, const UnitInstance& unit, std::string_view what,
             const ir::Buffer* about = nullptr, std::size_t dim = 0) {
  const Words values = evaluate(cta, id, unit.threads);
  for (std::size_t i = 1; i < unit.threads.size(); ++i) {
    if (values[i] == values[0]) continue;
    describe(
        finding(cta, Check::Operand), "{}{} differs between threads of {}: {} in {}, {} in {}",
        what, about == nullptr ? "" : fmt::format(" of dimension {} of `{}`", dim, about->name),
        unit_text(cta, unit), value_text(cta.type_of(id), values[0]), thread_text(unit.threads[0]),
        value_text(cta.type_of(id), values[i]), thread_text(unit.threads[i]));
    break;
  }
  return values[0];
}

// A tile is listed whole, with the values of its elements; a primitive holds a few of them.
bool may_hold(Cta& cta, const Tile& tile) {
  const std::uint64_t elements = std::uint64_t{tile.count} * tile.copies;
  return may_take(cta, elements * sizeof(Element) + tile.count * kValueBytes) &&
         spend_elements(cta, elements);
}

// Registers: the layout's thread axes say whose.
void place_owned(Cta& cta, Tile& tile, std::span<const std::int64_t> flats, Address base,
                 const UnitInstance& unit) {
  const BufferInfo& info = *tile.info;
  const Holders holders = holders_of(info.placement, unit.first, unit.size);
  const std::size_t replicas = info.placement.copies();
  tile.copies = replicas * holders.spread.size();
  if (!may_hold(cta, tile)) return;
  tile.elements.reserve(tile.count * tile.copies);
  const std::int64_t end =
      std::min<std::int64_t>(unit.first + unit.size, static_cast<std::int64_t>(cta.thread_count()));
  for (const std::int64_t flat : flats)
    for (std::size_t copy = 0; copy < replicas; ++copy) {
      const Spot spot = info.placement.spot(flat, copy);
      const bool is_in_cta = info.placement.is_in_cta(spot, cta.in_cluster);
      for (const std::int64_t offset : holders.spread) {
        const std::int64_t t = holders.base + spot.owner + offset;
        const bool is_here = is_in_cta && t >= unit.first && t < end;
        Element element{.at = {is_here ? base.root : kNoRoot, base.bit + spot.memory * info.bits},
                        .owner = static_cast<Thread>(is_here ? t : 0),
                        .info = &info,
                        .flat = flat};
        tile.elements.push_back(element);
        if (is_here || offset != 0 || (unit.is_of_cluster && !is_in_cta)) continue;
        describe(finding(cta, Check::Bounds, element),
                 "{} belongs to thread {}{}, which is not in {}", element_text(cta, element), t,
                 is_in_cta ? "" : " of another CTA of the cluster", unit_text(cta, unit));
      }
    }
}

// `flats`: which elements of the buffer.
void place_elements(Cta& cta, Tile& tile, std::vector<std::int64_t> flats, Address base,
                    const UnitInstance& unit) {
  const BufferInfo& info = *tile.info;
  for (std::size_t x = 0; x < tile.outside.size(); ++x)
    if (tile.outside[x]) flats[x] = 0;  // its place does not matter
  if (base.exists() && cta.launch.root(base.root).scope == ir::Scope::Local) {
    place_owned(cta, tile, flats, base, unit);
    return;
  }
  const bool is_tmem = info.ir->scope == ir::Scope::Tmem;
  tile.copies = info.placement.copies();
  if (!may_hold(cta, tile)) return;
  tile.elements.reserve(tile.count * tile.copies);
  for (const std::int64_t flat : flats)
    for (std::size_t copy = 0; copy < tile.copies; ++copy) {
      const Spot spot = info.placement.spot(flat, copy);
      const std::int64_t lane = is_tmem ? spot.owner * kTmemLaneBits : 0;
      tile.elements.push_back({.at = {base.root, base.bit + lane + spot.memory * info.bits},
                               .owner = unit.first,
                               .info = &info,
                               .flat = flat});
    }
}

// Where the region begins; sets shape and extents of the tile. Nothing where it has none.
std::optional<std::vector<std::int64_t>> find_extents(Cta& cta, const Region& region,
                                                      const UnitInstance& unit, bool may_leave,
                                                      Tile& tile) {
  const BufferInfo& info = *tile.info;
  std::vector<std::int64_t> mins;
  const auto number = [&](ExprId id, std::string_view what, std::size_t d) {
    return as_int(cta.type_of(id), uniform(cta, id, unit, what, info.ir, d));
  };
  for (std::size_t d = 0; d < region.ranges.size(); ++d) {
    const std::int64_t min = number(region.ranges[d].min, "the start", d);
    const std::int64_t extent = number(region.ranges[d].extent, "the extent", d);
    tile.shape.push_back(info.shape[d] == kKnownInside
                             ? number(info.ir->shape[d], "the buffer's extent", d)
                             : info.shape[d]);
    const bool leaves = min < 0 || min + extent > tile.shape[d];
    if (extent < 0 || (leaves && !may_leave)) {
      describe(finding(cta, Check::Bounds, info.id.index),
               "region {}:{} of dimension {} of `{}` in {} leaves its extent {}", min, min + extent,
               d, info.ir->name, unit_text(cta, unit), tile.shape[d]);
      return std::nullopt;
    }
    mins.push_back(min);
    tile.extents.push_back(extent);
  }
  return mins;
}

// Sets count and `outside` of a tile that has all elements of its region; false: they are too many.
bool count_elements(Cta& cta, std::span<const std::int64_t> mins, Tile& tile) {
  const BufferInfo& info = *tile.info;
  std::int64_t count = 1;
  bool is_inside = true;
  for (std::size_t d = 0; d < mins.size(); ++d) {
    count = std::min(kMaxElements + 1, count * tile.extents[d]);
    is_inside = is_inside && mins[d] >= 0 && mins[d] + tile.extents[d] <= tile.shape[d];
  }
  if (count > kMaxElements) {
    stop(cta, DiagKind::RunLimit,
         fmt::format("a region of `{}` has more than {} elements", info.ir->name, kMaxElements));
    return false;
  }
  tile.count = static_cast<std::size_t>(count);
  if (!is_inside) tile.outside = outside_of(tile.shape, mins, tile.extents, tile.count);
  return true;
}

// Finds the places of a tile's elements; false: the run has stopped.
bool find_places(Cta& cta, Tile& tile, std::vector<std::int64_t> flats, const UnitInstance& unit) {
  const BufferInfo& info = *tile.info;
  const Bases bases(cta, info, unit.threads);
  if (!bases.are_equal())
    describe(finding(cta, Check::Operand, info.id.index),
             "the place of `{}` differs between threads of {}", info.ir->name,
             unit_text(cta, unit));
  place_elements(cta, tile, std::move(flats), bases[0], unit);
  if (cta.run.stop) return false;
  for (std::size_t x = 0; x < tile.outside.size(); ++x)
    for (std::size_t c = 0; c < tile.copies && tile.outside[x]; ++c)
      tile.elements[x * tile.copies + c].at.root = kNoRoot;
  return true;
}

// Where registers are filled, each thread reads what it gets; otherwise some thread of the unit
// does.
Content read_copy(Cta& cta, const Element& element, std::size_t x, const UnitInstance& unit,
                  const Tile* readers) {
  const int bits = element.info->bits;
  if (readers == nullptr) return read(cta, element, bits, access_of(cta, unit.agent));
  Content content;
  for (std::size_t c = 0; c < readers->copies; ++c) {
    const Element& reader = readers->elements[x * readers->copies + c];
    if (reader.at.exists()) content = read(cta, element, bits, access_of(cta, reader.owner));
  }
  return content;
}

void read_scalar(Cta& cta, ExprId expr, const UnitInstance& unit, const Tile& like,
                 TileValues& out) {
  out.type = cta.type_of(expr);
  if (like.info == nullptr || like.info->ir->scope != ir::Scope::Local) {
    out.bits.assign(like.count, uniform(cta, expr, unit, "a scalar operand"));
    return;
  }
  const Words values = evaluate(cta, expr, unit.threads);
  if (std::all_of(values.begin(), values.end(), [&](Word v) { return v == values[0]; })) {
    out.bits.assign(like.count, values[0]);
    return;
  }
  out.is_by_copy = true;
  for (const Element& element : like.elements) {
    const auto holder = std::lower_bound(unit.threads.begin(), unit.threads.end(), element.owner);
    const bool is_here = holder != unit.threads.end() && *holder == element.owner;
    out.bits.push_back(
        values[is_here ? static_cast<std::size_t>(holder - unit.threads.begin()) : 0]);
  }
}

bool broadcast_to(Cta& cta, const Tile& like, const Tile& from, TileValues& values) {
  const auto map = broadcast_map(like.extents, from.extents);
  if (!map) {
    stop(cta, DiagKind::NotEvaluated,
         fmt::format("a region of `{}` does not fit the shape of that of `{}`", from.info->ir->name,
                     like.info->ir->name));
    return false;
  }
  std::vector<Word> bits(like.count);
  for (std::size_t x = 0; x < like.count; ++x) bits[x] = values.bits[(*map)[x]];
  values.bits = std::move(bits);
  values.undefined.clear();
  return true;
}

}  // namespace

std::string unit_text(const Cta& cta, const UnitInstance& unit) {
  if (unit.agent.kind == AgentKind::Cta) return cta_text(cta);
  return fmt::format("{} of {}", agent_text(unit.agent), cta_text(cta));
}

std::int64_t uniform_int(Cta& cta, ExprId id, const UnitInstance& unit, std::string_view what) {
  return as_int(cta.type_of(id), uniform(cta, id, unit, what));
}

std::optional<Tile> make_tile(Cta& cta, const Region& region, const UnitInstance& unit,
                              bool may_leave) {
  const BufferInfo& info = cta.launch.info(region.buffer);
  Tile tile{.info = &info};
  const auto mins = find_extents(cta, region, unit, may_leave, tile);
  if (!mins || !count_elements(cta, *mins, tile)) return std::nullopt;
  std::vector<std::int64_t> flats = flat_indices(tile.shape, *mins, tile.extents, tile.count);
  if (!find_places(cta, tile, std::move(flats), unit)) return std::nullopt;
  return tile;
}

std::optional<Tile> make_picked_tile(Cta& cta, const Region& region, const UnitInstance& unit,
                                     const Picked& picked) {
  const BufferInfo& info = cta.launch.info(region.buffer);
  Tile tile{.info = &info};
  const auto mins = find_extents(cta, region, unit, false, tile);
  if (!mins) return std::nullopt;
  const std::int64_t rows = std::exchange(tile.extents[picked.axis], 1);
  std::int64_t row_elements = 1, scale = 1;
  for (const std::int64_t extent : tile.extents) row_elements *= extent;
  for (std::size_t d = picked.axis + 1; d < tile.shape.size(); ++d) scale *= tile.shape[d];
  const auto row =
      flat_indices(tile.shape, *mins, tile.extents, static_cast<std::size_t>(row_elements));
  tile.extents[picked.axis] = rows;
  tile.count = picked.row.size();
  tile.outside.assign(tile.count, false);
  std::vector<std::int64_t> flats(tile.count, 0);
  for (std::size_t x = 0; x < tile.count; ++x) {
    tile.outside[x] = picked.row[x] < 0 || picked.row[x] >= rows;
    if (!tile.outside[x])
      flats[x] = row[static_cast<std::size_t>(picked.in_row[x])] + picked.row[x] * scale;
  }
  if (!find_places(cta, tile, std::move(flats), unit)) return std::nullopt;
  return tile;
}

TileValues read_tile(Cta& cta, const Tile& tile, const UnitInstance& unit, bool is_copy,
                     const Tile* readers) {
  TileValues out{.type = tile.info->ir->dtype,
                 .bits = std::vector<Word>(tile.count),
                 .undefined = std::vector<Word>(tile.count)};
  for (std::size_t x = 0; x < tile.count; ++x) {
    const Element* first = nullptr;
    for (std::size_t c = 0; c < tile.copies; ++c) {
      const Element& element = tile.elements[x * tile.copies + c];
      if (!element.at.exists()) continue;
      const auto [value, undefined] = read_copy(cta, element, x, unit, readers);
      const bool differs =
          first != nullptr && undefined == 0 && out.undefined[x] == 0 && value != out.bits[x];
      if (differs)
        describe(finding(cta, Check::Replica, element),
                 "the copies of {} differ in {}: {:#x} in {}, {:#x} in {}",
                 element_text(cta, element), cta_text(cta), out.bits[x], thread_text(first->owner),
                 value, thread_text(element.owner));
      if (first == nullptr) {
        out.bits[x] = value;
        first = &element;
      }
      out.undefined[x] |= undefined;
    }
    if (is_copy || out.undefined[x] == 0) continue;
    report_undefined(cta, *first, unit.agent);
    out.undefined[x] = 0;
  }
  return out;
}

void write_tile(Cta& cta, const Tile& tile, const UnitInstance& unit, const TileValues& values) {
  const Access by = access_of(cta, unit.agent);
  for (std::size_t i = 0; i < tile.elements.size(); ++i) {
    if (!tile.elements[i].at.exists()) continue;
    const std::size_t x = values.is_by_copy ? i : i / tile.copies;
    const Word undefined = values.undefined.empty() ? 0 : values.undefined[x];
    write(cta, tile.elements[i], tile.info->bits, {values.bits[x], undefined}, by);
  }
}

Thread first_owner(const Tile& tile, std::size_t x) {
  std::optional<Thread> out;
  for (std::size_t c = 0; c < tile.copies; ++c) {
    const Element& element = tile.elements[x * tile.copies + c];
    if (element.at.exists() && (!out || element.owner < *out)) out = element.owner;
  }
  return out.value_or(0);
}

bool is_given(const ir::TileArg& arg) { return !std::holds_alternative<std::monostate>(arg); }

bool read_operand(Cta& cta, const ir::TileArg& arg, const UnitInstance& unit, const Tile& like,
                  TileValues& out) {
  if (const auto* region = std::get_if<Region>(&arg)) {
    const auto tile = make_tile(cta, *region, unit);
    if (!tile) return false;
    out = read_tile(cta, *tile, unit, false);
    return broadcast_to(cta, like, *tile, out);
  }
  const auto* setting = std::get_if<ir::Setting>(&arg);
  const ExprId* expr = std::get_if<ExprId>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  if (expr != nullptr) {
    read_scalar(cta, *expr, unit, like, out);
  } else if (const auto* integer = std::get_if<std::int64_t>(setting)) {
    out.type = num::DType::Int64;
    out.bits.assign(like.count, static_cast<Word>(*integer));
  } else if (const auto* flag = std::get_if<bool>(setting)) {
    out.type = num::DType::Bool;
    out.bits.assign(like.count, *flag ? 1 : 0);
  } else {
    const auto* real = std::get_if<double>(setting);
    out.type = num::DType::Float64;
    out.bits.assign(like.count, from_real(num::DType::Float64, real != nullptr ? *real : 0));
  }
  out.undefined.clear();
  return true;
}

double read_factor(Cta& cta, const ir::TileArg& arg, const UnitInstance& unit,
                   std::string_view what, double otherwise) {
  const ExprId* expr = std::get_if<ExprId>(&arg);
  const auto* setting = std::get_if<ir::Setting>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  if (expr != nullptr) return as_real(cta.type_of(*expr), uniform(cta, *expr, unit, what));
  if (setting == nullptr) return otherwise;
  Tile one;
  one.count = 1;
  TileValues value;
  return read_operand(cta, arg, unit, one, value) ? as_real(value.type, value.bits[0]) : otherwise;
}

// --- shapes --------------------------------------------------------------------------------------

namespace {

std::size_t count_of(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return static_cast<std::size_t>(count);
}

// Numbers that elements of a shape get with a stride per dimension.
std::vector<std::size_t> strided(std::span<const std::int64_t> extents,
                                 std::span<const std::int64_t> strides) {
  std::vector<std::size_t> out{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::size_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(extents[d]));
    for (const std::size_t base : out)
      for (std::int64_t k = 0; k < extents[d]; ++k)
        next.push_back(base + static_cast<std::size_t>(k * strides[d]));
    out = std::move(next);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> flat_indices(std::span<const std::int64_t> shape,
                                       std::span<const std::int64_t> mins,
                                       std::span<const std::int64_t> extents, std::size_t count) {
  std::vector<std::int64_t> out{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(extents[d]));
    for (const std::int64_t base : out)
      for (std::int64_t k = 0; k < extents[d]; ++k) next.push_back(base * shape[d] + mins[d] + k);
    out = std::move(next);
  }
  out.resize(count);
  return out;
}

std::vector<bool> outside_of(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> mins,
                             std::span<const std::int64_t> extents, std::size_t count) {
  std::vector<bool> out{false};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<bool> next;
    next.reserve(out.size() * static_cast<std::size_t>(extents[d]));
    for (const bool is_outside : out)
      for (std::int64_t k = 0; k < extents[d]; ++k)
        next.push_back(is_outside || mins[d] + k < 0 || mins[d] + k >= shape[d]);
    out = std::move(next);
  }
  out.resize(count);
  return out;
}

layout::Shape squeezed(std::span<const std::int64_t> extents) {
  layout::Shape out;
  for (const std::int64_t extent : extents)
    if (extent != 1) out.push_back(extent);
  return out;
}

std::optional<std::vector<std::size_t>> broadcast_map(std::span<const std::int64_t> like,
                                                      std::span<const std::int64_t> from) {
  if (squeezed(like) == squeezed(from)) {
    std::vector<std::size_t> same(count_of(like));
    std::iota(same.begin(), same.end(), std::size_t{0});
    return same;
  }
  std::vector<std::int64_t> strides(like.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t back = 1; back <= from.size(); ++back) {
    const std::int64_t extent = from[from.size() - back];
    if (back > like.size()) {
      if (extent != 1) return std::nullopt;
      continue;
    }
    const std::size_t d = like.size() - back;
    if (extent != 1 && extent != like[d]) return std::nullopt;
    strides[d] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strided(like, strides);
}

std::optional<Folding> folding(std::span<const std::int64_t> extents,
                               std::span<const std::int64_t> axes) {
  const auto rank = static_cast<std::int64_t>(extents.size());
  std::vector<char> vanishes(extents.size(), 0);
  for (const std::int64_t axis : axes) {
    const std::int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank) return std::nullopt;
    vanishes[static_cast<std::size_t>(d)] = 1;
  }
  Folding out;
  std::vector<std::int64_t> strides(extents.size(), 0);
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (vanishes[d] != 0) continue;
    strides[d] = static_cast<std::int64_t>(out.count);
    out.count *= static_cast<std::size_t>(extents[d]);
  }
  out.into = strided(extents, strides);
  return out;
}

}  // namespace ww::eval
