// SPDX-License-Identifier: Apache-2.0
#include "driver/expect/expect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/fail_at.h"
#include "base/suggest.h"
#include "base/wide.h"
#include "driver/expect/value.h"
#include "num/float_format.h"

namespace ww::driver {
namespace {

using num::DType;
using num::DTypeKind;

// --- evaluation ----------------------------------------------------------------------------------

class Evaluator {
 public:
  Evaluator(const Expectation& expectation, const FindArray& find,
            std::span<const std::string_view> known, const FindArray& before)
      : expectation_(expectation), find_(find), known_(known), before_(before) {}

  /// Operands stand before what uses them, and are used once: one pass, and no value lives longer
  /// than it must.
  Result<void> run() {
    values_.resize(expectation_.nodes.size());
    allow_arrays();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const ExprNode& node = expectation_.nodes[i];
      auto value = evaluate(node);
      if (!value) return fail(std::move(value).error().with_span(node.span));
      values_[i] = *std::move(value);
      live_ += values_[i].size();
      if (live_ > kLive * most_)
        return fail(diag_at(node.span, DiagKind::TooLarge,
                            "the values that wait for their operation have {} elements here; there "
                            "may be at most {}",
                            live_, kLive * most_)
                        .with_note("fewer parentheses inside each other need fewer of them"));
    }
    return {};
  }
  ExprValue take(std::size_t node) {
    live_ -= values_[node].size();
    return std::exchange(values_[node], {});
  }

 private:
  static constexpr std::int64_t kFree = std::int64_t{1} << 23;  // elements that any value may have
  static constexpr std::int64_t kLive = 8;  // values of the largest size at a time

  // A value may have as many elements as the largest array.
  void allow_arrays() {
    for (const ExprNode& node : expectation_.nodes) {
      const auto name = expectation_.name_of(node);
      if (const Array* array = name ? find_(*name) : nullptr)
        most_ = std::max(most_, array->size());
    }
  }

  Result<ExprValue> evaluate(const ExprNode& node) {
    switch (node.op) {
      case ExpectOp::Integer:
        return integer_value(node.integer);
      case ExpectOp::Real:
        return real_value(node.real);
      case ExpectOp::Name:
        return look_up(expectation_.text_of(node));
      case ExpectOp::Before:
        return look_up_before(node.name);
      case ExpectOp::Negate:
      case ExpectOp::Abs:
      case ExpectOp::Sqrt:
      case ExpectOp::Exp:
      case ExpectOp::Log:
      case ExpectOp::Tanh:
      case ExpectOp::Erf:
        return mapped(node.op, operand(node, 0));
      case ExpectOp::Transpose:
        return transposed(operand(node, 0));
      case ExpectOp::Cast:
        return cast_value(operand(node, 0), node.dtype);
      case ExpectOp::Add:
      case ExpectOp::Subtract:
      case ExpectOp::Multiply:
      case ExpectOp::Divide:
      case ExpectOp::Power:
      case ExpectOp::Less:
      case ExpectOp::LessEqual:
      case ExpectOp::Greater:
      case ExpectOp::GreaterEqual:
      case ExpectOp::Equal:
      case ExpectOp::NotEqual:
        return combined(node.op, operand(node, 0), operand(node, 1), most_);
      case ExpectOp::MatMul:
        return matmul(operand(node, 0), operand(node, 1), most_);
      case ExpectOp::Where: {
        ExprValue condition = operand(node, 0);
        ExprValue yes = operand(node, 1);
        return chosen(std::move(condition), std::move(yes), operand(node, 2), most_);
      }
      case ExpectOp::Slice:
        return sliced(operand(node, 0), node.parts);
      case ExpectOp::Max:
      case ExpectOp::Min:
        if (node.operands.size() == 1)
          return reduced(node.op, operand(node, 0), node.axis, node.keeps_dims);
        return combined(node.op, operand(node, 0), operand(node, 1), most_);
      case ExpectOp::Sum:
      case ExpectOp::Mean:
        return evaluate_sum(node);
    }
    return ExprValue{};
  }

  Result<ExprValue> look_up(std::string_view name) {
    if (const Array* array = find_(name)) return load_value(*array);
    return fail(DiagKind::UnknownName, "no array is called `{}`{}", name,
                did_you_mean(name, known_));
  }

  Result<ExprValue> look_up_before(std::string_view name) {
    const Array* array = before_ ? before_(name) : nullptr;
    if (array != nullptr) return load_value(*array);
    if (find_(name) == nullptr) return look_up(name);
    return fail(DiagKind::BadArgument, "`{}` has no value before the run", name);
  }

