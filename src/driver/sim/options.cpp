// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/suggest.h"
#include "driver/args/text.h"

namespace ww::driver {
namespace {

constexpr std::uint64_t kMaxDim = 0x7FFF'FFFF;
constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

// A whole number of decimal digits, nothing else.
Result<std::uint64_t> parse_count(Piece piece, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = piece.text.data() + piece.text.size();
  const auto [stop, error] = std::from_chars(piece.text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end;
  if (is_number && value >= least && value <= most) return value;
  return fail_at(piece.span(), DiagKind::BadArgument, "`{}` is not a whole number from {} to {}",
                 piece.text, least, most);
}

int power_of_suffix(char c) {
  switch (to_lower(c)) {
    case 'k':
      return 1;
    case 'm':
      return 2;
    case 'g':
      return 3;
    default:
      return 0;
  }
}

// With K, M or G behind it.
Result<std::uint64_t> parse_amount(Piece piece, std::uint64_t step) {
  const int power = piece.empty() ? 0 : power_of_suffix(piece.text.back());
  Piece digits = piece;
  if (power > 0) digits.text.remove_suffix(1);
  std::uint64_t value = WW_TRY(parse_count(digits, 1, kMaxU64));
  for (int i = 0; i < power; ++i) {
    if (value > kMaxU64 / step)
      return fail_at(piece.span(), DiagKind::Overflow, "`{}` is beyond 64 bits", piece.text);
    value *= step;
  }
  return value;
}

Result<double> parse_seconds(Piece piece) {
  const double value = WW_TRY(located(parse_real(piece.text), piece));
  if (std::isfinite(value) && value > 0) return value;
  return fail_at(piece.span(), DiagKind::BadArgument, "`{}` seconds; expected a number above 0",
                 piece.text);
}

Result<void> set_limit(LimitChanges& limits, Piece name, Piece value) {
  if (name.text == "instructions") {
    limits.instructions = WW_TRY(parse_amount(value, 1000));
  } else if (name.text == "seconds") {
    limits.seconds = WW_TRY(parse_seconds(value));
  } else if (name.text == "memory") {
    limits.memory = WW_TRY(parse_amount(value, 1024));
  } else {
    static constexpr std::array<std::string_view, 3> kNames{"instructions", "seconds", "memory"};
    return fail_at(name.span(), DiagKind::UnknownName,
                   "`{}` is not a limit; known limits: instructions, seconds, memory{}", name.text,
                   did_you_mean(name.text, kNames));
  }
  return {};
}

// A block by number or by coordinates, as its number.
Result<std::uint64_t> block_number(Piece piece, const sim::Dim3& grid) {
  if (!piece.text.contains(',')) {
    const std::uint64_t block = WW_TRY(parse_count(piece, 0, kMaxU64));
    if (block < grid.count()) return block;
  } else {
    const auto parts = split_top(piece, ',');
    std::array<std::uint64_t, 3> at{};
    if (parts.size() > at.size())
      return fail_at(piece.span(), DiagKind::Syntax,
                     "expected a block as a number or as `X,Y,Z`, found `{}`", piece.text);
    for (std::size_t i = 0; i < parts.size(); ++i)
      at[i] = WW_TRY(parse_count(parts[i], 0, kMaxDim));
    if (at[0] < grid.x && at[1] < grid.y && at[2] < grid.z)
      return at[0] + grid.x * (at[1] + grid.y * at[2]);
  }
  return fail_at(piece.span(), DiagKind::OutOfBounds, "there is no block {} in a grid of {}",
                 piece.text, dims_text(grid));
}

Result<std::uint32_t> parse_warp(Piece piece, const sim::Dim3& block) {
  const std::uint64_t warps = (block.count() + sim::kLanes - 1) / sim::kLanes;
  const std::uint64_t warp = WW_TRY(parse_count(piece, 0, kMaxU64));
  if (warp < warps && warp <= kMaxDim) return static_cast<std::uint32_t>(warp);
  return fail_at(piece.span(), DiagKind::OutOfBounds, "there is no warp {}: a block of {} has {}",
                 warp, dims_text(block), warps);
}

}  // namespace

Result<sim::Dim3> parse_dims(std::string_view text) {
  const auto pieces = split_top({text, 0}, ',');
  if (pieces.empty() || pieces.size() > 3)
    return fail_at(Span::at(0, text.size()), DiagKind::Syntax,
                   "expected `X`, `X,Y` or `X,Y,Z`, found `{}`", text);
  std::array<std::uint32_t, 3> out{1, 1, 1};
  for (std::size_t i = 0; i < pieces.size(); ++i)
    out[i] = static_cast<std::uint32_t>(WW_TRY(parse_count(pieces[i], 0, kMaxDim)));
  return sim::Dim3{out[0], out[1], out[2]};
}

std::string dims_text(const sim::Dim3& dims) {
  if (dims.y == 1 && dims.z == 1) return fmt::format("{}", dims.x);
  return fmt::format("{},{},{}", dims.x, dims.y, dims.z);
}

std::string block_text(const sim::Dim3& grid, std::uint64_t block) {
  const sim::Dim3 at = grid.at(block);
  return fmt::format("({},{},{})", at.x, at.y, at.z);
}

Result<LimitChanges> parse_limits(std::string_view text) {
  LimitChanges limits;
  for (const Piece& piece : split_top({text, 0}, ',')) {
    const auto parts = cut_first(piece, '=');
    if (!parts)
      return fail_at(piece.span(), DiagKind::Syntax, "expected `NAME=VALUE`, found `{}`",
                     piece.text);
    WW_TRY_VOID(set_limit(limits, parts->first, parts->second));
  }
  return limits;
}

namespace {

// `4-7,12`, of warps of a unit.
Result<std::vector<sim::WarpRange>> parse_warps(Piece piece) {
  std::vector<sim::WarpRange> out;
  for (const Piece& each : split_top(piece, ',')) {
    const auto parts = cut_first(each, '-');
    const std::uint64_t first = WW_TRY(parse_count(parts ? parts->first : each, 0, kMaxDim));
    const std::uint64_t last = parts ? WW_TRY(parse_count(parts->second, first, kMaxDim)) : first;
    out.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)});
  }
  return out;
}

}  // namespace

