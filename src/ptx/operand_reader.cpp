// SPDX-License-Identifier: Apache-2.0
#include "ptx/operand_reader.h"

#include <optional>
#include <span>
#include <string>

#include "ptx/const_expr.h"

namespace ww::ptx {
namespace {

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
