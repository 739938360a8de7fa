// SPDX-License-Identifier: Apache-2.0
// The call that runs a kernel: it streams progress, can be cancelled, and leaves a recording.
#pragma once

#include <atomic>
#include <cstdint>

#include "explore/request.h"
#include "explore/session.h"

namespace ww::explore {

/// What is to be run, read from a request.
struct RunWish {
  Program program;
  driver::ArgRequest arguments = {};
  std::string schedule = {}, checks = {};
  std::uint64_t block = 0;
  bool records = true;
  bool ends_early = false;  // when the first cluster is done, of which alone something is asked
  bool on_gpu = false;
};
Result<RunWish> run_wish(const Json& request);

/// Blocks that are done, while a run goes on.
struct RunProgress {
  std::atomic<std::uint64_t> blocks = 0, of = 0;
};

/// A run of the virtual GPU with all that is kept of it.
struct CapturedRun {
  driver::RunOutcome outcome;
  driver::RunCapture capture;
};
CapturedRun run_captured(const RunWish& wish, double seconds, const std::atomic<bool>& stop,
                         RunProgress& progress);

/// The last line of the stream: `result`.
Json run_result(Session& session, const RunWish& wish, const std::atomic<bool>& stop,
                RunProgress& progress);

/// The whole stream.
Answer run_answer(Session& session, const RunWish& wish, const Peer& peer);

// --- gpu run -------------------------------------------------------------------------------------
//
// A run on the GPU, in a process of its own. A kernel that traps leaves CUDA unusable for the rest of its process, and
// one that does not end can be ended in no other way.

/// Runs `warpwright run --device cuda` of `program`, the path of this program, and times so many launches: `errors`, and
/// `report`, which is null where there is none. Throws Cancelled, after killing it, when the work is cancelled.
Json gpu_result(const std::string& program, const RunWish& wish, int launches);

}  // namespace ww::explore
