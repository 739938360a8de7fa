// SPDX-License-Identifier: Apache-2.0
// A timeline as text or JSON, and the file that it goes to.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/fail_at.h"
#include "base/file_io.h"
#include "driver/report_parts.h"
#include "driver/timeline/timeline.h"
#include "view/paint.h"
#include "view/svg_writer.h"

namespace ww::driver {

// --- text ----------------------------------------------------------------------------------------
//
// A timeline as text, lane by lane, and the sentences that all its forms share.

namespace {

std::string missing_text(const sim::PhasePoint& point) {
  std::string out = fmt::format("{} to arrive", point.arrivals);
  if (point.bytes > 0) out += fmt::format(", {} bytes to come", point.bytes);
  if (point.bytes < 0) out += fmt::format(", {} bytes too many", -point.bytes);
  return out;
}

std::string work_sentence(const TimelineSpan& span) {
  std::string out = plural(span.count, "instruction");
  if (span.is_merged()) out += fmt::format(" in {} pieces", span.merged);
  if (!span.what.empty()) out += (span.what.starts_with("group") ? " of " : " ") + span.what;
  if (span.phase) out += fmt::format(", phase {}", *span.phase);
  if (span.bytes != 0) out += fmt::format(", {} bytes", span.bytes);
  return out;
}

std::string phase_sentence(const TimelineSpan& span) {
  if (span.is_merged())
    return fmt::format("phases {} to {}", *span.phase, *span.phase + span.merged - 1);
  std::string out = fmt::format("phase {} (parity {})", *span.phase, *span.phase % 2);
  if (!span.points.empty()) out += fmt::format(", {} to arrive", span.points.front().arrivals);
  if (span.bytes > 0) out += fmt::format(", expects {} bytes", span.bytes);
  return out;
}

// Spans of a warp that are one.
std::string merged_sentence(const TimelineSpan& span) {
  const std::uint64_t steps = span.end - span.begin;
  std::string out = fmt::format("{} merged: runs in {} of {}", plural(span.merged, "span"),
                                span.runs, plural(steps, "step"));
  if (span.kind != SpanKind::Runs) out += fmt::format(", waits mostly for {}", span.what);
  return out;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  const std::uint64_t rounded = (100 * part + whole / 2) / whole;
  return rounded == 0 ? "<1 %" : fmt::format("{} %", rounded);
}

// "warps 0-3, 8".
std::string warps_text(const std::vector<std::uint32_t>& warps) {
  std::string out = warps.size() == 1 ? "warp " : "warps ";
  for (std::size_t i = 0; i < warps.size();) {
    std::size_t end = i + 1;
    while (end < warps.size() && warps[end] == warps[end - 1] + 1) ++end;
    if (i != 0) out += ", ";
    out +=
        end == i + 1 ? fmt::format("{}", warps[i]) : fmt::format("{}-{}", warps[i], warps[end - 1]);
    i = end;
  }
  return out;
}

void add_lane(std::string& out, const TimelineLane& lane) {
  out += fmt::format("{}{}\n", lane.kind == LaneKind::Mbarrier ? "mbarrier " : "",
                     lane.name.empty() ? "  (beside it)" : lane.name);
  for (const TimelineSpan& span : lane.spans) {
    const std::string steps = fmt::format("{}-{}", span.begin, span.end);
    out += fmt::format("  {:<11} {}", steps, span_sentence(span));
    const std::string end = end_sentence(span);
    if (!end.empty()) out += "; " + end;
    out += '\n';
  }
}

}  // namespace

std::string party_sentence(const TimelineParty& party) {
  std::string out = fmt::format("{}, line {}", party.who, party.line);
  if (!party.source.empty()) out += fmt::format(" ({})", party.source);
  return out;
}

std::string role_sentence(const WarpRole& role) {
  std::string out = warps_text(role.warps);
  if (!role.name.empty()) out = fmt::format("{}: {}", role.name, out);
  out += fmt::format(", `{}`", role.condition);
  if (!role.source.empty()) out += fmt::format(" ({})", role.source);
  return out;
}

std::string use_sentence(const RoleUse& use) {
  constexpr std::size_t kMaxWaits = 3;
  std::string out = fmt::format("runs {}, waits {}", percent(use.runs, use.steps),
                                percent(use.waited(), use.steps));
  for (std::size_t i = 0; i < std::min(kMaxWaits, use.waits.size()); ++i)
    out += fmt::format("{}{} {}", i == 0 ? " (" : ", ", use.waits[i].what,
                       percent(use.waits[i].steps, use.steps));
  if (!use.waits.empty()) out += use.waits.size() > kMaxWaits ? ", …)" : ")";
  const std::uint64_t rest = use.steps - std::min(use.steps, use.runs + use.waited());
  if (rest != 0) out += fmt::format(", not chosen {}", percent(rest, use.steps));
  if (use.copies != 0)
    out += fmt::format("; copies under way {} of the run", percent(use.copies, use.run_steps));
  if (use.products != 0)
    out += fmt::format("; products under way {} of the run", percent(use.products, use.run_steps));
  return out;
}

std::string span_sentence(const TimelineSpan& span) {
  const bool is_of_warps = span.kind != SpanKind::Work && span.kind != SpanKind::Phase;
  if (span.is_merged() && is_of_warps) return merged_sentence(span);
  switch (span.kind) {
    case SpanKind::Runs:
      return "runs";
    case SpanKind::AtMbarrier:
      return fmt::format("waits for {}, phase {} (parity {}), at line {}", span.what, *span.phase,
                         *span.phase % 2, span.at ? span.at->line : 0);
    case SpanKind::AtBarrier:
    case SpanKind::AtClusterBarrier:
    case SpanKind::AtOther:
      return fmt::format("waits for {}, at line {}", span.what, span.at ? span.at->line : 0);
    case SpanKind::Work:
      return work_sentence(span);
    case SpanKind::Phase:
      return phase_sentence(span);
  }
  return "";
}

std::string end_sentence(const TimelineSpan& span) {
  if (span.is_open && span.kind == SpanKind::Phase && !span.points.empty())
    return "not over: " + missing_text(span.points.back());
  if (span.is_open) return span.kind == SpanKind::Work ? "nobody has waited for it" : "to the end";
  if (!span.by) return "";
  const std::string who = party_sentence(*span.by);
  if (span.kind == SpanKind::Work) return "seen by " + who;
  if (span.is_by_work) return "ended by the work of " + who;
  return "ended by " + who;
}

std::string axis_sentence(const Timeline& timeline) {
  return timeline.counts_rounds
             ? "a step is a round in which every warp that can run executes one instruction; "
               "time is not simulated"
             : "a step is one instruction of one warp; time is not simulated";
}

std::string timeline_text(const Timeline& timeline) {
  std::string out =
      fmt::format("timeline of `{}` in {}: {}\n", timeline.kernel, timeline.file, timeline.outcome);
  out += fmt::format("steps {} to {} of {}; {}\n", timeline.from, timeline.to, timeline.steps,
                     axis_sentence(timeline));
  for (const std::string& note : timeline.notes) out += fmt::format("note: {}\n", note);
  for (const TimelineRole& each : timeline.roles)
    out += fmt::format("role {}\n  {}\n", role_sentence(each.role), use_sentence(each.use));
  std::string block;
  std::optional<std::size_t> role;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.block != block) out += fmt::format("\nblock {}\n", lane.block);
    if (lane.role && (lane.block != block || lane.role != role))
      out += fmt::format("role {}\n", timeline.roles[*lane.role].role.title());
    block = lane.block;
    role = lane.role;
    add_lane(out, lane);
  }
  return out;
}

