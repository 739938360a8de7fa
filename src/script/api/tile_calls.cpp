// SPDX-License-Identifier: Apache-2.0
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/fail_at.h"
#include "base/join.h"
#include "base/suggest.h"
#include "ir/build.h"
#include "ir/reduction.h"
#include "ir/settings.h"
#include "script/interp/evaluator.h"

namespace ww::script {
namespace {

struct ScopeRow {
  std::string_view path;
  ir::Unit unit;
};
constexpr ScopeRow kScopes[] = {
    {"Tx", ir::Unit::Thread},
    {"Tx.thread", ir::Unit::Thread},
    {"Tx.warp", ir::Unit::Warp},
    {"Tx.wg", ir::Unit::Warpgroup},
    {"Tx.warpgroup", ir::Unit::Warpgroup},
    {"Tx.cta", ir::Unit::Cta},
    {"Tx.cluster", ir::Unit::Cluster},
    {"T.tile", ir::Unit::Thread},
    {"T.thread", ir::Unit::Thread},
    {"T.warp", ir::Unit::Warp},
    {"T.wg", ir::Unit::Warpgroup},
    {"T.warpgroup", ir::Unit::Warpgroup},
    {"T.cta", ir::Unit::Cta},
    {"T.cluster", ir::Unit::Cluster},
};

const ScopeRow* find_scope_row(std::string_view path) {
  for (const ScopeRow& row : kScopes)
    if (row.path == path) return &row;
  return nullptr;
}

std::string signature_text(ir::TileOp op) {
  std::string out;
  for (const ir::TileParam& p : ir::params_of(op)) {
    out += out.empty() ? "" : ", ";
    out += p.name;
    if (!p.default_text.empty())
      out += fmt::format("={}", p.default_text);
    else if (!p.required)
      out += "=None";
  }
  return out;
}

// --- one argument --------------------------------------------------------------------------------

bool is_region_like(const Value& v) { return v.is(Kind::Region) || v.is(Kind::Buffer); }

// A float as it is written has all its digits until the destination is known (settle_literals).
Result<ir::TileArg> scalar_arg(Context& in, const Given& value) {
  return ir::TileArg(WW_TRY(operand(in, value)).expr);
}

// The region, its buffer?
bool may_leave(const ir::TileCall& call, const ir::TileParam& param) {
  const bool is_side = param.name == "dst" || param.name == "src";
  return is_side && ir::copy_settings(call).may_leave(param.name == "dst" ? 0 : 1);
}

Result<ir::TileArg> read_arg(Context& in, const ir::TileCall& call, const ir::TileParam& param,
                             const Given& value) {
  const std::string what = fmt::format("`{}`", param.name);
  if (value.is(Kind::None)) {
    if (param.required) return fail_at(value.span, DiagKind::BadTileCall, "{} is None", what);
    return ir::TileArg();
  }
  if (value.is(Kind::Function))
    return fail(diag_at(value.span, DiagKind::BadTileCall,
                        "{} is a function, expected a tile or a value for all elements", what)
                    .with_note("store what the function gives for each element into a tile, and "
                               "pass this"));
  switch (param.kind) {
    case ir::TileParamKind::Region:
      return ir::TileArg(WW_TRY(as_region(in, value, what, value.span, may_leave(call, param))));
    case ir::TileParamKind::RegionOrScalar:
      if (is_region_like(value)) return ir::TileArg(WW_TRY(as_region(in, value, what, value.span)));
      return scalar_arg(in, value);
    case ir::TileParamKind::Scalar:
      return scalar_arg(in, value);
    case ir::TileParamKind::Bool:
      return ir::TileArg(ir::Setting(WW_TRY(as_bool(in, value, what))));
    case ir::TileParamKind::Flag: {
      if (!value.is(Kind::Ir)) return ir::TileArg(ir::Setting(WW_TRY(as_bool(in, value, what))));
      const ir::ExprId holds = WW_TRY(condition_of(in, value));
      if (const auto known = ir::const_int(in.fn(), holds))
        return ir::TileArg(ir::Setting(*known != 0));
      return ir::TileArg(holds);
    }
    case ir::TileParamKind::Float:
      if (value.is(Kind::Ir)) return scalar_arg(in, value);  // known at run time
      if (!is_number(value) && !value.is(Kind::Opaque))
        return fail_at(value.span, DiagKind::BadType, "{} is {}, expected a number", what,
                       type_name(value));
      return ir::TileArg(ir::Setting(WW_TRY(as_number(in, value, what))));
    case ir::TileParamKind::Int: {
      const layout::Shape numbers = WW_TRY(as_int_list(in, value, what));
      if (numbers.size() == 1) return ir::TileArg(ir::Setting(numbers[0]));
      if (numbers.empty())
        return fail_at(value.span, DiagKind::BadTileCall, "{} has no numbers, expected one or more",
                       what);
      return ir::TileArg(ir::Setting(join(numbers, ", ")));
    }
  }
  return ir::TileArg();
}

// A float that is written as a number is one of float32, beside float64 one of float64.
void settle_literals(Context& in, ir::TileCall& call, const std::vector<bool>& is_literal) {
  const auto* dst = std::get_if<ir::Region>(&call.args[0]);
  if (dst != nullptr && in.fn()[dst->buffer].dtype == num::DType::Float64) return;
  for (std::size_t i = 0; i < call.args.size(); ++i)
    if (auto* expr = std::get_if<ir::ExprId>(&call.args[i]); is_literal[i] && expr != nullptr)
      *expr = ir::settle(in.fn(), *expr);
}

ir::TileArg default_arg(const ir::TileParam& param) {
  const std::string text(param.default_text);
  switch (param.kind) {
    case ir::TileParamKind::Bool:
    case ir::TileParamKind::Flag:
      return ir::Setting(text == "True");
    case ir::TileParamKind::Float:
      return ir::Setting(std::stod(text));
    case ir::TileParamKind::Int:
      return ir::Setting(std::int64_t{std::stoll(text)});
    default:
      return {};
  }
}

// --- what is not an argument of the op -----------------------------------------------------------

Result<void> read_workspace(Context& in, const Given& value, ir::TileCall& call) {
  if (!value.is(Kind::Dict))
    return fail_at(value.span, DiagKind::BadTileCall, "`workspace` is {}, expected a dict",
                   type_name(value));
  for (const auto& [key, item] : value.as<DictObject>().items) {
    if (!item.is(Kind::Buffer))
      return fail_at(value.span, DiagKind::BadTileCall, "`workspace` holds {}, expected buffers",
                     type_name(item));
    call.workspace.emplace_back(WW_TRY(as_text(in, {key, value.span}, "a key of `workspace`")),
                                item.buffer());
  }
  return {};
}

// `l1_evict="L1::no_allocate"` and `prefetch_size="L2::256B"`, as PTX writes them.
ir::Setting without_cache_level(std::string_view name, ir::Setting setting) {
  const auto* given = std::get_if<std::string>(&setting);
  if (given == nullptr) return setting;
  std::string_view word = *given;
  const std::string_view level = name == "l1_evict" ? "L1::" : "L2::";
  const bool is_size = name == "prefetch_size";
  if ((!is_size && name != "l1_evict" && name != "l2_evict") || !word.starts_with(level))
    return setting;
  word.remove_prefix(level.size());
  if (!is_size) return ir::Setting(std::string(word));
  for (const std::int64_t bytes : {64, 128, 256})
    if (word == fmt::format("{}B", bytes)) return ir::Setting(bytes);
  return setting;
}

// `oob="zero"` or `"nan"`, as TVM's copies through tensor maps have it, is a fill value.
Result<ir::Setting> fill_of_oob(Context& in, const Given& value) {
  const std::string word = WW_TRY(as_text(in, value, "`oob`"));
  if (word == "zero") return ir::Setting(std::int64_t{0});
  if (word == "nan") return ir::Setting(std::numeric_limits<double>::quiet_NaN());
  return fail_at(value.span, DiagKind::BadTileCall,
                 "`oob` of `copy_async` is \"{}\", expected \"zero\" or \"nan\"", word);
}

Result<void> read_setting(Context& in, const std::string& name, const Given& value,
                          ir::TileCall& call) {
  if (name == "oob" && call.op == ir::TileOp::CopyAsync) {
    call.config.emplace_back("fill_value", WW_TRY(fill_of_oob(in, value)));
    return {};
  }
  call.config.emplace_back(name, without_cache_level(name, WW_TRY(as_setting(in, value, name))));
  return {};
}

Result<void> read_keyword(Context& in, const CallArgs::Named& named, ir::TileCall& call) {
  if (named.name == "dispatch") {
    if (!named.is(Kind::None)) call.dispatch = WW_TRY(as_text(in, named, "`dispatch`"));
    return {};
  }
  if (named.name == "workspace") {
    if (named.is(Kind::None)) return {};
    return read_workspace(in, named, call);
  }
  if (named.name == "config" && named.is(Kind::Dict)) {
    for (const auto& [key, item] : named.as<DictObject>().items) {
      const std::string name = WW_TRY(as_text(in, {key, named.span}, "a key of `config`"));
      WW_TRY_VOID(read_setting(in, name, {item, named.span}, call));
    }
    return {};
  }
  if (named.is(Kind::None)) return {};
  return read_setting(in, named.name, named, call);
}

// --- several CTAs --------------------------------------------------------------------------------
//
// `multicast=` and `split=` of copy_async: settings that the script turns into others.
//
//     Tx.copy_async(tile[0:64, :], A[m:m + 64, k:k + 64], mbar=bar, multicast=(0, 1), split=True)
//
// is, in the CTA of rank r, a copy of its half that goes to both:
//
//     Tx.copy_async(tile[r * 32:r * 32 + 32, :], A[m + r * 32:m + r * 32 + 32, k:k + 64], mbar=bar, cta_mask=3)

// The ranks that `multicast=` lists, and whether they share the copy among them.
struct Multicast {
  std::vector<ir::ExprId> ranks = {};
  Span at = {};
  std::optional<Span> split = {};  // where it says so
};

constexpr std::size_t kMaxRanks = 16;

ir::ExprId number(Context& in, std::int64_t value, Span span) {
  return ir::int_imm(in.fn(), num::DType::Int32, value, span);
}

ir::ExprId index(Context& in, ir::ExprOp op, ir::ExprId a, ir::ExprId b, Span span) {
  return ir::index_binary(in.fn(), op, a, b, span);
}

// The rank of the executing CTA in its cluster, from the ids that the kernel has declared.
Result<ir::ExprId> own_rank(Context& in, Span span) {
  const ir::Stmt* declared = nullptr;
  for (const ir::Block& block : in.kernel->blocks)
    for (const ir::StmtId id : block) {
      const ir::Stmt& s = in.fn()[id];
      if (s.kind == ir::StmtKind::ScopeIds && s.scope_id == ir::ScopeIdKind::CtaIdInCluster)
        declared = &s;
    }
  if (declared == nullptr)
    return fail_at(span, DiagKind::BadTileCall,
                   "`split` of a copy in a kernel without `T.cta_id_in_cluster([n])`");
  ir::ExprId out = ir::var_ref(in.fn(), declared->vars[0], span);
  ir::ExprId step = {};
  for (std::size_t d = 1; d < declared->vars.size(); ++d) {
    const ir::ExprId extent = declared->args[d - 1];
    step = step.valid() ? index(in, ir::ExprOp::Mul, step, extent, span) : extent;
    const ir::ExprId id = ir::var_ref(in.fn(), declared->vars[d], span);
    out = index(in, ir::ExprOp::Add, out, index(in, ir::ExprOp::Mul, id, step, span), span);
  }
  return out;
}

// Where the executing CTA stands in the list.
Result<ir::ExprId> own_place(Context& in, const std::vector<ir::ExprId>& ranks, Span span) {
  const ir::ExprId own = WW_TRY(own_rank(in, span));
  bool is_in_order = true;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    is_in_order = is_in_order && ir::const_int(in.fn(), ranks[i]) == static_cast<std::int64_t>(i);
  if (is_in_order) return own;
  ir::ExprId out = number(in, 0, span);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const ir::ExprId is_here = WW_TRY(ir::binary(in.fn(), ir::ExprOp::Eq, {own}, {ranks[i]}, span));
    out = WW_TRY(ir::choose(in.fn(), ir::ExprOp::Select, is_here,
                            {number(in, static_cast<std::int64_t>(i), span)}, {out}, span));
  }
  return out;
}

// The first dimension that so many CTAs can share: its extent, and its place among those longer than 1.
struct Shared {
  std::int64_t extent = 0;
  std::size_t place = 0;
};
std::optional<Shared> shared_dimension(const ir::Function& f, const ir::Region& region,
                                       std::int64_t ctas) {
  std::size_t place = 0;
  for (const ir::RangeExpr& range : region.ranges) {
    const auto extent = ir::const_int(f, range.extent);
    if (extent == 1) continue;
    if (extent && *extent % ctas == 0) return Shared{*extent, place};
    ++place;
  }
  return std::nullopt;
}

// The share of a region: `place` counts the dimensions longer than 1.
void take_share(Context& in, ir::Region& region, std::size_t place, std::int64_t extent,
                ir::ExprId own, Span span) {
  for (ir::RangeExpr& range : region.ranges) {
    if (ir::const_int(in.fn(), range.extent) == 1) continue;
    if (place-- != 0) continue;
    const ir::ExprId step = index(in, ir::ExprOp::Mul, own, number(in, extent, span), span);
    range.min = index(in, ir::ExprOp::Add, range.min, step, span);
    range.extent = number(in, extent, span);
    return;
  }
}

Result<void> split_copy(Context& in, const Multicast& multicast,
                        const std::vector<ir::ExprId>& ranks, ir::TileCall& call) {
  const Span span = *multicast.split;
  const auto ctas = static_cast<std::int64_t>(ranks.size());
  auto* dst = std::get_if<ir::Region>(&call.args[0]);
  auto* src = std::get_if<ir::Region>(&call.args[1]);
  if (dst == nullptr || src == nullptr) return {};  // reported elsewhere
  const auto shared = shared_dimension(in.fn(), *dst, ctas);
  if (!shared)
    return fail_at(span, DiagKind::BadTileCall,
                   "`split` of a copy over {} CTAs, and no dimension of it has a multiple of {} "
                   "elements",
                   ctas, ctas);
  const ir::ExprId own = WW_TRY(own_place(in, ranks, span));
  for (ir::Region* region : {dst, src})
    take_share(in, *region, shared->place, shared->extent / ctas, own, span);
  return {};
}

// The mask as a constant where the ranks are.
Result<ir::Setting> mask_of(Context& in, const Multicast& multicast) {
  std::int64_t constant = 0;
  ir::ExprId mask = {};
  for (const ir::ExprId rank : multicast.ranks) {
    if (const auto value = ir::const_int(in.fn(), rank)) {
      if (*value < 0 || *value >= static_cast<std::int64_t>(kMaxRanks))
        return fail_at(multicast.at, DiagKind::BadTileCall,
                       "`multicast` to rank {}, expected 0 to {}", *value, kMaxRanks - 1);
      if ((constant >> *value & 1) != 0)
        return fail_at(multicast.at, DiagKind::BadTileCall, "`multicast` lists rank {} twice",
                       *value);
      constant |= std::int64_t{1} << *value;
      continue;
    }
    const ir::ExprId bit = WW_TRY(
        ir::binary(in.fn(), ir::ExprOp::Shl, {number(in, 1, multicast.at)}, {rank}, multicast.at));
    mask = mask.valid()
               ? WW_TRY(ir::binary(in.fn(), ir::ExprOp::BitOr, {mask}, {bit}, multicast.at))
               : bit;
  }
  if (!mask.valid()) return ir::Setting(constant);
  if (constant != 0)
    mask = WW_TRY(ir::binary(in.fn(), ir::ExprOp::BitOr, {mask},
                             {number(in, constant, multicast.at)}, multicast.at));
  return ir::Setting(mask);
}

// The ranks of a constant `cta_mask=`, to share a copy among.
Result<std::vector<ir::ExprId>> ranks_of_mask(Context& in, const ir::TileCall& call, Span span) {
  const ir::Setting* setting = ir::cta_mask_setting(call);
  const auto* mask = setting == nullptr ? nullptr : std::get_if<std::int64_t>(setting);
  if (mask == nullptr)
    return fail(
        diag_at(span, DiagKind::BadTileCall, "`split` without a list of CTAs that share the copy")
            .with_note("`multicast=(0, 1)` lists their ranks"));
  std::vector<ir::ExprId> out;
  for (std::size_t rank = 0; rank < kMaxRanks; ++rank)
    if ((*mask >> rank & 1) != 0) out.push_back(number(in, static_cast<std::int64_t>(rank), span));
  return out;
}

// Takes a keyword of a call that is one of the two; false: it is not, or is meant for tensor
// memory.
Result<bool> read_multicast(Context& in, const CallArgs::Named& named, Multicast& multicast) {
  if (named.name == "split") {
    if (WW_TRY(as_bool(in, named, "`split`"))) multicast.split = named.span;
    return true;
  }
  const bool is_list = named.is(Kind::Tuple) || named.is(Kind::List);
  if (named.name != "multicast" || !is_list) return false;
  multicast.at = named.span;
  for (const Value& each : WW_TRY(as_sequence(in, named, "`multicast`")))
    multicast.ranks.push_back(WW_TRY(index_expr(in, {each, named.span})));
  if (multicast.ranks.empty() || multicast.ranks.size() > kMaxRanks)
    return fail_at(named.span, DiagKind::BadTileCall, "`multicast` to {} CTAs, expected 1 to {}",
                   multicast.ranks.size(), kMaxRanks);
  return true;
}

// Makes the call what the settings say.
Result<void> apply_multicast(Context& in, const Multicast& multicast, ir::TileCall& call) {
  if (!multicast.ranks.empty()) {
    if (ir::cta_mask_setting(call) != nullptr)
      return fail_at(multicast.at, DiagKind::BadTileCall,
                     "`copy_async` with both `multicast` and `cta_mask`, expected one of the two");
    call.config.emplace_back("cta_mask", WW_TRY(mask_of(in, multicast)));
  }
  if (!multicast.split) return {};
  const std::vector<ir::ExprId> ranks =
      multicast.ranks.empty() ? WW_TRY(ranks_of_mask(in, call, *multicast.split)) : multicast.ranks;
  return split_copy(in, multicast, ranks, call);
}

}  // namespace

