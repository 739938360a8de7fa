// SPDX-License-Identifier: Apache-2.0
// An instruction line for a bound form, for listings and for tests that run ptxas.
#pragma once

#include <string>
#include <string_view>

#include "isa/form.h"

namespace ww::isa {

/// What the names of registers of that many bits start with in examples (1: predicates): `%rd`.
std::string_view register_prefix(int bits);

/// One legal instruction of the bound form, with its semicolon:
///
///     ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r4];
///
/// Registers are named by their width and numbered per width, no two operands share one:
///
///     .reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %rs<16>; .reg .b32 %r<300>; .reg .b64 %rd<80>;
///     .reg .b128 %rq<8>;
///
/// Addresses in shared and tensor memory are 32 bits wide, others 64; a label is called `L`;
/// results and operands that may be left out are, where that is legal. "" if the modifiers are
/// illegal whatever the operands are, and for forms whose operands the catalogue does not know
/// (call).
std::string example(const Binding& binding);

}  // namespace ww::isa
