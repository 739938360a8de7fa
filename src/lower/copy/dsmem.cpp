// SPDX-License-Identifier: Apache-2.0
// copy / dsmem: into or from the shared memory of another CTA of the cluster (`remote_cta_id=`), by
// `st.shared::cluster` and `ld.shared::cluster`. The destination is the other CTA's where it is in shared
// memory, else the source is.
//
// Registers move as in `reg`, memory is shared out among the threads as in `gmem_smem`, in the widest
// vectors that both sides have. The address there comes from `mapa`.
//
//     Tx.cta.copy(part[0:512], row[0:512], remote_cta_id=1 - rank)        float32, 128 threads, in registers
//
//     far_ptr = T.pointer_offset(T.address_of(part[0]), threadIdx_x * 4)
//     mapa.shared::cluster.u32 there, far_ptr, 1 - rank
//     st.shared::cluster.v4.b32 [there], {row[0], row[1], row[2], row[3]}
//
// No barrier: `T.cuda.cluster_sync()` before the first copy makes sure that the other CTA runs, one behind
// it that its threads see what was stored, and that a CTA does not end while another one reads it.
#include "lower/call.h"
#include "lower/copy/remote.h"
#include "lower/variant.h"

namespace ww::lower::copy_dsmem {
namespace {

Match<RemotePlan> match(const Call& call) {
  WW_TRY_VOID(check_remote(call, "shared memory of other CTAs"));
  WW_TRY_VOID(check_scope(call));
  WW_TRY_VOID(check_settings(call, {"remote_cta_id"}));
  return remote_plan(call, 1);
}

constexpr Variant kVariants[] = {variant<RemotePlan, match, emit_remote, remote_report>(
    {.op = ir::TileOp::Copy,
     .name = "dsmem",
     .priority = 5,
     .about = "vectors into or from the shared memory of another CTA"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_dsmem
