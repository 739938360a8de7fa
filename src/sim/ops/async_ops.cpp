// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/async_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/run/mbarriers.h"

namespace ww::sim {
namespace {

constexpr std::uint64_t kWord = 4;

Cta& owner_of(Warp& warp, const Region& region) { return *warp.unit->ctas[region.owner]; }

bool is_used(const SharedMark& mark) {
  return mark.writes != 0 || mark.reads != 0 || mark.is_barrier;
}

// Calls visit(SharedMark&) for the words of a run and keeps count of those with a mark.
template <typename Visit>
void change_marks(Warp& warp, const Region& region, std::uint64_t address, std::uint64_t bytes,
                  Visit&& visit) {
  Cta& cta = owner_of(warp, region);
  if (cta.marks.empty()) cta.marks.resize((region.size + kWord - 1) / kWord);
  const std::uint64_t from = address - region.base;
  for (std::uint64_t word = from / kWord; word * kWord < from + bytes; ++word) {
    SharedMark& mark = cta.marks[word];
    const bool was_used = is_used(mark);
    visit(mark);
    const bool now_used = is_used(mark);
    if (now_used && !was_used) ++cta.watched;
    if (was_used && !now_used) --cta.watched;
  }
}

void sign(Warp& warp, SharedMark& mark, unsigned lane) {
  mark.op = warp.current;
  mark.warp = static_cast<std::uint16_t>(warp.unit_warp());
  mark.lane = static_cast<std::uint8_t>(lane);
}

bool is_marked(Warp& warp, const Region& region) {
  return region.space == Space::Shared && warp.checks(Check::Async);
}

// The first mark that an access of these bytes must not meet.
const SharedMark* find_mark(const Cta& cta, std::uint64_t from, std::uint64_t bytes,
                            bool is_write) {
  const std::uint64_t end =
      std::min<std::uint64_t>((from + bytes + kWord - 1) / kWord, cta.marks.size());
  for (std::uint64_t word = from / kWord; word < end; ++word) {
    const SharedMark& mark = cta.marks[word];
    if (mark.writes != 0 || mark.is_barrier || (is_write && mark.reads != 0)) return &mark;
  }
  return nullptr;
}

// What a matrix product that reads the bytes is called, and what comes before they change; empty: it
// is none.
std::string_view product_text(const Warp& warp, const SharedMark& mark) {
  switch (warp.program->infos[mark.op].family) {
    case isa::FamilyId::wgmma_rows:
      return "that `wgmma.mma_async` may still be reading; a `wgmma.wait_group` for its group "
             "comes "
             "first";
    case isa::FamilyId::tcgen05_mma_rows:
      return "that `tcgen05.mma` may still be reading; a wait for the mbarrier of a "
             "`tcgen05.commit` behind it comes first";
    default:
      return "";
  }
}

// Of the ops that write what a product reads, the first is reported, and the others are counted.
bool is_further_writer(Warp& warp, std::uint32_t product) {
  const auto [first, is_first] = warp.unit->overwriters.try_emplace(product, warp.current);
  if (is_first || first->second == warp.current) return false;
  warp.unit->findings.count_up(Check::Async, first->second, product, 1);
  return true;
}

// A wait that passed too early may be why data is touched that is still on its way.
std::string early_wait_text(Warp& warp, const SharedMark& mark) {
  for (const PendingJob& job : warp.unit->jobs) {
    if (job.op != mark.op || job.mbarrier == 0) continue;
    const Mbarrier* barrier = find_mbarrier(*warp.unit, job.mbarrier);
    if (barrier == nullptr || barrier->early_wait == kNoOp) continue;
    return fmt::format(
        "; the wait for its mbarrier at line {} passed, because an earlier phase of that parity "
        "was "
        "over",
        warp.program->infos[barrier->early_wait].line);
  }
  return "";
}

void report_mark(Warp& warp, const SharedMark& mark, unsigned lane, std::uint64_t address,
                 unsigned bytes, bool is_write) {
  const bool is_barrier = mark.is_barrier && mark.writes == 0;
  const Check check = is_barrier ? Check::Barrier : Check::Async;
  const bool is_product = mark.writes == 0 && !is_barrier && !product_text(warp, mark).empty();
  if (is_product && is_further_writer(warp, mark.op)) return;
  if (!warp.is_new(check, mark.op)) return;
  const std::string_view why = is_barrier ? "that is an mbarrier"
                               : mark.writes != 0
                                   ? "that an asynchronous write is still on its way to"
                               : is_product ? product_text(warp, mark)
                                            : "that an asynchronous copy may still be reading";
  warp.report_at(check, lane_bit(lane), address,
                 fmt::format("{} {} bytes of shared memory at {} {}{}",
                             is_write ? "writes" : "reads", bytes, shared_text(*warp.unit, address),
                             why, mark.writes != 0 ? early_wait_text(warp, mark) : ""),
                 warp.unit->party(mark.op, mark.warp, lane_bit(mark.lane)));
}

}  // namespace

// --- marks ---------------------------------------------------------------------------------------

void check_marks(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                 unsigned bytes, bool is_write) {
  const Cta& cta = owner_of(warp, region);
  for_each_lane(group, [&](unsigned l) {
    const SharedMark* mark = find_mark(cta, address[l] - region.base, bytes, is_write);
    if (mark != nullptr) report_mark(warp, *mark, l, address[l], bytes, is_write);
  });
}

void mark_shared(Warp& warp, const Region& region, std::uint64_t address, std::uint64_t bytes,
                 unsigned lane, AsyncUse use) {
  if (!is_marked(warp, region)) return;
  change_marks(warp, region, address, bytes, [&](SharedMark& mark) {
    ++(use == AsyncUse::Write ? mark.writes : mark.reads);
    sign(warp, mark, lane);
  });
}

void unmark_shared(Warp& warp, const Region& region, std::uint64_t address, std::uint64_t bytes,
                   AsyncUse use) {
  if (!is_marked(warp, region)) return;
  change_marks(warp, region, address, bytes, [&](SharedMark& mark) {
    std::uint32_t& count = use == AsyncUse::Write ? mark.writes : mark.reads;
    if (count != 0) --count;
  });
}

void mark_mbarrier(Warp& warp, const Region& region, std::uint64_t address, unsigned lane) {
  if (!warp.checks(Check::Barrier)) return;
  change_marks(warp, region, address, 8, [&](SharedMark& mark) {
    mark.is_barrier = true;
    sign(warp, mark, lane);
  });
}

void unmark_mbarrier(Warp& warp, const Region& region, std::uint64_t address) {
  if (!warp.checks(Check::Barrier)) return;
  change_marks(warp, region, address, 8, [&](SharedMark& mark) { mark.is_barrier = false; });
}

// --- runs of bytes -------------------------------------------------------------------------------

ByteRun find_run(Warp& warp, std::uint64_t address, unsigned lane, std::uint32_t bytes,
                 AccessKind touch, Space space, unsigned unit) {
  if (bytes == 0) return {};
  ByteRun run{.address = address};
  std::uint64_t at[kLanes];
  const auto find = [&](std::uint64_t offset) {
    std::fill(std::begin(at), std::end(at), address + offset);
    visit_regions(warp, at, lane_bit(lane), unit, touch, space,
                  [&](Region& region, Mask) { run.region = &region; });
  };
  find(0);
  if (run.region == nullptr) return {};
  const std::uint64_t room = run.region->size - (address - run.region->base);
  run.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, room));
  std::fill(std::begin(at), std::end(at), address);
  if (run.region->owners != nullptr)
    note_conflicts(warp, *run.region, at, lane_bit(lane), run.bytes, touch);
  if (run.region->grids != nullptr)
    check_grids(warp, *run.region, at, lane_bit(lane), run.bytes, touch);
  // The first part that does not fit is looked up for its finding.
  if (run.bytes < bytes) find(run.bytes / unit * unit);
  return run;
}

