// SPDX-License-Identifier: Apache-2.0
// What is seen from strides alone of spans and collisions is what enumeration finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string_view>

#include "layout/image.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

class RandomLayouts {
 public:
  Layout next() {
    while (true) {
      Iters shard, replica;
      for (int i = below(4); i >= 0; --i) shard.push_back(iter());
      if (below(4) == 0) replica.push_back(iter());
      Offsets offset;
      if (below(4) == 0) offset.add(axes::m(), below(9));
      auto tile = TileLayout::make(shard, replica, offset);
      if (!tile || tile->size() * tile->copies() > 4096) continue;
      const Swizzle swizzle = below(2) == 0
                                  ? Swizzle()
                                  : Swizzle::make(below(3), 2, 2 + below(2), below(2) == 0).value();
      if (auto layout = Layout::make(*tile, swizzle)) return *layout;
    }
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  Iter iter() {
    constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 8},
                           kStrides[] = {1, 2, 3, 4, 8, 16, 32, 0, -8};
    const Axis axis = below(3) == 0 ? axes::laneid() : axes::m();
    return {kExtents[below(5)], kStrides[below(9)], axis};
  }
  std::mt19937 random_{7};
};

TEST(ClosedForm, SpansAndCollisionsAreThoseOfTheImage) {
  RandomLayouts layouts;
  int injective = 0, swizzled = 0;
  for (int i = 0; i < 3000; ++i) {
    const Layout layout = layouts.next();
    const Image image = enumerate(layout).value();
    const auto places = image.on(axes::m());
    const std::int64_t end = places.empty() ? 1 : 1 + *std::ranges::max_element(places);
    EXPECT_EQ(span_on(layout, axes::m()).value(), end) << to_text(layout);
    const ImageFacts facts = image_facts(layout).value();
    EXPECT_EQ(find_collision(layout).value().has_value(), !facts.is_injective) << to_text(layout);
    injective += facts.is_injective ? 1 : 0;
    swizzled += layout.is_swizzled() ? 1 : 0;
  }
  EXPECT_GT(injective, 300);
  EXPECT_GT(swizzled, 1000);
}

TEST(ClosedForm, TellsOfLayoutsThatAreTooLargeToEnumerate) {
  const auto collides = [](std::string_view text) -> std::optional<bool> {
    const auto found = find_collision(parse_layout(text).value());
    return found ? std::optional(found->has_value()) : std::nullopt;
  };
  EXPECT_EQ(collides("S[(8192,8192):(8200,1)]"), false);
  EXPECT_EQ(collides("S[(8192,8192):(8000,1)]"), std::nullopt);  // only enumeration would tell
}

}  // namespace
}  // namespace ww::layout
