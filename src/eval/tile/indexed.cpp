// SPDX-License-Identifier: Apache-2.0
// gather, scatter and scatter_add by their definition (ir/indexed.h).
#include "ir/indexed.h"

#include <map>

#include "eval/cta/report.h"
#include "eval/memory/access.h"
#include "eval/tile/operands.h"
#include "eval/tile/primitives.h"
#include "eval/value/arithmetic.h"

namespace ww::eval {
namespace {

/// The indices of a call, by element of its tile.
class Indices {
 public:
  Indices(Cta& cta, const ir::TileCall& call, const UnitInstance& unit)
      : cta_(cta), call_(call), unit_(unit) {}

  /// False: a finding, or a stop.
  bool read(std::size_t tile_elements) {
    const auto tile = make_tile(cta_, std::get<Region>(call_.args[ir::kIndexArgument]), unit_);
    if (!tile) return false;
    const Region& table = std::get<Region>(call_.args[ir::table_argument(call_.op)]);
    std::vector<std::int64_t> extents;
    for (const ir::RangeExpr& range : table.ranges)
      extents.push_back(uniform_int(cta_, range.extent, unit_, "an extent"));
    picked_.axis = ir::indexed_axis(call_);
    shape_ = ir::indexed_shape(extents, picked_.axis, static_cast<std::int64_t>(tile_elements),
                               static_cast<std::int64_t>(tile->count));
    if (shape_.elements() != static_cast<std::int64_t>(tile_elements) ||
        shape_.indices() != static_cast<std::int64_t>(tile->count)) {
      tile_unsupported(cta_, call_, "the shapes do not go together");
      return false;
    }
    rows_ = extents[picked_.axis];
    const TileValues values = read_tile(cta_, *tile, unit_, false);
    bool is_good = true;
    for (std::size_t i = 0; i < tile->count; ++i) {
      numbers_.push_back(as_int(values.type, values.bits[i]));
      is_good = check(*tile, i) && is_good;
    }
    for (std::int64_t x = 0; x < shape_.elements(); ++x) {
      picked_.row.push_back(numbers_[static_cast<std::size_t>(shape_.index_of(x))]);
      picked_.in_row.push_back(shape_.in_row(x));
    }
    return is_good;
  }

  [[nodiscard]] const Picked& picked() const { return picked_; }

 private:
  bool check(const Tile& tile, std::size_t i) {
    if (ir::takes_any_index(call_) || (numbers_[i] >= 0 && numbers_[i] < rows_)) return true;
    const Element& element = tile.elements[i * tile.copies];
    if (Finding* found = finding(cta_, Check::Bounds, element); found != nullptr) {
      const Region& table = std::get<Region>(call_.args[ir::table_argument(call_.op)]);
      found->text = fmt::format(
          "the index {} is {} in {}, expected 0 to {}: so many elements has axis {} of the region "
          "of `{}`",
          element_text(cta_, element), numbers_[i], unit_text(cta_, unit_), rows_ - 1, picked_.axis,
          cta_.f[table.buffer].name);
    }
    return false;
  }

  Cta& cta_;
  const ir::TileCall& call_;
  const UnitInstance& unit_;
  ir::IndexedShape shape_;
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> numbers_;
  Picked picked_;
};

Word filling(Cta& cta, const ir::Setting& setting, const UnitInstance& unit, num::DType type) {
  Tile one;
  one.count = 1;
  TileValues value;
  if (!read_operand(cta, ir::TileArg(setting), unit, one, value)) return 0;
  return convert(value.type, type, value.bits[0]);
}

void gathered(Cta& cta, const ir::TileCall& call, const UnitInstance& unit, const Tile& to,
              const Tile& from) {
  const Tile* readers = to.info->ir->scope == ir::Scope::Local ? &to : nullptr;
  TileValues values = read_tile(cta, from, unit, true, readers);
  if (const ir::Setting* fill = ir::indexed_fill(call); fill != nullptr) {
    const Word bits = filling(cta, *fill, unit, values.type);
    for (std::size_t x = 0; x < from.count; ++x)
      if (from.outside[x]) values.bits[x] = bits;
  }
  write_tile(cta, to, unit, values);
}

// Elements of the tile that go to one place, which no order gives.
void check_distinct(Cta& cta, const Tile& to, const Picked& picked, const UnitInstance& unit) {
  std::map<std::int64_t, std::size_t> seen;
  for (std::size_t x = 0; x < to.count; ++x) {
    if (to.outside[x]) continue;
    const Element& element = to.elements[x * to.copies];
    const auto [before, is_new] = seen.emplace(element.flat, x);
    if (is_new) continue;
    describe(finding(cta, Check::Race, element),
             "elements {} and {} of the tile both go to {} in {}: their index is {}; `scatter_add` "
             "adds them",
             before->second, x, element_text(cta, element), unit_text(cta, unit), picked.row[x]);
  }
}

void scattered(Cta& cta, const Tile& to, const Tile& from, const Picked& picked,
               const UnitInstance& unit) {
  check_distinct(cta, to, picked, unit);
  write_tile(cta, to, unit, read_tile(cta, from, unit, true));
}

// One after the other; each is added to what is there by then.
void added(Cta& cta, const Tile& to, const Tile& from, const UnitInstance& unit) {
  const TileValues values = read_tile(cta, from, unit, false);
  const Access by = access_of(cta, unit.agent, true);
  const num::DType type = to.info->ir->dtype;
  const int bits = to.info->bits;
  for (std::size_t i = 0; i < to.elements.size(); ++i) {
    const Element& element = to.elements[i];
    if (!element.at.exists() || !is_reachable(cta, element, bits)) continue;
    Storage& storage = storage_of(cta, element);
    const std::int64_t bit = bit_of(cta, element);
    if (storage.undefined(bit, bits) != 0) report_undefined(cta, element, unit.agent);
    const Word sum = apply_in(type, ir::ExprOp::Add, type, storage.value(bit, bits), type,
                              values.bits[i / to.copies]);
    write(cta, element, bits, {sum, 0}, by);
  }
}

}  // namespace

void tile_indexed(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto tile = make_tile(cta, std::get<Region>(call.args[ir::tile_argument(call.op)]), unit);
  if (!tile) return;
  Indices indices(cta, call, unit);
  if (!indices.read(tile->count)) return;
  const Region& region = std::get<Region>(call.args[ir::table_argument(call.op)]);
  const auto table = make_picked_tile(cta, region, unit, indices.picked());
  if (!table) return;
  if (call.op == TileOp::Gather) return gathered(cta, call, unit, *tile, *table);
  if (call.op == TileOp::Scatter) return scattered(cta, *table, *tile, indices.picked(), unit);
  added(cta, *table, *tile, unit);
}

}  // namespace ww::eval
