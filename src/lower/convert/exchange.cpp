// SPDX-License-Identifier: Apache-2.0
#include "lower/convert/exchange.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace ww::lower {

BitVector BitMap::operator()(BitVector x) const {
  BitVector out = 0;
  for (std::size_t b = 0; b < columns.size(); ++b)
    if ((x >> b & 1U) != 0) out ^= columns[b];
  return out;
}

bool BitMap::is_identity() const {
  for (std::size_t b = 0; b < columns.size(); ++b)
    if (columns[b] != BitVector{1} << b) return false;
  return true;
}

/// Vectors such that every sum of some of them differs from every other.
class BitBasis {
 public:
  /// False, and nothing changes, when it is a sum of vectors that are there already.
  bool add(BitVector vector) {
    vector = rest(vector);
    if (vector == 0) return false;
    rows_.push_back(vector);
    std::ranges::sort(rows_, std::greater{});
    return true;
  }
  /// The vector less what the basis can take away from it.
  [[nodiscard]] BitVector rest(BitVector vector) const {
    for (const BitVector row : rows_) vector = std::min(vector, vector ^ row);
    return vector;
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool contains(BitVector vector) const { return rest(vector) == 0; }
  /// All sums, 0 first.
  [[nodiscard]] std::vector<BitVector> span() const {
    std::vector<BitVector> out{0};
    for (const BitVector row : rows_) {
      const std::size_t size = out.size();
      for (std::size_t i = 0; i < size; ++i) out.push_back(out[i] ^ row);
    }
    return out;
  }

 private:
  std::vector<BitVector> rows_;  // by falling leading bit
};

namespace {

// The map with from(l) -> to(l) for all 0 <= l < 2^bits, on numbers of `from_bits` bits; 0 on the
// rest of them.
// Nothing when two `from` agree whose `to` differ.
std::optional<BitMap> map_between(const BitMap& from, const BitMap& to, int bits, int from_bits) {
  // Rows (image under `from`, image under `to`), brought to leading bits by elimination.
  struct Row {
    BitVector key, value;
  };
  std::vector<Row> rows;
  const auto reduce = [&](Row row) {
    for (const Row& each : rows)
      if ((row.key ^ each.key) < row.key) row = {row.key ^ each.key, row.value ^ each.value};
    return row;
  };
  for (int b = 0; b < bits; ++b) {
    const Row row = reduce({from(BitVector{1} << b), to(BitVector{1} << b)});
    if (row.key == 0 && row.value != 0) return std::nullopt;
    if (row.key == 0) continue;
    rows.push_back(row);
    std::ranges::sort(rows, std::greater{}, &Row::key);
  }
  BitMap out;
  for (int b = 0; b < from_bits; ++b) {
    // What is left over is outside the image, where the map is 0.
    out.columns.push_back(reduce({BitVector{1} << b, 0}).value);
  }
  return out;
}

constexpr int kLaneBits = 5;
constexpr std::int64_t kMaxWords = 128;

bool is_power(std::size_t n) { return std::has_single_bit(n); }
int log2_of(std::size_t n) { return std::countr_zero(n); }

// --- which registers belong together -------------------------------------------------------------

/// Words of the destination and of the source, by number in their tables.
struct WordGroup {
  std::vector<std::int64_t> dst, src;
};

class WordGroups {
 public:
  explicit WordGroups(const CopyItems& items)
      : items_(items), dst_words_(items.dst.slots / items.per_word) {
    parent_.resize(as_index(dst_words_ + items.src.slots / items.per_word));
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  std::vector<WordGroup> find() {
    std::map<std::int32_t, std::vector<std::int64_t>> holders;
    each_item(items_.src, [&](std::int64_t word, std::int32_t item) {
      std::vector<std::int64_t>& words = holders[item];
      if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    });
    each_item(items_.dst, [&](std::int64_t word, std::int32_t item) {
      for (const std::int64_t from : holders[item])
        unite(as_index(word), as_index(from + dst_words_));
    });
    return collected();
  }

 private:
  template <typename Visit>
  void each_item(const ItemTable& table, Visit&& visit) const {
    for (std::int64_t k = 0; k < table.slots; ++k)
      for (std::int64_t u = 0; u < table.threads; ++u)
        if (const std::int32_t item = table.at(k, u); item != kNoItem)
          visit(k / items_.per_word, item);
  }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) { parent_[root(b)] = root(a); }

