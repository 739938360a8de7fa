// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/look_up.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

// What identifies the node that an atom was read from, besides its arguments.
std::array<std::int64_t, 6> parts_of(const Expr& e) {
  return {e.integer,
          std::bit_cast<std::int64_t>(e.real),
          static_cast<std::int64_t>(e.var.index),
          static_cast<std::int64_t>(e.buffer.index),
          static_cast<std::int64_t>(e.callee),
          static_cast<std::int64_t>(e.text)};
}

std::array<int, 4> parts_of(Type type) {
  return {static_cast<int>(type.kind), static_cast<int>(type.dtype), static_cast<int>(type.lanes),
          static_cast<int>(type.opaque)};
}

std::uint64_t mixed(std::uint64_t hash, auto part) {
  return (hash ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15U;
}

int sign(const auto& a, const auto& b) { return a < b ? -1 : (b < a ? 1 : 0); }

}  // namespace

std::uint64_t hash_of(const Sum& sum) {
  std::uint64_t out = mixed(sum.terms.size() * 2 + (sum.exact ? 1 : 0), sum.constant);
  for (const SumTerm& term : sum.terms) out = mixed(mixed(out, term.coef) >> 7U, term.atom);
  return out;
}

const Expr& Atoms::source_of(const SumAtom& atom) const {
  static const Expr none;
  return atom.source.valid() ? function_[atom.source] : none;
}

std::uint32_t Atoms::hash_of(const SumAtom& atom) const {
  std::uint64_t out = mixed(atom.exact ? 1 : 0, atom.op);
  for (const int part : parts_of(atom.type)) out = mixed(out, part);
  out >>= 5U;
  for (const std::int64_t part : parts_of(source_of(atom))) out = mixed(out >> 3U, part);
  for (const Sum& arg : atom.args) out = mixed(out >> 9U, ir::hash_of(arg));
  return spread(out);
}

// `exact` of an argument belongs to what it is.
bool Atoms::same(const SumAtom& a, const SumAtom& b) const {
  if (a.op != b.op || a.exact != b.exact || a.type != b.type || a.args.size() != b.args.size())
    return false;
  for (std::size_t i = 0; i < a.args.size(); ++i)
    if (!(a.args[i] == b.args[i]) || a.args[i].exact != b.args[i].exact) return false;
  return a.source == b.source || parts_of(source_of(a)) == parts_of(source_of(b));
}

Sum Atoms::make(SumAtom atom, bool is_unique) {
  const std::uint32_t hash = is_unique ? 0 : hash_of(atom);
  if (!is_unique) {
    const AtomId known =
        numbers_.find(hash, [&](AtomId other) { return same(atoms_[other], atom); });
    if (known != HashIndex::kNone) return {0, {{1, known}}};
  }
  atom.range = range_of(*this, atom);
  atom.divisor = divisor_of(*this, atom);
  if (range::is_single(atom.range) && is_index(atom.type) && !is_unique)
    return {atom.range.min, {}};
  const auto number = static_cast<AtomId>(atoms_.size());
  atoms_.push_back(std::move(atom));
  if (!is_unique) numbers_.add(hash, number);
  return {0, {{1, number}}};
}

void Atoms::narrow(AtomId id, Range range, std::int64_t divisor) {
  SumAtom& atom = atoms_[id];
  atom.range = {std::max(atom.range.min, range.min), std::min(atom.range.max, range.max)};
  if (atom.range.min > atom.range.max) atom.range = range;
  atom.divisor = std::max(atom.divisor, divisor);
}

int compare(const Atoms& atoms, AtomId a, AtomId b) {
  if (a == b) return 0;
  const SumAtom& x = atoms[a];
  const SumAtom& y = atoms[b];
  // Compound atoms stand before variables: `i//4 + j`.
  if (const int s = sign(x.op == ExprOp::Var, y.op == ExprOp::Var)) return s;
  if (const int s = sign(x.op, y.op)) return s;
  if (const int s = sign(x.args.size(), y.args.size())) return s;
  for (std::size_t i = 0; i < x.args.size(); ++i)
    if (const int s = compare(atoms, x.args[i], y.args[i])) return s;
  if (const int s = sign(parts_of(x.type), parts_of(y.type))) return s;
  const auto source = [&](const SumAtom& atom) {
    return parts_of(atom.source.valid() ? atoms.function()[atom.source] : Expr{});
  };
  if (const int s = sign(source(x), source(y))) return s;
  if (const int s = sign(x.exact, y.exact)) return s;
  return sign(a, b);  // unique atoms only
}

