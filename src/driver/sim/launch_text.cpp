// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/launch_text.h"

#include <fmt/format.h>

#include "driver/sim/options.h"

namespace ww::driver {
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
    return fail(diag(DiagKind::UnknownName, "`{}`, expected `cluster=(X,Y,Z)` or `programmatic`",
                     piece.text)
                    .with_span(piece.span()));
  launch.cluster = WW_TRY(dims_at(trimmed(parts->second)));
  return {};
}

Result<void> set_shared(LaunchText& launch, Piece piece) {
  const std::int64_t bytes = WW_TRY(parse_int(piece));
  if (bytes < 0 || bytes > kMaxShared)
    return fail(diag(DiagKind::BadArgument, "{} bytes of shared memory, expected 0 to {}", bytes,
                     kMaxShared)
                    .with_span(piece.span()));
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
      return fail(diag(DiagKind::Syntax,
                       "`{}` behind grid, block and shared memory, expected `cluster=(X,Y,Z)` or "
                       "`programmatic`; there is one stream",
                       each.text)
                      .with_span(each.span()));
    if (place == 0) launch.grid = WW_TRY(dims_at(each));
    if (place == 1) launch.block = WW_TRY(dims_at(each));
    if (place == 2) WW_TRY_VOID(set_shared(launch, each));
    ++place;
  }
  if (place >= 2) return {};
  return fail(
      diag(DiagKind::Syntax, "`<<<{}>>>` has no {}", piece.text, place == 0 ? "grid" : "block")
          .with_span(piece.span()));
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
