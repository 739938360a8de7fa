// SPDX-License-Identifier: Apache-2.0
// Tile calls: their arguments and settings, and the shapes and element types that must agree.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/look_up.h"
#include "base/suggest.h"
#include "ir/elementwise.h"
#include "ir/equal.h"
#include "ir/gemm_factors.h"
#include "ir/indexed.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "ir/reduction.h"
#include "ir/scan.h"
#include "ir/settings.h"
#include "ir/tensor_map.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

using Extents = std::vector<ExprId>;

struct TileCheck {
  Context& c;
  const TileCall& call;
  Span span;
  const Function& f = c.f;
  const std::vector<TileParam>& params = params_of(call.op);

  [[nodiscard]] std::string_view name() const { return name_of(call.op); }

  /// The argument of that name; null if it is not a region.
  [[nodiscard]] const Region* region(std::string_view param) const {
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].name == param) return std::get_if<Region>(&call.args[i]);
    }
    return nullptr;
  }

  /// Always false.
  template <typename... Args>
  bool bad(fmt::format_string<Args...> format, Args&&... args) const {
    c.report(DiagKind::BadTileCall, span, format, std::forward<Args>(args)...);
    return false;
  }
};

// --- arguments -----------------------------------------------------------------------------------
//
// The arguments of a tile call, one by one.

std::string_view wanted_kind(const TileParam& param) {
  return word_for(param.kind,
                  {{TileParamKind::Region, "a region of a buffer"},
                   {TileParamKind::RegionOrScalar, "a region of a buffer or a scalar"},
                   {TileParamKind::Scalar, "a scalar"},
                   {TileParamKind::Bool, "`True` or `False`"},
                   {TileParamKind::Flag, "a bool"},
                   {TileParamKind::Float, "a number"}},
                  "an integer");
}

bool takes_region(const TileParam& param) {
  return param.kind == TileParamKind::Region || param.kind == TileParamKind::RegionOrScalar;
}

// Several axes: "0, 2".
bool is_list(const Setting& setting) {
  const auto* text = std::get_if<std::string>(&setting);
  return text != nullptr && text->find_first_of("0123456789") != std::string::npos &&
         text->find_first_not_of("0123456789-, ") == std::string::npos;
}

bool takes_constant(const TileParam& param, const Setting& setting) {
  const bool is_bool = std::holds_alternative<bool>(setting);
  const bool is_int = std::holds_alternative<std::int64_t>(setting);
  const bool is_number = is_int || std::holds_alternative<double>(setting);
  switch (param.kind) {
    case TileParamKind::Region:
      return false;
    case TileParamKind::RegionOrScalar:
    case TileParamKind::Scalar:
      return is_number || is_bool;
    case TileParamKind::Bool:
    case TileParamKind::Flag:
      return is_bool;
    case TileParamKind::Float:
      return is_number;
    case TileParamKind::Int:
      return is_int || is_list(setting);
  }
  return false;
}

bool report_kind(const TileCheck& t, const TileParam& param, std::string_view seen) {
  return t.bad("argument `{}` of `{}` is {}, expected {}", param.name, t.name(), seen,
               wanted_kind(param));
}

bool check_scalar(const TileCheck& t, const TileParam& param, ExprId id) {
  const Type type = t.f[id].type;
  if (param.kind == TileParamKind::Region) return report_kind(t, param, "a scalar");
  const bool is_flag = param.kind == TileParamKind::Bool || param.kind == TileParamKind::Flag;
  const bool fits = is_flag                            ? type.is_bool()
                    : param.kind == TileParamKind::Int ? type.is_int()
                                                       : type.is_scalar();
  return fits || report_kind(t, param, fmt::format("`{}`", to_text(type)));
}

