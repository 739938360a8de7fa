// SPDX-License-Identifier: Apache-2.0
// The settings of a tile call.
#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "base/suggest.h"
#include "ir/elementwise.h"
#include "ir/print/printer.h"
#include "ir/settings.h"
#include "ir/tensor_map.h"
#include "ir/verify/tile.h"

namespace ww::ir::verifying {
namespace {

bool is_false_setting(const Setting& setting) {
  const bool* flag = std::get_if<bool>(&setting);
  return flag != nullptr && !*flag;
}

bool is_condition_setting(const Function& f, const Setting& setting) {
  if (const auto* id = std::get_if<ExprId>(&setting)) {
    const Type type = f[*id].type;
    return type.is_scalar() && (type.is_bool() || type.is_int());
  }
  return std::holds_alternative<bool>(setting);
}

bool is_number_setting(const Function& f, const Setting& setting) {
  if (const auto* id = std::get_if<ExprId>(&setting)) {
    const Type type = f[*id].type;
    return type.is_scalar() && (type.is_bool() || type.is_int() || type.is_float());
  }
  return !std::holds_alternative<std::string>(setting);
}

// A pointer, or an address of the shared window.
bool is_mbarrier_setting(const Function& f, const Setting& setting) {
  const auto* id = std::get_if<ExprId>(&setting);
  return id != nullptr && (f[*id].type.is_pointer() || f[*id].type == Type::of(num::DType::Uint32));
}

bool is_integer_setting(const Function& f, const Setting& setting) {
  const auto* id = std::get_if<ExprId>(&setting);
  return std::holds_alternative<std::int64_t>(setting) ||
         (id != nullptr && f[*id].type.is_scalar() && f[*id].type.is_int());
}

bool is_policy_setting(const Function& f, const Setting& setting) {
  if (const auto* name = std::get_if<std::string>(&setting)) return cache_policy(*name).has_value();
  const auto* id = std::get_if<ExprId>(&setting);
  return std::holds_alternative<std::int64_t>(setting) ||
         (id != nullptr && f[*id].type.is_scalar() && f[*id].type.is_int() &&
          num::storage_bits(f[*id].type.dtype) == 64);
}

bool takes_setting(const Function& f, const SettingFacts& facts, const Setting& setting) {
  if (facts.values == "condition") return is_condition_setting(f, setting);
  if (facts.values == "number") return is_number_setting(f, setting);
  if (facts.values == "mbarrier") return is_mbarrier_setting(f, setting);
  if (facts.values == "CTA mask" || facts.values == "cta") return is_integer_setting(f, setting);
  if (facts.values == "bound map") {
    const auto* map = std::get_if<ExprId>(&setting);
    return map != nullptr && f[*map].op == ExprOp::Var && find_tensor_map(f, *map).has_value();
  }
  if (facts.values == "cache policy") return is_policy_setting(f, setting);
  if (facts.values == "flag") return std::holds_alternative<bool>(setting);
  const std::vector<std::string_view> words = facts.words();
  if (words.empty()) return true;
  const bool is_word =
      std::holds_alternative<std::string>(setting) || std::holds_alternative<std::int64_t>(setting);
  const std::string word = word_of(&setting);
  return is_word && (word.empty() || std::find(words.begin(), words.end(), word) != words.end());
}

std::string setting_text(const Function& f, const Setting& setting) {
  return fmt::format("`{}`", printing::setting(printing::Context(f), setting));
}

void report_unknown_setting(const TileCheck& t, const std::string& key) {
  const std::vector<std::string_view> known = settings_of(t.call.op);
  t.c.report(DiagKind::UnknownName, t.span, "`{}` has no setting `{}`{}", t.name(), key,
             did_you_mean(key, known));
  t.c.findings.back().notes.push_back({known.empty()
                                           ? fmt::format("`{}` has no settings", t.name())
                                           : fmt::format("its settings: {}", join(known, ", ")),
                                       {}});
}

std::optional<std::int64_t> constant_of(const Function& f, const Setting& setting) {
  if (const auto* number = std::get_if<std::int64_t>(&setting)) return *number;
  const auto* id = std::get_if<ExprId>(&setting);
  return id == nullptr ? std::nullopt : const_int(f, *id);
}

// What is given and means nothing here was meant for another call.
void check_memories(const TileCheck& t, const SettingFacts& facts, const Setting& setting) {
  const bool is_given =
      facts.words().empty() ? !is_false_setting(setting) : !word_of(&setting).empty();
  const Region* dst = t.region("dst");
  const Region* src = t.region("src");
  const std::vector<std::string_view> wanted = facts.memory_pairs();
  if (wanted.empty() || !is_given || dst == nullptr || src == nullptr) return;
  const auto memory = [&](const Region& r) {
    const Scope scope = t.f[r.buffer].scope;
    return name_of(is_shared(scope) ? Scope::Shared : scope);
  };
  const std::string seen = fmt::format("{} to {}", memory(*src), memory(*dst));
  if (std::ranges::find(wanted, seen) != wanted.end()) return;
  t.bad("`{}` of `{}` is for {} memory, this is {}", facts.name, t.name(), join(wanted, " or "),
        seen);
}

// A constant that the elements can be, or a value of their type.
void check_fill_value(const TileCheck& t) {
  const Setting* value = find_setting(t.call, "fill_value");
  const Region* dst = t.region("dst");
  if (value == nullptr || dst == nullptr || !is_number_setting(t.f, *value)) return;
  if (!word_of(find_setting(t.call, "fill_mode")).empty()) {
    t.bad("`{}` with both `fill_mode` and `fill_value`, expected one of the two", t.name());
    return;
  }
  const num::DType type = t.f[dst->buffer].dtype;
  if (const auto constant = constant_operand(t.f, TileArg(*value))) {
    if (!holds(type, *constant))
      t.bad("`fill_value` of `{}` is {}, which `{}` does not hold", t.name(),
            setting_text(t.f, *value), num::name_of(type));
    return;
  }
  const Type given = t.f[std::get<ExprId>(*value)].type;
  if (given.dtype == type) return;
  t.bad("`fill_value` of `{}` has type `{}`, and the elements are `{}`", t.name(), to_text(given),
        num::name_of(type));
  t.c.findings.back().notes.push_back(
      {fmt::format("`T.cast(value, \"{}\")` makes one of them", num::name_of(type)), {}});
}

// A constant names CTAs that the cluster has.
void check_cta_mask(const TileCheck& t) {
  const Setting* setting = cta_mask_setting(t.call);
  const auto mask = setting == nullptr ? std::nullopt : constant_of(t.f, *setting);
  if (!mask) return;
  const auto shape = launch_shape(t.f);  // what is wrong with it is reported elsewhere
  if (!shape) return;
  const std::int64_t ctas = std::min<std::int64_t>(shape->cluster_ctas(), 16);
  if (*mask > 0 && *mask < std::int64_t{1} << ctas) return;
  t.bad("`cta_mask` of `{}` is {}, and the cluster has {}, expected 1 to {}", t.name(), *mask,
        counted(static_cast<std::size_t>(ctas), "CTA", "CTAs"), (std::int64_t{1} << ctas) - 1);
}

}  // namespace

void check_settings(const TileCheck& t) {
  check_fill_value(t);
  check_cta_mask(t);
  for (const auto& [key, setting] : t.call.config) {
    const SettingFacts* facts = find_setting_facts(t.call.op, key);
    if (facts == nullptr)
      report_unknown_setting(t, key);
    else if (!takes_setting(t.f, *facts, setting))
      t.bad("`{}` of `{}` is {}, expected {}", key, t.name(), setting_text(t.f, setting),
            facts->wanted());
    else
      check_memories(t, *facts, setting);
  }
}

}  // namespace ww::ir::verifying
