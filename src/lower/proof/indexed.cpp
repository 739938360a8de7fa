// SPDX-License-Identifier: Apache-2.0
// A gather or scatter is proven by carrying it out on numbers that stand for values, with indices
// that are chosen: rows of the table in any order, the first and the last among them, several times
// the same where that means something, and out of range where the call allows it. A number tells the
// element of the table or of the tile; a register that holds an index gives what was chosen for it.
// What must come out is what ir/indexed.h says of every element: a wrong row, register or thread, an
// access too few or without its condition, an index that is cut to 32 bits all give another number,
// or an access outside the rows that the indices name.
#include "ir/indexed.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "ir/elementwise.h"
#include "ir/equal.h"
#include "lower/as_index.h"
#include "lower/proof/machine.h"
#include "lower/proof/proof.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;
using num::DType;
using Numbers = std::vector<std::int64_t>;

// --- the choice of indices -----------------------------------------------------------------------

/// Numbers for the indices of a call into a table of `rows`.
class Choice {
 public:
  Choice(const Call& call, const ir::IndexedShape& shape, std::int64_t rows, int sample)
      : shape_(shape),
        rows_(rows),
        sample_(sample),
        seed_(mixed(static_cast<Number>(sample) + 1)),
        may_leave_(ir::takes_any_index(call.tile)),
        is_distinct_(call.tile.op == TileOp::Scatter),
        is_wide_(call.buffer(ir::kIndexArgument).dtype == DType::Int64) {
    if (sample % 2 == 1) step_ = rows - 1;
    while (std::gcd(step_, rows) != 1)
      step_ = 1 + static_cast<std::int64_t>(mixed(seed_, ++tries_) % static_cast<Number>(rows));
  }
  /// Nothing: there are too few rows.
  [[nodiscard]] std::optional<Numbers> make() const {
    if (is_distinct_ && !may_leave_ && shape_.count > rows_) return std::nullopt;
    Numbers out;
    for (std::int64_t i = 0; i < shape_.indices(); ++i) out.push_back(of(i));
    return out;
  }

 private:
  [[nodiscard]] Number random(std::int64_t i) const {
    return mixed(seed_, static_cast<Number>(i) + 64);
  }
  // A few rows are enough where they may come again.
  [[nodiscard]] std::int64_t of(std::int64_t i) const {
    constexpr Number kFew = 24;
    const Number turn = (static_cast<Number>(i) + static_cast<Number>(sample_)) % 8;
    if (may_leave_ && turn == 0) return rows_;
    if (may_leave_ && turn == 3) return -1;
    if (may_leave_ && turn == 5) return outside(random(i) >> 8U);
    if (!is_distinct_ && turn == 6) return 0;
    if (is_distinct_) return distinct(i);
    const Number which = (random(i) >> 2U) % kFew;
    return which == 0 ? rows_ - 1 : place(static_cast<std::int64_t>(which));
  }
  // The second is row 0, in every other sample the third is the last.
  [[nodiscard]] std::int64_t place(std::int64_t k) const {
    const auto rows = static_cast<Number>(rows_), step = static_cast<Number>(step_) % rows;
    return static_cast<std::int64_t>((rows - step + step * (static_cast<Number>(k) % rows)) % rows);
  }
  // Those along the axis go to places of their own.
  [[nodiscard]] std::int64_t distinct(std::int64_t i) const {
    const std::int64_t along = shape_.has_one_each ? i / shape_.inner % shape_.count : i;
    if (along >= rows_) return rows_;
    const std::int64_t beside = shape_.has_one_each ? shape_.in_row(i) : 0;
    return (place(along) + beside) % rows_;
  }
  [[nodiscard]] std::int64_t outside(Number which) const {
    const Numbers all = {-1,
                         rows_,
                         rows_ + 1,
                         std::numeric_limits<std::int32_t>::min(),
                         std::numeric_limits<std::int32_t>::max(),
                         is_wide_ ? std::int64_t{1} << 32U : -2,
                         is_wide_ ? (std::int64_t{1} << 32U) + rows_ - 1 : -rows_};
    const std::int64_t out = all[which % all.size()];
    return out >= 0 && out < rows_ ? -1 : out;
  }

  ir::IndexedShape shape_;
  std::int64_t rows_;
  int sample_;
  Number seed_;
  bool may_leave_, is_distinct_, is_wide_;
  Number tries_ = 0;
  std::int64_t step_ = 0;
};

// --- what the code does --------------------------------------------------------------------------

/// Values that are no elements: what fills, and indices by their number.
struct Known {
  ExprId fill = {};
  Number fill_number = 0;
  std::unordered_map<Number, std::int64_t> indices = {};
  int index_bits = 32;
};

Number sum_of(Number old, Number value) { return old + mixed(value); }