// --- json ----------------------------------------------------------------------------------------
//
// A timeline as JSON; docs/reference/schema/timeline.json describes it.

namespace {

Json party_json(const std::optional<TimelineParty>& party) {
  if (!party) return nullptr;
  return {{"who", party->who},
          {"line", party->line},
          {"instruction", party->instruction},
          {"source", text_or_null(party->source)}};
}

Json points_json(const TimelineSpan& span) {
  return json_list(span.points, [&](const sim::PhasePoint& point) -> Json {
    return {{"step", point.step}, {"arrivals", point.arrivals}, {"bytes", point.bytes}};
  });
}

Json span_json(const TimelineSpan& span) {
  Json out{{"kind", name_of(span.kind)},
           {"begin", span.begin},
           {"end", span.end},
           {"open", span.is_open}};
  if (span.is_merged()) {
    out["merged"] = span.merged;
    if (span.kind != SpanKind::Work && span.kind != SpanKind::Phase) out["runs"] = span.runs;
  }
  if (span.kind == SpanKind::Runs) return out;
  if (span.kind != SpanKind::Phase) out["what"] = span.what;
  if (span.phase) {
    out["phase"] = *span.phase;
    out["parity"] = *span.phase % 2;
  }
  if (span.kind != SpanKind::Phase) out["at"] = party_json(span.at);
  out["by"] = party_json(span.by);
  out["by_work"] = span.is_by_work;
  if (span.kind == SpanKind::Work) {
    out["instructions"] = span.count;
    out["read"] = span.read == 0 ? Json(nullptr) : Json(span.read);
  }
  if (span.kind == SpanKind::Work || span.kind == SpanKind::Phase) out["bytes"] = span.bytes;
  if (span.kind == SpanKind::Phase) out["points"] = points_json(span);
  return out;
}

Json role_json(const TimelineRole& each) {
  Json waits = json_list(each.use.waits, [&](const RoleUse::Wait& wait) -> Json {
    return {{"what", wait.what}, {"steps", wait.steps}};
  });
  return {{"name", text_or_null(each.role.name)},
          {"condition", each.role.condition},
          {"source", text_or_null(each.role.source)},
          {"warps", each.role.warps},
          {"steps", each.use.steps},
          {"runs", each.use.runs},
          {"waits", std::move(waits)},
          {"run_steps", each.use.run_steps},
          {"copies", each.use.copies},
          {"products", each.use.products},
          {"text", role_sentence(each.role)},
          {"use", use_sentence(each.use)}};
}

Json lane_json(const TimelineLane& lane) {
  Json spans = json_list(lane.spans, span_json);
  Json out{{"kind", name_of(lane.kind)}, {"block", lane.block}, {"name", lane.name}};
  if (lane.kind != LaneKind::Mbarrier)
    out["warps"] = Json::array({lane.first_warp, lane.last_warp});
  if (lane.role) out["role"] = *lane.role;
  out["spans"] = spans;
  return out;
}

}  // namespace

