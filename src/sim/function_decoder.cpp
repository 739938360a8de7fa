// SPDX-License-Identifier: Apache-2.0
#include "sim/function_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "sim/builtin.h"
#include "sim/memory.h"
#include "sim/special.h"
#include "sim/warp.h"

namespace ww::sim {
namespace {

// Bytes that one lane of a register takes; predicates are bits and take 4 for all lanes.
unsigned register_bytes(isa::Type type) { return static_cast<unsigned>(isa::info(type).bits) / 8; }

std::optional<unsigned> component_of(std::string_view suffix) {
  constexpr std::string_view kNames = "xyzwrgba";
  if (suffix.size() != 1) return std::nullopt;
  const std::size_t at = kNames.find(suffix[0]);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(at % 4);
}

std::uint8_t family_index(std::string_view name) {
  const auto all = isa::families();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<std::uint8_t>(i);
  }
  return 0;
}

// Reads a special register whose value changes while the kernel runs.
void read_special(Warp& warp, const Op& op) {
  std::uint64_t values[kLanes];
  special_values(warp, static_cast<Special>(op.mode), values);
  for_each_lane(warp.exec, [&](unsigned l) {
    if (op.bytes == 8) {
      warp.lanes<std::uint64_t>(op.p[0])[l] = values[l];
    } else {
      warp.lanes<std::uint32_t>(op.p[0])[l] = static_cast<std::uint32_t>(values[l]);
    }
  });
}

// The end of a function's text, where a `ret` may be missing.
void fall_off(Warp& warp, const Op&) { warp.ret(); }

}  // namespace

std::uint64_t bytes_of(const ptx::Variable& variable) {
  std::uint64_t bytes = std::max<std::uint64_t>(register_bytes(variable.type), 1) * variable.vector;
  if (variable.opaque != ptx::Opaque::None) bytes = 8;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;  // more than anything can hold
  for (const std::uint64_t extent : variable.dims) {
    if (extent == ptx::kUnsized || extent == 0) return 0;
    bytes = bytes > kMost / extent ? kMost : bytes * extent;
  }
  return bytes;
}

std::uint32_t align_of(const ptx::Variable& variable) {
  if (variable.align != 0) return variable.align;
  return std::max(1U, register_bytes(variable.type)) * variable.vector;
}

FunctionDecoder::FunctionDecoder(Program& program, const ptx::Module& module, Layout& layout,
                                 ptx::Scope& scope, isa::Checker& checker,
                                 std::vector<Diag>& errors)
    : program_(program),
      module_(module),
      layout_(layout),
      scope_(scope),
      checker_(checker),
      errors_(errors) {}

void FunctionDecoder::decode(const ptx::Function& function, std::uint32_t index) {
  function_ = &function;
  index_ = index;
  Code& code = program_.functions[index];
  code.first_op = next_op();
  blocks_.assign(1, {});
  noted_.clear();
  specials_.clear();
  locals_.clear();
  labels_.clear();
  label_fixups_.clear();
  table_fixups_.clear();
  carry_ = {};
  frame_bytes_ = local_bytes_ = 0;
  loc_ = 0;
  std::vector<Diag> ignored;  // the checker has reported them
  scope_.begin(function, ignored);
  if (code.is_entry) {
    place_params(function, code);
  } else {
    place_formals(function, code);
  }
  for (const ptx::Statement& s : function.statements) {
    scope_.enter(s, ignored);
    statement(s);
  }
  Op last;
  last.run = fall_off;
  last.flags = kTracksItself;
  program_.ops.push_back(last);
  program_.infos.push_back({.offset = function.end_offset,
                            .line = line_of(function.end_offset),
                            .function = index,
                            .family = family_index("control")});
  fix_labels();
  scope_.end();
  code.end_op = next_op();
  code.frame_bytes = static_cast<std::uint32_t>(round_up(frame_bytes_, 64));
  code.local_bytes = static_cast<std::uint32_t>(round_up(local_bytes_, 16));
}

// --- parameters ---------------------------------------------------------------------------------

void FunctionDecoder::place_params(const ptx::Function& function, Code& code) {
  std::uint64_t offset = 0;
  for (const ptx::Variable& param : function.params) {
    const std::uint32_t align = align_of(param);
    offset = round_up(offset, align);
    const auto bytes = static_cast<std::uint32_t>(bytes_of(param));
    code.params.push_back({std::string(module_.text(param.name)), param.type,
                           static_cast<std::uint32_t>(offset), bytes, align});
    locals_[&param] = static_cast<std::uint32_t>(offset);
    offset += bytes;
  }
  code.param_bytes = static_cast<std::uint32_t>(offset);
}

