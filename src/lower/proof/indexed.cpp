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
#include "ir/print/print.h"
#include "lower/as_index.h"
#include "lower/proof/meaning.h"
#include "lower/proof/proof.h"
#include "lower/proof/register_replay.h"
#include "lower/proof/scratch_order.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace indexed_proof {
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

class IndexedReplay : public RegisterReplay {
 public:
  IndexedReplay(const Call& call, ProofValues& values, std::int64_t first_thread,
                const Known& known, const RegionElements& dst, Registers& registers)
      : RegisterReplay(call, values, dst, registers),
        known_(known),
        type_(call.buffer(0).dtype),
        adds_(call.tile.op == TileOp::ScatterAdd),
        scratch_(call, values, first_thread) {}

 private:
  Try<ThreadNumbers> value(ExprId expr, const Mask& mask) override {
    const ir::Expr& e = f_[expr];
    if (e.op == ExprOp::FloatImm || e.op == ExprOp::IntImm)
      return ThreadNumbers(values_.threads(), hashes::number_of({e.type.dtype, e.integer, e.real}));
    if (known_.fill.valid() && ir::same(f_, known_.fill, expr))
      return ThreadNumbers(values_.threads(), known_.fill_number);
    if (e.op == ExprOp::Var)
      if (const auto bound = bound_.find(e.var.index); bound != bound_.end()) return bound->second;
    if (e.op != ExprOp::Load) return unknown("`{}`", ir::print(f_, expr));
    const auto from = WW_TRY(element(e, mask));
    for (std::size_t t = 0; t < mask.size() && scratch_.is_scratch(from.storage); ++t)
      if (mask[t]) WW_TRY_VOID(scratch_.read(from.storage, from.bit[t], t));
    return loaded(e, mask);
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

  // What one thread writes in memory no other may write: there is no order between them.
  [[nodiscard]] bool is_watched(ir::BufferId storage) const override {
    return !adds_ && !dst_.is_private && storage == dst_.storage;
  }
  Try<void> touch(const RegisterPlace& at, std::size_t thread, bool writes) override {
    if (!writes) return {};
    const auto [writer, is_new] = writers_.emplace(at.bit, thread);
    if (is_new || writer->second == thread) return {};
    return wrong("byte {} of `{}` is written by threads {} and {} of the unit", at.bit / 8,
                 f_[at.storage].name, writer->second, thread);
  }

  Try<void> write(const PointerValue& to, std::int64_t bit, int bits, const Mask& mask,
                  const ThreadNumbers& numbers) {
    const bool is_scratch = scratch_.is_scratch(to.storage);
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      RegisterPlace at = place(to, t, bits);
      at.bit += bit;
      if (!is_scratch && adds_ && at.storage == dst_.storage)
        return wrong("byte {} of `{}` is overwritten, not added to", at.bit / 8,
                     f_[at.storage].name);
      if (is_scratch) {
        WW_TRY_VOID(scratch_.write(at.storage, at.bit, t));
        registers_.put(at, numbers[t]);
      } else {
        WW_TRY_VOID(put(at, t, numbers[t]));
      }
    }
    return {};
  }
  Try<void> store(const ir::Stmt& s, const Mask& mask) override {
    const auto number = WW_TRY(value(s.expr, mask));
    const auto to = WW_TRY(element(s, mask));
    const DType type = f_[s.expr].type.dtype, held = f_[s.buffer].dtype;
    if (type != held) return wrong("{} is stored as {}", num::name_of(type), num::name_of(held));
    return write(to, 0, num::storage_bits(held), mask, number);
  }

  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    if (e.op != ExprOp::Call) return unknown("`{}`", ir::print(f_, s.expr));
    switch (e.callee) {
      case ir::Intrinsic::CopyBytes:
        return copy_bytes(e, mask);
      case ir::Intrinsic::AtomicAdd:
        return add(e, mask);
      case ir::Intrinsic::CtaSync:
      case ir::Intrinsic::WarpSync:
      case ir::Intrinsic::WarpgroupSync:
        return scratch_.barrier(e, mask);
      default:
        return unknown("`{}`", ir::print(f_, s.expr));
    }
  }
  // Whole elements.
  Try<void> copy_bytes(const ir::Expr& e, const Mask& mask) {
    const auto to = WW_TRY(values_.pointer(e.args[0]));
    const auto from = WW_TRY(values_.pointer(e.args[1]));
    const auto bytes = WW_TRY(values_.uniform(e.args[2]));
    const int bits = is_own(to.storage)     ? num::storage_bits(f_[to.storage].dtype)
                     : is_own(from.storage) ? num::storage_bits(f_[from.storage].dtype)
                                            : known_.index_bits;
    if (bytes < 1 || bytes > kMaxBytes || bytes * 8 % bits != 0)
      return wrong("{} bytes are copied", bytes);
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      for (const PointerValue* each : {&to, &from})
        if (each->bit[t] % (bytes * 8) != 0 && f_[each->storage].scope != ir::Scope::Local)
          return wrong("{} bytes are copied at byte {}", bytes, each->bit[t] / 8);
    }
    for (std::int64_t bit = 0; bit < bytes * 8; bit += bits) {
      ThreadNumbers numbers(values_.threads());
      for (std::size_t t = 0; t < mask.size(); ++t) {
        if (!mask[t]) continue;
        RegisterPlace read = place(from, t, bits);
        read.bit += bit;
        numbers[t] = WW_TRY(read_at(read, t));
      }
      WW_TRY_VOID(write(to, bit, bits, mask, numbers));
    }
    return {};
  }
  Try<void> add(const ir::Expr& e, const Mask& mask) {
    if (!adds_) return wrong("something is added");
    const auto to = WW_TRY(values_.pointer(e.args[0]));
    const auto number = WW_TRY(value(e.args[1], mask));
    if (f_[e.args[1]].type != ir::Type::of(type_))
      return wrong("{} is added to {}", ir::to_text(f_[e.args[1]].type), num::name_of(type_));
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      const RegisterPlace at = place(to, t, num::storage_bits(type_));
      const Number old = WW_TRY(read_at(at, t));
      WW_TRY_VOID(put(at, t, sum_of(old, number[t])));
    }
    return {};
  }
  Try<void> ptx(const ir::PtxCall& call, const Mask& /*mask*/) override {
    return unknown("`{}`", call.opcode.text());
  }

  const Known& known_;
  DType type_;
  bool adds_;
  ScratchOrder scratch_;
  std::unordered_map<std::uint32_t, ThreadNumbers> bound_;      // by variable
  std::unordered_map<std::int64_t, std::size_t> writers_ = {};  // by bit of the destination
};