bool check_range(const TileCheck& t, const RangeExpr& range, const Buffer& buffer, std::size_t dim,
                 Span span, bool may_leave) {
  for (const ExprId id : {range.min, range.extent}) {
    const Type type = t.f[id].type;
    if (type.is_int() && type.is_scalar()) continue;
    t.c.report(DiagKind::BadType, span, buffer,
               "dimension {} of a region of `{}` has type `{}`, expected an integer", dim,
               buffer.name, to_text(type));
    return false;
  }
  const auto min = const_int(t.f, range.min);
  const auto count = const_int(t.f, range.extent);
  const auto extent = const_int(t.f, buffer.shape[dim]);
  const bool is_empty = count && *count < 1;
  const bool leaves =
      !may_leave && ((min && *min < 0) || (extent && count && min.value_or(0) + *count > *extent));
  if (!is_empty && !leaves) return true;
  t.c.report(DiagKind::OutOfBounds, span, buffer,
             "a region takes {} in dimension {} of `{}`, which has extent {}",
             count ? fmt::format("{} from {}", *count, print(t.f, range.min))
                   : fmt::format("elements from {}", *min),
             dim, buffer.name, extent ? std::to_string(*extent) : "?");
  return false;
}

// `may_leave`: the buffer.
bool check_region(const TileCheck& t, const Region& region, bool may_leave) {
  const Buffer& buffer = t.f[region.buffer];
  const Span span = region.span.known ? region.span : t.span;
  if (region.ranges.size() != buffer.shape.size()) {
    t.c.report(DiagKind::RankMismatch, span, buffer, "a region with {} of `{}`, which has {}",
               counted(region.ranges.size(), "range", "ranges"), buffer.name,
               counted(buffer.shape.size(), "dimension", "dimensions"));
    return false;
  }
  bool good = true;
  for (std::size_t dim = 0; dim < region.ranges.size(); ++dim)
    good = check_range(t, region.ranges[dim], buffer, dim, span, may_leave) && good;
  return good;
}

bool check_arg(const TileCheck& t, std::size_t i) {
  const TileArg& arg = t.call.args[i];
  const TileParam& param = t.params[i];
  if (std::holds_alternative<std::monostate>(arg))
    return !param.required || t.bad("`{}` lacks its argument `{}`", t.name(), param.name);
  if (const auto* region = std::get_if<Region>(&arg)) {
    return takes_region(param) ? check_region(t, *region, copy_settings(t.call).may_leave(i))
                               : report_kind(t, param, "a region");
  }
  if (const auto* id = std::get_if<ExprId>(&arg)) return check_scalar(t, param, *id);
  const Setting& setting = std::get<Setting>(arg);
  if (const auto* id = std::get_if<ExprId>(&setting)) return check_scalar(t, param, *id);
  return takes_constant(param, setting) || report_kind(t, param, "a constant of another kind");
}

// Kinds, regions and their bounds. False: the arguments cannot be looked at together.
bool check_arguments(const TileCheck& t) {
  bool is_sound = true;
  for (std::size_t i = 0; i < t.params.size(); ++i) is_sound = check_arg(t, i) && is_sound;
  return is_sound;
}

// --- settings ------------------------------------------------------------------------------------
//
// The settings of a tile call.

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

// Names and values of settings, and that they mean something in this call.
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

// --- shapes and types ----------------------------------------------------------------------------

/// Tile ops by what they ask of their operands.
bool is_copy(TileOp op) {
  return op == TileOp::Copy || op == TileOp::CopyAsync || op == TileOp::PermuteLayout;
}
bool is_elementwise(TileOp op) {
  return !is_copy(op) && !is_reduction(op) && !is_scan(op) && !is_indexed(op) &&
         op != TileOp::Gemm && op != TileOp::GemmAsync;
}

bool flag(const TileCheck& t, std::string_view param) {
  for (std::size_t i = 0; i < t.params.size(); ++i) {
    if (t.params[i].name == param) return is_true(t.call.args[i]);
  }
  return false;
}

// Extents of 1 do not matter.
Extents extents_of(const Function& f, const Region& region) {
  Extents out;
  for (const RangeExpr& range : region.ranges) {
    if (const_int(f, range.extent) != 1) out.push_back(range.extent);
  }
  return out;
}

// Are two extents known to differ? Those of run time get the benefit of the doubt.
bool differ(const Function& f, ExprId a, ExprId b) {
  const auto left = const_int(f, a);
  const auto right = const_int(f, b);
  return left && right && *left != *right;
}

bool differ(const Function& f, const Extents& a, const Extents& b) {
  if (a.size() != b.size()) return true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (differ(f, a[i], b[i])) return true;
  }
  return false;
}

std::string region_text(const Function& f, const Region& region) {
  Extents all;
  for (const RangeExpr& range : region.ranges) all.push_back(range.extent);
  return fmt::format("{} of `{}`", shape_text(f, all), f[region.buffer].name);
}

