// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/tensor_issues.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "base/join.h"
#include "lower/as_index.h"
#include "lower/index_formula.h"

namespace ww::lower {

std::string TensorIssue::opcode(bool is_load) const {
  const std::string_view packing = is_load ? ".pack::16b" : ".unpack::16b";
  return fmt::format("tcgen05.{}.sync.aligned.{}.x{}{}.b32", is_load ? "ld" : "st", shape->name,
                     num, is_packed ? packing : "");
}

std::vector<std::int64_t> TensorIssue::by_warp(std::int64_t QuarterCell::*part) const {
  std::vector<std::int64_t> out;
  for (const QuarterCell& cell : corner) out.push_back(cell.*part);
  return out;
}

namespace {

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

}  // namespace

Match<TensorIssues> tensor_issues(std::vector<TensorWord> words, std::int64_t threads) {
  return AtomFinder(std::move(words), threads).run();
}

}  // namespace ww::lower
