// SPDX-License-Identifier: Apache-2.0
#include "driver/expect/expect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/fail_at.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "base/wide.h"
#include "driver/args/text.h"
#include "driver/expect/value.h"
#include "num/float_format.h"
#include "script/syntax/lexer.h"
#include "script/syntax/parser.h"

namespace ww::driver {

// --- the notation --------------------------------------------------------------------------------

namespace {

constexpr std::string_view kWithin = "within";

using script::ExprKind;
using script::Op;

// A function that expectations know.
struct ExprFunction {
  std::string_view name;
  ExpectOp op;
  std::size_t min_operands;
  std::size_t max_operands;
};

constexpr std::array kFunctions = {
    ExprFunction{"abs", ExpectOp::Abs, 1, 1},     ExprFunction{"sqrt", ExpectOp::Sqrt, 1, 1},
    ExprFunction{"exp", ExpectOp::Exp, 1, 1},     ExprFunction{"log", ExpectOp::Log, 1, 1},
    ExprFunction{"tanh", ExpectOp::Tanh, 1, 1},   ExprFunction{"erf", ExpectOp::Erf, 1, 1},
    ExprFunction{"where", ExpectOp::Where, 3, 3}, ExprFunction{"max", ExpectOp::Max, 1, 2},
    ExprFunction{"min", ExpectOp::Min, 1, 2},     ExprFunction{"sum", ExpectOp::Sum, 1, 2},
    ExprFunction{"mean", ExpectOp::Mean, 1, 2},   ExprFunction{"before", ExpectOp::Before, 1, 1},
};

constexpr std::pair<Op, ExpectOp> kOperators[] = {
    {Op::Add, ExpectOp::Add},         {Op::Sub, ExpectOp::Subtract},  {Op::Mul, ExpectOp::Multiply},
    {Op::Div, ExpectOp::Divide},      {Op::MatMul, ExpectOp::MatMul}, {Op::Pow, ExpectOp::Power},
    {Op::Lt, ExpectOp::Less},         {Op::Le, ExpectOp::LessEqual},  {Op::Gt, ExpectOp::Greater},
    {Op::Ge, ExpectOp::GreaterEqual}, {Op::Eq, ExpectOp::Equal},      {Op::Ne, ExpectOp::NotEqual}};

bool is_reduction(ExpectOp op) {
  return op == ExpectOp::Sum || op == ExpectOp::Mean || op == ExpectOp::Max || op == ExpectOp::Min;
}

// The first `==` or `~=` outside brackets, or the end.
std::size_t relation_in(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0 && (text[i] == '=' || text[i] == '~') && text[i + 1] == '=') return i;
  }
  return text.size();
}

// The word `within`, or the end.
std::size_t within_in(std::string_view text, std::size_t from) {
  const auto is_name = [&](std::size_t i) { return i < text.size() && is_name_char(text[i]); };
  std::size_t at = text.find(kWithin, from);
  while (at < text.size() && (is_name(at - 1) || is_name(at + kWithin.size())))
    at = text.find(kWithin, at + 1);
  return std::min(at, text.size());
}

bool is_word_of_python(std::string_view word) {
  return is_letter(word.front()) && word != "True" && word != "False" &&
         script::kind_of_word(word) != script::TokenKind::Name;
}

class ExpectReader {
 public:
  explicit ExpectReader(std::string_view text) { out_.text = text; }

  Result<Expectation> read() {
    const std::size_t relation = relation_in(text());
    const Result<Node> left = read_side(0, relation);
    const std::size_t end = left ? relation : left.error().span.begin;
    const bool is_single = text().substr(end).starts_with('=');
    if (relation == text().size() && (left || is_single))
      return fail_at(Span::at(end, end + (is_single ? 1 : 0)), DiagKind::Syntax,
                     "found {}, expected `==` or `~=`", is_single ? "`=`" : "the end of the text");
    out_.left = WW_TRY(left);
    if (text()[relation] == '~') out_.relation = ExpectRelation::Near;
    const std::size_t within = within_in(text(), relation + 2);
    Result<Node> right = read_side(relation + 2, within);
    if (!right) return fail(with_hint(std::move(right).error()));
    out_.right = *right;
    if (within == text().size()) return std::move(out_);
    const std::size_t begin = within + kWithin.size();
    WW_TRY_VOID(read_tolerance(trimmed({text().substr(begin), begin})));
    return std::move(out_);
  }

