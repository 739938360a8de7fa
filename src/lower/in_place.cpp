// SPDX-License-Identifier: Apache-2.0
#include "lower/in_place.h"

#include <algorithm>

#include "ir/launch/shared_order.h"
#include "lower/checks.h"
#include "lower/scratch.h"

namespace ww::lower {
namespace {

// The unit whose threads read and write the same elements; Thread: each its own.
ir::Unit unit_between(const Reach& read, const Reach& written) {
  if (read.empty() || read.size() != written.size()) return ir::Unit::Cta;
  ir::Unit out = ir::Unit::Thread;
  for (std::size_t x = 0; x < read.size(); ++x) {
    ThreadRange both = read[x];
    both.add(written[x]);
    out = std::max(out, both.unit());
  }
  return out;
}

Match<InPlaceOrder::Barrier> barrier_of(const Call& call, ir::Unit unit) {
  CodeWriter code(call.f(), call.context.facts, call.span);
  const bool is_of_warp = unit == ir::Unit::Warp && check_warps(call, "scope", "threads");
  if (is_of_warp) {
    code.evaluate(ir::Intrinsic::WarpSync, {});
  } else {
    WW_TRY_VOID(check_all_arrive(call));
    write_barrier(call, code);
  }
  return InPlaceOrder::Barrier{
      code.take(), fmt::format("behind a barrier of the {}: other threads have read what it writes",
                               ir::name_of(is_of_warp ? ir::Unit::Warp : call.tile.scope))};
}

}  // namespace

Match<InPlaceOrder::Barrier> InPlaceOrder::before(const Variant& variant, const std::any& plan,
                                                  const Call& call) {
  const auto reach = [&] { return variant.reach == nullptr ? Reach{} : variant.reach(plan, call); };
  for (const auto& [reads, writes] : expansion_.in_place) {
    if (reads == next_) reads_.try_emplace(next_, Read{.by = reach(), .what = {.tile = call.tile}});
    const auto read = reads_.find(reads);
    if (writes != next_ || read == reads_.end()) continue;
    const ir::Unit unit = std::min(unit_between(read->second.by, reach()), call.tile.scope);
    Barrier out;
    EarlierRead what = read->second.what;
    if (unit > what.ordered) out = WW_TRY(barrier_of(call, unit));
    order(call.f(), out.code, what);
    out.read = std::move(what);
    return out;
  }
  return Barrier{};
}

void InPlaceOrder::order(const ir::Function& f, const ir::Block& code, EarlierRead& read) {
  for (const ir::StmtId id : code) {
    if (f[id].kind != ir::StmtKind::Evaluate) continue;
    if (const auto unit = ir::barrier_unit(f, f[f[id].expr]))
      read.ordered = std::max(read.ordered, *unit);
  }
}

void InPlaceOrder::add(const ir::Function& f, const ir::Block& code) {
  for (auto& [call, read] : reads_) {
    if (call < next_) order(f, code, read.what);
    if (call == next_) read.what.code = code;
  }
  ++next_;
}

}  // namespace ww::lower
