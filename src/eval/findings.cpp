// SPDX-License-Identifier: Apache-2.0
#include "eval/findings.h"

#include <utility>

namespace ww::eval {

std::string_view name_of(Check check) {
  switch (check) {
    case Check::Uninit:
      return "uninit";
    case Check::Race:
      return "race";
    case Check::Bounds:
      return "bounds";
    case Check::Overflow:
      return "overflow";
    case Check::Async:
      return "async";
    case Check::Barrier:
      return "barrier";
    case Check::Replica:
      return "replica";
    case Check::Operand:
      return "operand";
    case Check::Tensor:
      return "tensor";
    case Check::Assert:
      return "assert";
  }
  return "?";
}

Finding* Findings::add(Check check, std::uint32_t op, std::uint32_t buffer) {
  const auto [entry, is_new] = known_.try_emplace(Key{check, op, buffer}, findings_.size());
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
