// SPDX-License-Identifier: Apache-2.0
// copy_async / st_async: registers into the shared memory of another CTA of the cluster, whose mbarrier
// hears of the bytes (`remote_cta_id=`, `mbar=`): no barrier of the cluster is needed behind it. The CTA
// that gets them makes its mbarrier expect the bytes of all tiles that come, and waits.
//
// Vectors of 4, 8 or 16 bytes as in copy / reg. PTX manual, "st.async".
//
//     Tx.cta.copy_async(part[0:512], row[0:512], remote_cta_id=0, mbar=full.ptr_to([0]))     float32
//
//     mapa.shared::cluster.u32 there[0], far_ptr, 0
//     mapa.shared::cluster.u32 there[1], full, 0
//     st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [there[0]], {row[0], …}, [there[1]]
#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy/remote.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_st_async {
namespace {

Match<RemotePlan> match(const Call& call) {
  if (call.memory(1) != ir::Scope::Local || !ir::is_shared(call.memory(0)))
    return other_memories(call, "registers to shared memory");
  WW_TRY_VOID(check_remote(call, "st.async"));
  if (ir::mbarrier_setting(call.tile) == nullptr)
    return decline("mbarrier",
                   "no `mbar=`: the other CTA waits for an mbarrier that hears of the "
                   "bytes");
  WW_TRY_VOID(check_scope(call));
  WW_TRY_VOID(check_settings(call, {"remote_cta_id", "mbar", "mbarrier_addr"}));
  RemotePlan plan = WW_TRY(remote_plan(call, 4));
  plan.is_counted = true;
  return plan;
}

PlanReport report(const RemotePlan& plan, const Call& call) {
  PlanReport out = remote_report(plan, call);
  out.notes.push_back(fmt::format(
      "the mbarrier of the other CTA hears of {} bytes; that CTA expects them", out.bytes));
  return out;
}

constexpr Variant kVariants[] = {variant<RemotePlan, match, emit_remote, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "st_async",
     .priority = 5,
     .about = "registers into another CTA, whose mbarrier hears of the bytes"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_st_async