namespace {

// Those that combine are strong, and do not race with each other.
void note_race(Warp& warp, const ByteRun& run, const std::uint64_t* address, unsigned lane,
               Touched how, bool combines) {
  RaceTracker* races = warp.unit->races.get();
  if (races == nullptr) return;
  if (how != Touched::AsyncWrite)
    note_neighbour(warp, *run.region, address, lane_bit(lane), run.bytes, how);
  races->touch(warp, *run.region, address, lane_bit(lane), run.bytes, how,
               combines ? Manner::strong(0) : Manner{});
}

void check_fence(Warp& warp, const ByteRun& run, const std::uint64_t* address, unsigned lane,
                 bool is_write) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  fences->check_async(warp, *run.region, address, lane_bit(lane), run.bytes, is_write);
}

}  // namespace

void read_run(Warp& warp, const ByteRun& run, unsigned lane, std::byte* data,
              std::uint8_t* undefined) {
  if (run.region == nullptr) return;
  std::uint64_t address[kLanes];
  std::fill(std::begin(address), std::end(address), run.address);
  note_race(warp, run, address, lane, Touched::Read, false);
  check_fence(warp, run, address, lane, false);
  check_async(warp, *run.region, address, lane_bit(lane), run.bytes, false);
  const std::uint64_t from = run.region->offset(run.address, lane);
  std::memcpy(data, run.region->data + from, run.bytes);
  if (run.region->undefined != nullptr && undefined != nullptr)
    std::memcpy(undefined, run.region->undefined + from, run.bytes);
}

