// SPDX-License-Identifier: Apache-2.0
// Barriers of a cluster in two halves, and the shared memory of its other CTAs.
#include <utility>
#include <vector>

#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/kind.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"
#include "eval/sync/barriers.h"
#include "isa/form.h"

namespace ww::eval {
void ptx_cluster_arrive(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  arrive_cluster(cta, ts, ptx.call->opcode.binding().word("sem") == "relaxed");
}

void ptx_cluster_wait(Cta& cta, const PtxInstruction& /*ptx*/, Threads ts) {
  wait_cluster(cta, ts);
}

// The window's address as 32 bits, or a pointer as 64.
void ptx_map_shared(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words address = ptx_value(cta, ptx.operand(1), ts, ptx.bits);
  const Words ranks = ptx_value(cta, ptx.operand(2), ts, kRegisterBits);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(ranks[i] & low_mask(kRegisterBits));
    address[i] = ptx.bits == kRegisterBits
                     ? window_address_in(cta, address[i], rank)
                     : pointer_to(address_in(cta, pointee(cta, address[i]), rank));
  }
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(address));
}

// [to], values, [mbarrier]
void ptx_store_async(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> to = ptx_address(cta, ptx.operand(0), ts);
  const std::vector<Address> mbarriers = ptx_address(cta, ptx.operand(ptx.count + 1), ts);
  std::vector<Contents> values;
  for (std::size_t r = 0; r < ptx.count; ++r)
    values.push_back(ptx_content(cta, ptx.operand(r + 1), ts, ptx.bits));
  for (std::size_t i = 0; i < ts.size(); ++i) {
    AsyncCopy copy{.kind = AsyncKind::Counted, .agent = thread_agent(ts[i])};
    copy.counted = static_cast<std::int64_t>(ptx.count) * ptx.bits / 8;
    for (std::size_t r = 0; r < ptx.count; ++r) {
      const auto offset = static_cast<std::int64_t>(r) * ptx.bits;
      const Element target = element_at(to[i] + offset, ts[i]);
      if (is_reachable(cta, target, ptx.bits))
        copy.transfers.push_back({target, ptx.bits, values[r][i].part(0, ptx.bits)});
    }
    start_counted(cta, std::move(copy), mbarriers[i], ts[i]);
  }
}

}  // namespace ww::eval
