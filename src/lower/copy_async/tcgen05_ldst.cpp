// SPDX-License-Identifier: Apache-2.0
// copy_async / tcgen05_ldst: between tensor memory and registers with tcgen05.ld and tcgen05.st.
//
// A warp reaches the 32 lanes of its quarter of tensor memory (warp % 4). The registers of the
// unit's warps are taken word by word (32 bits): which cell, a lane and a 32-bit column, do the 32
// lanes of each warp hold there? With g = l / 4 and t = l % 4, lane l of the warp may find
//
//   shape      word of an atom   lane of the cell     column of the cell
//   32x32b     0                 l                    0
//   16x64b     0                 g + 8·(l % 2)        l / 2 % 2
//   16x128b    0, 1              g + 8·word           t
//   16x256b    0 … 3             g + 8·(word / 2)     2·t + word % 2
//   16x32bx2   0                 l % 16               0, from lane 16 on a constant further
//
// from lane 0 or 16 of the quarter on (the *slab*; 32x32b from lane 0 on). Words with the same
// corner make an atom; atoms side by side make one instruction, .x128 … .x1, widest first. Which
// register is which operand is free, so that registers may be in any order. 16-bit elements that
// have a column each are moved in pairs by .pack::16b and .unpack::16b.
//
// What is no such cell is declined: half a column, a lane of another warp's quarter, a pattern that
// no shape has. There is no way out through other instructions. The caller waits
// (tcgen05.wait::ld, ::st).
//
//     Tx.wg.copy_async(B_local[:, :], tmem[:, :])
//         B_local = S[(128,8):(1@tid_in_wg,1)], tmem = S[(128,8):(1@TLane,1@TCol)], float16
//
//     T.ptx.tcgen05.ld(tmem_addr[0], lane, 0, "32x32b", 4, False, local_32b[0], …, local_32b[3])
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/wide.h"
#include "ir/print/print.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/index_formula.h"
#include "lower/operand_places.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_tcgen05_ldst {
namespace {

// --- words ---------------------------------------------------------------------------------------

// The registers of a unit's warps, seen from tensor memory. A warp reaches the 32 lanes of its
// quarter (warp % 4) and moves 32 bits at a time, so that its registers are taken word by word:
// which cell of the quarter, a lane and a 32-bit column, does each lane of each warp hold there?
// Which shape of instruction has these cells is not asked here.

constexpr std::int64_t kWarpLanes = 32;

/// 32 bits of a warp's quarter of tensor memory.
struct QuarterCell {
  std::int64_t lane = -1;
  std::int64_t column = 0;

  friend auto operator<=>(const QuarterCell&, const QuarterCell&) = default;
};

/// A register word of all warps: the cell of each lane. Packed are two elements of 16 bits that
/// have a column each; the cell is that of the first.
struct TensorWord {
  std::int64_t slot = 0;  // first element
  bool is_packed = false;
  std::vector<bool> used = {};                       // by warp
  std::vector<std::vector<QuarterCell>> cells = {};  // by warp and lane

  /// Does no warp move it?
  [[nodiscard]] bool is_unused() const { return std::ranges::none_of(used, std::identity()); }
};

/// The registers of a call and what they stand for.
struct TensorPair {
  const Call& call;
  const OperandPlaces& own;
  const OperandPlaces& tensor;
  const std::vector<std::int64_t>& quarters;  // that the warps of the unit reach
};

constexpr std::int64_t kQuarters = 4;

class WordReader {
 public:
  explicit WordReader(const TensorPair& pair)
      : pair_(pair),
        own_(pair.own),
        tensor_(pair.tensor),
        map_(register_map(pair.call, own_, true)),
        per_word_(32 / own_.bits),
        warps_(std::ssize(pair.quarters)),
        base_lane_(tensor_base_lane(pair.call, pair.tensor)) {}

