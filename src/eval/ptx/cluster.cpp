// SPDX-License-Identifier: Apache-2.0
// Barriers of a cluster in two halves, and the shared memory of its other CTAs.
#include <utility>

#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/kind.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"
#include "eval/sync/barriers.h"
#include "isa/form.h"

namespace ww::eval {
namespace {

// An address in another CTA: that in the own one, and above it the CTA's number plus one.
constexpr unsigned kRankShift = 24;

}  // namespace

void ptx_cluster_arrive(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  arrive_cluster(cta, ts, ptx.call->opcode.binding().word("sem") == "relaxed");
}

void ptx_cluster_wait(Cta& cta, const PtxInstruction& /*ptx*/, Threads ts) {
  wait_cluster(cta, ts);
}

void ptx_map_shared(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words address = ptx_value(cta, ptx.operand(1), ts, kRegisterBits);
  const Words ranks = ptx_value(cta, ptx.operand(2), ts, kRegisterBits);
  for (std::size_t i = 0; i < ts.size(); ++i)
    address[i] = (address[i] & low_mask(kRankShift)) | (ranks[i] + 1) << kRankShift;
  ptx_put(cta, ptx.operand(0), ts, kRegisterBits, std::move(address));
}

// Found, if anything is, where the storing CTA is; the memory is that of the other.
void ptx_store_cluster(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const Words addresses = ptx_value(cta, ptx.operand(0), ts, kRegisterBits);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    const Contents values = ptx_content(cta, ptx.operand(r + 1), ts, ptx.bits);
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const std::size_t rank = addresses[i] >> kRankShift;
      Cta& other = rank == 0 || rank > cta.cluster->size() ? cta : (*cta.cluster)[rank - 1];
      Address at =
          shared_address(other, static_cast<std::uint32_t>(addresses[i] & low_mask(kRankShift)));
      if (rank > cta.cluster->size()) at = {};
      const auto offset = static_cast<std::int64_t>(r) * ptx.bits;
      const std::uint32_t step = std::exchange(other.step, cta.step);
      write(other, element_at(at + offset, ts[i]), ptx.bits, values[i].part(0, ptx.bits),
            access_of(cta, ts[i]));
      other.step = step;
    }
  }
}

}  // namespace ww::eval
