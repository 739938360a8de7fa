// SPDX-License-Identifier: Apache-2.0
#include "soak/scalars/expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/value/arithmetic.h"
#include "harness/edges.h"

namespace ww::test {
namespace {

using num::DType;
using num::DTypeKind;
using Texts = std::vector<std::string>;

bool is_signed(DType type) { return num::kind_of(type) == DTypeKind::Int; }

}  // namespace

// --- leaves --------------------------------------------------------------------------------------

std::string Expressions::of(DType type, int depth) {
  if (type == DType::Bool) return condition(depth);
  if (depth <= 0) return leaf(type);
  return num::is_float(type) ? real(type, depth - 1) : integer(type, depth - 1);
}

std::string Expressions::as(DType type, const std::string& text) const {
  return fmt::format("T.cast({}, \"{}\")", text, num::name_of(type));
}

std::string Expressions::leaf(DType type) {
  switch (tape_.below(6)) {
    case 0:
    case 1:
    case 2:
      return d_.is_uniform ? constant(type) : element(type);
    case 3:
      return constant(type);
    default:
      return named(type);
  }
}

std::string Expressions::constant(DType type) {
  const std::vector<std::uint64_t>& edges = edges_of(type);
  const std::int64_t which = tape_.below(3);
  if (which == 0 || type == DType::Bool) return d_.constant(type, tape_.pick(edges));
  if (which == 1) return d_.constant(type, eval::from_int(type, tape_.below(40) - 20));
  // Choices have 24 bits.
  std::uint64_t bits = 0;
  for (int i = 0; i < 3; ++i)
    bits = bits << 24U | static_cast<std::uint64_t>(tape_.below(std::int64_t{1} << 24U));
  return d_.constant(type, bits & eval::low_mask(num::bits_of(type)));
}

std::string Expressions::element(DType type) {
  const std::string array = d_.input(type);
  return fmt::format("{}[{}]", array, index(ScalarDraft::kElements));
}

// Of the right type if there is one, else converted.
std::string Expressions::named(DType type) {
  std::vector<const ScalarName*> all, fitting;
  for (const ScalarName& each : d_.names) {
    if (d_.is_uniform && !each.is_uniform) continue;
    all.push_back(&each);
    if (each.type == type) fitting.push_back(&each);
  }
  if (!fitting.empty() && tape_.below(4) != 3) return tape_.pick(fitting)->text;
  const ScalarName& any = *tape_.pick(all);
  return any.type == type ? any.text : as(type, any.text);
}

std::string Expressions::target(DType type) {
  std::vector<const ScalarName*> fitting;
  for (const ScalarName& each : d_.names)
    if (each.is_mutable && each.type == type) fitting.push_back(&each);
  return fitting.empty() ? "" : tape_.pick(fitting)->text;
}

// The second side of an operator: also a plain number, which takes the type of the first.
std::string Expressions::operand(DType type, int depth) {
  if (tape_.below(5) != 4) return of(type, depth);
  static const Texts kReals = {"2.0", "0.5", "-1.5", "3", "1e-3"};
  if (num::is_float(type)) return tape_.pick(kReals);
  const std::int64_t least = is_signed(type) ? -3 : 1;
  const std::int64_t value = least + tape_.below(12);
  return std::to_string(value == 0 ? 7 : value);
}

// --- indices -------------------------------------------------------------------------------------

std::string Expressions::index(std::int64_t extent) {
  if (d_.is_uniform) return std::to_string(tape_.below(extent));
  // Those that differ most between threads.
  std::vector<const ScalarName*> integers = {&d_.names.front()};
  for (const ScalarName& each : d_.names)
    if (!num::is_float(each.type) && each.type != DType::Bool && !each.is_id)
      integers.push_back(&each);
  const std::int64_t last = extent - 1;
  const auto value = [&] {
    const ScalarName& any = *tape_.pick(integers);
    return num::bits_of(any.type) < 32 ? as(DType::Int32, any.text) : any.text;
  };
  switch (tape_.below(12)) {
    case 0:
    case 9:
    case 10:
    case 11:
      return extent >= d_.ctas * d_.threads ? fmt::format("cta * {} + tid", d_.threads)
                                            : fmt::format("tid & {}", last);
    case 1:
      return fmt::format("{} % {}", value(), extent);
    case 2:
      return fmt::format("{} & {}", value(), last);
    case 3: {
      const std::int64_t factor = 1 + tape_.below(9), more = tape_.below(30);
      return fmt::format("(tid * {} + {}) % {}", factor, more, extent);
    }
    case 4:
      return fmt::format("T.max(T.min({}, {}), 0)", value(), last);
    case 5:
      return fmt::format("{} - (tid & {})", last, last);
    case 6:
      return fmt::format("(tid // 2 * 2 + 1 - tid % 2) % {}", extent);
    case 7:
      if (d_.may_overflow) return fmt::format("({} * 1103515245 + 12345) % {}", value(), extent);
      return fmt::format("(tid ^ 5) % {}", extent);
    default: {
      const std::string whole = value();
      return fmt::format("{} // {} % {}", whole, 1 + tape_.below(7), extent);
    }
  }
}

// --- operators -----------------------------------------------------------------------------------

std::string Expressions::infix(DType type, int depth, const Texts& operators) {
  const std::string word = tape_.pick(operators);
  const std::string a = of(type, depth);
  return fmt::format("({} {} {})", a, word, operand(type, depth));
}

std::string Expressions::call(const std::string& function, DType type, int depth, int count) {
  std::string out = of(type, depth);
  for (int i = 1; i < count; ++i) out += ", " + of(type, depth);
  return fmt::format("{}({})", function, out);
}

// Not a literal 0, which the front end refuses.
std::string Expressions::divisor(DType type, int depth) {
  if (tape_.below(3) != 2) return of(type, depth);
  const std::vector<std::uint64_t>& edges = edges_of(type);
  const std::uint64_t bits = tape_.pick(edges);
  return d_.constant(type, bits == 0 ? 3 : bits);
}

std::string Expressions::division(DType type, int depth) {
  const std::int64_t which = tape_.below(5);
  const std::string a = of(type, depth), b = divisor(type, depth);
  switch (which) {
    case 0:
      return fmt::format("({} // {})", a, b);
    case 1:
      return fmt::format("({} % {})", a, b);
    case 2:
      return fmt::format("T.truncdiv({}, {})", a, b);
    case 3:
      return fmt::format("T.truncmod({}, {})", a, b);
    default:
      return fmt::format("T.ceildiv({}, {})", a, b);
  }
}

std::string Expressions::shift(DType type, int depth) {
  const char* const word = tape_.one_in(2) ? ">>" : "<<";
  const std::string a = of(type, depth);
  switch (tape_.below(3)) {
    case 0:
      return fmt::format("({} {} {})", a, word, tape_.below(num::bits_of(type)));
    case 1:
      return fmt::format("({} {} ({} & {}))", a, word, of(type, depth), num::bits_of(type) - 1);
    default:
      return fmt::format("({} {} {})", a, word, of(type, depth));
  }
}

std::string Expressions::choice(DType type, int depth) {
  const std::int64_t which = tape_.below(4);
  if (which == 3 && !d_.is_uniform) return guarded_element(type, depth);
  const std::string when = condition(depth), yes = of(type, depth), no = operand(type, depth);
  if (which == 2) return fmt::format("({} if {} else {})", yes, when, no);
  return fmt::format("{}({}, {}, {})", which == 0 ? "T.Select" : "T.if_then_else", when, yes, no);
}

// Only the side that is chosen is evaluated: its index may be anything where the other is.
std::string Expressions::guarded_element(DType type, int depth) {
  const std::string at = named(DType::Int32), array = d_.input(type);
  return fmt::format("T.if_then_else({0} >= 0 and {0} < {1}, {2}[{0}], {3})", at,
                     ScalarDraft::kElements, array, of(type, depth));
}

std::string Expressions::converted(DType type, int depth) {
  if (tape_.one_in(3)) return reinterpreted(type, depth);
  const DType from = d_.any_number();
  return as(type, of(from, depth));
}

// The bits of a NaN may be anybody's guess, unless it has just been read from memory.
std::string Expressions::reinterpreted(DType type, int depth) {
  std::vector<DType> alike;
  for (const DType each :
       {DType::Int8, DType::Uint8, DType::Int16, DType::Uint16, DType::Float16, DType::Bfloat16,
        DType::Int32, DType::Uint32, DType::Float32, DType::Int64, DType::Uint64, DType::Float64})
    if (each != type && num::bits_of(each) == num::bits_of(type) &&
        (each != DType::Bfloat16 || d_.has_bfloat16()))
      alike.push_back(each);
  const DType from = tape_.pick(alike);
  std::string what;
  if (!num::is_float(from)) {
    what = of(from, depth);
  } else if (d_.is_uniform || tape_.one_in(2)) {
    const std::string any = named(from);
    what = fmt::format("T.Select({0} == {0}, {0}, {1})", any, literal_of(from, 0));
  } else {
    what = element(from);
  }
  return fmt::format("T.reinterpret(\"{}\", {})", num::name_of(type), what);
}

// Operands of two types, which meet at one of them.
std::string Expressions::mixed(DType type, int depth) {
  static const Texts kAny = {"+", "-", "*"};
  static const Texts kIntegers = {"+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"};
  const DType left = d_.any_integer(), right = d_.any_number();
  const std::string& word = tape_.pick(num::is_float(right) ? kAny : kIntegers);
  const std::string a = of(left, depth);
  const std::string b = word == "//" || word == "%" ? divisor(right, depth) : of(right, depth);
  return as(type, tape_.one_in(2) && word != "//" && word != "%"
                      ? fmt::format("{} {} {}", b, word, a)
                      : fmt::format("{} {} {}", a, word, b));
}

// Ids and constants: what the simplifier knows ranges of.
std::string Expressions::over_ids(DType type) {
  static const Texts kForms = {"{} * {} + {}",    "({} + {}) // {}", "({} * {}) % {}",
                               "{} // {} * {}",   "({} - {}) * {}",  "{} * {} - {}",
                               "({} << {}) + {}", "({} % {}) - {}"};
  std::vector<const ScalarName*> ids;
  for (const ScalarName& each : d_.names)
    if (!each.is_mutable && !num::is_float(each.type) && num::bits_of(each.type) >= 32 &&
        (!d_.is_uniform || each.is_uniform))
      ids.push_back(&each);
  const std::string form = tape_.pick(kForms);
  const ScalarName& id = *tape_.pick(ids);
  static const std::vector<std::int64_t> kNumbers = {3,  1,  2,     7,       8,          64,
                                                     32, 12, 65536, 1 << 30, 1103515245, 255};
  const std::int64_t first = tape_.pick(kNumbers), second = tape_.pick(kNumbers);
  const std::string text = fmt::format(fmt::runtime(form), id.text, first, second);
  return id.type == type ? fmt::format("({})", text) : as(type, text);
}

std::string Expressions::plain_integer(int depth) {
  static const Texts kWords = {"+", "*", "-", "//", "%", "&"};
  if (depth <= 0 || tape_.below(4) == 0)
    return tape_.one_in(3) ? constant(DType::Int32) : over_ids(DType::Int32);
  const std::string& word = tape_.pick(kWords);
  const std::string a = plain_integer(depth - 1);
  const bool divides = word == "//" || word == "%";
  return fmt::format("({} {} {})", a, word,
                     divides ? divisor(DType::Int32, 0) : plain_integer(depth - 1));
}

std::string Expressions::integer(DType type, int depth) {
  static const Texts kArithmetic = {"+", "-", "*"}, kBits = {"&", "|", "^"};
  static const Texts kUnary = {"-", "~", "T.abs", "T.popcount", "T.clz"};
  static const Texts kExtrema = {"T.min", "T.max"};
  switch (tape_.below(13)) {
    case 0:
      return leaf(type);
    case 1:
    case 2:
      return infix(type, depth, kArithmetic);
    case 3:
      return over_ids(type);
    case 4:
      return division(type, depth);
    case 5:
      return infix(type, depth, kBits);
    case 6:
      return shift(type, depth);
    case 7:
      return choice(type, depth);
    case 8:
      return call(tape_.pick(kExtrema), type, depth, 2);
    case 9:
      return call(tape_.pick(kUnary), type, depth, 1);
    case 10:
      return converted(type, depth);
    case 11:
      return mixed(type, depth);
    default:
      return as(type, condition(depth));
  }
}

// The sign of a NaN is not promised either.
std::string Expressions::of_sign(DType type, int depth) {
  const std::string size = of(type, depth), sign = named(type);
  return fmt::format("T.copysign({0}, T.Select({1} == {1}, {1}, {2}))", size, sign,
                     literal_of(type, 0));
}

std::string Expressions::real(DType type, int depth) {
  static const Texts kArithmetic = {"+", "-", "*", "/"};
  static const Texts kUnary = {"-",       "T.abs",   "T.floor",     "T.ceil",
                               "T.trunc", "T.round", "T.nearbyint", "T.sqrt"};
  static const Texts kExtrema = {"T.min", "T.max", "T.fmod"};
  switch (tape_.below(11)) {
    case 0:
      return leaf(type);
    case 1:
    case 2:
      return infix(type, depth, kArithmetic);
    case 3:
      return call(tape_.pick(kUnary), type, depth, 1);
    case 4:
      return choice(type, depth);
    case 5:
      return call(tape_.pick(kExtrema), type, depth, 2);
    case 6:
      return call("T.fma", type, depth, 3);
    case 7:
      return of_sign(type, depth);
    case 8:
      return converted(type, depth);
    case 9:
      return mixed(type, depth);
    default:
      return as(type, condition(depth));
  }
}

// --- conditions ----------------------------------------------------------------------------------

std::string Expressions::comparison(int depth) {
  static const Texts kWords = {"<", ">=", "==", ">", "<=", "!="};
  const DType type = tape_.below(3) == 0 ? DType::Int32 : d_.any_number();
  const std::string& word = tape_.pick(kWords);
  const std::string a = of(type, depth);
  return fmt::format("({} {} {})", a, word, operand(type, depth));
}

std::string Expressions::condition(int depth) {
  if (depth <= 0) return comparison(0);
  --depth;
  switch (tape_.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return comparison(depth);
    case 4:
    case 5:
    case 6: {
      const char* const word = tape_.one_in(2) ? "or" : "and";
      const std::string a = condition(depth);
      return fmt::format("({} {} {})", a, word, condition(depth));
    }
    case 7:
      return fmt::format("(not {})", condition(depth));
    case 8: {
      const std::string word = tape_.pick(Texts{"&", "|", "^", "==", "!="});
      const std::string a = condition(depth);
      return fmt::format("({} {} {})", a, word, condition(depth));
    }
    case 9: {
      const DType type = d_.any_float();
      const std::string function = tape_.pick(Texts{"T.isnan", "T.isinf", "T.isfinite"});
      return call(function, type, depth, 1);
    }
    case 10:
      return leaf(DType::Bool);
    default: {
      const DType type = d_.any_number();
      return as(DType::Bool, of(type, depth));
    }
  }
}

}  // namespace ww::test