  Match<std::vector<TensorWord>> run() {
    std::vector<TensorWord> out;
    std::set<std::int64_t> firsts;
    for (std::int64_t slot = 0; slot < map_.slots; ++slot)
      if (map_.is_occupied(slot))
        firsts.insert(floor_div(slot + map_.first_slot, per_word_) * per_word_);
    for (const std::int64_t first : firsts) {
      TensorWord word{.slot = first};
      for (std::int64_t w = 0; w < warps_; ++w) WW_TRY_VOID(read_warp(word, w));
      out.push_back(std::move(word));
    }
    return out;
  }

 private:
  Match<void> read_warp(TensorWord& word, std::int64_t warp) {
    std::vector<QuarterCell> cells(as_index(kWarpLanes));
    std::int64_t held = 0;
    for (std::int64_t lane = 0; lane < kWarpLanes; ++lane) {
      std::vector<std::int64_t> parts;
      for (std::int64_t p = 0; p < per_word_; ++p) {
        const std::int64_t i = word.slot + p - map_.first_slot;
        if (i < 0 || i >= map_.slots) continue;
        if (const auto x = map_.at(i, warp * kWarpLanes + lane); x >= 0) parts.push_back(x);
      }
      if (parts.empty()) continue;
      if (std::ssize(parts) != per_word_)
        return decline("registers",
                       "the 32-bit word at register element {} of thread {} of the unit has {} of "
                       "its {} elements in the tile",
                       word.slot, warp * kWarpLanes + lane, parts.size(), per_word_);
      cells[as_index(lane)] = WW_TRY(cell_of_word(word, warp, lane, parts));
      ++held;
    }
    if (held != 0 && held != kWarpLanes)
      return decline("shape",
                     "the 32-bit word at register element {} is held by {} of the 32 lanes of "
                     "warp {}, expected all or none",
                     word.slot, held, warp);
    word.used.push_back(held != 0);
    word.cells.push_back(std::move(cells));
    return {};
  }

  // The replica of an element that is in the quarter that the warp reaches.
  Match<Shift> near_replica(std::size_t x, std::int64_t warp, std::int64_t lane) const {
    const std::int64_t quarter = pair_.quarters[as_index(warp)];
    for (const Shift& shift : tensor_.replicas)
      if (floor_div(tensor_.lane[x] + shift.lane + base_lane_, kWarpLanes) == quarter) return shift;
    return decline("lanes",
                   "thread {} of the unit holds an element of lane {} of tensor memory; its warp "
                   "reaches lanes {} to {}",
                   warp * kWarpLanes + lane, tensor_.lane[x] + base_lane_, quarter * kWarpLanes,
                   quarter * kWarpLanes + kWarpLanes - 1);
  }

  // The cell that the elements of a word make up, in the warp's quarter where there are several.
  Match<QuarterCell> cell_of_word(TensorWord& word, std::int64_t warp, std::int64_t lane,
                                  const std::vector<std::int64_t>& parts) {
    const auto first = as_index(parts[0]);
    const Shift shift = WW_TRY(near_replica(first, warp, lane));
    const std::int64_t at = tensor_.linear[first] + shift.place;
    // Columns of a pair each, or the parts of one.
    const bool is_packed = own_.bits == 16 && at % 2 == 0 && parts.size() == 2 &&
                           tensor_.linear[as_index(parts[1])] + shift.place == at + 2;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto x = as_index(parts[p]);
      const std::int64_t wanted = at + static_cast<std::int64_t>(p) * (is_packed ? 2 : 1);
      const std::int64_t place = tensor_.linear[x] + shift.place;
      if (place == wanted && tensor_.lane[x] == tensor_.lane[first] && at % per_word_ == 0)
        continue;
      return decline(
          "columns",
          "register element {} of thread {} of the unit goes with element {} of lane {}, "
          "which is not part {} of the 32-bit column of its word",
          word.slot + static_cast<std::int64_t>(p), warp * kWarpLanes + lane, place,
          tensor_.lane[x] + shift.lane, p);
    }
    const bool is_first = word.is_unused() && lane == 0;
    if (is_first) word.is_packed = is_packed;
    if (word.is_packed != is_packed)
      return decline("columns",
                     "the word at register element {} is a pair of columns in some "
                     "threads only",
                     word.slot);
    return QuarterCell{
        tensor_.lane[first] + shift.lane + base_lane_ - pair_.quarters[as_index(warp)] * kWarpLanes,
        floor_div(at * own_.bits, 32)};
  }

