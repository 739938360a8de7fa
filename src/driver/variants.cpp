// SPDX-License-Identifier: Apache-2.0
#include "driver/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/join.h"
#include "base/split.h"
#include "driver/report_json.h"
#include "lower/variant.h"

namespace ww::driver {
namespace {

// Primitive by primitive in the order of their table, each in the order of trying.
std::vector<const lower::Variant*> in_order() {
  std::vector<const lower::Variant*> out;
  for (const std::string_view op : ir::all_tile_op_names())
    for (const lower::Variant* each : lower::variants_of(*ir::find_tile_op(op)))
      out.push_back(each);
  return out;
}

std::vector<std::string> aliases_of(const lower::Variant& variant) {
  const std::vector<std::string_view> words = split_words(variant.aliases);
  return {words.begin(), words.end()};
}

}  // namespace

std::string variants_text() {
  std::string out;
  for (const lower::Variant* each : in_order()) {
    const std::vector<std::string> aliases = aliases_of(*each);
    out += fmt::format("{:<15}{:<14}{:>3}  {}{}{}\n", ir::name_of(each->op), each->name,
                       each->priority, each->about, each->only_by_name ? "; only by name" : "",
                       aliases.empty() ? "" : fmt::format("; also {}", join(aliases, ", ")));
  }
  return out;
}

Json variants_json() {
  Json rows = json_list(in_order(), [&](const lower::Variant* each) -> Json {
    return {{"op", ir::name_of(each->op)},  {"name", each->name},
            {"priority", each->priority},   {"only_by_name", each->only_by_name},
            {"aliases", aliases_of(*each)}, {"about", each->about}};
  });
  return with_schema("variants", {{"variants", rows}});
}

}  // namespace ww::driver
