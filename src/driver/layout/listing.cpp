// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/listing.h"

#include <fmt/format.h>

#include "driver/layout/named_layouts.h"
#include "driver/layout/ops.h"

namespace ww::driver {
namespace {

std::string syntax_of(const LayoutOp& op) {
  if (op.arguments.empty()) return std::string(op.name);
  if (op.arguments.starts_with('['))
    return fmt::format("{}[:{}]", op.name, op.arguments.substr(1, op.arguments.size() - 2));
  return fmt::format("{}:{}", op.name, op.arguments);
}

std::string op_block(const LayoutOp& op) {
  const std::string alias = op.alias.empty() ? "" : fmt::format(" (also `{}`)", op.alias);
  return fmt::format("{}\n    {}{}\n    warpwright layout '{}' --op '{}'\n", syntax_of(op), op.help,
                     alias, op.example_layout, op.example);
}

std::string layout_block(const NamedLayout& row) {
  std::string aliases;
  for (const Piece& alias : split_top({row.aliases, 0}, ' '))
    aliases += fmt::format("{}`{}`", aliases.empty() ? " (also " : ", ", alias.text);
  if (!aliases.empty()) aliases += ")";
  return fmt::format("{}({})\n    {}{}\n    warpwright layout '{}'\n", row.name,
                     signature_of(row.params), row.help, aliases, row.example);
}

}  // namespace

std::string ops_listing() {
  std::string out;
  for (const LayoutOp& op : layout_ops()) out += op_block(op);
  return out;
}

std::string named_layouts_listing() {
  std::string out;
  for (const NamedLayout& row : named_layouts()) out += layout_block(row);
  return out;
}

}  // namespace ww::driver
