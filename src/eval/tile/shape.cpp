// SPDX-License-Identifier: Apache-2.0
#include "eval/tile/shape.h"

#include <numeric>

namespace ww::eval {
namespace {

std::size_t count_of(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return static_cast<std::size_t>(count);
}

// Numbers that elements of a shape get with a stride per dimension.
std::vector<std::size_t> strided(std::span<const std::int64_t> extents,
                                 std::span<const std::int64_t> strides) {
  std::vector<std::size_t> out{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::size_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(extents[d]));
    for (const std::size_t base : out)
      for (std::int64_t k = 0; k < extents[d]; ++k)
        next.push_back(base + static_cast<std::size_t>(k * strides[d]));
    out = std::move(next);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> flat_indices(std::span<const std::int64_t> shape,
                                       std::span<const std::int64_t> mins,
                                       std::span<const std::int64_t> extents, std::size_t count) {
  std::vector<std::int64_t> out{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(extents[d]));
    for (const std::int64_t base : out)
      for (std::int64_t k = 0; k < extents[d]; ++k) next.push_back(base * shape[d] + mins[d] + k);
    out = std::move(next);
  }
  out.resize(count);
  return out;
}

std::vector<bool> outside_of(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> mins,
                             std::span<const std::int64_t> extents, std::size_t count) {
  std::vector<bool> out{false};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<bool> next;
    next.reserve(out.size() * static_cast<std::size_t>(extents[d]));
    for (const bool is_outside : out)
      for (std::int64_t k = 0; k < extents[d]; ++k)
        next.push_back(is_outside || mins[d] + k < 0 || mins[d] + k >= shape[d]);
    out = std::move(next);
  }
  out.resize(count);
  return out;
}

layout::Shape squeezed(std::span<const std::int64_t> extents) {
  layout::Shape out;
  for (const std::int64_t extent : extents)
    if (extent != 1) out.push_back(extent);
  return out;
}

std::optional<std::vector<std::size_t>> broadcast_map(std::span<const std::int64_t> like,
                                                      std::span<const std::int64_t> from) {
  if (squeezed(like) == squeezed(from)) {
    std::vector<std::size_t> same(count_of(like));
    std::iota(same.begin(), same.end(), std::size_t{0});
    return same;
  }
  std::vector<std::int64_t> strides(like.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t back = 1; back <= from.size(); ++back) {
    const std::int64_t extent = from[from.size() - back];
    if (back > like.size()) {
      if (extent != 1) return std::nullopt;
      continue;
    }
    const std::size_t d = like.size() - back;
    if (extent != 1 && extent != like[d]) return std::nullopt;
    strides[d] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strided(like, strides);
}

std::optional<Folding> folding(std::span<const std::int64_t> extents,
                               std::span<const std::int64_t> axes) {
  const auto rank = static_cast<std::int64_t>(extents.size());
  std::vector<char> vanishes(extents.size(), 0);
  for (const std::int64_t axis : axes) {
    const std::int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank) return std::nullopt;
    vanishes[static_cast<std::size_t>(d)] = 1;
  }
  Folding out;
  std::vector<std::int64_t> strides(extents.size(), 0);
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (vanishes[d] != 0) continue;
    strides[d] = static_cast<std::int64_t>(out.count);
    out.count *= static_cast<std::size_t>(extents[d]);
  }
  out.into = strided(extents, strides);
  return out;
}

}  // namespace ww::eval