// Terms lie by number, which depends on what was read before; the order here must not.
int compare(const Atoms& atoms, const Sum& a, const Sum& b) {
  if (a == b) return 0;
  if (const int s = sign(a.terms.size(), b.terms.size())) return s;
  const auto ordered = [&](const Sum& sum) {
    SmallVec<SumTerm, 3> terms = sum.terms;
    std::sort(terms.begin(), terms.end(), [&](const SumTerm& s, const SumTerm& t) {
      return compare(atoms, s.atom, t.atom) < 0;
    });
    return terms;
  };
  const SmallVec<SumTerm, 3> left = ordered(a);
  const SmallVec<SumTerm, 3> right = ordered(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (const int s = compare(atoms, left[i].atom, right[i].atom)) return s;
    if (const int s = sign(left[i].coef, right[i].coef)) return s;
  }
  return sign(a.constant, b.constant);
}

// --- bounds --------------------------------------------------------------------------------------

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

// --- arithmetic ----------------------------------------------------------------------------------

namespace {

bool is_unsigned(Type type) { return num::kind_of(type.dtype) == num::DTypeKind::Uint; }

// The number modulo 2^bits that the type holds; of an unsigned type with its sign, because a
// difference has one.
std::int64_t reduced(std::int64_t number, Type type) {
  const int bits = num::bits_of(type.dtype);
  if (bits >= 63) return number;
  return is_unsigned(type) ? number % (std::int64_t{1} << bits) : wrap(type.dtype, number);
}

// a + factor·b, common terms collected; nothing when a number leaves 64 bits.
std::optional<Sum> raw_plus(const Sum& a, const Sum& b, std::int64_t factor) {
  Sum out;
  const auto added = [&](std::int64_t x, std::int64_t y) -> std::optional<std::int64_t> {
    const auto scaled_y = checked_mul(y, factor);
    const auto sum = scaled_y ? checked_add(x, *scaled_y) : std::nullopt;
    return sum && !range::is_far(*sum) ? sum : std::nullopt;
  };
  const auto constant = added(a.constant, b.constant);
  if (!constant) return std::nullopt;
  out.constant = *constant;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool left =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].atom <= b.terms[j].atom);
    const bool right =
        i == a.terms.size() || (j < b.terms.size() && b.terms[j].atom <= a.terms[i].atom);
    const AtomId which = left ? a.terms[i].atom : b.terms[j].atom;
    const auto coef = added(left ? a.terms[i].coef : 0, right ? b.terms[j].coef : 0);
    if (!coef) return std::nullopt;
    if (*coef != 0) out.terms.push_back({*coef, which});
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  return out;
}

std::optional<Sum> complement_of(Atoms& atoms, const SumAtom& atom) {
  if (!atom.args[1].is_constant()) return std::nullopt;
  const std::int64_t k = atom.args[1].constant;
  if (k < 1 || may_wrap(atoms, atom.args[0], atom.type)) return std::nullopt;
  return atom.op == ExprOp::FloorMod ? floor_quotient(atoms, atom.args[0], k, atom.type)
                                     : floor_remainder(atoms, atom.args[0], k, atom.type);
}

bool has_common_atom(const Sum& a, const Sum& b) {
  for (const SumTerm& term : a.terms)
    for (const SumTerm& other : b.terms)
      if (term.atom == other.atom) return true;
  return false;
}

