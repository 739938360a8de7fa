// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "eval/cta/report.h"
#include "eval/tile/primitives.h"
#include "ir/reduction.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

/// Threads by their number; those of the CTAs of a cluster follow each other, in whole warps.
using Owner = std::uint32_t;

Owner warps_of(const UnitInstance& unit) {
  return (static_cast<Owner>(unit.size) + static_cast<Owner>(kWarp) - 1) /
         static_cast<Owner>(kWarp);
}

/// Sums and products of floats: in the order that ir/reduction.h gives.
class OrderedFold {
 public:
  /// `warps`: of a CTA.
  OrderedFold(ir::ExprOp op, num::DType type, Owner warps) : op_(op), type_(type), warps_(warps) {}

  /// The elements one after the other, each with the first thread that holds it.
  void add(Owner owner, Word value) {
    const auto [part, is_first] = parts_.emplace(owner, value);
    if (!is_first) part->second = folded(part->second, value);
  }
  [[nodiscard]] Word value() const {
    std::vector<std::pair<Owner, Word>> parts(parts_.begin(), parts_.end());
    for (unsigned bit = 0; (1U << bit) < kWarp; ++bit) {
      std::size_t kept = 0;
      for (const auto& [owner, part] : parts) {
        const Owner pair = owner >> 1U;
        if (kept > 0 && parts[kept - 1].first == pair)
          parts[kept - 1].second = folded(parts[kept - 1].second, part);
        else
          parts[kept++] = {pair, part};
      }
      parts.resize(kept);
    }
    std::map<Owner, Word> ctas;
    for (const auto& [warp, part] : parts) {
      const auto [cta, is_first] = ctas.emplace(warp / warps_, part);
      if (!is_first) cta->second = folded(cta->second, part);
    }
    Word out = ctas.begin()->second;
    for (auto next = std::next(ctas.begin()); next != ctas.end(); ++next)
      out = folded(out, next->second);
    return out;
  }

 private:
  [[nodiscard]] Word folded(Word a, Word b) const {
    return apply_in(type_, op_, type_, a, type_, b);
  }
  ir::ExprOp op_;
  num::DType type_;
  Owner warps_;
  std::map<Owner, Word> parts_;
};

/// A reduction of one element of the destination.
class Fold {
 public:
  Fold(ir::ExprOp op, num::DType type, Owner warps)
      : op_(op),
        type_(type),
        in_order_(op, type, warps),
        is_ordered_(ir::is_ordered_fold(op, type)) {}

