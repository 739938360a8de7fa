// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/findings.h"

#include <iterator>
#include <utility>

namespace ww::eval {

std::string_view name_of(Check check) {
  static constexpr std::string_view kNames[] = {"uninit", "race",    "bounds",  "overflow",
                                                "async",  "barrier", "replica", "operand",
                                                "tensor", "assert"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Check::Assert) + 1);
  return kNames[static_cast<std::size_t>(check)];
}

Finding* Findings::add(Check check, std::uint32_t step, std::uint32_t buffer) {
  const auto [entry, is_new] = known_.try_emplace(Key{check, step, buffer}, findings_.size());
  if (!is_new) {
    if (entry->second < findings_.size()) ++findings_[entry->second].times;
    return nullptr;
  }
  if (findings_.size() == most_) {
    entry->second = most_;
    ++dropped_;
    return nullptr;
  }
  findings_.emplace_back().check = check;
  return &findings_.back();
}

void Findings::move_to(Report& report) {
  report.findings = std::move(findings_);
  report.dropped = dropped_;
}

}  // namespace ww::eval
