// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <map>
#include <optional>

#include "eval/tile/primitives.h"
#include "eval/tile/shape.h"
#include "eval/value/exact_sum.h"
#include "ir/reduction.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

using ir::TileOp;

// One axis, or the numbers in a text.
std::vector<std::int64_t> axes_of(const ir::TileArg& arg) {
  const auto* setting = std::get_if<ir::Setting>(&arg);
  if (setting == nullptr) return {-1};
  if (const auto* axis = std::get_if<std::int64_t>(setting)) return {*axis};
  const auto* text = std::get_if<std::string>(setting);
  if (text == nullptr) return {};
  std::vector<std::int64_t> axes;
  const char* at = text->data();
  const char* end = at + text->size();
  while (at != end) {
    std::int64_t axis = 0;
    const auto [next, error] = std::from_chars(at, end, axis);
    if (error == std::errc{}) axes.push_back(axis);
    at = error == std::errc{} ? next : at + 1;
  }
  return axes;
}

/// Sums of floats that lie in registers: added in the order that ir/reduction.h gives.
class OrderedSum {
 public:
  explicit OrderedSum(num::DType type) : type_(type) {}

  /// The elements one after the other, each with the first thread that holds it.
  void add(Thread owner, Word value) {
    const auto [part, is_first] = parts_.emplace(owner, value);
    if (!is_first) part->second = sum(part->second, value);
  }
  [[nodiscard]] Word value() const {
    std::vector<std::pair<Thread, Word>> parts(parts_.begin(), parts_.end());
    for (unsigned bit = 0; (1U << bit) < kWarp; ++bit) {
      std::size_t kept = 0;
      for (const auto& [owner, part] : parts) {
        const auto pair = static_cast<Thread>(owner >> 1U);
        if (kept > 0 && parts[kept - 1].first == pair)
          parts[kept - 1].second = sum(parts[kept - 1].second, part);
        else
          parts[kept++] = {pair, part};
      }
      parts.resize(kept);
    }
    Word out = parts[0].second;
    for (std::size_t warp = 1; warp < parts.size(); ++warp) out = sum(out, parts[warp].second);
    return out;
  }

 private:
  [[nodiscard]] Word sum(Word a, Word b) const {
    return apply_in(type_, ir::ExprOp::Add, type_, a, type_, b);
  }
  num::DType type_;
  std::map<Thread, Word> parts_;
};

// The first thread that holds an element.
Thread first_owner(const Tile& tile, std::size_t x) {
  std::optional<Thread> out;
  for (std::size_t c = 0; c < tile.copies; ++c) {
    const Element& element = tile.elements[x * tile.copies + c];
    if (element.at.exists() && (!out || element.owner < *out)) out = element.owner;
  }
  return out.value_or(0);
}

/// A reduction of one element of the destination.
class Fold {
 public:
  /// `is_ordered`: where the order of a sum matters; the sum of floats in memory is exact.
  Fold(ir::TileOp op, num::DType type, bool is_ordered)
      : op_(op), type_(type), sum_(type), is_ordered_(is_ordered) {}

  void add(Thread owner, num::DType from, Word bits) {
    const Word value = convert(from, type_, bits);
    if (!is_sum_of_floats()) return take(value);
    is_ordered_ ? sum_.add(owner, value) : exact_.add(as_real(type_, value));
  }
  /// What the destination was, behind all others.
  void add_old(num::DType from, Word bits) {
    if (is_ordered_ && is_sum_of_floats()) folded_ = sum_.value();
    if (is_ordered_ || !is_sum_of_floats())
      take(convert(from, type_, bits));
    else
      exact_.add(as_real(from, bits));
  }
  [[nodiscard]] Word value(num::DType to) const {
    if (is_sum_of_floats() && !is_ordered_) return from_real(to, exact_.value());
    if (is_sum_of_floats() && !folded_) return convert(type_, to, sum_.value());
    return convert(type_, to, folded_.value_or(0));
  }

 private:
  [[nodiscard]] bool is_sum_of_floats() const { return op_ == TileOp::Sum && is_float(type_); }
  void take(Word value) {
    folded_ =
        folded_ ? apply_in(type_, ir::folding_operator(op_), type_, *folded_, type_, value) : value;
  }
  ir::TileOp op_;
  num::DType type_;
  OrderedSum sum_;
  ExactSum exact_;
  std::optional<Word> folded_;
  bool is_ordered_;
};

}  // namespace

void tile_reduce(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto to = make_tile(cta, std::get<ir::Region>(call.args[0]), unit);
  if (!to) return;
  const auto from = make_tile(cta, std::get<ir::Region>(call.args[1]), unit);
  if (!from) return;
  const auto fold = folding(from->extents, axes_of(call.args[2]));
  if (!fold || fold->count != to->count)
    return tile_unsupported(cta, call, "the shapes do not go together");
  const TileValues in = read_tile(cta, *from, unit, false);
  const num::DType type = to->info->ir->dtype;
  const bool is_in_registers = from->info->ir->scope == ir::Scope::Local;
  std::vector<Fold> folds(to->count, Fold(call.op, ir::fold_type(in.type), is_in_registers));
  for (std::size_t x = 0; x < from->count; ++x)
    folds[fold->into[x]].add(first_owner(*from, x), in.type, in.bits[x]);
  if (ir::is_true(call.args[3])) {
    const TileValues old = read_tile(cta, *to, unit, false);
    for (std::size_t x = 0; x < to->count; ++x) folds[x].add_old(old.type, old.bits[x]);
  }
  TileValues out{.type = type, .bits = std::vector<Word>(to->count), .undefined = {}};
  for (std::size_t x = 0; x < to->count; ++x) out.bits[x] = folds[x].value(type);
  write_tile(cta, *to, unit, out);
}

}  // namespace ww::eval
