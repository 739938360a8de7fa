// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk: contiguous bytes by the copy engine. Into shared memory an mbarrier hears of the bytes,
// into global memory the thread waits for its bulk groups.
#include "eval/cta/limits.h"
#include "eval/cta/report.h"
#include "eval/memory/access.h"
#include "eval/ptx/kind.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"

namespace ww::eval {
namespace {

constexpr std::int64_t kUnit = 16;  // bytes, of which addresses and sizes are multiples

// Where a byte is in its memory, as far as alignment goes.
std::int64_t place_of(const Cta& cta, Address at) {
  if (!at.exists()) return 0;
  const Root& root = cta.launch.root(at.root);
  return at.bit / 8 + (ir::is_shared(root.scope) ? std::int64_t{root.window} : 0);
}

// Nothing is copied, and a finding, where the instruction would fault.
bool is_whole(Cta& cta, Address to, Address from, std::int64_t bytes, Thread t) {
  for (const std::int64_t each : {place_of(cta, to), place_of(cta, from), bytes}) {
    if (each % kUnit == 0) continue;
    if (Finding* found = finding(cta, Check::Bounds); found != nullptr)
      found->text = fmt::format(
          "{} of {} starts a bulk copy of {} bytes from byte {} to byte {}, expected multiples of "
          "{}",
          thread_text(t), cta_text(cta), bytes, place_of(cta, from), place_of(cta, to), kUnit);
    return false;
  }
  return true;
}

AsyncCopy copy_of(Cta& cta, AsyncKind kind, Address to, Address from, std::int64_t bytes,
                  Thread t) {
  constexpr int kBits = 32;
  AsyncCopy copy{.kind = kind, .agent = thread_agent(t)};
  copy.counted = bytes;
  if (!spend_elements(cta, static_cast<std::size_t>(bytes / (kBits / 8)))) return copy;
  for (std::int64_t bit = 0; bit < bytes * 8; bit += kBits) {
    const Element source = element_at(from + bit, t), target = element_at(to + bit, t);
    const Content content = read(cta, source, kBits, access_of(cta, t));
    if (is_reachable(cta, source, kBits)) copy.sources.emplace_back(source, kBits);
    if (is_reachable(cta, target, kBits)) copy.transfers.push_back({target, kBits, content});
  }
  return copy;
}

}  // namespace

// [to], [from], bytes, and the mbarrier of a copy into shared memory
void ptx_bulk_copy(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> to = ptx_address(cta, ptx.operand(0), ts);
  const std::vector<Address> from = ptx_address(cta, ptx.operand(1), ts);
  const Words sizes = ptx_int(cta, ptx.operand(2), ts);
  const bool is_counted = ptx.kind == PtxKind::BulkCopy;
  const std::vector<Address> mbarriers =
      is_counted ? ptx_address(cta, ptx.operand(3), ts) : std::vector<Address>(ts.size());
  for (std::size_t i = 0; i < ts.size() && !cta.run.stop; ++i) {
    const auto bytes = static_cast<std::int64_t>(sizes[i] & low_mask(kRegisterBits));
    if (!is_whole(cta, to[i], from[i], bytes, ts[i])) continue;
    AsyncCopy copy = copy_of(cta, is_counted ? AsyncKind::Counted : AsyncKind::Bulk, to[i], from[i],
                             bytes, ts[i]);
    if (is_counted)
      start_counted(cta, std::move(copy), mbarriers[i], ts[i]);
    else
      start_copy(cta, std::move(copy), ts.subspan(i, 1));
  }
}

}  // namespace ww::eval