  const TensorPair& pair_;
  const OperandPlaces& own_;
  const OperandPlaces& tensor_;
  RegisterMap map_;
  std::int64_t per_word_;  // elements
  std::int64_t warps_;
  std::int64_t base_lane_;
};

// Which quarter each warp of a unit reaches. Declines units that differ in it.
Match<std::vector<std::int64_t>> quarters_of(const Call& call) {
  std::vector<std::int64_t> out;
  for (const std::int64_t first : call.unit_starts()) {
    std::vector<std::int64_t> here;
    for (std::int64_t w = 0; w < call.unit_threads() / kWarpLanes; ++w)
      here.push_back((first / kWarpLanes + w) % kQuarters);
    if (!out.empty() && out != here)
      return decline("lanes",
                     "warps {} and {} come here, which reach different lanes of tensor memory",
                     call.unit_starts().front() / kWarpLanes, first / kWarpLanes);
    out = std::move(here);
  }
  if (out.empty())
    for (std::int64_t w = 0; w < call.unit_threads() / kWarpLanes; ++w)
      out.push_back(w % kQuarters);
  return out;
}

// All words, in order of their slots. Declines words that are held in part, by part of a warp, or
// are no cell of their warp's quarter.
Match<std::vector<TensorWord>> read_tensor_words(const TensorPair& pair) {
  return WordReader(pair).run();
}

// For a store: what several warps hold is left to the first of them. Declines places of tensor
// memory that no warp both reaches and has.
Match<void> drop_repeated_stores(const TensorPair& pair, std::vector<TensorWord>& words) {
  const OperandPlaces& tensor = pair.tensor;
  const std::int64_t base_lane = tensor_base_lane(pair.call, tensor);
  std::set<std::pair<std::int64_t, QuarterCell>> stored;  // quarter, cell
  for (TensorWord& word : words)
    for (std::size_t w = 0; w < word.used.size(); ++w) {
      if (!word.used[w]) continue;
      bool is_new = false;
      for (const QuarterCell& cell : word.cells[w])
        for (std::int64_t h = 0; h < (word.is_packed ? 2 : 1); ++h)
          is_new = stored.insert({pair.quarters[w], {cell.lane, cell.column + h}}).second || is_new;
      word.used[w] = is_new;
    }
  std::set<std::pair<std::int64_t, QuarterCell>> meant;
  for (std::size_t x = 0; x < tensor.size(); ++x)
    for (const Shift& shift : tensor.replicas) {
      const std::int64_t lane = tensor.lane[x] + shift.lane + base_lane;
      const std::int64_t column = floor_div((tensor.linear[x] + shift.place) * pair.own.bits, 32);
      meant.insert(
          {floor_div(lane, kWarpLanes), {lane - floor_div(lane, kWarpLanes) * kWarpLanes, column}});
    }
  if (meant.size() != stored.size())
    return decline("replica",
                   "`{}` holds each element at {} places, {} of the {} cells are reached by a "
                   "warp that has them in registers",
                   pair.call.f()[tensor.buffer].name, tensor.replicas.size(), stored.size(),
                   meant.size());
  return {};
}

// --- instructions --------------------------------------------------------------------------------

// Instructions for the words of warps that read or write tensor memory: which shape has the cells
// of a word, which words make an *atom* of the shape, and which atoms one instruction. The shapes
// are in the table of tcgen05_ldst.cpp.

enum class TensorShape : std::uint8_t { S16x256b, S16x128b, S16x64b, S32x32b, S16x32bx2 };

struct TensorShapeFacts {
  TensorShape shape;
  std::string_view name;
  int words;    // of an atom
  int columns;  // of an atom
  int most;     // atoms of an instruction
};

