// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together. Each of these waits for the lanes of its mask, and orders
// nothing: that is for `bar.warp.sync`. Shuffles and votes of older PTX have no mask and wait for no lane.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "num/host_lanes.h"
#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/pred_source.h"
#include "sim/ops/track.h"
#include "sim/run/meet.h"
#include "sim/run/registers.h"
#include "sim/run/unit.h"

namespace ww::sim::warp_ops {
namespace {

// --- shfl ----------------------------------------------------------------------------------------

enum class Shuffle : std::uint8_t { Up, Down, Bfly, Idx };

// The lane it takes its value from. (A result of both is one that GCC makes no vectors of.)
template <Shuffle mode>
unsigned source_of(unsigned lane, std::uint32_t b, std::uint32_t c, bool& is_inside) {
  const unsigned by = b & 31U;
  const unsigned clamp = c & 31U;
  const unsigned segment = (c >> 8U) & 31U;
  const unsigned lowest = lane & segment;
  const unsigned highest = lowest | (clamp & ~segment & 31U);
  switch (mode) {
    case Shuffle::Up: {
      const int from = static_cast<int>(lane) - static_cast<int>(by);
      is_inside = from >= static_cast<int>(highest);
      return static_cast<unsigned>(from) & 31U;
    }
    case Shuffle::Down:
      is_inside = lane + by <= highest;
      return (lane + by) & 31U;
    case Shuffle::Bfly:
      is_inside = (lane ^ by) <= highest;
      return lane ^ by;
    case Shuffle::Idx: {
      const unsigned from = lowest | (by & ~segment & 31U);
      is_inside = from <= highest;
      return from;
    }
  }
  return lane;
}

// Where each lane takes its value from, and which of them are inside of their segment.
struct Sources {
  std::uint32_t lane[kLanes];
  Mask inside = 0;
};

template <Shuffle mode>
Sources find_sources(const std::uint32_t* b, const std::uint32_t* c) {
  return num::in_lanes([=] {
    Sources to;
    Mask inside = 0;
#pragma GCC ivdep
    for (unsigned l = 0; l < kLanes; ++l) {
      bool is_inside = false;
      const unsigned from = source_of<mode>(l, b[l], c[l], is_inside);
      to.lane[l] = is_inside ? from : l;
      inside |= static_cast<Mask>(is_inside) << l;
    }
    to.inside = inside;
    return to;
  });
}

Sources sources_of(Shuffle mode, const std::uint32_t* b, const std::uint32_t* c) {
  switch (mode) {
    case Shuffle::Up:
      return find_sources<Shuffle::Up>(b, c);
    case Shuffle::Down:
      return find_sources<Shuffle::Down>(b, c);
    case Shuffle::Bfly:
      return find_sources<Shuffle::Bfly>(b, c);
    case Shuffle::Idx:
      return find_sources<Shuffle::Idx>(b, c);
  }
  return {};
}

// The lanes that take their value from one that does not take part.
Mask absent_sources(const Sources& from, Mask exec) {
  if (exec == kAllLanes) return 0;
  Mask absent = 0;
  for_each_lane(exec, [&](unsigned l) {
    if (!has_lane(exec, from.lane[l])) absent |= lane_bit(l);
  });
  return absent;
}

// Undefined bytes come along.
void track_shuffle(Warp& warp, const Op& op, const Sources& from) {
  if (op.p[1].is_constant() || !warp.undefined.is_suspect(op.p[1]))
    return define_lanes(warp, op.p[0], warp.exec);
  const std::uint8_t* undefined = warp.undefined.of(op.p[1]);
  std::uint8_t bits[kLanes] = {};
  std::uint64_t known[kLanes] = {};
  OriginId origins[kLanes] = {};
  Mask open = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    bits[l] = undefined[from.lane[l]];
    known[l] = known_bits(warp, op.p[1], from.lane[l]);
    if (bits[l] == 0 || !has_lane(warp.exec, l)) continue;
    open |= lane_bit(l);
    origins[l] = origin_of(warp, op.p[1], from.lane[l]);
  }
  blend(warp.undefined.write(op.p[0], warp.exec), bits, warp.exec);
  set_known_bits(warp, op.p[0], known);
  if (open != 0) set_origins(warp, op.p[0], open, origins);
}

// The mask promises lanes that are not there any more.
void check_ended(Warp& warp, Place place) {
  const Mask named = warp.source<std::uint32_t>(place)[first_lane(warp.exec)];
  const Mask ended = named & warp.born & ~warp.live;
  if (ended == 0 || !warp.checks(Check::Collective)) return;
  warp.report(Check::Collective, warp.exec,
              fmt::format("the member mask 0x{:08x} names lanes {}, which have ended", named,
                          lanes_text(ended)));
}

void run_shuffle(Warp& warp, const Op& op) {
  if (op.p[4].present()) {
    Mask mask = 0;
    if (!meet_mask(warp, op.p[4], mask)) return;
    check_ended(warp, op.p[4]);
  }
  const auto* a = warp.source<std::uint32_t>(op.p[1]);
  const auto* b = warp.source<std::uint32_t>(op.p[2]);
  const auto* c = warp.source<std::uint32_t>(op.p[3]);
  if (warp.undefined.are_kept()) {
    use_value(warp, op.p[2], warp.exec);
    use_value(warp, op.p[3], warp.exec);
  }
  const Sources from = sources_of(op.as<Shuffle>(), b, c);
  const Mask absent = absent_sources(from, warp.exec);
  if (absent != 0 && warp.checks(Check::Collective)) {
    warp.report(Check::Collective, absent,
                "reads a lane that does not take part: what it gets is undefined");
  }
  std::uint32_t values[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) values[l] = a[from.lane[l]];
  if (warp.undefined.are_kept()) track_shuffle(warp, op, from);
  warp.write(op.p[0], values);
  const Place p = warp.places(op)[0];
  if (p.present()) {
    warp.set_pred(p, from.inside);
    define_value(warp, p, true);
  }
}

bool decode_shuffle(Decode& in) {
  const auto mode = in.word("mode").as<Shuffle>(
      {{"up", Shuffle::Up}, {"down", Shuffle::Down}, {"bfly", Shuffle::Bfly}});
  in.tracks_itself(run_shuffle);
  in.op.set(mode.value_or(Shuffle::Idx));
  const Place mask = in.has("sync") ? in.source(4) : Place{};
  in.operands({in.result(0), in.source(1), in.source(2), in.source(3), mask});
  const Place pair[] = {in.result_pair(0)};
  in.further(pair);
  return true;
}

// --- results that all lanes share ----------------------------------------------------------------

// The bits of one value in all executing lanes that are undefined, and the lane it comes from.
void set_shared_result(Warp& warp, Place source, Place result, std::uint64_t bits, Mask from) {
  if (bits == 0) return define_value(warp, result);
  const OriginId id = origin_of(warp, source, first_lane(from));
  std::uint8_t bytes[kLanes];
  std::uint64_t known[kLanes];
  OriginId origins[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    bytes[l] = undefined_bytes(bits);
    known[l] = undefined_bits<std::uint64_t>(bytes[l]) & ~bits;
    origins[l] = id;
  }
  set_undefined_bytes(warp, result, bytes);
  set_known_bits(warp, result, known);
  set_origins(warp, result, warp.exec, origins);
}

void set_shared_pred(Warp& warp, Place source, Place result, bool is_open, Mask from) {
  if (!is_open) return define_value(warp, result, true);
  OriginId origins[kLanes];
  std::ranges::fill(origins, origin_of(warp, source, first_lane(from)));
  set_undefined_pred(warp, result, warp.exec);
  set_origins(warp, result, warp.exec, origins);
}

// The executing lanes in which a source is undefined. Its mask, if it has one, decides who takes part.
Mask open_lanes(Warp& warp, Place source, Place mask) {
  if (!warp.undefined.are_kept()) return 0;
  if (mask.present()) use_value(warp, mask, warp.exec, 4);
  if (source.is_constant() || !warp.undefined.is_suspect(source)) return 0;
  calculate_with(warp, source, warp.exec);
  Mask open = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (undefined_in_lane(warp, source, l) != 0) open |= lane_bit(l);
  });
  return open;
}

