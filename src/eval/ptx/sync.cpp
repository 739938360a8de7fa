// SPDX-License-Identifier: Apache-2.0
// Barriers, mbarriers, elections; cp.async and its groups.
#include <optional>
#include <utility>
#include <vector>

#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/instruction.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"
#include "eval/sync/barriers.h"
#include "eval/tile/primitives.h"
#include "isa/form.h"

namespace ww::eval {
namespace {

// How many of its bytes cp.async reads: all, as many as an operand says, or none where that is a
// predicate and holds.
Words bytes_read(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words sizes = ptx_int(cta, ptx.operand(2), ts);
  if (ptx.operand_count() == 3) return sizes;
  Words given = ptx_int(cta, ptx.operand(3), ts);
  if (ptx.operand(3).kind != ir::PtxOperandKind::Predicate) return given;
  for (std::size_t i = 0; i < ts.size(); ++i)
    if (given[i] != 0) sizes[i] = 0;
  return sizes;
}

// Of commits and waits.
AsyncKind groups_waited_by(PtxKind kind) {
  if (kind == PtxKind::CommitProduct || kind == PtxKind::WaitProduct) return AsyncKind::Product;
  const bool is_plain = kind == PtxKind::CommitGroup || kind == PtxKind::WaitGroup;
  return is_plain ? AsyncKind::Group : AsyncKind::Bulk;
}

}  // namespace

void ptx_mbarrier(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  // arrive has its state first, unless that is left out; the wait its predicate.
  std::size_t at = 0;
  while (at < ptx.operand_count() && ptx.operand(at).kind != ir::PtxOperandKind::Address) ++at;
  if (at == ptx.operand_count())
    return stop(cta, DiagKind::NotEvaluated,
                fmt::format("`{}` without an address", ptx.call->opcode.text()));
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(at), ts);
  const bool has_value = at + 1 < ptx.operand_count();
  const Words values =
      has_value ? ptx_int(cta, ptx.operand(at + 1), ts) : constant(cta, 1, ts.size());
  Words results = constant(cta, 0, ts.size());
  const bool is_narrow = ptx.call->opcode.binding().word("scope") == "cta";
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto value = static_cast<std::uint32_t>(values[i]);
    if (ptx.kind == PtxKind::MbarInit) init_mbarrier(cta, addresses[i], value, ts[i]);
    if (ptx.kind == PtxKind::MbarInval) cta.mbarriers.erase(addresses[i]);
    if (ptx.kind == PtxKind::MbarExpect || ptx.kind == PtxKind::MbarExpectOnly)
      expect_bytes(cta, addresses[i], value, ts[i]);
    // Without a word about its scope an arrival is taken to reach the other CTA.
    const bool is_release = !is_narrow || addresses[i].rank == kOwnCta;
    if (ptx.kind == PtxKind::MbarExpect) arrive_mbarrier(cta, addresses[i], 1, ts[i], is_release);
    if (ptx.kind == PtxKind::MbarArrive)
      arrive_mbarrier(cta, addresses[i], value, ts[i], is_release);
    if (ptx.kind == PtxKind::MbarTest)
      results[i] = test_mbarrier(cta, addresses[i], value, ts[i]) ? 1 : 0;
  }
  const bool has_result =
      at > 0 && (ptx.kind == PtxKind::MbarArrive || ptx.kind == PtxKind::MbarExpect ||
                 ptx.kind == PtxKind::MbarTest);
  if (has_result) ptx_put(cta, ptx.operand(0), ts, kRegisterBits, std::move(results));
}

void ptx_elect(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  // leader|predicate, mask
  Words chosen = elect(cta, ts);
  Words leaders(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i)
    leaders[i] = chosen[i] != 0 || i == 0 ? ts[i] % 32U : leaders[i - 1];
  if (ptx.operand_count() == 3) ptx_put(cta, ptx.operand(0), ts, kRegisterBits, std::move(leaders));
  ptx_put(cta, ptx.operand(ptx.operand_count() - 2), ts, kRegisterBits, std::move(chosen));
}

