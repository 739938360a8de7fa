// SPDX-License-Identifier: Apache-2.0
#include "sim/run/calls.h"

#include <algorithm>
#include <cstring>

#include "sim/run/special.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

constexpr std::uint64_t kMaxFrameBytes = std::uint64_t{64} << 20U;   // of one warp's registers
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{512} << 10U;  // of one lane, as hardware has
constexpr std::uint32_t kMaxCalls = 10'000;                          // inside each other

// The node of a call, made if there is none.
std::uint32_t node_of(std::vector<CallNode>& calls, const CallNode& node) {
  const auto found = std::find(calls.begin() + 1, calls.end(), node);
  if (found != calls.end()) return static_cast<std::uint32_t>(found - calls.begin());
  calls.push_back(node);
  return static_cast<std::uint32_t>(calls.size() - 1);
}

// A predicate is a mask of lanes, and so are its undefined lanes.
void move_predicate(Warp& warp, std::uint64_t from, std::uint64_t to) {
  const auto copy = [&](auto* bytes) {
    Mask source = 0;
    Mask target = 0;
    std::memcpy(&source, bytes + from, sizeof source);
    std::memcpy(&target, bytes + to, sizeof target);
    target = (target & ~warp.exec) | (source & warp.exec);
    std::memcpy(bytes + to, &target, sizeof target);
  };
  copy(warp.stack.frames.get());
  if (warp.stack.undefined == nullptr) return;
  copy(warp.stack.undefined.get());
  *warp.stack.suspect_at(to) = 1;
  warp.undefined.suspect_anew();
}

// One end of a move, in one lane.
struct MoveEnd {
  std::byte* bytes;
  std::uint8_t* undefined;  // null: not tracked
  bool is_register;

  // Registers have a bit per byte, eight of them in each lane's byte.
  [[nodiscard]] bool is_undefined(unsigned byte) const {
    if (!is_register) return undefined[byte] != 0;
    return ((unsigned{undefined[byte / 8 * kLanes]} >> (byte % 8)) & 1U) != 0;
  }
  void set_undefined(unsigned byte, bool value) const {
    if (!is_register) {
      undefined[byte] = value ? 0xFF : 0;
      return;
    }
    std::uint8_t& bits = undefined[byte / 8 * kLanes];
    bits = static_cast<std::uint8_t>((byte % 8 == 0 ? 0U : bits) | (value ? 1U << (byte % 8) : 0U));
  }
};

MoveEnd move_end(const Stack& stack, const Activation& function, bool is_register,
                 std::uint32_t offset, std::uint32_t step, unsigned lane) {
  if (is_register) {
    const std::uint64_t at = function.frame + offset;
    return {stack.frames.get() + at + std::uint64_t{lane} * step, stack.undefined_at(at + lane),
            true};
  }
  const std::uint64_t at = stack.local.lane_stride * lane + function.local + offset;
  const bool tracks = stack.local.undefined != nullptr;
  return {stack.local.data + at, tracks ? stack.local.undefined + at : nullptr, false};
}

// The origin of a moved value with undefined bytes goes with it.
void move_origin(Warp& warp, const ValueMove& move, const Activation& from, const Activation& to,
                 unsigned lane) {
  Origins& origins = warp.unit->origins;
  const unsigned self = warp.unit_warp();
  const auto in_local = [&](const Activation& function, std::uint32_t offset) {
    return warp.stack.local.lane_stride * lane + function.local + offset;
  };
  OriginId id = move.from_register
                    ? warp.undefined.origins.find(from.frame + move.from, lane)
                    : origins.stored_at(self, warp.stack.local, in_local(from, move.from));
  if (id == 0 && move.from_register)
    id = origins.from({Place::in_frame(move.from), warp.current, lane_bit(lane)});
  if (id == 0) id = origins.from({.op = warp.current});
  if (move.to_register) {
    OriginId ids[kLanes] = {};
    ids[lane] = id;
    warp.undefined.origins.set(to.frame + move.to, ids, lane_bit(lane));
  } else {
    origins.stored(self, warp.stack.local, in_local(to, move.to), move.bytes, id);
  }
}

// Copies values from one function's registers or local memory to another's, undefined bytes too; of
// these no bits are known any more.
void move_values(Warp& warp, const std::vector<ValueMove>& moves, const Activation& from,
                 const Activation& to) {
  warp.undefined.known.clear();
  for (const ValueMove& move : moves) {
    if (move.is_pred) {
      move_predicate(warp, from.frame + move.from, to.frame + move.to);
      if (warp.stack.undefined == nullptr) continue;
      Mask undefined = 0;
      std::memcpy(&undefined, warp.stack.undefined_at(to.frame + move.to), sizeof undefined);
      const ValueMove registers{
          .from_register = true, .to_register = true, .from = move.from, .to = move.to};
      for_each_lane(undefined & warp.exec,
                    [&](unsigned l) { move_origin(warp, registers, from, to, l); });
      continue;
    }
    if (move.to_register && warp.stack.suspect != nullptr) {
      *warp.stack.suspect_at(to.frame + move.to) = 1;
      warp.undefined.suspect_anew();
    }
    for_each_lane(warp.exec, [&](unsigned l) {
      const MoveEnd source =
          move_end(warp.stack, from, move.from_register, move.from, move.from_step, l);
      const MoveEnd target = move_end(warp.stack, to, move.to_register, move.to, move.to_step, l);
      std::memmove(target.bytes, source.bytes, move.bytes);
      if (warp.stack.undefined == nullptr) return;
      bool any = false;
      for (unsigned b = 0; b < move.bytes; ++b) {
        const bool is_undefined = source.is_undefined(b);
        any = any || is_undefined;
        target.set_undefined(b, is_undefined);
      }
      if (any) move_origin(warp, move, from, to, l);
    });
  }
}

