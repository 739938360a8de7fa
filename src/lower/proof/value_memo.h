// SPDX-License-Identifier: Apache-2.0
// The values of expressions that are known already, each with the variables that it was computed
// from: when one of those changes, the value is forgotten. The memo finds out which they are: a
// computation asks it for the values of its parts, and tells it each variable that it reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stable_vec.h"
#include "ir/function.h"
#include "lower/as_index.h"
#include "lower/proof/per_unit.h"
#include "lower/proof/unproven.h"

namespace ww::lower {

class ValueMemo {
 public:
  /// The value of the expression with this number. If it is not known, `compute` returns it, as a
  /// `Try<PerUnit>`, or says why not; failures are not remembered. The value stays where it is until
  /// a variable changes.
  template <typename Compute>
  Try<const PerUnit*> value(std::uint32_t number, Compute&& compute) {
    if (depth_ == 0) read_.clear();
    Entry& entry = at(number);
    if (entry.is_known) {
      if (depth_ > 0) read_.insert(read_.end(), entry.vars.begin(), entry.vars.end());
      return &entry.value;
    }
    const auto before = static_cast<std::ptrdiff_t>(read_.size());
    ++depth_;
    Try<PerUnit> out = compute();
    --depth_;
    if (!out) return std::move(out).failure();
    note_vars(number, entry.vars, before);
    entry.value = *std::move(out);
    entry.is_known = true;
    return &entry.value;
  }
  /// The variable is read by what is being computed.
  void note_read(ir::VarId var) { read_.push_back(var.index); }

  /// The variable has another value from now on.
  void forget(ir::VarId var) {
    const auto readers = readers_.find(var.index);
    if (readers == readers_.end()) return;
    for (const std::uint32_t number : readers->second) entries_[number].is_known = false;
  }
  void forget_all() {
    entries_ = {};
    readers_.clear();
  }

 private:
  struct Entry {
    PerUnit value;
    std::vector<std::uint32_t> vars = {};  // sorted
    bool is_known = false;
  };
  Entry& at(std::uint32_t number) {
    while (entries_.size() <= number) entries_.push_back({});
    return entries_[number];
  }
  /// The value was computed from the variables in `read_` from `before` on; they replace `vars`.
  void note_vars(std::uint32_t number, std::vector<std::uint32_t>& vars, std::ptrdiff_t before) {
    std::sort(read_.begin() + before, read_.end());
    read_.erase(std::unique(read_.begin() + before, read_.end()), read_.end());
    const auto read = std::span(read_).subspan(as_index(before));
    if (std::ranges::equal(read, vars)) return;
    for (const std::uint32_t var : read)
      if (!std::binary_search(vars.begin(), vars.end(), var)) readers_[var].push_back(number);
    vars.assign(read.begin(), read.end());
  }

  StableVec<Entry> entries_;  // by number: computing one adds others
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> readers_;  // by variable: numbers
  std::vector<std::uint32_t> read_;  // variables, by what is being computed
  int depth_ = 0;                    // of what is being computed
};

}  // namespace ww::lower
