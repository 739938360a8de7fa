// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "isa/check.h"
#include "isa/special_registers.h"

namespace ww::emit::to_ptx {
namespace {

constexpr std::int64_t kGreatestInt = 0x7fffffff;

isa::Type isa_type(Class cls) {
  return cls == Class::P ? isa::Type::Pred : isa::bits_type(bits_of(cls));
}

ptx::Space space_of(isa::Space space) {
  return space == isa::Space::Local ? ptx::Space::Local : ptx::Space::Shared;
}

/// Leaves out values that nothing uses, and places that no code follows.
class Cleaner {
 public:
  explicit Cleaner(std::size_t registers) : uses_(registers) {}

  std::vector<const Line*> run(std::span<const Line* const> lines) {
    std::vector<const Line*> kept;
    bool is_followed = false;  // by an instruction, before the next place
    for (auto at = lines.rbegin(); at != lines.rend(); ++at) {
      const Line* const line = *at;
      if (line->kind == LineKind::Place && !is_followed) continue;
      if (line->is_pure && !is_used(line->args[0])) continue;
      if (line->kind == LineKind::Instruction) is_followed = true;
      if (line->kind == LineKind::Place) is_followed = false;
      for (std::size_t i = line->is_pure ? 1 : 0; i < line->args.size(); ++i) use(line->args[i]);
      if (line->guard.present()) ++uses_[line->guard.value.reg];
      kept.push_back(line);
    }
    std::ranges::reverse(kept);
    return kept;
  }

 private:
  [[nodiscard]] bool is_used(const Arg& result) const {
    if (result.kind == ArgKind::Value) return uses_[result.value.reg] != 0;
    for (const Arg& part : result.parts)
      if (is_used(part)) return true;
    return false;
  }
  void use(const Arg& arg) {
    if (arg.kind == ArgKind::Value && arg.value.is_register()) ++uses_[arg.value.reg];
    for (const Arg& part : arg.parts) use(part);
  }

  std::vector<std::uint32_t> uses_;
};

/// Makes statements from lines, and asks the catalogue about each instruction.
class Finisher {
 public:
  Finisher(const KernelCode& code, target::Target target, const Declarations& declared,
           ptx::Module& module, ptx::Function& function)
      : module_(module),
        f_(function),
        words_(code.words()),
        checker_(target),
        names_(code.now(), ptx::kNoName),
        word_names_(words_.size(), ptx::kNoName) {
    for (const auto* list : {&declared.arrays, &declared.outer})
      for (const Array& array : *list) spaces_.emplace(array.name, array.space);
  }

  Result<void> run(std::span<const Line* const> lines, std::span<const Array> arrays) {
    for (const Line* line : lines) name_registers(*line);
    for (const ptx::RegisterClassInfo& cls : ptx::register_classes()) {
      if (!ptx::is_declared(cls.id) || used_.count(cls.id) == 0) continue;
      f_.add_registers(isa_type(cls.id), {{module_.names.intern(cls.prefix), used_.count(cls.id)}});
    }
    for (const Array& array : arrays) f_.add_variable(variable_of(array));
    for (const Line* line : lines) WW_TRY_VOID(add(*line));
    return {};
  }

 private:
  // Registers are numbered from 1 in the order of the text.
  void name_registers(const Line& line) {
    if (line.guard.present()) name_register(line.guard.value);
    for (const Arg& arg : line.args) name_registers(arg);
  }
  void name_registers(const Arg& arg) {
    if (arg.kind == ArgKind::Value && arg.value.is_register()) name_register(arg.value);
    for (const Arg& part : arg.parts) name_registers(part);
  }
  void name_register(Value value) {
    ptx::NameId& name = names_[value.reg];
    if (name != ptx::kNoName) return;
    const std::uint32_t number = std::max(used_.count(value.cls), 1U);
    used_.note(value.cls, number);
    name = module_.names.intern(fmt::format("{}{}", ptx::info(value.cls).prefix, number));
  }

  // A text of the lines as the module has it.
  ptx::NameId name_of(ptx::NameId word) {
    ptx::NameId& name = word_names_[static_cast<std::size_t>(word)];
    if (name == ptx::kNoName) name = module_.names.intern(words_.text(word));
    return name;
  }

