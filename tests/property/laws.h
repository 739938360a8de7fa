// SPDX-License-Identifier: Apache-2.0
// What the law tests share: short ways from a case to layouts, and from a disagreement to a
// sentence.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/diag.h"
#include "layout/canonical.h"
#include "property/cases.h"
#include "property/generate.h"
#include "property/oracle.h"

namespace ww::test {

inline constexpr Complaint kFine = std::nullopt;

inline layout::Layout layout_of(const Operand& operand) { return build(operand.parts).value(); }

inline Ints begins_of(const Operand& operand) {
  Ints out;
  for (const RegionSide& side : operand.region) out.push_back(side.begin);
  return out;
}

inline Ints extents_of(const Operand& operand) {
  Ints out;
  for (const RegionSide& side : operand.region) out.push_back(side.extent);
  return out;
}

/// "slice gave S[4:1]: element 2 is at …", or nothing when the table is right.
inline Complaint unless_table(std::string_view what, const layout::Layout& got, const Table& want) {
  const auto wrong = difference(table_of(read(got)), want);
  if (!wrong) return kFine;
  return fmt::format("{} gave {}: {}", what, notation(read(got)), *wrong);
}

inline std::string refusal(std::string_view what, const Diag& why) {
  return fmt::format("{} refused though there is an answer: {} [{}]", what, why.text,
                     name_of(why.kind));
}

/// Canonical forms agree. A shard that holds one element may be written as nothing or as one unit
/// iter.
inline bool same_canonical(const layout::Layout& a, const layout::Layout& b) {
  const auto spelled = [](const layout::Layout& l) {
    OLayout parts = read(layout::canonicalize(l));
    if (size_of(parts) == 1) parts.shard.clear();
    return parts;
  };
  return spelled(a) == spelled(b);
}

/// Extents from 1 up, replicas and offsets, no swizzle.
inline Case one_layout(Rng& rng, const Wish& wish = {}) {
  return {.operands = {{.parts = random_layout(rng, wish)}}};
}

/// The same with an admitted shape, half of the time one that follows the iters.
inline Case layout_and_shape(Rng& rng, const Wish& wish = {}) {
  Operand operand{.parts = random_layout(rng, wish)};
  operand.shape =
      rng.one_in(2) ? shape_along(rng, operand.parts) : random_shape(rng, size_of(operand.parts));
  return {.operands = {operand}};
}

/// The axes that exist for users: threads of several cuts, memories, a device, one of unknown kind.
inline std::vector<std::string> many_axes() {
  return {"m",    "laneid", "warpid", "tx",  "wgid",   "tid_in_wg", "wid_in_wg",
          "TCol", "TLane",  "reg",    "gpu", "worker", "quad",      "lane_in_quad"};
}

}  // namespace ww::test