// Of each warp, the lanes of the mask that are here.
void ptx_redux(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const isa::Word op = ptx.call->opcode.binding().word("op");
  const ir::ExprOp with = op.as<ir::ExprOp>({{"add", ir::ExprOp::Add}, {"max", ir::ExprOp::Max}})
                              .value_or(ir::ExprOp::Min);
  const Words values = ptx_value(cta, ptx.operand(1), ts, kRegisterBits);
  const Words masks = ptx_int(cta, ptx.operand(2), ts);
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    std::optional<Word> all;
    for (std::size_t j = 0; j < ts.size(); ++j) {
      const bool is_member = (masks[i] >> (ts[j] % kWarp) & 1) != 0;
      if (ts[j] / kWarp != ts[i] / kWarp || !is_member) continue;
      const Word value = convert(ptx.type, ptx.type, values[j]);
      all = all ? apply_in(ptx.type, with, ptx.type, *all, ptx.type, value) : value;
    }
    out[i] = all.value_or(0);
  }
  ptx_put(cta, ptx.operand(0), ts, kRegisterBits, std::move(out));
}

void ptx_barrier(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const Words first = ptx_int(cta, ptx.operand(0), ts);
  const Words counts =
      ptx.operand_count() > 1 ? ptx_int(cta, ptx.operand(1), ts) : constant(cta, 0, ts.size());
  for (std::size_t i = 0; i < ts.size();) {
    const std::size_t warp = ts[i] / kWarp;
    const auto id = static_cast<std::uint32_t>(first[i]);
    std::size_t j = i;
    while (j < ts.size() && first[j] == first[i] && ts[j] / kWarp == warp) ++j;
    const Threads lanes = ts.subspan(i, j - i);
    if (ptx.kind == PtxKind::WarpSync)
      arrive(cta, {BarrierKey::Kind::Warp, id, static_cast<std::uint32_t>(warp)}, 0, lanes, true);
    else
      arrive_named(cta, id, counts[i], lanes, ptx.kind == PtxKind::BarSync);
    i = j;
  }
}

// d, barrier, [threads,] predicate
void ptx_barrier_count(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::size_t last = ptx.operand_count() - 1;
  const Words ids = ptx_int(cta, ptx.operand(1), ts);
  const Words counts = last > 2 ? ptx_int(cta, ptx.operand(2), ts) : constant(cta, 0, ts.size());
  const Words holds = ptx_int(cta, ptx.operand(last), ts);
  for (std::size_t i = 0; i < ts.size();) {
    const auto id = static_cast<std::uint32_t>(ids[i]);
    std::size_t j = i;
    for (; j < ts.size() && ids[j] == ids[i] && ts[j] / kWarp == ts[i] / kWarp; ++j)
      vote(cta, id, ts[j], holds[j] != 0, ptx.operand(0));
    arrive_named(cta, id, counts[i], ts.subspan(i, j - i), true);
    i = j;
  }
}

void ptx_copy_async(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> to = ptx_address(cta, ptx.operand(0), ts);
  const std::vector<Address> from = ptx_address(cta, ptx.operand(1), ts);
  const Words sizes = ptx_int(cta, ptx.operand(2), ts);
  const Words limits = bytes_read(cta, ptx, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto limit = static_cast<std::int64_t>(limits[i]);
    const int bits = limit % 4 == 0 ? 32 : 8;  // sizes are 4, 8 and 16 bytes, the limit is any
    AsyncCopy copy{.kind = AsyncKind::Group, .agent = thread_agent(ts[i])};
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(sizes[i]); at += bits / 8) {
      const Element source = element_at(from[i] + at * 8, ts[i]);
      const Element target = element_at(to[i] + at * 8, ts[i]);
      if (!is_reachable(cta, target, bits)) continue;
      Transfer transfer{target, bits, {}};
      if (at < limit) {  // the rest is filled with zeros
        transfer.content = read(cta, source, bits, access_of(cta, ts[i]));
        if (is_reachable(cta, source, bits)) copy.sources.emplace_back(source, bits);
      }
      copy.transfers.push_back(transfer);
    }
    start_copy(cta, std::move(copy), ts.subspan(i, 1));
  }
}

void ptx_copy_arrive(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> at = ptx_address(cta, ptx.operand(0), ts);
  const bool is_extra = !ptx.call->opcode.binding().has("noinc");
  for (std::size_t i = 0; i < ts.size(); ++i) arrive_when_copied(cta, at[i], is_extra, ts[i]);
}

void ptx_commit(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  commit(cta, groups_waited_by(ptx.kind), ts);
}

void ptx_wait_group(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  wait_group(cta, groups_waited_by(ptx.kind), ptx_int(cta, ptx.operand(0), ts)[0], false, ts);
}

void ptx_wait_all(Cta& cta, const PtxInstruction& /*ptx*/, Threads ts) {
  wait_group(cta, AsyncKind::Group, 0, true, ts);
}

// --- clusters ------------------------------------------------------------------------------------
//
// Barriers of a cluster in two halves, and the shared memory of its other CTAs.

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
