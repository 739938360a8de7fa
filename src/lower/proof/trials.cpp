// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/trials.h"

#include <algorithm>

namespace ww::lower {
namespace {

/// The values that need not be chosen again: those of trials that held, and those of two that were
/// skipped, which a condition around the call may rule out.
class Settled {
 public:
  void add(const FewValues& chosen, bool is_skipped) {
    for (const auto& [key, values] : chosen) {
      std::vector<int>& points = points_.try_emplace(key, values.size()).first->second;
      for (std::size_t i = 0; i < std::min(points.size(), values.size()); ++i)
        if (values[i]) points[i] += is_skipped ? 1 : kEnough;
    }
  }
  [[nodiscard]] bool all() const {
    return std::all_of(points_.begin(), points_.end(), [](const auto& each) {
      return *std::min_element(each.second.begin(), each.second.end()) >= kEnough;
    });
  }

 private:
  static constexpr int kEnough = 2;
  std::map<std::string, std::vector<int>> points_;
};

}  // namespace

void make_trials(const Call& call, Proof& proof, const std::function<TrialOutcome(Trial)>& attempt,
                 const std::function<bool(int)>& is_enough) {
  const std::vector<std::int64_t> starts = call.unit_starts();
  if (starts.empty()) return;  // nobody comes here
  constexpr int kMaxForFew = 16;
  for (const std::int64_t first : {starts.front(), starts.back()}) {
    int held = 0;
    Settled settled;
    UnitTables tables;
    for (int sample = 0; sample < kMaxTrials; ++sample) {
      FewValues chosen;
      const TrialOutcome outcome = attempt({first, sample, &chosen, &tables});
      if (outcome == TrialOutcome::Failed) return;
      held += outcome == TrialOutcome::Skipped ? 0 : 1;
      settled.add(chosen, outcome == TrialOutcome::Skipped);
      if (outcome == TrialOutcome::HeldAlways) break;
      if (is_enough(held) && (sample >= kMaxForFew || settled.all())) break;
    }
    if (held == 0)
      proof.could_not = "no values were found that keep the regions inside their buffers";
    if (starts.size() == 1) break;
  }
}

TrialOutcome Goal::run() {
  const auto fails = [&](const Unproven& why) {
    (why.kind == Unproven::Kind::Wrong ? proof_.difference : proof_.could_not) = why.text;
    return TrialOutcome::Failed;
  };
  const auto is_inside = prepare();
  if (!is_inside) return fails({.text = is_inside.error().text});
  if (!*is_inside) return TrialOutcome::Skipped;
  if (const auto compared = compare(); !compared) return fails(compared.error());
  return values_.has_sampled() || has_chosen() ? TrialOutcome::Held : TrialOutcome::HeldAlways;
}

Try<void> Goal::carry_out(ProofWalk& walk) {
  Mask arriving(values_.threads());
  const auto of_cta = static_cast<std::size_t>(call_.context.launch.threads());
  for (std::size_t t = 0; t < arriving.size(); ++t)
    arriving[t] = call_.active.may[(static_cast<std::size_t>(trial_.first_thread) + t) % of_cta];
  return walk.block(code_, arriving);
}

}  // namespace ww::lower