 private:
  using Node = std::size_t;

  // Blanks in front keep the places of the text. `$0` and `in` are no names in Python, so they are
  // read as `_0` and `_n`.
  Result<Node> read_side(std::size_t begin, std::size_t end) {
    std::string side = std::string(begin, ' ') + std::string(text().substr(begin, end - begin));
    for (std::size_t at = begin, next = 0; at < end; at = next) {
      next = at + 1;
      const bool is_word = side[at] == '$' || is_name_char(side[at]);
      while (is_word && next < end && is_name_char(side[next])) ++next;
      const bool is_number = side[at] == '$' && next > at + 1 && is_digit(side[at + 1]);
      if (is_number || is_word_of_python(std::string_view(side).substr(at, next - at)))
        side[at] = '_';
    }
    script::ExprId root;
    ast_ = WW_TRY(script::parse_expression(side, symbols_, root));
    if (ast_[root].kind == ExprKind::Compare && !ast_[root].parenthesized)
      return fail_at(ast_[root].place.span(), DiagKind::Syntax,
                     "found a comparison, expected it in parentheses");
    return node_of(root);
  }

  Result<Node> node_of(script::ExprId id) {
    const script::Expr& e = ast_[id];
    ExprNode out{.span = e.place.span()};
    switch (e.kind) {
      case ExprKind::Int:
        if (e.integer > std::numeric_limits<std::int64_t>::max())
          return add(out, ExpectOp::Real, {}, static_cast<double>(e.integer));
        out.integer = static_cast<std::int64_t>(e.integer);
        return add(out, ExpectOp::Integer);
      case ExprKind::Float:
        return add(out, ExpectOp::Real, {}, e.real);
      case ExprKind::Name:
        return add(out, ExpectOp::Name);
      case ExprKind::Unary:
        if (e.op == Op::Pos) return node_of(e.a);
        if (e.op != Op::Neg) return fail(unknown(e));
        return add(out, ExpectOp::Negate, {WW_TRY(node_of(e.a))});
      case ExprKind::Binary:
        return operation(e, e.op, e.a, e.b);
      case ExprKind::Compare: {
        const auto sides = ast_.list(e.items);
        if (sides.size() != 2) return fail(unknown(e));
        return operation(e, ast_.list(e.compares)[0], sides[0], sides[1]);
      }
      case ExprKind::Attribute:
        if (symbols_.text(e.name) != "T")
          return fail_at(e.name_place.span(), DiagKind::Syntax,
                         "found `{}`, expected `T` after the dot", symbols_.text(e.name));
        return add(out, ExpectOp::Transpose, {WW_TRY(node_of(e.a))});
      case ExprKind::Subscript:
        return slice(e);
      case ExprKind::Call:
        return call(e);
      default:
        return fail(unknown(e));
    }
  }

  Result<Node> operation(const script::Expr& e, Op op, script::ExprId left, script::ExprId right) {
    const auto* const row = std::ranges::find(kOperators, op, &std::pair<Op, ExpectOp>::first);
    if (row == std::end(kOperators)) return fail(unknown(e));
    const Node first = WW_TRY(node_of(left));
    return add({.span = e.place.span()}, row->second, {first, WW_TRY(node_of(right))});
  }

  Result<Node> slice(const script::Expr& e) {
    ExprNode out{.span = e.place.span()};
    const Node array = WW_TRY(node_of(e.a));
    const script::Expr& index = ast_[e.b];
    const bool is_list = index.kind == ExprKind::Tuple && !index.parenthesized;
    for (const script::ExprId each : is_list ? ast_.list(index.items) : std::span(&e.b, 1))
      out.parts.push_back(WW_TRY(part_of(each)));
    return add(std::move(out), ExpectOp::Slice, {array});
  }