/// One instruction.
struct TensorIssue {
  const TensorShapeFacts* shape = nullptr;
  std::int64_t num = 1;
  bool is_packed = false;
  std::int64_t split = 0;  // 16x32bx2: columns from the lower to the upper lanes
  // By warp of the unit: does it take part, and the corner within its quarter.
  std::vector<bool> used;
  std::vector<QuarterCell> corner;
  std::vector<std::int64_t> slots = {};  // first element of each register operand

  [[nodiscard]] std::string opcode(bool is_load) const {
    const std::string_view packing = is_load ? ".pack::16b" : ".unpack::16b";
    return fmt::format("tcgen05.{}.sync.aligned.{}.x{}{}.b32", is_load ? "ld" : "st", shape->name,
                       num, is_packed ? packing : "");
  }
  /// A part of the corners, by warp.
  [[nodiscard]] std::vector<std::int64_t> by_warp(std::int64_t QuarterCell::*part) const {
    std::vector<std::int64_t> out;
    for (const QuarterCell& cell : corner) out.push_back(cell.*part);
    return out;
  }
};

struct TensorIssues {
  std::vector<TensorIssue> issues;
  std::int64_t most_registers = 0;  // of one instruction; 0: no limit was met
};

constexpr TensorShapeFacts kTensorShapes[] = {{TensorShape::S16x256b, "16x256b", 4, 8, 32},
                                              {TensorShape::S16x128b, "16x128b", 2, 4, 64},
                                              {TensorShape::S16x64b, "16x64b", 1, 2, 128},
                                              {TensorShape::S32x32b, "32x32b", 1, 1, 128},
                                              {TensorShape::S16x32bx2, "16x32bx2", 1, 1, 128}};

QuarterCell cell_of(TensorShape shape, std::int64_t lane, std::int64_t word) {
  const std::int64_t g = lane / 4, t = lane % 4;
  switch (shape) {
    case TensorShape::S16x256b:
      return {g + 8 * (word / 2), 2 * t + word % 2};
    case TensorShape::S16x128b:
      return {g + 8 * word, t};
    case TensorShape::S16x64b:
      return {g + 8 * (lane % 2), lane / 2 % 2};
    case TensorShape::S32x32b:
      return {lane, 0};
    case TensorShape::S16x32bx2:
      break;
  }
  return {lane % 16, 0};
}

/// Where a word would be in an atom: what words of one atom have in common.
struct AtomCorner {
  std::vector<bool> used;
  std::vector<QuarterCell> at;  // by warp, within its quarter; the default where it takes no part
  std::int64_t split = 0;
  bool is_packed = false;

  friend auto operator<=>(const AtomCorner&, const AtomCorner&) = default;
};

class AtomFinder {
 public:
  AtomFinder(std::vector<TensorWord> words, std::int64_t threads)
      : words_(std::move(words)), threads_(threads) {}

  Match<TensorIssues> run() {
    for (const TensorWord& word : words_) taken_.push_back(word.is_unused());
    for (const TensorShapeFacts& facts : kTensorShapes) take_atoms(facts);
    if (std::ranges::find(taken_, false) != taken_.end()) return no_shape();
    limit_registers();
    for (const TensorShapeFacts& facts : kTensorShapes) issue(facts);
    const auto first_slot = [](const TensorIssue& issue) { return issue.slots.front(); };
    std::ranges::stable_sort(out_.issues, {}, first_slot);
    WW_TRY_VOID(check_corners());
    return std::move(out_);
  }

 private:
  // --- atoms ---

