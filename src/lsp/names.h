// SPDX-License-Identifier: Apache-2.0
// The names of the language as `warpwright reference` has them, by the names that a file gives to
// its modules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/analysis.h"

namespace ww::lsp {

// --- scopes --------------------------------------------------------------------------------------
//
// Which statement binds a name, by Python's rules for scopes: the innermost function around a
// place, then those around it, then the file.

/// A name that is bound, and what binds it.
struct Binding {
  enum class Kind : std::uint8_t { Variable, Parameter, Function, Class, Import };
  Kind kind = Kind::Variable;
  std::string name;
  Span span;                    // of the name where it is bound
  std::string module = {};      // Import: "tiles", ".tiles"; empty for `import tiles`
  std::string imported = {};    // Import: "build", or the path of `import a.b`
  std::string parameters = {};  // Function: "(num, direction=\"ld\")"
};

/// What a place sees, the innermost scope first; of a name bound several times in a scope the last
/// before the place stands before the others.
std::vector<Binding> visible_at(const Syntax& syntax, std::size_t offset);
std::optional<Binding> binding_of(const Syntax& syntax, std::string_view name, std::size_t offset);
/// A name of the file itself.
std::optional<Binding> binding_in_file(const Syntax& syntax, std::string_view name);

/// A function or value of the language.
struct ApiName {
  std::string name;       // the last word: "copy"
  std::string signature;  // "Tx.cta.copy(dst, src, predicate=None)"
  std::string about;      // "Buffers", or variants and settings of a primitive
  bool is_function = true;
  std::vector<std::string> parameters = {};  // without defaults: "dst"
  std::vector<std::string> keywords = {};    // of a primitive: its settings
};

/// A path of the file as the reference has it: with `import … as tir`, "tir.cast" is "T.cast". A
/// buffer's members are below "B".
std::string reference_path(const Analysis& analysis, std::string_view path);

/// By its path in the reference.
std::optional<ApiName> find_api(std::string_view path);
/// The names directly below a path; for "" names without one.
std::vector<ApiName> api_members(std::string_view path);
/// The namespaces directly below a path: "cuda" below "T".
std::vector<std::string> api_namespaces(std::string_view path);

/// The texts that a parameter or setting of a function takes; empty: any, or none.
std::vector<std::string> values_of(std::string_view path, std::string_view parameter);

/// The last word of a dotted path.
std::string_view last_word(std::string_view path);

}  // namespace ww::lsp
