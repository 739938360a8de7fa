// SPDX-License-Identifier: Apache-2.0
// Below a CTA everything is constant and has one dimension that counts, so extents between units go
// through a closure (launch_extents.cpp). The grid is compared dimension by dimension
// (launch_grid.cpp).
#include "ir/launch/launch.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/wide.h"
#include "ir/launch/active_set.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

// --- extents -------------------------------------------------------------------------------------
//
// How many of one unit make up another, below a cluster: the closure behind ir/launch/launch.h.

/// A ScopeIds statement, with its extents looked at. No extent: it follows from other ids.
struct DeclaredId {
  ScopeIdKind kind{};
  Span span;
  std::vector<Extent> extents;
};

// Below the kernel, whose extents have dimensions and may be runtime values.
constexpr std::array kInner{Unit::Thread, Unit::Warp, Unit::Warpgroup,
                            Unit::Cta,    Unit::Pair, Unit::Cluster};

bool is_inner(ScopeIdKind kind) {
  return facts_of(kind).parent != Unit::Kernel && kind != ScopeIdKind::CtaIdInCluster;
}

std::vector<std::size_t> joined(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b) {
  std::vector<std::size_t> out = a;
  for (const std::size_t k : b)
    if (std::find(out.begin(), out.end(), k) == out.end()) out.push_back(k);
  std::sort(out.begin(), out.end());
  return out;
}

std::string counted(std::int64_t n, Unit unit) {
  return fmt::format("{} {}{}", n, unit == Unit::Cta ? "CTA" : name_of(unit), n == 1 ? "" : "s");
}

std::string named(Unit unit) { return unit == Unit::Cta ? "CTA" : std::string(name_of(unit)); }

// "`thread_id([32, 4])` is declared here".
std::string declared_here(const DeclaredId& declared) {
  std::vector<std::string> extents;
  for (const Extent& e : declared.extents)
    extents.push_back(e.is_constant() ? fmt::format("{}", e.value) : "?");
  const std::string inside = extents.empty() ? "" : fmt::format("[{}]", join(extents, ", "));
  return fmt::format("`{}({})` is declared here", facts_of(declared.kind).name, inside);
}

class UnitExtents {
 public:
  /// The ids below the grid state their extents; what is fixed (32 threads of a warp) is added
  /// where an id counts such units. `declared` must outlive this.
  explicit UnitExtents(const std::vector<DeclaredId>& declared) : declared_(declared) {}

  /// A cluster has that many CTAs.
  Result<void> state_cluster(std::int64_t ctas) {
    std::vector<std::size_t> by;
    for (std::size_t k = 0; k < declared_.size(); ++k)
      if (!is_inner(declared_[k].kind)) by.push_back(k);
    return state(Unit::Cluster, Unit::Cta, {ctas, by});
  }

  /// (a->b)·(b->c) = (a->c), solved for each of the three, until nothing changes. BadScopeIds when
  /// two ways give different numbers or a quotient is no integer.
  Result<void> close() {
    WW_TRY_VOID(state_declared());
    do {
      changed_ = false;
      for (const Unit a : kInner)
        for (const Unit b : kInner)
          for (const Unit c : kInner)
            // Nothing is counted from a cluster down to a thread.
            if (a > b && b > c && (a <= Unit::Cta || c >= Unit::Cta)) WW_TRY_VOID(relate(a, b, c));
    } while (changed_);
    return {};
  }

  /// How many `child` a `parent` has, if that is known.
  [[nodiscard]] std::optional<std::int64_t> find(Unit parent, Unit child) const {
    const auto& known = at(parent, child);
    return known ? std::optional(known->extent) : std::nullopt;
  }