  std::optional<AtomCorner> corner_of(const TensorShapeFacts& facts, const TensorWord& word,
                                      std::int64_t position) const {
    const std::int64_t step = word.is_packed ? 2 : 1;
    AtomCorner out{.used = word.used, .at = {}, .split = 0, .is_packed = word.is_packed};
    bool has_split = false;
    for (std::size_t w = 0; w < word.used.size(); ++w) {
      out.at.emplace_back();
      if (!word.used[w]) continue;
      const QuarterCell zero = cell_of(facts.shape, 0, position);
      const QuarterCell corner{word.cells[w][0].lane - zero.lane,
                               word.cells[w][0].column - zero.column * step};
      if (corner.lane != 0 && (corner.lane != 16 || facts.shape == TensorShape::S32x32b))
        return std::nullopt;
      if (facts.shape == TensorShape::S16x32bx2) {
        const std::int64_t split = word.cells[w][16].column - corner.column;
        if (split < 0 || (has_split && split != out.split)) return std::nullopt;
        out.split = split;
        has_split = true;
      }
      for (std::int64_t lane = 0; lane < kWarpLanes; ++lane) {
        const QuarterCell offset = cell_of(facts.shape, lane, position);
        const std::int64_t further = lane >= 16 ? out.split : 0;
        const QuarterCell wanted{corner.lane + offset.lane,
                                 corner.column + offset.column * step + further};
        if (word.cells[w][as_index(lane)] != wanted) return std::nullopt;
      }
      out.at.back() = corner;
    }
    return out;
  }

  struct TensorAtom {
    AtomCorner corner;
    std::vector<std::size_t> words;
  };

  void take_atoms(const TensorShapeFacts& facts) {
    using Lists = std::vector<std::vector<std::size_t>>;  // by position
    std::map<AtomCorner, Lists> found;
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (int position = 0; position < facts.words && !taken_[i]; ++position)
        if (const auto corner = corner_of(facts, words_[i], position)) {
          Lists& lists = found[*corner];
          lists.resize(as_index(facts.words));
          lists[as_index(position)].push_back(i);
        }
    for (const auto& [corner, lists] : found) {
      std::size_t count = lists[0].size();
      for (const auto& list : lists) count = std::min(count, list.size());
      for (std::size_t k = 0; k < count; ++k) {
        TensorAtom atom{corner, {}};
        for (const auto& list : lists) atom.words.push_back(list[k]);
        const bool is_free =
            std::ranges::none_of(atom.words, [&](std::size_t i) { return taken_[i]; });
        if (!is_free) continue;
        for (const std::size_t i : atom.words) taken_[i] = true;
        atoms_[facts.shape].push_back(std::move(atom));
      }
    }
  }

  // The first word that no shape takes, and what its lanes hold.
  [[nodiscard]] Unexpected<Decline> no_shape() const {
    const auto i = as_index(std::ranges::find(taken_, false) - taken_.begin());
    const TensorWord& word = words_[i];
    const auto w = as_index(std::ranges::find(word.used, true) - word.used.begin());
    for (const TensorShapeFacts& facts : kTensorShapes)
      for (int position = 0; position < facts.words; ++position)
        if (facts.shape != TensorShape::S16x32bx2 && corner_of(facts, word, position))
          return decline("shape",
                         "the word at register element {} is one of the {} words of an atom of "
                         "{}, of which others are not in the tile",
                         word.slot, facts.words, facts.name);
    std::vector<std::string> seen;
    for (const std::size_t lane : {0U, 1U, 2U, 4U, 16U})
      seen.push_back(fmt::format("lane {}: ({}, {})", lane, word.cells[w][lane].lane,
                                 word.cells[w][lane].column));
    return decline("shape",
                   "no shape gives the word at register element {} of warp {} the cells (lane of "
                   "the quarter, column) that it holds: {}",
                   word.slot, w, join(seen, ", "));
  }

  // --- instructions ---

