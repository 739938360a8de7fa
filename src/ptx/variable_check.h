// SPDX-License-Identifier: Apache-2.0
// Sizes of variables, and what is checked about variables, parameters and registers by themselves:
// their types, extents and initial values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/diag.h"
#include "ptx/module.h"
#include "ptx/scope.h"
#include "target/target.h"

namespace ww::ptx {

/// The reader refuses variables that are larger, so that sizes can be added up without care.
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40U;

/// How many bytes a variable takes, all members of a family together. 0 where only the launch says
/// so (`[]`); never more than kMaxVariableBytes.
std::uint64_t size_in_bytes(const Variable& variable);
/// The distance between two members of a family.
std::uint64_t member_bytes(const Variable& variable);
/// The alignment that is given, or that of the type; at least 1.
std::uint64_t align_in_bytes(const Variable& variable);

std::optional<Diag> variable_problem(const Module& module, const Variable& variable,
                                     target::Target target);
/// State spaces that only functions have.
std::optional<Diag> global_problem(const Module& module, const Variable& variable);
/// Extents that are missing; for variables, not for parameters of functions.
std::optional<Diag> extents_problem(const Module& module, const Variable& variable);
/// What parameters may not be besides.
std::optional<Diag> parameter_problem(const Module& module, const Variable& param,
                                      FunctionKind kind);
std::optional<Diag> register_problem(const Function& function, const RegisterDecl& decl,
                                     target::Target target);
/// Whether the initial value has the shape and type of the variable, and names only what is
/// declared before it: by the module's items before `item`, or, without one, in the scope of a
/// function.
std::optional<Diag> initializer_problem(const Module& module, const Scope& scope,
                                        const Variable& variable,
                                        std::optional<std::size_t> item = std::nullopt);

}  // namespace ww::ptx
