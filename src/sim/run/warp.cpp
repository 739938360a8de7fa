// SPDX-License-Identifier: Apache-2.0
#include "sim/run/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "sim/run/special.h"
#include "sim/run/trace.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};
constexpr std::size_t kFrameAlign = 64;

// After this many turns in which one split ran and others could have, the others get a turn: the
// lanes may wait for each other.
constexpr std::uint32_t kPatience = 32;

}  // namespace

void Warp::start(const Code& code, Mask lanes_born) {
  born = live = lanes_born;
  constants = program->constants.data();
  splits_.assign(1, Split{.pc = code.first_op, .lanes = lanes_born});
  calls_.assign(1, CallNode{});
  copies.clear();
  loads.clear();
  stores.clear();
  tensor_work.clear();
  copies_issued = tensor_issued = 0;
  std::fill(std::begin(committed), std::end(committed), 0U);
  std::fill(std::begin(bulk_committed), std::end(bulk_committed), 0U);
  std::fill(std::begin(cluster_phase), std::end(cluster_phase), 0U);
  is_loaded_ = yields_ = false;
  checks_numbers_ = unit->context.options->checks.has(Check::Numbers);
  const auto& trace = unit->context.options->trace;
  tracing_ = trace && trace->block == cta->linear && (trace->all_warps || trace->warp == index);
  turn_ = 0;
  crowded_turns_ = 0;
  last_region_ = nullptr;
  executed = 0;
  grow_frame(code.frame_bytes);
  if (frames_undefined_ != nullptr) std::memset(frames_undefined_.get(), 0xFF, code.frame_bytes);
  grow_local(code.local_bytes);
  most_frame_ = most_local_ = 0;
  known_bits_.clear();
  ended_at = kNoOp;
  if (!local_undefined_.empty()) std::fill(local_undefined_.begin(), local_undefined_.end(), 0xFF);
  frame = frames_.get();
  undefined = frames_undefined_.get();
  fill_specials(code);
}

// --- frames and local memory --------------------------------------------------------------------

void Warp::grow_frame(std::uint64_t bytes) {
  if (bytes <= frames_size_ && frames_ != nullptr) return;
  const std::uint64_t size = std::max<std::uint64_t>({bytes, frames_size_ * 2, 1024});
  auto bigger = std::unique_ptr<std::byte[], FrameFree>(
      static_cast<std::byte*>(::operator new (size, std::align_val_t{kFrameAlign})));
  std::memset(bigger.get(), 0, size);
  if (frames_ != nullptr) std::memcpy(bigger.get(), frames_.get(), frames_size_);
  frames_ = std::move(bigger);
  if (unit->context.tracks) {
    auto shadow = std::make_unique<std::uint8_t[]>(size);
    std::memset(shadow.get(), 0xFF, size);
    if (frames_undefined_ != nullptr) {
      std::memcpy(shadow.get(), frames_undefined_.get(), frames_size_);
    }
    frames_undefined_ = std::move(shadow);
  }
  frames_size_ = size;
}

void Warp::grow_local(std::uint64_t bytes) {
  if (bytes <= local_region.lane_stride) {
    local_region.size = std::max(local_region.size, bytes);
    return;
  }
  const std::uint64_t stride = (std::max(bytes, local_region.lane_stride * 2) + 15) / 16 * 16;
  std::vector<std::byte> data(stride * kLanes);
  std::vector<std::uint8_t> undefined_bytes(unit->context.tracks ? stride * kLanes : 0, 0xFF);
  for (unsigned l = 0; l < kLanes && local_region.lane_stride != 0; ++l) {
    std::memcpy(&data[l * stride], &local_data_[l * local_region.lane_stride],
                local_region.lane_stride);
    if (undefined_bytes.empty()) continue;
    std::memcpy(&undefined_bytes[l * stride], &local_undefined_[l * local_region.lane_stride],
                local_region.lane_stride);
  }
  local_data_ = std::move(data);
  local_undefined_ = std::move(undefined_bytes);
  local_region = {.base = kLocalWindow,
                  .size = bytes,
                  .data = local_data_.data(),
                  .undefined = local_undefined_.empty() ? nullptr : local_undefined_.data(),
                  .lane_stride = stride,
                  .space = Space::Local,
                  .name = "local memory"};
}