Bytes read_run(Warp& warp, const ByteRun& run, unsigned lane, std::uint32_t bytes) {
  Bytes read;
  read.data.resize(bytes);
  if (run.region != nullptr && run.region->undefined != nullptr) read.undefined.resize(bytes);
  read_run(warp, run, lane, read.data.data(),
           read.undefined.empty() ? nullptr : &read.undefined[0]);
  return read;
}

void report_unwritten(Warp& warp, unsigned lane, const Unwritten& bytes) {
  if (bytes.count == 0 || !warp.is_new(Check::Uninit)) return;
  warp.report_at(Check::Uninit, lane_bit(lane), bytes.first,
                 fmt::format("copies {} bytes of shared memory to global memory that nothing has "
                             "written; the first is at {}",
                             bytes.count, shared_text(*warp.unit, bytes.first)));
}

void begin_write(Warp& warp, const ByteRun& run, unsigned lane, const WriteMode& mode) {
  if (run.region == nullptr) return;
  std::uint64_t address[kLanes];
  std::fill(std::begin(address), std::end(address), run.address);
  if (!mode.combines) check_async(warp, *run.region, address, lane_bit(lane), run.bytes, true);
  note_race(warp, run, address, lane, mode.combines ? Touched::Atomic : Touched::AsyncBegin,
            mode.combines);
  if (mode.is_async_proxy) check_fence(warp, run, address, lane, true);
  mark_shared(warp, *run.region, run.address, run.bytes, lane, AsyncUse::Write);
}

void end_write(Warp& warp, const ByteRun& run, unsigned lane, bool combines) {
  if (run.region == nullptr) return;
  std::uint64_t address[kLanes];
  std::fill(std::begin(address), std::end(address), run.address);
  unmark_shared(warp, *run.region, run.address, run.bytes, AsyncUse::Write);
  note_race(warp, run, address, lane, Touched::AsyncWrite, combines);
  FenceTracker* fences = warp.unit->fences.get();
  if (fences != nullptr) fences->forget(*run.region, address, lane_bit(lane), run.bytes);
  if (run.region->space == Space::Shared) {
    const auto from = static_cast<std::uint32_t>(run.address - run.region->base);
    owner_of(warp, *run.region).tiles.forget(from, from + run.bytes);
  }
  act(warp);
}

// --- landing -------------------------------------------------------------------------------------

namespace {

void put_bytes(const ByteRun& run, const std::byte* data, const std::uint8_t* undefined,
               std::uint16_t mask) {
  constexpr std::uint32_t kMasked = 16;
  const std::uint64_t to = run.address - run.region->base;
  for (std::uint32_t i = 0; i < run.bytes; ++i) {
    if (((unsigned{mask} >> (i % kMasked)) & 1U) == 0) continue;
    run.region->data[to + i] = data[i];
    if (run.region->undefined != nullptr)
      run.region->undefined[to + i] = undefined != nullptr ? undefined[i] : 0;
  }
}

void combine_bytes(const ByteRun& run, const std::byte* data, const std::uint8_t* undefined,
                   const Effect& effect) {
  const std::uint64_t to = run.address - run.region->base;
  std::uint8_t* there = run.region->undefined;
  for (std::uint32_t i = 0; i + effect.element <= run.bytes; i += effect.element) {
    effect.combine(run.region->data + to + i, data + i);
    if (there == nullptr || undefined == nullptr) continue;
    // A result is as undefined as what it is made of.
    std::uint8_t any = 0;
    for (unsigned b = 0; b < effect.element; ++b) {
      any |= static_cast<std::uint8_t>(there[to + i + b] | undefined[i + b]);
    }
    std::memset(there + to + i, any, effect.element);
  }
}

}  // namespace

