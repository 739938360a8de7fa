// SPDX-License-Identifier: Apache-2.0
// Below a CTA everything is constant and has one dimension that counts, so extents between units go
// through a closure (launch_extents.cpp). The grid is compared dimension by dimension
// (launch_grid.cpp).
#include "ir/launch/launch.h"

#include <algorithm>
#include <utility>

#include "base/join.h"
#include "base/wide.h"
#include "ir/launch/active_set.h"
#include "ir/launch/extents.h"
#include "ir/launch/grid.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

constexpr std::int64_t kMaxBlockZ = 64;
constexpr std::int64_t kMaxClusterCtas = 16;

class Launch {
 public:
  explicit Launch(const Function& f) : f_(f) {}

  Result<LaunchShape> from_scope_ids() {
    WW_TRY_VOID(collect());
    if (declared_.empty()) return shape_;
    WW_TRY_VOID(find_grid(f_, declared_, shape_));
    WW_TRY_VOID(check_grid());
    WW_TRY_VOID(find_block());
    return shape_;
  }

  Result<LaunchShape> from_launch_threads() {
    const std::vector<StmtId> found = all_of(StmtKind::LaunchThread);
    for (const StmtId id : found) WW_TRY_VOID(bind(f_[id]));
    WW_TRY_VOID(check_block(found.empty() ? Span{} : f_[found.front()].span));
    WW_TRY_VOID(check_grid());
    return shape_;
  }

 private:
  // --- declarations ---

  [[nodiscard]] std::vector<StmtId> all_of(StmtKind kind) const {
    std::vector<StmtId> out;
    for_each_stmt(f_, f_.body, [&](StmtId id) {
      if (f_[id].kind == kind) out.push_back(id);
    });
    return out;
  }

  Result<void> collect() {
    for (const StmtId id : all_of(StmtKind::ScopeIds)) {
      DeclaredId declared{f_[id].scope_id, f_[id].span, {}};
      for (const ExprId arg : f_[id].args) declared.extents.push_back(extent_of(f_, arg));
      WW_TRY_VOID(check(declared, f_[id].vars.size()));
      declared_.push_back(std::move(declared));
    }
    return {};
  }

  static Result<void> check(const DeclaredId& declared, std::size_t vars) {
    const ScopeIdFacts& facts = facts_of(declared.kind);
    const std::size_t dims = declared.extents.empty() ? vars : declared.extents.size();
    if (static_cast<int>(dims) > facts.max_dims)
      return refuse(declared, "`{}` has {} dimensions: at most {} {}", facts.name, dims,
                    facts.max_dims, facts.max_dims == 1 ? "is possible" : "are possible");
    if (declared.extents.empty() && vars > 1)
      return refuse(declared,
                    "`{}` names {} variables and no extent: only one can follow from the "
                    "other ids",
                    facts.name, vars);
    if (!declared.extents.empty() && vars != 0 && vars != declared.extents.size())
      return refuse(declared, "`{}` names {} variables for {} extents", facts.name, vars,
                    declared.extents.size());
    for (const Extent& e : declared.extents) WW_TRY_VOID(check(declared, e));
    return {};
  }

  static Result<void> check(const DeclaredId& declared, const Extent& e) {
    const std::string_view name = facts_of(declared.kind).name;
    if (e.is_constant() && e.value <= 0)
      return refuse(declared, "`{}` has the extent {}: expected at least 1", name, e.value);
    const bool of_grid =
        declared.kind == ScopeIdKind::CtaId || declared.kind == ScopeIdKind::ClusterId;
    if (!e.is_constant() && !of_grid)
      return refuse(declared,
                    "the extent of `{}` is not constant: only the grid may be known at "
                    "launch (`cta_id`, `cluster_id`)",
                    name);
    return {};
  }

  // --- limits ---

