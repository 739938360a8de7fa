// SPDX-License-Identifier: Apache-2.0
// copy_async / dsmem: from the shared memory of this CTA into that of another CTA of the cluster
// (`remote_cta_id=`), by the copy engine, which one thread starts. The mbarrier of the other CTA, at the
// place that `mbar=` has in this one, hears of the bytes; that CTA makes it expect them, all of the tile,
// and waits.
//
// Contiguous runs as in `bulk`. Bytes are copied as they lie: a swizzled tile goes whole into one with the
// same swizzle. Through `T.ptx["fence.proxy.async.shared::cta"]()` the engine sees what threads have
// stored. PTX manual, "cp.async.bulk".
//
//     Tx.copy_async(there[0:128, 0:64], here[0:128, 0:64], remote_cta_id=1 - rank, mbar=full.ptr_to([0]))
//
//     mapa.shared::cluster.u32 there[0], dst_ptr, 1 - rank
//     mapa.shared::cluster.u32 there[1], full, 1 - rank
//     cp.async.bulk.shared::cluster.shared::cta…  [there[0]], [src_ptr], 16384, [there[1]]
#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy/remote.h"
#include "lower/copy_async/one_thread.h"
#include "lower/copy_async/run_plan.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_dsmem {
namespace {

using ir::ExprId;

constexpr std::string_view kOpcode =
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";

Match<RunCopy> match(const Call& call) {
  if (!ir::is_shared(call.memory(0)) || !ir::is_shared(call.memory(1)))
    return other_memories(call, "shared memory on both sides");
  WW_TRY_VOID(check_remote(call, "cp.async.bulk"));
  if (ir::mbarrier_setting(call.tile) == nullptr)
    return decline("mbarrier",
                   "no `mbar=`: the copy engine tells an mbarrier of the other CTA that "
                   "it is done");
  WW_TRY_VOID(check_settings(call, {"remote_cta_id", "mbar", "mbarrier_addr"}));
  return plan_runs(call);
}

void emit(const RunCopy& plan, const Call& call, CodeWriter& code) {
  const OperandPlaces& dst = plan.problem->dst;
  const OperandPlaces& src = plan.problem->src;
  const ir::BufferId to = flat_view(call, code, dst), from = flat_view(call, code, src);
  const ExprId cta = remote_cta(call, code);
  RemoteAddresses there(code, 2);
  there.map(1, std::get<ExprId>(*ir::mbarrier_setting(call.tile)), cta);
  for_each_run(code, plan.runs, [&](ExprId k) {
    const ExprId far =
        code.let("dst_ptr", code.pointer(to, run_start(code, dst, plan.runs.dst, k)));
    const ExprId near =
        code.let("src_ptr", code.pointer(from, run_start(code, src, plan.runs.src, k)));
    there.map(0, far, cta);
    code.ptx(kOpcode,
             {there[0],
              address_operand(near),
              {.expr = code.number(num::DType::Uint32, static_cast<double>(plan.runs.bytes))},
              there[1]});
  });
}

PlanReport report(const RunCopy& plan, const Call& call) {
  const RunPlan& runs = plan.runs;
  PlanReport out = runs_report(
      plan, call, kOpcode, "into another CTA by the copy engine",
      fmt::format("the mbarrier of the other CTA hears of {} bytes; that CTA expects them",
                  runs.count * runs.bytes));
  out.instructions.insert(out.instructions.begin(),
                          {"mapa.shared::cluster.u32", runs.count + 1, 4});
  return out;
}

constexpr Variant kVariants[] = {variant<RunCopy, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "dsmem",
     .priority = 5,
     .about = "contiguous runs into another CTA by the copy engine"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_dsmem
