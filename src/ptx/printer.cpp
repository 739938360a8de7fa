// SPDX-License-Identifier: Apache-2.0
#include "ptx/printer.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/small_vec.h"
#include "ptx/module.h"
#include "ptx/words.h"

namespace ww::ptx {

// --- text buffer ---------------------------------------------------------------------------------
//
// Text that grows by pieces of a few bytes. They are collected in a small buffer, which stays in
// the processor's cache. Used inside this folder.

namespace {

class TextBuffer {
 public:
  void add(char c) {
    if (used_ == buffer_.size()) flush();
    buffer_[used_++] = c;
  }
  void add(std::string_view piece) {
    if (piece.size() > buffer_.size() - used_) return add_large(piece);
    std::memcpy(buffer_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }
  void add_number(std::uint64_t value, int base = 10) {
    std::array<char, 64> digits;  // NOLINT: filled by to_chars
    const char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  /// So many hex digits, in capitals.
  void add_hex(std::uint64_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      add("0123456789ABCDEF"[value >> static_cast<unsigned>(shift) & 0xFU]);
  }

  /// Everything added so far; the buffer is empty afterwards.
  std::string take() {
    flush();
    return std::exchange(text_, {});
  }

 private:
  void flush() {
    text_.append(buffer_.data(), used_);
    used_ = 0;
  }
  void add_large(std::string_view piece) {
    flush();
    text_.append(piece);
  }

  std::string text_;
  std::array<char, 4096> buffer_;  // NOLINT: only the first used_ bytes mean something
  std::size_t used_ = 0;
};

}  // namespace

}  // namespace ww::ptx

namespace ww::ptx::printing {

// --- operand printer -----------------------------------------------------------------------------
//
// Operands as PTX text. Used inside this folder; programs call `print` (ptx/printer.h).

namespace {

/// The text of a module, or of a part of one, while it is written.
struct Printed {
  explicit Printed(const Module& printed) : module(printed) {}

