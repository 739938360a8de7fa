// SPDX-License-Identifier: Apache-2.0
#include "ptx/printer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ptx/text_buffer.h"
#include "ptx/words.h"

namespace ww::ptx {
namespace {

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string module() {
    header();
    bool after_blank = true;
    for (const Item& next : module_.items) item(next, after_blank);
    return out_.take();
  }
  std::string one(const Function& f, const Instruction& i) {
    instruction(f, i, ' ');
    return out_.take();
  }
  std::string one(const Function& f, const Operand& o) {
    operand(f.operands, o);
    return out_.take();
  }

 private:
  void name(NameId id) { out_.add(module_.text(id)); }
  template <typename List, typename Print>
  void separated(const List& list, Print print) {
    bool is_first = true;
    for (const auto& element : list) {
      if (!is_first) out_.add(", ");
      is_first = false;
      print(element);
    }
  }

  // --- operands ---------------------------------------------------------------------------------

  void integer(std::uint64_t bits, const Spelling& spelling) {
    if (spelling.minus) {
      out_.add('-');
      bits = 0 - bits;
    }
    switch (spelling.radix) {
      case Radix::Decimal:
        out_.add_number(bits);
        break;
      case Radix::Hex:
        out_.add("0x");
        hex(bits);
        break;
      case Radix::Octal:
        out_.add('0');
        out_.add_number(bits, 8);
        break;
      case Radix::Binary:
        out_.add("0b");
        out_.add_number(bits, 2);
        break;
    }
    if (spelling.has_u_suffix) out_.add('U');
  }

  // Without zeros in front, in capitals as nvcc writes it.
  void hex(std::uint64_t bits) {
    int digits = 1;
    while (digits < 16 && bits >> static_cast<unsigned>(4 * digits) != 0) ++digits;
    out_.add_hex(bits, digits);
  }

  void offset(const Operand& o) {
    out_.add('+');
    integer(o.bits, o.spelling);
  }

  void generic(const Operand& o) {
    out_.add("generic(");
    name(o.name);
    out_.add(')');
    if (o.bits != 0 || o.spelling != Spelling{}) offset(o);
  }

  void operands(const OperandPool& pool, std::span<const Operand> list) {
    separated(list, [&](const Operand& o) { operand(pool, o); });
  }
  void enclosed(const OperandPool& pool, const Operand& o, char open, char close) {
    out_.add(open);
    operands(pool, pool.children(o));
    out_.add(close);
  }
  void joined(const OperandPool& pool, const Operand& o, char joint) {
    const std::span<const Operand> children = pool.children(o);
    operand(pool, children[0]);
    out_.add(joint);
    operand(pool, children[1]);
  }
  void mask(const OperandPool& pool, const Operand& o) {
    joined(pool, o, '(');
    out_.add(')');
  }

  void operand(const OperandPool& pool, const Operand& o) {
    switch (o.kind) {
      case OperandKind::Name:
      case OperandKind::Decimal:
        return name(o.name);
      case OperandKind::NameOffset:
        name(o.name);
        return offset(o);
      case OperandKind::Index:
        name(o.name);
        out_.add('[');
        integer(o.bits, o.spelling);
        return out_.add(']');
      case OperandKind::NotName:
        out_.add('!');
        return name(o.name);
      case OperandKind::Sink:
        return out_.add('_');
      case OperandKind::Int:
        return integer(o.bits, o.spelling);
      case OperandKind::F32:
        out_.add("0f");
        return out_.add_hex(o.bits, 8);
      case OperandKind::F64:
        out_.add("0d");
        return out_.add_hex(o.bits, 16);
      case OperandKind::Generic:
        return generic(o);
      case OperandKind::Vector:
        return enclosed(pool, o, '{', '}');
      case OperandKind::Address:
        return enclosed(pool, o, '[', ']');
      case OperandKind::List:
        return enclosed(pool, o, '(', ')');
      case OperandKind::Pair:
        return joined(pool, o, '|');
      case OperandKind::Mask:
        return mask(pool, o);
      case OperandKind::Difference:
        return joined(pool, o, '-');
    }
  }

  // --- declarations -----------------------------------------------------------------------------

  void word(std::string_view text) {
    if (text.empty()) return;
    out_.add(text);
    out_.add(' ');
  }
  void align(std::uint32_t bytes) {
    if (bytes == 0) return;
    out_.add(".align ");
    out_.add_number(bytes);
    out_.add(' ');
  }
  void type(std::uint8_t vector, isa::Type type) {
    if (vector != 1) {
      out_.add(".v");
      out_.add_number(vector);
      out_.add(' ');
    }
    out_.add('.');
    word(isa::info(type).name);
  }
  void count(std::uint32_t count) {
    if (count == kSingle) return;
    out_.add('<');
    out_.add_number(count);
    out_.add('>');
  }
  void pointee(const Pointee& p) {
    if (!p.present) return;
    out_.add(".ptr ");
    if (!p.is_generic) word(word_of(p.space));
    align(p.align);
  }