// --- comparison ----------------------------------------------------------------------------------

enum Side : Number { kTable, kTile, kIndex, kFilling };

class Proving {
 public:
  Proving(const Call& call, const ir::Block& code, Trial trial, Proof& proof)
      : call_(call),
        code_(code),
        trial_(trial),
        proof_(proof),
        values_(call, trial.first_thread, trial.sample, *trial.few, *trial.tables),
        type_(call.buffer(0).dtype) {}

  TrialOutcome run() {
    const auto is_inside = prepare();
    if (!is_inside) {
      proof_.could_not = is_inside.error().text;
      return TrialOutcome::Failed;
    }
    return *is_inside ? compare() : TrialOutcome::Skipped;
  }

 private:
  [[nodiscard]] bool is_gather() const { return call_.tile.op == TileOp::Gather; }
  [[nodiscard]] const ir::Region& table() const {
    return call_.region(ir::table_argument(call_.tile.op));
  }

  // --- before the code ---

  // False: what was chosen puts a region outside its buffer.
  Try<bool> prepare() {
    const ir::Region& tile = call_.region(ir::tile_argument(call_.tile.op));
    auto read = WW_TRY(read_region(call_, values_, tile, trial_.first_thread));
    auto index =
        WW_TRY(read_region(call_, values_, call_.region(ir::kIndexArgument), trial_.first_thread));
    if (!read || !index) return false;
    tile_ = *std::move(read);
    Numbers extents;
    for (const ir::RangeExpr& range : table().ranges) {
      extents.push_back(WW_TRY(values_.uniform(range.extent)));
    }
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
    tile_.elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      registers_.put_beside(place, number_of(kTile, name));
    });
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
      auto read = WW_TRY(read_region(call_, values_, row, trial_.first_thread));
      if (!read) return false;
      const auto first = static_cast<Name>((row_numbers_.size() - 1) * as_index(row_elements()));
      read->elements.for_each(1, [&](const RegisterPlace& place, Name name) {
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

  TrialOutcome compare() {
    const RegionElements& dst = is_gather() ? tile_.elements : rows_read_;
    IndexedReplay replay(call_, values_, trial_.first_thread, known_, dst, registers_);
    if (!carry_out(replay, call_, code_, trial_, values_.threads(), proof_))
      return TrialOutcome::Failed;
    const std::vector<Number> meant = expected();
    dst.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      if (!proof_.difference.empty()) return;
      const auto number = registers_.at(place);
      if (number == meant[as_index(name)]) return;
      proof_.difference = fmt::format("byte {} of `{}` in thread {} of the unit {}", place.bit / 8,
                                      call_.f()[place.storage].name, place.thread,
                                      number ? "is another value" : "is not written");
    });
    return proof_.difference.empty() ? TrialOutcome::Held : TrialOutcome::Failed;
  }

  const Call& call_;
  const ir::Block& code_;
  Trial trial_;
  Proof& proof_;
  ProofValues values_;
  DType type_;
  ir::IndexedShape shape_;
  std::int64_t rows_ = 0;
  Numbers indices_;  // what was chosen
  Known known_;
  RegionRead tile_;
  RegionElements rows_read_;
  std::map<std::int64_t, std::size_t> row_numbers_;  // by row of the table, in order of first use
  Registers registers_;
};

}  // namespace
}  // namespace indexed_proof

Proof prove_indexed(const Call& call, const ir::Block& code) {
  Proof proof;
  make_trials(call, proof,
              [&](Trial trial) { return indexed_proof::Proving(call, code, trial, proof).run(); });
  return proof;
}

}  // namespace ww::lower