Json timeline_json(const Timeline& timeline) {
  Json lanes = json_list(timeline.lanes, lane_json);
  Json roles = json_list(timeline.roles, role_json);
  Json arrows = json_list(timeline.arrows, [&](const TimelineArrow& arrow) -> Json {
    return {{"from", arrow.from_lane}, {"to", arrow.to_lane}, {"step", arrow.step}};
  });
  const Json keys{{"file", timeline.file},
                  {"kernel", timeline.kernel},
                  {"outcome", timeline.outcome},
                  {"step", timeline.counts_rounds ? "round" : "instruction"},
                  {"steps", timeline.steps},
                  {"from", timeline.from},
                  {"to", timeline.to},
                  {"grain", timeline.grain},
                  {"notes", timeline.notes},
                  {"roles", roles},
                  {"lanes", lanes},
                  {"arrows", arrows}};
  return with_schema("timeline", keys);
}

namespace {

struct FormName {
  std::string_view ending;
  TimelineForm form;
};
constexpr std::array<FormName, 3> kForms{
    {{".svg", TimelineForm::Svg}, {".json", TimelineForm::Json}, {".txt", TimelineForm::Text}}};

}  // namespace

Result<TimelineForm> timeline_form(std::string_view path) {
  const auto found = std::ranges::find_if(
      kForms, [&](const FormName& each) { return path.ends_with(each.ending); });
  if (found != kForms.end()) return found->form;
  return fail_at(Span::at(0, path.size()), DiagKind::BadArgument,
                 "`{}` has none of the endings of a timeline: .svg, .json, .txt", path);
}

Result<void> write_timeline(const std::string& path, const Timeline& timeline) {
  switch (WW_TRY(timeline_form(path))) {
    case TimelineForm::Svg:
      return write_file_atomically(path, timeline_svg(timeline));
    case TimelineForm::Json:
      return write_file_atomically(path, json_text(timeline_json(timeline)));
    case TimelineForm::Text:
      return write_file_atomically(path, timeline_text(timeline));
  }
  return {};
}

// --- pictures ------------------------------------------------------------------------------------
//
// A timeline as a picture: steps from left to right, a row per lane, a coloured bar per span. The
// lines inside the phases of an mbarrier fall as arrivals (dark) and bytes (blue) come in. Hovering
// over a bar shows its sentence.

