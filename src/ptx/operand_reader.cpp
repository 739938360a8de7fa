// SPDX-License-Identifier: Apache-2.0
#include "ptx/operand_reader.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/lexer.h"
#include "ptx/operand.h"

namespace ww::ptx {

// --- const expr ----------------------------------------------------------------------------------
//
// Constant expressions of integers, as they may stand wherever PTX wants an integer: `(1<<4)|3`,
// `WARP_SZ-1`. They are computed while reading; a module holds only their values. Used inside this
// folder.

namespace {

/// A 64-bit value and which of PTX's two constant types it has: .s64, or .u64.
struct Constant {
  std::uint64_t bits = 0;
  bool is_unsigned = false;
};

/// Whether the token at the cursor continues an expression after an operand. `%` does, `%3` is a
/// register.
inline bool at_operator(const Cursor& cursor) {
  // What follows nearly all integers.
  if (cursor.at(',') || cursor.at(';') || cursor.at(']') || cursor.at('}')) return false;
  return !cursor.at_end() && !cursor.at_name() &&
         std::string_view("|&^=!<>+-*/%?").contains(cursor.rest().front());
}

/// How a computed value is written: `-3`, `7`, `7U`.
Spelling spelling_of(const Constant& constant);

using Value = std::optional<Constant>;

constexpr int kDeepest = 64;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63U;

// Binary operators from the loosest to the tightest. Those with two characters come first, so that
// `<<` is not taken for `<`. The numbers are C's levels.
struct Operator {
  std::string_view text;
  int level;
};
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};
constexpr int kTernary = 0;

Constant truth(bool holds) { return {holds ? 1U : 0U, false}; }

bool is_less(const Constant& a, const Constant& b) {
  if (a.is_unsigned || b.is_unsigned) return a.bits < b.bits;
  return static_cast<std::int64_t>(a.bits) < static_cast<std::int64_t>(b.bits);
}

std::uint64_t magnitude(const Constant& a) {
  return !a.is_unsigned && (a.bits & kSignBit) != 0 ? 0 - a.bits : a.bits;
}

// Rounds towards zero, and the remainder has the sign of the dividend; by magnitudes, so that
// nothing overflows.
Constant divide(Constant a, Constant b, bool wants_remainder) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  a.is_unsigned = b.is_unsigned = is_unsigned;
  const bool a_negative = !is_unsigned && (a.bits & kSignBit) != 0;
  const bool b_negative = !is_unsigned && (b.bits & kSignBit) != 0;
  if (wants_remainder) {
    const std::uint64_t rest = magnitude(a) % magnitude(b);
    return {a_negative ? 0 - rest : rest, is_unsigned};
  }
  const std::uint64_t quotient = magnitude(a) / magnitude(b);
  return {a_negative != b_negative ? 0 - quotient : quotient, is_unsigned};
}

// The result has the type of the left side. Only the low six bits of the distance count: PTX leaves
// this open, and ptxas does so.
Constant shift(const Constant& a, const Constant& b, bool left) {
  const std::uint64_t distance = b.bits & 63U;
  if (left) return {a.bits << distance, a.is_unsigned};
  if (a.is_unsigned) return {a.bits >> distance, true};
  return {static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> distance), false};
}

// `op` is one of kOperators; a division by zero is caught before.
Constant apply(std::string_view op, const Constant& a, const Constant& b) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (op == "||") return truth(a.bits != 0 || b.bits != 0);
  if (op == "&&") return truth(a.bits != 0 && b.bits != 0);
  if (op == "==") return truth(a.bits == b.bits);
  if (op == "!=") return truth(a.bits != b.bits);
  if (op == "<") return truth(is_less(a, b));
  if (op == ">") return truth(is_less(b, a));
  if (op == "<=") return truth(!is_less(b, a));
  if (op == ">=") return truth(!is_less(a, b));
  if (op == "<<" || op == ">>") return shift(a, b, op == "<<");
  if (op == "|") return {a.bits | b.bits, is_unsigned};
  if (op == "^") return {a.bits ^ b.bits, is_unsigned};
  if (op == "&") return {a.bits & b.bits, is_unsigned};
  if (op == "+") return {a.bits + b.bits, is_unsigned};
  if (op == "-") return {a.bits - b.bits, is_unsigned};
  if (op == "*") return {a.bits * b.bits, is_unsigned};
  return divide(a, b, op == "%");
}

class Reader {
 public:
  explicit Reader(Cursor& cursor) : cursor_(cursor) {}