bool is_tile_namespace(std::string_view path) { return find_scope_row(path) != nullptr; }

std::vector<std::string_view> tile_namespaces() {
  std::vector<std::string_view> out;
  for (const ScopeRow& row : kScopes) out.push_back(row.path);
  return out;
}

std::optional<TilePath> parse_tile_path(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const ScopeRow* scope = find_scope_row(path.substr(0, dot));
  const std::optional<ir::TileOp> op = ir::find_tile_op(path.substr(dot + 1));
  if (scope == nullptr || !op) return std::nullopt;
  return TilePath{scope->unit, *op};
}

Result<Value> call_tile(Context& in, const TilePath& path, CallArgs& args) {
  const std::string name(ir::name_of(path.op));
  if (!in.in_kernel())
    return fail_at(args.call, DiagKind::BadTileCall, "`{}` outside of a kernel", name);
  const std::vector<ir::TileParam>& params = ir::params_of(path.op);
  ir::TileCall call;
  call.op = path.op;
  call.scope = path.scope;
  for (const ir::TileParam& param : params) call.args.push_back(default_arg(param));
  // One value as the predicate of a copy is a setting, a tile of them an argument.
  const auto param_named = [&](const CallArgs::Named& named) {
    if (named.name == "predicate" && !is_region_like(named)) return params.end();
    return std::ranges::find(params, named.name, &ir::TileParam::name);
  };
  // Settings first: regions are read by them.
  Multicast multicast;
  for (const CallArgs::Named& named : args.named) {
    if (param_named(named) != params.end()) continue;
    if (path.op == ir::TileOp::CopyAsync && WW_TRY(read_multicast(in, named, multicast))) continue;
    WW_TRY_VOID(read_keyword(in, named, call));
  }
  std::vector<bool> given(params.size(), false);
  std::vector<bool> is_literal(params.size(), false);
  if (args.plain.size() > params.size())
    return fail(diag_at(args.plain[params.size()].span, DiagKind::BadTileCall,
                        "`{}` with {} arguments, expected at most {}", name, args.plain.size(),
                        params.size())
                    .with_note(fmt::format("it takes ({})", signature_text(path.op))));
  for (std::size_t i = 0; i < args.plain.size(); ++i) {
    call.args[i] = WW_TRY(read_arg(in, call, params[i], args.plain[i]));
    given[i] = true;
    is_literal[i] = args.plain[i].is(Kind::Float);
  }
  for (const CallArgs::Named& named : args.named) {
    const auto param = param_named(named);
    if (param == params.end()) continue;
    const auto i = static_cast<std::size_t>(param - params.begin());
    if (given[i])
      return fail_at(named.span, DiagKind::BadTileCall, "`{}` of `{}` is given twice", named.name,
                     name);
    call.args[i] = WW_TRY(read_arg(in, call, *param, named));
    given[i] = true;
    is_literal[i] = named.is(Kind::Float);
  }
  settle_literals(in, call, is_literal);
  for (std::size_t i = 0; i < params.size(); ++i)
    if (params[i].required && !given[i])
      return fail(
          diag_at(args.call, DiagKind::BadTileCall, "`{}` without `{}`", name, params[i].name)
              .with_note(fmt::format("it takes ({})", signature_text(path.op))));
  WW_TRY_VOID(apply_multicast(in, multicast, call));
  std::optional<FoldedInto> then;
  if (ir::is_reduction(call.op) && !ir::gives_index(call.op))
    then = WW_TRY(read_off_layouts(in, call, args.call));
  ir::Stmt out = stmt_node(ir::StmtKind::Tile, args.call);
  out.tile = in.fn().add(std::move(call));
  emit(in, std::move(out));
  return then ? call_tile(in, then->path, then->args) : none();
}

}  // namespace ww::script
