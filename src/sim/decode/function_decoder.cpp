// SPDX-License-Identifier: Apache-2.0
#include "sim/decode/function_decoder.h"
#include "sim/checks/promises.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "ptx/variable_check.h"
#include "sim/checks/undefined.h"
#include "sim/memory/memory.h"
#include "sim/ops/track.h"
#include "sim/run/calls.h"
#include "sim/run/special.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

std::optional<unsigned> component_of(std::string_view suffix) {
  constexpr std::string_view kNames = "xyzwrgba";
  if (suffix.size() != 1) return std::nullopt;
  const std::size_t at = kNames.find(suffix[0]);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(at % 4);
}

isa::FamilyId family_of(const isa::Form& form) {
  return static_cast<isa::FamilyId>(isa::find_family(form.family) - isa::families().data());
}

// Reads a special register whose value changes while the kernel runs.
void read_special(Warp& warp, const Op& op) {
  std::uint64_t values[kLanes];
  special_values(warp, op.as<Special>(), values);
  for_each_lane(warp.exec, [&](unsigned l) {
    if (op.bytes == 8) {
      warp.lanes<std::uint64_t>(op.p[0])[l] = values[l];
    } else {
      warp.lanes<std::uint32_t>(op.p[0])[l] = static_cast<std::uint32_t>(values[l]);
    }
  });
}

// Runs before the op that reads the sum: as an instruction of its own would.
template <typename T>
void run_sum(Warp& warp, const Op& op) {
  use_value(warp, op.p[1], warp.exec);
  const T* const from = warp.source<T>(op.p[1]);
  for_each_lane(warp.exec, [&](unsigned l) {
    warp.lanes<T>(op.p[0])[l] = static_cast<T>(from[l] + static_cast<T>(op.as<Constant>().value));
  });
  define_value(warp, op.p[0]);
}

void run_frame_address(Warp& warp, const Op& op) {
  const std::uint64_t address =
      static_cast<std::uint64_t>(op.as<Constant>().value) + warp.here.local;
  for_each_lane(warp.exec, [&](unsigned l) {
    std::memcpy(warp.frame + op.p[0].offset() + std::size_t{l} * op.bytes, &address, op.bytes);
  });
  define_value(warp, op.p[0]);
}

// The end of a function's text, where a `ret` may be missing.
void fall_off(Warp& warp, const Op&) { leave_function(warp); }

// Threads can influence each other while they run if an access is more than plain, blocks by global
// memory. Sums of integers whose result is not taken are in order in any order.
void mark_order(const isa::Binding& binding, Code& code) {
  const Mnemonic mnemonic = binding.form().mnemonic;
  const Word space = binding.word("space");
  const bool is_memory = binding.form().family == "load_store" || binding.form().family == "atomic";
  const bool bulk_reduces = mnemonic == "cp.reduce.async.bulk";
  if (!is_memory && !bulk_reduces) return;
  const bool may_be_global =
      bulk_reduces ? binding.word("dst") == "global" : space.empty() || space == "global";
  const bool is_plain_pair = mnemonic.is_one_of({"ld", "st"});
  const bool is_strong =
      is_plain_pair && (binding.has("volatile") || binding.has("sem") || binding.has("mmio"));
  const bool is_sum = mnemonic == "red" || bulk_reduces;
  const bool is_inexact = is_sum && (!isa::is_whole(binding.type("type")) ||
                                     binding.word("op").is_one_of({"inc", "dec"}));
  const bool has_result = mnemonic.is_one_of(
      {"atom", "red.async", "st.async", "multimem.ld_reduce", "multimem.st", "multimem.red"});
  code.has_atomics = code.has_atomics || is_inexact || has_result;
  code.meets_in_parts = code.meets_in_parts || is_strong || has_result;
  code.is_ordered = code.is_ordered || (may_be_global && (is_strong || is_inexact || has_result));
}

}  // namespace

