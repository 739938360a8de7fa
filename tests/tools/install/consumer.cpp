// SPDX-License-Identifier: Apache-2.0
// Element (1,3) of an 8x8 fragment is in lane 5, register 1.
#include <cstdio>

#include "layout/apply.h"
#include "layout/text.h"

int main() {
  const auto layout = ww::layout::parse_layout("S[(8,4,2):(4@laneid,1@laneid,1)]");
  const auto place = ww::layout::apply(*layout, 8 * 1 + 3);
  for (const auto& [axis, value] : *place) {
    std::printf("%s\n", ww::layout::place_text(value, axis).c_str());
  }
  return place->size() == 2 && (*place)[0].value == 5 && (*place)[1].value == 1 ? 0 : 1;
}
