// SPDX-License-Identifier: Apache-2.0
// What the page can ask, one function per call; docs/reference/explorer.md lists them with their
// schemas. Each takes the request and gives the answer, or a Diag that becomes the page's message.
#pragma once

#include <string_view>

#include "explore/recordings.h"
#include "explore/request.h"
#include "explore/session.h"

namespace ww::explore {

// tables.cpp
Result<Json> call_start(Session& session, const Json& request);
Result<Json> call_example(Session& session, const Json& request);
Result<Json> call_reference(Session& session, const Json& request);
// program.cpp
Result<Json> call_check(Session& session, const Json& request);
Result<Json> call_explain(Session& session, const Json& request);
// code.cpp
Result<Json> call_code(Session& session, const Json& request);
// layouts.cpp
Result<Json> call_layout(Session& session, const Json& request);
Result<Json> call_diff(Session& session, const Json& request);

// states.cpp
Result<Json> call_steps(Session& session, const Json& request);
Result<Json> call_state(Session& session, const Json& request);
Result<Json> call_timeline(Session& session, const Json& request);
// moves.cpp
Result<Json> call_moves(Session& session, const Json& request);
Result<Json> call_cancel(Session& session, const Json& request);

using Call = Result<Json> (*)(Session&, const Json&);
/// The call of that name; null: there is none.
Call find_call(std::string_view name);

/// The run that `recording` of a request names.
Result<std::shared_ptr<StoredRun>> recording_field(Session& session, const Json& request);
/// timeline.json of a run, or of some of its steps; the lanes are the same for all of them.
Json timeline_json(const sim::Recording& recording, const driver::TimelineSource& source,
                   const std::optional<driver::StepRange>& range);
/// The moments of a run, as columns.
Json steps_json(const StoredRun& run, std::uint64_t from, std::uint64_t to);
/// `diagnostics`, `text`: what is wrong with a program, as data and as a terminal shows it.
void add_diagnostics(Json& out, const driver::Build& build);
/// The line (1-based) of a place in the file itself; 0: it is elsewhere.
std::size_t line_in_file(const driver::Build& build, Span span);

}  // namespace ww::explore
