// SPDX-License-Identifier: Apache-2.0
// Operands of tile primitives: from regions to elements with all their copies, and their values.
#include <algorithm>

#include "eval/cta.h"
#include "eval/tile_shape.h"

namespace ww::eval {
namespace {

using ir::ExprId;
using ir::Region;
using ir::TileOp;

constexpr std::int64_t kMostElements = std::int64_t{1} << 26;
constexpr std::uint64_t kValueBytes =
    64;  // of an element: its index, value, which bits are defined

}  // namespace

void Cta::tile_call(const ir::Stmt& stmt, Threads ts) {
  const ir::TileCall& call = (*f_)[stmt.tile];
  const std::size_t size = call.scope == ir::Unit::Thread      ? 1
                           : call.scope == ir::Unit::Warp      ? 32
                           : call.scope == ir::Unit::Warpgroup ? 128
                                                               : thread_count();
  const AgentKind kind = call.scope == ir::Unit::Thread      ? AgentKind::Thread
                         : call.scope == ir::Unit::Warp      ? AgentKind::Warp
                         : call.scope == ir::Unit::Warpgroup ? AgentKind::Warpgroup
                                                             : AgentKind::Cta;
  for (std::size_t i = 0; i < ts.size() && !run_.stop;) {
    std::size_t j = i;
    while (j < ts.size() && ts[j] / size == ts[i] / size) ++j;
    const auto unit = static_cast<std::uint16_t>(ts[i] / size);
    order_.tick();
    tile_instance(call, {.agent = {kind, unit},
                         .first = static_cast<Thread>(unit * size),
                         .size = static_cast<std::int64_t>(size),
                         .threads = ts.subspan(i, j - i)});
    i = j;
  }
}

void Cta::tile_instance(const ir::TileCall& call, const UnitInstance& unit) {
  switch (call.op) {
    case TileOp::Copy:
    case TileOp::PermuteLayout:
      tile_copy(call, unit, false);
      break;
    case TileOp::CopyAsync:
      tile_copy(call, unit, true);
      break;
    case TileOp::Gemm:
      tile_gemm(call, unit);
      break;
    case TileOp::Fill:
    case TileOp::Zero:
    case TileOp::Memset:
    case TileOp::Cast:
    case TileOp::Sqrt:
    case TileOp::Exp:
    case TileOp::Exp2:
    case TileOp::Log2:
    case TileOp::Reciprocal:
    case TileOp::Silu:
    case TileOp::Add:
    case TileOp::Sub:
    case TileOp::Mul:
    case TileOp::Fdiv:
    case TileOp::Maximum:
    case TileOp::Minimum:
    case TileOp::Fma:
    case TileOp::Select:
      tile_elementwise(call, unit);
      break;
    case TileOp::Sum:
    case TileOp::Max:
    case TileOp::Min:
      tile_reduce(call, unit);
      break;
    case TileOp::GemmAsync:
      tile_unsupported(call, "it is asynchronous");
      break;
  }
  end_with_barrier(call, unit);
}

// Elementwise primitives and reductions over shared memory end with a barrier of their unit; copies
// and matrix products do not.
void Cta::end_with_barrier(const ir::TileCall& call, const UnitInstance& unit) {
  if (unit.size == 1) return;
  switch (call.op) {
    case TileOp::Copy:
    case TileOp::CopyAsync:
    case TileOp::Gemm:
    case TileOp::GemmAsync:
      return;
    default:
      break;
  }
  const auto* region = std::get_if<Region>(&call.args[0]);
  if (region != nullptr && ir::is_shared((*f_)[region->buffer].scope)) meet(unit.threads);
}

void Cta::tile_unsupported(const ir::TileCall& call, std::string_view why) {
  stop(DiagKind::NotEvaluated,
       fmt::format("`{}` is not evaluated here: {}", ir::name_of(call.op), why));
}

// --- places ------------------------------------------------------------------------------------

bool Cta::make_tile(const Region& region, const UnitInstance& unit, Tile& tile, bool may_leave) {
  const BufferInfo& info = k_.info(region.buffer);
  tile.info = &info;
  std::vector<std::int64_t> mins;
  std::int64_t count = 1;
  bool is_inside = true;
  for (std::size_t d = 0; d < region.ranges.size(); ++d) {
    const std::int64_t min = uniform_int(region.ranges[d].min, unit, "the start", info.ir, d);
    const std::int64_t extent =
        uniform_int(region.ranges[d].extent, unit, "the extent", info.ir, d);
    const bool leaves = min < 0 || min + extent > info.shape[d];
    if (extent < 0 || (leaves && !may_leave)) {
      if (Finding* found = finding(Check::Bounds, info.id.index); found != nullptr)
        found->text =
            fmt::format("region {}:{} of dimension {} of `{}` in {} leaves its extent {}", min,
                        min + extent, d, info.ir->name, unit_text(unit), info.shape[d]);
      return false;
    }
    is_inside = is_inside && !leaves;
    mins.push_back(min);
    tile.extents.push_back(extent);
    count = std::min(kMostElements + 1, count * extent);
  }
  if (count > kMostElements) {
    stop(DiagKind::Budget,
         fmt::format("a region of `{}` has more than {} elements", info.ir->name, kMostElements));
    return false;
  }
  tile.count = static_cast<std::size_t>(count);
  if (!is_inside) tile.outside = outside_of(info.shape, mins, tile.extents, tile.count);
  const std::vector<Place> bases = bases_of(info, unit.threads);
  const auto differs = [&](const Place& p) {
    return p.root != bases[0].root || p.bit != bases[0].bit;
  };
  if (std::any_of(bases.begin(), bases.end(), differs))
    if (Finding* found = finding(Check::Operand, info.id.index); found != nullptr)
      found->text = fmt::format("the place of `{}` differs between threads of {}", info.ir->name,
                                unit_text(unit));
  place_elements(tile, mins, bases[0], unit);
  if (run_.stop) return false;
  for (std::size_t x = 0; x < tile.outside.size(); ++x)
    for (std::size_t c = 0; c < tile.copies && tile.outside[x]; ++c)
      tile.elements[x * tile.copies + c].place.root = kNoRoot;
  return true;
}

// A tile is listed whole, with the values of its elements; a primitive holds a few of them.
bool Cta::may_hold(const Tile& tile) {
  const std::uint64_t elements = std::uint64_t{tile.count} * tile.copies;
  return may_take(elements * sizeof(Element) + tile.count * kValueBytes) &&
         spend_elements(elements);
}

void Cta::place_elements(Tile& tile, std::span<const std::int64_t> mins, Place base,
                         const UnitInstance& unit) {
  const BufferInfo& info = *tile.info;
  std::vector<std::int64_t> flats = flat_indices(info.shape, mins, tile.extents, tile.count);
  for (std::size_t x = 0; x < tile.outside.size(); ++x)
    if (tile.outside[x]) flats[x] = 0;  // its place does not matter
  if (base.root != kNoRoot &&
      k_.roots[static_cast<std::size_t>(base.root)].scope == ir::Scope::Local) {
    place_owned(tile, flats, base, unit);
    return;
  }
  const bool is_tmem = info.ir->scope == ir::Scope::Tmem;
  tile.copies = info.placement.copies();
  if (!may_hold(tile)) return;
  tile.elements.reserve(tile.count * tile.copies);
  for (const std::int64_t flat : flats)
    for (std::size_t copy = 0; copy < tile.copies; ++copy) {
      const Spot spot = info.placement.spot(flat, copy);
      const std::int64_t lane = is_tmem ? spot.owner * kTmemLaneBits : 0;
      tile.elements.push_back({.place = {base.root, base.bit + lane + spot.memory * info.bits},
                               .owner = unit.first,
                               .info = &info,
                               .flat = flat});
    }
}

// Registers: the layout's thread axes say whose.
void Cta::place_owned(Tile& tile, std::span<const std::int64_t> flats, Place base,
                      const UnitInstance& unit) {
  const BufferInfo& info = *tile.info;
  const Holders holders = holders_of(info.placement, unit.first, unit.size);
  const std::size_t replicas = info.placement.copies();
  tile.copies = replicas * holders.spread.size();
  if (!may_hold(tile)) return;
  tile.elements.reserve(tile.count * tile.copies);
  const std::int64_t end =
      std::min<std::int64_t>(unit.first + unit.size, static_cast<std::int64_t>(thread_count()));
  for (const std::int64_t flat : flats)
    for (std::size_t copy = 0; copy < replicas; ++copy) {
      const Spot spot = info.placement.spot(flat, copy);
      for (const std::int64_t offset : holders.spread) {
        const std::int64_t t = holders.base + spot.owner + offset;
        const bool is_here = t >= unit.first && t < end;
        Element element{
            .place = {is_here ? base.root : kNoRoot, base.bit + spot.memory * info.bits},
            .owner = static_cast<Thread>(is_here ? t : 0),
            .info = &info,
            .flat = flat};
        tile.elements.push_back(element);
        if (is_here || offset != 0) continue;
        if (Finding* found = finding(Check::Bounds, element); found != nullptr)
          found->text = fmt::format("{} belongs to thread {}, which is not in {}",
                                    element_text(element), t, unit_text(unit));
      }
    }
}

// --- values ------------------------------------------------------------------------------------

// Where registers are filled, each thread reads what it gets; otherwise some thread of the unit
// does.
Word Cta::read_copy(const Element& element, std::size_t x, int bits, const UnitInstance& unit,
                    const Tile* readers, Word& undefined) {
  if (readers == nullptr) return read(element, bits, access_of(unit.agent), undefined);
  Word value = 0;
  for (std::size_t c = 0; c < readers->copies; ++c) {
    const Element& reader = readers->elements[x * readers->copies + c];
    if (reader.place.root != kNoRoot)
      value = read(element, bits, access_of(thread_agent(reader.owner)), undefined);
  }
  return value;
}

Cta::Values Cta::read_tile(const Tile& tile, const UnitInstance& unit, bool is_copy,
                           const Tile* readers) {
  Values out{.type = tile.info->ir->dtype,
             .bits = std::vector<Word>(tile.count),
             .undefined = std::vector<Word>(tile.count)};
  const int bits = tile.info->bits;
  for (std::size_t x = 0; x < tile.count; ++x) {
    const Element* first = nullptr;
    for (std::size_t c = 0; c < tile.copies; ++c) {
      const Element& element = tile.elements[x * tile.copies + c];
      if (element.place.root == kNoRoot) continue;
      Word undefined = 0;
      const Word value = read_copy(element, x, bits, unit, readers, undefined);
      const bool differs =
          first != nullptr && undefined == 0 && out.undefined[x] == 0 && value != out.bits[x];
      if (differs)
        if (Finding* found = finding(Check::Replica, element); found != nullptr)
          found->text = fmt::format("the copies of {} differ in {}: {:#x} in {}, {:#x} in {}",
                                    element_text(element), cta_text(), out.bits[x],
                                    thread_text(first->owner), value, thread_text(element.owner));
      if (first == nullptr) out.bits[x] = value;
      if (first == nullptr) first = &element;
      out.undefined[x] |= undefined;
    }
    if (is_copy || out.undefined[x] == 0) continue;
    report_undefined(*first, unit.agent);
    out.undefined[x] = 0;
  }
  return out;
}

void Cta::write_tile(const Tile& tile, const UnitInstance& unit, const Values& values) {
  const Access by = access_of(unit.agent);
  for (std::size_t i = 0; i < tile.elements.size(); ++i) {
    if (tile.elements[i].place.root == kNoRoot) continue;
    const std::size_t x = values.is_by_copy ? i : i / tile.copies;
    const Word undefined = values.undefined.empty() ? 0 : values.undefined[x];
    write(tile.elements[i], tile.info->bits, values.bits[x], undefined, by);
  }
}

bool Cta::is_given(const ir::TileArg& arg) const {
  return !std::holds_alternative<std::monostate>(arg);
}

// A region, broadcast to the shape of `like`, or a scalar for all of its elements.
bool Cta::read_operand(const ir::TileArg& arg, const UnitInstance& unit, const Tile& like,
                       Values& out) {
  if (const auto* region = std::get_if<Region>(&arg)) {
    Tile tile;
    if (!make_tile(*region, unit, tile)) return false;
    out = read_tile(tile, unit, false);
    return broadcast_to(like, tile, out);
  }
  const auto* setting = std::get_if<ir::Setting>(&arg);
  const ExprId* expr = std::get_if<ExprId>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  if (expr != nullptr) {
    read_scalar(*expr, unit, like, out);
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

void Cta::read_scalar(ExprId expr, const UnitInstance& unit, const Tile& like, Values& out) {
  out.type = type_of(expr);
  if (like.info == nullptr || like.info->ir->scope != ir::Scope::Local) {
    out.bits.assign(like.count, uniform(expr, unit, "a scalar operand"));
    return;
  }
  const Words values = eval(expr, unit.threads);
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

bool Cta::broadcast_to(const Tile& like, const Tile& from, Values& values) {
  const auto map = broadcast_map(like.extents, from.extents);
  if (!map) {
    stop(DiagKind::NotEvaluated,
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

// Of a product: one number for all of it.
double Cta::factor(const ir::TileArg& arg, const UnitInstance& unit, std::string_view what,
                   double otherwise) {
  const ExprId* expr = std::get_if<ExprId>(&arg);
  const auto* setting = std::get_if<ir::Setting>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  if (expr != nullptr) return as_real(type_of(*expr), uniform(*expr, unit, what));
  if (setting == nullptr) return otherwise;
  Tile one;
  one.count = 1;
  Values value;
  return read_operand(arg, unit, one, value) ? as_real(value.type, value.bits[0]) : otherwise;
}

}  // namespace ww::eval
