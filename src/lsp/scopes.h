// SPDX-License-Identifier: Apache-2.0
// Which statement binds a name, by Python's rules for scopes: the innermost function around a
// place, then those around it, then the file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/analysis.h"

namespace ww::lsp {

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

}  // namespace ww::lsp