  void attribute(const Attribute& a) {
    if (a.kind == AttributeKind::Managed) return out_.add(".managed");
    out_.add(".unified(0x");
    hex(a.uuid[0]);
    out_.add(", 0x");
    hex(a.uuid[1]);
    out_.add(')');
  }
  void attributes(const SmallVec<Attribute, 1>& list) {
    if (list.empty()) return;
    out_.add(".attribute(");
    separated(list, [&](const Attribute& a) { attribute(a); });
    out_.add(") ");
  }

  // Without what ends it: a `;` or a `,`.
  void variable(const Variable& v) {
    word(word_of(v.linkage));
    word(word_of(v.space));
    attributes(v.attributes);
    align(v.align);
    if (v.opaque == Opaque::None)
      type(v.vector, v.type);
    else
      word(word_of(v.opaque));
    pointee(v.pointee);
    name(v.name);
    count(v.count);
    for (const std::uint64_t extent : v.dims) {
      out_.add('[');
      if (extent != kUnsized) out_.add_number(extent);
      out_.add(']');
    }
    if (!v.has_init()) return;
    out_.add(" = ");
    operand(v.init, v.init_root());
  }

  void parameters(const std::vector<Variable>& list) {
    out_.add('(');
    separated(list, [&](const Variable& v) { variable(v); });
    out_.add(')');
  }

  void pragma(NameId text) {
    out_.add(".pragma \"");
    name(text);
    out_.add("\";");
  }

  void directive(const Directive& d) {
    if (d.kind == DirectiveKind::Pragma) return pragma(d.text);
    out_.add('.');
    out_.add(info(d.kind).text);
    if (!d.values.empty()) out_.add(' ');
    separated(d.values, [&](std::uint32_t value) { out_.add_number(value); });
  }

  void comment(NameId text) {
    out_.add("//");
    if (text != kNoName) out_.add(' ');
    name(text);
  }

  // --- bodies -----------------------------------------------------------------------------------

  void instruction(const Function& f, const Instruction& i, char gap) {
    if (i.guard.present()) {
      out_.add(i.guard.is_negated ? "@!" : "@");
      name(i.guard.name);
      out_.add(' ');
    }
    name(i.opcode);
    if (i.operands.count != 0) {
      out_.add(gap);
      operands(f.operands, f.operands_of(i));
    }
    out_.add(';');
  }

  void registers(const Function& f, const RegisterDecl& decl) {
    out_.add(".reg ");
    type(decl.vector, decl.type);
    separated(f.names_of(decl), [&](const RegisterName& r) {
      name(r.name);
      count(r.count);
    });
    out_.add(';');
  }

  void place(const Loc::Place& p) {
    out_.add_number(p.file);
    out_.add(' ');
    out_.add_number(p.line);
    out_.add(' ');
    out_.add_number(p.column);
  }
  void loc(const Loc& l) {
    out_.add(".loc ");
    place(l.at);
    if (l.function == kNoName) return;
    out_.add(", function_name ");
    name(l.function);
    if (l.function_offset != 0) {
      out_.add('+');
      out_.add_number(l.function_offset);
    }
    out_.add(", inlined_at ");
    place(l.inlined_at);
  }

  void prototype(const Prototype& p) {
    name(p.label);
    out_.add(": .callprototype ");
    if (!p.results.empty()) {
      parameters(p.results);
      out_.add(' ');
    }
    out_.add("_ ");
    parameters(p.params);
    for (const Directive& d : p.directives) {
      out_.add(' ');
      directive(d);
    }
    out_.add(';');
  }

  void targets(std::string_view directive, const TargetList& list) {
    name(list.label);
    out_.add(": ");
    out_.add(directive);
    separated(list.names, [&](NameId id) { name(id); });
    out_.add(';');
  }

