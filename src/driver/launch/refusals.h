// SPDX-License-Identifier: Apache-2.0
// The errors of a run that the user can do something about.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/source.h"

namespace ww::driver {

/// What the user can do something about, rendered.
struct Refusals {
  std::string text;

  // Both return false.
  bool add(const Diag& problem) {
    text += render(problem);
    return false;
  }
  bool add(const Diag& problem, std::string_view name, std::string_view source) {
    text += render(problem, SourceText(std::string(name), std::string(source)));
    return false;
  }
  // Keeps the value of something that was read from an option.
  template <typename T, typename To>
  bool keep(Result<T> result, To& to, std::string_view option, std::string_view source) {
    if (!result) return add(result.error(), option, source);
    to = std::move(*result);
    return true;
  }
};

/// What `run` gives, or `otherwise` where the host has no memory for it.
template <typename Outcome, typename Run>
Outcome within_memory(const Run& run, Outcome otherwise) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return otherwise;
  } catch (const std::length_error&) {  // what a vector says to a size beyond all memory
    return otherwise;
  }
}

}  // namespace ww::driver