Result<sim::Schedule> parse_schedule(std::string_view text) {
  if (text == "rr") return sim::Schedule{};
  if (text == "reverse") return sim::Schedule{.turns = sim::Turns::Backward};
  if (text == "step") return sim::Schedule{.turns = sim::Turns::Stepwise};
  if (text == "random") return sim::Schedule::random(0);
  const auto parts = cut_first(Piece{text, 0}, ':');
  const std::string_view word = parts ? parts->first.text : "";
  if (word == "random")
    return sim::Schedule::random(WW_TRY(parse_count(parts->second, 0, kMaxU64)));
  if (word == "delay")
    return sim::Schedule{.turns = sim::Turns::Delayed,
                         .delayed = WW_TRY(parse_warps(parts->second))};
  if (word == "pct") {
    const auto both = cut_first(parts->second, ':');
    const Piece seed = both ? both->first : parts->second;
    return sim::Schedule{
        .turns = sim::Turns::Ranked,
        .seed = WW_TRY(parse_count(seed, 0, kMaxU64)),
        .steps = both ? WW_TRY(parse_count(both->second, 1, kMaxU64)) : sim::kUsualRankSteps};
  }
  return fail_at(Span::at(0, text.size()), DiagKind::BadArgument,
                 "expected `rr`, `reverse`, `step`, `random:SEED`, `delay:WARPS` or `pct:SEED`, "
                 "found `{}`",
                 text);
}

sim::ScheduleBudget schedule_budget(std::optional<unsigned> asked, std::string_view schedule) {
  if (asked) return {.most = *asked};
  return schedule.empty() ? sim::kUsualSchedules : sim::ScheduleBudget{};
}

Result<sim::TraceRequest> parse_trace(std::string_view text, const sim::Dim3& grid,
                                      const sim::Dim3& block) {
  sim::TraceRequest out;
  const Piece whole{text, 0};
  const auto parts = cut_first(whole, ':');
  if (parts) out.block = WW_TRY(block_number(parts->first, grid));
  const Piece which = parts ? parts->second : whole;
  out.all_warps = which.text == "all";
  if (out.all_warps) return out;
  auto warp = parse_warp(which, block);
  if (!warp)
    return fail(std::move(warp).error().with_note("expected `WARP`, `BLOCK:WARP` or `BLOCK:all`"));
  out.warp = *warp;
  return out;
}

Result<std::uint64_t> parse_block(std::string_view text, const sim::Dim3& grid) {
  return block_number({text, 0}, grid);
}

Result<StepRange> parse_steps(std::string_view text) {
  const auto parts = cut_first(Piece{text, 0}, ':');
  if (!parts)
    return fail_at(Span::at(0, text.size()), DiagKind::Syntax, "expected `FIRST:LAST`, found `{}`",
                   text);
  StepRange out;
  out.first = WW_TRY(parse_count(parts->first, 0, kMaxU64));
  out.last = WW_TRY(parse_count(parts->second, 0, kMaxU64));
  if (out.first < out.last) return out;
  return fail_at(Span::at(0, text.size()), DiagKind::BadArgument,
                 "steps {} to {}; expected a last one behind the first", out.first, out.last);
}

