// SPDX-License-Identifier: Apache-2.0
// Undefined bytes: neither copying nor calculating is a use; letting the values decide something
// is. These are the track functions (Op::track) of ops that compute, called before the op runs and
// only while undefined bytes are tracked. Calculations make their whole result undefined, moves,
// logic and shifts the bits that depend on undefined ones.
//
// Where bits go is stated once, by the op's own lane function: it is applied to masks that are all
// ones in the undefined bits. A result byte that gets any of those bits is undefined; which bits of
// it are known all the same is kept, too (UndefinedMarks::known), until the value goes into a call.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/checks/undefined.h"
#include "sim/lanes.h"
#include "sim/op.h"
#include "sim/ops/pred_source.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// A mask of the bits in the undefined bytes of a value: 0b0110 is 0x00FFFF00.
template <typename T>
T undefined_bits(std::uint32_t bytes) {
  std::uint64_t bits = 0;
  for (unsigned b = 0; b < sizeof(T); ++b) {
    if (((bytes >> b) & 1U) != 0) bits |= std::uint64_t{0xFF} << (8 * b);
  }
  return static_cast<T>(bits);
}
/// The bytes with a bit that is 1.
template <typename T>
std::uint8_t undefined_bytes(T value) {
  const auto bits = static_cast<std::uint64_t>(value);
  std::uint8_t bytes = 0;
  for (unsigned b = 0; b < sizeof(T); ++b) {
    if (((bits >> (8 * b)) & 0xFFU) != 0) bytes = static_cast<std::uint8_t>(bytes | (1U << b));
  }
  return bytes;
}

/// Whether a source has an undefined byte in any lane. Constants have none.
bool has_undefined(Warp& warp, Place place);
/// The undefined bytes of one lane.
std::uint8_t undefined_in_lane(Warp& warp, Place place, unsigned lane);
/// The undefined bits of one lane's value.
template <typename T>
T undefined_in(Warp& warp, Place place, unsigned lane) {
  const auto bits = undefined_bits<T>(undefined_in_lane(warp, place, lane));
  return static_cast<T>(bits & static_cast<T>(~known_bits(warp, place, lane)));
}
/// Sets a result's undefined bytes in the executing lanes.
void set_undefined(Warp& warp, Place place, const std::uint8_t* bytes);
/// The lanes in which a predicate is undefined.
Mask undefined_pred(Warp& warp, Place place);
void set_undefined_pred(Warp& warp, Place place, Mask lanes);

/// p[0] has the undefined bytes of p[1]: mov of up to 64 bits, of 128 bits, of predicates.
void track_copy(Warp& warp, const Op& op);
void track_copy_wide(Warp& warp, const Op& op);
void track_copy_pred(Warp& warp, const Op& op);
/// The payload of the two below: how many parts of op.bytes bytes.
struct Parts {
  std::uint8_t count = 0;
};
/// p[0] is made of the parts p[1], p[2], …
void track_pack(Warp& warp, const Op& op);
/// p[0], p[1], … are the parts of the place behind them.
void track_unpack(Warp& warp, const Op& op);
/// Of all results what depends on a source that is undefined, half by half where values are packed.
void spread_undefined(Warp& warp, const Op& op);
/// p[0] is p[1] or p[2], as predicate p[3] says; where that is undefined, the bits in which they differ.
template <typename T>
void track_select(Warp& warp, const Op& op);

/// p[0]'s bytes with a bit that is 1 in lane(l) are undefined, if any of the `data` first sources
/// has undefined bytes at all. Used by those below.
template <typename D, typename Lane>
void track_lanes(Warp& warp, const Op& op, unsigned data, Lane&& lane) {
  bool any = false;
  for (unsigned k = 1; k <= data; ++k) any = any || has_undefined(warp, op.p[k]);
  if (!any) return define_value(warp, op.p[0]);
  std::uint8_t bytes[kLanes] = {};
  std::uint64_t known[kLanes] = {};
  for_each_lane(warp.exec, [&](unsigned l) {
    const D bits = lane(l);
    bytes[l] = undefined_bytes<D>(bits);
    known[l] = undefined_bits<std::uint64_t>(bytes[l]) & ~static_cast<std::uint64_t>(bits);
  });
  set_undefined(warp, op.p[0], bytes);
  set_known_bits(warp, op.p[0], known);
}