void FunctionDecoder::decode() {
  code().first_op = next_op();
  std::vector<Diag> ignored;  // the checker has reported them
  context_.scope.begin(function_, ignored);
  if (code().is_entry) {
    place_params();
  } else {
    place_formals();
  }
  for (const ptx::Statement& s : function_.statements) {
    context_.scope.enter(s, ignored);
    statement(s);
  }
  Op last;
  last.run = fall_off;
  last.flags = kTracksItself;
  program().ops.push_back(last);
  program().infos.push_back({.offset = function_.end_offset,
                             .line = line_of(function_.end_offset),
                             .function = index_,
                             .family = isa::FamilyId::control_rows});
  labels_.resolve(program());
  context_.scope.end();
  code().end_op = next_op();
  code().frame_bytes = static_cast<std::uint32_t>(round_up(frame_.register_bytes(), 64));
  code().local_bytes = static_cast<std::uint32_t>(round_up(frame_.local_bytes(), 16));
}

// --- parameters ---------------------------------------------------------------------------------

void FunctionDecoder::place_params() {
  std::uint64_t offset = 0;
  for (const ptx::Variable& param : function_.params) {
    const auto align = static_cast<std::uint32_t>(ptx::align_in_bytes(param));
    offset = round_up(offset, align);
    const auto bytes = static_cast<std::uint32_t>(ptx::size_in_bytes(param));
    code().params.push_back({std::string(context_.module.text(param.name)), param.type,
                             static_cast<std::uint32_t>(offset), bytes, align,
                             std::max(1U, param.pointee.align)});
    frame_.set_local(param, static_cast<std::uint32_t>(offset));
    offset += bytes;
  }
  code().param_bytes = static_cast<std::uint32_t>(offset);
}

void FunctionDecoder::place_formals() {
  const auto place = [&](const ptx::Variable& variable, bool is_param,
                         std::vector<ValueMove>& moves) {
    if (variable.space != ptx::Space::Reg) frame_.add_local(variable);
    ptx::Operand self = ptx::name_operand(variable.name);
    // From inside, a parameter is where a value goes to, and a result where one comes from.
    add_moves(self, variable, !is_param, moves);
  };
  for (const ptx::Variable& param : function_.params) place(param, true, code().formals);
  for (const ptx::Variable& result : function_.results) place(result, false, code().results);
}

// --- registers and constants --------------------------------------------------------------------

Place ConstantPool::place(std::vector<std::byte>& bytes_of_all, std::uint64_t low,
                          std::uint64_t high, unsigned bytes) {
  Place& place = places_[bytes][{low, high}];
  if (place.present()) return place;
  const std::size_t size = std::max(bytes, 1U) * std::size_t{kLanes};
  const std::size_t at = round_up(bytes_of_all.size(), 64);
  bytes_of_all.resize(at + size);
  for (unsigned l = 0; l < kLanes; ++l) {
    std::byte* to = bytes_of_all.data() + at + std::size_t{l} * bytes;
    std::memcpy(to, &low, std::min(bytes, 8U));
    if (bytes > 8) std::memcpy(to + 8, &high, bytes - 8);
  }
  return place = Place::in_constants(static_cast<std::uint32_t>(at));
}

Place FunctionDecoder::register_place(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const bool is_component = dot != std::string_view::npos;
  const unsigned component = is_component ? component_of(name.substr(dot + 1)).value_or(0) : 0;
  const ptx::Declared what = context_.scope.find(name.substr(0, dot));
  WW_CHECK(what.kind == ptx::Declared::Kind::Register && component < what.lanes,
           "`{}` is not a register", name);
  return Place::in_frame(frame_.register_of(what).offset() +
                         component * lane_bytes(what.type) * kLanes);
}

Place FunctionDecoder::special_place(const isa::Operand& operand, std::optional<char> component) {
  std::string name(operand.text.substr(1));
  if (component) name += fmt::format(".{}", *component);
  const Special special = parse_special(name);
  if (special == Special::GridWorkspaceHigh || special == Special::GridWorkspaceLow)
    program().has_grid_barrier = true;
  const unsigned bytes = lane_bytes(operand.type);
  const auto [place, is_new] = frame_.special(special, operand.type);
  if (is_new) code().specials.push_back({special, place, bytes});
  if (is_changing(special)) {
    Op op;
    op.run = read_special;
    op.p[0] = place;
    op.set(special);
    op.bytes = static_cast<std::uint8_t>(bytes);
    op.flags = kTracksItself;
    before_.push_back({op, std::nullopt});
  }
  return place;
}

