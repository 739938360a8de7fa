// SPDX-License-Identifier: Apache-2.0
#include "driver/expect/expr.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/suggest.h"
#include "driver/args/text.h"

namespace ww::driver {
namespace {

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

bool is_reduction(ExpectOp op) {
  return op == ExpectOp::Sum || op == ExpectOp::Mean || op == ExpectOp::Max || op == ExpectOp::Min;
}

// Parentheses and signs may nest this deep.
constexpr int kMaxDepth = 200;

class ExpectReader {
 public:
  explicit ExpectReader(std::string_view text) { out_.text = text; }

  Result<Expectation> read() {
    out_.left = WW_TRY(read_sum());
    if (accepts("=="))
      out_.relation = ExpectRelation::Equal;
    else if (accepts("~="))
      out_.relation = ExpectRelation::Near;
    else
      return fail(expected("`==` or `~=`"));
    out_.right = WW_TRY(read_sum());
    skip_blanks();
    if (const std::string_view word = word_here(); word == "within") {
      at_ += word.size();
      WW_TRY_VOID(read_tolerance());
    }
    skip_blanks();
    if (at_ != text().size()) return fail(unexpected_end());
    return std::move(out_);
  }

 private:
  using Node = std::size_t;

  // Where `==` is no relation between the sides: in parentheses and in arguments.
  Result<Node> read_condition() {
    struct Row {
      std::string_view token;
      ExpectOp op;
    };
    static constexpr Row kRows[] = {{"<=", ExpectOp::LessEqual}, {">=", ExpectOp::GreaterEqual},
                                    {"<", ExpectOp::Less},       {">", ExpectOp::Greater},
                                    {"==", ExpectOp::Equal},     {"!=", ExpectOp::NotEqual}};
    const Node left = WW_TRY(read_sum());
    for (const Row& row : kRows)
      if (accepts(row.token)) return add_binary(row.op, left, WW_TRY(read_sum()));
    return left;
  }

  Result<Node> read_sum() {
    Node left = WW_TRY(read_product());
    while (true) {
      if (accepts("+"))
        left = add_binary(ExpectOp::Add, left, WW_TRY(read_product()));
      else if (accepts("-"))
        left = add_binary(ExpectOp::Subtract, left, WW_TRY(read_product()));
      else
        return left;
    }
  }

  Result<Node> read_product() {
    Node left = WW_TRY(read_unary());
    while (true) {
      skip_blanks();
      if (text().substr(at_).starts_with("**")) return left;
      if (accepts("*"))
        left = add_binary(ExpectOp::Multiply, left, WW_TRY(read_unary()));
      else if (accepts("/"))
        left = add_binary(ExpectOp::Divide, left, WW_TRY(read_unary()));
      else if (accepts("@"))
        left = add_binary(ExpectOp::MatMul, left, WW_TRY(read_unary()));
      else
        return left;
    }
  }

  // Everything that nests passes here, so this is where depth is counted.
  Result<Node> read_unary() {
    skip_blanks();
    const std::size_t begin = at_;
    if (depth_ == kMaxDepth)
      return fail(
          diag(DiagKind::Syntax, "more than {} parentheses and signs inside each other", kMaxDepth)
              .with_span(Span::at(begin, begin)));
    ++depth_;
    auto node = accepts("-") ? read_negated(begin) : read_power();
    --depth_;
    return node;
  }

  Result<Node> read_negated(std::size_t begin) {
    const Node inner = WW_TRY(read_unary());
    return add({.op = ExpectOp::Negate,
                .span = Span::at(begin, out_.nodes[inner].span.end),
                .operands = {inner}});
  }

  // From the right: 2 ** 3 ** 2 is 2 ** 9.
  Result<Node> read_power() {
    const Node base = WW_TRY(read_postfix());
    if (!accepts("**")) return base;
    return add_binary(ExpectOp::Power, base, WW_TRY(read_unary()));
  }

