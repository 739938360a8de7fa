// SPDX-License-Identifier: Apache-2.0
// From the modifiers of an instruction to the lane function for them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sim/decode/decoder.h"
#include "sim/ops/float_lanes.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/part_lanes.h"

namespace ww::sim {

inline constexpr std::array kRoundings{Rounding::NearestEven, Rounding::TowardZero, Rounding::Down,
                                       Rounding::Up};

/// The index in kRoundings of `rn`, `rz`, `rm`, `rp`, also with the `i` of roundings to integers;
/// no word is `rn`.
constexpr std::size_t rounding_index(Word word) {
  if (word.is_one_of({"rz", "rzi"})) return 1;
  if (word.is_one_of({"rm", "rmi"})) return 2;
  return word.is_one_of({"rp", "rpi"}) ? 3 : 0;
}

/// make(i) for i below kCount, each a constant: a table of run functions.
template <std::size_t kCount, typename Make>
constexpr auto table_of(Make make) {
  return [make]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<RunOp, kCount>{make.template operator()<I>()...};
  }
  (std::make_index_sequence<kCount>{});
}

constexpr F32Mode f32_mode(std::size_t i) {
  return {kRoundings[i % 4], (i & 4U) != 0, (i & 8U) != 0};
}
inline std::size_t f32_mode_index(const Decode& in) {
  return rounding_index(in.word("rnd")) + (in.has("ftz") ? 4U : 0U) + (in.has("sat") ? 8U : 0U);
}

/// The run function of an f32 operation; S… are u32, as often as there are sources.
template <typename Operation, F32Mode kMode, typename... S>
constexpr RunOp f32_run() {
  constexpr auto kLane = f32_lane<Operation, kMode, S...>;
  if constexpr (kMode.rounding != Rounding::NearestEven)
    return &map_rare_lanes<kLane, std::uint32_t, S...>;
  else
    return &map_lanes_by<kLane, f32_lane<WideOf<Operation>, kMode, S...>, std::uint32_t, S...>;
}

/// The same of its modifiers.
template <typename Operation, typename... S>
RunOp run_f32(const Decode& in) {
  static constexpr auto kRuns = table_of<16>(
      []<std::size_t i>() -> RunOp { return f32_run<Operation, f32_mode(i), S...>(); });
  return kRuns[f32_mode_index(in)];
}

/// The same for f32x2, which does not saturate.
template <typename Operation, typename... S>
RunOp run_f32x2(const Decode& in) {
  static constexpr auto kRuns = table_of<8>([]<std::size_t i>() -> RunOp {
    constexpr auto kLane = f32_lane<Operation, f32_mode(i), S...>;
    if constexpr (f32_mode(i).rounding != Rounding::NearestEven)
      return &map_rare_halves<kLane, std::uint64_t, sizeof...(S)>;
    else
      return &map_halves_by<kLane, f32_lane<WideOf<Operation>, f32_mode(i), S...>, std::uint64_t,
                            sizeof...(S)>;
  });
  return kRuns[f32_mode_index(in)];
}

/// For instructions that only round and flush: div, rcp, sqrt.
template <typename Operation, typename... S>
RunOp run_f32_unsaturated(const Decode& in) {
  static constexpr auto kRuns =
      table_of<8>([]<std::size_t i>() -> RunOp { return f32_run<Operation, f32_mode(i), S...>(); });
  return kRuns[f32_mode_index(in)];
}

/// The run function for f64 with its rounding; S… are u64.
template <typename Operation, typename... S>
RunOp run_f64(const Decode& in) {
  static constexpr auto kRuns = table_of<4>([]<std::size_t i>() -> RunOp {
    constexpr auto kLane = f64_lane<Operation, kRoundings[i], S...>;
    if constexpr (i == 0)
      return &map_lanes<kLane, std::uint64_t, S...>;
    else
      return &map_rare_lanes<kLane, std::uint64_t, S...>;
  });
  return kRuns[rounding_index(in.word("rnd"))];
}

/// Where min and max with their modifiers are in a table.
constexpr MinMaxMode min_max_mode(std::size_t i) {
  return {(i & 1U) != 0, (i & 2U) != 0, (i & 4U) != 0, (i & 8U) != 0};
}
inline std::size_t min_max_index(const Decode& in, bool is_max) {
  return (is_max ? 1U : 0U) + (in.has("ftz") ? 2U : 0U) + (in.has("NaN") ? 4U : 0U) +
         (in.has("abs") ? 8U : 0U);
}

/// Result and sources in the order of the form.
inline void all_operands(Decode& in) {
  std::size_t i = 0;
  in.op.p[i++] = in.result(0);
  for (; i < in.count(); ++i) in.op.p[i] = in.source(i);
}

/// The end of most decoders: sets the run function and all operands.
inline bool decoded(Decode& in, RunOp run) {
  in.op.run = run;
  all_operands(in);
  return run != nullptr;
}

}  // namespace ww::sim