// --- vote ----------------------------------------------------------------------------------------

enum class Vote : std::uint8_t { All, Any, Uni, Ballot };

// Defined lanes alone may settle it: one that holds, for `any`.
void track_vote(Warp& warp, const Op& op, Mask holds) {
  if (!warp.undefined.are_kept()) return;
  if (op.p[2].present()) use_value(warp, op.p[2], warp.exec, 4);
  calculate_with(warp, op.p[1], warp.exec, 0, true);
  const Mask open = undefined_pred(warp, op.p[1]) & warp.exec;
  const Mask yes = holds & ~open;
  const Mask no = warp.exec & ~holds & ~open;
  switch (op.as<Vote>()) {
    case Vote::All:
      return set_shared_pred(warp, op.p[1], op.p[0], open != 0 && no == 0, open);
    case Vote::Any:
      return set_shared_pred(warp, op.p[1], op.p[0], open != 0 && yes == 0, open);
    case Vote::Uni:
      return set_shared_pred(warp, op.p[1], op.p[0], open != 0 && (yes == 0 || no == 0), open);
    case Vote::Ballot:
      return set_shared_result(warp, op.p[1], op.p[0], open, open);
  }
}

void run_vote(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (op.p[2].present() && !meet_mask(warp, op.p[2], mask)) return;
  const Mask holds = source_pred(warp, op, 1) & warp.exec;
  track_vote(warp, op, holds);
  const auto yes = [](bool value) { return value ? kAllLanes : Mask{0}; };
  switch (op.as<Vote>()) {
    case Vote::All:
      warp.set_pred(op.p[0], yes(holds == warp.exec));
      return;
    case Vote::Any:
      warp.set_pred(op.p[0], yes(holds != 0));
      return;
    case Vote::Uni:
      warp.set_pred(op.p[0], yes(holds == 0 || holds == warp.exec));
      return;
    case Vote::Ballot: {
      std::uint32_t all[kLanes];
      std::fill(std::begin(all), std::end(all), holds);
      warp.write(op.p[0], all);
      return;
    }
  }
}

