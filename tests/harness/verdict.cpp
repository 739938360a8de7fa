// SPDX-License-Identifier: Apache-2.0
#include "harness/verdict.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "harness/shrink.h"

namespace ww::test {
namespace {

constexpr int kMaxTries = 1500;

Choices without(Choices row, std::size_t at, std::size_t count) {
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(at);
  row.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  return row;
}

Choices with(Choices row, std::size_t at, std::int64_t value) {
  row[at] = value;
  return row;
}

}  // namespace

std::string kind_of(const Checked& checked) {
  constexpr std::size_t kMax = 120;
  std::string out(name_of(checked.stage));
  const std::size_t error = checked.why.find("error: ");
  const std::string_view why =
      std::string_view(checked.why).substr(error == std::string::npos ? 0 : error);
  for (const char each : why.substr(0, std::min(kMax, why.find('\n'))))
    if (each < '0' || each > '9') out += each;
  return out;
}

Verdict Verdict::of(const Checked& checked, bool is_bad) {
  return {is_bad, kind_of(checked), is_bad ? checked.explain() : ""};
}

Choices shrink_choices(VerdictOf verdict_of, Choices choices, Verdict& verdict) {
  const auto still_fails = [&](const Choices& row) {
    Verdict now = verdict_of(row);
    if (!now.is_bad || now.kind != verdict.kind) return false;
    verdict = std::move(now);
    return true;
  };
  Shrinker<Choices> shrinker(std::move(choices), still_fails, kMaxTries);
  for (bool is_better = true; is_better && !shrinker.is_over();) {
    is_better = false;
    for (std::size_t chunk = 32; chunk > 0; chunk /= 2)
      for (std::size_t at = 0; at + chunk <= shrinker.best().size(); ++at)
        is_better = shrinker.attempt(without(shrinker.best(), at, chunk)) || is_better;
    for (std::size_t at = 0; at < shrinker.best().size(); ++at)
      for (const std::int64_t value : {0, 1, 2, 3})
        if (shrinker.best()[at] > value)
          is_better = shrinker.attempt(with(shrinker.best(), at, value)) || is_better;
  }
  return shrinker.best();
}

}  // namespace ww::test