// The descriptor variants match bytes, not elements.
bool counts_bytes(const TileCheck& t) {
  return t.call.op == TileOp::CopyAsync && t.call.dispatch.starts_with("tma");
}

void check_types(const TileCheck& t, const Region* a, const Region* b) {
  if (a == nullptr || b == nullptr) return;
  const Buffer& left = t.f[a->buffer];
  const Buffer& right = t.f[b->buffer];
  if (left.dtype != right.dtype)
    t.bad("`{}` with `{}` of `{}` and `{}` of `{}`, expected one element type", t.name(),
          num::name_of(left.dtype), left.name, num::name_of(right.dtype), right.name);
  if (left.dtype != right.dtype && is_copy(t.call.op))
    t.c.findings.back().notes.push_back({"`cast` changes the element type, in registers", {}});
}

bool stretches(const Function& f, const Region& src, const Region& dst) {
  if (!differ(f, extents_of(f, src), extents_of(f, dst))) return true;
  const std::size_t n = src.ranges.size();
  for (std::size_t back = 1; back <= n; ++back) {
    const ExprId extent = src.ranges[n - back].extent;
    if (const_int(f, extent) == 1) continue;
    if (back > dst.ranges.size()) return false;
    if (differ(f, extent, dst.ranges[dst.ranges.size() - back].extent)) return false;
  }
  return true;
}

// A bool for each element, or for several of them.
void check_predicate_tile(const TileCheck& t, const Region& dst) {
  const CopySettings settings = copy_settings(t.call);
  const Region* tile = settings.predicate_tile;
  if (tile == nullptr) return;
  const Buffer& buffer = t.f[tile->buffer];
  if (settings.predicate != nullptr)
    t.bad("`predicate` of `{}` is given twice, as a tile and as one condition", t.name());
  if (buffer.dtype != num::DType::Bool) {
    t.bad("`predicate` of `{}` is a tile of `{}`, expected `bool`", t.name(),
          num::name_of(buffer.dtype));
    t.c.findings.back().notes.push_back(
        {"comparisons such as `less` and `not_equal` make tiles of `bool`", {}});
  }
  if (buffer.scope == Scope::Tmem)
    t.bad("`predicate` of `{}` is in tensor memory, expected registers, shared or global memory",
          t.name());
  if (!stretches(t.f, *tile, dst))
    t.bad("`predicate` of `{}` is {}, which does not stretch to {}", t.name(),
          region_text(t.f, *tile), region_text(t.f, dst));
}

void check_copy(const TileCheck& t) {
  const Region& dst = *t.region("dst");
  const Region& src = *t.region("src");
  check_predicate_tile(t, dst);
  if (counts_bytes(t)) return;
  if (differ(t.f, extents_of(t.f, dst), extents_of(t.f, src)))
    t.bad("`{}` into {} from {}; the extents other than 1 differ", t.name(), region_text(t.f, dst),
          region_text(t.f, src));
  const bool by_width = t.call.op == TileOp::CopyAsync && t.f[dst.buffer].scope == Scope::Tmem;
  const num::DType to = t.f[dst.buffer].dtype;
  const num::DType from = t.f[src.buffer].dtype;
  if (!by_width || num::bits_of(to) != num::bits_of(from)) check_types(t, &dst, &src);
}

// False, with a finding: an axis does not exist, or is given twice.
bool check_axes(const TileCheck& t, const Region& src, const std::vector<std::int64_t>& axes) {
  const auto rank = static_cast<std::int64_t>(src.ranges.size());
  std::vector<bool> seen(src.ranges.size());
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      t.bad("`{}` over axis {} of {}, which has {}", t.name(), axis, region_text(t.f, src),
            counted(src.ranges.size(), "axis", "axes"));
      return false;
    }
    const auto d = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (seen[d]) {
      t.bad("`{}` over axis {} of {} twice", t.name(), axis, region_text(t.f, src));
      return false;
    }
    seen[d] = true;
  }
  return true;
}

void check_index_type(const TileCheck& t, const Region& dst) {
  const Buffer& buffer = t.f[dst.buffer];
  if (buffer.dtype == num::DType::Int32 || buffer.dtype == num::DType::Int64) return;
  t.bad("`{}` into `{}`, which holds `{}`, expected `int32` or `int64`", t.name(), buffer.name,
        num::name_of(buffer.dtype));
}

