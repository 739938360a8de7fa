// SPDX-License-Identifier: Apache-2.0
#include "sim/run/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "sim/run/deadlock.h"

namespace ww::sim {
namespace {

// How often all warps may wake up, find nothing new and fall asleep again.
constexpr std::uint64_t kMaxIdleWakes = 256;

void prepare(const RunContext& context, Cta& cta, std::uint64_t linear, unsigned rank) {
  cta.rank = rank;
  cta.linear = linear;
  cta.id = context.launch->grid.at(linear);
  const std::uint64_t bytes = context.shared_bytes;
  if (cta.data == nullptr) {
    cta.data = std::make_unique<std::byte[]>(bytes + 16);
    if (context.tracks) cta.undefined = std::make_unique<std::uint8_t[]>(bytes + 16);
  }
  // Shared memory holds whatever was there: a pattern that shows.
  std::memset(cta.data.get(), 0xCD, bytes);
  if (cta.undefined != nullptr) std::memset(cta.undefined.get(), 0xFF, bytes);
  cta.shared = {.base = shared_start(rank),
                .size = bytes,
                .data = cta.data.get(),
                .undefined = cta.undefined.get(),
                .space = Space::Shared,
                .owner = rank,
                .name = "shared memory"};
  for (const auto& warp : cta.warps) warp->registers = 0;
  cta.barriers = {};
  cta.mbarriers.clear();
  cta.tensor.reset();
  cta.warpgroups.clear();
  cta.tiles.clear();
  if (cta.watched != 0) std::fill(cta.marks.begin(), cta.marks.end(), SharedMark{});
  cta.watched = 0;
  cta.was_refused = false;
  cta.collected_a.reset();
}

// Of the warps that wait for others of their warpgroup, the first goes on without them.
bool break_groups(Unit& unit) {
  return std::any_of(unit.warps.begin(), unit.warps.end(),
                     [](Warp* warp) { return break_group(*warp); });
}

// Asynchronous work ends that a sleeper waits for.
bool wake_for_jobs(Unit& unit) {
  bool any = false;
  for (Warp* warp : unit.warps) {
    for (Split& split : warp->splits.list) {
      if (split.state != SplitState::Asleep || !has_jobs(unit, split.address)) continue;
      split.resume(false);
      any = true;
    }
  }
  unit.work_is_due = any;
  return any;
}

// No warp can run. What sleepers wait for is done; then lanes that wait for lanes that cannot come go
// on without them, and sleepers look again.
bool unblock(Unit& unit) {
  if (wake_for_jobs(unit)) return true;
  bool any = false;
  for (Warp* warp : unit.warps) any = break_meeting(*warp) || any;
  if (any) return true;
  if (unit.activity != unit.idle.activity) {
    unit.idle.activity = unit.activity;
    unit.idle.wakes = 0;
  }
  if (++unit.idle.wakes > kMaxIdleWakes) return break_groups(unit);
  for (Warp* warp : unit.warps) any = wake(*warp, SplitState::Asleep, true, 0) || any;
  for (Warp* warp : unit.warps) any = wake(*warp, SplitState::AtRegisters, false) || any;
  const bool in_vain =
      unit.idle.wakes == kMaxIdleWakes;  // the last time: columns will never be free
  for (Warp* warp : unit.warps) any = wake(*warp, SplitState::AtAlloc, in_vain) || any;
  return any || break_groups(unit);
}

// What no thread has waited for: copies, loads and stores of tensor memory.
void report_unwaited(Unit& unit) {
  const auto report = [&](const Warp& warp, std::uint32_t op, Mask lanes, std::string_view what) {
    unit.findings.add({.check = Check::Async,
                       .who = {op, warp.cta->linear, warp.index, lanes},
                       .text = fmt::format("the kernel ends without {}", what)});
  };
  for (const auto& cta : unit.ctas) {
    for (const auto& warp : cta->warps) {
      for (const PendingCopy& copy : warp->pending.copies)
        report(*warp, copy.op, copy.lanes, "a wait for this copy");
      for (const PendingLoad& load : warp->pending.loads)
        report(*warp, load.op, load.lanes, "`tcgen05.wait::ld`");
      for (const PendingStore& store : warp->pending.stores)
        report(*warp, store.op, kAllLanes, "`tcgen05.wait::st`");
      for (const TensorWork& work : warp->pending.tensor_work)
        report(*warp, work.op, lane_bit(work.lane), "a wait for a `tcgen05.commit` behind this");
    }
  }
  // The memory of a block is another one's when it has ended.
  for (const PendingJob& job : unit.jobs)
    if (job.kind == PendingJob::JobKind::BulkRead)
      report(*job.warp, job.op, lane_bit(job.lane),
             "`cp.async.bulk.wait_group.read`: its shared memory may still be read");
}

// All threads have ended: what is still on its way arrives, what was not given back is reported.
void finish(Unit& unit) {
  if (unit.checks(Check::Async)) {
    report_unwaited(unit);
    report_unwaited_products(unit);
  }
  report_skips(unit);
  while (!unit.jobs.empty()) {
    PendingJob job = std::move(unit.jobs.front());
    unit.jobs.erase(unit.jobs.begin());
    job.deliver();
  }
  report_left_over(unit);
  for (const auto& cta : unit.ctas) {
    if (cta->tensor == nullptr || !unit.checks(Check::Tensor)) continue;
    for (const TensorMemory::Allocation& left : cta->tensor->allocations()) {
      unit.findings.add({.check = Check::Tensor,
                         .who = {left.op, cta->linear, left.warp, kAllLanes},
                         .text = fmt::format("{} columns from column {} are never freed",
                                             left.count, left.column)});
    }
  }
}

// What kernels can pile up without end, by what it is.
struct Piled {
  std::uint64_t work = 0, findings = 0, stacks = 0, printed = 0;
  [[nodiscard]] std::uint64_t all() const { return work + findings + stacks + printed; }
  [[nodiscard]] std::string_view greatest() const {
    const std::uint64_t most = std::max({work, findings, stacks, printed});
    return most == work       ? "asynchronous work without a wait"
           : most == findings ? "what was found"
           : most == stacks   ? "calls inside each other"
                              : "what was printed";
  }
};

Piled piled_in(const Unit& unit) {
  Piled piled{.work = unit.jobs.size() * sizeof(PendingJob),
              .findings = unit.findings.bytes(),
              .printed = unit.printed.size()};
  for (const PendingJob& job : unit.jobs) piled.work += job.bytes + job.held;
  for (const Warp* warp : unit.warps) {
    piled.work += warp->pending.bytes();
    piled.stacks += warp->stack.bytes();
  }
  for (const auto& cta : unit.ctas) {
    for (const Warpgroup& group : cta->warpgroups) piled.work += group.bytes();
  }
  return piled;
}

}  // namespace

// --- starting ------------------------------------------------------------------------------------

Unit::Unit(const RunContext& run_context) : context(run_context) {
  const std::uint64_t cta_warps = (context.launch->block.count() + kLanes - 1) / kLanes;
  const std::uint64_t size = context.cluster.count();
  const CheckSet& checks = context.options->checks;
  const bool has_fences = context.program->uses_async_proxy || context.program->uses_tensor_memory;
  if (checks.has(Check::Race) || (checks.has(Check::Fence) && has_fences)) {
    order = std::make_unique<Order>(static_cast<unsigned>(cta_warps * size),
                                    static_cast<unsigned>(cta_warps), has_fences,
                                    context.grid != nullptr ? &context.grid->locations : nullptr);
    order->fences_are_own = checks.has(Check::Proxy);
    order->in_step = context.options->in_step.value_or(context.program->target.in_step);
  }
  if (checks.has(Check::Race)) {
    races = std::make_unique<RaceTracker>(*order,
                                          context.grid != nullptr ? &context.grid->races : nullptr);
  }
  if (checks.has(Check::Race) && size > 1) neighbours = std::make_unique<Neighbours>(*order, size);
  if (checks.has(Check::Fence) && has_fences)
    fences = std::make_unique<FenceTracker>(*order, context.program->uses_async_proxy);
  if (context.options->count) counters.ops.resize(context.program->ops.size());
  for (std::uint64_t r = 0; r < size; ++r) {
    auto cta = std::make_unique<Cta>();
    for (std::uint64_t w = 0; w < cta_warps; ++w) {
      auto warp = std::make_unique<Warp>();
      warp->program = context.program;
      warp->unit = this;
      warp->cta = cta.get();
      warp->index = static_cast<unsigned>(w);
      cta->warps.push_back(std::move(warp));
    }
    ctas.push_back(std::move(cta));
  }
}

void Unit::start(std::uint64_t number) {
  index = number;
  findings.clear();
  origins.clear();
  printed.clear();
  jobs.clear();
  outcome = Outcome::Finished;
  reason.clear();
  executed = activity = 0;
  idle = {};
  if (order != nullptr) order->reset(number);
  cluster = {};
  skips.clear();
  overtaken.clear();
  overwriters.clear();
  grid_waits.clear();
  if (neighbours != nullptr) neighbours->reset();
  if (races != nullptr) races->reset();
  if (fences != nullptr) fences->reset();
  random.seed(context.options->schedule.seed * 0x9E37'79B9'7F4A'7C15U + number);
  const std::uint64_t threads = context.launch->block.count();
  warps.clear();
  for (unsigned r = 0; r < ctas.size(); ++r)
    prepare(context, *ctas[r], cta_linear(context, number, r), r);
  for (auto& cta : ctas) {
    for (auto& warp : cta->warps) {
      const std::uint64_t left = threads - std::uint64_t{warp->index} * kLanes;
      start_warp(*warp, *context.code, left >= kLanes ? kAllLanes : (Mask{1} << left) - 1);
      warps.push_back(warp.get());
    }
  }
  start_turns(*this);
  jobs_numbered = 0;
  work_is_due = false;
  recorder = context.recorded == number ? std::make_unique<Recorder>(*this) : nullptr;
}

std::uint64_t cta_linear(const RunContext& context, std::uint64_t unit, std::uint64_t rank) {
  const Dim3& grid = context.launch->grid;
  const Dim3& size = context.cluster;
  const std::uint64_t across = grid.x / size.x;
  const std::uint64_t down = grid.y / size.y;
  const std::uint64_t x = unit % across * size.x + rank % size.x;
  const std::uint64_t y = unit / across % down * size.y + rank / size.x % size.y;
  const std::uint64_t z = unit / across / down * size.z + rank / size.x / size.y;
  return x + grid.x * (y + grid.y * z);
}

std::uint64_t unit_of(const RunContext& context, std::uint64_t cta) {
  const Dim3& grid = context.launch->grid;
  const Dim3& size = context.cluster;
  const std::uint64_t x = cta % grid.x / size.x;
  const std::uint64_t y = cta / grid.x % grid.y / size.y;
  const std::uint64_t z = cta / grid.x / grid.y / size.z;
  return x + grid.x / size.x * (y + grid.y / size.y * z);
}

Dim3 first_cta(const RunContext& context, std::uint64_t unit) {
  return context.launch->grid.at(cta_linear(context, unit, 0));
}

Party Unit::party(std::uint32_t op, std::uint64_t unit, unsigned unit_warp, Mask lanes) const {
  const auto per_cta = static_cast<unsigned>(ctas[0]->warps.size());
  return {op, cta_linear(context, unit, unit_warp / per_cta), unit_warp % per_cta, lanes};
}

std::string Unit::describe(const Dim3& cta) {
  return fmt::format("block ({},{},{})", cta.x, cta.y, cta.z);
}

std::string shared_text(const Unit& unit, std::uint64_t address) {
  const std::uint64_t rank = shared_rank(address);
  const std::uint64_t offset = shared_offset(address);
  if (rank >= unit.ctas.size()) return fmt::format("0x{:x}", address - kSharedWindow);
  return unit.ctas.size() == 1 ? fmt::format("0x{:x}", offset)
                               : fmt::format("0x{:x} of CTA {} of the cluster", offset, rank);
}

void Unit::stop(Outcome what, std::string why) {
  if (outcome != Outcome::Finished) return;
  outcome = what;
  reason = std::move(why);
}

// --- running -------------------------------------------------------------------------------------

std::uint64_t Unit::piled_bytes() const { return piled_in(*this).all(); }

bool Unit::bound_memory() {
  const Piled now = piled_in(*this);
  const std::uint64_t most = context.options->limits.memory;
  if (now.all() <= most) return true;
  stop(Outcome::MemoryLimit, fmt::format("{} takes {} bytes, more than the budget of {}",
                                         now.greatest(), now.all(), most));
  return false;
}

bool Unit::run(std::uint64_t turns) {
  const bool is_over = run_rounds(turns);
  if (is_over && recorder != nullptr) recorder->end();
  return is_over;
}

bool Unit::run_rounds(std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const bool all_done =
        std::all_of(warps.begin(), warps.end(), [](const Warp* warp) { return warp->done(); });
    if (all_done) {
      finish(*this);
      return true;
    }
    if (outcome != Outcome::Finished) return true;
    if (!run_warps(*this) && !unblock(*this)) {
      report_deadlock(*this);
      return true;
    }
    bound_memory();
  }
  return false;
}

}  // namespace ww::sim