class IndexedMachine : public Machine {
 public:
  IndexedMachine(const Call& call, ProofValues& values, Trial trial, const Known& known,
                 const RegionElements& dst, Registers& registers)
      : Machine(call, values, trial.first_thread, dst, registers),
        known_(known),
        type_(call.buffer(0).dtype),
        adds_(call.tile.op == TileOp::ScatterAdd) {
    copied_bits_ = known.index_bits;
  }

 private:
  std::optional<Number> known(ExprId expr) override {
    if (const auto constant = hashes::constant_of(f_, expr)) return hashes::number_of(*constant);
    if (known_.fill.valid() && ir::same(f_, known_.fill, expr)) return known_.fill_number;
    return std::nullopt;
  }

  // An index that is read has its value; what fills is only moved.
  Try<void> bind(const ir::Stmt& s, const Mask& mask) override {
    if (f_[s.var].type.is_pointer()) return ProofWalk::bind(s, mask);
    auto numbers = value(s.expr, mask);
    if (!numbers) {
      if (numbers.error().kind == Unproven::Kind::Wrong) return std::move(numbers).failure();
      return ProofWalk::bind(s, mask);
    }
    std::vector<std::int64_t> read(values_.threads());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      const auto index = known_.indices.find((*numbers)[t]);
      if (index == known_.indices.end()) {
        bound_[s.var.index] = *std::move(numbers);
        return {};
      }
      read[t] = index->second;
    }
    values_.set(s.var, PerUnit(std::move(read)));
    return {};
  }

  // Sums have no order.
  Try<void> touch(const RegisterPlace& at, std::size_t thread, bool writes) override {
    if (!adds_) return Machine::touch(at, thread, writes);
    if (!writes) return {};
    return wrong("byte {} of `{}` is overwritten, not added to", at.bit / 8, f_[at.storage].name);
  }
  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    const bool is_sum = e.op == ExprOp::Call && e.callee == ir::Intrinsic::AtomicAdd;
    return is_sum ? add(e, mask) : Machine::evaluate(s, mask);
  }
  Try<void> add(const ir::Expr& e, const Mask& mask) {
    if (!adds_) return wrong("something is added");
    const auto to = WW_TRY(values_.pointer(e.args[0]));
    const auto number = WW_TRY(value(e.args[1], mask));
    if (f_[e.args[1]].type != ir::Type::of(type_))
      return wrong("{} is added to {}", ir::to_text(f_[e.args[1]].type), num::name_of(type_));
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      const RegisterPlace at = place(to, f_[to.storage].scope, t, num::storage_bits(type_));
      const auto old = registers_.at(at);
      if (!old || !dst_.has(at, t)) return not_held(at, t);
      registers_.put(at, sum_of(*old, number[t]));
    }
    return {};
  }

  const Known& known_;
  DType type_;
  bool adds_;
};

// --- comparison ----------------------------------------------------------------------------------

enum Side : Number { kTable, kTile, kIndex, kFilling };

class IndexedGoal final : public NumberGoal {
 public:
  using NumberGoal::NumberGoal;

 private:
  [[nodiscard]] bool is_gather() const { return call_.tile.op == TileOp::Gather; }
  [[nodiscard]] const ir::Region& table() const {
    return call_.region(ir::table_argument(call_.tile.op));
  }

  // --- before the code ---

  // False: what was chosen puts a region outside its buffer.
  Try<bool> prepare() override {
    const ir::Region& tile = call_.region(ir::tile_argument(call_.tile.op));
    auto inside = WW_TRY(read(tile));
    auto index = WW_TRY(read(call_.region(ir::kIndexArgument)));
    if (!inside || !index) return false;
    tile_ = *std::move(inside);
    const Numbers extents = WW_TRY(extents_of(values_, table()));
    rows_ = extents[ir::indexed_axis(call_.tile)];
    if (std::ranges::min(extents) < 1) return false;
    const auto count = [](const RegionRead& each) {
      std::int64_t out = 1;
      for (const std::int64_t extent : each.extents) out *= extent;
      return out;
    };
    shape_ = ir::indexed_shape(extents, ir::indexed_axis(call_.tile), count(tile_), count(*index));
    if (shape_.elements() != count(tile_) || shape_.indices() != count(*index)) return false;
    auto chosen = Choice(call_, shape_, rows_, trial_.sample).make();
    if (!chosen) return false;
    indices_ = *std::move(chosen);
    place_index(*index);
    place_tile();
    find_fill();
    return place_table();
  }