  Result<void> check_grid() const {
    constexpr std::array<std::int64_t, 3> kMax{0x7fffffff, 65535, 65535};
    for (std::size_t d = 0; d < 3; ++d)
      if (shape_.grid[d].is_constant() && shape_.grid[d].value > kMax[d])
        return fail(diag(DiagKind::BadScopeIds,
                         "the grid has {} CTAs along {}: at most {} are possible",
                         shape_.grid[d].value, "xyz"[d], kMax[d])
                        .with_span(span_of(ScopeIdKind::CtaId)));
    Dims cluster;
    for (std::size_t d = 0; d < 3; ++d) cluster[d] = {shape_.cluster[d], {}};
    if (product(cluster).value_or(kMaxClusterCtas + 1) > kMaxClusterCtas)
      return fail(diag(DiagKind::BadScopeIds, "a cluster has {} CTAs: at most {} are possible",
                       text_of(cluster), kMaxClusterCtas)
                      .with_span(span_of(ScopeIdKind::CtaIdInCluster)));
    return {};
  }

  [[nodiscard]] Span span_of(ScopeIdKind kind) const {
    for (const DeclaredId& declared : declared_)
      if (declared.kind == kind) return declared.span;
    return declared_.empty() ? Span{} : declared_.front().span;
  }

  // --- the block ---

  Result<void> find_block() {
    UnitExtents extents(declared_);
    if (shape_.has_clusters)
      WW_TRY_VOID(extents.state_cluster(shape_.cluster[0] * shape_.cluster[1] * shape_.cluster[2]));
    WW_TRY_VOID(extents.close());
    const auto threads = extents.find(Unit::Cta, Unit::Thread);
    if (!threads) {
      return fail(
          diag(DiagKind::BadScopeIds,
               "the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or "
               "`warp_id([n])`")
              .with_span(declared_.front().span));
    }
    WW_TRY_VOID(extents.check_followers());
    shape_.block = {*threads, 1, 1};
    const auto ids = WW_TRY(stated(f_, declared_, ScopeIdKind::ThreadId));
    if (ids)
      for (std::size_t d = 0; d < 3; ++d) shape_.block[d] = ids->dims[d].value;
    return check_block(span_of(ScopeIdKind::ThreadId));
  }

  Result<void> check_block(Span span) const {
    const auto xy = checked_mul(shape_.block[0], shape_.block[1]);
    const auto all = xy ? checked_mul(*xy, shape_.block[2]) : std::nullopt;
    if (!all || std::cmp_greater(*all, kMaxThreads))
      return fail(diag(DiagKind::BadScopeIds, "a CTA has {} threads: at most {} are possible",
                       join(shape_.block, " x "), kMaxThreads)
                      .with_span(span));
    if (shape_.block[2] > kMaxBlockZ)
      return fail(diag(DiagKind::BadScopeIds,
                       "a CTA has {} threads along z: at most {} are possible", shape_.block[2],
                       kMaxBlockZ)
                      .with_span(span));
    return {};
  }

  // --- launch variables ---

  Result<void> bind(const Stmt& stmt) {
    using Kind = HardwareId::Kind;
    const auto [kind, d] = stmt.hardware;
    const Extent extent = extent_of(f_, stmt.args[0]);
    if (extent.is_constant() ? extent.value <= 0 : kind != Kind::BlockIdx)
      return fail(diag(DiagKind::BadScopeIds,
                       "the extent of `{}` is {}: expected a constant of at least 1",
                       name_of(stmt.hardware),
                       extent.is_constant() ? fmt::format("{}", extent.value) : "not constant")
                      .with_span(stmt.span));
    WW_TRY_VOID(seen_once(stmt, extent));
    if (kind == Kind::BlockIdx) shape_.grid[d] = extent;
    if (kind == Kind::ThreadIdx) shape_.block[d] = extent.value;
    if (kind == Kind::ClusterCtaIdx) {
      shape_.cluster[d] = extent.value;
      shape_.has_clusters = true;
    }
    return {};
  }

