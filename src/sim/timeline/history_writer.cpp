// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/history_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "isa/family_id.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr std::size_t kBlock = 64;  // bytes that are compared at once
constexpr std::size_t kNoRegion = ~std::size_t{0};

// Instructions that do nothing to memory, and after which nothing arrives.
bool is_plain(isa::FamilyId family) {
  switch (family) {
    case isa::FamilyId::address_rows:
    case isa::FamilyId::move_rows:
    case isa::FamilyId::convert_rows:
    case isa::FamilyId::integer_rows:
    case isa::FamilyId::video_rows:
    case isa::FamilyId::float_rows:
    case isa::FamilyId::half_rows:
    case isa::FamilyId::logic_rows:
    case isa::FamilyId::compare_rows:
    case isa::FamilyId::mma_rows:
    case isa::FamilyId::warp_rows:
      return true;
    default:
      return false;
  }
}

// Of several waits in a warp, an mbarrier tells more than lanes that wait for its lanes.
int weight_of(SplitState state) {
  return state == SplitState::Asleep ? 2 : state == SplitState::Meeting ? 0 : 1;
}

// Where a kind of region is behind the first of its owner.
constexpr std::size_t kData = 0, kUndefined = 1;

BarrierStatus status_of(const Mbarrier& barrier) {
  return {.is_alive = true,
          .phase = barrier.phase,
          .expected = barrier.expected,
          .pending = barrier.pending,
          .bytes = barrier.tx};
}

// A barrier that waits for all threads does not count them.
BarrierStatus status_of(const Cta& cta, const Barrier& barrier) {
  std::int64_t expected = barrier.expected;
  if (!barrier.is_partial && barrier.arrived != 0) {
    expected = 0;
    for (const auto& warp : cta.warps) expected += count_lanes(warp->live);
  }
  return {.is_alive = barrier.arrived != 0,
          .phase = 0,
          .expected = expected,
          .pending = barrier.arrived,
          .bytes = 0};
}

}  // namespace

WarpState wait_state(const Split& split) {
  switch (split.state) {
    case SplitState::Running:
      return WarpState::Runs;
    case SplitState::Meeting:
      return WarpState::AtLanes;
    case SplitState::AtBarrier:
      return WarpState::AtBarrier;
    case SplitState::AtClusterBarrier:
      return WarpState::AtClusterBarrier;
    case SplitState::Asleep:
      return WarpState::AtMbarrier;
    case SplitState::AtAlloc:
      return WarpState::AtColumns;
    case SplitState::AtRegisters:
      return WarpState::AtRegisters;
    case SplitState::AtWarpgroup:
      return WarpState::AtWarpgroup;
  }
  return WarpState::Runs;
}

// While the warp's turn lasts, the split that runs is not the one in the list.
const Split* wait_of(const Warp& warp) {
  const Splits& splits = warp.splits;
  if (splits.is_loaded && warp.active != 0) return nullptr;
  const Split* best = nullptr;
  for (std::size_t i = 0; i < splits.list.size(); ++i) {
    if (splits.is_loaded && i == splits.running) continue;
    const Split& split = splits.list[i];
    if (split.state == SplitState::Running) return nullptr;
    if (best == nullptr || weight_of(split.state) > weight_of(best->state)) best = &split;
  }
  return best;
}

HistoryWriter::HistoryWriter(const Unit& unit) : unit_(unit), out_(std::make_shared<History>()) {
  const std::size_t frame = unit.context.code->frame_bytes;
  for (const auto& cta : unit.ctas) {
    for (const auto& warp : cta->warps) {
      const std::uint32_t index = warp->unit_warp();
      add_region(HistoryPart::Registers, index, warp->stack.frames.get(), frame);
      add_region(HistoryPart::UndefinedRegisters, index, warp->stack.undefined.get(), frame);
    }
  }
  for (const auto& cta : unit.ctas) {
    add_region(HistoryPart::Shared, cta->rank, cta->shared.data, cta->shared.size);
    add_region(HistoryPart::UndefinedShared, cta->rank, cta->shared.undefined, cta->shared.size);
  }
  tensors_.assign(unit.ctas.size(), kNoRegion);
  out_->warps.resize(unit.warps.size());
  out_->change_begins.push_back(0);
}

// Where nothing is tracked, all counts as defined.
void HistoryWriter::add_region(HistoryPart part, std::uint32_t index, const void* now,
                               std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (now != nullptr && size != 0) std::memcpy(bytes.data(), now, size);
  seen_.push_back(bytes);
  out_->regions.push_back({part, index, std::move(bytes)});
}

void HistoryWriter::add_tensor(const Cta& cta) {
  tensors_[cta.rank] = out_->regions.size();
  const auto cells = cta.tensor->cells();
  const auto undefined = cta.tensor->undefined_cells();
  add_region(HistoryPart::Tensor, cta.rank, cells.data(), cells.size_bytes());
  add_region(HistoryPart::UndefinedTensor, cta.rank, undefined.data(), undefined.size_bytes());
}

void HistoryWriter::note_change(std::size_t region, std::size_t begin, std::size_t end,
                                const std::byte* now) {
  const ChangeHead head{static_cast<std::uint32_t>(region), static_cast<std::uint32_t>(begin),
                        static_cast<std::uint32_t>(end - begin)};
  std::vector<std::byte>& changes = out_->changes;
  const std::size_t at = changes.size();
  changes.resize(at + sizeof head + head.size);
  std::memcpy(changes.data() + at, &head, sizeof head);
  std::byte* const difference = changes.data() + at + sizeof head;
  std::byte* const seen = seen_[region].data() + begin;
  for (std::size_t i = 0; i < head.size; ++i) difference[i] = seen[i] ^ now[begin + i];
  std::memcpy(seen, now + begin, head.size);
}

