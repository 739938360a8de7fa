// SPDX-License-Identifier: Apache-2.0
#include "ir/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/split.h"

namespace ww::ir {
namespace {

constexpr SettingFacts kSettings[] = {
#define WW_TILE_SETTING(ops, name, memories, values) {ops, name, memories, values},
#include "ir/tile_settings.def"
#undef WW_TILE_SETTING
};

bool is_number(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool SettingFacts::is_for(TileOp op) const {
  const auto all = split(ops, ' ');
  return std::find(all.begin(), all.end(), name_of(op)) != all.end();
}

std::vector<std::string_view> SettingFacts::memory_pairs() const { return split(memories, '|'); }

std::vector<std::string_view> SettingFacts::words() const {
  static constexpr std::string_view kKinds[] = {"condition",    "number",   "flag",     "any",
                                                "tensor map",   "mbarrier", "CTA mask", "cta",
                                                "cache policy", "bound map"};
  if (std::find(std::begin(kKinds), std::end(kKinds), values) != std::end(kKinds)) return {};
  return split(values, '|');
}

std::string SettingFacts::wanted() const {
  if (values == "condition") return "a condition";
  if (values == "number") return "a number";
  if (values == "flag") return "`True` or `False`";
  if (values == "mbarrier") return "the address of an mbarrier";
  if (values == "bound map") return "a name that `T.tensor_map` gives before `T.device_entry()`";
  if (values == "cache policy")
    return "\"evict_normal\", \"evict_first\", \"evict_last\" or the 64 bits of a policy";
  if (values == "CTA mask") return "an integer with a bit for each CTA of the cluster";
  if (values == "cta") return "the number of a CTA in its cluster";
  std::string out;
  const auto all = words();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) out += i + 1 == all.size() ? " or " : ", ";
    out += is_number(all[i]) ? std::string(all[i]) : fmt::format("\"{}\"", all[i]);
  }
  return out;
}

std::span<const SettingFacts> all_setting_facts() { return kSettings; }

const SettingFacts* find_setting_facts(TileOp op, std::string_view name) {
  for (const SettingFacts& each : kSettings)
    if (each.name == name && each.is_for(op)) return &each;
  return nullptr;
}

std::vector<std::string_view> settings_of(TileOp op) {
  std::vector<std::string_view> out;
  for (const SettingFacts& each : kSettings)
    if (each.is_for(op)) out.push_back(each.name);
  return out;
}

std::string word_of(const Setting* setting) {
  if (setting == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(setting)) return *text;
  const auto* number = std::get_if<std::int64_t>(setting);
  return number == nullptr || *number == -1 ? std::string() : std::to_string(*number);
}

const Setting* find_setting(const TileCall& call, std::string_view name) {
  for (const auto& [key, value] : call.config)
    if (key == name) return &value;
  return nullptr;
}

const Setting* mbarrier_setting(const TileCall& call) {
  const Setting* setting = find_setting(call, "mbar");
  return setting != nullptr ? setting : find_setting(call, "mbarrier_addr");
}

// As createpolicy.fractional makes them, for all of the accesses.
std::optional<std::int64_t> cache_policy(std::string_view name) {
  if (name == "evict_normal") return 0x1000'0000'0000'0000;
  if (name == "evict_first") return 0x12F0'0000'0000'0000;
  if (name == "evict_last") return 0x14F0'0000'0000'0000;
  return std::nullopt;
}

const Setting* cta_mask_setting(const TileCall& call) { return find_setting(call, "cta_mask"); }

std::optional<std::size_t> remote_operand(const Function& f, const TileCall& call) {
  if (find_setting(call, "remote_cta_id") == nullptr) return std::nullopt;
  const auto* dst = std::get_if<Region>(&call.args[0]);
  return dst != nullptr && is_shared(f[dst->buffer].scope) ? 0 : 1;
}

bool is_true(const Setting* setting) {
  const bool* flag = setting == nullptr ? nullptr : std::get_if<bool>(setting);
  return flag != nullptr && *flag;
}

bool is_true(const TileArg& arg) { return is_true(std::get_if<Setting>(&arg)); }

CopySettings copy_settings(const TileCall& call) {
  if (call.op != TileOp::Copy && call.op != TileOp::CopyAsync) return {};
  const Setting* fill = find_setting(call, "fill_mode");
  const auto* mode = fill == nullptr ? nullptr : std::get_if<std::string>(fill);
  const bool is_zero = mode != nullptr && *mode == "zero";
  const Setting* value = find_setting(call, "fill_value");
  return {.predicate = find_setting(call, "predicate"),
          .predicate_tile = call.args.size() > 2 ? std::get_if<Region>(&call.args[2]) : nullptr,
          .fills = is_zero || value != nullptr,
          .clips = is_zero || is_true(find_setting(call, "clip")),
          .fill_value = value};
}

}  // namespace ww::ir
