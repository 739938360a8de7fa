// SPDX-License-Identifier: Apache-2.0
#include "script/api/multicast.h"

#include <fmt/format.h>

#include "ir/build.h"
#include "ir/settings.h"
#include "script/interp/conversions.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

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

}  // namespace

Result<bool> read_multicast(Context& in, const CallArgs::Named& named, Multicast& multicast) {
  if (named.name == "split") {
    if (WW_TRY(as_bool(in, named.value, "`split`", named.span))) multicast.split = named.span;
    return true;
  }
  const bool is_list = named.value.is(Kind::Tuple) || named.value.is(Kind::List);
  if (named.name != "multicast" || !is_list) return false;
  multicast.at = named.span;
  for (const Value& each : WW_TRY(as_sequence(in, named.value, "`multicast`", named.span)))
    multicast.ranks.push_back(WW_TRY(index_expr(in, each, named.span)));
  if (multicast.ranks.empty() || multicast.ranks.size() > kMaxRanks)
    return fail_at(named.span, DiagKind::BadTileCall, "`multicast` to {} CTAs, expected 1 to {}",
                   multicast.ranks.size(), kMaxRanks);
  return true;
}

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

}  // namespace ww::script