  Result<Node> read_postfix() {
    const std::size_t begin = at_;
    Node node = WW_TRY(read_primary());
    while (true) {
      if (accepts(".")) {
        const std::string_view word = word_here();
        if (word != "T") return fail(expected("`T` after the dot"));
        at_ += word.size();
        node = add({.op = ExpectOp::Transpose, .span = Span::at(begin, at_), .operands = {node}});
      } else if (accepts("[")) {
        ExprNode slice{.op = ExpectOp::Slice, .span = {}, .operands = {node}};
        do slice.parts.push_back(WW_TRY(read_part()));
        while (accepts(","));
        if (!accepts("]")) return fail(expected("`,` or `]`"));
        slice.span = Span::at(begin, at_);
        node = add(std::move(slice));
      } else {
        return node;
      }
    }
  }

  Result<SlicePart> read_part() {
    SlicePart out;
    out.begin = WW_TRY(read_integer());
    if (!accepts(":")) {
      if (!out.begin) return fail(expected("an integer or `:`"));
      out.is_index = true;
      return out;
    }
    out.end = WW_TRY(read_integer());
    if (!accepts(":")) return out;
    skip_blanks();
    const std::size_t begin = at_;
    out.step = WW_TRY(read_integer()).value_or(1);
    if (out.step < 1)
      return fail(diag(DiagKind::BadArgument, "the step is {}; it must be at least 1", out.step)
                      .with_span(Span::at(begin, at_)));
    return out;
  }

  // With its sign, if one stands here.
  Result<std::optional<std::int64_t>> read_integer() {
    skip_blanks();
    const std::size_t begin = at_;
    const bool is_negative = accepts("-");
    skip_blanks();
    if (!is_digit(peek())) {
      if (is_negative) return fail(expected("an integer"));
      return std::optional<std::int64_t>();
    }
    const std::string_view word = word_here();
    at_ += word.size();
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || stop != end)
      return fail(diag(DiagKind::Syntax, "expected an integer, found `{}`", word)
                      .with_span(Span::at(begin, at_)));
    return std::optional(is_negative ? -value : value);
  }

  Result<Node> read_primary() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
    if (c == '(') return read_parenthesis();
    if (c == '$') return read_positional();
    if (!is_letter(c)) return fail(expected("a number, a name or `(`"));
    const std::size_t begin = at_;
    const std::string_view name = word_here();
    at_ += name.size();
    if (const std::size_t end = at_; accepts("(")) return read_call(name, Span::at(begin, end));
    at_ = begin + name.size();
    return add({.op = ExpectOp::Name, .span = Span::at(begin, at_)});
  }

  Result<Node> read_parenthesis() {
    ++at_;
    const Node node = WW_TRY(read_condition());
    if (!accepts(")")) return fail(expected("`)`"));
    return node;
  }

  Result<Node> read_positional() {
    const std::size_t begin = at_++;
    while (is_digit(peek())) ++at_;
    if (at_ == begin + 1) return fail(expected("the number of a parameter after `$`"));
    return add({.op = ExpectOp::Name, .span = Span::at(begin, at_)});
  }

  Result<Node> read_number() {
    const std::size_t begin = at_;
    const std::string_view word = number_here();
    at_ += word.size();
    const Span span = Span::at(begin, at_);
    if (word.find_first_of(".eE") == std::string_view::npos) {
      std::int64_t value = 0;
      const char* const end = word.data() + word.size();
      const auto [stop, error] = std::from_chars(word.data(), end, value);
      if (error == std::errc() && stop == end)
        return add({.op = ExpectOp::Integer, .span = span, .integer = value});
    }
    auto value = parse_real(word);
    if (!value) return fail(moved(std::move(value).error(), span));
    return add({.op = ExpectOp::Real, .span = span, .real = *value});
  }