namespace {

using view::Rgb;
using view::SvgWriter;

constexpr double kWidth = 1160;
constexpr double kBorder = 18;
constexpr double kTitleFont = 15;
constexpr double kFactFont = 11.5;
constexpr double kNameFont = 11;
constexpr double kLabelFont = 9.5;
constexpr double kMinNames = 80, kMaxNames = 260;
constexpr double kHeading = 20;
constexpr double kMinBar = 0.8;  // narrower spans would not be seen
constexpr double kTickGap = 80;  // at least, between numbers of the axis

constexpr Rgb kGridLine{0xe4, 0xe7, 0xeb};
constexpr Rgb kStuck{0xc0, 0x1c, 0x28};
constexpr Rgb kArrow{0x57, 0x60, 0x6a};
constexpr Rgb kBytesLine{0x02, 0x75, 0xac};

Rgb colour_of(const TimelineSpan& span) {
  switch (span.kind) {
    case SpanKind::Runs:
      return view::palette_colour(13);
    case SpanKind::AtMbarrier:
      return view::palette_colour(5);
    case SpanKind::AtBarrier:
      return view::palette_colour(9);
    case SpanKind::AtClusterBarrier:
      return view::palette_colour(29);
    case SpanKind::AtOther:
      return {0xd0, 0xd5, 0xda};
    case SpanKind::Work:
      return view::palette_colour(21);
    case SpanKind::Phase:
      return view::palette_colour(*span.phase % 2 == 0 ? 16 : 24);
  }
  return view::kPaper;
}

struct RowSize {
  double height = 0, bar = 0;
};
RowSize size_of(LaneKind kind) {
  switch (kind) {
    case LaneKind::Warps:
      return {24, 18};
    case LaneKind::Work:
      return {17, 13};
    case LaneKind::Mbarrier:
      return {20, 15};
  }
  return {};
}

std::string_view heading_of(LaneKind kind) {
  static constexpr std::string_view kTexts[] = {
      "warps", "asynchronous work, from its issue to the wait that sees it end",
      "mbarriers: phases, and what they lack"};
  return kTexts[std::to_underlying(kind)];
}

double text_width(std::string_view text, double font) {
  return static_cast<double>(view::count_characters(text)) * font * view::kCharWidth;
}

// At most so wide, with `…` for what is cut off.
std::string fitted(const std::string& text, double font, double width) {
  if (text_width(text, font) <= width) return text;
  std::string out = text;
  while (!out.empty() && text_width(out, font) + font > width) {
    while (view::is_continuation_byte(out.back())) out.pop_back();
    out.pop_back();
  }
  return out + "…";
}

// What stands in a bar, from long to short; the first that fits.
std::vector<std::string> labels_of(const TimelineSpan& span) {
  switch (span.kind) {
    case SpanKind::Runs:
      return {};
    case SpanKind::AtMbarrier:
      return {fmt::format("{} phase {}", span.what, *span.phase), span.what};
    case SpanKind::AtBarrier:
    case SpanKind::AtClusterBarrier:
    case SpanKind::AtOther:
      return {span.what};
    case SpanKind::Work:
      if (span.bytes != 0) return {fmt::format("{}, {} bytes", span.what, span.bytes), span.what};
      return {span.what};
    case SpanKind::Phase:
      return {fmt::format("phase {}", *span.phase), fmt::format("{}", *span.phase)};
  }
  return {};
}

// Merged spans have no words of their own but for what they are for, most of the time.
std::vector<std::string> merged_labels_of(const TimelineSpan& span) {
  if (span.kind == SpanKind::Phase)
    return {fmt::format("phases {}-{}", *span.phase, *span.phase + span.merged - 1)};
  return {fmt::format("{} × {}", span.merged, span.what.empty() ? "runs" : span.what)};
}

std::string hover_text(const TimelineSpan& span) {
  std::string out = fmt::format("steps {} to {}: {}", span.begin, span.end, span_sentence(span));
  const std::string end = end_sentence(span);
  if (!end.empty()) out += "; " + end;
  if (span.at && span.kind != SpanKind::Runs) out += fmt::format("; `{}`", span.at->instruction);
  return out;
}

// A wait or work that nothing ends.
bool is_stuck(const TimelineSpan& span) {
  return span.is_open && span.kind != SpanKind::Phase && span.kind != SpanKind::Runs;
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline) : timeline_(timeline) {
    double names = kMinNames;
    for (const TimelineLane& lane : timeline.lanes)
      names = std::max(names, text_width(lane.name, kNameFont) + 14);
    left_ = kBorder + std::min(names, kMaxNames);
    right_ = kWidth - kBorder;
  }

