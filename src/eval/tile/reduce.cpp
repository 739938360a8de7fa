// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "eval/cta/report.h"
#include "eval/tile/primitives.h"
#include "ir/reduction.h"
#include "ir/scan.h"
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
        describe(finding(cta, Check::Replica, element),
                 "the copies of {} differ between CTAs: {:#x} in {}, {:#x} before",
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
    describe(finding(*each.cta, Check::Operand, one.info->id.index),
             "the region of `{}` differs between CTAs of the cluster: {} and {}",
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

// --- scans ---------------------------------------------------------------------------------------

namespace {

/// The elements of one row, as they follow each other.
struct ScanRow {
  std::vector<std::size_t> elements;  // by their numbers in the tile
  std::vector<Thread> holders;        // the first of each
};

/// Folds of values, of which some may be missing.
class ScanFold {
 public:
  ScanFold(ir::ExprOp op, num::DType type) : op_(op), type_(type) {}
  [[nodiscard]] std::optional<Word> operator()(std::optional<Word> a, std::optional<Word> b) const {
    if (!a || !b) return a ? a : b;
    return apply_in(type_, op_, type_, *a, type_, *b);
  }

 private:
  ir::ExprOp op_;
  num::DType type_;
};

using Prefixes = std::vector<std::optional<Word>>;

// Where the sweep that begins at element `first` ends, and where its runs begin.
std::vector<std::size_t> runs_of(const std::vector<Thread>& holders, std::size_t first) {
  std::vector<std::size_t> begins = {first};
  std::size_t i = first + 1;
  for (; i < holders.size(); ++i) {
    if (holders[i] == holders[i - 1]) continue;
    if (holders[i] < holders[i - 1] || holders[i] / kWarp != holders[i - 1] / kWarp) break;
    begins.push_back(i);
  }
  begins.push_back(i);
  return begins;
}

// Of a sum or product of floats: by runs and sweeps. Gives what comes before each element, and with it.
void scan_in_order(const ScanFold& fold, const std::vector<Word>& values,
                   const std::vector<Thread>& holders, Prefixes& before, Prefixes& with) {
  std::optional<Word> base;
  for (std::size_t first = 0; first < values.size();) {
    const std::vector<std::size_t> begins = runs_of(holders, first);
    Prefixes own(values.size()), whole;
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
      for (std::size_t i = begins[r]; i < begins[r + 1]; ++i)
        own[i] = fold(i == begins[r] ? std::nullopt : own[i - 1], values[i]);
      whole.push_back(own[begins[r + 1] - 1]);
    }
    for (std::size_t distance = 1; distance < whole.size(); distance *= 2)
      for (std::size_t r = whole.size(); r-- > distance;)  // downwards: from the values before
        whole[r] = fold(whole[r - distance], whole[r]);
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
      const auto start = fold(base, r == 0 ? std::nullopt : whole[r - 1]);
      for (std::size_t i = begins[r]; i < begins[r + 1]; ++i) {
        before[i] = fold(start, i == begins[r] ? std::nullopt : own[i - 1]);
        with[i] = fold(start, own[i]);
      }
    }
    base = fold(base, whole.back());
    first = begins.back();
  }
}

void scan_one_by_one(const ScanFold& fold, const std::vector<Word>& values, Prefixes& before,
                     Prefixes& with) {
  std::optional<Word> so_far;
  for (std::size_t i = 0; i < values.size(); ++i) {
    before[i] = so_far;
    so_far = fold(so_far, values[i]);
    with[i] = so_far;
  }
}

std::vector<ScanRow> rows_of(const Tile& from, std::size_t dimension, const UnitInstance& unit) {
  std::size_t stride = 1;
  for (std::size_t d = dimension + 1; d < from.extents.size(); ++d)
    stride *= static_cast<std::size_t>(from.extents[d]);
  const auto length = static_cast<std::size_t>(from.extents[dimension]);
  const bool is_local = from.info->ir->scope == ir::Scope::Local;
  const ir::ScanShare share =
      is_local ? ir::ScanShare{} : ir::scan_share(from.extents, dimension, unit.size);
  std::vector<ScanRow> out(length == 0 ? 0 : from.count / length);
  for (std::size_t x = 0; x < from.count; ++x) {
    ScanRow& row = out[x / (stride * length) * stride + x % stride];
    row.elements.push_back(x);
    row.holders.push_back(is_local ? first_owner(from, x) : static_cast<Thread>(share.thread[x]));
  }
  return out;
}

}  // namespace

void tile_scan(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto to = make_tile(cta, std::get<ir::Region>(call.args[0]), unit);
  if (!to) return;
  const auto from = make_tile(cta, std::get<ir::Region>(call.args[1]), unit);
  if (!from) return;
  if (from->count != to->count) return tile_unsupported(cta, call, "the shapes do not go together");
  const TileValues in = read_tile(cta, *from, unit, false);
  const num::DType type = ir::fold_type(in.type), dtype = to->info->ir->dtype;
  const ir::ExprOp op = ir::scanning_operator(call.op);
  const ScanFold fold(op, type);
  const ir::Constant nothing = ir::scan_identity(op, dtype);
  const Word identity = num::is_float(type)
                            ? from_real(type, nothing.real)
                            : convert(num::DType::Int64, type, static_cast<Word>(nothing.integer));
  TileValues out{.type = dtype, .bits = std::vector<Word>(to->count), .undefined = {}};
  for (const ScanRow& row : rows_of(*from, ir::scanned_dimension(call), unit)) {
    std::vector<Word> values;
    for (const std::size_t x : row.elements) values.push_back(convert(in.type, type, in.bits[x]));
    Prefixes before(values.size()), with(values.size());
    if (ir::is_ordered_fold(op, type))
      scan_in_order(fold, values, row.holders, before, with);
    else
      scan_one_by_one(fold, values, before, with);
    const Prefixes& results = ir::is_exclusive(call) ? before : with;
    for (std::size_t i = 0; i < results.size(); ++i)
      out.bits[row.elements[i]] = convert(type, dtype, results[i].value_or(identity));
  }
  write_tile(cta, *to, unit, out);
}

}  // namespace ww::eval
