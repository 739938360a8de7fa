// SPDX-License-Identifier: Apache-2.0
// Checks of our own invariants. `WW_CHECK(cond, "fmt {}", value)` states something that holds
// unless Warpwright itself is wrong; a failed check throws `BugError`, which the program turns into
// exit status 3. User input is never checked this way: bad input gets a `Diag` (base/diag.h).
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ww {

/// A broken internal promise. Only the outermost layer of a program should catch it.
class BugError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws BugError with the place and the facts; used through WW_CHECK.
[[noreturn]] void raise_bug(const char* file, int line, const char* condition, std::string facts);

}  // namespace ww

#define WW_CHECK(condition, ...)                                                   \
  do {                                                                             \
    if (!(condition)) [[unlikely]]                                                 \
      ::ww::raise_bug(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