  std::string draw() {
    draw_head();
    draw_axis();
    draw_lanes();
    draw_arrows();
    draw_legend();
    return std::move(out_).finish(kWidth, y_ + kBorder,
                                  fmt::format("timeline of {}", timeline_.kernel));
  }

 private:
  void draw_head();
  void draw_axis();
  void draw_lanes();
  void draw_lane(const TimelineLane& lane);
  void draw_heading(const TimelineLane& lane);
  void draw_bar(const TimelineSpan& span, double top, double height);
  void draw_merged(const TimelineSpan& span, double top, double height);
  void draw_labels(const TimelineLane& lane, double top, double height);
  void draw_points(const TimelineSpan& span, double top, double height);
  void draw_arrows();
  void draw_swatch(double& x, Rgb colour, std::string_view text);
  void draw_legend();
  void line(std::string_view text, const view::TextStyle& style);

  [[nodiscard]] double x_of(std::uint64_t step) const {
    const auto inside = std::clamp(step, timeline_.from, timeline_.to) - timeline_.from;
    const auto all = std::max<std::uint64_t>(1, timeline_.to - timeline_.from);
    return left_ + (right_ - left_) * static_cast<double>(inside) / static_cast<double>(all);
  }

  const Timeline& timeline_;
  SvgWriter out_;
  double left_ = 0, right_ = 0;
  double y_ = kBorder;
  std::vector<double> middles_;  // of the lanes' bars
  std::vector<std::uint64_t> ticks_;
};

void Picture::line(std::string_view text, const view::TextStyle& style) {
  y_ += style.size * 1.35;
  out_.open_text(style);
  out_.text(kBorder, y_ - style.size * 0.35, text);
  out_.close();
}

void Picture::draw_head() {
  const double room = right_ - kBorder;
  line(fitted(fmt::format("{} in {}", timeline_.kernel, timeline_.file), kTitleFont, room),
       {.size = kTitleFont, .font = view::Font::Mono, .is_bold = true});
  const view::TextStyle faint{.size = kFactFont, .fill = view::kFaintInk};
  line(fmt::format("Steps {} to {} of {}; {}.", timeline_.from, timeline_.to, timeline_.steps,
                   axis_sentence(timeline_)),
       faint);
  line(fitted("Outcome: " + timeline_.outcome, kFactFont, room), faint);
  for (const std::string& note : timeline_.notes)
    line(fitted("Note: " + note, kFactFont, room), faint);
  y_ += 6;
}

// 1, 2 or 5 times a power of ten.
std::uint64_t tick_step(double least) {
  std::uint64_t power = 1;
  while (static_cast<double>(power) * 10 <= least) power *= 10;
  for (const std::uint64_t times : {1U, 2U, 5U})
    if (static_cast<double>(power * times) >= least) return power * times;
  return power * 10;
}

void Picture::draw_axis() {
  const double steps =
      static_cast<double>(std::max<std::uint64_t>(1, timeline_.to - timeline_.from));
  const std::uint64_t every = tick_step(steps * kTickGap / (right_ - left_));
  y_ += 14;
  out_.open_text({.size = 10, .anchor = view::Anchor::Middle, .fill = view::kFaintInk});
  for (std::uint64_t at = (timeline_.from + every - 1) / every * every; at <= timeline_.to;
       at += every) {
    ticks_.push_back(at);
    out_.text(x_of(at), y_ - 3, fmt::format("{}", at));
  }
  out_.close();
}

void Picture::draw_lanes() {
  const TimelineLane* before = nullptr;
  const bool has_blocks =
      !timeline_.lanes.empty() && timeline_.lanes.front().block != timeline_.lanes.back().block;
  for (const TimelineLane& lane : timeline_.lanes) {
    if (has_blocks && (before == nullptr || before->block != lane.block)) {
      y_ += 4;
      line("block " + lane.block, {.size = 12, .is_bold = true});
    }
    const bool is_same = before != nullptr && before->block == lane.block &&
                         before->role == lane.role &&
                         (before->kind == lane.kind || lane.role.has_value());
    if (!is_same) draw_heading(lane);
    draw_lane(lane);
    before = &lane;
  }
}