Place FunctionDecoder::sum(Place from, isa::Type type, std::int64_t offset, std::string_view name) {
  const unsigned bytes = lane_bytes(type);
  Before before{.op = {},
                .source = OperandInfo{from, type, type, false, *context_.module.names.find(name)}};
  before.op.run = bytes == 1   ? run_sum<std::uint8_t>
                  : bytes == 2 ? run_sum<std::uint16_t>
                  : bytes == 4 ? run_sum<std::uint32_t>
                               : run_sum<std::uint64_t>;
  before.op.flags = kTracksItself;
  before.op.p[0] = frame_.scratch(bytes);
  before.op.p[1] = from;
  before.op.set(Constant{offset});
  before_.push_back(before);
  return before.op.p[0];
}

Place FunctionDecoder::frame_address(std::uint64_t offset, unsigned bytes) {
  Op op;
  op.run = run_frame_address;
  op.flags = kTracksItself;
  op.bytes = static_cast<std::uint8_t>(std::min(bytes, 8U));
  op.p[0] = frame_.scratch(op.bytes);
  op.set(Constant{static_cast<std::int64_t>(offset)});
  before_.push_back({op, std::nullopt});
  return op.p[0];
}

Place FunctionDecoder::shared_address(std::uint64_t offset, unsigned bytes) {
  const auto [place, is_new] = frame_.shared_address(offset, std::min(bytes, 8U));
  if (is_new) code().shared_addresses.push_back({offset, place, std::min(bytes, 8U)});
  return place;
}

std::pair<std::uint64_t, AddressOrigin> FunctionDecoder::symbol_address(
    const isa::Operand& operand) {
  const std::optional<ptx::NameId> id = context_.module.names.find(operand.text);
  const ptx::Declared what = context_.scope.find(*id);
  const std::uint64_t offset =
      static_cast<std::uint64_t>(operand.value) + what.member * ptx::member_bytes(*what.variable);
  if (const std::uint32_t* local = frame_.find_local(what.variable); local != nullptr) {
    const bool is_kernel_param = what.space == ptx::Space::Param && code().is_entry &&
                                 !function_.params.empty() &&
                                 what.variable >= function_.params.data() &&
                                 what.variable < function_.params.data() + function_.params.size();
    return {*local + offset, is_kernel_param ? AddressOrigin::Absolute : AddressOrigin::Local};
  }
  std::uint64_t place = context_.layout.variables.at(what.variable).address;
  if (what.space == ptx::Space::Shared && ptx::size_in_bytes(*what.variable) == 0) {
    place = context_.layout.dynamic_shared;
  }
  return {place + offset,
          what.space == ptx::Space::Shared ? AddressOrigin::Shared : AddressOrigin::Absolute};
}

// --- statements ----------------------------------------------------------------------------------

namespace {

PromiseOf promise_behind(std::string_view label) {
  if (label.starts_with(kWarpPromiseLabel)) return PromiseOf::Warp;
  return label.starts_with(kPromiseLabel) ? PromiseOf::Cta : PromiseOf::None;
}

}  // namespace

void FunctionDecoder::statement(const ptx::Statement& statement) {
  const auto number = static_cast<std::uint32_t>(&statement - function_.statements.data());
  switch (statement.kind) {
    case ptx::StatementKind::Instruction:
      instruction(function_.instructions[statement.index]);
      return;
    case ptx::StatementKind::Label:
      labels_.add(number, next_op());
      promised_ = promise_behind(context_.module.text(static_cast<ptx::NameId>(statement.index)));
      return;
    case ptx::StatementKind::BranchTargets: {
      // Which labels the names of a list are is decided where the list stands.
      labels_.add_table(number, static_cast<std::uint32_t>(program().branch_tables.size()));
      auto& table = program().branch_tables.emplace_back();
      for (const ptx::NameId name : function_.target_lists[statement.index].names)
        table.push_back(context_.scope.find(name).statement);
      return;
    }
    case ptx::StatementKind::Variable: {
      const ptx::Variable& variable = function_.variables[statement.index];
      if (variable.space == ptx::Space::Local || variable.space == ptx::Space::Param)
        frame_.add_local(variable);
      return;
    }
    case ptx::StatementKind::Loc: {
      const ptx::Loc& loc = function_.locs[statement.index];
      program().locs.push_back({loc.at.file, loc.at.line, loc.at.column});
      loc_ = static_cast<std::uint32_t>(program().locs.size());
      return;
    }
    case ptx::StatementKind::Registers:
    case ptx::StatementKind::OpenBlock:
    case ptx::StatementKind::CloseBlock:
    case ptx::StatementKind::Pragma:
    case ptx::StatementKind::Prototype:
    case ptx::StatementKind::CallTargets:
    case ptx::StatementKind::Comment:
      return;
  }
}

