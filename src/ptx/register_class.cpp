// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "isa/check.h"
#include "ptx/check.h"
#include "ptx/resolve.h"
#include "ptx/scope.h"

namespace ww::ptx {

namespace {

constexpr RegisterClassInfo kClasses[kRegisterClasses] = {
    {RegisterClass::P, "%p", 1, ".pred", "%p", "predicates"},
    {RegisterClass::Rs, "%rs", 16, ".b16", "%rs", "8- and 16-bit values"},
    {RegisterClass::Special, "Special", 32, "INTERNAL", "", "special registers such as %tid"},
    {RegisterClass::R, "%r", 32, ".b32", "%r", "32-bit values"},
    {RegisterClass::F, "%f", 32, "INTERNAL", "%f", "a float view of registers of %r"},
    {RegisterClass::Rd, "%rd", 64, ".b64", "%rd", "64-bit values, doubles included"},
    {RegisterClass::Rq, "%rq", 128, ".b128", "%rq", "128-bit values"},
    {RegisterClass::B, "%b", 8, ".b8", "%b", "pairs of 4-bit floats"},
};

// Where the registers of a class really are.
RegisterClass storage(RegisterClass cls) {
  return cls == RegisterClass::F ? RegisterClass::R : cls;
}

}  // namespace

const RegisterClassInfo& info(RegisterClass cls) { return kClasses[static_cast<std::size_t>(cls)]; }
std::span<const RegisterClassInfo> register_classes() { return kClasses; }

RegisterClass class_of(isa::Type type) {
  if (type == isa::Type::F32) return RegisterClass::F;
  if (type == isa::Type::E2m1x2) return RegisterClass::B;
  switch (isa::info(type).bits) {
    case 1:
      return RegisterClass::P;
    case 8:
    case 16:
      return RegisterClass::Rs;
    case 32:
      return RegisterClass::R;
    case 64:
      return RegisterClass::Rd;
    default:
      return RegisterClass::Rq;
  }
}

bool is_declared(RegisterClass cls) { return info(cls).declaration != "INTERNAL"; }

bool is_subclass(RegisterClass sub, RegisterClass super) {
  if (sub == super) return true;
  return sub == RegisterClass::F && (super == RegisterClass::R || super == RegisterClass::Special);
}

std::optional<RegisterClass> common_class(RegisterClass a, RegisterClass b) {
  if (is_subclass(b, a)) return b;
  if (is_subclass(a, b)) return a;
  if (is_subclass(RegisterClass::F, a) && is_subclass(RegisterClass::F, b)) return RegisterClass::F;
  return std::nullopt;
}

void RegisterUse::note(RegisterClass cls, std::uint32_t index) {
  if (cls == RegisterClass::Special) return;
  std::uint32_t& count = counts_[static_cast<std::size_t>(storage(cls))];
  count = std::max(count, index + 1);
}

std::uint32_t RegisterUse::count(RegisterClass cls) const {
  return counts_[static_cast<std::size_t>(storage(cls))];
}

std::string RegisterUse::declarations() const {
  std::string text;
  for (const RegisterClassInfo& cls : kClasses) {
    if (!is_declared(cls.id) || count(cls.id) == 0) continue;
    text += fmt::format("\t.reg {} {}<{}>;\n", cls.declaration, cls.prefix, count(cls.id));
  }
  return text;
}

std::string register_name(isa::Type type, std::uint32_t index, RegisterStyle style) {
  if (style == RegisterStyle::Views && type == isa::Type::F32) return fmt::format("%f{}", index);
  if (style == RegisterStyle::Views && type == isa::Type::F64) return fmt::format("%fd{}", index);
  return fmt::format("{}{}", info(storage(class_of(type))).prefix, index);
}

// --- register views ------------------------------------------------------------------------------

namespace {

// The number of `%r12` in its class; nullopt: it has another name.
std::optional<std::uint32_t> number_of(std::string_view name, RegisterClass cls) {
  const std::string_view prefix = info(cls).prefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  return is_number ? std::optional(number) : std::nullopt;
}

/// Renames the operands of one module, told by another that says the same.
class Renamer {
 public:
  Renamer(const Module& from, target::Target target, Module& to)
      : from_(from), to_(to), scope_(from, ignored_), resolver_(from, scope_), checker_(target) {}

  void run() {
    for (std::size_t i = 0; i < from_.functions.size(); ++i) {
      const Function& function = from_.functions[i];
      scope_.begin(function, ignored_);
      for (const Statement& statement : function.statements) {
        scope_.enter(statement, ignored_);
        if (statement.kind == StatementKind::Instruction)
          rename(function, function.instructions[statement.index], to_.functions[i]);
      }
      scope_.end();
    }
  }

 private:
  void rename(const Function& function, const Instruction& instruction, Function& out) {
    const auto operands = resolver_.operands_of(function, instruction);
    const auto legal = checker_.check({from_.text(instruction.opcode), operands, {}});
    if (!legal) return;
    const auto& specs = legal->binding.form().operands;
    const std::span<Operand> to = out.operands.at(instruction.operands);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const auto type = isa::type_of(specs[i], legal->binding);
      if (!type || legal->operand_of[i] < 0) continue;
      if (*type == isa::Type::F32 || *type == isa::Type::F64)
        rename(to[static_cast<std::size_t>(legal->operand_of[i])], *type, out);
    }
  }

  // Of a pair the second is a predicate, and an address is no float: both keep their names.
  void rename(Operand& operand, isa::Type type, Function& out) {
    if (operand.kind == OperandKind::Vector) {
      for (Operand& part : out.operands.at(operand.children())) rename(part, type, out);
    } else if (operand.kind == OperandKind::Pair) {
      rename(out.operands.at(operand.children())[0], type, out);
    } else if (operand.kind == OperandKind::Name) {
      const RegisterClass cls = type == isa::Type::F32 ? RegisterClass::R : RegisterClass::Rd;
      const auto number = number_of(from_.text(operand.name), cls);
      if (number)
        operand.name = to_.names.intern(register_name(type, *number, RegisterStyle::Views));
    }
  }

  const Module& from_;
  Module& to_;
  std::vector<Diag> ignored_;
  Scope scope_;
  OperandResolver resolver_;
  isa::Checker checker_;
};

}  // namespace

Result<Module> with_float_views(const Module& module) {
  const target::Target target = WW_TRY(target_of(module));
  Module out = module;
  Renamer(module, target, out).run();
  return out;
}

}  // namespace ww::ptx