void FunctionDecoder::place_formals(const ptx::Function& function, Code& code) {
  const auto place = [&](const ptx::Variable& variable, bool is_param) {
    ValueMove move;
    move.bytes = static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes_of(variable), 1));
    std::uint32_t& at = is_param ? move.to : move.from;
    if (variable.space == ptx::Space::Reg) {
      (is_param ? move.to_register : move.from_register) = true;
      const Place reg = new_register(variable.type);
      blocks_.back().registers[variable.name] = {reg, variable.type};
      at = reg.offset();
    } else {
      at = locals_[&variable] = local_slot(move.bytes, align_of(variable));
    }
    return move;
  };
  for (const ptx::Variable& param : function.params) code.formals.push_back(place(param, true));
  for (const ptx::Variable& result : function.results) code.results.push_back(place(result, false));
}

std::uint32_t FunctionDecoder::local_slot(std::uint64_t bytes, std::uint32_t align) {
  const auto at = static_cast<std::uint32_t>(round_up(local_bytes_, align));
  local_bytes_ = static_cast<std::uint32_t>(at + bytes);
  return at;
}

// --- registers and constants --------------------------------------------------------------------

Place FunctionDecoder::new_register(isa::Type type) {
  const unsigned bytes = register_bytes(type);
  // A predicate is four bytes, but takes 32 so that every register's tracking has room.
  const std::uint32_t size = std::max(bytes, 1U) * kLanes;
  const Place place = Place::in_frame(frame_bytes_);
  frame_bytes_ += size;
  return place;
}

Place FunctionDecoder::scratch(unsigned bytes) {
  return new_register(isa::bits_type(static_cast<int>(bytes) * 8));
}

Place FunctionDecoder::carry() {
  if (!carry_.present()) carry_ = new_register(isa::Type::Pred);
  return carry_;
}

void FunctionDecoder::declare(const ptx::RegisterDecl& decl) {
  for (const ptx::RegisterName& name : function_->names_of(decl)) {
    if (name.count == ptx::kSingle) {
      blocks_.back().singles[name.name] = {decl.type, decl.vector};
    } else {
      blocks_.back().families[name.name] = {decl.type, name.count};
    }
  }
}

// The name without its trailing digits, which is that of a family, if any name is.
ptx::NameId FunctionDecoder::family_of(std::string_view name) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size() || digits == 0) return ptx::kNoName;
  return module_.names.find(name.substr(0, digits)).value_or(ptx::kNoName);
}

Place FunctionDecoder::register_place(std::string_view name) {
  const ptx::NameId id = module_.names.find(name).value_or(ptx::kNoName);
  const ptx::NameId family = family_of(name);
  const std::size_t dot = name.rfind('.');
  const auto component =
      dot == std::string_view::npos ? std::nullopt : component_of(name.substr(dot + 1));
  const ptx::NameId base =
      component ? module_.names.find(name.substr(0, dot)).value_or(ptx::kNoName) : ptx::kNoName;
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    Block& block = blocks_[b];
    if (const auto found = block.registers.find(id); found != block.registers.end()) {
      return found->second.first;
    }
    if (const auto found = block.singles.find(id); found != block.singles.end()) {
      // A vector's components are registers of their own, side by side.
      const auto [type, lanes] = found->second;
      const Place place = new_register(type);
      for (unsigned i = 1; i < lanes; ++i) new_register(type);
      block.registers[id] = {place, type};
      return place;
    }
    if (const auto found = block.singles.find(base); component && found != block.singles.end()) {
      const Place first = register_place(name.substr(0, dot));
      const unsigned bytes = std::max(1U, register_bytes(found->second.first));
      return Place::in_frame(first.offset() + *component * bytes * kLanes);
    }
    if (const auto found = block.families.find(family); found != block.families.end()) {
      const Place place = new_register(found->second.type);
      block.registers[id] = {place, found->second.type};
      return place;
    }
  }
  WW_CHECK(false, "`{}` is no register", name);
  return {};
}