std::optional<Sum> join_at(Atoms& atoms, const Sum& sum, const SumTerm& term) {
  const SumAtom& atom = atoms[term.atom];
  const bool is_mod = atom.op == ExprOp::FloorMod;
  if ((!is_mod && atom.op != ExprOp::FloorDiv) || sum.terms.size() < 2) return std::nullopt;
  const std::int64_t k = atom.args[1].constant;
  if (!is_mod && (!atom.args[1].is_constant() || k < 1 || term.coef % k != 0)) return std::nullopt;
  const std::optional<Sum>& other = atoms.complement(
      term.atom, [&](const SumAtom& found) { return complement_of(atoms, found); });
  const Sum& x = atom.args[0];
  if (!other) return std::nullopt;
  // Where no two have an atom in common, one term goes and at least one comes.
  if (!has_common_atom(sum, x) && !has_common_atom(sum, *other) && !has_common_atom(x, *other))
    return std::nullopt;
  // c·(x%k) = c·x - c·k·(x//k), and -c·k·(x//k) = c·(x%k) - c·x.
  const std::int64_t c = is_mod ? term.coef : -(term.coef / k);
  const auto other_coef = is_mod ? checked_mul(-c, k) : std::optional(c);
  if (!other_coef) return std::nullopt;
  auto out = raw_plus(sum, Sum{0, {{1, term.atom}}}, -term.coef);
  if (out) out = raw_plus(*out, x, is_mod ? c : -c);
  if (out) out = raw_plus(*out, *other, *other_coef);
  if (!out || out->terms.size() >= sum.terms.size()) return std::nullopt;
  out->exact = sum.exact;
  return out;
}

// x%k + k·(x//k) is x, and x - k·(x//k) is x%k: where either leaves fewer terms, it is taken.
Sum joined(Atoms& atoms, Sum sum) {
  for (bool again = sum.terms.size() > 1; again;) {
    again = false;
    for (const SumTerm& term : sum.terms) {
      auto shorter = join_at(atoms, sum, term);
      if (!shorter) continue;
      sum = *std::move(shorter);
      again = true;
      break;
    }
  }
  return sum;
}

}  // namespace

Sum single(Atoms& atoms, ExprOp op, Type type, Type arg_type, std::vector<Sum> args, bool exact) {
  return atoms.make(
      {.op = op, .type = type, .arg_type = arg_type, .args = std::move(args), .exact = exact});
}

std::optional<Sum> scaled(const Sum& a, std::int64_t factor) { return raw_plus({}, a, factor); }

std::optional<Sum> plus(Atoms& atoms, const Sum& a, const Sum& b, std::int64_t factor) {
  auto sum = raw_plus(a, b, factor);
  if (!sum) return std::nullopt;
  return joined(atoms, *std::move(sum));
}

Sum promised(const Atoms& atoms, Sum sum, Type type, bool exact) {
  sum.exact = false;
  sum.exact = exact && !is_unsigned(type) && may_wrap(atoms, sum, type);
  return sum;
}

Sum settled(const Atoms& atoms, Sum sum, Type type, bool exact) {
  sum.exact = false;
  if (!may_wrap(atoms, sum, type)) return sum;
  sum.exact = exact && !is_unsigned(type);
  if (sum.exact) return sum;
  sum.constant = reduced(sum.constant, type);
  SmallVec<SumTerm, 3> terms;
  for (const SumTerm& term : sum.terms)
    if (const std::int64_t coef = reduced(term.coef, type); coef != 0)
      terms.push_back({coef, term.atom});
  sum.terms = std::move(terms);
  return sum;
}

std::optional<Sum> product(Atoms& atoms, const Sum& a, const Sum& b, Type type, bool exact) {
  if (a.is_constant()) return scaled(b, a.constant);
  if (b.is_constant()) return scaled(a, b.constant);
  // Numbers come out of products of single terms; other sums stay together.
  const auto factor = [](const Sum& sum) {
    return sum.terms.size() == 1 && sum.constant == 0 ? sum.terms[0].coef : std::int64_t{1};
  };
  const auto numbers = checked_mul(factor(a), factor(b));
  if (!numbers) return std::nullopt;
  Sum left = factor(a) == 1 ? a : Sum{0, {{1, a.terms[0].atom}}};
  Sum right = factor(b) == 1 ? b : Sum{0, {{1, b.terms[0].atom}}};
  if (compare(atoms, right, left) < 0) std::swap(left, right);
  return scaled(single(atoms, ExprOp::Mul, type, type, {left, right}, exact && !is_unsigned(type)),
                *numbers);
}