// A role has its own, for its warps and their work.
void Picture::draw_heading(const TimelineLane& lane) {
  if (!lane.role) {
    out_.open_text({.size = 10, .fill = view::kFaintInk});
    out_.text(left_, y_ + kHeading - 6, heading_of(lane.kind));
    out_.close();
    y_ += kHeading;
    return;
  }
  const TimelineRole& each = timeline_.roles[*lane.role];
  y_ += 4;
  out_.open_text({.size = 12, .is_bold = true});
  out_.text(kBorder, y_ + kHeading - 6, fitted(each.role.title(), 12, left_ - kBorder - 8));
  out_.close();
  WarpRole where = each.role;  // its name stands at the left
  where.name.clear();
  const std::string facts = role_sentence(where) + ": " + use_sentence(each.use);
  out_.open_text({.size = 10, .fill = view::kFaintInk});
  out_.text(left_, y_ + kHeading - 6, fitted(facts, 10, (right_ - left_) * 1.15));
  out_.close();
  y_ += kHeading;
}

void Picture::draw_lane(const TimelineLane& lane) {
  const RowSize size = size_of(lane.kind);
  const double top = y_ + (size.height - size.bar) / 2;
  std::string grid;
  for (const std::uint64_t at : ticks_)
    grid += fmt::format("M{} {}v{}", view::svg_number(x_of(at)), view::svg_number(y_),
                        view::svg_number(size.height));
  if (!grid.empty()) out_.path(grid, kGridLine, 1);
  out_.open_text({.size = kNameFont, .font = view::Font::Mono});
  out_.text(kBorder, top + size.bar / 2 + kNameFont * 0.35,
            fitted(lane.name, kNameFont, left_ - kBorder - 8));
  out_.close();
  for (const TimelineSpan& span : lane.spans) draw_bar(span, top, size.bar);
  for (const TimelineSpan& span : lane.spans) draw_points(span, top, size.bar);
  draw_labels(lane, top, size.bar);
  middles_.push_back(top + size.bar / 2);
  y_ += size.height;
}

// Merged spans of a warp: the lower part is the share of waiting, the upper one of running.
void Picture::draw_merged(const TimelineSpan& span, double top, double height) {
  const double from = x_of(span.begin);
  const double width = std::max(kMinBar, x_of(span.end) - from - 0.5);
  const std::string hover = hover_text(span);
  const double share = static_cast<double>(span.runs) / static_cast<double>(span.end - span.begin);
  const double runs = height * std::clamp(share, 0.0, 1.0);
  out_.rect(from, top, width, runs, colour_of({.kind = SpanKind::Runs}), hover);
  if (span.kind != SpanKind::Runs)
    out_.rect(from, top + runs, width, height - runs, colour_of(span), hover);
}

void Picture::draw_bar(const TimelineSpan& span, double top, double height) {
  const bool is_of_warps = span.kind != SpanKind::Work && span.kind != SpanKind::Phase;
  if (span.is_merged() && is_of_warps) return draw_merged(span, top, height);
  const double from = x_of(span.begin);
  const double width = std::max(kMinBar, x_of(span.end) - from - 0.5);
  const std::string hover = hover_text(span);
  const bool was_read = span.kind == SpanKind::Work && span.read != 0 && span.read < span.end;
  if (was_read) {
    // Once its sources are read, the rest of a store is thin.
    const double read = std::max(kMinBar, x_of(span.read) - from);
    out_.rect(from, top, read, height, colour_of(span), hover);
    out_.rect(from + read, top + height / 3, std::max(0.0, width - read), height / 3,
              colour_of(span), hover);
  } else {
    out_.rect(from, top, width, height, colour_of(span), hover);
  }
  if (is_stuck(span)) out_.rect(from + width - 3, top, 3, height, kStuck, hover);
}

void Picture::draw_labels(const TimelineLane& lane, double top, double height) {
  out_.open_text({.size = kLabelFont, .anchor = view::Anchor::Middle});
  for (const TimelineSpan& span : lane.spans) {
    const double room = x_of(span.end) - x_of(span.begin) - 6;
    for (const std::string& label : span.is_merged() ? merged_labels_of(span) : labels_of(span)) {
      if (label.empty() || text_width(label, kLabelFont) > room) continue;
      out_.text((x_of(span.begin) + x_of(span.end)) / 2, top + height / 2 + kLabelFont * 0.35,
                label);
      break;
    }
  }
  out_.close();
}