// --- splits --------------------------------------------------------------------------------------

void Warp::switch_to(std::size_t split) {
  const Split& to = splits_[split];
  running_ = split;
  active = to.lanes;
  pc = to.pc;
  frame_offset_ = to.frame;
  frame = frames_.get() + to.frame;
  undefined = frames_undefined_ != nullptr ? frames_undefined_.get() + to.frame : nullptr;
  local = to.local;
  call_ = to.call;
  depth_ = to.depth;
  granted_ = std::exchange(splits_[split].is_granted, false);
  grant_value_ = to.value;
  grant_address_ = to.address;
  is_loaded_ = true;
}

void Warp::save() {
  if (!is_loaded_) return;
  is_loaded_ = false;
  if (active == 0) {
    splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(running_));
    return;
  }
  Split& split = splits_[running_];
  split.lanes = active;
  split.pc = pc;
  split.frame = frame_offset_;
  split.local = local;
  split.call = call_;
  split.depth = depth_;
  split.last_run = ++turn_;
}

// Splits that are at the same place are one. A split that waits for other lanes there runs again.
void Warp::merge() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    for (std::size_t j = i + 1; j < splits_.size();) {
      Split& a = splits_[i];
      const Split& b = splits_[j];
      const auto moves = [](const Split& s) {
        return (s.state == SplitState::Running && !s.is_granted) || s.state == SplitState::Meeting;
      };
      if (a.pc != b.pc || a.call != b.call || a.frame != b.frame || !moves(a) || !moves(b)) {
        ++j;
        continue;
      }
      a.lanes |= b.lanes;
      a.state = SplitState::Running;
      a.last_run = std::min(a.last_run, b.last_run);
      splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(j));
      crowded_turns_ = 0;
    }
  }
}

// The deepest in calls, then the furthest behind. When that one has run for long while others could
// have, the one that has waited longest.
bool Warp::choose() {
  if (splits_.size() > 1) merge();
  const Split* best = nullptr;
  std::size_t able = 0;
  const bool patient = crowded_turns_ < kPatience;
  for (const Split& split : splits_) {
    if (split.state != SplitState::Running) continue;
    ++able;
    const bool better =
        best == nullptr ||
        (patient ? split.depth > best->depth || (split.depth == best->depth && split.pc < best->pc)
                 : split.last_run < best->last_run);
    if (better) best = &split;
  }
  if (best == nullptr) return false;
  if (!patient) crowded_turns_ = 0;
  switch_to(static_cast<std::size_t>(best - splits_.data()));
  set_stop();
  return true;
}

void Warp::set_stop() {
  stop = kNever;
  if (splits_.size() == 1) return;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const Split& other = splits_[i];
    if (i != running_ && other.depth == depth_ && other.pc > pc) stop = std::min(stop, other.pc);
  }
}

bool Warp::can_run() const {
  return std::any_of(splits_.begin(), splits_.end(),
                     [](const Split& s) { return s.state == SplitState::Running; });
}

bool Warp::wake(SplitState state, bool granted, std::uint32_t value) {
  bool any = false;
  for (Split& split : splits_) {
    if (split.state != state) continue;
    split.state = SplitState::Running;
    split.is_granted = granted;
    split.value = value;
    any = true;
  }
  return any;
}

bool Warp::break_meetings() {
  // One split at a time: what it does next may let the others meet.
  for (Split& split : splits_) {
    if (split.state != SplitState::Meeting) continue;
    split.state = SplitState::Running;
    split.is_granted = true;
    split.value = kMeetingGrant;
    return true;
  }
  return false;
}

// --- running -------------------------------------------------------------------------------------