void HistoryWriter::compare(std::size_t region, const void* where, std::size_t size) {
  const auto* const now = static_cast<const std::byte*>(where);
  const std::byte* const seen = seen_[region].data();
  if (now == nullptr || std::memcmp(now, seen, size) == 0) return;
  const auto differs = [&](std::size_t at) {
    return std::memcmp(now + at, seen + at, std::min(kBlock, size - at)) != 0;
  };
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    if (!differs(begin)) continue;
    std::size_t end = begin;
    while (end < size && differs(end)) end += kBlock;
    note_change(region, begin, std::min(end, size), now);
    begin = end;
  }
}

void HistoryWriter::compare_registers(const Warp& warp) {
  const std::size_t frame = unit_.context.code->frame_bytes;
  const std::size_t first = std::size_t{warp.unit_warp()} * 2;
  compare(first + kData, warp.stack.frames.get(), frame);
  compare(first + kUndefined, warp.stack.undefined.get(), frame);
}

void HistoryWriter::compare_memory() {
  const std::size_t first = unit_.warps.size() * 2;
  for (const auto& cta : unit_.ctas) {
    const std::size_t shared = first + std::size_t{cta->rank} * 2;
    compare(shared + kData, cta->shared.data, cta->shared.size);
    compare(shared + kUndefined, cta->shared.undefined, cta->shared.size);
    if (cta->tensor == nullptr) continue;
    if (tensors_[cta->rank] == kNoRegion) add_tensor(*cta);
    const auto cells = cta->tensor->cells();
    const auto undefined = cta->tensor->undefined_cells();
    compare(tensors_[cta->rank] + kData, cells.data(), cells.size_bytes());
    compare(tensors_[cta->rank] + kUndefined, undefined.data(), undefined.size_bytes());
  }
}

void HistoryWriter::note_warps() {
  for (const Warp* warp : unit_.warps) {
    WarpStatus status;
    status.has_ended = warp->done();
    if (const Split* const wait = wait_of(*warp); wait != nullptr && !status.has_ended) {
      status.state = wait_state(*wait);
      status.op = wait->pc;
      status.subject = status.state == WarpState::AtMbarrier ? wait->address : wait->value & 15U;
    }
    std::vector<StatusChange>& changes = out_->warps[warp->unit_warp()];
    const WarpStatus before = changes.empty() ? WarpStatus{} : changes.back().status;
    if (status != before) changes.push_back({out_->moments.size(), status});
  }
}

void HistoryWriter::note_barriers() {
  std::vector<bool> is_there(out_->barriers.size(), false);
  const auto note = [&](std::uint32_t cta, bool is_mbarrier, std::uint32_t place,
                        const BarrierStatus& status) {
    const auto [at, is_new] =
        barriers_.try_emplace({cta, is_mbarrier, place}, out_->barriers.size());
    if (is_new && !status.is_alive) return void(barriers_.erase(at));
    if (is_new)
      out_->barriers.push_back({.cta = cta, .is_mbarrier = is_mbarrier, .place = place});
    else
      is_there[at->second] = true;
    std::vector<BarrierChange>& changes = out_->barriers[at->second].changes;
    if (changes.empty() || changes.back().status != status)
      changes.push_back({out_->moments.size(), status});
  };
  for (const auto& cta : unit_.ctas) {
    for (const auto& [offset, barrier] : cta->mbarriers)
      note(cta->rank, true, offset, status_of(barrier));
    for (std::uint32_t i = 0; i < cta->barriers.size(); ++i)
      note(cta->rank, false, i, status_of(*cta, cta->barriers[i]));
  }
  for (std::size_t i = 0; i < is_there.size(); ++i) {
    std::vector<BarrierChange>& changes = out_->barriers[i].changes;
    if (!is_there[i] && changes.back().status.is_alive)
      changes.push_back({out_->moments.size(), {}});
  }
}

void HistoryWriter::note_findings() {
  const std::vector<Finding>& list = unit_.findings.list();
  for (; findings_seen_ < list.size(); ++findings_seen_) {
    const Finding& finding = list[findings_seen_];
    out_->findings.push_back(
        {out_->moments.size(), finding.check, finding.who.op, finding.other.op});
  }
}

void HistoryWriter::op_done(const Warp& warp, Mask lanes, std::uint64_t step) {
  if (out_->is_cut) return;
  note_findings();
  out_->moments.push_back({.op = warp.current,
                           .lanes = lanes,
                           .step = static_cast<std::uint32_t>(step),
                           .warp = warp.unit_warp()});
  compare_registers(warp);
  const bool has_news = unit_.activity != activity_;
  activity_ = unit_.activity;
  const bool touches = !is_plain(unit_.context.program->infos[warp.current].family);
  if (touches || has_news) {
    compare_memory();
    note_barriers();
  }
  note_warps();
  out_->change_begins.push_back(out_->changes.size());
  if (out_->moments.size() >= kMaxMoments || out_->changes.size() > kMaxBytes) out_->is_cut = true;
}

void HistoryWriter::note(EngineCopy copy) {
  if (out_->is_cut) return;
  copy.moment = out_->moments.size();
  out_->copies.push_back(std::move(copy));
}

void HistoryWriter::note(EngineProduct product) {
  if (out_->is_cut) return;
  product.moment = out_->moments.size();
  out_->products.push_back(product);
}

std::shared_ptr<const History> HistoryWriter::take() {
  note_findings();
  return std::move(out_);
}

}  // namespace ww::sim
