// SPDX-License-Identifier: Apache-2.0
// Why a step of a proof fails. Code that is wrong is a bug of the compiler; code that the proof
// does not understand may be right.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace ww::lower {

struct Unproven {
  enum class Kind : std::uint8_t {
    Wrong,    // no right code does this
    Unknown,  // not understood here
  };
  Kind kind = Kind::Unknown;
  std::string text;
};

/// What a step of a proof gives, or why it could not be made.
template <typename T>
using Try = std::expected<T, Unproven>;

template <typename... Args>
std::unexpected<Unproven> wrong(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Unproven{Unproven::Kind::Wrong, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
std::unexpected<Unproven> unknown(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Unproven{Unproven::Kind::Unknown, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace ww::lower

namespace ww {
/// For WW_TRY in functions that return a Try.
inline std::unexpected<lower::Unproven> fail(lower::Unproven why) {
  return std::unexpected(std::move(why));
}
}  // namespace ww
