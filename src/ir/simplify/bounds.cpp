// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/bounds.h"

#include <algorithm>
#include <numeric>

#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

// The multiples of n inside the range; the range itself where there is none.
Range tightened(Range r, std::int64_t n) {
  if (n <= 1 || range::is_far(r.min) || range::is_far(r.max)) return r;
  const Range tight{-floor_div(-r.min, n) * n, floor_div(r.max, n) * n};
  return tight.min <= tight.max ? tight : r;
}

Range intersection(Range a, Range b) {
  const Range both{std::max(a.min, b.min), std::min(a.max, b.max)};
  return both.min <= both.max ? both : a;
}

// Quotients are monotone in each argument while the divisor keeps its sign.
template <typename Divide>
Range quotients(Range x, Range y, Range otherwise, const Divide& divide) {
  if (y.min <= 0 && y.max >= 0) return otherwise;
  if (range::is_far(x.min) || range::is_far(x.max) || range::is_far(y.min) || range::is_far(y.max))
    return otherwise;
  Range out{divide(x.min, y.min), divide(x.min, y.min)};
  for (const std::int64_t a : {x.min, x.max})
    for (const std::int64_t b : {y.min, y.max})
      out = range::hull(out, {divide(a, b), divide(a, b)});
  // The quotient of greatest size may lie at 0 // y, between the corners of x.
  return x.min < 0 && x.max > 0 ? range::hull(out, {0, 0}) : out;
}

Range floor_remainders(Range x, Range y, std::int64_t step, Range otherwise) {
  if (y.min >= 1) {
    if (range::is_single(y) && range::in_one_block(x, y.min))
      return {floor_mod(x.min, y.min), floor_mod(x.max, y.min)};
    if (x.min >= 0 && x.max < y.min) return x;
    const std::int64_t most = range::is_single(y) ? y.min - std::gcd(step, y.min) : y.max - 1;
    const Range out{0, range::is_far(y.max) ? otherwise.max : most};
    return x.min >= 0 ? Range{0, std::min(out.max, x.max)} : out;
  }
  if (y.max <= -1 && !range::is_far(y.min)) return {y.min + 1, 0};
  return otherwise;
}

Range trunc_remainders(Range x, Range y, Range otherwise) {
  const std::int64_t size = std::max(y.max < 0 ? -y.max : y.max, y.min < 0 ? -y.min : y.min);
  const bool may_be_zero = y.min <= 0 && y.max >= 0;
  if (range::is_far(size) || may_be_zero) return otherwise;
  return {x.min >= 0 ? 0 : std::max(x.min, -(size - 1)),
          x.max <= 0 ? 0 : std::min(x.max, size - 1)};
}

Range bits(ExprOp op, Range x, Range y, Range otherwise) {
  const bool both = x.min >= 0 && y.min >= 0;
  if (op == ExprOp::BitAnd) {
    if (both) return {0, std::min(x.max, y.max)};
    if (x.min >= 0) return {0, x.max};
    if (y.min >= 0) return {0, y.max};
    return otherwise;
  }
  const std::int64_t most = std::max(x.max, y.max);
  return both && !range::is_far(most) ? Range{0, range::mask_over(most)} : otherwise;
}

Range shifted(ExprOp op, Range x, Range y, Range otherwise) {
  if (y.min < 0 || y.max > 61) return otherwise;
  const auto power = [](std::int64_t n) { return std::int64_t{1} << n; };
  if (op == ExprOp::Shl) return range::multiply(x, {power(y.min), power(y.max)});
  return range::hull(range::floor_div(x, power(y.min)), range::floor_div(x, power(y.max)));
}

// The range, or all of the type when a value may leave that.
Range unless_wrapped(Range r, Range any) { return range::within(r, any) ? r : any; }

Range absolute(Range x) {
  const Range mirrored{-x.max, -x.min};
  if (x.min >= 0) return x;
  if (x.max <= 0) return mirrored;
  return {0, std::max(x.max, mirrored.max)};
}

}  // namespace

Range range_of(const Atoms& atoms, const SumAtom& atom) {
  if (!is_index(atom.type)) return range::kAll;
  const Range any = range::of_type(atom.type.dtype);
  const Type arg_type = atom.source.valid() && !atom.args.empty()
                            ? atoms.function()[atoms.function()[atom.source].args[0]].type
                            : atom.arg_type;
  const auto arg = [&](std::size_t i) {
    return is_index(arg_type) ? range_of(atoms, atom.args[i], arg_type) : range::kAll;
  };
  switch (atom.op) {
    case ExprOp::Var: {
      const VarId var = atoms.function()[atom.source].var;
      const Range known =
          atoms.facts().range(var) ? intersection(any, *atoms.facts().range(var)) : any;
      return tightened(known, atoms.facts().divisor(var));
    }
    case ExprOp::Mul: {
      const Range products = range::multiply(arg(0), arg(1));
      return atom.exact ? products : unless_wrapped(products, any);
    }
    case ExprOp::FloorDiv: {
      const Range by = arg(1);
      if (range::is_single(by) && by.min >= 1) return range::floor_div(arg(0), by.min);
      return unless_wrapped(quotients(arg(0), by, any, floor_div<std::int64_t>), any);
    }
    case ExprOp::TruncDiv:
      return unless_wrapped(
          quotients(arg(0), arg(1), any, [](std::int64_t a, std::int64_t b) { return a / b; }),
          any);
    case ExprOp::FloorMod:
      return floor_remainders(arg(0), arg(1), divisor_of(atoms, atom.args[0], arg_type), any);
    case ExprOp::TruncMod:
      return trunc_remainders(arg(0), arg(1), any);
    case ExprOp::Min:
      return {std::min(arg(0).min, arg(1).min), std::min(arg(0).max, arg(1).max)};
    case ExprOp::Max:
      return {std::max(arg(0).min, arg(1).min), std::max(arg(0).max, arg(1).max)};
    case ExprOp::BitAnd:
    case ExprOp::BitOr:
    case ExprOp::BitXor:
      return bits(atom.op, arg(0), arg(1), any);
    case ExprOp::Shl:
      return unless_wrapped(shifted(atom.op, arg(0), arg(1), any), any);
    case ExprOp::Shr:
      return shifted(atom.op, arg(0), arg(1), any);
    case ExprOp::BitNot:
      return any.min < 0 ? range::add(range::scale(arg(0), -1), {-1, -1}) : any;
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return range::hull(range_of(atoms, atom.args[1], atom.type),
                         range_of(atoms, atom.args[2], atom.type));
    case ExprOp::Cast:
      return is_index(arg_type) && range::within(arg(0), any) ? arg(0) : any;
    case ExprOp::Call: {
      const Intrinsic callee = atoms.function()[atom.source].callee;
      if (callee == Intrinsic::Abs) return unless_wrapped(absolute(arg(0)), any);
      if (is_its_argument(callee)) return arg(0);
      if (callee == Intrinsic::Popcount || callee == Intrinsic::Clz)
        return {0, num::bits_of(atom.type.dtype)};
      return callee == Intrinsic::ElectSync ? Range{0, 1} : any;
    }
    default:
      return any;
  }
}