  /// Do all ids below the grid that were declared without extent have one now?
  [[nodiscard]] Result<void> check_followers() const {
    for (const DeclaredId& declared : declared_) {
      const ScopeIdFacts& facts = facts_of(declared.kind);
      if (declared.kind == ScopeIdKind::CtaIdInPair && !at(Unit::Cluster, Unit::Cta))
        return fail(
            diag(DiagKind::BadScopeIds,
                 "`cta_id_in_pair` counts CTAs of a cluster, and no id tells its size: declare "
                 "`cta_id_in_cluster`")
                .with_span(declared.span));
      if (!is_inner(declared.kind) || at(facts.parent, facts.child)) continue;
      return fail(
          diag(DiagKind::BadScopeIds,
               "the extent of `{}` does not follow from the other ids: write it down, `{}([n])`",
               facts.name, facts.name)
              .with_span(declared.span));
    }
    return {};
  }

 private:
  static constexpr std::size_t kUnits = 7;
  struct Known {
    std::int64_t extent = 0;
    std::vector<std::size_t> by;  // the declarations it follows from; none: always so
  };

  // `warp_id_in_wg([2])`: the one warpgroup of the CTA has fewer warps than a whole one.
  [[nodiscard]] std::optional<std::size_t> find_partial_group() const {
    for (std::size_t k = 0; k < declared_.size(); ++k) {
      const DeclaredId& declared = declared_[k];
      if (declared.kind == ScopeIdKind::WarpIdInWg && declared.extents.size() == 1 &&
          declared.extents[0].value < facts_of(declared.kind).fixed_extent)
        return k;
    }
    return std::nullopt;
  }

  Result<void> state_declared() {
    const std::optional<std::size_t> partial = find_partial_group();
    if (partial) WW_TRY_VOID(state(Unit::Cta, Unit::Warpgroup, {1, {*partial}}));
    // What is fixed comes first, so that a declaration that says otherwise is the one to blame.
    for (const ScopeIdFacts& facts : all_scope_ids()) {
      if (facts.fixed_extent == 0 || (partial && facts.parent == Unit::Warpgroup)) continue;
      const bool always = facts.id == ScopeIdKind::LaneId
                              ? counts(Unit::Warp) || counts(Unit::Warpgroup)
                              : counts(facts.parent);
      if (always) WW_TRY_VOID(state(facts.parent, facts.child, {facts.fixed_extent, {}}));
    }
    for (std::size_t k = 0; k < declared_.size(); ++k) {
      const DeclaredId& declared = declared_[k];
      if (!is_inner(declared.kind) || declared.extents.empty()) continue;
      Known known{1, {k}};
      for (const Extent& e : declared.extents) {
        const auto next = checked_mul(known.extent, e.value);
        if (!next)
          return fail(diag(DiagKind::BadScopeIds, "`{}` has more elements than fit in 64 bits",
                           facts_of(declared.kind).name)
                          .with_span(declared.span));
        known.extent = *next;
      }
      WW_TRY_VOID(state(facts_of(declared.kind).parent, facts_of(declared.kind).child, known));
    }
    return {};
  }

  Result<void> state(Unit parent, Unit child, const Known& known) {
    auto& place = at(parent, child);
    if (!place) {
      place = known;
      changed_ = true;
      return {};
    }
    if (place->extent == known.extent) return {};
    return fail(with_places(diag(DiagKind::BadScopeIds, "a {} has {}, but {}", named(parent),
                                 says(child, *place), says(child, known)),
                            *place, known));
  }

  Result<void> relate(Unit a, Unit b, Unit c) {
    if (at(a, b) && at(b, c)) {
      const auto product = checked_mul(at(a, b)->extent, at(b, c)->extent);
      if (!product)
        return fail(with_places(diag(DiagKind::BadScopeIds, "a {} has more {}s than fit in 64 bits",
                                     named(a), named(c)),
                                *at(a, b), *at(b, c)));
      WW_TRY_VOID(state(a, c, {*product, joined(at(a, b)->by, at(b, c)->by)}));
    }
    if (at(a, c) && at(a, b)) WW_TRY_VOID(divide(a, b, c, true));
    if (at(a, c) && at(b, c)) WW_TRY_VOID(divide(a, b, c, false));
    return {};
  }