  const Module& module;
  TextBuffer out;
};

inline void name(Printed& to, NameId id) { to.out.add(to.module.text(id)); }
/// Each by print(element), with ", " between them.
template <typename List, typename Print>
void separated(Printed& to, const List& list, Print print) {
  bool is_first = true;
  for (const auto& element : list) {
    if (!is_first) to.out.add(", ");
    is_first = false;
    print(element);
  }
}
/// Without zeros in front, in capitals as nvcc writes it.
void hex(Printed& to, std::uint64_t bits);
void operand(Printed& to, const OperandPool& pool, const Operand& o);
void operands(Printed& to, const OperandPool& pool, std::span<const Operand> list);

void integer(Printed& to, std::uint64_t bits, const Spelling& spelling) {
  if (spelling.minus) {
    to.out.add('-');
    bits = 0 - bits;
  }
  switch (spelling.radix) {
    case Radix::Decimal:
      to.out.add_number(bits);
      break;
    case Radix::Hex:
      to.out.add("0x");
      hex(to, bits);
      break;
    case Radix::Octal:
      to.out.add('0');
      to.out.add_number(bits, 8);
      break;
    case Radix::Binary:
      to.out.add("0b");
      to.out.add_number(bits, 2);
      break;
  }
  if (spelling.has_u_suffix) to.out.add('U');
}

void offset(Printed& to, const Operand& o) {
  to.out.add('+');
  integer(to, o.bits, o.spelling);
}

void generic(Printed& to, const Operand& o) {
  to.out.add("generic(");
  name(to, o.name);
  to.out.add(')');
  if (o.bits != 0 || o.spelling != Spelling{}) offset(to, o);
}

void enclosed(Printed& to, const OperandPool& pool, const Operand& o, char open, char close) {
  to.out.add(open);
  operands(to, pool, pool.children(o));
  to.out.add(close);
}
void joined(Printed& to, const OperandPool& pool, const Operand& o, char joint) {
  const std::span<const Operand> children = pool.children(o);
  operand(to, pool, children[0]);
  to.out.add(joint);
  operand(to, pool, children[1]);
}
void mask(Printed& to, const OperandPool& pool, const Operand& o) {
  joined(to, pool, o, '(');
  to.out.add(')');
}

void hex(Printed& to, std::uint64_t bits) {
  int digits = 1;
  while (digits < 16 && bits >> static_cast<unsigned>(4 * digits) != 0) ++digits;
  to.out.add_hex(bits, digits);
}

void operands(Printed& to, const OperandPool& pool, std::span<const Operand> list) {
  separated(to, list, [&](const Operand& o) { operand(to, pool, o); });
}

void operand(Printed& to, const OperandPool& pool, const Operand& o) {
  switch (o.kind) {
    case OperandKind::Name:
    case OperandKind::Decimal:
      return name(to, o.name);
    case OperandKind::NameOffset:
      name(to, o.name);
      return offset(to, o);
    case OperandKind::Index:
      name(to, o.name);
      to.out.add('[');
      integer(to, o.bits, o.spelling);
      return to.out.add(']');
    case OperandKind::NotName:
      to.out.add('!');
      return name(to, o.name);
    case OperandKind::Sink:
      return to.out.add('_');
    case OperandKind::Int:
      return integer(to, o.bits, o.spelling);
    case OperandKind::F32:
      to.out.add("0f");
      return to.out.add_hex(o.bits, 8);
    case OperandKind::F64:
      to.out.add("0d");
      return to.out.add_hex(o.bits, 16);
    case OperandKind::Generic:
      return generic(to, o);
    case OperandKind::Vector:
      return enclosed(to, pool, o, '{', '}');
    case OperandKind::Address:
      return enclosed(to, pool, o, '[', ']');
    case OperandKind::List:
      return enclosed(to, pool, o, '(', ')');
    case OperandKind::Pair:
      return joined(to, pool, o, '|');
    case OperandKind::Mask:
      return mask(to, pool, o);
    case OperandKind::Difference:
      return joined(to, pool, o, '-');
  }
}

}  // namespace

// --- declaration printer -------------------------------------------------------------------------
//
// Variables, parameters, directives and comments as PTX text. Used inside this folder.

namespace {

/// With a blank behind it; nothing for none.
void word(Printed& to, std::string_view text);

void align(Printed& to, std::uint32_t bytes) {
  if (bytes == 0) return;
  to.out.add(".align ");
  to.out.add_number(bytes);
  to.out.add(' ');
}

void pointee(Printed& to, const Pointee& p) {
  if (!p.present) return;
  to.out.add(".ptr ");
  if (!p.is_generic) word(to, word_of(p.space));
  align(to, p.align);
}

void attribute(Printed& to, const Attribute& a) {
  if (a.kind == AttributeKind::Managed) return to.out.add(".managed");
  to.out.add(".unified(0x");
  hex(to, a.uuid[0]);
  to.out.add(", 0x");
  hex(to, a.uuid[1]);
  to.out.add(')');
}

void word(Printed& to, std::string_view text) {
  if (text.empty()) return;
  to.out.add(text);
  to.out.add(' ');
}

void type(Printed& to, std::uint8_t vector, isa::Type type) {
  if (vector != 1) {
    to.out.add(".v");
    to.out.add_number(vector);
    to.out.add(' ');
  }
  to.out.add('.');
  word(to, isa::info(type).name);
}

// `<count>` of a name that stands for several.
void count(Printed& to, std::uint32_t count) {
  if (count == kSingle) return;
  to.out.add('<');
  to.out.add_number(count);
  to.out.add('>');
}

void attributes(Printed& to, const SmallVec<Attribute, 1>& list) {
  if (list.empty()) return;
  to.out.add(".attribute(");
  separated(to, list, [&](const Attribute& a) { attribute(to, a); });
  to.out.add(") ");
}

// Without what ends it: a `;` or a `,`.
void variable(Printed& to, const Variable& v) {
  word(to, word_of(v.linkage));
  word(to, word_of(v.space));
  attributes(to, v.attributes);
  align(to, v.align);
  if (v.opaque == Opaque::None)
    type(to, v.vector, v.type);
  else
    word(to, word_of(v.opaque));
  pointee(to, v.pointee);
  name(to, v.name);
  count(to, v.count);
  for (const std::uint64_t extent : v.dims) {
    to.out.add('[');
    if (extent != kUnsized) to.out.add_number(extent);
    to.out.add(']');
  }
  if (!v.has_init()) return;
  to.out.add(" = ");
  operand(to, v.init, v.init_root());
}

// In parentheses, on one line.
void parameters(Printed& to, const std::vector<Variable>& list) {
  to.out.add('(');
  separated(to, list, [&](const Variable& v) { variable(to, v); });
  to.out.add(')');
}

void pragma(Printed& to, NameId text) {
  to.out.add(".pragma \"");
  name(to, text);
  to.out.add("\";");
}

void directive(Printed& to, const Directive& d) {
  if (d.kind == DirectiveKind::Pragma) return pragma(to, d.text);
  to.out.add('.');
  to.out.add(info(d.kind).text);
  if (!d.values.empty()) to.out.add(' ');
  separated(to, d.values, [&](std::uint32_t value) { to.out.add_number(value); });
}

void comment(Printed& to, NameId text) {
  to.out.add("//");
  if (text != kNoName) to.out.add(' ');
  name(to, text);
}

}  // namespace

}  // namespace ww::ptx::printing

namespace ww::ptx {

namespace printing {
namespace {

// --- bodies -------------------------------------------------------------------------------------

void instruction(Printed& to, const Function& f, const Instruction& i, char gap) {
  if (i.guard.present()) {
    to.out.add(i.guard.is_negated ? "@!" : "@");
    name(to, i.guard.name);
    to.out.add(' ');
  }
  name(to, i.opcode);
  if (i.operands.count != 0) {
    to.out.add(gap);
    operands(to, f.operands, f.operands_of(i));
  }
  to.out.add(';');
}

void registers(Printed& to, const Function& f, const RegisterDecl& decl) {
  to.out.add(".reg ");
  type(to, decl.vector, decl.type);
  separated(to, f.names_of(decl), [&](const RegisterName& r) {
    name(to, r.name);
    count(to, r.count);
  });
  to.out.add(';');
}

void place(Printed& to, const Loc::Place& p) {
  to.out.add_number(p.file);
  to.out.add(' ');
  to.out.add_number(p.line);
  to.out.add(' ');
  to.out.add_number(p.column);
}
void loc(Printed& to, const Loc& l) {
  to.out.add(".loc ");
  place(to, l.at);
  if (l.function == kNoName) return;
  to.out.add(", function_name ");
  name(to, l.function);
  if (l.function_offset != 0) {
    to.out.add('+');
    to.out.add_number(l.function_offset);
  }
  to.out.add(", inlined_at ");
  place(to, l.inlined_at);
}

void prototype(Printed& to, const Prototype& p) {
  name(to, p.label);
  to.out.add(": .callprototype ");
  if (!p.results.empty()) {
    parameters(to, p.results);
    to.out.add(' ');
  }
  to.out.add("_ ");
  parameters(to, p.params);
  for (const Directive& d : p.directives) {
    to.out.add(' ');
    directive(to, d);
  }
  to.out.add(';');
}

void targets(Printed& to, std::string_view directive, const TargetList& list) {
  name(to, list.label);
  to.out.add(": ");
  to.out.add(directive);
  separated(to, list.names, [&](NameId id) { name(to, id); });
  to.out.add(';');
}

void statement_text(Printed& to, const Function& f, const Statement& s) {
  switch (s.kind) {
    case StatementKind::Instruction:
      return instruction(to, f, f.instructions[s.index], '\t');
    case StatementKind::Label:
      name(to, NameId{s.index});
      return to.out.add(':');
    case StatementKind::Registers:
      return registers(to, f, f.registers[s.index]);
    case StatementKind::Variable:
      variable(to, f.variables[s.index]);
      return to.out.add(';');
    case StatementKind::OpenBlock:
      return to.out.add('{');
    case StatementKind::CloseBlock:
      return to.out.add('}');
    case StatementKind::Loc:
      return loc(to, f.locs[s.index]);
    case StatementKind::Pragma:
      return pragma(to, NameId{s.index});
    case StatementKind::Prototype:
      return prototype(to, f.prototypes[s.index]);
    case StatementKind::BranchTargets:
      return targets(to, ".branchtargets ", f.target_lists[s.index]);
    case StatementKind::CallTargets:
      return targets(to, ".calltargets ", f.target_lists[s.index]);
    case StatementKind::Comment:
      return comment(to, NameId{s.index});
  }
}

void body(Printed& to, const Function& f) {
  // Deeper blocks are not indented further: no line is much longer than what it says.
  constexpr std::string_view kTabs = "\t\t\t\t\t\t\t\t";
  std::size_t depth = 1;
  to.out.add("{\n");
  for (const Statement& s : f.statements) {
    if (s.kind == StatementKind::CloseBlock && depth > 1) --depth;
    if (s.kind != StatementKind::Label) to.out.add(kTabs.substr(0, depth));
    statement_text(to, f, s);
    to.out.add('\n');
    if (s.kind == StatementKind::OpenBlock) ++depth;
  }
  to.out.add('}');
}

// --- module level -------------------------------------------------------------------------------

void header(Printed& to) {
  to.out.add(".version ");
  to.out.add_number(to.module.version.major);
  to.out.add('.');
  to.out.add_number(to.module.version.minor);
  to.out.add("\n.target ");
  separated(to, to.module.targets, [&](NameId id) { name(to, id); });
  if (to.module.address_size != 0) {
    to.out.add("\n.address_size ");
    to.out.add_number(to.module.address_size);
  }
  to.out.add("\n\n");
}

void parameter_lines(Printed& to, const std::vector<Variable>& list) {
  to.out.add('(');
  bool is_first = true;
  for (const Variable& v : list) {
    to.out.add(is_first ? "\n\t" : ",\n\t");
    is_first = false;
    variable(to, v);
  }
  to.out.add(list.empty() ? ")" : "\n)");
}

void function(Printed& to, const Function& f) {
  word(to, word_of(f.linkage));
  word(to, f.kind == FunctionKind::Entry ? ".entry" : ".func");
  attributes(to, f.attributes);
  if (!f.results.empty()) {
    parameters(to, f.results);
    to.out.add(' ');
  }
  name(to, f.name);
  parameter_lines(to, f.params);
  for (const Directive& d : f.directives) {
    to.out.add('\n');
    directive(to, d);
  }
  if (!f.has_body) return to.out.add(';');
  to.out.add('\n');
  body(to, f);
}

void file(Printed& to, const File& f) {
  to.out.add(".file ");
  to.out.add_number(f.index);
  to.out.add(" \"");
  name(to, f.path);
  to.out.add('"');
  if (f.has_stamp) {
    to.out.add(", ");
    to.out.add_number(f.time);
    to.out.add(", ");
    to.out.add_number(f.bytes);
  }
}

void section(Printed& to, const Section& s) {
  to.out.add(".section ");
  name(to, s.name);
  to.out.add("\n{\n");
  for (const SectionLine& line : s.lines) {
    if (line.label != kNoName) {
      name(to, line.label);
      to.out.add(":\n");
      continue;
    }
    type(to, 1, line.type);
    operands(to, s.values, s.values.at(line.values));
    to.out.add('\n');
  }
  to.out.add('}');
}

void alias(Printed& to, const Alias& a) {
  to.out.add(".alias ");
  name(to, a.name);
  to.out.add(", ");
  name(to, a.target);
  to.out.add(';');
}

void item_text(Printed& to, const Item& i) {
  switch (i.kind) {
    case ItemKind::Variable:
      variable(to, to.module.variables[i.index]);
      return to.out.add(';');
    case ItemKind::Function:
      return function(to, to.module.functions[i.index]);
    case ItemKind::File:
      return file(to, to.module.files[i.index]);
    case ItemKind::Section:
      return section(to, to.module.sections[i.index]);
    case ItemKind::Alias:
      return alias(to, to.module.aliases[i.index]);
    case ItemKind::Pragma:
      return pragma(to, NameId{i.index});
    case ItemKind::Comment:
      return comment(to, NameId{i.index});
  }
}
// A function with a body has a blank line before and after it.
void item(Printed& to, const Item& i, bool& after_blank) {
  const bool is_definition = i.kind == ItemKind::Function && to.module.functions[i.index].has_body;
  if (is_definition && !after_blank) to.out.add('\n');
  item_text(to, i);
  to.out.add(is_definition ? "\n\n" : "\n");
  after_blank = is_definition;
}

}  // namespace
}  // namespace printing

std::string print(const Module& module) {
  printing::Printed to(module);
  printing::header(to);
  bool after_blank = true;
  for (const Item& next : module.items) printing::item(to, next, after_blank);
  return to.out.take();
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  printing::Printed to(module);
  printing::instruction(to, function, instruction, ' ');
  return to.out.take();
}

std::string print(const Module& module, const Function& function, const Operand& operand) {
  printing::Printed to(module);
  printing::operand(to, function.operands, operand);
  return to.out.take();
}

}  // namespace ww::ptx
