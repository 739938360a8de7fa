// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <optional>

#include "eval/tile/primitives.h"
#include "ir/reduction.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

/// Sums and products of floats: in the order that ir/reduction.h gives.
class OrderedFold {
 public:
  OrderedFold(ir::ExprOp op, num::DType type) : op_(op), type_(type) {}

  /// The elements one after the other, each with the first thread that holds it.
  void add(Thread owner, Word value) {
    const auto [part, is_first] = parts_.emplace(owner, value);
    if (!is_first) part->second = folded(part->second, value);
  }
  [[nodiscard]] Word value() const {
    std::vector<std::pair<Thread, Word>> parts(parts_.begin(), parts_.end());
    for (unsigned bit = 0; (1U << bit) < kWarp; ++bit) {
      std::size_t kept = 0;
      for (const auto& [owner, part] : parts) {
        const auto pair = static_cast<Thread>(owner >> 1U);
        if (kept > 0 && parts[kept - 1].first == pair)
          parts[kept - 1].second = folded(parts[kept - 1].second, part);
        else
          parts[kept++] = {pair, part};
      }
      parts.resize(kept);
    }
    Word out = parts[0].second;
    for (std::size_t warp = 1; warp < parts.size(); ++warp) out = folded(out, parts[warp].second);
    return out;
  }

 private:
  [[nodiscard]] Word folded(Word a, Word b) const {
    return apply_in(type_, op_, type_, a, type_, b);
  }
  ir::ExprOp op_;
  num::DType type_;
  std::map<Thread, Word> parts_;
};

/// A reduction of one element of the destination.
class Fold {
 public:
  Fold(ir::ExprOp op, num::DType type)
      : op_(op), type_(type), in_order_(op, type), is_ordered_(ir::is_ordered_fold(op, type)) {}

  void add(Thread owner, num::DType from, Word bits) {
    const Word value = convert(from, type_, bits);
    is_ordered_ ? in_order_.add(owner, value) : take(value);
  }
  /// What the destination was, behind all others.
  void add_old(num::DType from, Word bits) {
    if (is_ordered_) folded_ = in_order_.value();
    take(convert(from, type_, bits));
  }
  [[nodiscard]] Word value(num::DType to) const {
    if (is_ordered_ && !folded_) return convert(type_, to, in_order_.value());
    return convert(type_, to, folded_.value_or(0));
  }

 private:
  void take(Word value) {
    folded_ = folded_ ? apply_in(type_, op_, type_, *folded_, type_, value) : value;
  }
  ir::ExprOp op_;
  num::DType type_;
  OrderedFold in_order_;
  std::optional<Word> folded_;
  bool is_ordered_;
};

/// The least index of the greatest or least element.
class FoldIndex {
 public:
  FoldIndex(ir::ExprOp op, num::DType type) : op_(op), type_(type) {}

  /// The elements in the order of their indices.
  void add(std::int64_t index, num::DType from, Word bits) {
    const Word value = convert(from, type_, bits);
    if (is_float(type_) && std::isnan(as_real(type_, value))) return;
    if (best_ && apply_in(type_, op_, type_, *best_, type_, value) == *best_) return;
    best_ = value;
    index_ = index;
  }
  [[nodiscard]] std::int64_t index() const { return index_; }

 private:
  ir::ExprOp op_;
  num::DType type_;
  std::optional<Word> best_;
  std::int64_t index_ = 0;
};

std::vector<Word> indices_of(const ir::TileCall& call, const ir::FoldMap& map, const TileValues& in,
                             num::DType type) {
  std::vector<FoldIndex> folds(static_cast<std::size_t>(map.results),
                               FoldIndex(ir::folding_operator(call.op), ir::fold_type(in.type)));
  for (std::size_t x = 0; x < map.into.size(); ++x)
    folds[static_cast<std::size_t>(map.into[x])].add(map.index[x], in.type, in.bits[x]);
  std::vector<Word> out;
  for (const FoldIndex& fold : folds)
    out.push_back(convert(num::DType::Int64, type, static_cast<Word>(fold.index())));
  return out;
}

// The thread that counts for each element: who holds it, or would.
std::vector<Thread> owners_of(const Tile& from, const std::vector<bool>& is_folded,
                              const UnitInstance& unit) {
  std::vector<Thread> out(from.count);
  if (from.info->ir->scope == ir::Scope::Local) {
    for (std::size_t x = 0; x < from.count; ++x) out[x] = first_owner(from, x);
  } else {
    const ir::MemoryShare share = ir::memory_share(from.extents, is_folded, unit.size);
    for (std::size_t x = 0; x < from.count; ++x) out[x] = static_cast<Thread>(share.thread[x]);
  }
  return out;
}

}  // namespace

void tile_reduce(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto to = make_tile(cta, std::get<ir::Region>(call.args[0]), unit);
  if (!to) return;
  const auto from = make_tile(cta, std::get<ir::Region>(call.args[1]), unit);
  if (!from) return;
  const std::vector<bool> is_folded = ir::folded_dimensions(call);
  const ir::FoldMap map = ir::fold_map(from->extents, is_folded);
  if (map.results != static_cast<std::int64_t>(to->count) || map.folded == 0)
    return tile_unsupported(cta, call, "the shapes do not go together");
  const TileValues in = read_tile(cta, *from, unit, false);
  const num::DType type = to->info->ir->dtype;
  TileValues out{.type = type, .bits = {}, .undefined = {}};
  if (ir::gives_index(call.op)) {
    out.bits = indices_of(call, map, in, type);
    return write_tile(cta, *to, unit, out);
  }
  std::vector<Fold> folds(to->count, Fold(ir::folding_operator(call.op), ir::fold_type(in.type)));
  const std::vector<Thread> owners = owners_of(*from, is_folded, unit);
  for (std::size_t x = 0; x < from->count; ++x)
    folds[static_cast<std::size_t>(map.into[x])].add(owners[x], in.type, in.bits[x]);
  if (ir::accumulates(call)) {
    const TileValues old = read_tile(cta, *to, unit, false);
    for (std::size_t x = 0; x < to->count; ++x) folds[x].add_old(old.type, old.bits[x]);
  }
  for (const Fold& fold : folds) out.bits.push_back(fold.value(type));
  write_tile(cta, *to, unit, out);
}

}  // namespace ww::eval
