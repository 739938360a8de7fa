// SPDX-License-Identifier: Apache-2.0
// Bounds for the values of atoms and sums: ranges and divisors.
#pragma once

#include "ir/simplify/sum.h"

namespace ww::ir {

/// Of the sum of whole numbers, which may leave the type.
Range plain_range(const Atoms& atoms, const Sum& sum);
std::int64_t plain_divisor(const Atoms& atoms, const Sum& sum);
/// A number that divides every value of the term.
std::int64_t granularity(const Atoms& atoms, const SumTerm& term);

/// May the sum leave the type?
bool may_wrap(const Atoms& atoms, const Sum& sum, Type type);
/// What the value of a sum of that type can be: anything where it may wrap around.
Range range_of(const Atoms& atoms, const Sum& sum, Type type);
std::int64_t divisor_of(const Atoms& atoms, const Sum& sum, Type type);

/// From what the arguments of the atom can be.
Range range_of(const Atoms& atoms, const SumAtom& atom);
std::int64_t divisor_of(const Atoms& atoms, const SumAtom& atom);

}  // namespace ww::ir