// --- divisions -----------------------------------------------------------------------------------
//
// Floor division and remainder of sums by a number. The working idea is a cut: write the value as
// high + low where `high` is a multiple of some c that divides k, and low stays in [0, c). Then
// nothing carries from low into high, and both can be treated on their own.

namespace {

// The same sum with every number divided by c, which divides them.
Sum divided(Sum sum, std::int64_t c) {
  sum.constant /= c;
  for (SumTerm& term : sum.terms) term.coef /= c;
  return sum;
}

struct Cut {
  std::int64_t at = 1;
  Sum high;              // a multiple of `at`
  Sum low;               // in [0, at)
  bool divides = false;  // are the numbers in `high` multiples of `at`?
};

std::optional<Cut> cut_below(const Atoms& atoms, const Sum& sum, std::int64_t k) {
  std::vector<std::int64_t> places;
  for (const SumTerm& term : sum.terms)
    if (const std::int64_t c = std::gcd(granularity(atoms, term), k); c > 1) places.push_back(c);
  std::sort(places.begin(), places.end(), std::greater<>());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const std::int64_t c : places) {
    Cut cut{.at = c, .high = {}, .low = {}, .divides = true};
    cut.high.exact = cut.low.exact = sum.exact;
    cut.low.constant = floor_mod(sum.constant, c);
    cut.high.constant = sum.constant - cut.low.constant;
    for (const SumTerm& term : sum.terms) {
      const bool is_high = granularity(atoms, term) % c == 0;
      (is_high ? cut.high : cut.low).terms.push_back(term);
      if (is_high && term.coef % c != 0) cut.divides = false;
    }
    const bool is_idle = cut.low == Sum{} && !cut.divides;
    if (!is_idle && range::within(plain_range(atoms, cut.low), {0, c - 1})) return cut;
  }
  return std::nullopt;
}

// x // k where no coefficient is a multiple of k.
Sum quotient_of_rest(Atoms& atoms, const Sum& rest, std::int64_t k, Type type) {
  const Range values = plain_range(atoms, rest);
  if (range::in_one_block(values, k)) return {floor_div(values.min, k), {}};
  if (const auto cut = cut_below(atoms, rest, k)) {
    const Sum high = cut->divides ? divided(cut->high, cut->at) : cut->high;
    if (!may_wrap(atoms, high, type))
      return floor_quotient(atoms, high, cut->divides ? k / cut->at : k, type);
  }
  if (rest.is_atom()) {
    const SumAtom& inner = atoms[rest.terms[0].atom];
    const bool by_number = inner.args.size() == 2 && inner.args[1].is_constant() &&
                           inner.args[1].constant >= 1 && inner.type == type &&
                           !may_wrap(atoms, inner.args[0], type);
    if (inner.op == ExprOp::FloorDiv && by_number)
      if (const auto both = checked_mul(inner.args[1].constant, k);
          both && range::within({*both, *both}, range::of_type(type.dtype)))
        return floor_quotient(atoms, inner.args[0], *both, type);
    if (inner.op == ExprOp::FloorMod && by_number && inner.args[1].constant % k == 0)
      return floor_remainder(atoms, floor_quotient(atoms, inner.args[0], k, type),
                             inner.args[1].constant / k, type);
  }
  return single(atoms, ExprOp::FloorDiv, type, type, {rest, {k, {}}});
}

// x % k where no term is a multiple of k.
Sum remainder_of_rest(Atoms& atoms, const Sum& rest, std::int64_t k, Type type) {
  const Range values = plain_range(atoms, rest);
  if (range::in_one_block(values, k))
    return {rest.constant - floor_div(values.min, k) * k, rest.terms};
  if (const auto cut = cut_below(atoms, rest, k)) {
    const Sum high = cut->divides ? divided(cut->high, cut->at) : cut->high;
    if (divides_width(k, type) || !may_wrap(atoms, high, type)) {
      const Sum reduced = floor_remainder(atoms, high, cut->divides ? k / cut->at : k, type);
      if (auto out = plus(atoms, cut->low, reduced, cut->divides ? cut->at : 1))
        return settled(atoms, *std::move(out), type, rest.exact);
    }
  }
  return single(atoms, ExprOp::FloorMod, type, type, {rest, {k, {}}});
}

}  // namespace

