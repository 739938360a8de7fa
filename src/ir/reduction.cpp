// SPDX-License-Identifier: Apache-2.0
#include "ir/reduction.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "ir/settings.h"

namespace ww::ir {

bool is_reduction(TileOp op) {
  switch (op) {
    case TileOp::Sum:
    case TileOp::Prod:
    case TileOp::Max:
    case TileOp::Min:
    case TileOp::Any:
    case TileOp::All:
    case TileOp::Argmax:
    case TileOp::Argmin:
      return true;
    default:
      return false;
  }
}

bool gives_index(TileOp op) { return op == TileOp::Argmax || op == TileOp::Argmin; }

ExprOp folding_operator(TileOp op) {
  if (op == TileOp::Sum) return ExprOp::Add;
  if (op == TileOp::Prod) return ExprOp::Mul;
  return op == TileOp::Max || op == TileOp::Any || op == TileOp::Argmax ? ExprOp::Max : ExprOp::Min;
}

num::DType fold_type(num::DType dtype) {
  if (num::bits_of(dtype) >= 32) return dtype;
  return is_float(dtype) ? num::DType::Float32 : num::DType::Int32;
}

bool is_ordered_fold(ExprOp op, num::DType type) {
  return is_float(type) && (op == ExprOp::Add || op == ExprOp::Mul);
}

bool accumulates(const TileCall& call) { return call.args.size() > 3 && is_true(call.args[3]); }

// One is a number, several are a text: "0, 2".
std::vector<std::int64_t> folded_axes(const TileCall& call) {
  const auto* setting = std::get_if<Setting>(&call.args[2]);
  if (setting == nullptr) return {-1};
  if (const auto* axis = std::get_if<std::int64_t>(setting)) return {*axis};
  std::vector<std::int64_t> out;
  const auto* text = std::get_if<std::string>(setting);
  if (text == nullptr) return out;
  const char* at = text->data();
  const char* end = at + text->size();
  while (at != end) {
    std::int64_t axis = 0;
    const auto [next, error] = std::from_chars(at, end, axis);
    if (error == std::errc{}) out.push_back(axis);
    at = error == std::errc{} ? next : at + 1;
  }
  return out;
}

std::vector<bool> folded_dimensions(const TileCall& call) {
  const std::size_t rank = std::get<Region>(call.args[1]).ranges.size();
  std::vector<bool> out(rank);
  for (const std::int64_t axis : folded_axes(call))
    out[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)] = true;
  return out;
}

namespace {

using Numbers = std::vector<std::int64_t>;

std::size_t as_place(std::int64_t x) { return static_cast<std::size_t>(x); }

/// visit(coordinates), of all elements in row-major order.
template <typename Visit>
void for_each_element(std::span<const std::int64_t> extents, Visit&& visit) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  Numbers at(extents.size());
  for (std::int64_t x = 0; x < count; ++x) {
    visit(at);
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++at[d] < extents[d]) break;
      at[d] = 0;
    }
  }
}

std::int64_t greatest_divisor(std::int64_t of, std::int64_t most) {
  for (std::int64_t d = std::min(of, most); d > 1; --d)
    if (of % d == 0) return d;
  return 1;
}

std::int64_t rounded_up(std::int64_t x) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(x)));
}

/// Of some dimensions: how much of each goes over threads, from the last one on, and what is left.
class Digits {
 public:
  Digits(std::span<const std::int64_t> extents, const std::vector<bool>& is_mine, bool is_wanted,
         std::int64_t most)
      : extents_(extents), taken_(extents.size(), 0) {
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (is_mine[d] != is_wanted || extents[d] == 0) continue;
      taken_[d] = greatest_divisor(extents[d], most / count_);
      count_ *= taken_[d];
      left_ *= extents[d] / taken_[d];
      if (taken_[d] < extents[d]) most = count_;  // no more
    }
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t left() const { return left_; }
  [[nodiscard]] std::int64_t over_threads(const Numbers& at) const {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < taken_.size(); ++d)
      if (taken_[d] > 0) out = out * taken_[d] + at[d] % taken_[d];
    return out;
  }
  [[nodiscard]] std::int64_t over_slots(const Numbers& at) const {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < taken_.size(); ++d)
      if (taken_[d] > 0) out = out * (extents_[d] / taken_[d]) + at[d] / taken_[d];
    return out;
  }

 private:
  std::span<const std::int64_t> extents_;
  Numbers taken_;  // 0: of another kind
  std::int64_t count_ = 1, left_ = 1;
};