  Result<void> seen_once(const Stmt& stmt, const Extent& extent) {
    for (const auto& [id, seen] : launched_) {
      if (id != stmt.hardware || surely_equal(f_, seen.extent, extent)) continue;
      return fail(diag(DiagKind::BadScopeIds, "`{}` is launched twice with different extents",
                       name_of(stmt.hardware))
                      .with_span(stmt.span)
                      .with_note("first here", seen.span));
    }
    launched_.push_back({stmt.hardware, {extent, stmt.span}});
    return {};
  }

  struct Seen {
    Extent extent;
    Span span;
  };

  const Function& f_;
  std::vector<DeclaredId> declared_;
  std::vector<std::pair<HardwareId, Seen>> launched_;
  LaunchShape shape_;
};

std::int64_t linear(const std::array<std::int64_t, 3>& at,
                    const std::array<std::int64_t, 3>& size) {
  return at[0] + size[0] * (at[1] + size[1] * at[2]);
}

}  // namespace

Result<LaunchShape> launch_shape(const Function& function) {
  Launch launch(function);
  LaunchShape out = WW_TRY(function.level == Level::Lowered ? launch.from_launch_threads()
                                                            : launch.from_scope_ids());
  for (const auto& [name, setting] : function.attrs) {
    if (name != kCooperativeAttribute && name != kProgrammaticAttribute) continue;
    const auto* const is_set = std::get_if<bool>(&setting);
    if (is_set == nullptr)
      return fail(DiagKind::BadArgument, "`{}` is neither True nor False", name);
    (name == kCooperativeAttribute ? out.is_cooperative : out.is_programmatic) = *is_set;
  }
  return out;
}

std::int64_t scope_id_value(const LaunchShape& shape, ScopeIdKind kind, std::size_t dim,
                            std::size_t dims, const std::array<std::int64_t, 3>& grid,
                            const ThreadPlace& place) {
  const std::array<std::int64_t, 3> thread{place.thread % shape.block[0],
                                           place.thread / shape.block[0] % shape.block[1],
                                           place.thread / (shape.block[0] * shape.block[1])};
  std::array<std::int64_t, 3> cluster{};
  std::array<std::int64_t, 3> clusters{};
  std::array<std::int64_t, 3> rank{};
  for (std::size_t d = 0; d < 3; ++d) {
    cluster[d] = place.cta[d] / shape.cluster[d];
    clusters[d] = grid[d] / shape.cluster[d];
    rank[d] = place.cta[d] % shape.cluster[d];
  }
  switch (kind) {
    case ScopeIdKind::ClusterId:
      return dims == 1 ? linear(cluster, clusters) : cluster[dim];
    case ScopeIdKind::CtaId:
      return dims == 1 ? linear(place.cta, grid) : place.cta[dim];
    case ScopeIdKind::CtaIdInCluster:
      return dims == 1 ? linear(rank, shape.cluster) : rank[dim];
    case ScopeIdKind::CtaIdInPair:
      return linear(rank, shape.cluster) % 2;
    case ScopeIdKind::WarpgroupId:
      return place.thread / 128;
    case ScopeIdKind::WarpId:
      return place.thread / 32;
    case ScopeIdKind::WarpIdInWg:
      return place.thread / 32 % 4;
    case ScopeIdKind::LaneId:
      return place.thread % 32;
    case ScopeIdKind::ThreadId:
      return dims == 1 ? place.thread : thread[dim];
    case ScopeIdKind::ThreadIdInWg:
      return place.thread % 128;
  }
  return 0;
}

std::vector<IdBinding> id_bindings(const Function& function) {
  std::vector<IdBinding> out(function.var_count());
  for_each_stmt(function, function.body, [&](StmtId id) {
    const Stmt& stmt = function[id];
    if (stmt.kind == StmtKind::LaunchThread) out[stmt.var.index] = {id, 0};
    if (stmt.kind != StmtKind::ScopeIds) return;
    for (std::size_t d = 0; d < stmt.vars.size(); ++d) out[stmt.vars[d].index] = {id, d};
  });
  return out;
}

}  // namespace ww::ir
