// SPDX-License-Identifier: Apache-2.0
// Which rows a run takes: those whose name a regular expression matches.
#pragma once

#include <regex.h>

#include <string>

namespace ww::bench {

class NameFilter {
 public:
  /// POSIX, extended; empty: every name. An invalid expression takes none.
  explicit NameFilter(const std::string& expression);
  NameFilter(const NameFilter&) = delete;
  NameFilter& operator=(const NameFilter&) = delete;
  ~NameFilter();

  [[nodiscard]] bool takes(const std::string& name) const;

 private:
  regex_t compiled_{};
  bool is_valid_ = false;
};

}  // namespace ww::bench
