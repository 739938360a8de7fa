// SPDX-License-Identifier: Apache-2.0
#include "sim/run/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ww::sim {
namespace {

// Ops that a warp does before the next one has its turn.
constexpr std::uint32_t kTurn = 1024;
// How often everybody may wake up, find nothing new and fall asleep again.
constexpr std::uint64_t kMaxIdleWakes = 256;

}  // namespace

Unit::Unit(const RunContext& run_context) : context(run_context) {
  const std::uint64_t warps = (context.launch->block.count() + kLanes - 1) / kLanes;
  const std::uint64_t size = context.cluster.count();
  const CheckSet& checks = context.options->checks;
  const bool has_fences = context.program->uses_async_proxy || context.program->uses_tensor_memory;
  if (checks.has(Check::Race) || (checks.has(Check::Fence) && has_fences)) {
    order = std::make_unique<Order>(static_cast<unsigned>(warps * size),
                                    static_cast<unsigned>(warps), has_fences,
                                    context.grid != nullptr ? &context.grid->locations : nullptr);
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
    for (std::uint64_t w = 0; w < warps; ++w) {
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

// --- starting ------------------------------------------------------------------------------------

void Unit::prepare(Cta& cta, std::uint64_t linear, unsigned rank) {
  const Dim3& grid = context.launch->grid;
  cta.rank = rank;
  cta.linear = linear;
  cta.id = {static_cast<std::uint32_t>(linear % grid.x),
            static_cast<std::uint32_t>(linear / grid.x % grid.y),
            static_cast<std::uint32_t>(linear / grid.x / grid.y)};
  const std::uint64_t bytes = context.shared_bytes;
  if (cta.data_ == nullptr) {
    cta.data_ = std::make_unique<std::byte[]>(bytes + 16);
    if (context.tracks) cta.undefined_ = std::make_unique<std::uint8_t[]>(bytes + 16);
  }
  // Shared memory holds whatever was there: a pattern that shows.
  std::memset(cta.data_.get(), 0xCD, bytes);
  if (cta.undefined_ != nullptr) std::memset(cta.undefined_.get(), 0xFF, bytes);
  cta.shared = {.base = kSharedWindow + (std::uint64_t{rank + 1} << kRankShift),
                .size = bytes,
                .data = cta.data_.get(),
                .undefined = cta.undefined_.get(),
                .space = Space::Shared,
                .owner = rank,
                .name = "shared memory"};
  cta.barriers = {};
  cta.mbarriers.clear();
  cta.tensor.reset();
  if (cta.watched != 0) std::fill(cta.marks.begin(), cta.marks.end(), SharedMark{});
  cta.watched = 0;
}

void Unit::start(std::uint64_t cluster) {
  index = cluster;
  findings.clear();
  printed.clear();
  jobs.clear();
  outcome = Outcome::Finished;
  reason.clear();
  executed_ = idle_wakes_ = activity = activity_seen_ = 0;
  cluster_arrived_ = 0;
  cluster_phase_ = 0;
  if (order != nullptr) order->reset(cluster);
  cluster_arriving = cluster_clock = {};
  skips_.clear();
  if (neighbours != nullptr) neighbours->reset();
  if (races != nullptr) races->reset();
  if (fences != nullptr) fences->reset();
  random_.seed(context.options->schedule.seed * 0x9E37'79B9'7F4A'7C15U + cluster);
  const std::uint64_t threads = context.launch->block.count();
  order_.clear();
  for (unsigned r = 0; r < ctas.size(); ++r) prepare(*ctas[r], cta_linear(context, cluster, r), r);
  for (auto& cta : ctas) {
    for (auto& warp : cta->warps) {
      const std::uint64_t left = threads - std::uint64_t{warp->index} * kLanes;
      warp->start(*context.code, left >= kLanes ? kAllLanes : (Mask{1} << left) - 1);
      order_.push_back(warp.get());
    }
  }
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

std::uint64_t Unit::linear_of(std::uint64_t unit, unsigned unit_warp) const {
  return cta_linear(context, unit, unit_warp / ctas[0]->warps.size());
}

std::string Unit::describe(const Cta& cta) const {
  return fmt::format("block ({},{},{})", cta.id.x, cta.id.y, cta.id.z);
}

void Unit::stop(Outcome what, std::string why) {
  if (outcome != Outcome::Finished) return;
  outcome = what;
  reason = std::move(why);
}

// --- running -------------------------------------------------------------------------------------

// One turn for every warp. Whether anybody did anything.
bool Unit::pass() {
  bool any = false;
  const bool shuffled = context.options->schedule.is_random;
  if (shuffled) std::shuffle(order_.begin(), order_.end(), random_);
  for (Warp* warp : order_) {
    if (warp->done() || !warp->can_run()) continue;
    std::uint32_t turn = shuffled ? static_cast<std::uint32_t>(random_() % 64 + 1) : kTurn;
    turn = static_cast<std::uint32_t>(std::min<std::uint64_t>(turn, budget));
    if (turn == 0) {
      stop(Outcome::InstructionLimit, "the budget of instructions is used up");
      return true;
    }
    const std::uint32_t done = warp->run(turn);
    executed_ += done;
    counters.instructions += done;
    budget -= std::min<std::uint64_t>(budget, done);
    any = any || done != 0;
    if (outcome != Outcome::Finished) return true;
  }
  return any;
}

// Nobody can run. Lanes that wait for lanes that cannot come go on without them; sleepers look
// again.
bool Unit::unblock() {
  bool any = false;
  for (Warp* warp : order_) any = warp->break_meetings() || any;
  if (any) return true;
  if (activity != activity_seen_) {
    activity_seen_ = activity;
    idle_wakes_ = 0;
  }
  if (++idle_wakes_ > kMaxIdleWakes) return false;
  for (Warp* warp : order_) any = warp->wake(SplitState::Asleep, true, 0) || any;
  const bool in_vain = idle_wakes_ == kMaxIdleWakes;  // the last time: columns will never be free
  for (Warp* warp : order_) any = warp->wake(SplitState::AtAlloc, in_vain) || any;
  return any;
}

// What kernels can pile up without end, by what it is.
struct Unit::Piled {
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

Unit::Piled Unit::piled() const {
  Piled piled{.work = jobs.size() * sizeof(PendingJob),
              .findings = findings.bytes(),
              .printed = printed.size()};
  for (const Warp* warp : order_) {
    piled.work +=
        warp->copies.size() * sizeof(PendingCopy) + warp->loads.size() * sizeof(PendingLoad) +
        warp->stores.size() * sizeof(PendingStore) + warp->tensor_work.size() * sizeof(TensorWork);
    piled.stacks += warp->stack_bytes();
  }
  return piled;
}

std::uint64_t Unit::piled_bytes() const { return piled().all(); }

bool Unit::bound_memory() {
  const Piled now = piled();
  const std::uint64_t most = context.options->limits.memory;
  if (now.all() <= most) return true;
  stop(Outcome::MemoryLimit, fmt::format("{} takes {} bytes, more than the budget of {}",
                                         now.greatest(), now.all(), most));
  return false;
}

bool Unit::run(std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const bool all_done =
        std::all_of(order_.begin(), order_.end(), [](const Warp* warp) { return warp->done(); });
    if (all_done) {
      finish();
      return true;
    }
    if (outcome != Outcome::Finished) return true;
    if (!pass() && !unblock()) {
      report_deadlock();
      return true;
    }
    bound_memory();
  }
  return false;
}

void Unit::report_deadlock() {
  report_skips();
  report_left_over();
  std::vector<std::string> waiting;
  Party who;
  Party other;
  std::size_t count = 0;
  for (const Warp* warp : order_) {
    for (const Split& split : warp->splits()) {
      const auto* state = split.state == SplitState::AtBarrier          ? "at barrier"
                          : split.state == SplitState::AtClusterBarrier ? "at the cluster's barrier"
                          : split.state == SplitState::AtAlloc ? "for columns of tensor memory"
                                                               : "for the mbarrier at";
      std::string what = state;
      if (split.state == SplitState::AtBarrier) what += fmt::format(" {}", split.value & 15U);
      if (split.state == SplitState::Asleep) {
        what += fmt::format(" 0x{:x}", split.address & ((1U << kRankShift) - 1));
      }
      Party& party = count == 0 ? who : other;
      if (count < 2) party = {split.pc, warp->cta->linear, warp->index, split.lanes};
      if (++count <= 4) {
        waiting.push_back(fmt::format("{}, warp {}, lanes {} waits {} at line {}",
                                      describe(*warp->cta), warp->index, lanes_text(split.lanes),
                                      what, context.program->infos[split.pc].line));
      }
    }
  }
  std::string text = "no thread can go on: " + fmt::format("{}", fmt::join(waiting, "; "));
  if (count > waiting.size()) text += fmt::format("; and {} more", count - waiting.size());
  if (context.options->checks.has(Check::Barrier)) {
    findings.add({.check = Check::Barrier, .who = who, .other = other, .text = text});
  }
  stop(Outcome::Deadlocked, std::move(text));
}

// Work without a wait: copies, loads and stores of tensor memory.
void Unit::report_unwaited() {
  const auto report = [&](const Warp& warp, std::uint32_t op, Mask lanes, std::string_view what) {
    findings.add({.check = Check::Async,
                  .who = {op, warp.cta->linear, warp.index, lanes},
                  .text = fmt::format("the kernel ends without {}", what)});
  };
  for (const auto& cta : ctas) {
    for (const auto& warp : cta->warps) {
      for (const PendingCopy& copy : warp->copies)
        report(*warp, copy.op, copy.lanes, "a wait for this copy");
      for (const PendingLoad& load : warp->loads)
        report(*warp, load.op, load.lanes, "`tcgen05.wait::ld`");
      for (const PendingStore& store : warp->stores)
        report(*warp, store.op, kAllLanes, "`tcgen05.wait::st`");
      for (const TensorWork& work : warp->tensor_work)
        report(*warp, work.op, lane_bit(work.lane), "a wait for a `tcgen05.commit` behind this");
    }
  }
}

// All threads have ended: what is still on its way arrives, what was not given back is reported.
void Unit::finish() {
  if (context.options->checks.has(Check::Async)) report_unwaited();
  report_skips();
  while (!jobs.empty()) {
    PendingJob job = std::move(jobs.front());
    jobs.erase(jobs.begin());
    job.deliver();
  }
  report_left_over();
  for (const auto& cta : ctas) {
    if (cta->tensor == nullptr || !context.options->checks.has(Check::Tensor)) continue;
    for (const TensorMemory::Allocation& left : cta->tensor->allocations()) {
      findings.add({.check = Check::Tensor,
                    .who = {left.op, cta->linear, left.warp, kAllLanes},
                    .text = fmt::format("{} columns from column {} are never freed", left.count,
                                        left.column)});
    }
  }
}

}  // namespace ww::sim
