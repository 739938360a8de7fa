// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/grid.h"

#include <algorithm>

#include "base/join.h"
#include "base/wide.h"

namespace ww::ir {

Extent extent_of(const Function& f, ExprId expr) {
  if (const auto value = const_int(f, expr)) return {*value, {}};
  return {1, expr};
}

bool surely_equal(const Function& f, const Extent& a, const Extent& b) {
  if (a.is_constant() || b.is_constant())
    return a.is_constant() && b.is_constant() && a.value == b.value;
  return a.expr == b.expr || (f[a.expr].op == ExprOp::Var && f[b.expr].op == ExprOp::Var &&
                              f[a.expr].var == f[b.expr].var);
}

std::string text_of(const Dims& dims) {
  std::vector<std::string> parts;
  for (const Extent& e : dims) parts.push_back(e.is_constant() ? fmt::format("{}", e.value) : "?");
  while (parts.size() > 1 && parts.back() == "1") parts.pop_back();
  return join(parts, " x ");
}

std::optional<std::int64_t> product(const Dims& dims) {
  std::int64_t n = 1;
  for (const Extent& e : dims) {
    const auto next = e.is_constant() ? checked_mul(n, e.value) : std::nullopt;
    if (!next) return std::nullopt;
    n = *next;
  }
  return n;
}

namespace {

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

}  // namespace

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

Result<void> find_grid(const Function& function, const std::vector<DeclaredId>& declared,
                       LaunchShape& shape) {
  return Grid(function, declared, shape).find();
}

}  // namespace ww::ir
