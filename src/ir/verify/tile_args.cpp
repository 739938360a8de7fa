// SPDX-License-Identifier: Apache-2.0
// The arguments of a tile call, one by one.
#include <fmt/format.h>

#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/verify/tile.h"

namespace ww::ir::verifying {
namespace {

std::string_view wanted_kind(const TileParam& param) {
  switch (param.kind) {
    case TileParamKind::Region:
      return "a region of a buffer";
    case TileParamKind::RegionOrScalar:
      return "a region of a buffer or a scalar";
    case TileParamKind::Scalar:
      return "a scalar";
    case TileParamKind::Bool:
      return "`True` or `False`";
    case TileParamKind::Flag:
      return "a bool";
    case TileParamKind::Float:
      return "a number";
    case TileParamKind::Int:
      return "an integer";
  }
  return "";
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

}  // namespace

bool check_arguments(const TileCheck& t) {
  bool is_sound = true;
  for (std::size_t i = 0; i < t.params.size(); ++i) is_sound = check_arg(t, i) && is_sound;
  return is_sound;
}

}  // namespace ww::ir::verifying
