// SPDX-License-Identifier: Apache-2.0
// The smallest random program that fails in the same way as a given one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lower/harness.h"
#include "lower/tape.h"

namespace ww::test {

/// What went wrong, without the numbers of this program.
inline std::string kind_of(const Checked& checked) {
  constexpr std::size_t kMost = 120;
  std::string out(name_of(checked.stage));
  const std::size_t error = checked.why.find("error: ");
  const std::string_view why =
      std::string_view(checked.why).substr(error == std::string::npos ? 0 : error);
  for (const char each : why.substr(0, std::min(kMost, why.find('\n'))))
    if (each < '0' || each > '9') out += each;
  return out;
}

/// Of one program.
struct Verdict {
  bool is_bad = false;
  std::string kind = {};
  std::string explanation = {};

  static Verdict of(const Checked& checked, bool is_bad) {
    return {is_bad, kind_of(checked), is_bad ? checked.explain() : ""};
  }
};

/// Smaller rows that still go wrong in the same way: parts left out, choices nearer to 0.
class Shrinker {
 public:
  using VerdictOf = Verdict (*)(const Choices&);
  Shrinker(VerdictOf verdict_of, Choices choices, Verdict verdict)
      : verdict_of_(verdict_of), best_(std::move(choices)), verdict_(std::move(verdict)) {}

  std::string run() {
    for (bool is_better = true; is_better && tries_ < kMaxTries;) {
      is_better = false;
      for (std::size_t chunk = 32; chunk > 0; chunk /= 2)
        for (std::size_t at = 0; at + chunk <= best_.size(); ++at)
          is_better = attempt(without(at, chunk)) || is_better;
      for (std::size_t at = 0; at < best_.size(); ++at)
        for (const std::uint32_t value : {0U, 1U, 2U, 3U})
          is_better = (best_[at] > value && attempt(with(at, value))) || is_better;
    }
    return verdict_.explanation;
  }
  /// The smallest row so far.
  [[nodiscard]] const Choices& best() const { return best_; }

 private:
  static constexpr int kMaxTries = 1500;

  [[nodiscard]] Choices without(std::size_t at, std::size_t count) const {
    Choices out = best_;
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(at);
    out.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    return out;
  }
  [[nodiscard]] Choices with(std::size_t at, std::uint32_t value) const {
    Choices out = best_;
    out[at] = value;
    return out;
  }
  bool attempt(Choices choices) {
    if (++tries_ > kMaxTries) return false;
    Verdict verdict = verdict_of_(choices);
    if (!verdict.is_bad || verdict.kind != verdict_.kind) return false;
    best_ = std::move(choices);
    verdict_ = std::move(verdict);
    return true;
  }

  VerdictOf verdict_of_;
  Choices best_;
  Verdict verdict_;
  int tries_ = 0;
};

}  // namespace ww::test