Result<sim::BreakRequest> parse_break(std::string_view text) {
  const Piece whole{text, 0};
  const auto parts = cut_first(whole, ':');
  sim::BreakRequest out;
  const Piece line = parts ? parts->first : whole;
  out.line = static_cast<std::uint32_t>(WW_TRY(parse_count(line, 1, kMaxDim)));
  if (parts) out.most = WW_TRY(parse_count(parts->second, 1, kMaxU64));
  return out;
}

Result<void> check_break(const sim::Program& program, std::uint32_t line) {
  std::uint32_t nearest = 0;
  const auto distance = [&](std::uint32_t other) {
    return std::max(other, line) - std::min(other, line);
  };
  for (const sim::OpInfo& info : program.infos) {
    if (info.line == line) return {};
    if (info.line == 0) continue;
    if (nearest == 0 || distance(info.line) < distance(nearest)) nearest = info.line;
  }
  Diag problem =
      diag(DiagKind::OutOfBounds, "no instruction of the kernel stands at line {}", line);
  if (nearest != 0)
    problem.notes.push_back({fmt::format("the nearest one is at line {}", nearest), {}});
  return fail(std::move(problem));
}

// --- a launch ------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kMaxShared = std::int64_t{1} << 30;
constexpr std::size_t kPlaces = 3;  // grid, block, shared memory

Diag launch_syntax(std::string_view found) {
  return diag(DiagKind::Syntax, "expected `KERNEL<<<GRID, BLOCK>>>(ARG, ...)`, found `{}`", found);
}

Result<sim::Dim3> dims_at(Piece piece) {
  const Piece inside = unwrapped(piece);
  return located(parse_dims(inside.text), inside);
}

Result<void> set_setting(LaunchText& launch, Piece piece) {
  if (piece.text == "programmatic") {
    launch.is_programmatic = true;
    return {};
  }
  const auto parts = cut_first(piece, '=');
  if (!parts || trimmed(parts->first).text != "cluster")
    return fail_at(piece.span(), DiagKind::UnknownName,
                   "`{}`, expected `cluster=(X,Y,Z)` or `programmatic`", piece.text);
  launch.cluster = WW_TRY(dims_at(trimmed(parts->second)));
  return {};
}

Result<void> set_shared(LaunchText& launch, Piece piece) {
  const std::int64_t bytes = WW_TRY(parse_int(piece));
  if (bytes < 0 || bytes > kMaxShared)
    return fail_at(piece.span(), DiagKind::BadArgument,
                   "{} bytes of shared memory, expected 0 to {}", bytes, kMaxShared);
  launch.shared_bytes = static_cast<std::uint32_t>(bytes);
  return {};
}

// What stands between `<<<` and `>>>`.
Result<void> set_sizes(LaunchText& launch, Piece piece) {
  std::size_t place = 0;
  for (const Piece& each : split_top(piece, ',')) {
    const bool is_word = !each.empty() && (each.text[0] < '0' || each.text[0] > '9') &&
                         each.text[0] != '(' && each.text[0] != '-';
    if (is_word) {
      WW_TRY_VOID(set_setting(launch, each));
      continue;
    }
    if (place == kPlaces)
      return fail_at(each.span(), DiagKind::Syntax,
                     "`{}` behind grid, block and shared memory, expected `cluster=(X,Y,Z)` or "
                     "`programmatic`; there is one stream",
                     each.text);
    if (place == 0) launch.grid = WW_TRY(dims_at(each));
    if (place == 1) launch.block = WW_TRY(dims_at(each));
    if (place == 2) WW_TRY_VOID(set_shared(launch, each));
    ++place;
  }
  if (place >= 2) return {};
  return fail_at(piece.span(), DiagKind::Syntax, "`<<<{}>>>` has no {}", piece.text,
                 place == 0 ? "grid" : "block");
}

}  // namespace

Result<LaunchText> parse_launch(std::string_view text) {
  LaunchText launch{.text = std::string(text)};
  const std::size_t open = text.find("<<<"), close = text.find(">>>");
  const Span all = Span::at(0, text.size());
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 3)
    return fail(launch_syntax(text).with_span(all));
  const Piece kernel = trimmed({text.substr(0, open), 0});
  if (kernel.empty()) return fail(launch_syntax(text).with_span(all));
  launch.kernel = kernel.span();
  WW_TRY_VOID(set_sizes(launch, {text.substr(open + 3, close - open - 3), open + 3}));
  const Piece args = trimmed({text.substr(close + 3), close + 3});
  if (!args.text.starts_with('(') || !args.text.ends_with(')'))
    return fail(launch_syntax(args.text).with_span(args.span()));
  const Piece inside = trimmed({args.text.substr(1, args.text.size() - 2), args.offset + 1});
  for (const Piece& each : split_top(inside, ',')) {
    if (each.empty()) return fail(launch_syntax(args.text).with_span(args.span()));
    launch.args.push_back(each.span());
  }
  return launch;
}

}  // namespace ww::driver
