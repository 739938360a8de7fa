// SPDX-License-Identifier: Apache-2.0
// Lane by lane: turns a function of values into the run function of an op. The loops have no
// branches, so that the compiler makes vector instructions of them; where only some lanes execute,
// all 32 are calculated and those are kept. A register may be source and result at once, which is
// fine lane by lane and why the loops say `ivdep`.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "isa/type.h"
#include "num/host_lanes.h"
#include "sim/lanes.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// to = value in the executing lanes. A function of its own, because hundreds of others call it.
template <typename D>
[[gnu::noinline]] void write_executing(Warp& warp, Place to, const D* value) {
  num::in_lanes([&] { warp.write(to, value); });
}

/// p[0] = f(p[1], p[2], …), element types D and S…. One loop for whole and partial warps: there are
/// hundreds of these functions.
template <typename D, typename... S, typename Function>
void apply_lanes(Warp& warp, const Op& op, Function f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto go = [f](D* d, const S*... s) {
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) d[l] = f(s[l]...);
    };
    const bool is_whole = warp.exec == kAllLanes;
    alignas(64) D kept[kLanes];
    go(is_whole ? warp.lanes<D>(op.p[0]) : kept, warp.source<S>(op.p[I + 1])...);
    if (!is_whole) write_executing(warp, op.p[0], kept);
  }
  (std::index_sequence_for<S...>{});
}

/// p[0] = F(p[1], p[2], …), element types D and S…, of instructions that programs have few of.
/// Flattened, because a call in the loop prevents vectorisation.
template <auto F, typename D, typename... S>
[[gnu::flatten]] void map_rare_lanes(Warp& warp, const Op& op) {
  apply_lanes<D, S...>(warp, op, [](S... s) { return F(s...); });
}

/// The same of all others, compiled twice; `Wide` is F as hosts with wide vectors calculate it.
template <auto F, auto Wide, typename D, typename... S>
[[gnu::flatten]] void map_lanes_by(Warp& warp, const Op& op) {
  num::in_lanes([&] { map_rare_lanes<Wide, D, S...>(warp, op); },
                [&] { map_rare_lanes<F, D, S...>(warp, op); });
}
template <auto F, typename D, typename... S>
[[gnu::flatten]] void map_lanes(Warp& warp, const Op& op) {
  map_lanes_by<F, F, D, S...>(warp, op);
}

/// p[0] = F(Constant, p[1], …): where the last operands are constants that F unpacks from one number.
/// With the same amount in all lanes a shift is a vector instruction.
template <auto F, typename D, typename... S>
void map_lanes_imm(Warp& warp, const Op& op) {
  num::in_lanes([&] {
    apply_lanes<D, S...>(warp, op,
                         [imm = op.as<Constant>().value](S... s) { return F(imm, s...); });
  });
}

/// The lanes in which F holds.
template <auto F, typename... S>
Mask test_lanes(const S*... s) {
  return num::in_lanes([=] {
    Mask bits = 0;
    for (unsigned l = 0; l < kLanes; ++l) bits |= static_cast<Mask>(F(s[l]...)) << l;
    return bits;
  });
}

/// pick.template operator()<T>() for a type of 16, 32 or 64 bits; others: nothing.
template <typename Pick>
auto pick_int(isa::Type type, Pick&& pick) {
  using isa::Type;
  switch (type) {
    case Type::B16:
    case Type::U16:
      return pick.template operator()<std::uint16_t>();
    case Type::S16:
      return pick.template operator()<std::int16_t>();
    case Type::B32:
    case Type::U32:
      return pick.template operator()<std::uint32_t>();
    case Type::S32:
      return pick.template operator()<std::int32_t>();
    case Type::B64:
    case Type::U64:
      return pick.template operator()<std::uint64_t>();
    case Type::S64:
      return pick.template operator()<std::int64_t>();
    default:
      return decltype(pick.template operator()<std::uint32_t>())();
  }
}

/// visit.template operator()<T>() for the unsigned T of 1, 2, 4 or 8 bytes; others: nothing.
template <typename Visit>
auto with_bytes(unsigned bytes, Visit&& visit) {
  using Returned = decltype(visit.template operator()<std::uint64_t>());
  switch (bytes) {
    case 1:
      return visit.template operator()<std::uint8_t>();
    case 2:
      return visit.template operator()<std::uint16_t>();
    case 4:
      return visit.template operator()<std::uint32_t>();
    case 8:
      return visit.template operator()<std::uint64_t>();
    default:
      return Returned();
  }
}

/// The same as pick_int for types without sign.
template <typename Pick>
RunOp pick_bits(isa::Type type, Pick&& pick) {
  const auto bytes = static_cast<unsigned>(isa::info(type).bits) / 8;
  return with_bytes(bytes, [&]<typename T>() -> RunOp {
    if constexpr (sizeof(T) == 1)
      return nullptr;
    else
      return pick.template operator()<T>();
  });
}

}  // namespace ww::sim