/// p[0] = f(p[1], …) moves bits of its first kData sources; the others say where to: where they are
/// undefined, so is the result.
template <unsigned kData, typename D, typename... S, typename Function>
void track_moved(Warp& warp, const Op& op, Function f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I < kData ? void() : calculate_with(warp, op.p[I + 1], warp.exec, sizeof(S))), ...);
    track_lanes<D>(warp, op, sizeof...(S), [&](unsigned l) {
      const bool is_open = ((I >= kData && undefined_in<S>(warp, op.p[I + 1], l) != S{0}) || ...);
      if (is_open) return static_cast<D>(~D{0});
      return static_cast<D>(f(
          (I < kData ? undefined_in<S>(warp, op.p[I + 1], l) : warp.source<S>(op.p[I + 1])[l])...));
    });
  }
  (std::index_sequence_for<S...>{});
}
/// The track functions of map_lanes<F, D, S…> and map_lanes_imm<F, D, S…>.
template <auto F, unsigned kData, typename D, typename... S>
void track_moved_lanes(Warp& warp, const Op& op) {
  track_moved<kData, D, S...>(warp, op, [](S... s) { return F(s...); });
}
template <auto F, typename D, typename... S>
void track_moved_imm(Warp& warp, const Op& op) {
  track_moved<sizeof...(S), D, S...>(
      warp, op, [imm = op.as<Constant>().value](S... s) { return F(imm, s...); });
}

/// Whether all of p[0] is undefined in a lane, if any of its sources has undefined bytes at all.
template <typename D, typename Lane>
void track_whole(Warp& warp, const Op& op, unsigned data, Lane&& is_open) {
  track_lanes<D>(warp, op, data,
                 [&](unsigned l) { return is_open(l) ? static_cast<D>(~D{0}) : D{0}; });
}

/// Bits of a or b, of which an undefined choice takes one.
template <typename T>
T either(T a, T b, T undefined_a, T undefined_b) {
  return static_cast<T>((a ^ b) | undefined_a | undefined_b);
}

template <typename T>
void track_select(Warp& warp, const Op& op) {
  calculate_with(warp, op.p[3], warp.exec, 1, true);
  const Mask first = source_pred(warp, op, 3);
  const Mask open = undefined_pred(warp, op.p[3]);
  track_lanes<T>(warp, op, 3, [&](unsigned l) {
    const T a = undefined_in<T>(warp, op.p[1], l);
    const T b = undefined_in<T>(warp, op.p[2], l);
    if (has_lane(open, l))
      return either(warp.source<T>(op.p[1])[l], warp.source<T>(op.p[2])[l], a, b);
    return has_lane(first, l) ? a : b;
  });
}

/// The bits of f(value…) that change when some of the undefined bits do, where f is bitwise: each
/// bit of the result depends on the same bit of the sources. So `and` with a 0 is defined.
template <typename T, std::size_t N, typename Function>
T unstable_bits(const T (&value)[N], const T (&undefined)[N], Function f) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const T base = f(value[I]...);
    T changed{};
    for (unsigned flips = 1; flips < (1U << N); ++flips) {
      const T other =
          f(static_cast<T>(value[I] ^ (((flips >> I) & 1U) != 0 ? undefined[I] : T{0}))...);
      changed = static_cast<T>(changed | (base ^ other));
    }
    return changed;
  }
  (std::make_index_sequence<N>{});
}

/// p[0] = f(p[1], …, p[N]), bit by bit.
template <typename T, unsigned N, typename Function>
void track_bitwise(Warp& warp, const Op& op, Function f) {
  track_lanes<T>(warp, op, N, [&](unsigned l) {
    T value[N];
    T undefined[N];
    for (unsigned i = 0; i < N; ++i) {
      value[i] = warp.source<T>(op.p[i + 1])[l];
      undefined[i] = undefined_in<T>(warp, op.p[i + 1], l);
    }
    return unstable_bits(value, undefined, f);
  });
}
template <auto F, typename T, unsigned N>
void track_bitwise_lanes(Warp& warp, const Op& op) {
  track_bitwise<T, N>(warp, op, [](auto... s) { return F(s...); });
}

}  // namespace ww::sim