  // (a->c) / (a->b) = (b->c) when `by_outer`, (a->c) / (b->c) = (a->b) otherwise.
  Result<void> divide(Unit a, Unit b, Unit c, bool by_outer) {
    const Known all = *at(a, c);
    const Known part = by_outer ? *at(a, b) : *at(b, c);
    if (all.extent % part.extent != 0)
      return fail(with_places(
          by_outer ? diag(DiagKind::BadScopeIds, "a {} has {}, which do not divide into {}",
                          named(a), says(c, all), says(b, part))
                   : diag(DiagKind::BadScopeIds, "a {} has {}, no multiple of the {} of a {}",
                          named(a), says(c, all), says(c, part), named(b)),
          all, part));
    const Known quotient{all.extent / part.extent, joined(all.by, part.by)};
    return by_outer ? state(b, c, quotient) : state(a, b, quotient);
  }

  // Is there an id that numbers such units, or numbers others inside them?
  [[nodiscard]] bool counts(Unit unit) const {
    return std::any_of(declared_.begin(), declared_.end(), [&](const DeclaredId& d) {
      return facts_of(d.kind).parent == unit || facts_of(d.kind).child == unit;
    });
  }

  [[nodiscard]] std::string says(Unit child, const Known& known) const {
    std::vector<std::string> names;
    for (const std::size_t k : known.by)
      names.push_back(fmt::format("`{}`", facts_of(declared_[k].kind).name));
    const std::string number = counted(known.extent, child);
    return names.empty() ? number : fmt::format("{} by {}", number, join(names, ", "));
  }

  [[nodiscard]] Diag with_places(Diag problem, const Known& a, const Known& b) const {
    const std::vector<std::size_t> by = joined(a.by, b.by);
    if (by.empty()) return problem;
    // The last declaration gets the caret, the others are notes.
    problem.span = declared_[by.back()].span;
    for (std::size_t k = 0; k + 1 < by.size(); ++k)
      problem.notes.push_back({declared_here(declared_[by[k]]), declared_[by[k]].span});
    return problem;
  }

  std::optional<Known>& at(Unit parent, Unit child) {
    return table_[static_cast<std::size_t>(parent)][static_cast<std::size_t>(child)];
  }
  [[nodiscard]] const std::optional<Known>& at(Unit parent, Unit child) const {
    return table_[static_cast<std::size_t>(parent)][static_cast<std::size_t>(child)];
  }

  const std::vector<DeclaredId>& declared_;
  std::array<std::array<std::optional<Known>, kUnits>, kUnits> table_;
  bool changed_ = false;
};

// --- the grid ------------------------------------------------------------------------------------
//
// The grid of a launch (ir/launch/launch.h): `cta_id`, `cluster_id` and `cta_id_in_cluster` have up
// to three dimensions, may be known at launch only, and are compared dimension by dimension.

using Dims = std::array<Extent, 3>;

/// BadScopeIds at the declaration's place.
template <typename... Args>
auto refuse(const DeclaredId& declared, fmt::format_string<Args...> format, Args&&... args) {
  return fail(
      diag(DiagKind::BadScopeIds, format, std::forward<Args>(args)...).with_span(declared.span));
}

/// What the declarations of one kind agree on, and the one that says it with the most dimensions.
struct Stated {
  Dims dims;
  std::size_t rank = 0;
  const DeclaredId* by = nullptr;
};

// The value of an extent if it is constant, otherwise the expression.
Extent extent_of(const Function& f, ExprId expr) {
  if (const auto value = const_int(f, expr)) return {*value, {}};
  return {1, expr};
}

// The same number whenever the kernel runs? No, when that is not known.
bool surely_equal(const Function& f, const Extent& a, const Extent& b) {
  if (a.is_constant() || b.is_constant())
    return a.is_constant() && b.is_constant() && a.value == b.value;
  return a.expr == b.expr || (f[a.expr].op == ExprOp::Var && f[b.expr].op == ExprOp::Var &&
                              f[a.expr].var == f[b.expr].var);
}

// "4 x 2"; "?" for what is known at launch.
std::string text_of(const Dims& dims) {
  std::vector<std::string> parts;
  for (const Extent& e : dims) parts.push_back(e.is_constant() ? fmt::format("{}", e.value) : "?");
  while (parts.size() > 1 && parts.back() == "1") parts.pop_back();
  return join(parts, " x ");
}