bool decode_vote(Decode& in) {
  const auto mode =
      in.word("mode").as<Vote>({{"all", Vote::All}, {"any", Vote::Any}, {"uni", Vote::Uni}});
  in.op.set(mode.value_or(Vote::Ballot));
  in.op.flags = kTracksItself;
  in.op.p[0] = in.result(0);
  take_pred(in, 1, 1);
  if (in.has("sync")) in.op.p[2] = in.source(2);
  in.op.run = run_vote;
  return true;
}

// --- match ---------------------------------------------------------------------------------------

void track_match(Warp& warp, const Op& op) {
  const Mask open = open_lanes(warp, op.p[1], op.p[2]);
  if (!warp.undefined.are_kept()) return;
  set_shared_result(warp, op.p[1], op.p[0], open != 0 ? 0xFFFF'FFFFU : 0, open);
  if (op.p[3].present()) set_shared_pred(warp, op.p[1], op.p[3], open != 0, open);
}

template <typename T>
void run_match_any(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (!meet_mask(warp, op.p[2], mask)) return;
  track_match(warp, op);
  const auto* a = warp.source<T>(op.p[1]);
  std::uint32_t same[kLanes] = {};
  for_each_lane(warp.exec, [&](unsigned l) {
    for_each_lane(warp.exec, [&](unsigned other) {
      if (a[other] == a[l]) same[l] |= lane_bit(other);
    });
  });
  warp.write(op.p[0], same);
}

template <typename T>
void run_match_all(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (!meet_mask(warp, op.p[2], mask)) return;
  track_match(warp, op);
  const auto* a = warp.source<T>(op.p[1]);
  bool all = true;
  for_each_lane(warp.exec, [&](unsigned l) { all = all && a[l] == a[first_lane(warp.exec)]; });
  std::uint32_t result[kLanes];
  std::fill(std::begin(result), std::end(result), all ? warp.exec : 0);
  warp.write(op.p[0], result);
  if (op.p[3].present()) warp.set_pred(op.p[3], all ? kAllLanes : 0);
}

bool decode_match(Decode& in) {
  const bool any = in.mnemonic() == "match.any";
  const bool wide = in.word("type") == "b64";
  in.tracks_itself(any ? (wide ? run_match_any<std::uint64_t> : run_match_any<std::uint32_t>)
                       : (wide ? run_match_all<std::uint64_t> : run_match_all<std::uint32_t>));
  in.operands({in.result(0), in.source(1), in.source(2)});
  in.op.p[3] = in.result_pair(0);
  return true;
}

// --- redux ---------------------------------------------------------------------------------------

// Bits of `and`, `or` and `xor` stay by themselves.
void track_redux(Warp& warp, const Op& op, bool is_bitwise) {
  const Mask open = open_lanes(warp, op.p[1], op.p[2]);
  if (!warp.undefined.are_kept()) return;
  std::uint64_t bits = 0;
  for_each_lane(open, [&](unsigned l) { bits |= undefined_in<std::uint32_t>(warp, op.p[1], l); });
  set_shared_result(warp, op.p[1], op.p[0], is_bitwise || bits == 0 ? bits : 0xFFFF'FFFFU, open);
}

template <typename T, auto F, bool kIsBitwise = false>
void run_redux(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (!meet_mask(warp, op.p[2], mask)) return;
  track_redux(warp, op, kIsBitwise);
  const auto* a = warp.source<T>(op.p[1]);
  T sum = a[first_lane(warp.exec)];
  for_each_lane(warp.exec & (warp.exec - 1), [&](unsigned l) { sum = F(sum, a[l]); });
  T all[kLanes];
  std::fill(std::begin(all), std::end(all), sum);
  warp.write(op.p[0], all);
}

template <typename T>
constexpr auto kAdd = [](T a, T b) {
  return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
};
template <typename T>
constexpr auto kMin = [](T a, T b) { return std::min(a, b); };
template <typename T>
constexpr auto kMax = [](T a, T b) { return std::max(a, b); };
constexpr auto kAnd = [](std::uint32_t a, std::uint32_t b) { return a & b; };
constexpr auto kOr = [](std::uint32_t a, std::uint32_t b) { return a | b; };
constexpr auto kXor = [](std::uint32_t a, std::uint32_t b) { return a ^ b; };

template <typename T>
RunOp pick_redux(Word op) {
  if (op == "add") return run_redux<T, kAdd<T>>;
  return op == "min" ? run_redux<T, kMin<T>> : run_redux<T, kMax<T>>;
}

struct ReduxOp {
  bool takes_max, takes_abs, keeps_nan;
};

// Least or greatest of floats: NaNs lose, or win with .NaN; -0 is less than +0.
void run_redux_float(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (!meet_mask(warp, op.p[2], mask)) return;
  track_redux(warp, op, false);
  const auto& it = op.as<ReduxOp>();
  const auto* a = warp.source<std::uint32_t>(op.p[1]);
  constexpr std::uint32_t kNan = 0x7FFF'FFFFU;
  const auto is_nan = [](std::uint32_t v) { return (v & 0x7FFF'FFFFU) > 0x7F80'0000U; };
  // Orders the bits of floats like the floats.
  const auto key = [](std::uint32_t v) {
    return static_cast<std::int32_t>((v & 0x8000'0000U) != 0 ? ~v ^ 0x8000'0000U : v);
  };
  std::uint32_t best = kNan;
  bool nan = false;
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::uint32_t v = it.takes_abs ? a[l] & 0x7FFF'FFFFU : a[l];
    nan = nan || is_nan(v);
    if (is_nan(v)) return;
    const bool better = it.takes_max ? key(v) > key(best) : key(v) < key(best);
    if (is_nan(best) || better) best = v;
  });
  if (nan && it.keeps_nan) best = kNan;
  std::uint32_t all[kLanes];
  std::fill(std::begin(all), std::end(all), best);
  warp.write(op.p[0], all);
}

bool decode_redux(Decode& in) {
  const Word op = in.word("op");
  const Word type = in.word("type");
  if (type == "f32") {
    in.op.run = run_redux_float;
    in.op.set(ReduxOp{op == "max", in.has("abs"), in.has("NaN")});
  } else if (type == "b32") {
    in.op.run = op == "and"  ? run_redux<std::uint32_t, kAnd, true>
                : op == "or" ? run_redux<std::uint32_t, kOr, true>
                             : run_redux<std::uint32_t, kXor, true>;
  } else {
    in.op.run = type == "s32" ? pick_redux<std::int32_t>(op) : pick_redux<std::uint32_t>(op);
  }
  in.op.flags = kTracksItself;
  in.operands({in.result(0), in.source(1), in.source(2)});
  return true;
}

// --- the rest ------------------------------------------------------------------------------------

void run_activemask(Warp& warp, const Op& op) {
  std::uint32_t all[kLanes];
  std::fill(std::begin(all), std::end(all), warp.exec);
  warp.write(op.p[0], all);
}
bool decode_activemask(Decode& in) { return in.runs(run_activemask, {in.result(0)}); }

// The lowest lane is elected.
void run_elect(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (!meet_mask(warp, op.p[1], mask)) return;
  check_ended(warp, op.p[1]);
  const unsigned leader = first_lane(warp.exec);
  std::uint32_t all[kLanes];
  std::fill(std::begin(all), std::end(all), leader);
  warp.write(op.p[0], all);
  if (op.p[2].present()) warp.set_pred(op.p[2], lane_bit(leader));
}
bool decode_elect(Decode& in) {
  in.op.run = run_elect;
  in.operands({in.result(0), in.source(1)});
  in.op.p[2] = in.result_pair(0);
  return true;
}

struct RegistersOp {
  std::uint32_t wanted;
  bool takes;  // more of them
};

// Whether the warp need not wait.
bool change_registers(Warp& warp, const Op& op) {
  const auto [wanted, takes] = op.as<RegistersOp>();
  const std::uint32_t have = registers_of(warp);
  if (takes ? wanted < have : wanted > have) {
    if (warp.is_new(Check::Barrier))
      warp.report(Check::Barrier, warp.exec,
                  fmt::format("asks for {} registers with `.{}`, and a thread has {}", wanted,
                              takes ? "inc" : "dec", have));
    return true;
  }
  if (takes && wanted - have > free_registers(warp)) {
    wait_in(warp, SplitState::AtRegisters, wanted);
    return false;
  }
  warp.registers = wanted;
  act(warp);
  for (const auto& other : warp.cta->warps) wake(*other, SplitState::AtRegisters, false);
  return true;
}

void run_setmaxnreg(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  // The assembler ignores it where the kernel does not fix its register count.
  if (registers_at_launch(warp) == 0 || change_registers(warp, op)) note_request(warp);
}
bool decode_setmaxnreg(Decode& in) {
  in.tracks_itself(run_setmaxnreg);
  const auto wanted = static_cast<std::uint32_t>(in.immediate(0));
  const bool takes = in.word("action") == "inc";
  in.op.set(RegistersOp{wanted, takes});
  std::uint32_t& most = in.function().code().most_taken;
  if (takes) most = std::max(most, wanted);
  return true;
}

constexpr OpRow kRows[] = {
    {"shfl", decode_shuffle},          {"vote", decode_vote},
    {"match.any", decode_match},       {"match.all", decode_match},
    {"activemask", decode_activemask}, {"redux", decode_redux},
    {"elect", decode_elect},           {"setmaxnreg", decode_setmaxnreg},
};

}  // namespace

constinit const OpFamily family{"warp", kRows};

}  // namespace ww::sim::warp_ops