  // An expression of operators at `level` or tighter.
  Value expression(int level) {
    if (++depth_ > kDeepest) return too_deep();
    Value left = unary();
    while (left) {
      const Operator* op = operator_here();
      if (op == nullptr || op->level < level) break;
      left = binary(*left, *op);
    }
    if (left && level == kTernary && cursor_.at('?')) left = choice(*left);
    --depth_;
    return left;
  }

 private:
  Value too_deep() {
    cursor_.fatal(diag(DiagKind::TooLarge, "the expression nests more than {} deep", kDeepest)
                      .with_span(cursor_.peek().span()));
    return std::nullopt;
  }

  // The operator that begins at the cursor.
  [[nodiscard]] const Operator* operator_here() const {
    if (!at_operator(cursor_)) return nullptr;
    const std::string_view rest = cursor_.rest();
    for (const Operator& op : kOperators)
      if (rest.starts_with(op.text)) return &op;
    return nullptr;
  }

  Value binary(const Constant& left, const Operator& op) {
    const Span where = cursor_.peek().span();
    for (std::size_t i = 0; i < op.text.size(); ++i) cursor_.take_punct();
    const Value right = expression(op.level + 1);
    if (!right) return std::nullopt;
    if (right->bits == 0 && (op.text == "/" || op.text == "%")) {
      cursor_.error(diag(DiagKind::Syntax, "the expression divides by zero").with_span(where));
      return std::nullopt;
    }
    return apply(op.text, left, *right);
  }

  Value choice(const Constant& condition) {
    cursor_.take_punct();
    const Value yes = expression(kTernary);
    if (!yes || !cursor_.expect(':', "`:` of the `?`")) return std::nullopt;
    const Value no = expression(kTernary);
    if (!no) return std::nullopt;
    return Constant{condition.bits != 0 ? yes->bits : no->bits,
                    yes->is_unsigned || no->is_unsigned};
  }

  // Signs are applied from the inside out; a loop over them would have to remember them as well.
  Value unary() {
    if (depth_ > kDeepest) return too_deep();
    const char sign = cursor_.at_end() ? '\0' : cursor_.rest().front();
    if (sign != '-' && sign != '+' && sign != '~' && sign != '!') return primary();
    cursor_.take_punct();
    ++depth_;
    Value value = unary();
    --depth_;
    if (value && sign == '-') value->bits = 0 - value->bits;
    if (value && sign == '~') value->bits = ~value->bits;
    if (value && sign == '!') value = truth(value->bits == 0);
    return value;
  }

  Value primary() {
    if (cursor_.at('(')) return parenthesised();
    if (cursor_.peek().kind == TokenKind::Int) return literal();
    if (cursor_.at_word("WARP_SZ")) {
      cursor_.take();
      return Constant{32, false};
    }
    cursor_.unexpected("an integer");
    return std::nullopt;
  }

  Constant literal() {
    const Token token = cursor_.take();
    return {token.value, token.spelling.has_u_suffix || (token.value & kSignBit) != 0};
  }

  Value parenthesised() {
    cursor_.take_punct();
    if (cursor_.at_word(".s64") || cursor_.at_word(".u64")) return cast();
    const Value value = expression(kTernary);
    if (!value || !cursor_.expect(')', "`)`")) return std::nullopt;
    return value;
  }

