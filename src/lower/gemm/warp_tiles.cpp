// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm/problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/join.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

using SlotNumbers = std::vector<std::int64_t>;

/// Row and column of an element in its matrix, transposed back: (m, k), (k, n), (m, n).
struct FragmentCell {
  std::int64_t row = 0, col = 0;
  friend bool operator==(const FragmentCell&, const FragmentCell&) = default;
};

/// One operand as the threads of the unit hold it.
class HeldOperand {
 public:
  HeldOperand(std::string_view role, const OperandPlaces& side, std::int64_t columns,
              bool is_turned)
      : role_(role), side_(side), columns_(columns), is_turned_(is_turned) {}

  /// Which element each thread has in which register. Declines elements that a warp holds twice.
  Match<void> read(const Call& call) {
    threads_ = call.unit_threads();
    find_slots();
    cells_.assign(slots_.size() * as_index(threads_), kNone);
    const bool is_held_once = side_.replicas.size() == 1 && side_.spread.size() == 1;
    std::vector<Holder> holders;  // of one element, in different warps
    for (std::size_t x = 0; x < side_.size(); ++x) {
      holders.clear();
      for (const Shift& shift : side_.replicas)
        for (const std::int64_t spread : side_.spread) {
          const std::int64_t u = side_.owner[x] + shift.thread + spread;
          const std::int64_t slot = side_.linear[x] + shift.place;
          if (!is_held_once) {
            const auto found = std::ranges::find(holders, u / 32, &Holder::warp);
            if (found != holders.end()) return held_twice(x, *found, {u, slot});
            holders.push_back({u, slot});
          }
          std::int32_t& cell = cells_[index(slot, u)];
          if (cell != kNone)
            return decline("registers", "elements {} and {} of {} share a register of thread {}",
                           text(as_index(cell)), text(x), role_, u);
          cell = static_cast<std::int32_t>(x);
        }
    }
    return {};
  }

  [[nodiscard]] const SlotNumbers& slots() const { return slots_; }
  [[nodiscard]] bool has(std::int64_t slot, std::int64_t u) const {
    const auto row = row_of(slot);
    return row && cells_[as_index(*row * threads_ + u)] != kNone;
  }
  [[nodiscard]] FragmentCell at(std::int64_t slot, std::int64_t u) const {
    return cell_of(cells_[index(slot, u)]);
  }
  /// The register in which a thread has an element; nothing when it has not.
  [[nodiscard]] std::optional<std::int64_t> slot_of(FragmentCell wanted, std::int64_t u) const {
    for (const std::int64_t slot : slots_)
      if (has(slot, u) && at(slot, u) == wanted) return slot;
    return std::nullopt;
  }
  /// The numbers of the elements that 32 threads from that one on have in a register, or kNone;
  /// nullptr for a register that none has.
  [[nodiscard]] const std::int32_t* elements(std::int64_t slot, std::int64_t first) const {
    const auto row = row_of(slot);
    return row ? &cells_[as_index(*row * threads_ + first)] : nullptr;
  }
  static constexpr std::int32_t kNone = -1;
  [[nodiscard]] FragmentCell cell_of(std::int32_t element) const {
    const std::int32_t row = element / static_cast<std::int32_t>(columns_);
    const FragmentCell stored{row, element - row * columns_};
    return is_turned_ ? FragmentCell{stored.col, stored.row} : stored;
  }
  [[nodiscard]] std::int64_t number_of(FragmentCell cell) const {
    return is_turned_ ? cell.col * columns_ + cell.row : cell.row * columns_ + cell.col;
  }
  [[nodiscard]] std::string_view role() const { return role_; }
  [[nodiscard]] std::string text(FragmentCell cell) const {
    return is_turned_ ? fmt::format("({}, {})", cell.col, cell.row)
                      : fmt::format("({}, {})", cell.row, cell.col);
  }

 private:
  static constexpr std::int64_t kMaxDense = 4096;  // more than a thread has registers

  struct Holder {
    std::int64_t thread, slot;
    [[nodiscard]] std::int64_t warp() const { return thread / 32; }
  };
  [[nodiscard]] Unexpected<Decline> held_twice(std::size_t x, Holder one, Holder two) const {
    const std::int64_t lane = one.thread % 32, warp = one.thread / 32;
    if (one.thread == two.thread)
      return decline("no_replica",
                     "element {} of {} is in registers {} and {} of lane {} of warp {}", text(x),
                     role_, one.slot, two.slot, lane, warp);
    return decline("no_replica", "element {} of {} is held by lanes {} and {} of warp {}", text(x),
                   role_, lane, two.thread % 32, warp);
  }