// `any` and `all` are of conditions.
void check_folded_type(const TileCheck& t, const Region& dst, const Region& src) {
  if (gives_index(t.call.op)) return check_index_type(t, dst);
  check_types(t, &dst, &src);
  const bool is_logic = t.call.op == TileOp::Any || t.call.op == TileOp::All;
  const Buffer& buffer = t.f[src.buffer];
  if (!is_logic || buffer.dtype == num::DType::Bool) return;
  t.bad("`{}` of `{}`, which holds `{}`, expected `bool`", t.name(), buffer.name,
        num::name_of(buffer.dtype));
  t.c.findings.back().notes.push_back({"`not_equal` with 0 makes conditions of numbers", {}});
}

// The destination has the extents of the source but for the axes that are folded.
void check_reduction(const TileCheck& t) {
  const Region& dst = *t.region("dst");
  const Region& src = *t.region("src");
  check_folded_type(t, dst, src);
  const std::vector<std::int64_t> axes = folded_axes(t.call);
  if (!check_axes(t, src, axes)) return;
  const std::vector<bool> is_folded = folded_dimensions(t.call);
  Region kept = src;
  kept.ranges.clear();
  for (std::size_t d = 0; d < is_folded.size(); ++d)
    if (!is_folded[d]) kept.ranges.push_back(src.ranges[d]);
  if (differ(t.f, extents_of(t.f, dst), extents_of(t.f, kept))) {
    t.bad("`{}` over {} {} of {} into {}; the other extents differ", t.name(),
          axes.size() == 1 ? "axis" : "axes", join(axes, ", "), region_text(t.f, src),
          region_text(t.f, dst));
    if (has_thread_axes(t.f[src.buffer]))
      t.c.findings.back().notes.push_back(
          {"`axes` names what is reduced, lanes included; a view can make lanes and registers "
           "dimensions of their own",
           {}});
  }
}

// The destination has the extents of the source.
void check_scan(const TileCheck& t) {
  const Region& dst = *t.region("dst");
  const Region& src = *t.region("src");
  check_types(t, &dst, &src);
  const Buffer& buffer = t.f[src.buffer];
  if (buffer.dtype == num::DType::Bool) {
    t.bad("`{}` of `{}`, which holds `bool`, expected numbers", t.name(), buffer.name);
    t.c.findings.back().notes.push_back({"`cast` makes 0 and 1 of conditions", {}});
  }
  const std::vector<std::int64_t> axes = folded_axes(t.call);
  if (axes.size() != 1) {
    t.bad("`{}` along axes {}, expected one", t.name(), join(axes, ", "));
    return;
  }
  if (!check_axes(t, src, axes)) return;
  if (differ(t.f, extents_of(t.f, dst), extents_of(t.f, src)))
    t.bad("`{}` of {} into {}; the extents other than 1 differ", t.name(), region_text(t.f, src),
          region_text(t.f, dst));
}

num::DType operand_type(const Function& f, const TileArg& arg) {
  if (const auto* region = std::get_if<Region>(&arg)) return f[region->buffer].dtype;
  const auto* expr = std::get_if<ExprId>(&arg);
  const auto* setting = std::get_if<Setting>(&arg);
  if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
  return expr == nullptr ? num::DType::Bool : f[*expr].type.dtype;
}

void only_casts(const TileCheck& t, const Buffer& dst, std::string_view what) {
  t.bad("`{}` {} `{}` holds `{}`", t.name(), what, dst.name, num::name_of(dst.dtype));
  t.c.findings.back().notes.push_back(
      {"`cast` alone makes integers of floats: put the result into a tile of floats first", {}});
}

void not_held(const TileCheck& t, num::DType type, const Constant& constant) {
  t.bad("`{}` with the constant {}, which `{}` does not hold", t.name(),
        num::is_float(constant.dtype) ? fmt::format("{}", constant.real)
                                      : int_text(constant.dtype, constant.integer),
        num::name_of(type));
}

