// SPDX-License-Identifier: Apache-2.0
// The words of PTX declarations: state spaces, linkage, handle types. Written with their dot.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/module.h"

namespace ww::ptx {

/// ".global"
std::string_view word_of(Space space);
/// ".visible"; "" for None.
std::string_view word_of(Linkage linkage);
/// ".texref"; "" for None.
std::string_view word_of(Opaque opaque);

// The value of a word, if it is one of this kind.
std::optional<Space> space_of(std::string_view word);
std::optional<Linkage> linkage_of(std::string_view word);
std::optional<Opaque> opaque_of(std::string_view word);
/// 2, 4 or 8 for ".v2", ".v4", ".v8".
std::optional<std::uint8_t> vector_of(std::string_view word);
/// A type that variables and registers can have: ".b32", not ".bf16".
std::optional<isa::Type> declared_type_of(std::string_view word);
/// A row of directives.def, or Pragma.
std::optional<DirectiveKind> directive_of(std::string_view word);

}  // namespace ww::ptx
