// SPDX-License-Identifier: Apache-2.0
#include "sim/run/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/checks/numbers.h"
#include "sim/checks/tensor_loads.h"
#include "sim/checks/undefined.h"
#include "sim/run/special.h"
#include "sim/run/trace.h"
#include "sim/run/unit.h"

namespace ww::sim {

void start_warp(Warp& warp, const Code& code, Mask born) {
  warp.born = warp.live = born;
  warp.constants = warp.program->constants.data();
  warp.splits = {};
  warp.splits.list.assign(1, Split{.pc = code.first_op, .lanes = born});
  warp.pending = {};
  const bool is_watched = warp.program->uses_warpgroups && warp.unit->context.tracks;
  warp.register_watch = is_watched ? std::make_unique<RegisterWatch>() : nullptr;
  warp.last_region = nullptr;
  warp.executed = warp.acts = 0;
  warp.ended_at = kNoOp;
  warp.stack.start(code.frame_bytes, code.local_bytes, warp.unit->context.tracks);
  warp.enter({});
  warp.undefined.start(warp.program->ops.size());
  warp.undefined.are_early = warp.unit->context.options->checks.undefined_early;
  fill_specials(warp, code);
}

void Warp::enter(const Activation& function) {
  here = function;
  frame = stack.frames.get() + function.frame;
  undefined.enter(stack, function.frame);
}

// --- running -------------------------------------------------------------------------------------

namespace {

// What a watched run looks at, besides undefined bytes.
struct Watch {
  bool only_tracks = false;  // none of what follows, and no op is counted or stopped at
  bool traces = false;
  bool checks_numbers = false;
  Recorder* recorder = nullptr;
  Spins* spins = nullptr;
  Mask finite = 0;  // lanes whose numbers going into the op are all finite
};

Watch watch_of(const Warp& warp) {
  if (warp.unit->spins != nullptr) return {.spins = warp.unit->spins};
  const RunOptions& options = *warp.unit->context.options;
  const auto& trace = options.trace;
  Watch watch{.traces = trace && trace->block == warp.cta->linear &&
                        (trace->all_warps || trace->warp == warp.index),
              .checks_numbers = warp.checks(Check::Numbers)};
  Recorder* const recorder = warp.unit->recorder.get();
  if (recorder != nullptr && !recorder->is_full()) watch.recorder = recorder;
  watch.only_tracks = !watch.traces && !watch.checks_numbers && watch.recorder == nullptr &&
                      !options.count && !options.stop_at;
  return watch;
}

// What only some watched runs do before an op: count, trace, look at numbers.
void observe_op(Warp& warp, Mask mask, Watch& watch) {
  if (watch.spins != nullptr) return watch.spins->before_op(warp);
  const RunOptions& options = *warp.unit->context.options;
  if (options.count) {
    OpCount& count = warp.unit->counters.ops[warp.pc];
    ++count.executed;
    count.lanes += count_lanes(mask);
  }
  if (watch.traces) trace_op(warp, warp.pc);
  if (watch.checks_numbers) watch.finite = finite_lanes(warp, false);
  if (options.stop_at && warp.program->infos[warp.pc].line == options.stop_at->line)
    dump_state(warp, warp.pc);
}

// What every watched run does before an op: watches registers of wgmma and tcgen05.ld, notes which loads
// of shared memory have ended, tracks undefined bytes.
void before_op(Warp& warp, const Op& op, Mask mask, Watch& watch) {
  warp.exec = mask;
  if (!watch.only_tracks) observe_op(warp, mask, watch);
  if (warp.register_watch != nullptr && mask != 0 && (op.flags & kWatchesRegisters) == 0)
    warp.register_watch->touch(warp);
  if ((op.flags & kSettlesReads) != 0 && mask != 0 && warp.unit->fences != nullptr)
    warp.unit->fences->settled(warp);
  if (mask != 0 && !warp.pending.loads.empty()) check_tensor_loads(warp);
  if (warp.undefined.are_kept() && !all_defined(warp)) track_op(warp, op);
}

// What only some watched runs do after it.
void after_op(Warp& warp, Mask mask, const Watch& watch) {
  const Mask after = mask & warp.active;
  if (watch.traces && mask != 0) trace_results(warp, warp.current, after);
  if (watch.checks_numbers && mask != 0) report_numbers(warp, after, watch.finite);
  if (watch.recorder != nullptr) watch.recorder->op_done(warp, mask != 0);
}

template <bool kWatched>
std::uint32_t run_ops(Warp& warp, std::uint32_t budget) {
  const Op* const ops = warp.program->ops.data();
  Watch watch;
  if constexpr (kWatched) watch = watch_of(warp);
  std::uint32_t left = budget;
  do {
    const Op& op = ops[warp.pc];
    Mask mask = warp.active;
    if (op.guard.present()) {
      const Mask guard = warp.pred(op.guard);
      mask &= op.guard_negated ? ~guard : guard;
    }
    warp.current = warp.pc;
    if constexpr (kWatched) before_op(warp, op, mask, watch);
    ++warp.pc;
    if (mask != 0) {
      warp.exec = mask;
      op.run(warp, op);
    }
    if constexpr (kWatched) {
      if (!watch.only_tracks) after_op(warp, mask, watch);
    }
    --left;
  } while (warp.pc < warp.stop && left != 0);
  return budget - left;
}

}  // namespace

namespace {

// In single steps, patience is measured in as many ops as elsewhere.
bool is_long_turn(Warp& warp) {
  constexpr std::uint32_t kTurn = 1024;
  return !warp.unit->context.options->schedule.is(Turns::Stepwise) ||
         ++warp.splits.crowded_steps % kTurn == 0;
}

}  // namespace

std::uint32_t run_warp(Warp& warp, std::uint32_t budget) {
  Splits& splits = warp.splits;
  std::uint32_t done = 0;
  while (done < budget) {
    save_split(warp);
    if (warp.unit->outcome != Outcome::Finished || !choose_split(warp)) break;
    // A turn among several splits is short, so that patience is measured in comparable steps.
    const bool is_crowded = splits.list.size() > 1;
    const std::uint32_t turn = is_crowded ? std::min(budget - done, 4096U) : budget - done;
    const bool is_watched = warp.unit->context.watches || warp.unit->spins != nullptr;
    done += is_watched ? run_ops<true>(warp, turn) : run_ops<false>(warp, turn);
    if (splits.list.size() > 1 && warp.pc < warp.stop && is_long_turn(warp)) ++splits.crowded_turns;
    if (splits.yields) break;
  }
  splits.yields = false;
  save_split(warp);
  warp.executed += done;
  return done;
}

void trap(Warp& warp, const char* reason) {
  Unit& unit = *warp.unit;
  unit.stop(Outcome::Trapped,
            fmt::format("{} at line {}, {}, warp {}, lanes {}", reason,
                        warp.program->infos[warp.current].line, unit.describe(*warp.cta),
                        warp.index, lanes_text(warp.exec)));
  warp.stop = 0;
}

// --- findings ------------------------------------------------------------------------------------

unsigned Warp::unit_warp() const {
  return cta->rank * static_cast<unsigned>(cta->warps.size()) + index;
}

bool Warp::checks(Check check) const { return unit->context.options->checks.has(check); }

bool Warp::is_new(Check check, std::uint32_t other_op, std::uint64_t count) {
  return checks(check) && !unit->findings.count_up(check, current, other_op, count);
}

void Warp::report(Check check, Mask who, std::string text) {
  report_at(check, who, 0, std::move(text));
}

void Warp::report_at(Check check, Mask who, std::uint64_t address, std::string text,
                     const Party& other) {
  report_found(check, who, address, std::move(text), {}, other);
}

void Warp::report_found(Check check, Mask who, std::uint64_t address, std::string text,
                        FoundOrigin origin, const Party& other) {
  unit->findings.add({.check = check,
                      .who = {current, cta->linear, index, who},
                      .other = other,
                      .origin = std::move(origin),
                      .text = std::move(text),
                      .address = address,
                      .has_address = address != 0,
                      .count = count_lanes(who)});
  if (!unit->bound_memory()) stop = 0;
}

}  // namespace ww::sim
