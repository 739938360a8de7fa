// SPDX-License-Identifier: Apache-2.0
#include "name_filter.h"

namespace ww::bench {

NameFilter::NameFilter(const std::string& expression)
    : is_valid_(::regcomp(&compiled_, expression.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}

NameFilter::~NameFilter() {
  if (is_valid_) ::regfree(&compiled_);
}

bool NameFilter::takes(const std::string& name) const {
  return is_valid_ && ::regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace ww::bench