std::uint32_t Warp::run(std::uint32_t budget) {
  std::uint32_t done = 0;
  while (done < budget) {
    save();
    if (unit->outcome != Outcome::Finished || !choose()) break;
    // A turn among several splits is short, so that patience is measured in comparable steps.
    const std::uint32_t turn = splits_.size() > 1 ? std::min(budget - done, 4096U) : budget - done;
    done += unit->context.watches ? loop<true>(turn) : loop<false>(turn);
    if (splits_.size() > 1 && pc < stop) ++crowded_turns_;
    if (yields_) break;
  }
  yields_ = false;
  save();
  executed += done;
  return done;
}

template <bool kWatched>
std::uint32_t Warp::loop(std::uint32_t budget) {
  const Op* const ops = program->ops.data();
  std::uint32_t left = budget;
  do {
    const Op& op = ops[pc];
    Mask mask = active;
    if (op.guard.present()) {
      const Mask guard = pred(op.guard);
      mask &= op.guard_negated ? ~guard : guard;
    }
    if constexpr (kWatched) {
      current_ = pc;
      watch(op, mask);
    } else {
      current_ = pc;
    }
    ++pc;
    if (mask != 0) {
      exec = mask;
      op.run(*this, op);
      if constexpr (kWatched) {
        if (tracing_) trace_results(*this, current_, mask & active);
        if (checks_numbers_) report_numbers(mask & active);
      }
    }
    --left;
  } while (pc < stop && left != 0);
  return budget - left;
}

// What only a watched run does before an op: counts, traces, tracks undefined bytes.
void Warp::watch(const Op& op, Mask mask) {
  const RunOptions& options = *unit->context.options;
  if (options.count) {
    OpCount& count = unit->counters.ops[pc];
    ++count.executed;
    count.lanes += count_lanes(mask);
  }
  exec = mask;
  if (tracing_) trace_op(*this, pc);
  if (checks_numbers_) finite_ = finite_lanes(false);
  if (options.stop_at && program->infos[pc].line == options.stop_at->line) {
    dump_state(*this, pc);
  }
  if (undefined == nullptr) return;
  if (op.guard.present()) use(op.guard, active, 0, true);
  if (mask == 0 || (op.flags & kTracksItself) != 0) return;
  if (op.track != nullptr) {
    op.track(*this, op);
  } else {
    default_track();
  }
}

// --- what ops ask for ---------------------------------------------------------------------------

void Warp::branch(std::uint32_t target) {
  if (exec == active) {
    pc = target;
    if (splits_.size() > 1) stop = 0;
    return;
  }
  Split taken{.pc = target,
              .lanes = exec,
              .frame = frame_offset_,
              .local = local,
              .call = call_,
              .depth = depth_,
              .last_run = turn_};
  active &= ~exec;
  splits_.push_back(taken);
  stop = 0;
}

void Warp::end_lanes() {
  live &= ~exec;
  active &= ~exec;
  ++unit->activity;
  stop = 0;
  for (Split& split : splits_) {
    if (split.state != SplitState::Meeting || (split.address & live & ~split.lanes) != 0) continue;
    split.state = SplitState::Running;
    split.is_granted = true;
    split.value = kMeetingGrant;
  }
  unit->lanes_ended(*this);
}

void Warp::wait(SplitState state, std::uint32_t value, std::uint64_t address) {
  Split waiting{.pc = current_,
                .lanes = exec,
                .frame = frame_offset_,
                .local = local,
                .call = call_,
                .depth = depth_,
                .state = state,
                .value = value,
                .address = address,
                .last_run = turn_};
  active &= ~exec;
  splits_.push_back(waiting);
  stop = 0;
  if (state == SplitState::Asleep) yields_ = true;
}

bool Warp::take_grant(std::uint32_t* value) {
  if (!granted_) return false;
  granted_ = false;
  if (value != nullptr) *value = grant_value_;
  return true;
}

bool Warp::meet(Mask wanted, bool aligned) {
  if (granted_) {
    granted_ = false;
    const auto awaited = static_cast<Mask>(grant_address_);
    const Mask absent = awaited & ~exec & (aligned ? kAllLanes : live);
    if (absent != 0 && checks(Check::Collective)) {
      report(Check::Collective, exec,
             fmt::format("executed by lanes {} without lanes {}, which {}", lanes_text(exec),
                         lanes_text(absent), whereabouts(absent)));
    }
    return true;
  }
  wanted &= live;
  if ((wanted & ~exec) == 0) return true;
  wait(SplitState::Meeting, 0, wanted);
  return false;
}