  void statement_text(const Function& f, const Statement& s) {
    switch (s.kind) {
      case StatementKind::Instruction:
        return instruction(f, f.instructions[s.index], '\t');
      case StatementKind::Label:
        name(NameId{s.index});
        return out_.add(':');
      case StatementKind::Registers:
        return registers(f, f.registers[s.index]);
      case StatementKind::Variable:
        variable(f.variables[s.index]);
        return out_.add(';');
      case StatementKind::OpenBlock:
        return out_.add('{');
      case StatementKind::CloseBlock:
        return out_.add('}');
      case StatementKind::Loc:
        return loc(f.locs[s.index]);
      case StatementKind::Pragma:
        return pragma(NameId{s.index});
      case StatementKind::Prototype:
        return prototype(f.prototypes[s.index]);
      case StatementKind::BranchTargets:
        return targets(".branchtargets ", f.target_lists[s.index]);
      case StatementKind::CallTargets:
        return targets(".calltargets ", f.target_lists[s.index]);
      case StatementKind::Comment:
        return comment(NameId{s.index});
    }
  }

  void body(const Function& f) {
    // Deeper blocks are not indented further: no line is much longer than what it says.
    constexpr std::string_view kTabs = "\t\t\t\t\t\t\t\t";
    std::size_t depth = 1;
    out_.add("{\n");
    for (const Statement& s : f.statements) {
      if (s.kind == StatementKind::CloseBlock && depth > 1) --depth;
      if (s.kind != StatementKind::Label) out_.add(kTabs.substr(0, depth));
      statement_text(f, s);
      out_.add('\n');
      if (s.kind == StatementKind::OpenBlock) ++depth;
    }
    out_.add('}');
  }

  // --- module level -----------------------------------------------------------------------------

  void header() {
    out_.add(".version ");
    out_.add_number(module_.version.major);
    out_.add('.');
    out_.add_number(module_.version.minor);
    out_.add("\n.target ");
    separated(module_.targets, [&](NameId id) { name(id); });
    if (module_.address_size != 0) {
      out_.add("\n.address_size ");
      out_.add_number(module_.address_size);
    }
    out_.add("\n\n");
  }

  void function(const Function& f) {
    word(word_of(f.linkage));
    word(f.kind == FunctionKind::Entry ? ".entry" : ".func");
    attributes(f.attributes);
    if (!f.results.empty()) {
      parameters(f.results);
      out_.add(' ');
    }
    name(f.name);
    parameter_lines(f.params);
    for (const Directive& d : f.directives) {
      out_.add('\n');
      directive(d);
    }
    if (!f.has_body) return out_.add(';');
    out_.add('\n');
    body(f);
  }

  void parameter_lines(const std::vector<Variable>& list) {
    out_.add('(');
    bool is_first = true;
    for (const Variable& v : list) {
      out_.add(is_first ? "\n\t" : ",\n\t");
      is_first = false;
      variable(v);
    }
    out_.add(list.empty() ? ")" : "\n)");
  }

  void file(const File& f) {
    out_.add(".file ");
    out_.add_number(f.index);
    out_.add(" \"");
    name(f.path);
    out_.add('"');
    if (f.has_stamp) {
      out_.add(", ");
      out_.add_number(f.time);
      out_.add(", ");
      out_.add_number(f.bytes);
    }
  }

  void section(const Section& s) {
    out_.add(".section ");
    name(s.name);
    out_.add("\n{\n");
    for (const SectionLine& line : s.lines) {
      if (line.label != kNoName) {
        name(line.label);
        out_.add(":\n");
        continue;
      }
      type(1, line.type);
      operands(s.values, s.values.at(line.values));
      out_.add('\n');
    }
    out_.add('}');
  }

  void alias(const Alias& a) {
    out_.add(".alias ");
    name(a.name);
    out_.add(", ");
    name(a.target);
    out_.add(';');
  }

  void item_text(const Item& i) {
    switch (i.kind) {
      case ItemKind::Variable:
        variable(module_.variables[i.index]);
        return out_.add(';');
      case ItemKind::Function:
        return function(module_.functions[i.index]);
      case ItemKind::File:
        return file(module_.files[i.index]);
      case ItemKind::Section:
        return section(module_.sections[i.index]);
      case ItemKind::Alias:
        return alias(module_.aliases[i.index]);
      case ItemKind::Pragma:
        return pragma(NameId{i.index});
      case ItemKind::Comment:
        return comment(NameId{i.index});
    }
  }
  // A function with a body has a blank line before and after it.
  void item(const Item& i, bool& after_blank) {
    const bool is_definition = i.kind == ItemKind::Function && module_.functions[i.index].has_body;
    if (is_definition && !after_blank) out_.add('\n');
    item_text(i);
    out_.add(is_definition ? "\n\n" : "\n");
    after_blank = is_definition;
  }

  const Module& module_;
  TextBuffer out_;
};

}  // namespace

std::string print(const Module& module) { return Printer(module).module(); }

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return Printer(module).one(function, instruction);
}

std::string print(const Module& module, const Function& function, const Operand& operand) {
  return Printer(module).one(function, operand);
}

}  // namespace ww::ptx
