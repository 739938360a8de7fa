// SPDX-License-Identifier: Apache-2.0
// Trials of a proof: the first and the last unit of threads that come to the call, each with a few
// choices of what is known at run time only.
#pragma once

#include <cstdint>
#include <functional>

#include "lower/proof/proof.h"
#include "lower/proof/walk.h"

namespace ww::lower {

/// One unit of threads with one choice of what is known at run time only.
struct Trial {
  std::int64_t first_thread;
  int sample;
  FewValues* few;      // takes note of the choice
  UnitTables* tables;  // what trials of this unit have computed
};

enum class TrialOutcome : std::uint8_t {
  Held,
  HeldAlways,  // nothing depended on the choice
  Skipped,     // the choice puts a region outside its buffer
  Failed
};

inline constexpr int kMaxTrials = 60;    // of a unit
inline constexpr int kWantedTrials = 2;  // that hold, for a unit

inline bool are_enough(int held) { return held >= kWantedTrials; }

/// Makes trials until one fails, or until enough of them hold: `is_enough` of how many do so far in
/// this unit, and what has few values has had them all, as far as they can be had. Says in `proof`
/// when no choice keeps the regions inside their buffers.
void make_trials(const Call& call, Proof& proof, const std::function<TrialOutcome(Trial)>& attempt,
                 const std::function<bool(int)>& is_enough = are_enough);

/// Carries the code out for the threads that arrive; false, and the reason in `proof`, when it does
/// something wrong or something that is not understood.
bool carry_out(ProofWalk& walk, const Call& call, const ir::Block& code, Trial trial,
               std::size_t threads, Proof& proof);

}  // namespace ww::lower
