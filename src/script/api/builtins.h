// SPDX-License-Identifier: Apache-2.0
// The tables of functions, one per file of functions.def. A row's name is the full dotted one;
// methods of values are rows too, named after the value's type: `buffer.view`, `layout.tile_to`,
// `list.append`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "script/interp/interp.h"

namespace ww::script {

#define WW_FUNCTIONS(file)                         \
  namespace file##_api {                           \
    extern const std::span<const BuiltinRow> rows; \
  }
#include "script/api/functions.def"
#undef WW_FUNCTIONS

/// Every function of ir/intrinsics.def, as it stands.
std::span<const BuiltinRow> intrinsic_rows();

/// Why a name of TVM is not taken (not_taken.def); nothing for any other.
std::optional<std::string_view> why_not_taken(std::string_view full);

/// An argument that may be left out.
Result<std::int64_t> integer_or(Interp& in, const Args& a, std::size_t i, std::string_view what,
                                std::int64_t missing);

/// Fails with an error of that kind before `T.device_entry()`.
Result<void> require_device(Interp& in, const Args& a, DiagKind kind);

/// Calls a function with one argument, as `map` and `sorted` do.
Result<Value> call_one(Interp& in, const Value& function, const Value& argument, Span span);

/// Python's `print` where the kernel's printf is meant.
Diag print_in_kernel(Span call);

}  // namespace ww::script