  // ptxas refuses an instruction whose registers do not fit beside a few others.
  void limit_registers() {
    constexpr std::int64_t kFile = 65536, kMax = 255, kOthers = 18;
    const std::int64_t threads = std::max<std::int64_t>(1, threads_);
    const std::int64_t all = std::min(kMax, kFile / threads / 8 * 8);
    const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(4, all - kOthers));
    most_registers_ = static_cast<std::int64_t>(std::bit_floor(room));
  }

  void issue(const TensorShapeFacts& facts) {
    auto& atoms = atoms_[facts.shape];
    const std::int64_t most = std::min<std::int64_t>(facts.most, most_registers_ / facts.words);
    std::vector<bool> done(atoms.size(), false);
    std::multimap<AtomCorner, std::size_t> by_corner;
    for (std::size_t i = 0; i < atoms.size(); ++i) by_corner.emplace(atoms[i].corner, i);
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (done[i]) continue;
      std::vector<std::size_t> chain;
      AtomCorner next = atoms[i].corner;
      for (std::size_t at = i; at < atoms.size();) {
        done[at] = true;
        chain.push_back(at);
        for (std::size_t w = 0; w < next.at.size(); ++w)
          if (next.used[w]) next.at[w].column += facts.columns * (next.is_packed ? 2 : 1);
        at = atoms.size();
        const auto [begin, end] = by_corner.equal_range(next);
        for (auto found = begin; found != end && at == atoms.size(); ++found)
          if (!done[found->second]) at = found->second;
      }
      for (std::size_t at = 0; at < chain.size();) {
        const auto left = static_cast<std::uint64_t>(chain.size() - at);
        const auto whole = static_cast<std::int64_t>(std::bit_floor(left));
        const std::int64_t num = std::min(whole, most);
        if (num < std::min<std::int64_t>(facts.most, whole)) out_.most_registers = most_registers_;
        add(facts, std::span(chain).subspan(at, as_index(num)));
        at += as_index(num);
      }
    }
  }

  void add(const TensorShapeFacts& facts, std::span<const std::size_t> chain) {
    const auto& atoms = atoms_[facts.shape];
    const AtomCorner& corner = atoms[chain[0]].corner;
    TensorIssue out{.shape = &facts,
                    .num = std::ssize(chain),
                    .is_packed = corner.is_packed,
                    .split = corner.split,
                    .used = corner.used,
                    .corner = corner.at};
    for (const std::size_t i : chain)
      for (const std::size_t word : atoms[i].words) out.slots.push_back(words_[word].slot);
    out_.issues.push_back(std::move(out));
  }

  // Corners that differ from warp to warp follow a formula of the warp.
  Match<void> check_corners() const {
    for (const TensorIssue& issue : out_.issues)
      for (const auto part : {&QuarterCell::lane, &QuarterCell::column})
        if (!fit_table(issue.by_warp(part), issue.used))
          return decline("irregular", "no formula gives the first column of every warp");
    return {};
  }

  std::vector<TensorWord> words_;
  std::int64_t threads_;
  std::vector<bool> taken_;
  std::map<TensorShape, std::vector<TensorAtom>> atoms_;
  std::int64_t most_registers_ = 0;
  TensorIssues out_;
};

// The instructions that move all words, in the order of registers, widest first. `threads` of a
// CTA share the register file. Declines words that no shape has, and corners that follow no
// formula.
Match<TensorIssues> tensor_issues(std::vector<TensorWord> words, std::int64_t threads) {
  return AtomFinder(std::move(words), threads).run();
}

// --- plan ----------------------------------------------------------------------------------------

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  bool is_load = true;
  std::vector<std::int64_t> quarters;  // of the unit's warps
  TensorIssues found;

  [[nodiscard]] const OperandPlaces& own() const { return is_load ? problem->dst : problem->src; }
  [[nodiscard]] const OperandPlaces& tensor() const {
    return is_load ? problem->src : problem->dst;
  }
};

// --- match ---------------------------------------------------------------------------------------

Match<void> check_sides(const Call& call, const Plan& plan) {
  const OperandPlaces& own = plan.own();
  const OperandPlaces& tensor = plan.tensor();
  if (own.bits > 32 || 32 % own.bits != 0)
    return decline("dtype", "elements of {} bits, expected 4, 8, 16 or 32", own.bits);
  if (!own.base_is_aligned(4))
    return decline("registers", "the first register is not known to begin a 32-bit word");
  if (tensor.base_divisor * tensor.bits % 32 != 0)
    return decline("columns",
                   "`{}` begins at `{}` elements of {} bits, known at run time only and not known "
                   "to be whole 32-bit columns",
                   call.f()[tensor.buffer].name, ir::print(call.f(), tensor.base), tensor.bits);
  if (!tensor.swizzle.is_none())
    return decline("swizzle", "`{}` in tensor memory is swizzled", call.f()[tensor.buffer].name);
  return {};
}