  ptx::Variable variable_of(const Array& array) {
    ptx::Variable variable;
    variable.space = space_of(array.space);
    variable.type = isa::Type::B8;
    variable.align = static_cast<std::uint32_t>(array.align);
    variable.name = module_.names.intern(array.name);
    variable.dims = {static_cast<std::uint64_t>(array.bytes)};
    return variable;
  }

  Result<void> add(const Line& line) {
    switch (line.kind) {
      case LineKind::Instruction:
        return add_instruction(line);
      case LineKind::Label:
        f_.add_label(name_of(line.text));
        return {};
      case LineKind::Comment:
        f_.add_comment(name_of(line.text));
        return {};
      case LineKind::Place:
        f_.add_loc({.at = {line.file + 1, line.line, line.column}});
        return {};
      case LineKind::Open:
        f_.open_block();
        return {};
      case LineKind::Close:
        f_.close_block();
        return {};
      case LineKind::Parameter:
        f_.add_variable(parameter_of(line));
        return {};
    }
    return {};
  }

  ptx::Variable parameter_of(const Line& line) {
    ptx::Variable variable;
    variable.space = ptx::Space::Param;
    variable.type = isa::bits_type(static_cast<int>(line.line));
    variable.name = name_of(line.text);
    spaces_.insert_or_assign(std::string(words_.text(line.text)), isa::Space::Param);
    return variable;
  }

  Result<void> add_instruction(const Line& line) {
    WW_TRY_VOID(check(line));
    std::vector<ptx::Operand> operands;
    operands.reserve(line.args.size());
    for (const Arg& arg : line.args) operands.push_back(operand_of(arg));
    ptx::Guard guard;
    if (line.guard.present()) guard = {names_[line.guard.value.reg], line.guard.is_negated};
    f_.add_instruction(name_of(line.text), operands, guard);
    return {};
  }

  // --- operands of the module ---

  [[nodiscard]] ptx::Operand value_operand(const Value& value) const {
    switch (value.kind) {
      case ValueKind::Register:
        return ptx::name_operand(names_[value.reg]);
      case ValueKind::F32: {
        ptx::Operand out = ptx::f32_operand(0);
        out.bits = static_cast<std::uint64_t>(value.bits);
        return out;
      }
      case ValueKind::F64: {
        ptx::Operand out = ptx::f64_operand(0);
        out.bits = static_cast<std::uint64_t>(value.bits);
        return out;
      }
      default:
        break;
    }
    const bool is_mask = value.cls == Class::R && value.bits > kGreatestInt;
    return is_mask ? ptx::hex_operand(static_cast<std::uint64_t>(value.bits))
                   : ptx::int_operand(value.bits);
  }

  ptx::Operand operand_of(const Arg& arg) {
    std::vector<ptx::Operand> parts;
    if (arg.kind != ArgKind::Address)
      for (const Arg& part : arg.parts) parts.push_back(operand_of(part));
    switch (arg.kind) {
      case ArgKind::Value:
        return value_operand(arg.value);
      case ArgKind::Symbol:
      case ArgKind::Special:
      case ArgKind::Label:
        return ptx::name_operand(module_.names.intern(arg.name));
      case ArgKind::Address:
        return address_operand(arg);
      case ArgKind::Vector:
        return f_.operands.make(ptx::OperandKind::Vector, parts);
      case ArgKind::Pair:
        return f_.operands.make(ptx::OperandKind::Pair, parts);
      case ArgKind::List:
        return f_.operands.make(ptx::OperandKind::List, parts);
      case ArgKind::Sink:
        break;
    }
    return ptx::sink();
  }

  ptx::Operand address_operand(const Arg& arg) {
    ptx::Operand base = operand_of(arg.parts[0]);
    if (arg.offset != 0) base = ptx::name_offset(base.name, arg.offset);
    if (arg.parts.size() == 1) return f_.operands.make(ptx::OperandKind::Address, {base});
    return f_.operands.make(ptx::OperandKind::Address, {base, operand_of(arg.parts[1])});
  }

  // --- operands as the catalogue sees them ---

  // What the catalogue may ask about an operand: all but which register it is.
  void add_shape(const Arg& arg) {
    const auto add = [&](auto number) {
      shape_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    };
    add(arg.kind);
    add(arg.value.kind);
    add(arg.value.cls);
    if (arg.value.is_constant()) add(arg.value.bits);
    if (arg.kind == ArgKind::Special) {
      add(arg.name.size());
      shape_ += arg.name;
    }
    if (arg.kind == ArgKind::Symbol) add(space_of_symbol(arg.name));
    if (arg.parts.empty()) return;
    add(arg.offset);
    add(arg.parts.size());
    for (const Arg& part : arg.parts) add_shape(part);
  }

