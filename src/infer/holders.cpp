// SPDX-License-Identifier: Apache-2.0
#include "infer/holders.h"

#include <algorithm>

#include "layout/image.h"

namespace ww::infer {

std::optional<Holders> holders_of(const layout::Layout& layout) {
  constexpr std::int64_t kMaxPlaces = std::int64_t{1} << 20U;
  if (layout.size() > kMaxPlaces / layout.copies()) return std::nullopt;
  const Result<layout::Image> image = layout::enumerate(layout);
  if (!image) return std::nullopt;
  Holders out(static_cast<std::size_t>(image->size));
  for (std::size_t i = 0; i < out.size() * static_cast<std::size_t>(image->copies); ++i) {
    std::int64_t thread = 0;
    for (std::size_t a = 0; a < image->axes.size(); ++a)
      if (image->axes[a].is_thread())
        thread += image->values[a][i] * image->axes[a].facts().divisor;
    out[i % out.size()].push_back(thread);
  }
  for (std::vector<std::int64_t>& each : out) {
    std::ranges::sort(each);
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  return out;
}

bool have(const Holders& held, const Holders& wanted) {
  if (held.size() != wanted.size()) return false;
  for (std::size_t x = 0; x < held.size(); ++x)
    if (!std::ranges::includes(held[x], wanted[x])) return false;
  return true;
}

}  // namespace ww::infer