// Nothing when an extent is not a constant, or 64 bits are too few.
std::optional<std::int64_t> product(const Dims& dims) {
  std::int64_t n = 1;
  for (const Extent& e : dims) {
    const auto next = e.is_constant() ? checked_mul(n, e.value) : std::nullopt;
    if (!next) return std::nullopt;
    n = *next;
  }
  return n;
}

bool is_grid_kind(ScopeIdKind kind) {
  return kind == ScopeIdKind::CtaId || kind == ScopeIdKind::ClusterId ||
         kind == ScopeIdKind::CtaIdInCluster;
}

template <typename... Args>
Diag contradiction(const DeclaredId& first, const DeclaredId& second,
                   fmt::format_string<Args...> format, Args&&... args) {
  Diag d = diag(DiagKind::BadScopeIds, format, std::forward<Args>(args)...).with_span(second.span);
  return std::move(d).with_note(declared_here(first), first.span);
}

Stated stated_by(const DeclaredId& declared) {
  Stated out{{}, declared.extents.size(), &declared};
  std::copy(declared.extents.begin(), declared.extents.end(), out.dims.begin());
  return out;
}

// One dimension numbers the units in one row: it agrees with several of the same product.
bool agree(const Function& f, const Stated& a, const Stated& b) {
  if (a.rank != b.rank) {
    const auto n = product(a.dims);
    return std::min(a.rank, b.rank) == 1 && n && n == product(b.dims);
  }
  for (std::size_t d = 0; d < 3; ++d)
    if (!surely_equal(f, a.dims[d], b.dims[d])) return false;
  return true;
}

// Nothing when no extent of that kind is declared.
Result<std::optional<Stated>> stated(const Function& function,
                                     const std::vector<DeclaredId>& declared, ScopeIdKind kind) {
  std::optional<Stated> out;
  for (const DeclaredId& id : declared) {
    if (id.kind != kind || id.extents.empty()) continue;
    const Stated next = stated_by(id);
    if (out && !agree(function, *out, next))
      return fail(contradiction(*out->by, id, "`{}` is declared as {} and as {}",
                                facts_of(kind).name, text_of(out->dims), text_of(next.dims)));
    if (!out || next.rank > out->rank) out = next;
  }
  return out;
}

class Grid {
 public:
  Grid(const Function& f, const std::vector<DeclaredId>& declared, LaunchShape& shape)
      : f_(f), declared_(declared), shape_(shape) {}

  Result<void> find() {
    const auto ctas = WW_TRY(stated(f_, declared_, ScopeIdKind::CtaId));
    const auto clusters = WW_TRY(stated(f_, declared_, ScopeIdKind::ClusterId));
    const auto in_cluster = WW_TRY(stated(f_, declared_, ScopeIdKind::CtaIdInCluster));
    if (in_cluster) {
      take_cluster(in_cluster->dims);
    } else if (clusters && ctas) {
      WW_TRY_VOID(divide(*ctas, *clusters));
    } else if (clusters) {
      return refuse(*clusters->by,
                    "`cluster_id` alone does not tell how many CTAs a cluster has: "
                    "declare `cta_id_in_cluster` or `cta_id`, too");
    }
    if (ctas) {
      shape_.grid = ctas->dims;
      if (in_cluster) WW_TRY_VOID(check_multiple(*ctas, *in_cluster));
      if (in_cluster && clusters) WW_TRY_VOID(check_product(*ctas, *clusters, *in_cluster));
    } else if (clusters) {
      WW_TRY_VOID(multiply(*clusters, *in_cluster));
    } else {
      for (std::size_t d = 0; d < 3; ++d) shape_.grid[d] = {shape_.cluster[d], {}};
    }
    return check_followers(ctas.has_value(), clusters.has_value(), in_cluster.has_value());
  }

 private:
  void take_cluster(const Dims& dims) {
    shape_.has_clusters = true;
    for (std::size_t d = 0; d < 3; ++d) shape_.cluster[d] = dims[d].value;
  }