bool Warp::meet_all() { return (exec == live && !granted_) || meet(live, true); }

bool Warp::meet_mask(Place place, Mask& mask) {
  const auto* masks = source<std::uint32_t>(place);
  const Mask wanted = masks[first_lane(exec)];
  Mask differ = 0;
  Mask strangers = 0;
  for_each_lane(exec, [&](unsigned l) {
    if (masks[l] != wanted) differ |= lane_bit(l);
    if (!has_lane(masks[l], l)) strangers |= lane_bit(l);
  });
  if (differ == 0) {
    mask = wanted & live;
    if (!meet(wanted)) return false;
  }
  if (strangers != 0 && checks(Check::Collective)) {
    report(Check::Collective, strangers,
           fmt::format("the member mask 0x{:08x} does not have the lane that executes it",
                       masks[first_lane(strangers)]));
  }
  if (differ != 0) {
    // Lanes with another mask are a group of their own: they execute it by themselves. Groups must
    // not have lanes in common.
    const Mask group = exec & ~differ;
    Mask common = 0;
    for_each_lane(differ, [&](unsigned l) { common |= masks[l] & wanted & live; });
    if (((wanted & live) != group || common != 0) && checks(Check::Collective)) {
      report(Check::Collective, differ,
             fmt::format("lanes have different member masks: 0x{:08x} and 0x{:08x}", wanted,
                         masks[first_lane(differ)]));
    }
    const Mask all = exec;
    exec = differ;
    branch(current_);
    exec = all & ~differ;
    mask = wanted & live;
  }
  return true;
}

std::string Warp::whereabouts(Mask who) const {
  if ((who & live) == 0) return "have ended";
  for (const Split& split : splits_) {
    if ((split.lanes & who) == 0 || (is_loaded_ && &split == &splits_[running_])) continue;
    return fmt::format("are at line {}", program->infos[split.pc].line);
  }
  return "did not take part";
}

void Warp::trap(const char* reason) {
  unit->stop(Outcome::Trapped, fmt::format("{} at line {}, {}, warp {}, lanes {}", reason,
                                           program->infos[current_].line, unit->describe(*cta),
                                           index, lanes_text(exec)));
  stop = 0;
}

// --- findings ------------------------------------------------------------------------------------

unsigned Warp::unit_warp() const {
  return cta->rank * static_cast<unsigned>(cta->warps.size()) + index;
}

bool Warp::checks(Check check) const { return unit->context.options->checks.has(check); }

void Warp::report(Check check, Mask who, std::string text) {
  report_at(check, who, 0, std::move(text));
}

void Warp::report_at(Check check, Mask who, std::uint64_t address, std::string text,
                     const Party& other) {
  unit->findings.add({.check = check,
                      .who = {current_, cta->linear, index, who},
                      .other = other,
                      .text = std::move(text),
                      .address = address,
                      .has_address = address != 0,
                      .count = count_lanes(who)});
  if (!unit->bound_memory()) stop = 0;
}

// --- special registers --------------------------------------------------------------------------

void Warp::fill_specials(const Code& code) {
  for (const SpecialUse& use : code.specials) {
    std::uint64_t values[kLanes];
    special_values(*this, use.what, values);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (use.bytes == 8) {
        lanes<std::uint64_t>(use.place)[l] = values[l];
      } else if (use.bytes == 4) {
        lanes<std::uint32_t>(use.place)[l] = static_cast<std::uint32_t>(values[l]);
      }
    }
    if (use.bytes == 1) *lanes<Mask>(use.place) = values[0] != 0 ? kAllLanes : 0;
    if (undefined != nullptr)
      std::memset(mark_lanes(use.place, kAllLanes), 0, use.bytes == 1 ? 4 : kLanes);
  }
}

}  // namespace ww::sim