  Result<ExprValue> evaluate_sum(const ExprNode& node) {
    const ExprValue value = operand(node, 0);
    if (node.operands.size() == 1) return reduced(node.op, value, node.axis, node.keeps_dims);
    const ExprNode& dimension = expectation_.nodes[node.operands[1]];
    if (dimension.op != ExpectOp::Integer)
      return fail_at(dimension.span, DiagKind::BadArgument,
                     "the dimension is `{}`; expected 0, 1, ...", expectation_.text_of(dimension));
    return reduced(node.op, value, dimension.integer);
  }

  ExprValue operand(const ExprNode& node, std::size_t index) { return take(node.operands[index]); }

  const Expectation& expectation_;
  const FindArray& find_;
  std::span<const std::string_view> known_;
  const FindArray& before_;
  std::vector<ExprValue> values_;
  std::int64_t most_ = kFree;
  std::int64_t live_ = 0;  // elements of all values
};

// --- comparison ----------------------------------------------------------------------------------

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double distance(double a, double b) {
  if (is_same(a, b)) return 0;
  const double d = std::fabs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

constexpr const char* kNothing = "never written";

// Which elements of the two sides have values; null: all.
struct Unwritten {
  const std::vector<bool>* left = nullptr;
  const std::vector<bool>* right = nullptr;
};

// The two sides, of one shape, element by element.
class Comparison {
 public:
  Comparison(ExprValue seen, ExprValue wanted, Unwritten unwritten, ExpectRelation relation,
             Tolerance tolerance)
      : seen_(std::move(seen)),
        unwritten_(unwritten),
        wanted_(std::move(wanted)),
        is_near_(relation == ExpectRelation::Near),
        tolerance_(tolerance) {}

  struct Verdict {
    bool agrees;
    double error;
  };
  [[nodiscard]] bool has_value(std::int64_t i) const {
    return is_written(unwritten_.left, i) && is_written(unwritten_.right, i);
  }
  [[nodiscard]] Verdict judge(std::int64_t i) const {
    if (!has_value(i)) return {false, 0};
    return compares_integers() ? judge_integer(i) : judge_real(i);
  }

  [[nodiscard]] Mismatch mismatch(std::int64_t i, double error) const {
    return {index_of(i), is_written(unwritten_.left, i) ? seen_text(i) : kNothing,
            is_written(unwritten_.right, i) ? wanted_text(i) : kNothing, error};
  }

  [[nodiscard]] std::int64_t size() const { return seen_.size(); }
  [[nodiscard]] std::vector<std::int64_t> index_of(std::int64_t i) const {
    std::vector<std::int64_t> index(seen_.shape.size());
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = i % seen_.shape[d];
      i /= seen_.shape[d];
    }
    return index;
  }

 private:
  static bool is_written(const std::vector<bool>* mask, std::int64_t i) {
    return mask == nullptr || (*mask)[static_cast<std::size_t>(i)];
  }

  // Without a type there is nothing to round to, and doubles will do.
  [[nodiscard]] bool compares_integers() const { return seen_.is_integer && seen_.dtype; }

  [[nodiscard]] Verdict judge_real(std::int64_t i) const {
    const double seen = seen_.real(i);
    const double exact = wanted_.real(i);
    const double wanted = seen_.dtype ? rounded(*seen_.dtype, exact) : exact;
    if (is_same(seen, wanted)) return {true, is_near_ ? finite_or_zero(seen - exact) : 0};
    const double error = distance(seen, is_near_ ? exact : wanted);
    return {is_near_ && is_within(error, exact), error};
  }

  // The numbers in the way of bits: 64-bit integers are exact, whatever their sign.
  [[nodiscard]] Verdict judge_integer(std::int64_t i) const {
    const std::int64_t seen = seen_.ints[static_cast<std::size_t>(i)];
    const std::int64_t wanted = int_value_of(*seen_.dtype, wanted_bits(i));
    if (seen == wanted) return {true, 0};
    const Wide far = wide(seen) - wide(wanted);
    const double error = wanted_.is_integer ? static_cast<double>(far < 0 ? -far : far)
                                            : distance(seen_.real(i), wanted_.real(i));
    return {is_near_ && is_within(error, wanted_.real(i)), error};
  }

  [[nodiscard]] Wide wide(std::int64_t value) const {
    return seen_.is_unsigned ? Wide{static_cast<std::uint64_t>(value)} : Wide{value};
  }

  [[nodiscard]] bool is_within(double error, double wanted) const {
    return !tolerance_.is_exact() && std::isfinite(wanted) &&
           error <= tolerance_.rtol * std::fabs(wanted) + tolerance_.atol;
  }
  static double finite_or_zero(double d) { return std::isfinite(d) ? std::fabs(d) : 0; }

  [[nodiscard]] std::uint64_t wanted_bits(std::int64_t i) const {
    if (wanted_.is_integer)
      return bits_from_int(*seen_.dtype, wanted_.ints[static_cast<std::size_t>(i)]);
    return bits_from(*seen_.dtype, wanted_.real(i));
  }
  [[nodiscard]] std::string seen_text(std::int64_t i) const {
    if (!seen_.dtype) return fmt::format("{}", seen_.real(i));
    if (!seen_.is_integer)
      return element_text(*seen_.dtype, bits_from(*seen_.dtype, seen_.real(i)));
    const std::int64_t value = seen_.ints[static_cast<std::size_t>(i)];
    return element_text(*seen_.dtype, bits_from_int(*seen_.dtype, value));
  }
  [[nodiscard]] std::string wanted_text(std::int64_t i) const {
    if (!seen_.dtype) return fmt::format("{}", wanted_.real(i));
    return element_text(*seen_.dtype, wanted_bits(i));
  }

  ExprValue seen_;
  Unwritten unwritten_;
  ExprValue wanted_;
  bool is_near_;
  Tolerance tolerance_;
};

std::string report(const Expectation& expectation, const ExpectResult& result,
                   const std::vector<std::int64_t>& worst) {
  const std::string error = fmt::format("{:.3g}", result.max_error);
  const bool is_near = expectation.relation == ExpectRelation::Near;
  const std::string allowed = is_near ? fmt::format(" (rtol {:.3g}, atol {:.3g})",
                                                    result.tolerance.rtol, result.tolerance.atol)
                                      : "";
  if (result.holds)
    return fmt::format("`{}` holds for {} element{}{}{}", expectation.text, result.elements,
                       result.elements == 1 ? "" : "s",
                       is_near ? fmt::format(", largest error {}", error) : "", allowed);
  std::string text = fmt::format("`{}` fails for {} of {} elements", expectation.text,
                                 result.mismatches, result.elements);
  const bool is_all = result.unwritten == result.mismatches;
  if (result.unwritten > 0)
    text += is_all ? std::string(", all of them never written")
                   : fmt::format(", {} of them never written", result.unwritten);
  if (!is_all) text += fmt::format(", largest error {} at {}{}", error, shape_text(worst), allowed);
  for (const Mismatch& each : result.first)
    text += fmt::format("\n  {}: {}{}, wanted {}", shape_text(each.index),
                        each.seen == kNothing ? "" : "seen ", each.seen,
                        each.wanted == kNothing ? "what was never written" : each.wanted);
  return text;
}

ExpectResult compare(const Expectation& expectation, const Comparison& comparison,
                     Tolerance tolerance) {
  ExpectResult out{.elements = comparison.size(), .tolerance = tolerance};
  std::int64_t worst = 0;
  for (std::int64_t i = 0; i < out.elements; ++i) {
    const auto [agrees, error] = comparison.judge(i);
    if (error > out.max_error) {
      out.max_error = error;
      worst = i;
    }
    if (agrees) continue;
    ++out.mismatches;
    if (!comparison.has_value(i)) ++out.unwritten;
    if (out.first.size() < kShownMismatches) out.first.push_back(comparison.mismatch(i, error));
  }
  out.holds = out.mismatches == 0;
  out.text = report(expectation, out,
                    out.holds ? std::vector<std::int64_t>{} : comparison.index_of(worst));
  return out;
}

// --- tolerances ----------------------------------------------------------------------------------

// The part of rtol that elements near 0 get of the mean magnitude. Room for sums whose terms
// cancel; too little for a factor of 1.01 to hide in, or for a quarter of the mean.
constexpr double kCancelled = 0.25;

double mean_magnitude(const ExprValue& value) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const double each = std::fabs(value.real(i));
    if (!std::isfinite(each)) continue;
    // A mean that is kept up to date does not overflow where a sum would.
    ++count;
    sum += (each - sum) / static_cast<double>(count);
  }
  return sum;
}