void land(Warp& warp, unsigned lane, const ByteRun& run, const std::byte* data,
          const std::uint8_t* undefined, const Effect& effect) {
  if (run.region == nullptr) return;
  end_write(warp, run, lane, effect.combine != nullptr);
  if (effect.combine != nullptr) {
    combine_bytes(run, data, undefined, effect);
  } else if (effect.mask != 0xFFFF) {
    put_bytes(run, data, undefined, effect.mask);
  } else {
    const std::uint64_t to = run.address - run.region->base;
    std::memcpy(run.region->data + to, data, run.bytes);
    if (run.region->undefined == nullptr) return;
    if (undefined == nullptr) {
      std::memset(run.region->undefined + to, 0, run.bytes);
    } else {
      std::memcpy(run.region->undefined + to, undefined, run.bytes);
    }
  }
}

void check_same_cta(Warp& warp, unsigned lane, std::uint64_t to, std::uint64_t mbarrier,
                    bool or_peer) {
  const std::uint64_t apart = shared_rank(to) ^ shared_rank(mbarrier);
  if (apart == 0 || (or_peer && apart == 1)) return;
  if (!warp.is_new(Check::Barrier)) return;
  warp.report_at(
      Check::Barrier, lane_bit(lane), mbarrier,
      fmt::format("the data goes to CTA {} of the cluster, and the mbarrier is in CTA {}",
                  shared_rank(to), shared_rank(mbarrier)));
}

// --- work that somebody waits for ----------------------------------------------------------------

void start_job(Warp& warp, unsigned lane, PendingJob job) {
  job.op = warp.current;
  job.warp = &warp;
  job.lane = lane;
  if (job.kind != PendingJob::JobKind::Signal) job.group = warp.pending.bulk_committed[lane];
  job.deliver = [&warp, op = job.op, deliver = std::move(job.deliver)] {
    const ActingFor acting(warp, op);
    deliver();
  };
  warp.unit->jobs.push_back(std::move(job));
}

void start_group_read(Warp& warp, unsigned lane, const std::vector<ByteRun>& sources) {
  for (const ByteRun& run : sources)
    mark_shared(warp, *run.region, run.address, run.bytes, lane, AsyncUse::Read);
  start_job(warp, lane, {.kind = PendingJob::JobKind::BulkRead, .deliver = [&warp, sources] {
                           for (const ByteRun& run : sources)
                             unmark_shared(warp, *run.region, run.address, run.bytes,
                                           AsyncUse::Read);
                         }});
}

std::vector<CopyTarget> copy_targets(Warp& warp, unsigned lane, Place mask, const CopyTarget& to,
                                     bool for_pair) {
  if (!mask.present()) {
    check_same_cta(warp, lane, to.address, to.mbarrier, for_pair);
    return {to};
  }
  const std::uint16_t ranks = warp.source<std::uint16_t>(mask)[lane];
  std::vector<CopyTarget> targets;
  for (std::uint64_t rank = 0; rank < 16; ++rank) {
    if (((ranks >> rank) & 1U) == 0) continue;
    // Of a pair, the CTA that is even or odd as that of the mbarrier is.
    const std::uint64_t hears =
        for_pair ? (rank & ~std::uint64_t{1}) | (shared_rank(to.mbarrier) & 1U) : rank;
    targets.push_back({in_cta(to.address, rank), in_cta(to.mbarrier, hears)});
  }
  return targets;
}

// --- decoding ------------------------------------------------------------------------------------

std::uint32_t cluster_address(Decode& in, std::size_t i) {
  const std::uint32_t index = in.address(i);
  Address& address = in.function().program().addresses[index];
  const bool is_generic = !in.has("space") && address.base.present() && !address.is_narrow;
  address.space = is_generic ? Space::Generic : Space::SharedCluster;
  return index;
}

}  // namespace ww::sim
