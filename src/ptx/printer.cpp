// SPDX-License-Identifier: Apache-2.0
#include "ptx/printer.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/declaration_printer.h"
#include "ptx/words.h"

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