  // An instruction like one that was legal is legal.
  Result<void> check(const Line& line) {
    shape_ = words_.text(line.text);
    shape_ += ' ';
    for (const Arg& arg : line.args) add_shape(arg);
    if (legal_.contains(shape_)) return {};
    pool_.clear();
    std::vector<isa::Operand> operands;
    for (const Arg& arg : line.args) operands.push_back(isa_operand(arg));
    const auto legal = checker_.check({words_.text(line.text), operands, {}});
    if (legal) {
      legal_.insert(shape_);
      return {};
    }
    Diag problem = legal.error();
    problem.span = line.span;
    for (Note& note : problem.notes) note.span = {};
    return fail(std::move(problem));
  }

  [[nodiscard]] isa::Space space_of_symbol(std::string_view name) const {
    const auto found = spaces_.find(name);
    return found == spaces_.end() ? isa::Space::Param : found->second;
  }

  isa::Operand isa_value(const Value& value) {
    isa::Operand out;
    out.type = isa_type(value.cls);
    out.value = value.bits;
    out.text = "constant";
    switch (value.kind) {
      case ValueKind::Register:
        out.kind = isa::OperandKind::Register;
        out.text = module_.text(names_[value.reg]);
        break;
      case ValueKind::F32:
        out.kind = isa::OperandKind::F32Bits;
        break;
      case ValueKind::F64:
        out.kind = isa::OperandKind::F64Bits;
        break;
      default:
        break;
    }
    return out;
  }

  isa::Operand isa_operand(const Arg& arg) {
    isa::Operand out;
    out.text = arg.name;
    switch (arg.kind) {
      case ArgKind::Value:
        return isa_value(arg.value);
      case ArgKind::Symbol: {
        out.kind = isa::OperandKind::Symbol;
        out.space = space_of_symbol(arg.name);
        return out;
      }
      case ArgKind::Special: {
        out.kind = isa::OperandKind::Special;
        const isa::SpecialRegister* special = isa::find_special(arg.name);
        WW_CHECK(special != nullptr, "`{}` is not a special register", arg.name);
        out.type = special->type;
        return out;
      }
      case ArgKind::Label:
        out.kind = isa::OperandKind::Label;
        return out;
      case ArgKind::Sink:
        out.kind = isa::OperandKind::Sink;
        return out;
      case ArgKind::Address:
        return isa_composite(isa::OperandKind::Address, arg);
      case ArgKind::Vector:
        return isa_composite(isa::OperandKind::Vector, arg);
      case ArgKind::Pair:
        return isa_composite(isa::OperandKind::Pair, arg);
      case ArgKind::List:
        return isa_composite(isa::OperandKind::List, arg);
    }
    return out;
  }

  isa::Operand isa_composite(isa::OperandKind kind, const Arg& arg) {
    std::vector<isa::Operand> parts;
    for (const Arg& part : arg.parts) parts.push_back(isa_operand(part));
    isa::Operand out;
    out.kind = kind;
    out.value = arg.offset;
    out.parts = pool_.emplace_back(std::move(parts));
    return out;
  }

  ptx::Module& module_;
  ptx::Function& f_;
  const ptx::NamePool& words_;
  isa::Checker checker_;
  std::vector<ptx::NameId> names_;       // by register
  std::vector<ptx::NameId> word_names_;  // by word
  ptx::RegisterUse used_;
  std::map<std::string, isa::Space, std::less<>> spaces_;
  std::unordered_set<std::string> legal_;       // shapes of instructions that were checked
  std::string shape_;                           // of this one
  std::deque<std::vector<isa::Operand>> pool_;  // parts of operands, which hold views of them
};

}  // namespace

Result<void> finish(const KernelCode& code, target::Target target, const Declarations& declared,
                    ptx::Module& module, ptx::Function& function) {
  const std::vector<const Line*> lines = Cleaner(code.now()).run(code.lines());
  return Finisher(code, target, declared, module, function).run(lines, declared.arrays);
}

}  // namespace ww::emit::to_ptx