  Value cast() {
    const bool is_unsigned = cursor_.take_word() == ".u64";
    if (!cursor_.expect(')', "`)`")) return std::nullopt;
    ++depth_;
    Value value = unary();
    --depth_;
    if (value) value->is_unsigned = is_unsigned;
    return value;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

// Reads the longest expression at the cursor: the operators of C except assignment, with C's
// precedence, the casts (.s64) and (.u64), and WARP_SZ. Nothing, with the error reported, when
// there is none, when it divides by zero, or when it nests too deeply.
std::optional<Constant> read_constant(Cursor& cursor) {
  return Reader(cursor).expression(kTernary);
}

Spelling spelling_of(const Constant& constant) {
  return {.radix = Radix::Decimal,
          .minus = !constant.is_unsigned && (constant.bits & kSignBit) != 0,
          .has_u_suffix = constant.is_unsigned};
}

constexpr int kDeepestBraces = 64;

void set_int(const Token& digits, bool minus, Operand& out) {
  out.bits = minus ? 0 - digits.value : digits.value;
  out.spelling = digits.spelling;
  out.spelling.minus = minus;
}

}  // namespace

// The operand on top of the stack reaches from `begin` to what was taken last.
inline void OperandReader::finish(std::uint32_t begin) {
  stack_.back().offset = begin;
  stack_.back().length = cursor_.last_end() - begin;
}

// Makes one operand of those above `base`.
void OperandReader::make_list(OperandPool& pool, OperandKind kind, std::size_t base,
                              std::uint32_t begin) {
  const Operand list = pool.make(kind, std::span(stack_).subspan(base));
  stack_.resize(base);
  stack_.push_back(list);
  finish(begin);
}

// --- single nodes -------------------------------------------------------------------------------

// The Word or DotWord at the cursor: a name, or `_`.
inline void OperandReader::plain_name() {
  const std::uint32_t begin = cursor_.offset();
  const std::string_view text = cursor_.take_word();
  const bool is_sink = text.size() == 1 && text[0] == '_';
  Operand& out = stack_.emplace_back();
  out.kind = is_sink ? OperandKind::Sink : OperandKind::Name;
  out.name = is_sink ? kNoName : names_.intern(text);
  out.offset = begin;
  out.length = static_cast<std::uint32_t>(text.size());
}

// A name, perhaps with an offset or an index. `_` has neither. WARP_SZ is a number, and may begin
// an expression.
inline bool OperandReader::name() {
  const std::uint32_t begin = cursor_.offset();
  plain_name();
  const char next = cursor_.here();
  if (next == ',' || next == ';' || stack_.back().kind == OperandKind::Sink) return true;
  const bool has_offset = next == '+' || next == '-';
  if (!has_offset && next != '[') return true;
  if (next == '-') return minus_offset();
  // ptxas: nothing is added to a component.
  Operand& out = stack_.back();
  if (has_offset && names_.text(out.name).find('.', 1) != std::string_view::npos)
    return cursor_.unexpected("`,` or `;`");
  out.kind = has_offset ? OperandKind::NameOffset : OperandKind::Index;
  if (!has_offset) cursor_.take_punct();
  if (!constant(out) || (!has_offset && !cursor_.expect(']', "`]`"))) return false;
  finish(begin);
  return true;
}

// The cursor is at the `-` behind the name on top of the stack.
bool OperandReader::minus_offset() {
  const std::string_view name = names_.text(stack_.back().name);
  const Token minus = cursor_.peek();
  return cursor_.error(diag(DiagKind::Syntax,
                            "found `-` behind `{0}`, expected `+`; a negative offset is written "
                            "`{0}+-4`",
                            name)
                           .with_span(minus.span()));
}

bool OperandReader::not_name() {
  const std::uint32_t begin = cursor_.offset();
  cursor_.take_punct();
  if (!cursor_.at_name() || cursor_.at_word("_")) {
    cursor_.go_back_to(begin);
    return number();
  }
  plain_name();
  stack_.back().kind = OperandKind::NotName;
  finish(begin);
  return true;
}

// Nearly all numbers are plain integers.
inline bool OperandReader::plain_int() {
  const std::uint32_t begin = cursor_.offset();
  std::uint64_t value = 0;
  if (cursor_.accept_plain_int(value) && !at_operator(cursor_)) {
    Operand& out = stack_.emplace_back();
    out.kind = OperandKind::Int;
    out.bits = value;
    finish(begin);
    return true;
  }
  cursor_.go_back_to(begin);
  return number();
}

bool OperandReader::number() {
  const std::uint32_t begin = cursor_.offset();
  const bool minus = cursor_.at('-');
  if (minus || cursor_.at('+')) cursor_.take_punct();
  const Token digits = cursor_.take();
  const bool is_exact = digits.kind == TokenKind::F32 || digits.kind == TokenKind::F64;
  Operand& out = stack_.emplace_back();
  out.kind = OperandKind::Int;
  if (digits.kind == TokenKind::Int && !at_operator(cursor_)) {
    set_int(digits, minus, out);
  } else if (digits.kind == TokenKind::Decimal) {
    const std::string_view text = cursor_.text_of(digits);
    out.kind = OperandKind::Decimal;
    out.name = names_.intern(minus ? "-" + std::string(text) : text);
  } else if (is_exact && digits.begin == begin) {
    out.kind = digits.kind == TokenKind::F32 ? OperandKind::F32 : OperandKind::F64;
    out.bits = digits.value;
  } else {
    cursor_.go_back_to(begin);
    if (!constant(out)) return false;
  }
  finish(begin);
  return true;
}

// Fills in an integer; the kind is the caller's business. `+-8` is how negative offsets are
// written.
bool OperandReader::constant(Operand& out) {
  const std::uint32_t begin = cursor_.offset();
  cursor_.accept('+');
  const bool minus = cursor_.accept('-');
  const Token digits = cursor_.take();
  if (digits.kind == TokenKind::Int && !at_operator(cursor_)) {
    set_int(digits, minus, out);
    return true;
  }
  cursor_.go_back_to(begin);
  const std::optional<Constant> value = read_constant(cursor_);
  if (!value) return false;
  out.bits = value->bits;
  out.spelling = spelling_of(*value);
  return true;
}

bool OperandReader::warp_size() {
  const std::uint32_t begin = cursor_.offset();
  plain_name();
  if (!at_operator(cursor_)) return true;
  stack_.pop_back();
  cursor_.go_back_to(begin);
  Operand& out = stack_.emplace_back();
  out.kind = OperandKind::Int;
  if (!constant(out)) return false;
  finish(begin);
  return true;
}

// An element of a list: nothing is added to its names.
inline bool OperandReader::element() {
  if (!cursor_.at_name() || cursor_.at_word("WARP_SZ")) return leaf();
  plain_name();
  return true;
}

inline bool OperandReader::leaf() {
  switch (cursor_.start()) {
    case Start::Word:
      return cursor_.at_word("WARP_SZ") ? warp_size() : name();
    case Start::Percent:
      if (cursor_.at_name()) return name();
      break;
    case Start::Digit:
      return plain_int();
    case Start::Dot:
      if (!cursor_.at_dot_word()) return number();
      break;
    case Start::Punct:
      if (cursor_.at('!')) return not_name();
      if (cursor_.at('-') || cursor_.at('+') || cursor_.at('~') || cursor_.at('(')) return number();
      break;
    default:
      break;
  }
  return cursor_.unexpected("an operand");
}

// --- instructions -------------------------------------------------------------------------------

bool OperandReader::instruction(OperandPool& pool, bool has_lists, Range& operands) {
  stack_.clear();
  if (!cursor_.at(';')) {
    do {
      if (!operand(pool, has_lists)) return false;
    } while (cursor_.accept(','));
  }
  if (!cursor_.expect(';', "`,` or `;`")) return false;
  operands = pool.append(stack_);
  return true;
}

inline bool OperandReader::operand(OperandPool& pool, bool has_lists) {
  if (cursor_.at('[')) return address(pool);
  if (cursor_.at('(') && has_lists) return call_list(pool);
  const bool read = cursor_.at('{') ? vector(pool) : leaf();
  return read && cursor_.at('|') ? pair(pool) : read;
}

// `{%r1, %r2}`
bool OperandReader::vector(OperandPool& pool) {
  const std::uint32_t begin = cursor_.offset();
  const std::size_t base = stack_.size();
  cursor_.take_punct();
  do {
    if (!element()) return false;
  } while (cursor_.accept(','));
  if (!cursor_.expect('}', "`,` or `}`")) return false;
  make_list(pool, OperandKind::Vector, base, begin);
  return true;
}

// `(param0, param1)`, `()`
bool OperandReader::call_list(OperandPool& pool) {
  const std::uint32_t begin = cursor_.offset();
  const std::size_t base = stack_.size();
  cursor_.take_punct();
  if (!cursor_.at(')')) {
    do {
      if (!element()) return false;
    } while (cursor_.accept(','));
  }
  if (!cursor_.expect(')', "`,` or `)`")) return false;
  make_list(pool, OperandKind::List, base, begin);
  return true;
}

// `[base]`, `[base+8]`, `[map, {x, y}]`
bool OperandReader::address(OperandPool& pool) {
  const std::uint32_t begin = cursor_.offset();
  const std::size_t base = stack_.size();
  cursor_.take_punct();
  if (!address_base()) return false;
  while (cursor_.accept(','))
    if (!(cursor_.at('{') ? vector(pool) : leaf())) return false;
  if (!cursor_.expect(']', "`,` or `]`")) return false;
  make_list(pool, OperandKind::Address, base, begin);
  return true;
}

bool OperandReader::address_base() {
  const std::uint32_t begin = cursor_.offset();
  if (!leaf()) return false;
  const OperandKind kind = stack_.back().kind;
  if (kind == OperandKind::Name || kind == OperandKind::NameOffset || kind == OperandKind::Int)
    return true;
  Token found;
  found.kind = TokenKind::Word;
  found.begin = begin;
  found.end = cursor_.last_end();
  return cursor_.error(diag(DiagKind::Syntax,
                            "found {}, expected a register, variable or integer as address",
                            describe(found, cursor_.lexer().text()))
                           .with_span(found.span()));
}

// The cursor is at the `|` after the operand on top of the stack, the first of the two.
bool OperandReader::pair(OperandPool& pool) {
  const std::uint32_t begin = stack_.back().offset;
  cursor_.take_punct();
  if (!cursor_.at_name()) return cursor_.unexpected("a predicate or `_`");
  plain_name();
  make_list(pool, OperandKind::Pair, stack_.size() - 2, begin);
  return true;
}

// --- initialisers -------------------------------------------------------------------------------

bool OperandReader::initializer(OperandPool& pool, Operand& value) {
  stack_.clear();
  if (!initial_value(pool, 0)) return false;
  value = stack_.back();
  return true;
}

bool OperandReader::initial_value(OperandPool& pool, int depth) {
  if (!cursor_.at('{')) {
    if (cursor_.at_name() && !cursor_.at_word("WARP_SZ")) return symbol();
    return leaf() && (cursor_.at('(') ? mask(pool) : true);
  }
  if (depth == kDeepestBraces)
    return cursor_.fatal(diag(DiagKind::TooLarge, "the braces nest more than {} deep", depth)
                             .with_span(cursor_.peek().span()));
  const std::uint32_t begin = cursor_.offset();
  const std::size_t base = stack_.size();
  cursor_.take_punct();
  if (!cursor_.at('}')) {
    do {
      if (!initial_value(pool, depth + 1)) return false;
    } while (cursor_.accept(','));
  }
  if (!cursor_.expect('}', "`,` or `}`")) return false;
  make_list(pool, OperandKind::Vector, base, begin);
  return true;
}

// `sym`, `sym+4`, `generic(sym)+4`
bool OperandReader::symbol() {
  if (!cursor_.at_name()) return cursor_.unexpected("a symbol");
  const std::uint32_t begin = cursor_.offset();
  const bool is_generic = cursor_.take_word() == "generic" && cursor_.at('(');
  if (!is_generic) {
    cursor_.go_back_to(begin);
    plain_name();
    if (cursor_.at('[')) return cursor_.unexpected("`+`, `,` or `;`");
    if (cursor_.at('-')) return minus_offset();
    if (!cursor_.at('+')) return true;
    stack_.back().kind = OperandKind::NameOffset;
    if (!constant(stack_.back())) return false;
    finish(begin);
    return true;
  }
  cursor_.take_punct();
  if (!cursor_.at_name()) return cursor_.unexpected("a symbol");
  plain_name();
  stack_.back().kind = OperandKind::Generic;
  if (!cursor_.expect(')', "`)`")) return false;
  if (cursor_.at('-')) return minus_offset();
  if (cursor_.at('+') && !constant(stack_.back())) return false;
  finish(begin);
  return true;
}

// `0xFF00(sym+4)`: the cursor is at the parenthesis, the mask on top of the stack.
bool OperandReader::mask(OperandPool& pool) {
  const std::uint32_t begin = stack_.back().offset;
  if (stack_.back().kind != OperandKind::Int) return cursor_.unexpected("`,`, `}` or `;`");
  cursor_.take_punct();
  if (!symbol() || !cursor_.expect(')', "`)`")) return false;
  make_list(pool, OperandKind::Mask, stack_.size() - 2, begin);
  return true;
}

// --- debug sections -----------------------------------------------------------------------------

bool OperandReader::section_values(OperandPool& pool, Range& values) {
  stack_.clear();
  do {
    if (!section_value(pool)) return false;
  } while (cursor_.accept(','));
  values = pool.append(stack_);
  return true;
}

// `7`, `$L__tmp1`, `.debug_loc+463`, `$L__end-$L__begin`
bool OperandReader::section_value(OperandPool& pool) {
  if (!cursor_.at_name()) return cursor_.at_dot_word() ? name() : number();
  const std::uint32_t begin = cursor_.offset();
  plain_name();
  if (cursor_.accept('-') && cursor_.at_name()) {
    plain_name();
    make_list(pool, OperandKind::Difference, stack_.size() - 2, begin);
    return true;
  }
  cursor_.go_back_to(begin);
  stack_.pop_back();
  return name();
}

}  // namespace ww::ptx
