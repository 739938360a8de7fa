// SPDX-License-Identifier: Apache-2.0
// Arithmetic on raw bits of an element type, for many threads at once. A value is the element's
// bits in the low bits of a word, zeros above. Integers wrap at their width; every operation on a
// float type is rounded once to that type; a NaN that an operation makes is the type's canonical
// NaN.
#pragma once

#include <cstdint>
#include <span>

#include "ir/function.h"
#include "num/dtype.h"

namespace ww::eval {

using Word = std::uint64_t;

/// The low `bits` bits set; all of them from 64 on.
constexpr Word low_mask(int bits) { return bits >= 64 ? ~Word{0} : (Word{1} << bits) - 1; }

/// The bits as an integer: sign-extended for signed types, 0 or 1 for bool.
std::int64_t as_int(num::DType type, Word bits);
/// The same for many values of one type.
class IntReader {
 public:
  explicit IntReader(num::DType type)
      : unused_(num::kind_of(type) == num::DTypeKind::Int ? 64 - num::bits_of(type) : 0),
        is_bool_(num::kind_of(type) == num::DTypeKind::Bool) {}
  std::int64_t operator()(Word bits) const {
    if (is_bool_) return bits != 0 ? 1 : 0;
    return static_cast<std::int64_t>(bits << unused_) >> unused_;
  }

 private:
  int unused_;  // upper bits, which repeat the sign
  bool is_bool_;
};
/// The bits as a number; 64-bit integers are rounded to odd, so that one later rounding to a
/// narrower format is right.
double as_real(num::DType type, Word bits);
/// The element nearest to a number. Floats of 8 bits and fewer saturate, as the hardware's
/// conversions do; integers drop the fraction and saturate, NaN gives 0; bool: is it not 0.
Word from_real(num::DType type, double value);
/// Wrapped to the type's width; to a float type by value.
Word from_int(num::DType type, std::int64_t value);
/// Conversion by value.
Word convert(num::DType from, num::DType to, Word bits);

/// out[i] = a[i] op b[i] for operators of two operands; all three have the same length, or `b` is one
/// word for all, and `out` may be one of the others. Division by zero gives all ones, modulo zero the dividend. Comparisons
/// give 0 or 1.
void binary(ir::ExprOp op, num::DType type, std::span<const Word> a, std::span<const Word> b,
            std::span<Word> out);
/// Neg, BitNot, Not.
void unary(ir::ExprOp op, num::DType type, std::span<const Word> a, std::span<Word> out);

/// The pure functions of intrinsics.def over numbers (mathematics, abs, popcount, clz, …), one
/// value of each argument. Bool results are 0 or 1.
Word pure_call(ir::Intrinsic callee, num::DType type, std::span<const Word> args);

/// A mathematical function of one number, as exactly as the host's double has it.
double host_function(ir::Intrinsic callee, double x);

/// a·b + c with one rounding.
Word fused(num::DType type, Word a, Word b, Word c);

}  // namespace ww::eval
