// SPDX-License-Identifier: Apache-2.0
// What the text of a timeline and the hover texts of its picture say.
#pragma once

#include <string>

#include "driver/timeline/timeline.h"

namespace ww::driver {

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
