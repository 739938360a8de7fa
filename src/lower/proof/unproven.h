// SPDX-License-Identifier: Apache-2.0
// Why a step of a proof fails. Code that is wrong is a bug of the compiler; code that the proof
// does not understand may be right.
#pragma once

#include <cstdint>
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
using Try = Expected<T, Unproven>;

inline Unexpected<Unproven> unproven_with(Unproven::Kind kind, fmt::string_view format,
                                          fmt::format_args args) {
  return Unexpected(Unproven{kind, fmt::vformat(format, args)});
}

template <typename... Args>
Unexpected<Unproven> wrong(fmt::format_string<Args...> format, Args&&... args) {
  return unproven_with(Unproven::Kind::Wrong, format, fmt::make_format_args(args...));
}

template <typename... Args>
Unexpected<Unproven> unknown(fmt::format_string<Args...> format, Args&&... args) {
  return unproven_with(Unproven::Kind::Unknown, format, fmt::make_format_args(args...));
}

}  // namespace ww::lower