// What a comparison or logic is of; where it goes is bool.
void check_bool(const TileCheck& t, const Region& dst) {
  const Buffer& buffer = t.f[dst.buffer];
  if (buffer.dtype != num::DType::Bool) {
    t.bad("`{}` into `{}`, which holds `{}`, expected `bool`", t.name(), buffer.name,
          num::name_of(buffer.dtype));
    return;
  }
  if (group_of(t.call.op) != ElementGroup::Comparison) return;
  const num::DType in = compute_type(t.f, t.call);
  for (const TileArg* arg : operands_of(t.call)) {
    const auto constant = constant_operand(t.f, *arg);
    if (constant && !holds(in, *constant)) return not_held(t, in, *constant);
    if (constant || in != num::DType::Int64 || operand_type(t.f, *arg) != num::DType::Uint64)
      continue;
    t.bad("`{}` of `uint64` and integers of another type, expected one type", t.name());
    t.c.findings.back().notes.push_back(
        {"integers of several types are compared in `int64`, which does not hold all of `uint64`",
         {}});
    return;
  }
}

void check_bits(const TileCheck& t) {
  for (const TileArg& arg : t.call.args) {
    if (std::holds_alternative<std::monostate>(arg)) continue;
    const auto constant = constant_operand(t.f, arg);
    const num::DType type = constant ? constant->dtype : operand_type(t.f, arg);
    if (!num::is_float(type) && (constant || type != num::DType::Bool)) continue;
    t.bad("`{}` of `{}`, expected integers", t.name(), num::name_of(type));
    if (type == num::DType::Bool)
      t.c.findings.back().notes.push_back(
          {"`logical_and`, `logical_or`, `logical_xor` and `logical_not` are for conditions", {}});
    return;
  }
}

// Only `cast` makes integers of floats; constants must be ones that their type holds.
void check_conversions(const TileCheck& t, const Region& dst) {
  const Buffer& buffer = t.f[dst.buffer];
  const bool is_computed = computes(t.call.op);
  const num::DType in = is_computed ? compute_type(t.f, t.call) : buffer.dtype;
  const bool is_cast = t.call.op == TileOp::Cast;
  if (is_computed && num::is_float(in) && !num::is_float(buffer.dtype))
    return only_casts(t, buffer, fmt::format("computes in `{}`, and", num::name_of(in)));
  const std::vector<const TileArg*> all = operands_of(t.call);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr || is_condition(t.call.op, i) || is_cast) continue;
    if (const auto constant = constant_operand(t.f, *all[i])) {
      // Integers wrap, so that what they are computed with may be written with or without a sign.
      const bool is_held = is_computed ? holds_bits(in, *constant) : holds(in, *constant);
      if (!is_held) not_held(t, in, *constant);
    } else if (const num::DType from = operand_type(t.f, *all[i]);
               num::is_float(from) && !num::is_float(in)) {
      only_casts(t, buffer, fmt::format("is given `{}`, and", num::name_of(from)));
    }
  }
}

// Sources are stretched to the destination: aligned at the last dimension, 1 or equal.
void check_elementwise(const TileCheck& t) {
  const Region& dst = *t.region("dst");
  for (std::size_t i = 1; i < t.params.size(); ++i) {
    const auto* src = std::get_if<Region>(&t.call.args[i]);
    if (src != nullptr && !stretches(t.f, *src, dst))
      t.bad("`{}` of {} into {}, to which it does not stretch", t.name(), region_text(t.f, *src),
            region_text(t.f, dst));
  }
  if (gives_bool(t.call.op)) return check_bool(t, dst);
  if (group_of(t.call.op) == ElementGroup::Bits) check_bits(t);
  check_conversions(t, dst);
}

// --- gather and scatter --------------------------------------------------------------------------

void check_indexed_types(const TileCheck& t, const Region& index) {
  check_types(t, t.region("dst"), t.region("src"));
  const Buffer& numbers = t.f[index.buffer];
  if (numbers.dtype != num::DType::Int32 && numbers.dtype != num::DType::Int64)
    t.bad("`{}` by `{}`, which holds `{}`, expected `int32` or `int64`", t.name(), numbers.name,
          num::name_of(numbers.dtype));
  const num::DType type = t.f[t.region("dst")->buffer].dtype;
  const bool adds = num::is_float(type) ? num::bits_of(type) >= 16 && type != num::DType::Tfloat32
                                        : num::bits_of(type) >= 32;
  if (t.call.op == TileOp::ScatterAdd && !adds)
    t.bad(
        "`scatter_add` of `{}`, which no instruction adds atomically; expected integers of 32 or "
        "64 "
        "bits, `float16`, `bfloat16`, `float32` or `float64`",
        num::name_of(type));
}

