// SPDX-License-Identifier: Apache-2.0
// The tables of functions, one per file of functions.def. A row's name is the full dotted one;
// methods of values are rows too, named after the value's type: `buffer.view`, `layout.tile_to`,
// `list.append`.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

#define WW_FUNCTIONS(file, title)                  \
  namespace file##_api {                           \
    extern const std::span<const BuiltinRow> rows; \
  }
#include "script/api/functions.def"
#undef WW_FUNCTIONS

/// A row by its full name; null if there is none.
const BuiltinRow* find_builtin(std::string_view name);
/// Its signature, kept for the rows of the tables; null for others.
const Signature* signature_of(const BuiltinRow& row);
/// Does any row begin with these dotted words?
bool is_namespace(std::string_view path);
/// The last words of all rows directly below a path, for suggestions.
std::vector<std::string_view> members_of(std::string_view path);

/// Every function of ir/intrinsics.def, as it stands.
std::span<const BuiltinRow> intrinsic_rows();

/// The tables with their titles, for the reference.
struct FunctionTable {
  std::string_view title;
  std::span<const BuiltinRow> rows;
};
std::span<const FunctionTable> function_tables();

/// Attributes of the values of one type, from attributes.def.
struct AttributeRow {
  std::string_view type, names;  // "axis", "name name …"
};
std::span<const AttributeRow> attribute_rows();
bool is_attribute(std::string_view type, std::string_view name);

/// What of TVM is not taken, from not_taken.def.
struct NotTaken {
  std::string_view name, reason;
  bool is_name;  // otherwise a construct in words
};
std::span<const NotTaken> not_taken_rows();
/// Why a name of TVM is not taken; nothing for any other.
std::optional<std::string_view> why_not_taken(std::string_view full);

/// An argument that may be left out.
Result<std::int64_t> integer_or(Context& in, const Args& a, std::size_t i, std::string_view what,
                                std::int64_t missing);

/// The error for a keyword that a function with `**name` does not have.
Diag no_parameter(std::string_view function, const CallArgs::Named& given);
/// The one keyword that such a function has, or null; fails for others.
Result<const CallArgs::Named*> only_keyword(const Args& a, std::string_view function,
                                            std::string_view name);

/// Fails with an error of that kind before `T.device_entry()`.
Result<void> require_device(Context& in, const Args& a, DiagKind kind);

/// Python's `print` where the kernel's printf is meant.
Diag print_in_kernel(Span call);

}  // namespace ww::script
