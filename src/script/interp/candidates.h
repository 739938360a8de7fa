// SPDX-License-Identifier: Apache-2.0
// What a file's text tells before it runs: its dialect, and the kernels it offers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "script/compile.h"
#include "script/syntax/ast.h"

namespace ww::script {

/// The newer dialect imports the tile namespace, or reaches it through `T`.
Dialect dialect_of(const Ast& ast, const SymbolTable& symbols);

/// A kernel that a file offers: for messages and listings.
struct Candidate {
  std::string name;                       // "scale", or a builder's name
  std::string parameters;                 // "(A_ptr: T.handle)", "(num, direction=\"ld\")"
  bool is_builder = false;                // a function with a kernel inside
  bool is_callable = false;               // a builder that can be called without arguments
  std::vector<std::string> kernels = {};  // of a builder: the names defined inside
  Span name_span = {};                    // of the function's name, in the file
  Span span = {};                         // of its whole definition

  /// What chooses it, where nothing else has to be given: "scale", "build()::gemm". Empty for a
  /// builder that needs arguments.
  [[nodiscard]] std::string expression() const;
};

/// Kernels and builders at the top level of a file, each name once.
std::vector<Candidate> candidates_of(const Ast& ast, const SymbolTable& symbols,
                                     std::string_view source);

/// Whether the file has a value `kernel`: what one offers that builds kernels of other files.
bool binds_kernel(const Ast& ast, const SymbolTable& symbols);

/// The error for a file that has not exactly one.
Diag choose_one(const std::vector<Candidate>& candidates);

}  // namespace ww::script