// Where .unpack::16b writes a half, it may change the other one.
Match<void> check_unpacked(const Call& call, const Plan& plan) {
  const bool unpacks = std::ranges::any_of(plan.found.issues, &TensorIssue::is_packed);
  if (plan.is_load || !unpacks) return {};
  const layout::TileLayout& tile = call.f()[plan.tensor().buffer].layout->tile();
  const auto is_odd = [](const layout::Iter& iter) {
    return iter.axis == layout::axes::tcol() && iter.extent > 1 && iter.stride % 2 != 0;
  };
  if (std::ranges::none_of(tile.shard(), is_odd) && std::ranges::none_of(tile.replica(), is_odd))
    return {};
  return decline("columns",
                 "`{}` has elements in the upper halves of columns whose lower halves "
                 "alone are stored",
                 call.f()[plan.tensor().buffer].name);
}

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.is_load = call.memory(0) == ir::Scope::Local;
  const ir::Scope own = call.memory(plan.is_load ? 0 : 1),
                  other = call.memory(plan.is_load ? 1 : 0);
  if (own != ir::Scope::Local || other != ir::Scope::Tmem)
    return other_memories(call, "tensor memory and registers");
  WW_TRY_VOID(check_target(call, plan.is_load ? "tcgen05.ld" : "tcgen05.st",
                           target::Feature::TensorMemory));
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  plan.quarters = WW_TRY(quarters_of(call));
  plan.problem = WW_TRY(copy_problem(call));
  WW_TRY_VOID(check_plain(*plan.problem));
  WW_TRY_VOID(check_settings(call));
  WW_TRY_VOID(check_sides(call, plan));
  const TensorPair pair{call, plan.own(), plan.tensor(), plan.quarters};
  auto words = WW_TRY(read_tensor_words(pair));
  if (!plan.is_load) WW_TRY_VOID(drop_repeated_stores(pair, words));
  plan.found = WW_TRY(tensor_issues(std::move(words), call.context.launch.threads()));
  WW_TRY_VOID(check_unpacked(call, plan));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), own_(plan.own()), tensor_(plan.tensor()) {
    const ir::Buffer& registers = call.f()[own_.buffer];
    const ExprId offset = registers.elem_offset;
    is_cast_ = !offset.valid() || code.constant(offset) == 0;
    const num::DType words = own_.bits == 32 || !is_cast_ ? own_.dtype : num::DType::Uint32;
    const std::int64_t per = num::bits_of(words) / own_.bits;
    const std::int64_t elements = view_elements(call, own_);
    per_view_ = per;
    flat_ = code.flat_view(own_.buffer, words, std::max<std::int64_t>(1, elements / per),
                           own_.bits == 32 || !is_cast_ ? "local" : "local_32b");
    const ExprId warp = code.simplify(code.div(call.unit_thread(code), kWarpLanes));
    warp_ = warp;
    lane_ = code.let("tmem_lane", quarter_lane(warp));
    base_ = call.f()[tensor_.buffer].allocated_addr;
    if (plan.found.issues.size() > 1) base_ = code.let("tmem_base", base_);
  }

  void write(const TensorIssue& issue) {
    std::vector<bool> threads;
    for (const bool used : issue.used) threads.insert(threads.end(), kWarpLanes, used);
    code_.guarded(member_expr(code_, call_.unit_thread(code_), threads), [&] {
      std::vector<ir::PtxOperand> operands = registers(issue);
      std::vector<ir::PtxOperand> place{address(issue)};
      if (issue.shape->shape == TensorShape::S16x32bx2)
        place.push_back({.expr = code_.n(issue.split)});
      operands.insert(plan_.is_load ? operands.end() : operands.begin(), place.begin(),
                      place.end());
      code_.ptx(issue.opcode(plan_.is_load), std::move(operands));
    });
  }

 private:
  using ExprId = ir::ExprId;

  // The first lane of the warp's quarter.
  ExprId quarter_lane(ExprId warp) {
    const auto form = fit_table(plan_.quarters);
    WW_CHECK(form.has_value(), "the quarters of warps follow no formula");
    return code_.simplify(code_.mul(digits_expr(code_, *form, warp), kWarpLanes));
  }

  std::vector<ir::PtxOperand> registers(const TensorIssue& issue) {
    std::vector<ir::PtxOperand> out;
    for (const std::int64_t slot : issue.slots) {
      ExprId at = code_.n(slot);
      if (own_.base.valid()) at = code_.add(own_.base, at);
      at = code_.simplify(code_.div(at, per_view_));
      if (is_cast_)
        out.push_back({.expr = code_.load(flat_, {at})});
      else
        out.push_back(register_operand(code_, flat_, at));
    }
    return out;
  }

  ir::PtxOperand address(const TensorIssue& issue) {
    const auto part = [&](std::int64_t QuarterCell::*which) {
      const auto form = fit_table(issue.by_warp(which), issue.used);
      return code_.simplify(digits_expr(code_, *form, warp_));
    };
    const ExprId lane = code_.add(lane_, part(&QuarterCell::lane));
    const ExprId row = code_.simplify(code_.add(lane, -tensor_base_lane(call_, tensor_)));
    const ExprId at = tensor_address(code_, tensor_, base_, row, part(&QuarterCell::column));
    return address_operand(at);
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  const OperandPlaces& own_;
  const OperandPlaces& tensor_;
  bool is_cast_ = true;  // the registers are seen as 32-bit words
  std::int64_t per_view_ = 1;
  ir::BufferId flat_;
  ExprId warp_, lane_, base_;
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer writer(plan, call, code);
  for (const TensorIssue& issue : plan.found.issues) writer.write(issue);
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  std::set<std::int64_t> slabs;
  std::vector<std::string> kinds;
  std::vector<std::int64_t> of_warp(plan.quarters.size(), 0);
  for (const TensorIssue& issue : plan.found.issues) {
    const auto registers = std::ssize(issue.slots);
    out.add_instruction(issue.opcode(plan.is_load), 1, registers * 4);
    std::string kind = fmt::format(".{}.x{}", issue.shape->name, issue.num);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    for (std::size_t w = 0; w < issue.used.size(); ++w) {
      if (!issue.used[w]) continue;
      ++of_warp[w];
      if (issue.shape->shape != TensorShape::S32x32b) slabs.insert(issue.corner[w].lane);
    }
  }
  const std::int64_t most = *std::ranges::max_element(of_warp);
  out.rounds = most;
  out.summary = fmt::format("tcgen05.{} {}, {} per warp", plan.is_load ? "ld" : "st",
                            join(kinds, " and "), most);
  std::string shape = "32 lanes of each warp's quarter at a time";
  if (!slabs.empty())
    shape = fmt::format("slabs of 16 lanes, from lane {} of each warp's quarter on",
                        join(slabs, " and "));
  out.notes.push_back(std::move(shape));
  const auto idle = std::ranges::count(of_warp, 0);
  if (idle != 0)
    out.notes.push_back(fmt::format("{} of {} warps move nothing", idle, of_warp.size()));
  if (plan.found.most_registers != 0)
    out.notes.push_back(
        fmt::format("at most {} registers per instruction: {} threads share the "
                    "register file",
                    plan.found.most_registers, call.context.launch.threads()));
  out.notes.push_back(
      fmt::format("done at the caller's tcgen05.wait::{}", plan.is_load ? "ld" : "st"));
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "tcgen05_ldst",
     .aliases = "tmem<->local",
     .about = "tensor memory to and from registers, a quarter per warp"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_tcgen05_ldst
