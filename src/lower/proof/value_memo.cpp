// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/value_memo.h"

#include <algorithm>
#include <span>

#include "lower/as_index.h"

namespace ww::lower {

void ValueMemo::forget(ir::VarId var) {
  const auto readers = readers_.find(var.index);
  if (readers == readers_.end()) return;
  for (const std::uint32_t number : readers->second) entries_[number].is_known = false;
}

void ValueMemo::note_vars(std::uint32_t number, std::vector<std::uint32_t>& vars,
                          std::ptrdiff_t before) {
  std::sort(read_.begin() + before, read_.end());
  read_.erase(std::unique(read_.begin() + before, read_.end()), read_.end());
  const auto read = std::span(read_).subspan(as_index(before));
  if (std::ranges::equal(read, vars)) return;
  for (const std::uint32_t var : read)
    if (!std::binary_search(vars.begin(), vars.end(), var)) readers_[var].push_back(number);
  vars.assign(read.begin(), read.end());
}

}  // namespace ww::lower