Place FunctionDecoder::constant(std::uint64_t low, std::uint64_t high, unsigned bytes) {
  Place& place = constants_[bytes][{low, high}];
  if (place.present()) return place;
  const std::size_t size = std::max(bytes, 1U) * std::size_t{kLanes};
  const std::size_t at = round_up(program_.constants.size(), 64);
  program_.constants.resize(at + size);
  for (unsigned l = 0; l < kLanes; ++l) {
    std::byte* to = program_.constants.data() + at + std::size_t{l} * bytes;
    std::memcpy(to, &low, std::min(bytes, 8U));
    if (bytes > 8) std::memcpy(to + 8, &high, bytes - 8);
  }
  return place = Place::in_constants(static_cast<std::uint32_t>(at));
}

Place FunctionDecoder::special_place(const isa::Operand& operand) {
  const Special special = parse_special(operand.text.substr(1));
  const unsigned bytes = operand.type == isa::Type::Pred ? 1 : register_bytes(operand.type);
  Place& place = specials_[{static_cast<std::uint8_t>(special), bytes}];
  if (!place.present()) {
    place = new_register(operand.type);
    program_.functions[index_].specials.push_back({special, place, bytes});
  }
  if (is_changing(special)) {
    Op op;
    op.run = read_special;
    op.p[0] = place;
    op.mode = static_cast<std::uint8_t>(special);
    op.bytes = static_cast<std::uint8_t>(bytes);
    op.flags = kTracksItself;
    pending_.push_back(op);
  }
  return place;
}

std::pair<std::uint64_t, bool> FunctionDecoder::symbol_address(const isa::Operand& operand) {
  const auto offset = static_cast<std::uint64_t>(operand.value);
  const std::optional<ptx::NameId> id = module_.names.find(operand.text);
  const ptx::Declared what = scope_.find(*id);
  if (const auto local = locals_.find(what.variable); local != locals_.end()) {
    const bool is_kernel_param =
        what.space == ptx::Space::Param && program_.functions[index_].is_entry &&
        !function_->params.empty() && what.variable >= function_->params.data() &&
        what.variable < function_->params.data() + function_->params.size();
    return {local->second + offset, !is_kernel_param};
  }
  std::uint64_t place = layout_.variables.at(what.variable).address;
  if (what.count != ptx::kSingle) WW_CHECK(false, "a family of variables");
  if (what.space == ptx::Space::Shared && bytes_of(*what.variable) == 0) {
    place = layout_.dynamic_shared;
  }
  return {place + offset, false};
}

void FunctionDecoder::declare(const ptx::Variable& variable) {
  if (variable.space == ptx::Space::Local || variable.space == ptx::Space::Param) {
    locals_[&variable] =
        local_slot(std::max<std::uint64_t>(bytes_of(variable), 1), align_of(variable));
  }
}

// --- statements ----------------------------------------------------------------------------------

std::uint32_t FunctionDecoder::line_of(std::uint32_t offset) const {
  return static_cast<std::uint32_t>(program_.source.line_number(offset));
}

void FunctionDecoder::statement(const ptx::Statement& statement) {
  switch (statement.kind) {
    case ptx::StatementKind::Instruction:
      instruction(function_->instructions[statement.index]);
      return;
    case ptx::StatementKind::Label:
      labels_[static_cast<ptx::NameId>(statement.index)] = next_op();
      return;
    case ptx::StatementKind::Registers:
      declare(function_->registers[statement.index]);
      return;
    case ptx::StatementKind::Variable:
      declare(function_->variables[statement.index]);
      return;
    case ptx::StatementKind::OpenBlock:
      blocks_.emplace_back();
      return;
    case ptx::StatementKind::CloseBlock:
      blocks_.pop_back();
      return;
    case ptx::StatementKind::Loc: {
      const ptx::Loc& loc = function_->locs[statement.index];
      program_.locs.push_back({loc.at.file, loc.at.line, loc.at.column});
      loc_ = static_cast<std::uint32_t>(program_.locs.size());
      return;
    }
    case ptx::StatementKind::Pragma:
    case ptx::StatementKind::Prototype:
    case ptx::StatementKind::BranchTargets:
    case ptx::StatementKind::CallTargets:
    case ptx::StatementKind::Comment:
      return;
  }
}

void FunctionDecoder::error(const ptx::Instruction& instruction, std::string text) {
  const std::string_view opcode = module_.text(instruction.opcode);
  errors_.push_back(Diag{DiagKind::NotSimulated,
                         std::move(text),
                         Span::at(instruction.offset, instruction.offset + opcode.size()),
                         {}});
}