  [[nodiscard]] std::string text(std::size_t x) const {
    return text(cell_of(static_cast<std::int32_t>(x)));
  }

  void find_slots() {
    for (const std::int64_t slot : side_.linear)
      for (const Shift& shift : side_.replicas) {
        const std::int64_t moved = slot + shift.place;
        if (moved >= 0 && moved < kMaxDense) {
          if (moved >= std::ssize(rows_)) rows_.resize(as_index(moved) + 1, kNone);
          if (std::exchange(rows_[as_index(moved)], 0) == 0) continue;
        }
        slots_.push_back(moved);
      }
    std::ranges::sort(slots_);
    slots_.erase(std::unique(slots_.begin(), slots_.end()), slots_.end());
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] >= 0 && slots_[i] < kMaxDense)
        rows_[as_index(slots_[i])] = static_cast<std::int32_t>(i);
  }
  // The place of a register in the list of the operand's registers; nothing for any other register.
  [[nodiscard]] std::optional<std::int64_t> row_of(std::int64_t slot) const {
    if (slot >= 0 && slot < kMaxDense) {
      if (slot >= std::ssize(rows_) || rows_[as_index(slot)] == kNone) return std::nullopt;
      return rows_[as_index(slot)];
    }
    const auto at = std::ranges::lower_bound(slots_, slot);
    if (at == slots_.end() || *at != slot) return std::nullopt;
    return at - slots_.begin();
  }
  [[nodiscard]] std::size_t index(std::int64_t slot, std::int64_t u) const {
    return as_index(*row_of(slot) * threads_ + u);
  }

  std::string_view role_;
  const OperandPlaces& side_;
  std::int64_t columns_;  // as stored
  bool is_turned_;
  std::int64_t threads_ = 32;
  SlotNumbers slots_;               // ascending
  std::vector<std::int32_t> rows_;  // by slot, of small ones: its place in `slots_`
  std::vector<std::int32_t> cells_;
};

/// One register of a warp as a product of two lists of numbers: one by g = lane / 4, one by
/// t = lane % 4 and the part of the register.
struct Pattern {
  SlotNumbers by_g;  // 8
  SlotNumbers by_t;  // 4 per part
};

/// Finds the tiles of one warp.
class WarpReader {
 public:
  /// What the unit holds; for `lines` D is enough.
  struct Operands {
    const HeldOperand* d = nullptr;
    const HeldOperand* a = nullptr;
    const HeldOperand* b = nullptr;
    const HeldOperand* c = nullptr;
  };
  WarpReader(const GemmSizes& sizes, const Operands& held, std::int64_t warp)
      : p_(sizes), d_(*held.d), a_(held.a), b_(held.b), c_(held.c), warp_(warp) {}

  [[nodiscard]] bool takes_part() const {
    return std::ranges::any_of(d_.slots(), [&](std::int64_t slot) {
      for (std::int64_t lane = 0; lane < 32; ++lane)
        if (d_.has(slot, first() + lane)) return true;
      return false;
    });
  }

  Match<WarpLines> lines() {
    WW_TRY_VOID(read_d());
    WarpLines out;
    for (const std::size_t octet : by_least(d_slots_, true, octets_.size()))
      out.octets.push_back(octets_[octet]);
    for (const std::size_t quad : by_least(d_slots_, false, quads_.size()))
      out.quads.push_back(quads_[quad]);
    return out;
  }

  Match<WarpTiles> read() {
    WW_TRY_VOID(read_d());
    WW_TRY_VOID(read_a());
    WW_TRY_VOID(read_b());
    order();
    return finish();
  }

 private:
  [[nodiscard]] std::int64_t first() const { return warp_ * 32; }

  // --- one register ---

  /// Which number of a cell follows g, and which follows t.
  enum class Way : std::uint8_t { RowByG, ColByG };

