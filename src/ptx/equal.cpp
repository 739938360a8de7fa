// SPDX-License-Identifier: Apache-2.0
// Structural equality of modules: everything but positions, name numbers and the order of pools.
// Each part has one function that says what of it counts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx/module.h"

namespace ww::ptx {
namespace {

class Comparison {
 public:
  Comparison(const Module& a, const Module& b) : a_(a), b_(b), twin_(a.names.size(), kUnknown) {}

  bool run() {
    return a_.version == b_.version && same_list(a_.targets, b_.targets) &&
           a_.address_size == b_.address_size && same_items();
  }

 private:
  static constexpr NameId kUnknown{~std::uint32_t{0}};

  // Two names of b never have the same text, so one comparison of texts per name settles it.
  bool same(NameId a, NameId b) {
    NameId& twin = twin_[static_cast<std::uint32_t>(a)];
    if (twin == kUnknown && a_.text(a) == b_.text(b)) twin = b;
    return twin == b;
  }

  template <typename T>
  bool same_list(const T& a, const T& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const auto& x, const auto& y) { return same(x, y); });
  }

  // --- operands ---------------------------------------------------------------------------------

  bool same_operands(const OperandPool& pool_a, std::span<const Operand> a,
                     const OperandPool& pool_b, std::span<const Operand> b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [&](const Operand& x, const Operand& y) {
          if (x.kind != y.kind || !same(x.name, y.name)) return false;
          if (!has_children(x.kind)) return x.bits == y.bits && x.spelling == y.spelling;
          return same_operands(pool_a, pool_a.children(x), pool_b, pool_b.children(y));
        });
  }

  // --- declarations -----------------------------------------------------------------------------

  static bool same(const Attribute& a, const Attribute& b) {
    return a.kind == b.kind && a.uuid == b.uuid;
  }
  static bool same(const Pointee& a, const Pointee& b) {
    if (!a.present || !b.present) return a.present == b.present;
    return a.is_generic == b.is_generic && (a.is_generic || a.space == b.space) &&
           a.align == b.align;
  }
  bool same_init(const Variable& a, const Variable& b) {
    if (!a.has_init() || !b.has_init()) return a.has_init() == b.has_init();
    return same_operands(a.init, {&a.init_root(), 1}, b.init, {&b.init_root(), 1});
  }
  bool same(const Variable& a, const Variable& b) {
    return a.space == b.space && a.linkage == b.linkage && a.opaque == b.opaque &&
           (a.opaque != Opaque::None || a.type == b.type) && a.vector == b.vector &&
           a.align == b.align && same(a.name, b.name) && a.count == b.count && a.dims == b.dims &&
           same_list(a.attributes, b.attributes) && same(a.pointee, b.pointee) && same_init(a, b);
  }
  bool same(const Directive& a, const Directive& b) {
    return a.kind == b.kind && a.values == b.values && same(a.text, b.text);
  }
  bool same(const Prototype& a, const Prototype& b) {
    return same(a.label, b.label) && same_list(a.results, b.results) &&
           same_list(a.params, b.params) && same_list(a.directives, b.directives);
  }

  // --- function bodies --------------------------------------------------------------------------

  bool same_instruction(const Function& f, const Instruction& a, const Function& g,
                        const Instruction& b) {
    return same(a.opcode, b.opcode) && same(a.guard.name, b.guard.name) &&
           a.guard.is_negated == b.guard.is_negated &&
           same_operands(f.operands, f.operands_of(a), g.operands, g.operands_of(b));
  }
  bool same(const RegisterName& a, const RegisterName& b) {
    return same(a.name, b.name) && a.count == b.count;
  }
  bool same_registers(const Function& f, const RegisterDecl& a, const Function& g,
                      const RegisterDecl& b) {
    return a.type == b.type && a.vector == b.vector && same_list(f.names_of(a), g.names_of(b));
  }
  bool same(const Loc& a, const Loc& b) {
    return a.at == b.at && same(a.function, b.function) && a.function_offset == b.function_offset &&
           a.inlined_at == b.inlined_at;
  }
  bool same(const TargetList& a, const TargetList& b) {
    return same(a.label, b.label) && same_list(a.names, b.names);
  }
  bool same_statement(const Function& f, const Statement& s, const Function& g,
                      const Statement& t) {
    if (s.kind != t.kind) return false;
    switch (s.kind) {
      case StatementKind::Instruction:
        return same_instruction(f, f.instructions[s.index], g, g.instructions[t.index]);
      case StatementKind::Label:
      case StatementKind::Pragma:
      case StatementKind::Comment:
        return same(NameId{s.index}, NameId{t.index});
      case StatementKind::Registers:
        return same_registers(f, f.registers[s.index], g, g.registers[t.index]);
      case StatementKind::Variable:
        return same(f.variables[s.index], g.variables[t.index]);
      case StatementKind::OpenBlock:
      case StatementKind::CloseBlock:
        return s.index == t.index;
      case StatementKind::Loc:
        return same(f.locs[s.index], g.locs[t.index]);
      case StatementKind::Prototype:
        return same(f.prototypes[s.index], g.prototypes[t.index]);
      case StatementKind::BranchTargets:
      case StatementKind::CallTargets:
        return same(f.target_lists[s.index], g.target_lists[t.index]);
    }
    return false;
  }
  bool same(const Function& f, const Function& g) {
    return f.kind == g.kind && f.linkage == g.linkage && f.has_body == g.has_body &&
           same(f.name, g.name) && same_list(f.attributes, g.attributes) &&
           same_list(f.results, g.results) && same_list(f.params, g.params) &&
           same_list(f.directives, g.directives) &&
           std::equal(
               f.statements.begin(), f.statements.end(), g.statements.begin(), g.statements.end(),
               [&](const Statement& s, const Statement& t) { return same_statement(f, s, g, t); });
  }

  // --- module level -----------------------------------------------------------------------------

  bool same(const File& a, const File& b) {
    return a.index == b.index && same(a.path, b.path) && a.has_stamp == b.has_stamp &&
           a.time == b.time && a.bytes == b.bytes;
  }
  bool same(const Section& a, const Section& b) {
    return same(a.name, b.name) &&
           std::equal(a.lines.begin(), a.lines.end(), b.lines.begin(), b.lines.end(),
                      [&](const SectionLine& x, const SectionLine& y) {
                        return same(x.label, y.label) && x.type == y.type &&
                               same_operands(a.values, a.values.at(x.values), b.values,
                                             b.values.at(y.values));
                      });
  }
  bool same(const Alias& a, const Alias& b) {
    return same(a.name, b.name) && same(a.target, b.target);
  }
  bool same(const Item& a, const Item& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case ItemKind::Variable:
        return same(a_.variables[a.index], b_.variables[b.index]);
      case ItemKind::Function:
        return same(a_.functions[a.index], b_.functions[b.index]);
      case ItemKind::File:
        return same(a_.files[a.index], b_.files[b.index]);
      case ItemKind::Section:
        return same(a_.sections[a.index], b_.sections[b.index]);
      case ItemKind::Alias:
        return same(a_.aliases[a.index], b_.aliases[b.index]);
      case ItemKind::Pragma:
      case ItemKind::Comment:
        return same(NameId{a.index}, NameId{b.index});
    }
    return false;
  }
  bool same_items() { return same_list(a_.items, b_.items); }

  const Module& a_;
  const Module& b_;
  std::vector<NameId> twin_;  // by name of a: the name of b with the same text, once seen
};

}  // namespace

bool equal(const Module& a, const Module& b) { return Comparison(a, b).run(); }

}  // namespace ww::ptx