  std::vector<WordGroup> collected() {
    std::map<std::size_t, WordGroup> groups;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const bool is_dst = i < as_index(dst_words_);
      const auto word = static_cast<std::int64_t>(i) - (is_dst ? 0 : dst_words_);
      (is_dst ? groups[root(i)].dst : groups[root(i)].src).push_back(word);
    }
    std::vector<WordGroup> out;
    for (auto& [root, group] : groups)
      if (!group.dst.empty() && !group.src.empty()) out.push_back(std::move(group));
    return out;
  }

  const CopyItems& items_;
  std::int64_t dst_words_;
  std::vector<std::size_t> parent_;
};

// --- one group -----------------------------------------------------------------------------------

/// Cells of a warp, (lane << item bits) + item. M(c) ^ offset is the cell of the source.
struct CellMap {
  int dst_bits = 0, src_bits = 0;  // of an item's number
  BitMap map;                      // M
  BitVector offset = 0;
  BitBasis same;  // differences between cells of the source that hold the same

  [[nodiscard]] BitVector item(BitVector cell) const {
    return cell & ((BitVector{1} << src_bits) - 1);
  }
  [[nodiscard]] BitVector lane(BitVector cell) const { return cell >> src_bits; }
};

class GroupSolver {
 public:
  GroupSolver(const CopyItems& items, WordGroup group)
      : items_(items), group_(std::move(group)), per_(items.per_word) {}

  Match<WordExchange> solve() {
    if (!is_power(group_.dst.size()))
      return decline("shape", "{} registers are exchanged among lanes, expected a power of two",
                     group_.dst.size());
    map_.dst_bits = log2_of(group_.dst.size() * as_index(per_));
    map_.src_bits = log2_of(std::bit_ceil(group_.src.size()) * as_index(per_));
    WW_TRY_VOID(read_used());
    WW_TRY_VOID(fit());
    WW_TRY_VOID(check_warps());
    choose_own_lanes();
    if (!choose_orders(0))
      return decline("lanes", "no order of the registers lets every lane give one at a time");
    return exchange();
  }

 private:
  [[nodiscard]] std::int64_t place(const std::vector<std::int64_t>& words, BitVector item) const {
    const auto i = static_cast<std::int64_t>(item);
    return words[as_index(i / per_)] * per_ + i % per_;
  }
  [[nodiscard]] std::int32_t wanted(BitVector cell, std::int64_t warp) const {
    const BitVector item = cell & ((BitVector{1} << map_.dst_bits) - 1);
    const auto lane = static_cast<std::int64_t>(cell >> map_.dst_bits);
    return items_.dst.at(place(group_.dst, item), warp * kLanesPerWarp + lane);
  }
  [[nodiscard]] std::int32_t held(BitVector cell, std::int64_t warp) const {
    const BitVector item = map_.item(cell);
    if (as_index(item / per_) >= group_.src.size()) return kNoItem;
    const auto lane = static_cast<std::int64_t>(map_.lane(cell));
    return items_.src.at(place(group_.src, item), warp * kLanesPerWarp + lane);
  }
  [[nodiscard]] BitVector dst_cells() const { return BitVector{1} << (map_.dst_bits + kLaneBits); }
  [[nodiscard]] BitVector src_cells() const { return BitVector{1} << (map_.src_bits + kLaneBits); }

  // A lane gets all items of the group or none.
  Match<void> read_used() {
    used_.resize(as_index(items_.dst.threads));
    for (std::int64_t u = 0; u < items_.dst.threads; ++u) {
      std::size_t has = 0;
      const std::size_t all = std::size_t{1} << map_.dst_bits;
      for (BitVector item = 0; item < all; ++item)
        has += items_.dst.at(place(group_.dst, item), u) != kNoItem ? 1U : 0U;
      if (has != 0 && has != all)
        return decline("irregular", "thread {} gets {} of the {} items that are exchanged", u, has,
                       all);
      used_[as_index(u)] = has != 0;
    }
    const auto first = std::ranges::find(used_, true) - used_.begin();
    first_warp_ = first / kLanesPerWarp;
    first_lane_ = static_cast<BitVector>(first % kLanesPerWarp);
    return {};
  }