void FunctionDecoder::instruction(const ptx::Instruction& instruction) {
  const std::string_view opcode = module_.text(instruction.opcode);
  noted_.clear();
  pending_.clear();
  label_ = ptx::kNoName;
  const std::span<const isa::Operand> operands = scope_.operands_of(instruction);
  const Span span = Span::at(instruction.offset, instruction.offset + opcode.size());
  const Result<isa::Legal> legal = checker_.check({opcode, operands, span});
  if (!legal) {
    errors_.push_back(legal.error());
    return;
  }
  const isa::Form& form = legal->binding.form();
  Op op;
  if (instruction.guard.present()) {
    op.guard = register_place(module_.text(instruction.guard.name));
    op.guard_negated = instruction.guard.is_negated;
  }
  if (form.mnemonic == "call") {
    if (!call(instruction, op)) return;
  } else {
    const OpRow* row = find_op(form.family, form.mnemonic);
    Decode decode(*this, legal->binding, operands, legal->operand_of, op);
    if (row == nullptr || !row->decode(decode) || op.run == nullptr) {
      std::string text = fmt::format("`{}` is not simulated", opcode);
      if (!decode.refusal.empty()) text += ": " + decode.refusal;
      error(instruction, std::move(text));
      return;
    }
  }
  mark_order(legal->binding, program_.functions[index_]);
  finish_op(op, instruction, family_index(form.family));
}

void FunctionDecoder::finish_op(Op op, const ptx::Instruction& instruction, std::uint8_t family) {
  OpInfo info{.offset = instruction.offset,
              .line = line_of(instruction.offset),
              .loc = loc_,
              .function = index_,
              .opcode = instruction.opcode,
              .family = family};
  info.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  for (const Op& before : pending_) {
    program_.ops.push_back(before);
    program_.infos.push_back(info);
    program_.ops.back().guard = op.guard;
    program_.ops.back().guard_negated = op.guard_negated;
  }
  info.operand_count = static_cast<std::uint32_t>(noted_.size());
  program_.operands.insert(program_.operands.end(), noted_.begin(), noted_.end());
  if (label_ != ptx::kNoName) label_fixups_.emplace_back(next_op(), label_);
  program_.ops.push_back(op);
  program_.infos.push_back(info);
}

void FunctionDecoder::note_operand(Place place, isa::Type type, isa::Type as, bool is_result,
                                   std::string_view name) {
  const auto id = name.empty() ? std::nullopt : module_.names.find(name);
  noted_.push_back({place, type, as, is_result, id.value_or(ptx::kNoName)});
}

// Blocks can influence each other through global memory while they run if an access is more than
// plain. Sums of integers whose result nobody takes are in order in any order.
void FunctionDecoder::mark_order(const isa::Binding& binding, Code& code) {
  const std::string_view mnemonic = binding.form().mnemonic;
  const std::string_view space = binding.word("space");
  const bool may_be_global = space.empty() || space == "global";
  const bool is_memory = binding.form().family == "load_store" || binding.form().family == "atomic";
  const bool bulk_reduces = mnemonic == "cp.reduce.async.bulk" && binding.word("dst") == "global";
  if ((!is_memory || !may_be_global) && !bulk_reduces) return;
  if (mnemonic == "ld" || mnemonic == "st") {
    const bool strong = binding.has("volatile") || binding.has("sem") || binding.has("mmio");
    if (strong) code.is_ordered = true;
    return;
  }
  if (mnemonic == "red" || bulk_reduces) {
    const isa::Type type = *isa::parse_type(binding.word("type"));
    const isa::TypeClass cls = isa::info(type).cls;
    const bool exact = cls == isa::TypeClass::Bits || cls == isa::TypeClass::Unsigned ||
                       cls == isa::TypeClass::Signed;
    const std::string_view what = binding.word("op");
    if (!exact || what == "inc" || what == "dec") code.is_ordered = true;
    return;
  }
  if (mnemonic == "atom" || mnemonic.ends_with(".async") || mnemonic.starts_with("multimem")) {
    code.is_ordered = true;
  }
}

// --- labels --------------------------------------------------------------------------------------

void FunctionDecoder::add_label_fixup(std::string_view label) {
  label_ = *module_.names.find(label);
}

std::uint64_t FunctionDecoder::function_address(std::string_view name) const {
  const auto found = layout_.functions.find(*module_.names.find(name));
  return found == layout_.functions.end() ? 0 : kCodeWindow + std::uint64_t{found->second} * 16;
}