  // The register of `parts` elements at `slot`; nothing when the warp has none of it.
  Match<std::optional<Pattern>> pattern(const HeldOperand& held, std::int64_t slot, int parts,
                                        Way way) {
    std::int64_t count = 0;
    SmallVec<const std::int32_t*, 8> rows;  // by part
    for (int j = 0; j < parts; ++j) {
      rows.push_back(held.elements(slot + j, first()));
      if (rows.back() != nullptr)
        count += 32 - std::count(rows.back(), rows.back() + 32, HeldOperand::kNone);
    }
    if (count == 0) return std::nullopt;
    if (count != 32 * parts)
      return decline("fragment",
                     "register {} of {} has {} of the {} elements that a warp of a matrix "
                     "instruction holds there",
                     slot, held.role(), count, 32 * parts);
    Pattern out{SlotNumbers(8, 0), SlotNumbers(as_index(4 * parts), 0)};
    const auto turned = [&](FragmentCell cell) {
      return way == Way::RowByG ? cell : FragmentCell{cell.col, cell.row};
    };
    const auto at = [&](std::int64_t lane, int j) {
      return turned(held.cell_of(rows[as_index(j)][lane]));
    };
    for (std::int64_t g = 0; g < 8; ++g) out.by_g[as_index(g)] = at(4 * g, 0).row;
    for (std::int64_t t = 0; t < 4; ++t)
      for (int j = 0; j < parts; ++j) out.by_t[as_index(t * parts + j)] = at(t, j).col;
    for (std::int64_t lane = 0; lane < 32; ++lane)
      for (int j = 0; j < parts; ++j) {
        const FragmentCell wanted =
            turned({out.by_g[as_index(lane / 4)], out.by_t[as_index(lane % 4 * parts + j)]});
        if (rows[as_index(j)][lane] == held.number_of(wanted)) continue;
        return decline("fragment",
                       "register {} of lane {} has {} of {}, where a matrix instruction would "
                       "have {}",
                       slot + j, lane, held.text(held.at(slot + j, first() + lane)), held.role(),
                       held.text(wanted));
      }
    return out;
  }

  // First slots of the words in which the warp may have something.
  static SlotNumbers word_starts(const HeldOperand& held, int parts) {
    SlotNumbers out;
    for (const std::int64_t slot : held.slots()) {
      const std::int64_t past = ((slot % parts) + parts) % parts;
      if (out.empty() || out.back() != slot - past) out.push_back(slot - past);
    }
    return out;
  }

  // --- the operands ---

  Match<void> read_d() {
    for (const std::int64_t slot : d_.slots()) {
      const auto found = WW_TRY(pattern(d_, slot, 1, Way::RowByG));
      if (!found) continue;
      const std::size_t octet = number_of(octets_, found->by_g);
      const std::size_t quad = number_of(quads_, found->by_t);
      d_slots_[{octet, quad}] = slot;
    }
    if (d_slots_.size() != octets_.size() * quads_.size())
      return decline("fragment",
                     "warp {} holds {} registers of D for {} groups of 8 rows and {} of 4 columns",
                     warp_, d_slots_.size(), octets_.size(), quads_.size());
    return {};
  }

  Match<void> read_a() {
    const int parts = p_.types.per_word();
    for (const std::int64_t slot : word_starts(*a_, parts)) {
      const auto found = WW_TRY(pattern(*a_, slot, parts, Way::RowByG));
      if (!found) continue;
      const auto octet = find(octets_, found->by_g);
      if (!octet && is_apart(octets_, found->by_g)) continue;  // rows of other warps
      if (!octet)
        return decline("fragment",
                       "register {} of A has rows {} in a warp, which are not those of a register "
                       "of D",
                       slot, join(found->by_g, ", "));
      a_slots_[{*octet, number_of(groups_, found->by_t)}] = slot;
    }
    if (a_slots_.size() == octets_.size() * groups_.size() && covers_k()) return {};
    return lacking(*a_, true, octets_);
  }