  // cta_id and cluster_id: the cluster is their quotient.
  Result<void> divide(const Stated& ctas, const Stated& clusters) {
    Dims cluster;
    for (std::size_t d = 0; d < 3; ++d) {
      const Extent& all = ctas.dims[d];
      const Extent& parts = clusters.dims[d];
      if (surely_equal(f_, all, parts)) continue;
      if (!all.is_constant() || !parts.is_constant())
        return fail(contradiction(*ctas.by, *clusters.by,
                                  "the CTAs of a cluster do not follow from extents that are known "
                                  "at launch: declare `cta_id_in_cluster`"));
      if (all.value % parts.value != 0)
        return fail(contradiction(*ctas.by, *clusters.by,
                                  "{} CTAs do not divide into {} clusters along {}", all.value,
                                  parts.value, "xyz"[d]));
      cluster[d] = {all.value / parts.value, {}};
    }
    take_cluster(cluster);
    return {};
  }

  static Result<void> check_multiple(const Stated& ctas, const Stated& in_cluster) {
    for (std::size_t d = 0; d < 3; ++d)
      if (ctas.dims[d].is_constant() && ctas.dims[d].value % in_cluster.dims[d].value != 0)
        return fail(contradiction(*in_cluster.by, *ctas.by,
                                  "{} CTAs along {} are not a multiple of the {} of a cluster",
                                  ctas.dims[d].value, "xyz"[d], in_cluster.dims[d].value));
    return {};
  }

  static Result<void> check_product(const Stated& ctas, const Stated& clusters,
                                    const Stated& in_cluster) {
    for (std::size_t d = 0; d < 3; ++d) {
      const Extent& all = ctas.dims[d];
      const Extent& parts = clusters.dims[d];
      const std::int64_t each = in_cluster.dims[d].value;
      if (all.is_constant() && parts.is_constant() && checked_mul(parts.value, each) != all.value)
        return fail(contradiction(*clusters.by, *ctas.by,
                                  "{} clusters of {} CTAs along {} are not {} CTAs", parts.value,
                                  each, "xyz"[d], all.value)
                        .with_note(declared_here(*in_cluster.by), in_cluster.by->span));
    }
    return {};
  }

  Result<void> multiply(const Stated& clusters, const Stated& in_cluster) {
    for (std::size_t d = 0; d < 3; ++d) {
      const Extent& count = clusters.dims[d];
      const std::int64_t each = in_cluster.dims[d].value;
      if (each == 1) {
        shape_.grid[d] = count;
        continue;
      }
      if (!count.is_constant())
        return fail(contradiction(*in_cluster.by, *clusters.by,
                                  "the number of CTAs does not follow from clusters that are "
                                  "counted at launch: declare `cta_id`, too"));
      const auto all = checked_mul(count.value, each);
      if (!all) return refuse(*clusters.by, "the grid has more CTAs than fit in 64 bits");
      shape_.grid[d] = {*all, {}};
    }
    return {};
  }

  // Ids of the grid without extent must have siblings that give it.
  Result<void> check_followers(bool ctas, bool clusters, bool in_cluster) const {
    for (const DeclaredId& declared : declared_) {
      if (!declared.extents.empty() || !is_grid_kind(declared.kind)) continue;
      const int others =
          static_cast<int>(ctas) + static_cast<int>(clusters) + static_cast<int>(in_cluster);
      const bool known = declared.kind == ScopeIdKind::CtaId       ? ctas || others == 2
                         : declared.kind == ScopeIdKind::ClusterId ? clusters || others == 2
                                                                   : shape_.has_clusters;
      if (!known)
        return refuse(declared,
                      "the extent of `{}` does not follow from the other ids: write it "
                      "down, `{}([n])`",
                      facts_of(declared.kind).name, facts_of(declared.kind).name);
    }
    return {};
  }

  const Function& f_;
  const std::vector<DeclaredId>& declared_;
  LaunchShape& shape_;
};

// Fills in `grid`, `cluster` and `has_clusters`.
Result<void> find_grid(const Function& function, const std::vector<DeclaredId>& declared,
                       LaunchShape& shape) {
  return Grid(function, declared, shape).find();
}

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
