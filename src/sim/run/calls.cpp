// SPDX-License-Identifier: Apache-2.0
// Calls and returns of a warp: frames, arguments and results.
#include <algorithm>
#include <cstring>

#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

constexpr std::uint64_t kMaxFrameBytes = std::uint64_t{64} << 20U;   // of one warp's registers
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{512} << 10U;  // of one lane, as hardware has
constexpr std::uint32_t kMaxCalls = 10'000;                          // inside each other

}  // namespace

std::uint32_t Warp::node_of(const CallNode& node) {
  for (std::uint32_t i = 1; i < calls_.size(); ++i) {
    const CallNode& c = calls_[i];
    if (c.caller == node.caller && c.op == node.op && c.frame == node.frame &&
        c.local == node.local) {
      return i;
    }
  }
  calls_.push_back(node);
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

std::uint64_t Warp::stack_bytes() const {
  const std::uint64_t tracked = unit->context.tracks ? 2 : 1;
  return tracked * (most_frame_ + most_local_ * kLanes) + calls_.size() * sizeof(CallNode);
}

// Copies values from one function's registers or local memory to another's, undefined bytes too; of
// these no bits are known any more.
void Warp::move_values(const std::vector<ValueMove>& moves, std::uint32_t from_frame,
                       std::uint32_t from_local, std::uint32_t to_frame, std::uint32_t to_local) {
  known_bits_.clear();
  for (const ValueMove& move : moves) {
    if (move.is_pred) {
      move_predicate(from_frame + move.from, to_frame + move.to);
      continue;
    }
    for_each_lane(exec, [&](unsigned l) {
      const std::uint64_t stride = local_region.lane_stride;
      const std::uint64_t from = move.from_register
                                     ? from_frame + move.from + std::uint64_t{l} * move.from_step
                                     : stride * l + from_local + move.from;
      const std::uint64_t to = move.to_register
                                   ? to_frame + move.to + std::uint64_t{l} * move.to_step
                                   : stride * l + to_local + move.to;
      const std::byte* source = (move.from_register ? frames_.get() : local_region.data) + from;
      std::byte* target = (move.to_register ? frames_.get() : local_region.data) + to;
      std::memmove(target, source, move.bytes);
      if (undefined == nullptr) return;
      if (!move.from_register && !move.to_register) {
        std::memmove(local_region.undefined + to, local_region.undefined + from, move.bytes);
        return;
      }
      // Registers have a bit per byte, eight of them in each lane's byte.
      const auto bits_at = [&](std::uint32_t frame_at, unsigned byte) -> std::uint8_t& {
        return frames_undefined_[frame_at + l + byte / 8 * kLanes];
      };
      for (unsigned b = 0; b < move.bytes; ++b) {
        const auto bit = static_cast<std::uint8_t>(1U << (b % 8));
        const bool is_undefined = move.from_register
                                      ? (bits_at(from_frame + move.from, b) & bit) != 0
                                      : local_region.undefined[from + b] != 0;
        if (!move.to_register) {
          local_region.undefined[to + b] = is_undefined ? 0xFF : 0;
          continue;
        }
        std::uint8_t& bits = bits_at(to_frame + move.to, b);
        bits = static_cast<std::uint8_t>((b % 8 == 0 ? 0U : bits) | (is_undefined ? bit : 0U));
      }
    });
  }
}

// A predicate is a mask of lanes, and so are its undefined lanes.
void Warp::move_predicate(std::uint64_t from, std::uint64_t to) {
  const auto copy = [&](auto* bytes) {
    Mask source = 0;
    Mask target = 0;
    std::memcpy(&source, bytes + from, sizeof source);
    std::memcpy(&target, bytes + to, sizeof target);
    target = (target & ~exec) | (source & exec);
    std::memcpy(bytes + to, &target, sizeof target);
  };
  copy(frames_.get());
  if (undefined != nullptr) copy(frames_undefined_.get());
}

namespace {

// Who is called indirectly is known only now; the site is completed in `copy`. Null: it takes other
// arguments than the call has.
const CallSite* completed(const CallSite& site, const Code& callee, CallSite& copy) {
  if (!site.target.present()) return &site;
  copy = site;
  return complete_call(copy, callee) ? &copy : nullptr;
}

}  // namespace

void Warp::call(std::uint32_t site, std::uint32_t function) {
  if (exec != active) {
    // The others go on behind the call; these lanes come back to it as a split of their own.
    Split rest{.pc = pc,
               .lanes = active & ~exec,
               .frame = frame_offset_,
               .local = local,
               .call = call_,
               .depth = depth_,
               .last_run = turn_};
    splits_.push_back(rest);
    active = exec;
  }
  const Code& code = program->functions[function];
  const Code& caller = program->functions[program->infos[current_].function];
  const std::uint32_t to_frame = frame_offset_ + caller.frame_bytes;
  const std::uint32_t to_local = local + (caller.local_bytes + 15) / 16 * 16;
  CallSite indirect;
  const CallSite* const values = completed(program->calls[site], code, indirect);
  if (values == nullptr) {
    trap("a call by address of a function with other parameters or results");
    return;
  }
  if (depth_ >= kMaxCalls || to_frame + std::uint64_t{code.frame_bytes} > kMaxFrameBytes ||
      to_local + std::uint64_t{code.local_bytes} > kMaxLocalBytes) {
    trap("the stack is exhausted");
    return;
  }
  const std::uint64_t frame_end = to_frame + std::uint64_t{code.frame_bytes};
  const std::uint64_t local_end = to_local + std::uint64_t{code.local_bytes};
  if (frame_end > most_frame_ || local_end > most_local_) {
    most_frame_ = std::max(most_frame_, frame_end);
    most_local_ = std::max(most_local_, local_end);
    if (!unit->bound_memory()) {
      stop = 0;
      return;
    }
  }
  grow_frame(frame_end);
  grow_local(local_end);
  undefined = frames_undefined_.get();
  if (undefined != nullptr) forget_frame(to_frame, code, to_local);
  move_values(values->arguments, frame_offset_, local, to_frame, to_local);
  call_ = node_of({call_, current_, frame_offset_, local});
  ++depth_;
  frame_offset_ = to_frame;
  local = to_local;
  frame = frames_.get() + to_frame;
  undefined = frames_undefined_ != nullptr ? frames_undefined_.get() + to_frame : nullptr;
  pc = code.first_op;
  fill_specials(code);
  stop = 0;
}

void Warp::forget_frame(std::uint32_t to_frame, const Code& code, std::uint32_t to_local) {
  // Lanes of other splits may have live registers in the same frame.
  for (std::uint32_t at = 0; at + kLanes <= code.frame_bytes; at += kLanes) {
    std::uint8_t* bits = frames_undefined_.get() + to_frame + at;
    for_each_lane(exec, [&](unsigned l) { bits[l] = 0xFF; });
  }
  if (code.local_bytes == 0) return;
  for_each_lane(exec, [&](unsigned l) {
    std::memset(local_region.undefined + local_region.lane_stride * l + to_local, 0xFF,
                code.local_bytes);
  });
}

void Warp::ret() {
  if (depth_ == 0) {
    end_lanes();
    return;
  }
  const CallNode node = calls_[call_];
  const Code& code = program->functions[program->infos[current_].function];
  const CallSite& site = program->calls[program->ops[node.op].extra];
  CallSite indirect;
  undefined = frames_undefined_.get();
  move_values(completed(site, code, indirect)->results, frame_offset_, local, node.frame,
              node.local);
  Split back{.pc = node.op + 1,
             .lanes = exec,
             .frame = node.frame,
             .local = node.local,
             .call = node.caller,
             .depth = depth_ - 1,
             .last_run = turn_};
  active &= ~exec;
  splits_.push_back(back);
  stop = 0;
  forget_call();
}

// Calls that nobody is in any more are forgotten from the end, so that there are never more of them
// than are open: whoever called later has ended before.
void Warp::forget_call() {
  const bool in_use = active != 0 || call_ + 1 != calls_.size() ||
                      std::any_of(splits_.begin(), splits_.end(), [&](const Split& split) {
                        return &split != &splits_[running_] && split.call == call_;
                      });
  if (!in_use) calls_.pop_back();
}

}  // namespace ww::sim