bool divides_width(std::int64_t k, Type type) {
  const auto bits = static_cast<std::uint64_t>(k);
  return k >= 1 && std::has_single_bit(bits) && std::countr_zero(bits) < num::bits_of(type.dtype);
}

Sum floor_quotient(Atoms& atoms, const Sum& x, std::int64_t k, Type type) {
  if (k == 1) return x;
  Sum quotient;
  Sum rest;
  rest.exact = x.exact;
  for (const SumTerm& term : x.terms) {
    if (term.coef % k == 0)
      quotient.terms.push_back({term.coef / k, term.atom});
    else
      rest.terms.push_back(term);
  }
  if (x.constant % k == 0 || rest.is_constant())
    quotient.constant = floor_div(x.constant, k);
  else
    rest.constant = x.constant;
  // An unsigned rest below 0 would wrap around.
  if (may_wrap(atoms, rest, type)) return single(atoms, ExprOp::FloorDiv, type, type, {x, {k, {}}});
  auto out = plus(atoms, quotient, quotient_of_rest(atoms, rest, k, type), 1);
  return out ? settled(atoms, *std::move(out), type, x.exact)
             : single(atoms, ExprOp::FloorDiv, type, type, {x, {k, {}}});
}

Sum floor_remainder(Atoms& atoms, const Sum& x, std::int64_t k, Type type) {
  if (k == 1) return {};
  const Range values = plain_range(atoms, x);
  if (range::in_one_block(values, k)) return {x.constant - floor_div(values.min, k) * k, x.terms};
  const bool may_be_off = divides_width(k, type);
  Sum rest;
  rest.exact = x.exact;
  std::vector<Sum> opened;
  rest.constant = x.constant % k == 0 ? 0 : x.constant;
  for (const SumTerm& term : x.terms) {
    if (granularity(atoms, term) % k == 0) continue;
    const SumAtom& inner = atoms[term.atom];
    // (x % (a·k) + y) % k is (x + y) % k.
    if (inner.op == ExprOp::FloorMod && inner.type == type && inner.args[1].is_constant() &&
        inner.args[1].constant >= 1 && inner.args[1].constant % k == 0 &&
        (may_be_off || !may_wrap(atoms, inner.args[0], type))) {
      if (const auto open = scaled(inner.args[0], term.coef)) {
        opened.push_back(*open);
        continue;
      }
    }
    rest.terms.push_back(term);
  }
  for (const Sum& more : opened) {
    auto sum = plus(atoms, rest, more, 1);
    if (!sum) return single(atoms, ExprOp::FloorMod, type, type, {x, {k, {}}});
    rest = promised(atoms, *std::move(sum), type, x.exact);
  }
  if (!may_be_off && may_wrap(atoms, rest, type))
    return single(atoms, ExprOp::FloorMod, type, type, {x, {k, {}}});
  return opened.empty() ? remainder_of_rest(atoms, rest, k, type)
                        : floor_remainder(atoms, rest, k, type);
}

// --- comparisons ---------------------------------------------------------------------------------
//
// Comparisons of sums: decided where the range of the difference allows, otherwise brought to a
// form with nothing on both sides, no common factor, and a lone number on the right.

namespace {

ExprOp negated(ExprOp op) {
  return look_up(op,
                 {{ExprOp::Lt, ExprOp::Ge},
                  {ExprOp::Le, ExprOp::Gt},
                  {ExprOp::Gt, ExprOp::Le},
                  {ExprOp::Ge, ExprOp::Lt},
                  {ExprOp::Eq, ExprOp::Ne}},
                 ExprOp::Eq);
}

bool is_greater(ExprOp op) { return op == ExprOp::Gt || op == ExprOp::Ge; }

Sum negative(Sum sum) {
  sum.constant = -sum.constant;
  for (SumTerm& term : sum.terms) term.coef = -term.coef;
  return sum;
}

// difference op 0 without the common factor of its terms; integers round towards the same truth.
void reduce(ExprOp& op, Sum& difference) {
  std::int64_t g = 0;
  for (const SumTerm& term : difference.terms) g = std::gcd(g, term.coef);
  for (SumTerm& term : difference.terms) term.coef /= g;
  std::int64_t& c = difference.constant;
  c = op == ExprOp::Le ? -floor_div(-c, g) : floor_div(c, g);
  if (op == ExprOp::Le && c == 1) {
    op = ExprOp::Lt;
    c = 0;
  } else if (op == ExprOp::Lt && c == -1) {
    op = ExprOp::Le;
    c = 0;
  }
}

struct Sides {
  Sum left;
  Sum right;
};

// difference = left - right with positive numbers on both sides, a lone number excepted.
Sides split(const Sum& difference) {
  Sides out;
  for (const SumTerm& term : difference.terms) {
    if (term.coef > 0)
      out.left.terms.push_back(term);
    else
      out.right.terms.push_back({-term.coef, term.atom});
  }
  const bool on_left =
      out.left.terms.empty() || (!out.right.terms.empty() && difference.constant > 0);
  (on_left ? out.left : out.right).constant = on_left ? difference.constant : -difference.constant;
  return out;
}

}  // namespace