/// What the tile and the index of a call must have, without extents of 1.
struct IndexedExtents {
  Extents before, after;  // of the table, beside its axis
  Extents tile, index;
};

// The extents of the tile but for the one that the indices run along.
bool has_table_extents(const TileCheck& t, const IndexedExtents& e) {
  const std::size_t others = e.before.size() + e.after.size();
  if (e.tile.size() != others && e.tile.size() != others + 1) return false;
  for (std::size_t d = 0; d < e.before.size(); ++d)
    if (differ(t.f, e.before[d], e.tile[d])) return false;
  for (std::size_t back = 1; back <= e.after.size(); ++back)
    if (differ(t.f, e.after[e.after.size() - back], e.tile[e.tile.size() - back])) return false;
  return true;
}
bool has_index_extents(const TileCheck& t, const IndexedExtents& e) {
  Extents along;  // the axis; none where there is one index
  if (e.tile.size() > e.before.size() + e.after.size()) along = {e.tile[e.before.size()]};
  return !differ(t.f, e.index, along) || !differ(t.f, e.index, e.tile);
}

// As many places as indices must there be, or two of them are the same.
void check_places(const TileCheck& t, const Region& table, std::size_t axis,
                  const IndexedExtents& e) {
  if (t.call.op != TileOp::Scatter || takes_any_index(t.call)) return;
  if (e.tile.size() == e.before.size() + e.after.size()) return;
  const auto indices = const_int(t.f, e.tile[e.before.size()]);
  const auto places = const_int(t.f, table.ranges[axis].extent);
  if (!indices || !places || *indices <= *places) return;
  t.bad("`scatter` by {} indices along axis {} of {}: two of them are the same, which is a race",
        *indices, axis, region_text(t.f, table));
  t.c.findings.back().notes.push_back(
      {"`scatter_add` adds them; `clip=True` leaves out those out of range", {}});
}

// The tile has the table's extents but along the axis, the index those of the tile or of the axis.
void check_indexed(const TileCheck& t) {
  const Region& table = std::get<Region>(t.call.args[table_argument(t.call.op)]);
  const Region& tile = std::get<Region>(t.call.args[tile_argument(t.call.op)]);
  const Region& index = *t.region("index");
  check_indexed_types(t, index);
  const auto* setting = std::get_if<Setting>(&t.call.args[kAxisArgument]);
  const auto* given = setting == nullptr ? nullptr : std::get_if<std::int64_t>(setting);
  if (given == nullptr) {
    t.bad("`axis` of `{}` is not one number", t.name());
    return;
  }
  if (!check_axes(t, table, {*given})) return;
  const std::size_t axis = indexed_axis(t.call);
  Region before = table, after = table;
  const auto at = static_cast<std::ptrdiff_t>(axis);
  before.ranges.erase(before.ranges.begin() + at, before.ranges.end());
  after.ranges.erase(after.ranges.begin(), after.ranges.begin() + at + 1);
  const IndexedExtents e{extents_of(t.f, before), extents_of(t.f, after), extents_of(t.f, tile),
                         extents_of(t.f, index)};
  if (!has_table_extents(t, e)) {
    t.bad("`{}` along axis {} of {} with a tile {}; the other extents differ", t.name(), axis,
          region_text(t.f, table), region_text(t.f, tile));
    return;
  }
  if (!has_index_extents(t, e)) {
    t.bad("`{}` along axis {} with a tile {} by {}, expected an index for each {} of it", t.name(),
          axis, region_text(t.f, tile), region_text(t.f, index),
          e.tile.size() > 1 ? "row, or for each element" : "element");
    return;
  }
  check_places(t, table, axis, e);
}

void check_factor(const TileCheck& t, std::string_view which, std::size_t argument, num::DType d) {
  const GemmFactor factor = gemm_factor(t.f, t.call.args[argument], 1);
  if (const auto fault = fault_of(t.f, factor, which, d)) t.bad("{}", *fault);
}