  Result<Node> read_call(std::string_view name, Span span) {
    ExprNode node{.op = ExpectOp::Cast, .span = span};
    const ExprFunction cast{name, ExpectOp::Cast, 1, 1};
    const ExprFunction* function = &cast;
    for (const ExprFunction& row : kFunctions)
      if (row.name == name) function = &row;
    node.op = function->op;
    if (node.op == ExpectOp::Before) return read_before(span);
    if (function == &cast) node.dtype = WW_TRY(type_called(name, span));
    WW_TRY_VOID(read_operands(name, node));
    node.span.end = at_;
    const std::size_t count = node.operands.size();
    if (count < function->min_operands || count > function->max_operands)
      return fail(diag(DiagKind::BadArgument, "`{}` has {} arguments; it takes {}", name, count,
                       function->max_operands == 1   ? "one"
                       : function->max_operands == 3 ? "three"
                                                     : "one or two")
                      .with_span(node.span));
    if (count == 2 && (node.axis || node.keeps_dims))
      return fail(diag(DiagKind::BadArgument, "`{}` of two arguments has no axis", name)
                      .with_span(node.span));
    return add(std::move(node));
  }

  Result<Node> read_before(Span span) {
    skip_blanks();
    const std::size_t begin = at_;
    if (peek() == '$') ++at_;
    at_ += word_here().size();
    if (at_ == begin) return fail(expected("the name of an array"));
    std::string name(text().substr(begin, at_ - begin));
    if (!accepts(")")) return fail(expected("`)`: `before` takes the name of an array"));
    span.end = at_;
    return add({.op = ExpectOp::Before, .span = span, .name = std::move(name)});
  }

  Result<void> read_operands(std::string_view name, ExprNode& node) {
    if (accepts(")")) return {};
    do {
      skip_blanks();
      const std::string_view word = word_here();
      const bool is_option = (word == "axis" || word == "keepdims") && is_assigned(word.size());
      if (is_option)
        WW_TRY_VOID(read_option(name, word, node));
      else
        node.operands.push_back(WW_TRY(read_condition()));
    } while (accepts(","));
    if (!accepts(")")) return fail(expected("`,` or `)`"));
    return {};
  }
  // `axis=1`, which is no comparison `axis == 1` with an array of that name.
  [[nodiscard]] bool is_assigned(std::size_t length) const {
    std::size_t i = length;
    while (is_space(peek(i))) ++i;
    return peek(i) == '=' && peek(i + 1) != '=';
  }
  Result<void> read_option(std::string_view name, std::string_view option, ExprNode& node) {
    const std::size_t begin = at_;
    at_ += option.size();
    accepts("=");
    if (option == "axis") {
      node.axis = WW_TRY(read_integer());
      if (!node.axis) return fail(expected("a dimension"));
    } else {
      skip_blanks();
      const std::string_view word = word_here();
      if (word != "True" && word != "False") return fail(expected("`True` or `False`"));
      at_ += word.size();
      node.keeps_dims = word == "True";
    }
    if (!is_reduction(node.op))
      return fail(diag(DiagKind::BadArgument, "`{}` has no `{}`", name, option)
                      .with_span(Span::at(begin, at_)));
    return {};
  }

  static Result<num::DType> type_called(std::string_view name, Span span) {
    auto type = num::parse_dtype(name);
    if (type) return type;
    std::vector<std::string_view> candidates;
    candidates.reserve(kFunctions.size() + num::all_dtypes().size());
    for (const ExprFunction& row : kFunctions) candidates.push_back(row.name);
    for (const num::DType each : num::all_dtypes()) candidates.push_back(num::name_of(each));
    return fail(diag(DiagKind::UnknownName, "`{}` is neither a function nor an element type{}",
                     name, did_you_mean(name, candidates))
                    .with_span(span));
  }

  Result<void> read_tolerance() {
    skip_blanks();
    const std::size_t begin = at_;
    if (word_here() != "rtol" && word_here() != "atol") {
      out_.rtol = out_.atol = WW_TRY(read_amount());
    } else {
      do WW_TRY_VOID(read_setting());
      while (accepts(","));
    }
    if (out_.relation == ExpectRelation::Equal)
      return fail(diag(DiagKind::BadArgument, "`==` allows no difference; a tolerance needs `~=`")
                      .with_span(Span::at(begin, at_)));
    return {};
  }

  // `rtol=1e-3`
  Result<void> read_setting() {
    skip_blanks();
    const std::string_view name = word_here();
    if (name != "rtol" && name != "atol") return fail(expected("`rtol=` or `atol=`"));
    std::optional<double>& value = name == "rtol" ? out_.rtol : out_.atol;
    if (value)
      return fail(diag(DiagKind::BadArgument, "`{}` is given twice", name)
                      .with_span(Span::at(at_, at_ + name.size())));
    at_ += name.size();
    if (!accepts("=")) return fail(expected(fmt::format("`=` behind `{}`", name)));
    value = WW_TRY(read_amount());
    return {};
  }

