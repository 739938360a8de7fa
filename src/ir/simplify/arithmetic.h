// SPDX-License-Identifier: Apache-2.0
// Operations on sums. Nothing comes out where a number would leave 64 bits.
#pragma once

#include <optional>
#include <vector>

#include "ir/simplify/sum.h"

namespace ww::ir {

// --- arithmetic.cpp ---

/// The operation as a new atom.
Sum single(Atoms& atoms, ExprOp op, Type type, Type arg_type, std::vector<Sum> args,
           bool exact = false);
/// a + factor·b.
std::optional<Sum> plus(Atoms& atoms, const Sum& a, const Sum& b, std::int64_t factor);
std::optional<Sum> scaled(const Sum& a, std::int64_t factor);
std::optional<Sum> product(Atoms& atoms, const Sum& a, const Sum& b, Type type, bool exact);
/// The sum with the promise `exact` that it does not overflow, which counts only where the range
/// does not show it, so that equal sums are alike.
Sum promised(const Atoms& atoms, Sum sum, Type type, bool exact);
/// What an operation of that type makes. What may wrap is meant modulo 2^bits: its numbers are kept
/// small.
Sum settled(const Atoms& atoms, Sum sum, Type type, bool exact);

// --- division.cpp ---

/// x // k, where x does not wrap.
Sum floor_quotient(Atoms& atoms, const Sum& x, std::int64_t k, Type type);
/// x % k, where x does not wrap unless k divides 2^width.
Sum floor_remainder(Atoms& atoms, const Sum& x, std::int64_t k, Type type);
/// Does k divide every 2^width that a sum of the type may be off by?
bool divides_width(std::int64_t k, Type type);

// --- compare.cpp ---

Sum comparison(Atoms& atoms, ExprOp op, const Sum& a, const Sum& b, Type operands, bool exact);
/// Does `difference op 0` hold always, or never?
std::optional<bool> decided(const Atoms& atoms, ExprOp op, const Sum& difference);
/// not condition, as one atom or a constant.
Sum inverse(Atoms& atoms, const Sum& condition);

}  // namespace ww::ir
