// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/extents.h"

#include <algorithm>

#include "base/join.h"
#include "base/wide.h"

namespace ww::ir {
namespace {

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

}  // namespace

std::string declared_here(const DeclaredId& declared) {
  std::vector<std::string> extents;
  for (const Extent& e : declared.extents)
    extents.push_back(e.is_constant() ? fmt::format("{}", e.value) : "?");
  const std::string inside = extents.empty() ? "" : fmt::format("[{}]", join(extents, ", "));
  return fmt::format("`{}({})` is declared here", facts_of(declared.kind).name, inside);
}

std::optional<std::int64_t> UnitExtents::find(Unit parent, Unit child) const {
  const auto& known = at(parent, child);
  return known ? std::optional(known->extent) : std::nullopt;
}

Result<void> UnitExtents::state_cluster(std::int64_t ctas) {
  std::vector<std::size_t> by;
  for (std::size_t k = 0; k < declared_.size(); ++k)
    if (!is_inner(declared_[k].kind)) by.push_back(k);
  return state(Unit::Cluster, Unit::Cta, {ctas, by});
}

Result<void> UnitExtents::close() {
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

// `warp_id_in_wg([2])`: the one warpgroup of the CTA has fewer warps than a whole one.
std::optional<std::size_t> UnitExtents::find_partial_group() const {
  for (std::size_t k = 0; k < declared_.size(); ++k) {
    const DeclaredId& declared = declared_[k];
    if (declared.kind == ScopeIdKind::WarpIdInWg && declared.extents.size() == 1 &&
        declared.extents[0].value < facts_of(declared.kind).fixed_extent)
      return k;
  }
  return std::nullopt;
}

Result<void> UnitExtents::state_declared() {
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

// Is there an id that numbers such units, or numbers others inside them?
bool UnitExtents::counts(Unit unit) const {
  return std::any_of(declared_.begin(), declared_.end(), [&](const DeclaredId& d) {
    return facts_of(d.kind).parent == unit || facts_of(d.kind).child == unit;
  });
}

Result<void> UnitExtents::state(Unit parent, Unit child, const Known& known) {
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

Result<void> UnitExtents::relate(Unit a, Unit b, Unit c) {
  if (at(a, b) && at(b, c)) {
    const auto product = checked_mul(at(a, b)->extent, at(b, c)->extent);
    if (!product)
      return fail(with_places(
          diag(DiagKind::BadScopeIds, "a {} has more {}s than fit in 64 bits", named(a), named(c)),
          *at(a, b), *at(b, c)));
    WW_TRY_VOID(state(a, c, {*product, joined(at(a, b)->by, at(b, c)->by)}));
  }
  if (at(a, c) && at(a, b)) WW_TRY_VOID(divide(a, b, c, true));
  if (at(a, c) && at(b, c)) WW_TRY_VOID(divide(a, b, c, false));
  return {};
}

// (a->c) / (a->b) = (b->c) when `by_outer`, (a->c) / (b->c) = (a->b) otherwise.
Result<void> UnitExtents::divide(Unit a, Unit b, Unit c, bool by_outer) {
  const Known all = *at(a, c);
  const Known part = by_outer ? *at(a, b) : *at(b, c);
  if (all.extent % part.extent != 0)
    return fail(with_places(
        by_outer ? diag(DiagKind::BadScopeIds, "a {} has {}, which do not divide into {}", named(a),
                        says(c, all), says(b, part))
                 : diag(DiagKind::BadScopeIds, "a {} has {}, no multiple of the {} of a {}",
                        named(a), says(c, all), says(c, part), named(b)),
        all, part));
  const Known quotient{all.extent / part.extent, joined(all.by, part.by)};
  return by_outer ? state(b, c, quotient) : state(a, b, quotient);
}

Result<void> UnitExtents::check_followers() const {
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

std::string UnitExtents::says(Unit child, const Known& known) const {
  std::vector<std::string> names;
  for (const std::size_t k : known.by)
    names.push_back(fmt::format("`{}`", facts_of(declared_[k].kind).name));
  const std::string number = counted(known.extent, child);
  return names.empty() ? number : fmt::format("{} by {}", number, join(names, ", "));
}

Diag UnitExtents::with_places(Diag problem, const Known& a, const Known& b) const {
  const std::vector<std::size_t> by = joined(a.by, b.by);
  if (by.empty()) return problem;
  // The last declaration gets the caret, the others are notes.
  problem.span = declared_[by.back()].span;
  for (std::size_t k = 0; k + 1 < by.size(); ++k)
    problem.notes.push_back({declared_here(declared_[by[k]]), declared_[by[k]].span});
  return problem;
}

}  // namespace ww::ir