bool is_last_folded(std::span<const std::int64_t> extents, const std::vector<bool>& is_folded) {
  for (std::size_t d = extents.size(); d-- > 0;)
    if (extents[d] != 1) return is_folded[d];
  return true;
}

}  // namespace

FoldMap fold_map(std::span<const std::int64_t> extents, const std::vector<bool>& is_folded) {
  FoldMap out;
  for (std::size_t d = 0; d < extents.size(); ++d)
    (is_folded[d] ? out.folded : out.results) *= extents[d];
  for_each_element(extents, [&](const Numbers& at) {
    std::int64_t into = 0, index = 0;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      std::int64_t& number = is_folded[d] ? index : into;
      number = number * extents[d] + at[d];
    }
    out.into.push_back(into);
    out.index.push_back(index);
  });
  return out;
}

MemoryShare memory_share(std::span<const std::int64_t> extents, const std::vector<bool>& is_folded,
                         std::int64_t threads) {
  constexpr std::int64_t kLanes = 32;
  const FoldMap map = fold_map(extents, is_folded);
  const bool is_side_by_side = is_last_folded(extents, is_folded);
  const auto all = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(threads)));
  const std::int64_t each =
      std::max<std::int64_t>(1, all / rounded_up(std::max<std::int64_t>(1, map.results)));
  const std::int64_t wanted = is_side_by_side ? std::min(all, std::max(each, kLanes)) : each;
  const Digits parts(extents, is_folded, true, threads % kLanes == 0 ? wanted : 1);
  const std::int64_t width = rounded_up(parts.count());
  const Digits results(extents, is_folded, false, all / width);
  const std::int64_t stride = is_side_by_side ? width : rounded_up(results.count());
  MemoryShare out;
  out.parts = parts.count();
  out.result_thread.resize(as_place(map.results));
  out.result_slot.resize(as_place(map.results));
  std::size_t x = 0;
  for_each_element(extents, [&](const Numbers& at) {
    const std::int64_t part = parts.over_threads(at), result = results.over_threads(at);
    const std::int64_t first = is_side_by_side ? result * stride : result;
    const std::int64_t row = results.over_slots(at);
    out.thread.push_back(first + (is_side_by_side ? part : part * stride));
    out.slot.push_back(row * parts.left() + parts.over_slots(at));
    out.result_thread[as_place(map.into[x])] = first;
    out.result_slot[as_place(map.into[x])] = row;
    ++x;
  });
  return out;
}

std::optional<ClusterShare> cluster_share(std::span<const std::int64_t> extents,
                                          const std::vector<bool>& is_folded, std::int64_t ctas,
                                          std::int64_t threads) {
  std::optional<std::size_t> found;
  for (const bool wanted : {true, false})
    for (std::size_t d = 0; d < extents.size() && !found; ++d)
      if (is_folded[d] == wanted && extents[d] % ctas == 0) found = d;
  if (!found) return std::nullopt;
  ClusterShare out;
  out.dimension = *found;
  out.part.assign(extents.begin(), extents.end());
  const std::int64_t whole = extents[*found], part = whole / ctas;
  out.part[*found] = part;
  out.share = memory_share(out.part, is_folded, threads);
  std::int64_t count = 1, inner = 1;  // elements, and of what is behind the dimension
  for (std::size_t d = 0; d < extents.size(); ++d) {
    count *= extents[d];
    if (d > *found) inner *= extents[d];
  }
  for (std::int64_t x = 0; x < count; ++x) {
    const std::int64_t at = x / inner % whole, outer = x / inner / whole;
    out.cta.push_back(at / part);
    out.index.push_back((outer * part + at % part) * inner + x % inner);
  }
  return out;
}

}  // namespace ww::ir