  Result<SlicePart> part_of(script::ExprId id) {
    const script::Expr& e = ast_[id];
    SlicePart out{.is_index = e.kind != ExprKind::Slice};
    if (out.is_index) {
      out.begin = WW_TRY(integer(id));
      return out;
    }
    if (e.a.valid()) out.begin = WW_TRY(integer(e.a));
    if (e.b.valid()) out.end = WW_TRY(integer(e.b));
    if (e.c.valid()) out.step = WW_TRY(integer(e.c));
    if (out.step < 1)
      return fail_at(ast_[e.c].place.span(), DiagKind::BadArgument,
                     "the step is {}; it must be at least 1", out.step);
    return out;
  }

  // With its sign.
  Result<std::int64_t> integer(script::ExprId id) {
    const script::Expr& e = ast_[id];
    const bool is_negative = e.kind == ExprKind::Unary && e.op == Op::Neg;
    const script::Expr& number = is_negative ? ast_[e.a] : e;
    if (number.kind != ExprKind::Int || number.integer > std::numeric_limits<std::int64_t>::max())
      return fail(found(e, "an integer"));
    const auto value = static_cast<std::int64_t>(number.integer);
    return is_negative ? -value : value;
  }

  Result<Node> call(const script::Expr& e) {
    const script::Expr& callee = ast_[e.a];
    if (callee.kind != ExprKind::Name) return fail(unknown(e));
    const std::string_view name = symbols_.text(callee.name);
    const ExprFunction cast{name, ExpectOp::Cast, 1, 1};
    const auto* const row = std::ranges::find(kFunctions, name, &ExprFunction::name);
    const ExprFunction& function = row == kFunctions.end() ? cast : *row;
    ExprNode node{.op = function.op, .span = e.place.span()};
    if (node.op == ExpectOp::Cast) node.dtype = WW_TRY(type_called(name, callee.place.span()));
    for (const script::Arg& arg : ast_.list(e.args)) {
      if (arg.kind == script::Arg::Kind::Keyword)
        WW_TRY_VOID(read_option(name, arg, node));
      else if (arg.kind != script::Arg::Kind::Plain)
        return fail(unknown(e));
      else
        node.operands.push_back(WW_TRY(node_of(arg.value)));
    }
    const std::size_t count = node.operands.size();
    if (count < function.min_operands || count > function.max_operands)
      return fail_at(node.span, DiagKind::BadArgument, "`{}` has {} arguments; it takes {}", name,
                     count,
                     function.max_operands == 1   ? "one"
                     : function.max_operands == 3 ? "three"
                                                  : "one or two");
    if (count == 2 && (node.axis || node.keeps_dims))
      return fail_at(node.span, DiagKind::BadArgument, "`{}` of two arguments has no axis", name);
    if (node.op != ExpectOp::Before) return add(std::move(node));
    const ExprNode array = std::move(out_.nodes.back());
    if (array.op != ExpectOp::Name)
      return fail_at(array.span, DiagKind::Syntax, "found `{}`, expected the name of an array",
                     out_.text_of(array));
    out_.nodes.pop_back();
    return add(
        {.op = ExpectOp::Before, .span = node.span, .name = std::string(out_.text_of(array))});
  }

  Result<void> read_option(std::string_view function, const script::Arg& arg, ExprNode& node) {
    const std::string_view option = symbols_.text(arg.name);
    const script::Expr& value = ast_[arg.value];
    if ((option != "axis" && option != "keepdims") || !is_reduction(node.op))
      return fail_at(Span::at(arg.name_place.begin, value.place.end), DiagKind::BadArgument,
                     "`{}` has no `{}`", function, option);
    if (option == "axis") {
      node.axis = WW_TRY(integer(arg.value));
      return {};
    }
    if (value.kind != ExprKind::True && value.kind != ExprKind::False)
      return fail(found(value, "`True` or `False`"));
    node.keeps_dims = value.kind == ExprKind::True;
    return {};
  }