// A line that falls from the top of the bar to its bottom as `most` becomes 0.
template <typename Amount>
std::string falling_line(const TimelineSpan& span, double top, double height, double most,
                         const auto& x_of, Amount&& amount) {
  std::string path;
  for (const sim::PhasePoint& point : span.points) {
    const double left = std::clamp(amount(point) / most, 0.0, 1.0);
    const double y = top + 1 + (height - 2) * (1 - left);
    path += path.empty()
                ? fmt::format("M{} {}", view::svg_number(x_of(point.step)), view::svg_number(y))
                : fmt::format("H{}V{}", view::svg_number(x_of(point.step)), view::svg_number(y));
  }
  return path + fmt::format("H{}", view::svg_number(x_of(span.end)));
}

void Picture::draw_points(const TimelineSpan& span, double top, double height) {
  if (span.kind != SpanKind::Phase || span.points.size() < 2) return;
  const auto x = [&](std::uint64_t step) { return x_of(step); };
  const auto arrivals =
      static_cast<double>(std::max<std::int64_t>(1, span.points.front().arrivals));
  out_.path(falling_line(span, top, height, arrivals, x,
                         [](const sim::PhasePoint& p) { return static_cast<double>(p.arrivals); }),
            kArrow, 0.8);
  if (span.bytes <= 0) return;
  out_.path(falling_line(span, top, height, static_cast<double>(span.bytes), x,
                         [](const sim::PhasePoint& p) { return static_cast<double>(p.bytes); }),
            kBytesLine, 0.8);
}

void Picture::draw_arrows() {
  for (const TimelineArrow& arrow : timeline_.arrows) {
    const double x = x_of(arrow.step);
    const double from = middles_[arrow.from_lane];
    const bool is_down = from < middles_[arrow.to_lane];
    const double to = middles_[arrow.to_lane] + (is_down ? -9 : 9);
    const double tail = is_down ? -3.5 : 3.5;
    const std::string head = view::svg_number(to + tail);
    out_.path(fmt::format("M{0} {1}V{2}M{3} {4}L{0} {2}L{5} {4}", view::svg_number(x),
                          view::svg_number(from), view::svg_number(to), view::svg_number(x - 2.5),
                          head, view::svg_number(x + 2.5)),
              kArrow, 0.8);
  }
}

struct LegendEntry {
  std::string_view text;
  SpanKind kind;
  std::uint64_t parity = 0;
};
constexpr LegendEntry kLegend[] = {{"runs", SpanKind::Runs},
                                   {"waits at an mbarrier", SpanKind::AtMbarrier},
                                   {"waits at a barrier", SpanKind::AtBarrier},
                                   {"waits at the cluster's barrier", SpanKind::AtClusterBarrier},
                                   {"other wait", SpanKind::AtOther},
                                   {"asynchronous work", SpanKind::Work},
                                   {"phase of parity 0", SpanKind::Phase, 0},
                                   {"phase of parity 1", SpanKind::Phase, 1}};

void Picture::draw_swatch(double& x, Rgb colour, std::string_view text) {
  constexpr double kSans = 0.85;  // of the width of characters in general
  const double width = 16 + text_width(text, kFactFont) * kSans + 14;
  if (x + width > right_) {
    x = kBorder;
    y_ += 20;
  }
  out_.rect(x, y_, 12, 12, colour);
  out_.open_text({.size = kFactFont, .fill = view::kFaintInk});
  out_.text(x + 16, y_ + 10, text);
  out_.close();
  x += width;
}

void Picture::draw_legend() {
  const auto any = [&](const auto& holds) {
    return std::ranges::any_of(timeline_.lanes, [&](const TimelineLane& lane) {
      return std::ranges::any_of(lane.spans, holds);
    });
  };
  y_ += 14;
  double x = kBorder;
  for (const LegendEntry& entry : kLegend) {
    TimelineSpan span{.kind = entry.kind, .phase = entry.parity};
    const bool is_there = any([&](const TimelineSpan& each) {
      return each.kind == entry.kind &&
             (entry.kind != SpanKind::Phase || *each.phase % 2 == entry.parity);
    });
    if (is_there) draw_swatch(x, colour_of(span), entry.text);
  }
  if (any(is_stuck)) draw_swatch(x, kStuck, "goes on at the end");
  y_ += 12;
}

}  // namespace

std::string timeline_svg(const Timeline& timeline) { return Picture(timeline).draw(); }

}  // namespace ww::driver
