// SPDX-License-Identifier: Apache-2.0
#include "script/api/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/fail_at.h"
#include "base/suggest.h"
#include "ir/launch/launch.h"
#include "script/interp/evaluator.h"

namespace ww::script::launch_api {
namespace {

using num::DType;

constexpr std::string_view kAxes = "xyz";

// --- what is launched ----------------------------------------------------------------------------

// How a launch is scheduled, which changes nothing that a kernel computes.
constexpr std::string_view kHints[] = {
    "priority",           "cluster_scheduling_policy",
    "mem_sync_domain",    "preferred_shared_memory_carveout",
    "shared_memory_mode", "nvlink_util_centric_scheduling",
    "dynamic_smem_bytes", "portable_cluster_size_mode",
};
// What a launch is told besides its extents: attributes of the kernel.
constexpr std::string_view kAttributes[] = {ir::kCooperativeAttribute, ir::kProgrammaticAttribute};
constexpr std::string_view kAttributePrefix = "tirx.";
// What belongs to a host that launches.
constexpr std::string_view kOfTheHost[] = {"stream", "mem_sync_domain_map", "access_policy_window",
                                           "programmatic_event", "launch_completion_event"};

template <std::size_t kCount>
bool is_one_of(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Result<void> check_setting(const CallArgs::Named& named) {
  if (named.is(Kind::None) || is_one_of(named.name, kHints)) return {};
  if (is_one_of(named.name, kOfTheHost))
    return fail_at(named.name_span, DiagKind::BadArgument,
                   "`{}` of `T.cuda.LaunchConfig` is not taken: the program that launches the "
                   "kernel chooses it",
                   named.name);
  std::vector<std::string_view> known = {"grid", "block", "cluster", "preferred_cluster"};
  known.insert(known.end(), std::begin(kHints), std::end(kHints));
  for (const std::string_view each : kAttributes)
    known.push_back(each.substr(kAttributePrefix.size()));
  return fail_at(named.name_span, DiagKind::BadArgument, "`T.cuda.LaunchConfig` has no `{}`{}",
                 named.name, did_you_mean(named.name, known));
}

// Whether it is an attribute of the launch, which is added if it is set.
Result<bool> take_attribute(Context& in, const CallArgs::Named& named, LaunchObject& out) {
  for (const std::string_view each : kAttributes) {
    if (named.name != each.substr(kAttributePrefix.size())) continue;
    if (named.is(Kind::None)) return true;
    if (WW_TRY(as_bool(in, {named, named.name_span}, fmt::format("`{}`", named.name))))
      out.attributes.push_back(each);
    return true;
  }
  return false;
}

Result<LaunchObject::Dims> dims_of(Context& in, const Args& a, std::size_t i,
                                   std::string_view what) {
  LaunchObject::Dims out;
  if (!a.given(i)) return out;
  out.span = a.span(i);
  out.extents = is_sequence(a[i]) ? WW_TRY(as_sequence(in, a[i], what)) : std::vector<Value>{a[i]};
  if (out.extents.empty() || out.extents.size() > kAxes.size())
    return fail_at(out.span, DiagKind::BadScopeIds, "{} with {} extents, expected 1 to 3", what,
                   out.extents.size());
  return out;
}

Result<Value> launch_config(Context& in, Args& a) {
  LaunchObject out;
  out.grid = WW_TRY(dims_of(in, a, 0, "`grid`"));
  out.block = WW_TRY(dims_of(in, a, 1, "`block`"));
  out.cluster = WW_TRY(dims_of(in, a, 2, "`cluster`"));
  out.preferred = WW_TRY(dims_of(in, a, 3, "`preferred_cluster`"));
  for (const CallArgs::Named& named : a.extra)
    if (!WW_TRY(take_attribute(in, named, out))) WW_TRY_VOID(check_setting(named));
  return in.heap.wrap(Kind::Launch, std::move(out));
}

Result<Value> kernel_options(Context& in, Args& a) {
  constexpr std::string_view kOptions[] = {
      "tirx.launch_bounds_min_blocks_per_sm", "tirx.launch_bounds_max_blocks_per_cluster",
      "tirx.max_registers_per_thread", "tirx.required_block_size"};
  FrameObject out;
  for (std::size_t i = 0; i < std::size(kOptions); ++i)
    if (a.given(i)) out.attrs.emplace_back(kOptions[i], WW_TRY(as_setting(in, a[i], "an option")));
  return in.heap.wrap(Kind::Frame, std::move(out));
}

// --- declaring -----------------------------------------------------------------------------------

// Among the first statements of the kernel, wherever it is read.
const std::vector<ir::VarId>& declare(Context& in, ir::ScopeIdKind kind,
                                      const std::vector<ir::ExprId>& extents, Span span) {
  KernelContext& k = *in.kernel;
  const auto found = k.launch.declared.find(kind);
  if (found != k.launch.declared.end()) return found->second;
  ir::Stmt out = stmt_node(ir::StmtKind::ScopeIds, span);
  out.scope_id = kind;
  for (const ir::ExprId extent : extents) out.args.push_back(extent);
  for (std::size_t i = 0; i < std::max<std::size_t>(out.args.size(), 1); ++i)
    out.vars.push_back(new_var(in, ir::VarKind::ScopeId, ir::Type::of(DType::Int32), span));
  std::vector<ir::VarId>& vars = k.launch.declared[kind];
  vars = out.vars;
  const auto place = static_cast<std::ptrdiff_t>(k.launch.declarations++);
  k.blocks[0].insert(k.blocks[0].begin() + place, in.fn().add(std::move(out)));
  return vars;
}

Result<std::vector<ir::ExprId>> extents_of(Context& in, const LaunchObject::Dims& dims) {
  std::vector<ir::ExprId> out;
  for (const Value& extent : dims.extents)
    out.push_back(WW_TRY(index_expr(in, {extent, dims.span})));
  return out;
}

// --- reading -------------------------------------------------------------------------------------

Diag without_launch(const Args& a) {
  return diag_at(a.call, DiagKind::BadScopeIds, "`{}` without a launch", a.row->name)
      .with_note("`T.device_entry(launch=T.cuda.LaunchConfig(grid=…, block=…))` states one");
}

// A name is bound to what was read as it is, not to a scalar that holds it.
Value read_id(Context& in, ir::ExprId id) {
  in.kernel->launch.reads.insert(id.index);
  return of_expr(id);
}

Result<std::size_t> axis_of(Context& in, const Args& a) {
  const std::string axis = WW_TRY(as_text(in, a[0], "the axis"));
  const std::size_t place = axis.size() == 1 ? kAxes.find(axis[0]) : std::string_view::npos;
  if (place != std::string_view::npos) return place;
  return fail_at(a.span(0), DiagKind::BadArgument, "axis \"{}\", expected \"x\", \"y\" or \"z\"",
                 axis);
}

// One dimension of an id; 0 for a dimension that the launch does not have.
Result<Value> id_along(Context& in, Args& a, ir::ScopeIdKind kind,
                       const std::vector<ir::ExprId>& extents) {
  WW_TRY_VOID(require_device(in, a, DiagKind::BadScopeIds));
  if (in.kernel->launch.grid.empty()) return fail(without_launch(a));
  const std::size_t axis = WW_TRY(axis_of(in, a));
  if (axis >= extents.size()) return read_id(in, ir::int_imm(in.fn(), DType::Int32, 0, a.call));
  return read_id(in, ir::var_ref(in.fn(), declare(in, kind, extents, a.call)[axis], a.call));
}

template <ir::ScopeIdKind kKind, auto kExtents>
Result<Value> id_row(Context& in, Args& a) {
  return id_along(in, a, kKind, in.kernel->launch.*kExtents);
}

// As many clusters as the grid has of them; without clusters each CTA is one.
Result<Value> cluster_id(Context& in, Args& a) {
  const LaunchIds& launch = in.kernel->launch;
  if (launch.cluster.empty()) return id_row<ir::ScopeIdKind::CtaId, &LaunchIds::grid>(in, a);
  std::vector<ir::ExprId> extents;
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    if (i >= launch.cluster.size()) {
      extents.push_back(launch.grid[i]);
      continue;
    }
    const auto grid = ir::const_int(in.fn(), launch.grid[i]);
    const auto cluster = ir::const_int(in.fn(), launch.cluster[i]);
    if (grid && cluster && *cluster > 0)
      extents.push_back(ir::int_imm(in.fn(), DType::Int32, *grid / *cluster, a.call));
    else
      extents.push_back(WW_TRY(ir::binary(in.fn(), ir::ExprOp::FloorDiv, {launch.grid[i], false},
                                          {launch.cluster[i], false}, a.call)));
  }
  return id_along(in, a, ir::ScopeIdKind::ClusterId, extents);
}

template <auto kExtents>
Result<Value> extent_along(Context& in, Args& a) {
  if (in.kernel->launch.grid.empty()) return fail(without_launch(a));
  const std::vector<ir::ExprId>& extents = in.kernel->launch.*kExtents;
  const std::size_t axis = WW_TRY(axis_of(in, a));
  return read_id(
      in, axis < extents.size() ? extents[axis] : ir::int_imm(in.fn(), DType::Int32, 1, a.call));
}

// x counts fastest.
Result<Value> linear_thread_id(Context& in, Args& a) {
  WW_TRY_VOID(require_device(in, a, DiagKind::BadScopeIds));
  const std::vector<ir::ExprId> block = in.kernel->launch.block;
  if (block.empty()) return fail(without_launch(a));
  const std::vector<ir::VarId>& vars = declare(in, ir::ScopeIdKind::ThreadId, block, a.call);
  Value out = of_expr(ir::var_ref(in.fn(), vars.back(), a.call));
  for (std::size_t i = vars.size() - 1; i-- > 0;) {
    out = WW_TRY(binary(in, Op::Mul, out, of_expr(block[i]), a.call));
    out = WW_TRY(binary(in, Op::Add, out, of_expr(ir::var_ref(in.fn(), vars[i], a.call)), a.call));
  }
  return vars.size() == 1 ? read_id(in, out.expr()) : out;
}

template <ir::ScopeIdKind kKind>
Result<Value> unit_id(Context& in, Args& a) {
  WW_TRY_VOID(require_device(in, a, DiagKind::BadScopeIds));
  return read_id(in, ir::var_ref(in.fn(), declare(in, kKind, {}, a.call)[0], a.call));
}

// Whether the program states a launch or declares ids.
Result<Value> thread_rank(Context& in, Args& a) {
  return in.kernel->launch.block.empty() ? unit_id<ir::ScopeIdKind::ThreadId>(in, a)
                                         : linear_thread_id(in, a);
}

constexpr BuiltinRow kRows[] = {
    {"T.cuda.LaunchConfig", "grid, block, cluster?, preferred_cluster?, **settings", launch_config},
    {"T.cuda.KernelOptions",
     "min_blocks_per_sm?, max_blocks_per_cluster?, max_registers_per_thread?, required_block_size?",
     kernel_options},
    {"T.cuda.block_idx", "axis", id_row<ir::ScopeIdKind::CtaId, &LaunchIds::grid>, true},
    {"T.cuda.thread_idx", "axis", id_row<ir::ScopeIdKind::ThreadId, &LaunchIds::block>, true},
    {"T.cuda.cluster_id", "axis", cluster_id, true},
    {"T.cuda.cluster_cta_id", "axis", id_row<ir::ScopeIdKind::CtaIdInCluster, &LaunchIds::cluster>,
     true},
    {"T.cuda.grid_dim", "axis", extent_along<&LaunchIds::grid>, true},
    {"T.cuda.block_dim", "axis", extent_along<&LaunchIds::block>, true},
    {"T.cuda.cluster_dim", "axis", extent_along<&LaunchIds::cluster>, true},
    {"T.cuda.linear_thread_id", "", linear_thread_id, true},
    {"T.cuda.thread_rank", "", thread_rank, true},
    {"T.cuda.warpgroup_id", "", unit_id<ir::ScopeIdKind::WarpgroupId>, true},
    {"T.cuda.warp_id", "", unit_id<ir::ScopeIdKind::WarpId>, true},
    {"T.cuda.warp_in_warpgroup", "", unit_id<ir::ScopeIdKind::WarpIdInWg>, true},
    {"T.cuda.thread_in_warpgroup", "", unit_id<ir::ScopeIdKind::ThreadIdInWg>, true},
    {"T.cuda.lane_id", "", unit_id<ir::ScopeIdKind::LaneId>, true},
    {"T.cuda.cta_pair_id", "", unit_id<ir::ScopeIdKind::CtaIdInPair>, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::launch_api

namespace ww::script {

Result<void> declare_launch(Context& in, const Given& launch) {
  if (launch.is(Kind::Opaque)) return fail(needs_opaque(in, launch));
  if (!launch.is(Kind::Launch))
    return fail_at(launch.span, DiagKind::BadType,
                   "`launch` is {}, expected `T.cuda.LaunchConfig(grid=, block=)`",
                   type_name(launch));
  const auto& config = launch.as<LaunchObject>();
  LaunchIds& ids = in.kernel->launch;
  ids.grid = WW_TRY(launch_api::extents_of(in, config.grid));
  ids.block = WW_TRY(launch_api::extents_of(in, config.block));
  ids.cluster = WW_TRY(launch_api::extents_of(in, config.cluster));
  launch_api::declare(in, ir::ScopeIdKind::CtaId, ids.grid, config.grid.span);
  launch_api::declare(in, ir::ScopeIdKind::ThreadId, ids.block, config.block.span);
  for (const std::string_view each : config.attributes) in.fn().attrs.emplace_back(each, true);
  if (ids.cluster.empty()) return {};
  launch_api::declare(in, ir::ScopeIdKind::CtaIdInCluster, ids.cluster, config.cluster.span);
  if (config.preferred.extents.empty()) return {};
  ir::Stmt& declared = in.fn().at(in.kernel->blocks[0][ids.declarations - 1]);
  for (const Value& extent : config.preferred.extents) {
    const std::int64_t preferred =
        WW_TRY(as_integer(in, {extent, config.preferred.span}, "`preferred_cluster`"));
    declared.settings.emplace_back(fmt::format("preferred{}", declared.settings.size()), preferred);
  }
  return {};
}

Result<void> take_kernel_options(Context& in, const Given& options) {
  if (options.is(Kind::Opaque)) return fail(needs_opaque(in, options));
  if (!options.is(Kind::Frame))
    return fail_at(options.span, DiagKind::BadType,
                   "`options` is {}, expected `T.cuda.KernelOptions(…)`", type_name(options));
  for (const auto& attribute : options.as<FrameObject>().attrs) in.fn().attrs.push_back(attribute);
  return {};
}

}  // namespace ww::script
