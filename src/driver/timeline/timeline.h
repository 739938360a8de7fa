// SPDX-License-Identifier: Apache-2.0
// A timeline of one cluster for people and programs: lanes of spans, made from what the virtual GPU
// recorded. The text, the JSON and the picture are all written from this one value.
//
//     make_timeline(recording, program, …) --> Timeline --> timeline_text | timeline_json | timeline_svg
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/sim/options.h"
#include "json/json.h"
#include "sim/launch.h"

namespace ww::driver {

/// What a span shows: the state of a warp, asynchronous work, or a phase of an mbarrier.
enum class SpanKind : std::uint8_t {
  Runs,
  AtMbarrier,
  AtBarrier,
  AtClusterBarrier,
  AtOther,  // for its warpgroup, other lanes, registers, columns of tensor memory
  Work,
  Phase,
};
std::string_view name_of(SpanKind kind);  // "runs", "mbarrier", …

/// An instruction and who executed it.
struct TimelineParty {
  std::string who = {};          // "warp 2", with its block where the cluster has several
  std::uint32_t line = 0;        // of the PTX
  std::string instruction = {};  // that line
  std::string source = {};       // "pipeline.py:37"; empty: unknown
};

struct TimelineSpan {
  SpanKind kind = SpanKind::Runs;
  std::uint64_t begin = 0, end = 0;  // steps
  bool is_open = false;              // it still goes on where the timeline ends
  std::string what = {};             // "full[0]", "barrier 1", "cp.async group 2"
  std::optional<std::uint64_t> phase = {};
  std::optional<TimelineParty> at =
      {};  // of a wait: the instruction; of work: the first that issued it
  std::optional<TimelineParty> by = {};  // who ended it
  bool is_by_work = false;               // `by` has issued the asynchronous work that ended it
  std::uint32_t count = 0;               // of work: instructions
  std::int64_t bytes = 0;                // of work; of a phase: that it expects
  std::uint64_t read = 0;  // of work: when its sources were known to be read; 0: never
  std::vector<sim::PhasePoint> points = {};  // of a phase
  std::uint32_t merged = 0;  // it stands for so many short ones; the rest is of what took longest
  std::uint64_t runs = 0;    // of merged spans of a warp: steps in which it ran

  [[nodiscard]] bool is_merged() const { return merged > 1; }
};

/// Warps that a branch of the source sets apart (driver/timeline/names.h).
struct WarpRole {
  std::string name = {};                  // "producer"; empty: it has none
  std::string condition = {};             // "wg == 2"
  std::string source = {};                // "gemm_hopper.py:161"; empty: unknown
  std::vector<std::uint32_t> warps = {};  // of a block, in order

  /// The name, or the condition.
  [[nodiscard]] const std::string& title() const { return name.empty() ? condition : name; }
};

/// How the warps of a role spent their steps, in all blocks of the cluster together.
struct RoleUse {
  struct Wait {
    std::string what;  // "pipe_full": barriers of an array count as one
    std::uint64_t steps = 0;
  };
  std::uint64_t steps = 0;       // of its warps, each until it ends
  std::uint64_t runs = 0;        // of these
  std::vector<Wait> waits = {};  // of these, the longest first
  std::uint64_t run_steps = 0;   // of the whole run, for each block
  std::uint64_t copies = 0;      // of these: copies of the role were under way
  std::uint64_t products = 0;    // of these: products were
  [[nodiscard]] std::uint64_t waited() const;
};

struct TimelineRole {
  WarpRole role = {};
  RoleUse use = {};
};

enum class LaneKind : std::uint8_t { Warps, Work, Mbarrier };
std::string_view name_of(LaneKind kind);

struct TimelineLane {
  LaneKind kind = LaneKind::Warps;
  std::string block;                            // "(0,0,0)"
  std::string name;                             // "warps 4-7", "warp 0: cp.async.bulk", "full[0]"
  std::uint32_t first_warp = 0, last_warp = 0;  // of the cluster; of Warps and Work
  std::optional<std::size_t> role = {};         // of its warps: index into Timeline::roles
  std::vector<TimelineSpan> spans = {};
};

/// What ends a wait of one warp and was done by another.
struct TimelineArrow {
  std::size_t from_lane = 0, to_lane = 0;
  std::uint64_t step = 0;
};

struct Timeline {
  std::string file = {}, kernel = {}, outcome = {};
  std::uint64_t steps = 0;               // recorded
  std::uint64_t from = 0, to = 0;        // shown
  bool counts_rounds = false;            // a step is a round; else an instruction
  std::uint64_t grain = 0;               // spans of fewer steps may be merged; 0: none is
  std::vector<std::string> notes = {};   // what is left out, and why
  std::vector<TimelineRole> roles = {};  // empty: the source is unknown, or has none
  /// Block by block: warps and work, role by role if there are roles; then mbarriers.
  std::vector<TimelineLane> lanes = {};
  std::vector<TimelineArrow> arrows = {};
};

/// A part of shared memory with a name, where it is known better than from the PTX.
struct SharedName {
  std::string name;
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t element = 1;  // bytes
};

/// What a timeline is made from besides the recording. All must outlive the call.
struct TimelineSource {
  const sim::Program* program = nullptr;
  const sim::Code* kernel = nullptr;
  sim::Dim3 grid{};
  std::string file = {};
  std::string outcome = {};
  std::vector<SharedName> names = {};
  std::vector<WarpRole> roles = {};
};

/// No more is shown; beyond, short ones are merged, with a note.
inline constexpr std::size_t kMaxTimelineSpans = 4000;

/// Which part is shown.
struct TimelinePart {
  std::optional<StepRange> range = {};  // none: all
  bool keeps_lanes = false;             // also of work of which nothing is in the range
};
Timeline make_timeline(const sim::Recording& recording, const TimelineSource& source,
                       const TimelinePart& part = {});

std::string timeline_text(const Timeline& timeline);
Json timeline_json(const Timeline& timeline);
std::string timeline_svg(const Timeline& timeline);

// --- the options ---------------------------------------------------------------------------------

enum class TimelineForm : std::uint8_t { Svg, Json, Text };

/// `--timeline FILE`, `--timeline-block N`, `--timeline-steps A:B`, as text; empty: not given.
struct TimelineRequest {
  std::string path = {}, block = {}, steps = {};

  [[nodiscard]] bool is_wanted() const { return !path.empty(); }
};

/// The form that the name of the file asks for: .svg, .json or .txt.
Result<TimelineForm> timeline_form(std::string_view path);
/// Writes the timeline in the form of the file's name.
Result<void> write_timeline(const std::string& path, const Timeline& timeline);

// --- sentences -----------------------------------------------------------------------------------
//
// What the text of a timeline and the hover texts of its picture say.

/// "warp 2, line 88 (pipeline.py:47)".
std::string party_sentence(const TimelineParty& party);
/// "waits for full[0], phase 1 (parity 1), at line 70".
std::string span_sentence(const TimelineSpan& span);
/// "ended by warp 2, line 88"; empty: nothing is known, or it has no end of its own.
std::string end_sentence(const TimelineSpan& span);
/// "producer: warps 8-11, `wg == 2` (gemm_hopper.py:161)".
std::string role_sentence(const WarpRole& role);
/// "runs 31 %, waits 69 % (pipe_empty 60 %, barrier 0 9 %); copies under way 88 % of the run".
std::string use_sentence(const RoleUse& use);
/// What a step is.
std::string axis_sentence(const Timeline& timeline);

}  // namespace ww::driver