  void add(Owner owner, num::DType from, Word bits) {
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

bool is_held(const Tile& tile, std::size_t x) {
  const auto first = tile.elements.begin() + static_cast<std::ptrdiff_t>(x * tile.copies);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(tile.copies),
                     [](const Element& each) { return each.at.exists(); });
}

// The same of memory, by the CTAs of a cluster. Nothing: they cannot share it.
std::optional<std::vector<Owner>> owners_in_memory(std::span<const ReduceMember> members,
                                                   const Tile& from,
                                                   const std::vector<bool>& is_folded) {
  const auto share = ir::cluster_share(
      from.extents, is_folded, static_cast<std::int64_t>(members.size()), members[0].unit.size);
  if (!share) return std::nullopt;
  const Owner of_cta = warps_of(members[0].unit) * static_cast<Owner>(kWarp);
  std::vector<Owner> out(from.count);
  for (std::size_t x = 0; x < out.size(); ++x)
    out[x] = static_cast<Owner>(share->cta[x]) * of_cta +
             static_cast<Owner>(share->share.thread[static_cast<std::size_t>(share->index[x])]);
  return out;
}

bool is_in_memory(const Tile& tile) { return tile.info->ir->scope != ir::Scope::Local; }

// The thread that counts for each element: the first that holds it, or would.
std::optional<std::vector<Owner>> owners_of(std::span<const ReduceMember> members,
                                            std::span<const Tile> from,
                                            const std::vector<bool>& is_folded) {
  std::vector<Owner> out(from[0].count);
  if (is_in_memory(from[0]) && members.size() > 1)
    return owners_in_memory(members, from[0], is_folded);
  if (is_in_memory(from[0])) {
    const ir::MemoryShare share =
        ir::memory_share(from[0].extents, is_folded, members[0].unit.size);
    for (std::size_t x = 0; x < out.size(); ++x) out[x] = static_cast<Owner>(share.thread[x]);
    return out;
  }
  const Owner of_cta = warps_of(members[0].unit) * static_cast<Owner>(kWarp);
  for (std::size_t x = 0; x < out.size(); ++x)
    for (std::size_t c = 0; c < from.size(); ++c) {
      if (from.size() > 1 && !is_held(from[c], x)) continue;
      out[x] = static_cast<Owner>(c) * of_cta + first_owner(from[c], x);
      break;
    }
  return out;
}

// The elements of all members; copies of one in several CTAs must be equal.
TileValues read_all(std::span<const ReduceMember> members, std::span<const Tile> tiles) {
  TileValues out = read_tile(*members[0].cta, tiles[0], members[0].unit, false);
  std::vector<bool> is_read(tiles[0].count);
  for (std::size_t x = 0; members.size() > 1 && x < is_read.size(); ++x)
    is_read[x] = is_held(tiles[0], x);
  for (std::size_t c = 1; c < members.size(); ++c) {
    Cta& cta = *members[c].cta;
    const TileValues more = read_tile(cta, tiles[c], members[c].unit, false);
    for (std::size_t x = 0; x < is_read.size(); ++x) {
      if (!is_held(tiles[c], x)) continue;
      const Element& element = tiles[c].elements[x * tiles[c].copies];
      if (!is_read[x])
        out.bits[x] = more.bits[x];
      else if (out.bits[x] != more.bits[x])
        if (Finding* found = finding(cta, Check::Replica, element); found != nullptr)
          found->text =
              fmt::format("the copies of {} differ between CTAs: {:#x} in {}, {:#x} before",
                          element_text(cta, element), more.bits[x], cta_text(cta), out.bits[x]);
      is_read[x] = true;
    }
  }
  return out;
}

// An operand as each member sees it: the same region. Nothing, and a finding or a stop, otherwise.
std::optional<std::vector<Tile>> tiles_of(std::span<const ReduceMember> members,
                                          const ir::Region& region) {
  std::vector<Tile> out;
  for (const ReduceMember& each : members) {
    auto tile = make_tile(*each.cta, region, each.unit);
    if (!tile) return std::nullopt;
    out.push_back(*std::move(tile));
    const Tile &one = out.front(), &other = out.back();
    const bool is_same = one.extents == other.extents &&
                         (one.count == 0 || one.elements[0].flat == other.elements[0].flat);
    if (is_same) continue;
    if (Finding* found = finding(*each.cta, Check::Operand, one.info->id.index); found != nullptr)
      found->text = fmt::format("the region of `{}` differs between CTAs of the cluster: {} and {}",
                                one.info->ir->name, cta_text(*members[0].cta), cta_text(*each.cta));
    return std::nullopt;
  }
  return out;
}

// CTAs that read and write a destination: one in global memory is common to all, so the first does.
std::size_t writers_of(std::span<const Tile> to) {
  return to[0].info->ir->scope == ir::Scope::Global ? 1 : to.size();
}

void write_all(std::span<const ReduceMember> members, std::span<const Tile> to,
               const TileValues& values) {
  for (std::size_t c = 0; c < writers_of(to); ++c)
    write_tile(*members[c].cta, to[c], members[c].unit, values);
}

}  // namespace

void tile_reduce(std::span<const ReduceMember> members, const ir::TileCall& call) {
  const auto to = tiles_of(members, std::get<ir::Region>(call.args[0]));
  if (!to) return;
  const auto from = tiles_of(members, std::get<ir::Region>(call.args[1]));
  if (!from) return;
  const std::vector<bool> is_folded = ir::folded_dimensions(call);
  const ir::FoldMap map = ir::fold_map(from->front().extents, is_folded);
  const std::size_t results = to->front().count;
  if (map.results != static_cast<std::int64_t>(results) || map.folded == 0)
    return tile_unsupported(*members[0].cta, call, "the shapes do not go together");
  const TileValues in = read_all(members, *from);
  const num::DType type = to->front().info->ir->dtype;
  TileValues out{.type = type, .bits = {}, .undefined = {}};
  if (ir::gives_index(call.op)) {
    out.bits = indices_of(call, map, in, type);
    return write_all(members, *to, out);
  }
  std::vector<Fold> folds(results, Fold(ir::folding_operator(call.op), ir::fold_type(in.type),
                                        warps_of(members[0].unit)));
  const auto owners = owners_of(members, *from, is_folded);
  if (!owners)
    return tile_unsupported(*members[0].cta, call,
                            "no extent of the source is a multiple of the CTAs of the cluster");
  for (std::size_t x = 0; x < owners->size(); ++x)
    folds[static_cast<std::size_t>(map.into[x])].add((*owners)[x], in.type, in.bits[x]);
  if (ir::accumulates(call)) {
    const std::span<const Tile> tiles(*to);
    const TileValues old =
        read_all(members.first(writers_of(tiles)), tiles.first(writers_of(tiles)));
    for (std::size_t x = 0; x < results; ++x) folds[x].add_old(old.type, old.bits[x]);
  }
  for (const Fold& fold : folds) out.bits.push_back(fold.value(type));
  write_all(members, *to, out);
}

}  // namespace ww::eval