void FunctionDecoder::error(const ptx::Instruction& instruction, std::string text) {
  const std::string_view opcode = context_.module.text(instruction.opcode);
  context_.errors.push_back(Diag{DiagKind::NotSimulated,
                                 std::move(text),
                                 Span::at(instruction.offset, instruction.offset + opcode.size()),
                                 {}});
}

void FunctionDecoder::instruction(const ptx::Instruction& instruction) {
  const std::string_view opcode = context_.module.text(instruction.opcode);
  noted_.clear();
  before_.clear();
  label_.reset();
  const std::span<const isa::Operand> operands =
      context_.resolver.operands_of(function_, instruction);
  const Span span = Span::at(instruction.offset, instruction.offset + opcode.size());
  const Result<isa::Legal> legal = context_.checker.check({opcode, operands, span});
  if (!legal) {
    context_.errors.push_back(legal.error());
    return;
  }
  const isa::Form& form = legal->binding.form();
  Op op;
  if (instruction.guard.present()) {
    op.guard = register_place(context_.module.text(instruction.guard.name));
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
    if (only_computes(form.family)) {
      op.flags |= kOnlyComputes;
      if (op.track == nullptr) op.track = spread_undefined;
    }
  }
  mark_order(legal->binding, code());
  if (promised_ != PromiseOf::None && form.mnemonic == "mov" && noted_.size() == 2)
    promise(noted_[1]);
  promised_ = PromiseOf::None;
  finish_op(op, instruction, family_of(form));
}

void FunctionDecoder::promise(const OperandInfo& source) {
  const unsigned bytes = lane_bytes(source.as);
  if (bytes != 2 && bytes != 4 && bytes != 8) return;
  Before before{.op = {}, .source = source};
  before.op.run = run_promise;
  before.op.p[0] = source.place;
  before.op.bytes = static_cast<std::uint8_t>(bytes);
  before.op.set(promised_);
  before_.push_back(before);
}

void FunctionDecoder::finish_op(Op op, const ptx::Instruction& instruction, isa::FamilyId family) {
  OpInfo info{.offset = instruction.offset,
              .line = line_of(instruction.offset),
              .loc = loc_,
              .function = index_,
              .opcode = instruction.opcode,
              .family = family};
  for (const Before& before : before_) {
    program().ops.push_back(before.op);
    program().ops.back().guard = op.guard;
    program().ops.back().guard_negated = op.guard_negated;
    info.first_operand = static_cast<std::uint32_t>(program().operands.size());
    info.operand_count = before.source ? 1 : 0;
    if (before.source) program().operands.push_back(*before.source);
    program().infos.push_back(info);
  }
  info.first_operand = static_cast<std::uint32_t>(program().operands.size());
  info.operand_count = static_cast<std::uint32_t>(noted_.size());
  program().operands.insert(program().operands.end(), noted_.begin(), noted_.end());
  if (label_) labels_.refer(next_op(), *label_);
  program().ops.push_back(op);
  program().infos.push_back(info);
}

void FunctionDecoder::note_operand(Place place, isa::Type type, isa::Type as, bool is_result,
                                   std::string_view name) {
  const auto id = name.empty() ? std::nullopt : context_.module.names.find(name);
  noted_.push_back({place, type, as, is_result, id.value_or(ptx::kNoName)});
}

// --- labels --------------------------------------------------------------------------------------

void FunctionDecoder::add_label_fixup(std::string_view label) {
  label_ = context_.scope.find(*context_.module.names.find(label)).statement;
}

std::uint64_t FunctionDecoder::function_address(std::string_view name) const {
  const auto found = context_.layout.functions.find(*context_.module.names.find(name));
  return found == context_.layout.functions.end() ? 0
                                                  : kCodeWindow + std::uint64_t{found->second} * 16;
}

std::uint32_t FunctionDecoder::branch_table(std::string_view name) {
  return labels_.table(context_.scope.find(*context_.module.names.find(name)).statement);
}

}  // namespace ww::sim
