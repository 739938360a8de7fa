// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/tensor_words.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/wide.h"
#include "lower/as_index.h"
#include "lower/copy_async/tensor_address.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kQuarters = 4;

class WordReader {
 public:
  explicit WordReader(const TensorPair& pair)
      : pair_(pair),
        own_(pair.own),
        tensor_(pair.tensor),
        per_word_(32 / own_.bits),
        warps_(std::ssize(pair.quarters)),
        base_lane_(tensor_base_lane(pair.call, pair.tensor)) {}

  Match<std::vector<TensorWord>> run() {
    const auto elements = holders();
    std::vector<TensorWord> out;
    std::set<std::int64_t> firsts;
    for (const auto& [slot, row] : elements) firsts.insert(floor_div(slot, per_word_) * per_word_);
    for (const std::int64_t first : firsts) {
      TensorWord word{.slot = first};
      for (std::int64_t w = 0; w < warps_; ++w) WW_TRY_VOID(read_warp(word, w, elements));
      out.push_back(std::move(word));
    }
    return out;
  }

 private:
  // By slot and thread of the unit, every holder: element of the tile.
  [[nodiscard]] std::map<std::int64_t, std::vector<std::int64_t>> holders() const {
    std::map<std::int64_t, std::vector<std::int64_t>> out;
    const std::int64_t threads = warps_ * kWarpLanes;
    for_each_holder(own_, threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
      auto& row = out[slot];
      if (row.empty()) row.assign(as_index(threads), -1);
      row[as_index(u)] = static_cast<std::int64_t>(x);
    });
    return out;
  }

  Match<void> read_warp(TensorWord& word, std::int64_t warp,
                        const std::map<std::int64_t, std::vector<std::int64_t>>& elements) {
    std::vector<QuarterCell> cells(as_index(kWarpLanes));
    std::int64_t held = 0;
    for (std::int64_t lane = 0; lane < kWarpLanes; ++lane) {
      std::vector<std::int64_t> parts;
      for (std::int64_t p = 0; p < per_word_; ++p) {
        const auto row = elements.find(word.slot + p);
        const auto u = as_index(warp * kWarpLanes + lane);
        const std::int64_t x = row == elements.end() ? -1 : row->second[u];
        if (x >= 0) parts.push_back(x);
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
  std::int64_t per_word_;  // elements
  std::int64_t warps_;
  std::int64_t base_lane_;
};

}  // namespace

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

bool TensorWord::is_unused() const { return std::ranges::none_of(used, std::identity()); }

Match<std::vector<TensorWord>> read_tensor_words(const TensorPair& pair) {
  return WordReader(pair).run();
}

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

}  // namespace ww::lower