  // Where the items are: the least of the cells that hold one.
  std::map<std::int32_t, std::vector<BitVector>> holders() {
    std::map<std::int32_t, std::vector<BitVector>> out;
    for (BitVector cell = 0; cell < src_cells(); ++cell)
      if (const std::int32_t item = held(cell, first_warp_); item != kNoItem)
        out[item].push_back(cell);
    return out;
  }
  // The same differences for every item, or none at all.
  void find_same(const std::map<std::int32_t, std::vector<BitVector>>& holders) {
    BitBasis same;
    for (const BitVector cell : holders.begin()->second)
      same.add(cell ^ holders.begin()->second[0]);
    for (const auto& [item, cells] : holders) {
      if (cells.size() != std::size_t{1} << same.size()) return;
      for (const BitVector cell : cells)
        if (!same.contains(cell ^ cells[0])) return;
    }
    map_.same = same;
  }

  Match<void> fit() {
    const auto at = holders();
    if (at.empty()) return crossing(first_warp_);
    find_same(at);
    const auto source = [&](BitVector cell) -> std::optional<BitVector> {
      const auto found = at.find(wanted(cell, first_warp_));
      return found == at.end() ? std::nullopt : std::optional(found->second[0]);
    };
    const BitVector origin = first_lane_ << map_.dst_bits;
    const auto from = source(origin);
    if (!from) return crossing(first_warp_);
    for (int b = 0; b < map_.dst_bits + kLaneBits; ++b) {
      const BitVector next = origin ^ BitVector { 1 } << b;
      const bool is_missing = wanted(next, first_warp_) == kNoItem;
      const auto other = is_missing ? from : source(next);
      if (!other) return crossing(first_warp_);
      map_.map.columns.push_back(*other ^ *from);
    }
    map_.offset = *from ^ map_.map(origin);
    return {};
  }
  [[nodiscard]] Unexpected<Decline> crossing(std::int64_t warp) const {
    return decline("owner", "an element goes to warp {} of the unit from another one", warp);
  }

  // The formula holds in all cells of all warps, or is refused.
  Match<void> check_warps() {
    for (std::int64_t warp = 0; warp * kLanesPerWarp < items_.dst.threads; ++warp)
      for (BitVector cell = 0; cell < dst_cells(); ++cell) {
        const std::int32_t item = wanted(cell, warp);
        if (item == kNoItem || held(map_.map(cell) ^ map_.offset, warp) == item) continue;
        if (!is_in_warp(item, warp)) return crossing(warp);
        return decline("irregular",
                       "the lanes and registers of source and destination are no linear function "
                       "of each other's bits");
      }
    return {};
  }
  [[nodiscard]] bool is_in_warp(std::int32_t item, std::int64_t warp) const {
    for (BitVector cell = 0; cell < src_cells(); ++cell)
      if (held(cell, warp) == item) return true;
    return false;
  }

  // Of replicas, the one in the lane that asks.
  void choose_own_lanes() {
    const std::vector<BitVector> choices = map_.same.span();
    const auto nearest = [&](BitVector cell, BitVector lane) {
      return *std::ranges::min_element(choices, {}, [&](BitVector each) {
        return std::popcount(map_.lane(cell ^ each) ^ lane);
      }) ^ cell;
    };
    for (std::size_t b = 0; b < map_.map.columns.size(); ++b) {
      const BitVector lane = BitVector{1} << b >> map_.dst_bits;
      map_.map.columns[b] = nearest(map_.map.columns[b], lane);
    }
    map_.offset = nearest(map_.offset, 0);
  }

  // --- D ---

  [[nodiscard]] BitVector lane_column(std::size_t b) const {
    return map_.map.columns[b + static_cast<std::size_t>(map_.dst_bits)];
  }
  // Lanes that ask the same lane want the same item, as far as bits of the lane are settled.
  [[nodiscard]] bool is_consistent(std::size_t bits) const {
    for (BitVector lane = 1; lane < BitVector{1} << bits; ++lane) {
      const BitVector cell = settled_(lane);
      if (map_.lane(cell) == 0 && map_.item(cell) != 0) return false;
    }
    return true;
  }
  // Bit after bit of the lane, what is nearest to no exchange first.
  bool choose_orders(std::size_t bit) {
    if (bit == static_cast<std::size_t>(kLaneBits)) return true;
    struct Choice {
      BitVector order, cell;
      int cost;
    };
    std::vector<Choice> choices;
    for (BitVector order = 0; order < BitVector{1} << map_.dst_bits; ++order)
      for (const BitVector same : map_.same.span()) {
        const BitVector cell = lane_column(bit) ^ map_.map(order) ^ same;
        const int away = std::popcount(map_.lane(cell) ^ BitVector{1} << bit);
        const int cost = away * 64 + std::popcount(order) * 8 + std::popcount(map_.item(cell));
        choices.push_back({order, cell, cost});
      }
    std::ranges::stable_sort(choices, {}, &Choice::cost);
    for (const Choice& choice : choices) {
      constexpr int kMaxTries = 20'000;
      if (++tries_ > kMaxTries) return false;
      orders_.columns.push_back(choice.order);
      settled_.columns.push_back(choice.cell);
      if (is_consistent(bit + 1) && choose_orders(bit + 1)) return true;
      orders_.columns.pop_back();
      settled_.columns.pop_back();
    }
    return false;
  }

