// SPDX-License-Identifier: Apache-2.0
#include "lower/convert/items.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lower/copy/problem.h"

namespace ww::lower {
namespace {

constexpr int kItemWordBits = 32;

/// Which elements an item consists of, by the first of them.
using Joints = std::unordered_map<std::int32_t, std::vector<std::int32_t>>;

std::int32_t element_at(const RegisterMap& map, std::int64_t slot, std::int64_t u) {
  const std::int64_t i = slot - map.first_slot;
  return i < 0 || i >= map.slots ? kNoItem : map.at(i, u);
}

// `parts` elements as one item, where they are together in every thread and as in all others.
std::optional<ItemTable> joined(const RegisterMap& map, std::int64_t parts, Joints& groups) {
  const std::int64_t end = (map.first_slot + map.slots + parts - 1) / parts;
  ItemTable out{
      .first_slot = map.first_slot / parts, .slots = 0, .threads = map.threads, .cells = {}};
  out.slots = end - out.first_slot;
  std::vector<std::int32_t> group(as_index(parts));
  for (std::int64_t k = out.first_slot; k < end; ++k)
    for (std::int64_t u = 0; u < map.threads; ++u) {
      for (std::int64_t i = 0; i < parts; ++i)
        group[as_index(i)] = element_at(map, k * parts + i, u);
      out.cells.push_back(group[0]);
      const auto missing = std::ranges::count(group, kNoItem);
      if (missing == parts) continue;
      if (missing != 0) return std::nullopt;
      const auto [known, is_new] = groups.emplace(group[0], group);
      if (!is_new && known->second != group) return std::nullopt;
    }
  return out;
}

std::optional<CopyItems> items_of(const RegisterMap& dst, const RegisterMap& src, int element_bits,
                                  int bits) {
  Joints groups;
  auto to = joined(dst, bits / element_bits, groups);
  if (!to) return std::nullopt;
  const std::size_t wanted = groups.size();
  auto from = joined(src, bits / element_bits, groups);
  if (!from || groups.size() != wanted) return std::nullopt;
  return CopyItems{.bits = bits, .per_word = 1, .dst = *std::move(to), .src = *std::move(from)};
}

// Does the table consist of whole words, all of whose items a thread has, or none?
bool has_whole_words(const ItemTable& items, std::int64_t per_word) {
  if (items.first_slot % per_word != 0 || items.slots % per_word != 0) return false;
  for (std::int64_t k = 0; k < items.slots; ++k)
    for (std::int64_t u = 0; u < items.threads; ++u)
      if ((items.at(k, u) == kNoItem) != (items.at(k - k % per_word, u) == kNoItem)) return false;
  return true;
}

}  // namespace

Match<CopyItems> copy_items(const Call& call, const CopyProblem& problem) {
  const RegisterMap dst = register_map(call, problem.dst, true);
  const RegisterMap src = register_map(call, problem.src, true);
  const int element = problem.dst.bits;
  const auto is_aligned = [&](int bits) {
    return problem.dst.base_is_aligned(bits / 8) && problem.src.base_is_aligned(bits / 8);
  };
  for (const int bits : {64, 32, 16, 8}) {
    if (bits < element || (bits > element && bits > kItemWordBits) || !is_aligned(bits)) continue;
    auto items = items_of(dst, src, element, bits);
    if (!items) continue;
    const std::int64_t per_word = std::max(1, kItemWordBits / bits);
    if (per_word > 1 && is_aligned(kItemWordBits) && has_whole_words(items->dst, per_word) &&
        has_whole_words(items->src, per_word))
      items->per_word = per_word;
    return *std::move(items);
  }
  return decline("sub_byte", "elements of {} bits that share a byte go to different places",
                 element);
}

}  // namespace ww::lower