  Result<double> read_amount() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text().size() && !is_space(text()[at_]) && text()[at_] != ',') ++at_;
    const Span span = Span::at(begin, at_);
    const auto value = parse_real(text().substr(begin, at_ - begin));
    if (!value) return fail(moved(value.error(), span));
    if (!std::isfinite(*value) || *value < 0)
      return fail(diag(DiagKind::BadArgument, "the tolerance is {}; it must be at least 0", *value)
                      .with_span(span));
    return *value;
  }

  Node add(ExprNode node) {
    out_.nodes.push_back(std::move(node));
    return out_.nodes.size() - 1;
  }
  Node add_binary(ExpectOp op, Node left, Node right) {
    const Span span = Span::at(out_.nodes[left].span.begin, out_.nodes[right].span.end);
    return add({.op = op, .span = span, .operands = {left, right}});
  }

  [[nodiscard]] std::string_view text() const { return out_.text; }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text().size() ? text()[at_ + ahead] : '\0';
  }
  void skip_blanks() {
    while (is_space(peek())) ++at_;
  }
  bool accepts(std::string_view token) {
    skip_blanks();
    if (!text().substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  [[nodiscard]] std::string_view word_here() const {
    std::size_t end = at_;
    while (end < text().size() && is_name_char(text()[end])) ++end;
    return text().substr(at_, end - at_);
  }
  // Digits and dots, an exponent's sign included; `2.T` ends before its dot.
  [[nodiscard]] std::string_view number_here() const {
    std::size_t end = at_;
    const auto next = [&](std::size_t i) { return i < text().size() ? text()[i] : '\0'; };
    while (is_name_char(next(end)) || (next(end) == '.' && !is_letter(next(end + 1)))) {
      const bool is_exponent = to_lower(next(end)) == 'e';
      ++end;
      if (is_exponent && (next(end) == '-' || next(end) == '+')) ++end;
    }
    return text().substr(at_, end - at_);
  }

  // One character, which in UTF-8 may be several bytes.
  [[nodiscard]] std::string_view character_here() const {
    std::size_t length = 1;
    while ((static_cast<unsigned char>(peek(length)) & 0xC0U) == 0x80U) ++length;
    return text().substr(at_, length);
  }
  // What numpy has and this has not.
  [[nodiscard]] Diag unexpected_end() {
    Diag out = expected("an operator or the end");
    const std::string_view rest = text().substr(at_);
    if (rest.starts_with("rtol") || rest.starts_with("atol") || rest.starts_with("tol"))
      out.notes.push_back({"a tolerance is given by `within`: `B ~= A within rtol=1e-3`", {}});
    return out;
  }
  [[nodiscard]] Diag expected(std::string_view what) {
    skip_blanks();
    std::string_view word = word_here();
    if (word.empty()) word = character_here();
    const std::string found = word.empty() ? "the end" : fmt::format("`{}`", word);
    return diag(DiagKind::Syntax, "expected {}, found {}", what, found)
        .with_span(Span::at(at_, at_ + word.size()));
  }
  static Diag moved(Diag diag, Span span) {
    diag.span = span;
    return diag;
  }

  Expectation out_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<std::string> Expectation::names() const {
  std::vector<std::string> out;
  for (const ExprNode& node : nodes) {
    const auto name = name_of(node);
    if (name && std::find(out.begin(), out.end(), *name) == out.end()) out.emplace_back(*name);
  }
  return out;
}

std::vector<std::string> Expectation::names_before() const {
  std::vector<std::string> out;
  for (const ExprNode& node : nodes)
    if (node.op == ExpectOp::Before && std::find(out.begin(), out.end(), node.name) == out.end())
      out.push_back(node.name);
  return out;
}

Result<Expectation> parse_expectation(std::string_view text) { return ExpectReader(text).read(); }

}  // namespace ww::driver