std::optional<bool> decided(const Atoms& atoms, ExprOp op, const Sum& difference) {
  const Range r = plain_range(atoms, difference);
  if (op == ExprOp::Lt || op == ExprOp::Le) {
    const std::int64_t bound = op == ExprOp::Lt ? 0 : 1;
    if (r.max < bound) return true;
    if (r.min >= bound) return false;
    return std::nullopt;
  }
  std::int64_t step = 0;
  for (const SumTerm& term : difference.terms) step = std::gcd(step, granularity(atoms, term));
  const bool never = r.min > 0 || r.max < 0 || (step != 0 && difference.constant % step != 0);
  if (never) return op == ExprOp::Ne;
  if (difference == Sum{}) return op == ExprOp::Eq;
  return std::nullopt;
}

Sum comparison(Atoms& atoms, ExprOp op, const Sum& a, const Sum& b, Type operands, bool exact) {
  const Type truth = Type::of(num::DType::Bool);
  if (a == b) return {op == ExprOp::Eq || op == ExprOp::Le || op == ExprOp::Ge ? 1 : 0, {}};
  const auto difference = plus(atoms, a, b, -1);
  if (!difference || may_wrap(atoms, a, operands) || may_wrap(atoms, b, operands))
    return single(atoms, op, truth, operands, {a, b}, exact);
  const bool greater = is_greater(op);
  ExprOp less = greater ? mirrored(op) : op;
  Sum d = greater ? negative(*difference) : *difference;
  if (const auto answer = decided(atoms, less, d)) return {*answer ? 1 : 0, {}};
  reduce(less, d);
  if (less == ExprOp::Eq || less == ExprOp::Ne) {
    // Either sign says the same: the first atom in the fixed order is positive.
    const auto first = std::min_element(
        d.terms.begin(), d.terms.end(),
        [&](const SumTerm& s, const SumTerm& t) { return compare(atoms, s.atom, t.atom) < 0; });
    if (first->coef < 0) d = negative(d);
  }
  Sides sides = split(d);
  for (Sum* side : {&sides.left, &sides.right})
    *side = promised(atoms, std::move(*side), operands, exact);
  if (may_wrap(atoms, sides.left, operands) || may_wrap(atoms, sides.right, operands))
    return single(atoms, op, truth, operands, {a, b}, exact);
  const bool turned = sides.left.is_constant() || (greater && !sides.right.is_constant());
  return turned ? single(atoms, mirrored(less), truth, operands, {sides.right, sides.left}, exact)
                : single(atoms, less, truth, operands, {sides.left, sides.right}, exact);
}

Sum inverse(Atoms& atoms, const Sum& condition) {
  if (condition.is_constant()) return {condition.constant == 0 ? 1 : 0, {}};
  const SumAtom& atom = atoms[condition.terms[0].atom];
  const Type truth = Type::of(num::DType::Bool);
  if (atom.op == ExprOp::Not) return atom.args[0];
  if (group_of(atom.op) == ExprGroup::Compare && !atom.source.valid())
    return comparison(atoms, negated(atom.op), atom.args[0], atom.args[1], atom.arg_type,
                      atom.exact);
  return single(atoms, ExprOp::Not, truth, truth, {condition});
}

}  // namespace ww::ir