  static Result<num::DType> type_called(std::string_view name, Span span) {
    auto type = num::parse_dtype(name);
    if (type) return type;
    std::vector<std::string_view> candidates;
    candidates.reserve(kFunctions.size() + num::all_dtypes().size());
    for (const ExprFunction& row : kFunctions) candidates.push_back(row.name);
    for (const num::DType each : num::all_dtypes()) candidates.push_back(num::name_of(each));
    return fail_at(span, DiagKind::UnknownName, "`{}` is neither a function nor an element type{}",
                   name, did_you_mean(name, candidates));
  }

  // `1e-3`, which is both, or `rtol=1e-3, atol=0`.
  Result<void> read_tolerance(Piece whole) {
    if (out_.relation == ExpectRelation::Equal)
      return fail_at(whole.span(), DiagKind::BadArgument,
                     "`==` allows no difference; a tolerance needs `~=`");
    if (!whole.text.starts_with("rtol") && !whole.text.starts_with("atol")) {
      out_.rtol = out_.atol = WW_TRY(amount(whole));
      return {};
    }
    for (const Piece& piece : split_top(whole, ',')) {
      const auto sides = cut_first(piece, '=');
      const Piece name = sides ? sides->first : piece;
      if (!sides || (name.text != "rtol" && name.text != "atol"))
        return fail_at(piece.span(), DiagKind::Syntax, "found `{}`, expected `rtol=X` or `atol=X`",
                       piece.text);
      std::optional<double>& value = name.text == "rtol" ? out_.rtol : out_.atol;
      if (value)
        return fail_at(name.span(), DiagKind::BadArgument, "`{}` is given twice", name.text);
      value = WW_TRY(amount(sides->second));
    }
    return {};
  }

  static Result<double> amount(Piece piece) {
    const double value = WW_TRY(located(parse_real(piece.text), piece));
    if (std::isfinite(value) && value >= 0) return value;
    return fail_at(piece.span(), DiagKind::BadArgument,
                   "the tolerance is {}; it must be at least 0", value);
  }

  Node add(ExprNode node, ExpectOp op, std::vector<Node> operands = {}, double real = 0) {
    node.op = op;
    node.operands = std::move(operands);
    node.real = real;
    return add(std::move(node));
  }
  Node add(ExprNode node) {
    out_.nodes.push_back(std::move(node));
    return out_.nodes.size() - 1;
  }

  // What numpy has and this has not.
  [[nodiscard]] Diag with_hint(Diag problem) const {
    const std::string_view rest = text().substr(problem.span.begin);
    if (!rest.starts_with("rtol") && !rest.starts_with("atol") && !rest.starts_with("tol"))
      return problem;
    return std::move(problem).with_note(
        "a tolerance is given by `within`: `B ~= A within rtol=1e-3`");
  }

  [[nodiscard]] std::string_view text() const { return out_.text; }
  [[nodiscard]] Diag found(const script::Expr& e, std::string_view wanted) const {
    return diag_at(e.place.span(), DiagKind::Syntax, "found `{}`, expected {}",
                   printable_excerpt(text().substr(e.place.begin, e.place.end - e.place.begin)),
                   wanted);
  }
  [[nodiscard]] Diag unknown(const script::Expr& e) const {
    return found(e,
                 "what expectations know: numbers, arrays, + - * / ** @, .T, slices, comparisons");
  }

  Expectation out_;
  script::SymbolTable symbols_;
  script::Ast ast_;  // of the side that is read
};

}  // namespace

std::vector<std::string> Expectation::names(bool only_before) const {
  std::vector<std::string> out;
  for (const ExprNode& node : nodes) {
    const auto name = name_of(node);
    if (name && (!only_before || node.op == ExpectOp::Before) && !std::ranges::count(out, *name))
      out.emplace_back(*name);
  }
  return out;
}

Result<Expectation> parse_expectation(std::string_view text) { return ExpectReader(text).read(); }

// --- checking ------------------------------------------------------------------------------------

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