  Match<void> read_b() {
    const int parts = p_.types.per_word();
    for (const std::int64_t slot : word_starts(*b_, parts)) {
      const auto found = WW_TRY(pattern(*b_, slot, parts, Way::ColByG));
      if (!found || is_apart(quads_, found->by_g)) continue;
      std::optional<std::size_t> quad[2];
      for (const std::size_t r : {0U, 1U}) {
        SlotNumbers columns;
        for (std::size_t t = 0; t < 4; ++t) columns.push_back(found->by_g[2 * t + r]);
        quad[r] = find(quads_, columns);
      }
      if (!quad[0] || !quad[1])
        return decline("fragment",
                       "register {} of B has columns {} in a warp, which are not those of two "
                       "registers of D in turn",
                       slot, join(found->by_g, ", "));
      const auto group = find(groups_, found->by_t);
      if (!group)
        return decline("fragment",
                       "register {} of B has k {} in a warp, which are not those of a register of "
                       "A",
                       slot, join(found->by_t, ", "));
      const std::size_t pair = number_of(pairs_, SlotNumbers{static_cast<std::int64_t>(*quad[0]),
                                                             static_cast<std::int64_t>(*quad[1])});
      b_slots_[{pair, *group}] = slot;
    }
    if (pairs_.size() * 2 == quads_.size() && b_slots_.size() == pairs_.size() * groups_.size())
      return {};
    return lacking(*b_, false, quads_);
  }

  // --- what is missing ---

  [[nodiscard]] bool covers_k() const {
    std::set<std::int64_t> seen;
    for (const SlotNumbers& group : groups_) seen.insert(group.begin(), group.end());
    return std::ssize(seen) == p_.k;
  }

  // The values of k that the warp has for a row of A or a column of B.
  static std::string list(const std::set<std::int64_t>& numbers) { return join(numbers, ", "); }
  [[nodiscard]] std::set<std::int64_t> depth_of(const HeldOperand& held, bool is_a,
                                                std::int64_t line) const {
    std::set<std::int64_t> out;
    for (const std::int64_t slot : held.slots())
      for (std::int64_t lane = 0; lane < 32; ++lane) {
        if (!held.has(slot, first() + lane)) continue;
        const FragmentCell cell = held.at(slot, first() + lane);
        if ((is_a ? cell.row : cell.col) == line) out.insert(is_a ? cell.col : cell.row);
      }
    return out;
  }
  [[nodiscard]] Unexpected<Decline> lacking(const HeldOperand& held, bool is_a,
                                            const std::vector<SlotNumbers>& lists) const {
    const std::string_view what = is_a ? "row" : "column";
    for (const SlotNumbers& lines : lists)
      for (const std::int64_t line : lines) {
        const auto depth = depth_of(held, is_a, line);
        if (depth.empty())
          return decline("warps", "warp {} holds {} {} of D and nothing of it in {}", warp_, what,
                         line, held.role());
        if (std::ssize(depth) < p_.k)
          return decline("k-split",
                         "warp {} holds k {} of {} only: the sums of several warps would have to "
                         "be added up",
                         warp_, list(depth), held.role());
      }
    return decline("fragment",
                   "the registers of {} group k differently in different {}s, where a matrix "
                   "instruction has one order",
                   held.role(), what);
  }

  // --- lists ---

  static std::optional<std::size_t> find(const std::vector<SlotNumbers>& lists,
                                         const SlotNumbers& one) {
    const auto at = std::ranges::find(lists, one);
    if (at == lists.end()) return std::nullopt;
    return as_index(at - lists.begin());
  }
  static std::size_t number_of(std::vector<SlotNumbers>& lists, const SlotNumbers& one) {
    if (const auto known = find(lists, one)) return *known;
    lists.push_back(one);
    return lists.size() - 1;
  }
  static bool is_apart(const std::vector<SlotNumbers>& lists, const SlotNumbers& one) {
    return std::ranges::none_of(lists, [&](const SlotNumbers& list) {
      return std::find_first_of(list.begin(), list.end(), one.begin(), one.end()) != list.end();
    });
  }

  // --- the result ---

  using Slots = std::map<std::pair<std::size_t, std::size_t>, std::int64_t>;

  // SlotNumbers 0 … count-1 in the order of the least register that has them.
  static std::vector<std::size_t> by_least(const Slots& slots, bool is_first, std::size_t count) {
    SlotNumbers least(count, INT64_MAX);
    for (const auto& [key, slot] : slots) {
      std::int64_t& now = least[is_first ? key.first : key.second];
      now = std::min(now, slot);
    }
    std::vector<std::size_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = i;
    std::ranges::sort(out, [&](std::size_t x, std::size_t y) { return least[x] < least[y]; });
    return out;
  }
  void order() {
    octet_order_ = by_least(a_slots_, true, octets_.size());
    group_order_ = by_least(a_slots_, false, groups_.size());
    pair_order_ = by_least(b_slots_, true, pairs_.size());
  }