std::uint32_t FunctionDecoder::branch_table(std::string_view name) {
  const ptx::NameId label = *module_.names.find(name);
  for (std::size_t i = 0; i < function_->target_lists.size(); ++i) {
    if (function_->target_lists[i].label != label) continue;
    program_.branch_tables.emplace_back();
    const auto table = static_cast<std::uint32_t>(program_.branch_tables.size() - 1);
    table_fixups_.emplace_back(table, static_cast<std::uint32_t>(i));
    return table;
  }
  return ~0U;
}

void FunctionDecoder::fix_labels() {
  for (const auto& [op, label] : label_fixups_) {
    const auto found = labels_.find(label);
    WW_CHECK(found != labels_.end(), "a label that is nowhere");
    program_.ops[op].imm = found->second;
  }
  for (const auto& [table, list] : table_fixups_) {
    for (const ptx::NameId name : function_->target_lists[list].names) {
      const auto found = labels_.find(name);
      program_.branch_tables[table].push_back(found == labels_.end() ? 0 : found->second);
    }
  }
}

// --- calls ---------------------------------------------------------------------------------------

ValueMove FunctionDecoder::value_of(const ptx::Operand& operand, bool is_argument) {
  ValueMove move;
  const auto set = [&](bool is_register, std::uint32_t at, std::uint32_t bytes) {
    (is_argument ? move.from_register : move.to_register) = is_register;
    (is_argument ? move.from : move.to) = at;
    move.bytes = bytes;
  };
  if (operand.kind != ptx::OperandKind::Name) {
    // A constant: kept in a register that the function never writes otherwise.
    const Place place = scratch(8);
    Op op;
    op.run = [](Warp& warp, const Op& self) {
      for_each_lane(warp.exec, [&](unsigned l) {
        warp.lanes<std::uint64_t>(self.p[0])[l] = static_cast<std::uint64_t>(self.imm);
      });
      warp.define(self.p[0]);
    };
    op.flags = kTracksItself;
    op.p[0] = place;
    op.imm = operand.value();
    pending_.push_back(op);
    set(true, place.offset(), 8);
    return move;
  }
  const ptx::Declared what = scope_.find(operand.name);
  if (what.kind == ptx::Declared::Kind::Variable) {
    const auto found = locals_.find(what.variable);
    WW_CHECK(found != locals_.end(), "an argument that is no parameter variable");
    set(false, found->second,
        static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes_of(*what.variable), 1)));
  } else {
    set(true, register_place(module_.text(operand.name)).offset(), register_bytes(what.type));
  }
  return move;
}

bool FunctionDecoder::call(const ptx::Instruction& instruction, Op& op) {
  CallSite site;
  std::span<const ptx::Operand> operands = function_->operands_of(instruction);
  if (!operands.empty() && operands[0].kind == ptx::OperandKind::List) {
    for (const ptx::Operand& result : function_->operands.children(operands[0])) {
      site.results.push_back(value_of(result, false));
    }
    operands = operands.subspan(1);
  }
  if (operands.empty()) return false;
  const ptx::Operand& target = operands[0];
  if (operands.size() > 1 && operands[1].kind == ptx::OperandKind::List) {
    for (const ptx::Operand& argument : function_->operands.children(operands[1])) {
      site.arguments.push_back(value_of(argument, true));
    }
  }
  const ptx::Declared what = scope_.find(target.name);
  if (what.kind == ptx::Declared::Kind::Function) {
    const auto found = layout_.functions.find(target.name);
    if (found != layout_.functions.end()) {
      site.function = found->second;
    } else if (const auto builtin = find_builtin(module_.text(target.name))) {
      op.run = *builtin;
      if (module_.text(target.name) == "malloc") {
        program_.uses_heap = true;
        program_.functions[index_].is_ordered = true;
      }
      op.flags = kTracksItself;
      op.extra = static_cast<std::uint32_t>(program_.calls.size());
      program_.calls.push_back(std::move(site));
      return true;
    } else {
      error(instruction, fmt::format("`{}` is declared and not defined in this file",
                                     module_.text(target.name)));
      return false;
    }
  } else {
    site.target = register_place(module_.text(target.name));
  }
  op.run = run_call;
  op.flags = kTracksItself;
  op.extra = static_cast<std::uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(site));
  return true;
}

}  // namespace ww::sim
