// SPDX-License-Identifier: Apache-2.0
#include "soak/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ir/function.h"
#include "lower/variant.h"
#include "soak/steps.h"

namespace ww::test {
namespace {

using Columns = std::vector<std::string>;

std::uint64_t count_in(const Tally& tally, const std::string& name) {
  const auto at = tally.find(name);
  return at == tally.end() ? 0 : at->second;
}

std::string table(const Tally& tally, const std::string& group, const std::string& head,
                  std::set<std::string> rows, const Columns& columns) {
  for (const auto& [name, count] : tally)
    if (name.starts_with(group + "/")) rows.insert(name.substr(name.find(": ") + 2));
  std::size_t widest = head.size();
  for (const std::string& row : rows) widest = std::max(widest, row.size());
  std::string out = fmt::format("{:<{}}", head, widest);
  for (const std::string& column : columns) out += fmt::format("  {:>9}", column);
  out += "\n";
  for (const std::string& row : rows) {
    out += fmt::format("{:<{}}", row, widest);
    for (const std::string& column : columns)
      out += fmt::format("  {:>9}", count_in(tally, fmt::format("{}/{}: {}", group, column, row)));
    out += "\n";
  }
  return out + "\n";
}

// Groups without columns, one count in each line.
std::string lists(const Tally& tally) {
  std::string out, group;
  for (const auto& [name, count] : tally) {
    const std::size_t colon = name.find(": ");
    const std::string of = name.substr(0, colon);
    if (of.find('/') != std::string::npos) continue;
    if (of != group) out += of + "\n";
    group = of;
    out += fmt::format("  {:>9}  {}\n", count,
                       colon == std::string::npos ? "in all" : name.substr(colon + 2));
  }
  return out;
}

}  // namespace

std::string summary_of(const Tally& tally) {
  std::set<std::string> steps, calls;
  for (const Step* step : all_steps()) steps.insert(std::string(step->name));
  for (const lower::Variant* variant : lower::all_variants())
    if (!variant->only_by_name)
      calls.insert(fmt::format("{} {}", ir::name_of(variant->op), variant->name));
  return table(tally, "steps", "step", steps, {"written", "agreed"}) +
         table(tally, "calls", "primitive and variant", calls,
               {"asked", "agreed", "nvcc", "ptxas", "GPU"}) +
         lists(tally);
}

}  // namespace ww::test
