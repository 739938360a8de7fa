// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/tile_digits.h"

#include <algorithm>

#include "ir/tensor_map.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

// Of one coordinate, whose places begin with 0.
std::optional<std::vector<Digit>> digits_of(const std::vector<std::int64_t>& places,
                                            std::size_t dim) {
  const auto count = std::ssize(places);
  std::vector<Digit> out;
  for (std::int64_t weight = 1; weight < count;) {
    const std::int64_t distance = places[as_index(weight)];
    std::int64_t run = 1;
    while (weight * run < count && places[as_index(weight * run)] == run * distance) ++run;
    while (run > 1 && count / weight % run != 0) --run;
    if (run == 1) return std::nullopt;
    out.push_back({dim, weight, run, distance});
    weight *= run;
  }
  for (std::int64_t c = 0; c < count; ++c) {
    std::int64_t sum = 0;
    for (const Digit& digit : out) sum += c / digit.weight % digit.extent * digit.distance;
    if (sum != places[as_index(c)]) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<std::vector<Digit>> tile_digits(const OperandPlaces& shared,
                                              std::span<const std::int64_t> counts) {
  std::vector<std::vector<std::int64_t>> tables;
  std::vector<Digit> out;
  std::int64_t inner = std::ssize(shared.linear);
  for (std::size_t d = 0; d < counts.size(); ++d) {
    inner /= counts[d];
    std::vector<std::int64_t> table;
    for (std::int64_t c = 0; c < counts[d]; ++c)
      table.push_back(shared.linear[as_index(c * inner)] - shared.linear[0]);
    const auto digits = digits_of(table, d);
    if (!digits) return std::nullopt;
    out.insert(out.end(), digits->begin(), digits->end());
    tables.push_back(std::move(table));
  }
  // The distances of several coordinates add up.
  for (std::size_t x = 0; x < shared.size(); ++x) {
    auto rest = static_cast<std::int64_t>(x);
    std::int64_t sum = shared.linear[0];
    for (std::size_t d = counts.size(); d-- > 0; rest /= counts[d])
      sum += tables[d][as_index(rest % counts[d])];
    if (sum != shared.linear[x]) return std::nullopt;
  }
  std::ranges::sort(out, {}, &Digit::distance);
  return out;
}

std::vector<Digit> cut_digits(std::vector<Digit> digits, std::int64_t longest_row) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::int64_t limit = i == 0 ? std::min(longest_row, ir::kMaxMapBox) : ir::kMaxMapBox;
    std::int64_t part = std::min(limit, digits[i].extent);
    while (digits[i].extent % part != 0) --part;
    if (part == digits[i].extent) continue;
    Digit upper = digits[i];
    upper.weight *= part;
    upper.distance *= part;
    upper.extent /= part;
    digits[i].extent = part;
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(i) + 1, upper);
  }
  return digits;
}

}  // namespace ww::lower