  // --- rounds ---

  Match<WordExchange> exchange() {
    WordExchange out{
        .dst = {}, .src = {}, .used = used_, .before = {}, .behind = {}, .asks = {}, .rounds = {}};
    for (const std::int64_t word : group_.dst) out.dst.push_back(word * per_);
    for (const std::int64_t word : group_.src) out.src.push_back(word * per_);
    BitMap items;
    for (const BitVector cell : settled_.columns) {
      out.asks.columns.push_back(map_.lane(cell));
      items.columns.push_back(map_.item(cell));
    }
    // What lane q gives, as far as it depends on q.
    const auto given = map_between(out.asks, items, kLaneBits, kLaneBits);
    WW_CHECK(given.has_value(), "lanes that ask the same lane want different items");
    out.before = swaps_of(*given);
    out.behind = swaps_of(orders_);
    add_rounds(*given, out);
    return out;
  }

  // Swaps that add map(lane) to the number of an item, one for each dimension of the image.
  static std::vector<LaneSwap> swaps_of(const BitMap& map) {
    std::vector<LaneSwap> out;
    for (std::size_t b = 0; b < map.columns.size(); ++b) {
      const BitVector by = map.columns[b];
      if (by == 0) continue;
      const auto known = std::ranges::find(out, by, &LaneSwap::by);
      if (known != out.end())
        known->lanes |= BitVector{1} << b;
      else
        out.push_back({BitVector{1} << b, by});
    }
    return out;
  }

  // Differences of items that ask the same lane, in the order in which they lie in a word.
  [[nodiscard]] std::vector<BitVector> together() const {
    BitBasis basis;
    const auto per_word = static_cast<std::size_t>(per_);
    std::vector<BitVector> out{0};
    for (BitVector v = 1; v < BitVector{1} << map_.dst_bits && out.size() < per_word; ++v) {
      if (map_.lane(map_.map(v)) != 0 || !basis.add(v)) continue;
      const std::size_t size = out.size();
      for (std::size_t i = 0; i < size; ++i) out.push_back(out[i] ^ v);
    }
    return out;
  }

  void add_rounds(const BitMap& given, WordExchange& out) const {
    const std::vector<BitVector> in_word = together();
    std::vector<bool> is_done(std::size_t{1} << map_.dst_bits);
    for (BitVector i = 0; i < is_done.size(); ++i) {
      if (is_done[i]) continue;
      ExchangeRound round;
      for (const BitVector v : in_word) {
        is_done[i ^ v] = true;
        const BitVector cell = map_.map(i ^ v) ^ map_.offset;
        round.asked = map_.lane(cell);
        round.got.push_back(static_cast<std::int64_t>(i ^ v));
        round.given.push_back(static_cast<std::int64_t>(map_.item(cell) ^ given(map_.lane(cell))));
      }
      out.rounds.push_back(std::move(round));
    }
  }

  const CopyItems& items_;
  WordGroup group_;
  std::int64_t per_;
  std::vector<bool> used_;
  std::int64_t first_warp_ = 0;  // of the first thread that gets something
  BitVector first_lane_ = 0;
  CellMap map_;
  BitMap orders_, settled_;  // D, and M of (D(l), l)
  int tries_ = 0;
};

}  // namespace

Match<std::vector<WordExchange>> find_exchanges(const Call&, const CopyItems& items) {
  if (items.dst.threads % kLanesPerWarp != 0)
    return decline("threads", "{} threads, expected whole warps", items.dst.threads);
  for (const ItemTable* side : {&items.dst, &items.src})
    if (side->slots / items.per_word > kMaxWords)
      return decline("size", "{} registers of a thread, of {} that are exchanged between lanes",
                     side->slots / items.per_word, kMaxWords);
  std::vector<WordExchange> out;
  for (WordGroup& group : WordGroups(items).find())
    out.push_back(WW_TRY(GroupSolver(items, std::move(group)).solve()));
  return out;
}

}  // namespace ww::lower
