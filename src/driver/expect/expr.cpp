// SPDX-License-Identifier: Apache-2.0
#include "driver/expect/expr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "driver/args/text.h"
#include "script/syntax/parser.h"
#include "script/syntax/tokens.h"

namespace ww::driver {
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

}  // namespace ww::driver