// Who is called indirectly is known only now; the site is completed in `copy`. Null: it takes other
// arguments than the call has.
const CallSite* completed(const CallSite& site, const Code& callee, CallSite& copy) {
  if (!site.target.present()) return &site;
  copy = site;
  return complete_call(copy, callee) ? &copy : nullptr;
}

// Makes room for a function on the stack, with everything in it undefined. Whether it fits.
bool reserve(Warp& warp, const Activation& to, const Code& code) {
  Stack& stack = warp.stack;
  const std::uint64_t frame_end = to.frame + std::uint64_t{code.frame_bytes};
  const std::uint64_t local_end = to.local + std::uint64_t{code.local_bytes};
  if (to.depth > kMaxCalls || frame_end > kMaxFrameBytes || local_end > kMaxLocalBytes) {
    trap(warp, "the stack is exhausted");
    return false;
  }
  if (frame_end > stack.most_frame || local_end > stack.most_local) {
    stack.most_frame = std::max(stack.most_frame, frame_end);
    stack.most_local = std::max(stack.most_local, local_end);
    if (!warp.unit->bound_memory()) {
      warp.stop = 0;
      return false;
    }
  }
  stack.grow_frame(frame_end, warp.unit->context.tracks);
  stack.grow_local(local_end, warp.unit->context.tracks);
  if (stack.undefined == nullptr) return true;
  if (!warp.undefined.origins.empty()) warp.undefined.origins.drop_from(to.frame, warp.exec);
  std::memset(stack.suspect_at(to.frame), 1, code.frame_bytes / kSuspectBytes);
  warp.undefined.suspect_anew();
  // Lanes of other splits may have live registers in the same frame.
  for (std::uint32_t at = 0; at + kLanes <= code.frame_bytes; at += kLanes) {
    std::uint8_t* bits = stack.undefined_at(to.frame + at);
    for_each_lane(warp.exec, [&](unsigned l) { bits[l] = 0xFF; });
  }
  if (code.local_bytes == 0) return true;
  for_each_lane(warp.exec, [&](unsigned l) {
    std::memset(stack.local.undefined + stack.local.lane_stride * l + to.local, 0xFF,
                code.local_bytes);
  });
  return true;
}

// Calls that no lane is in any more are forgotten from the end, so that there are never more of
// them than are open: a later call has ended before.
void forget_call(Warp& warp) {
  const Splits& splits = warp.splits;
  const bool in_use =
      warp.active != 0 || warp.here.call + 1 != warp.stack.calls.size() ||
      std::any_of(splits.list.begin(), splits.list.end(), [&](const Split& split) {
        return &split != &splits.list[splits.running] && split.in.call == warp.here.call;
      });
  if (!in_use) warp.stack.calls.pop_back();
}

}  // namespace

void enter_function(Warp& warp, std::uint32_t site, std::uint32_t function) {
  if (warp.exec != warp.active) {
    // The others go on behind the call; these lanes come back to it as a split of their own.
    warp.splits.list.push_back({.pc = warp.pc,
                                .lanes = warp.active & ~warp.exec,
                                .in = warp.here,
                                .last_run = warp.splits.turn});
    warp.active = warp.exec;
  }
  const Code& code = warp.program->functions[function];
  const Code& caller = warp.program->functions[warp.program->infos[warp.current].function];
  CallSite indirect;
  const CallSite* const values = completed(warp.program->calls[site], code, indirect);
  if (values == nullptr) {
    trap(warp, "a call by address of a function with other parameters or results");
    return;
  }
  const Activation from = warp.here;
  Activation to{.frame = from.frame + caller.frame_bytes,
                .local = from.local + static_cast<std::uint32_t>(round_up(caller.local_bytes, 16)),
                .depth = from.depth + 1};
  if (!reserve(warp, to, code)) return;
  move_values(warp, values->arguments, from, to);
  to.call = node_of(warp.stack.calls, {from.call, warp.current, from.frame, from.local});
  warp.enter(to);
  warp.pc = code.first_op;
  fill_specials(warp, code);
  warp.stop = 0;
}

void leave_function(Warp& warp) {
  if (warp.here.depth == 0) {
    end_lanes(warp);
    return;
  }
  const CallNode node = warp.stack.calls[warp.here.call];
  const Activation caller{node.frame, node.local, node.caller, warp.here.depth - 1};
  const Code& code = warp.program->functions[warp.program->infos[warp.current].function];
  const CallSite& site = warp.program->calls[warp.program->ops[node.op].as<CallOp>().site];
  CallSite indirect;
  move_values(warp, completed(site, code, indirect)->results, warp.here, caller);
  split_off(warp, {.pc = node.op + 1, .in = caller});
  forget_call(warp);
}

}  // namespace ww::sim