  void place_index(const RegionRead& index) {
    known_.index_bits = index.elements.bits;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      // Indices in one register are one number.
      const Name as = index.elements.names->known_as(static_cast<Name>(i));
      indices_[i] = indices_[as_index(as)];
    }
    index.elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const Number number = number_of(kIndex, name);
      known_.indices[number] = indices_[as_index(name)];
      registers_.put_beside(place, number);
    });
  }
  void place_tile() {
    if (is_gather()) return;
    fill(tile_.elements, [&](Name name) { return number_of(kTile, name); });
  }
  void find_fill() {
    const ir::Setting* setting = ir::indexed_fill(call_.tile);
    if (setting == nullptr) return;
    if (const auto constant = ir::constant_operand(call_.f(), ir::TileArg(*setting))) {
      known_.fill_number = hashes::number_of(ir::convert(*constant, type_));
      return;
    }
    known_.fill = std::get<ExprId>(*setting);
    known_.fill_number = number_of(kFilling, 0);
  }

  // The rows that an index names; nothing else of the table may be touched.
  Try<bool> place_table() {
    ir::Region row = table();
    const std::size_t axis = ir::indexed_axis(call_.tile);
    const std::int64_t start = WW_TRY(values_.uniform(row.ranges[axis].min));
    row.ranges[axis].extent = ir::int_imm(call_.f(), DType::Int32, 1, call_.span);
    std::vector<Spot> spots;
    for (const std::int64_t number : indices_) {
      if (number < 0 || number >= rows_ ||
          !row_numbers_.emplace(number, row_numbers_.size()).second)
        continue;
      row.ranges[axis].min = ir::int_imm(call_.f(), DType::Int64, start + number, call_.span);
      auto inside = WW_TRY(read(row));
      if (!inside) return false;
      const auto first = static_cast<Name>((row_numbers_.size() - 1) * as_index(row_elements()));
      inside->elements.for_each(1, [&](const RegisterPlace& place, Name name) {
        registers_.put_beside(place, number_of(kTable, first + name));
        spots.push_back({granule_at(place.bit, place.bits), 0, first + name});
      });
    }
    const int bits = num::storage_bits(type_);
    rows_read_ = {.storage = ir::storage_of(call_.f(), row.buffer),
                  .is_private = false,
                  .bits = bits,
                  .names = Granules(1, bits, spots)};
    return true;
  }

  [[nodiscard]] std::int64_t row_elements() const { return shape_.row_elements(); }
  [[nodiscard]] Number number_of(Side side, Name name) const {
    return hashes::hashed(hashes::kElement, side, type_, {static_cast<Number>(name)});
  }

  // --- behind it ---

  // The element of the table that belongs to element x of the tile; none: its index is out of range.
  [[nodiscard]] std::optional<Name> in_table(std::int64_t x) const {
    const auto row = row_numbers_.find(indices_[as_index(shape_.index_of(x))]);
    if (row == row_numbers_.end()) return std::nullopt;
    return static_cast<Name>(row->second * as_index(row_elements()) + as_index(shape_.in_row(x)));
  }

  // By element of the destination.
  [[nodiscard]] std::vector<Number> expected() const {
    std::vector<Number> out;
    if (is_gather()) {
      for (std::int64_t x = 0; x < shape_.elements(); ++x) {
        const auto from = in_table(x);
        out.push_back(from ? number_of(kTable, *from) : known_.fill_number);
      }
      return out;
    }
    const std::size_t all = row_numbers_.size() * as_index(row_elements());
    for (std::size_t name = 0; name < all; ++name)
      out.push_back(number_of(kTable, static_cast<Name>(name)));
    for (std::int64_t x = 0; x < shape_.elements(); ++x) {
      const auto to = in_table(x);
      if (!to) continue;
      const Number value = number_of(kTile, tile_.elements.names->known_as(static_cast<Name>(x)));
      Number& at = out[as_index(*to)];
      at = call_.tile.op == TileOp::ScatterAdd ? sum_of(at, value) : value;
    }
    return out;
  }

  [[nodiscard]] bool has_chosen() const override { return true; }
  Try<void> compare() override {
    const RegionElements& dst = is_gather() ? tile_.elements : rows_read_;
    IndexedMachine machine(call_, values_, trial_, known_, dst, registers_);
    WW_TRY_VOID(carry_out(machine));
    const std::vector<Number> meant = expected();
    return first_other(
        dst, [&](Name name) { return meant[as_index(name)]; },
        [&](const RegisterPlace& place, Name, const Number* number) {
          return fmt::format("byte {} of `{}` in thread {} of the unit {}", place.bit / 8,
                             call_.f()[place.storage].name, place.thread,
                             number ? "is another value" : "is not written");
        });
  }

  DType type_ = call_.buffer(0).dtype;
  ir::IndexedShape shape_;
  std::int64_t rows_ = 0;
  Numbers indices_;  // what was chosen
  Known known_;
  RegionRead tile_;
  RegionElements rows_read_;
  std::map<std::int64_t, std::size_t> row_numbers_;  // by row of the table, in order of first use
};

}  // namespace

Proof prove_indexed(const Call& call, const ir::Block& code) {
  return prove_with<IndexedGoal>(call, code);
}

}  // namespace ww::lower