// The distance of the numbers next to 0.
double smallest_step(DType type) {
  if (num::kind_of(type) != DTypeKind::Float) return 0;
  const num::FloatFormat& format = num::format_of(type);
  return std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
}

// The atol that goes with an rtol.
double data_atol(double rtol, std::optional<DType> type, const ExprValue& wanted) {
  if (rtol == 0) return 0;
  const double mean = mean_magnitude(wanted);
  const double least = type ? std::min(smallest_step(*type), mean / 4) : 0;
  return std::max(rtol * kCancelled * mean, least);
}

// The left side may lack a type only where that does not matter.
Result<void> check_type(const Expectation& expectation, const ExprValue& left) {
  if (left.dtype || expectation.has_tolerance()) return {};
  const ExprNode& node = expectation.nodes[expectation.left];
  return fail(diag_at(node.span, DiagKind::BadArgument,
                      "the left side `{}` has no element type to compare in",
                      expectation.text_of(node))
                  .with_note("put an array there, or name the type: `float32(...)`"));
}

// What is allowed to differ.
Tolerance tolerance_of(const Expectation& expectation, const ExprValue& left,
                       const ExprValue& wanted) {
  if (expectation.relation == ExpectRelation::Equal) return {};
  const double rtol =
      expectation.has_tolerance() ? expectation.rtol.value_or(0) : default_rtol(*left.dtype);
  return {rtol, expectation.atol ? *expectation.atol : data_atol(rtol, left.dtype, wanted)};
}