// D[M,N] = A[M,K]·B[K,N] + C[M,N]
void check_gemm(const TileCheck& t) {
  const Region& d = *t.region("D");
  const Region& a = *t.region("A");
  const Region& b = *t.region("B");
  const Region& c = *t.region("C");
  if (!can_multiply(t.f[a.buffer].dtype, t.f[b.buffer].dtype)) check_types(t, &a, &b);
  check_types(t, &d, &c);
  check_factor(t, "alpha", kGemmAlpha, t.f[d.buffer].dtype);
  check_factor(t, "beta", kGemmBeta, t.f[d.buffer].dtype);
  Extents ed = extents_of(t.f, d);
  Extents ea = extents_of(t.f, a);
  Extents eb = extents_of(t.f, b);
  const Extents ec = extents_of(t.f, c);
  for (const Region* operand : {&d, &a, &b, &c}) {
    if (extents_of(t.f, *operand).size() == 2) continue;
    t.bad("`gemm` of {}, expected two extents other than 1", region_text(t.f, *operand));
    return;
  }
  if (flag(t, "transpose_A")) std::swap(ea[0], ea[1]);
  if (flag(t, "transpose_B")) std::swap(eb[0], eb[1]);
  if (differ(t.f, ea[1], eb[0]) || differ(t.f, ed[0], ea[0]) || differ(t.f, ed[1], eb[1]) ||
      differ(t.f, ed, ec))
    t.bad("`gemm` of A {}, B {}, C {} into D {}, expected A (M, K), B (K, N), C and D (M, N){}",
          region_text(t.f, a), region_text(t.f, b), region_text(t.f, c), region_text(t.f, d),
          flag(t, "transpose_A") || flag(t, "transpose_B") ? " after transposing" : "");
}

// C[M,N] = A[M,K]·B[N,K]ᵀ, or added to it: both factors lie along K unless they are transposed.
void check_gemm_async(const TileCheck& t) {
  const Region& c = *t.region("C");
  const Region& a = *t.region("A");
  const Region& b = *t.region("B");
  if (t.f[c.buffer].scope == Scope::Tmem) return;  // scales, pairs of CTAs: shapes of their own
  if (!can_multiply(t.f[a.buffer].dtype, t.f[b.buffer].dtype)) check_types(t, &a, &b);
  for (const Region* operand : {&c, &a, &b}) {
    if (extents_of(t.f, *operand).size() == 2) continue;
    t.bad("`gemm_async` of {}, expected two extents other than 1", region_text(t.f, *operand));
    return;
  }
  const Extents ec = extents_of(t.f, c);
  Extents ea = extents_of(t.f, a), eb = extents_of(t.f, b);
  if (flag(t, "transA")) std::swap(ea[0], ea[1]);
  if (flag(t, "transB")) std::swap(eb[0], eb[1]);
  if (differ(t.f, ea[1], eb[1]) || differ(t.f, ec[0], ea[0]) || differ(t.f, ec[1], eb[0]))
    t.bad("`gemm_async` of A {}, B {} into C {}, expected A ({}), B ({}) and C (M, N)",
          region_text(t.f, a), region_text(t.f, b), region_text(t.f, c),
          flag(t, "transA") ? "K, M" : "M, K", flag(t, "transB") ? "K, N" : "N, K");
}

void check_tile_call(const TileCheck& t) {
  const TileOp op = t.call.op;
  if (t.call.scope == Unit::Pair || t.call.scope == Unit::Kernel)
    t.bad("`{}` at {} scope, expected thread, warp, warpgroup, cta or cluster", t.name(),
          name_of(t.call.scope));
  if (!check_arguments(t)) return;
  check_settings(t);
  if (is_copy(op)) check_copy(t);
  if (op == TileOp::Gemm) check_gemm(t);
  if (op == TileOp::GemmAsync) check_gemm_async(t);
  if (is_reduction(op)) check_reduction(t);
  if (is_indexed(op)) check_indexed(t);
  if (is_scan(op)) check_scan(t);
  if (is_elementwise(op)) check_elementwise(t);
}

}  // namespace

void check_tile_calls(Context& c) {
  for_each_stmt(c.f, c.f.body, [&](StmtId id) {
    const Stmt& s = c.f[id];
    if (s.kind == StmtKind::Tile) check_tile_call({c, c.f[s.tile], s.span});
  });
}

}  // namespace ww::ir::verifying
