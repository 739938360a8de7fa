// SPDX-License-Identifier: Apache-2.0
// Barriers and asynchronous work as functions with options, an older spelling:
//
//   T.ptx.mbarrier.arrive(ptr, count=2, pred=lane == 0)
//   T.ptx.cp_async(dst, src, 16, prefetch_size=128, predicate=i < n, fill_mode="zero")
//
// Each composes an opcode and gives it its operands; the table in ptx_functions.cpp has their
// parameters.
#pragma once

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script::ptx_synchronising {

Result<Value> mbarrier_arrive(Context& in, Args& a);
Result<Value> mbarrier_expect(Context& in, Args& a);
Result<Value> cluster_arrive(Context& in, Args& a);
Result<Value> cluster_wait(Context& in, Args& a);
Result<Value> mapa(Context& in, Args& a);
Result<Value> map_shared_rank(Context& in, Args& a);
Result<Value> cp_async(Context& in, Args& a);
Result<Value> bulk_wait(Context& in, Args& a);
Result<Value> wgmma_fence(Context& in, Args& a);
Result<Value> wgmma_commit(Context& in, Args& a);
Result<Value> wgmma_wait(Context& in, Args& a);
Result<Value> tcgen05_commit(Context& in, Args& a);
Result<Value> tcgen05_shift(Context& in, Args& a);
Result<Value> tcgen05_cp(Context& in, Args& a);

}  // namespace ww::script::ptx_synchronising
