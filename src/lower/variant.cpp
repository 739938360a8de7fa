// SPDX-License-Identifier: Apache-2.0
#include "lower/variant.h"

#include <algorithm>

#include "base/split.h"

namespace ww::lower {
std::vector<const Variant*> all_variants() {
  std::vector<const Variant*> out;
#define WW_VARIANTS(op, file) \
  for (const Variant& each : op##_##file::variants) out.push_back(&each);
#include "lower/variants.def"
#undef WW_VARIANTS
  return out;
}

std::vector<const Variant*> variants_of(ir::TileOp op) {
  std::vector<const Variant*> out = all_variants();
  std::erase_if(out, [&](const Variant* each) { return each->op != op; });
  std::ranges::sort(out, [](const Variant* a, const Variant* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->name < b->name;
  });
  return out;
}

bool answers_to(const Variant& variant, std::string_view name) {
  return variant.name == name || std::ranges::count(split_words(variant.aliases), name) != 0;
}

}  // namespace ww::lower