std::int64_t divisor_of(const Atoms& atoms, const SumAtom& atom) {
  if (!is_index(atom.type)) return 1;
  const auto arg = [&](std::size_t i) { return divisor_of(atoms, atom.args[i], atom.type); };
  switch (atom.op) {
    case ExprOp::Var:
      return atoms.facts().divisor(atoms.function()[atom.source].var);
    case ExprOp::Mul: {
      const std::int64_t both = checked_mul(arg(0), arg(1)).value_or(std::max(arg(0), arg(1)));
      const Range products = range::multiply(range_of(atoms, atom.args[0], atom.type),
                                             range_of(atoms, atom.args[1], atom.type));
      // What wraps around keeps its powers of two.
      const bool wraps = !atom.exact && !range::within(products, range::of_type(atom.type.dtype));
      return wraps ? range::power_in(both) : both;
    }
    case ExprOp::FloorDiv:
    case ExprOp::TruncDiv: {
      if (!atom.args[1].is_constant() || atom.args[1].constant < 1) return 1;
      const std::int64_t k = atom.args[1].constant;
      return arg(0) != 0 && arg(0) % k == 0 ? arg(0) / k : 1;
    }
    case ExprOp::FloorMod:
    case ExprOp::TruncMod:
    case ExprOp::Min:
    case ExprOp::Max:
      return std::max<std::int64_t>(1, std::gcd(arg(0), arg(1)));
    case ExprOp::BitAnd:
      return std::max(range::power_in(arg(0)), range::power_in(arg(1)));
    case ExprOp::BitOr:
    case ExprOp::BitXor:
      return std::min(range::power_in(arg(0)), range::power_in(arg(1)));
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return std::max<std::int64_t>(1, std::gcd(arg(1), arg(2)));
    case ExprOp::Shl:
      return std::max<std::int64_t>(1, range::power_in(arg(0)));
    case ExprOp::Cast: {
      const Type from = atom.source.valid()
                            ? atoms.function()[atoms.function()[atom.source].args[0]].type
                            : atom.arg_type;
      if (!is_index(from) ||
          !range::within(range_of(atoms, atom.args[0], from), range::of_type(atom.type.dtype)))
        return 1;
      return std::max<std::int64_t>(1, divisor_of(atoms, atom.args[0], from));
    }
    default:
      return 1;
  }
}

Range plain_range(const Atoms& atoms, const Sum& sum) {
  if (sum.is_atom()) return atoms[sum.terms[0].atom].range;
  Range out{sum.constant, sum.constant};
  for (const SumTerm& term : sum.terms)
    out = range::add(out, range::scale(atoms[term.atom].range, term.coef));
  return out;
}

std::int64_t granularity(const Atoms& atoms, const SumTerm& term) {
  const std::int64_t size = term.coef < 0 ? -term.coef : term.coef;
  return checked_mul(size, atoms[term.atom].divisor).value_or(size);
}

std::int64_t plain_divisor(const Atoms& atoms, const Sum& sum) {
  std::int64_t out = sum.constant < 0 ? -sum.constant : sum.constant;
  for (const SumTerm& term : sum.terms) out = std::gcd(out, granularity(atoms, term));
  return out;
}

bool may_wrap(const Atoms& atoms, const Sum& sum, Type type) {
  if (sum.exact || sum.is_atom()) return false;
  return !range::within(plain_range(atoms, sum), range::of_type(type.dtype));
}

Range range_of(const Atoms& atoms, const Sum& sum, Type type) {
  const Range plain = plain_range(atoms, sum);
  if (sum.exact || sum.is_atom()) return plain;
  const Range any = range::of_type(type.dtype);
  return range::within(plain, any) ? plain : any;
}

std::int64_t divisor_of(const Atoms& atoms, const Sum& sum, Type type) {
  const std::int64_t d = plain_divisor(atoms, sum);
  if (!may_wrap(atoms, sum, type) || d == 0) return d;
  const int bits = num::bits_of(type.dtype);
  return bits >= 62 ? range::power_in(d) : std::gcd(d, std::int64_t{1} << bits);
}

}  // namespace ww::ir