  Match<WarpTiles> finish() {
    WarpTiles out{.octets = octets_.size(), .pairs = pairs_.size(), .groups = groups_.size()};
    for (const std::size_t octet : octet_order_) {
      for (const std::size_t pair : pair_order_)
        for (const std::int64_t quad : pairs_[pair])
          out.d.push_back(d_slots_.at({octet, as_index(quad)}));
      for (const std::size_t group : group_order_) out.a.push_back(a_slots_.at({octet, group}));
    }
    for (const std::size_t pair : pair_order_)
      for (const std::size_t group : group_order_) out.b.push_back(b_slots_.at({pair, group}));
    if (c_ == &d_) out.c = out.d;
    if (c_ != nullptr && c_ != &d_)
      for (const std::int64_t slot : out.d) out.c.push_back(WW_TRY(c_slot(slot)));
    return out;
  }

  // The register of C with the elements that a register of D has, in the same lanes.
  Match<std::int64_t> c_slot(std::int64_t d_slot) {
    std::optional<std::int64_t> out;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const FragmentCell cell = d_.at(d_slot, first() + lane);
      if (!out) out = c_->slot_of(cell, first() + lane);
      if (!out || !c_->has(*out, first() + lane) || c_->at(*out, first() + lane) != cell)
        return decline(
            "fragment",
            "lane {} of warp {} has {} of D in register {}, and the same element of C {}", lane,
            warp_, d_.text(cell), d_slot,
            c_->slot_of(cell, first() + lane) ? "in another register than lane 0"
                                              : "belongs to another thread");
    }
    return *out;
  }

  const GemmSizes& p_;
  const HeldOperand& d_;
  const HeldOperand* a_;
  const HeldOperand* b_;
  const HeldOperand* c_;
  std::int64_t warp_;
  std::vector<SlotNumbers> octets_, quads_, groups_;
  std::vector<SlotNumbers> pairs_;  // two numbers of quads
  Slots d_slots_, a_slots_, b_slots_;
  std::vector<std::size_t> octet_order_, group_order_, pair_order_;
};

}  // namespace

Match<UnitTiles> tiles_of(const Call& call, const GemmProblem& problem) {
  HeldOperand d("D", problem.d, problem.n, false);
  HeldOperand a("A", problem.a, problem.turns_a ? problem.m : problem.k, problem.turns_a);
  HeldOperand b("B", problem.b, problem.turns_b ? problem.k : problem.n, problem.turns_b);
  std::optional<HeldOperand> c;
  const bool adds_to_d = problem.c && held_alike(*problem.c, problem.d);
  if (problem.c && !adds_to_d) c.emplace("C", *problem.c, problem.n, false);
  for (HeldOperand* held : {&d, &a, &b}) WW_TRY_VOID(held->read(call));
  if (c) WW_TRY_VOID(c->read(call));
  const HeldOperand* const added = c ? &*c : adds_to_d ? &d : nullptr;
  UnitTiles out;
  std::optional<std::int64_t> seen;
  for (std::int64_t warp = 0; warp < call.unit_threads() / 32; ++warp) {
    WarpReader reader(problem, {.d = &d, .a = &a, .b = &b, .c = added}, warp);
    out.warps.push_back(reader.takes_part());
    if (!out.warps.back()) continue;
    const WarpTiles tiles = WW_TRY(reader.read());
    if (!seen) {
      seen = warp;
      out.tiles = tiles;
    } else if (tiles != out.tiles) {
      return decline("warps", "warps {} and {} hold their parts in different registers", *seen,
                     warp);
    }
  }
  return out;
}

Match<std::vector<WarpLines>> lines_of(const Call& call, const GemmSizes& sizes) {
  const OperandPlaces side = WW_TRY(operand_places(call, 0));
  HeldOperand d("D", side, sizes.n, false);
  WW_TRY_VOID(d.read(call));
  std::vector<WarpLines> out;
  for (std::int64_t warp = 0; warp < call.unit_threads() / 32; ++warp) {
    WarpReader reader(sizes, {.d = &d}, warp);
    out.push_back(reader.takes_part() ? WW_TRY(reader.lines()) : WarpLines{});
  }
  return out;
}

}  // namespace ww::lower