// Of a side that is the name of an array, if any of its elements is missing.
const std::vector<bool>* unwritten_in(const Expectation& expectation, std::size_t side,
                                      const FindWritten& written) {
  const ExprNode& node = expectation.nodes[side];
  if (!written || node.op != ExpectOp::Name) return nullptr;
  const std::vector<bool>* mask = written(expectation.text_of(node));
  if (mask == nullptr || std::find(mask->begin(), mask->end(), false) == mask->end())
    return nullptr;
  return mask;
}

// Two whole arrays with the same bits are equal; most results that are compared are.
std::optional<ExpectResult> same_bits(const Expectation& expectation, const FindArray& find) {
  const ExprNode& left = expectation.nodes[expectation.left];
  const ExprNode& right = expectation.nodes[expectation.right];
  if (left.op != ExpectOp::Name || right.op != ExpectOp::Name ||
      expectation.relation == ExpectRelation::Near)
    return std::nullopt;
  const Array* a = find(expectation.text_of(left));
  const Array* b = find(expectation.text_of(right));
  if (a == nullptr || b == nullptr || *a != *b) return std::nullopt;
  ExpectResult out{.holds = true, .elements = a->size()};
  out.text = report(expectation, out, {});
  return out;
}

}  // namespace

double default_rtol(DType type) {
  if (num::kind_of(type) != DTypeKind::Float) return 0;
  if (type == DType::Float64) return 1e-9;
  if (type == DType::Float32) return 1e-4;
  return std::ldexp(1.0, -std::max(num::format_of(type).mantissa_bits, 1));
}

Tolerance default_tolerance(const Array& wanted) {
  const double rtol = default_rtol(wanted.dtype);
  const auto values = load_value(wanted);
  return {rtol, values ? data_atol(rtol, wanted.dtype, *values) : 0};
}

Result<ExpectResult> check_expectation(const Expectation& expectation, const FindArray& find,
                                       std::span<const std::string_view> known,
                                       const FindWritten& written, const FindArray& before) {
  Unwritten unwritten{unwritten_in(expectation, expectation.left, written),
                      unwritten_in(expectation, expectation.right, written)};
  const bool is_whole = unwritten.left == nullptr && unwritten.right == nullptr;
  if (auto same = is_whole ? same_bits(expectation, find) : std::nullopt) return *std::move(same);
  Evaluator evaluator(expectation, find, known, before);
  WW_TRY_VOID(evaluator.run());
  ExprValue left = evaluator.take(expectation.left);
  WW_TRY_VOID(check_type(expectation, left));
  auto right = broadcast_to(evaluator.take(expectation.right), left.shape);
  if (unwritten.right != nullptr && std::ssize(*unwritten.right) != left.size())
    unwritten.right = nullptr;  // one element for many
  if (!right)
    return fail(std::move(right).error().with_span(expectation.nodes[expectation.right].span));
  const Tolerance tolerance = tolerance_of(expectation, left, *right);
  return compare(
      expectation,
      Comparison(std::move(left), *std::move(right), unwritten, expectation.relation, tolerance),
      tolerance);
}

Result<ExpectResult> check_expectation(std::string_view text, const FindArray& find,
                                       std::span<const std::string_view> known) {
  return check_expectation(WW_TRY(parse_expectation(text)), find, known);
}

}  // namespace ww::driver
