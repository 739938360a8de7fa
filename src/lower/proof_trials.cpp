// SPDX-License-Identifier: Apache-2.0
#include "lower/proof_trials.h"

namespace ww::lower {

void make_trials(const Call& call, Proof& proof, const std::function<Outcome(Trial)>& attempt,
                 const std::function<bool(int)>& is_enough) {
  const std::vector<std::int64_t> starts = call.unit_starts();
  if (starts.empty()) return;  // nobody comes here
  constexpr int kMost = 60;
  for (const std::int64_t first : {starts.front(), starts.back()}) {
    int held = 0;
    for (int sample = 0; sample < kMost; ++sample) {
      const Outcome outcome = attempt({first, sample});
      if (outcome == Outcome::Failed) return;
      held += outcome == Outcome::Skipped ? 0 : 1;
      if (outcome == Outcome::HeldAlways || is_enough(held)) break;
    }
    if (held == 0)
      proof.could_not = "no values were found that keep the regions inside their buffers";
    if (starts.size() == 1) break;
  }
}

bool carry_out(ProofWalk& walk, const Call& call, const ir::Block& code, Trial trial,
               std::size_t threads, Proof& proof) {
  Mask arriving(threads);
  for (std::size_t t = 0; t < arriving.size(); ++t)
    arriving[t] = call.active.may[static_cast<std::size_t>(trial.first_thread) + t];
  const auto ran = walk.block(code, arriving);
  if (ran) return true;
  if (ran.error().starts_with(kWrong))
    proof.difference = ran.error().substr(kWrong.size());
  else
    proof.could_not = ran.error();
  return false;
}

}  // namespace ww::lower
