// SPDX-License-Identifier: Apache-2.0
// From tables back to expressions: a table over one number becomes a sum of its digits times
// strides (layout/fit.h finds them), a set of numbers becomes a condition.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "layout/layout.h"
#include "lower/as_index.h"
#include "lower/code_writer.h"
#include "lower/operand_places.h"

namespace ww::lower {

/// One past the largest int32.
inline constexpr std::int64_t kInt32End = std::int64_t{1} << 31;

/// values[i] = offset + Σ digits of i times strides.
std::optional<layout::TileLayout> fit_table(std::span<const std::int64_t> values);
/// The same where only some entries count: those with `used`. Entries that do not count are filled
/// in such that the table is regular, if it can be.
std::optional<layout::TileLayout> fit_table(std::span<const std::int64_t> values,
                                            const std::vector<bool>& used);
/// The formula of such a layout at `i`, which lies in the table.
ir::ExprId digits_expr(CodeWriter& code, const layout::TileLayout& form, ir::ExprId i);
/// The swizzled address as a formula.
ir::ExprId swizzle_expr(CodeWriter& code, const layout::Swizzle& swizzle, ir::ExprId address);

/// A condition that holds for the members among 0 … set.size()-1; none when all are.
ir::ExprId member_expr(CodeWriter& code, ir::ExprId u, const std::vector<bool>& set);

// --- addresses -----------------------------------------------------------------------------------

// From addresses back to expressions. Plans are found on enumerated tables (which address does
// thread u touch in round k?); code wants short formulas. A table over threads and rounds becomes,
// in this order,
//
//     T(u) + D(k)      one part per thread, computed once, and one per round, often constant
//     (T(u) ^ X(k)) + D(k)    the same for swizzled addresses: X has the bits that some T(u) has too,
//                      so rounds that differ in D alone share a register and differ in an offset
//     swizzle(base + T(u)) + D(k)     where a runtime base reaches below the swizzle's period
//     swizzle(L(u,k))  the unswizzled address as a formula of k·threads + u, swizzled each time
//
// Every recovered form has been compared with the whole table.

/// Addresses of threads in rounds: linear[k * threads + u], before the swizzle, for used[u]; all
/// other threads do not take part. A runtime base is added before the swizzle; it is a multiple of
/// `base_divisor` (0: there is none).
struct AddressTable {
  std::int64_t threads = 1;
  std::int64_t rounds = 1;
  std::vector<std::int64_t> linear;
  std::vector<bool> used;
  std::int64_t count = 0;  // entries that count: k·threads + u below it; 0: all
  layout::Swizzle swizzle = {};
  std::int64_t base_divisor = 0;

  [[nodiscard]] std::int64_t at(std::int64_t u, std::int64_t k) const {
    return linear[as_index(k * threads + u)];
  }
  /// Where thread u is in round k, behind the swizzle.
  [[nodiscard]] std::int64_t place(std::int64_t u, std::int64_t k) const {
    return swizzle(at(u, k));
  }
  [[nodiscard]] bool counts(std::int64_t u, std::int64_t k) const {
    return used[as_index(u)] && (count == 0 || k * threads + u < count);
  }
};

struct AddressForm {
  enum class Kind : std::uint8_t { Sum, Xor, Joint };
  Kind kind = Kind::Sum;
  layout::TileLayout thread;      // T before its swizzle; Joint: over k·threads + u
  layout::TileLayout round = {};  // D; none in Joint
  layout::TileLayout flips = {};  // X, in Xor only
  layout::Swizzle swizzle;        // applied to T, or to the whole for Joint
  bool base_inside = false;       // the base is added before the swizzle, not behind it
};

/// Nothing when the addresses are irregular.
std::optional<AddressForm> find_form(const AddressTable& table);

/// The part of an address that does not depend on the round, to be bound before the loop over them,
/// and what is added to the rest: none, or a runtime base. Kept apart, so that the rest of an
/// address in a loop over tiles need not be computed again for each.
struct ThreadPart {
  ir::ExprId fixed;
  ir::ExprId base;
};
ThreadPart thread_part(CodeWriter& code, const AddressForm& form, ir::ExprId u, ir::ExprId base);
ir::ExprId address_expr(CodeWriter& code, const AddressForm& form, const ThreadPart& part,
                        ir::ExprId u, ir::ExprId k, std::int64_t threads);

/// The addresses of an operand: a formula each for the constant part and for what multiplies each
/// runtime stride.
struct PlaceForm {
  AddressForm form;
  std::vector<std::pair<ir::ExprId, AddressForm>> strides = {};
};
/// `table` has the constant parts; `first` the elements, or -1, by its entries.
std::optional<PlaceForm> find_place_form(const OperandPlaces& side, AddressTable table,
                                         std::span<const std::int32_t> first);
/// What the rounds have in common: of the form, then of each stride.
std::vector<ThreadPart> place_parts(CodeWriter& code, const PlaceForm& form, ir::ExprId u,
                                    ir::ExprId base);
/// The place in round k, not simplified.
ir::ExprId place_expr(CodeWriter& code, const PlaceForm& form, std::span<const ThreadPart> parts,
                      ir::ExprId u, ir::ExprId k, std::int64_t threads);

}  // namespace ww::lower
