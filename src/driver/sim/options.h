// SPDX-License-Identifier: Apache-2.0
// The small notations that `warpwright sim` takes for a launch: sizes, limits, schedules, and what
// to show on the way; `warpwright run` has some of them, too. Every Diag points into the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/text.h"
#include "sim/launch.h"

namespace ww::driver {

/// `8`, `8,4` or `8,4,2`: whole numbers from 0 to 2^31 - 1, what is left out is 1. Syntax or
/// BadArgument. Whether a GPU takes them is for the launch to say.
Result<sim::Dim3> parse_dims(std::string_view text);
/// `8`, or `8,4,2` unless both others are 1.
std::string dims_text(const sim::Dim3& dims);
/// `(1,0,0)`: the block of that number in the grid.
std::string block_text(const sim::Dim3& grid, std::uint64_t block);

/// What `--limit` sets, the same words for the virtual GPU and the reference evaluator, whose
/// defaults differ.
struct LimitChanges {
  std::optional<std::uint64_t> instructions = {};
  std::optional<double> seconds = {};
  std::optional<std::uint64_t> memory = {};

  template <typename Limits>
  [[nodiscard]] Limits on(Limits limits) const {
    limits.instructions = instructions.value_or(limits.instructions);
    limits.seconds = seconds.value_or(limits.seconds);
    limits.memory = memory.value_or(limits.memory);
    return limits;
  }
};
/// `instructions=5M,seconds=10,memory=2G`, any of them. K, M and G are powers of 1000 for
/// instructions and of 1024 for memory. Syntax, UnknownName, BadArgument or Overflow.
Result<LimitChanges> parse_limits(std::string_view text);

/// `rr`, `reverse`, `step`, `random`, `random:SEED`, `delay:4-7,12` or `pct:SEED:STEPS`.
Result<sim::Schedule> parse_schedule(std::string_view text);
/// As many schedules as asked for; otherwise the usual ones within their budget, if no schedule was asked
/// for.
sim::ScheduleBudget schedule_budget(std::optional<unsigned> asked, std::string_view schedule);

/// `WARP` (of block 0) or `BLOCK:WARP`, with the block as a number or as `X,Y,Z`, and `all` for all
/// warps of it. OutOfBounds when the launch has no such block or warp. Nothing to write to is set
/// yet.
Result<sim::TraceRequest> parse_trace(std::string_view text, const sim::Dim3& grid,
                                      const sim::Dim3& block);

/// A block by number or as `X,Y,Z`, as its number. OutOfBounds when the grid has no such block.
Result<std::uint64_t> parse_block(std::string_view text, const sim::Dim3& grid);

/// Steps of a timeline, from first to before last.
struct StepRange {
  std::uint64_t first = 0, last = 0;
};
/// `FIRST:LAST`.
Result<StepRange> parse_steps(std::string_view text);

/// `LINE` or `LINE:TIMES`, both at least 1. Nothing to write to is set yet.
Result<sim::BreakRequest> parse_break(std::string_view text);
/// Whether an instruction stands at that line of the program's text; OutOfBounds with the nearest
/// such line otherwise. The Diag has no span.
Result<void> check_break(const sim::Program& program, std::uint32_t line);

// --- a launch ------------------------------------------------------------------------------------
//
// A launch as CUDA C++ writes it,
//
//   scale<<<2, 64>>>(x, i32:100)
//   add<<<(2,2), (32,4), 1024, cluster=(2,1,1), programmatic>>>(x, y, null)
//
// grid, block and bytes of dynamic shared memory, then settings: `cluster=` and `programmatic`, which
// lets it start before the launches before it have ended. Each argument is a name or a value.

struct LaunchText {
  std::string text;  // the spans below are places in it
  Span kernel{};
  sim::Dim3 grid{}, block{};
  std::optional<sim::Dim3> cluster{};
  std::uint32_t shared_bytes = 0;
  bool is_programmatic = false;
  std::vector<Span> args{};

  [[nodiscard]] std::string_view part(Span span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
};
/// Reads one. Syntax, UnknownName or BadArgument, located in the text.
Result<LaunchText> parse_launch(std::string_view text);

}  // namespace ww::driver
