// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <span>
#include <utility>

#include "base/check.h"

namespace ww::emit::to_ptx {

Value int_value(std::int64_t number, Class cls) {
  return {.kind = ValueKind::Int, .cls = cls, .bits = number};
}
Value f32_value(float number) {
  return {.kind = ValueKind::F32,
          .cls = Class::R,
          .bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(number))};
}
Value f64_value(double number) {
  return {.kind = ValueKind::F64, .cls = Class::Rd, .bits = std::bit_cast<std::int64_t>(number)};
}

namespace {

Arg named(ArgKind kind, std::string_view name) {
  Arg arg;
  arg.kind = kind;
  arg.name = name;
  return arg;
}

Arg composite(ArgKind kind, std::vector<Arg> parts) {
  Arg arg;
  arg.kind = kind;
  arg.parts = std::move(parts);
  return arg;
}

}  // namespace

Arg symbol_arg(std::string_view name) { return named(ArgKind::Symbol, name); }
Arg special_arg(std::string_view name) { return named(ArgKind::Special, name); }
Arg label_arg(std::string_view name) { return named(ArgKind::Label, name); }
Arg vector_arg(std::vector<Arg> parts) { return composite(ArgKind::Vector, std::move(parts)); }
Arg vector_arg(std::span<const Value> values) {
  return vector_arg(std::vector<Arg>(values.begin(), values.end()));
}
Arg list_arg(std::vector<Arg> parts) { return composite(ArgKind::List, std::move(parts)); }
Arg pair_arg(Arg first, Arg second) {
  Arg arg = composite(ArgKind::Pair, {});
  arg.parts.reserve(2);
  arg.parts.push_back(std::move(first));
  arg.parts.push_back(std::move(second));
  return arg;
}
Arg address_arg(Arg base, std::int64_t offset) {
  Arg arg = composite(ArgKind::Address, {});
  arg.parts.push_back(std::move(base));
  arg.offset = offset;
  return arg;
}

// --- scopes and registers ------------------------------------------------------------------------

void KernelCode::open_scope(bool is_loop) {
  // A later round may find other numbers in variables than the first one did.
  if (is_loop) ++loops_;
  scopes_.emplace_back().is_loop = is_loop;
}

void KernelCode::close_scope(std::vector<Line> before) {
  const std::vector<std::uint32_t> lines = std::move(scopes_.back().lines);
  scopes_.pop_back();
  Scope& around = scopes_.back();
  for (Line& line : before) put(std::move(line), around);
  around.lines.insert(around.lines.end(), lines.begin(), lines.end());
}

bool KernelCode::is_defined(const Arg& arg) const {
  if (arg.kind == ArgKind::Value && arg.value.is_register() &&
      !registers_[arg.value.reg].is_defined)
    return false;
  return std::ranges::all_of(arg.parts, [&](const Arg& part) { return is_defined(part); });
}

namespace {

// Stores at the edges of arrays, of a word or more. Elements of 16 bits are the tails of rows, rarely
// stored; and a reduction that guards its parts in shared memory takes more registers (softmax of 999
// halves: 39 instead of 32).
bool is_edge_store(std::string_view opcode) {
  return opcode.starts_with("st.global.") && !opcode.ends_with("16") && !opcode.ends_with("8");
}

}  // namespace

// What is computed ahead of its condition must not use undefined values: only a move may have them.
bool KernelCode::is_single_store(const Scope& scope) const {
  int stores = 0;
  int computed = 0;
  for (const std::uint32_t number : scope.lines) {
    const Line& line = lines_[number];
    if (line.kind == LineKind::Place || line.kind == LineKind::Comment) continue;
    if (line.kind != LineKind::Instruction || line.guard.present() || stores != 0) return false;
    if (line.is_pure) {
      ++computed;
      if (!is_defined(line.args[0]) && !text_of(line).starts_with("mov.")) return false;
    } else if (is_edge_store(text_of(line))) {
      ++stores;
    } else {
      return false;
    }
  }
  return stores == 1 && computed <= kMaxSpeculated;
}

bool KernelCode::close_as_guarded(Guard guard) {
  if (scopes_.back().is_loop || !is_single_store(scopes_.back())) return false;
  const Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  Scope& around = scopes_.back();
  for (const std::uint32_t number : closed.lines) {
    Line& line = lines_[number];
    if (line.is_pure) {
      const std::span<const Arg> parts = line.args[0].parts;
      for (const Arg& to : parts.empty() ? std::span<const Arg>(line.args).first(1) : parts)
        registers_[to.value.reg].level = level();
    } else if (line.kind == LineKind::Instruction) {
      line.guard = guard;
    }
    around.lines.push_back(number);
  }
  for (const std::uint32_t number : closed.known) {
    around.index.add(known_[number].hash, number);
    around.known.push_back(number);
  }
  return true;
}

Value KernelCode::new_register(Class cls) {
  registers_.push_back({cls, level(), 0});
  return {.kind = ValueKind::Register, .cls = cls, .reg = now() - 1};
}

Value KernelCode::new_counter(Class cls) {
  const Value value = new_register(cls);
  registers_[value.reg].is_defined = true;
  return value;
}

Value KernelCode::new_variable(Class cls) {
  const Value value = new_register(cls);
  registers_[value.reg].writes = 1;
  return value;
}

void KernelCode::touch(Value variable) { ++registers_[variable.reg].writes; }

bool KernelCode::is_variable(Value value) const {
  return value.is_register() && registers_[value.reg].writes != 0;
}

int KernelCode::level_of(Value value) const {
  if (!value.is_register()) return 0;
  return is_variable(value) ? level() : registers_[value.reg].level;
}

int KernelCode::level_of(const Arg& arg) const {
  int found = arg.kind == ArgKind::Value ? level_of(arg.value) : 0;
  for (const Arg& part : arg.parts) found = std::max(found, level_of(part));
  return found;
}

// The outermost scope where the operands are known and that no branch separates from here.
int KernelCode::level_for(const std::vector<Arg>& args) const {
  int wanted = 0;
  for (const Arg& arg : args) wanted = std::max(wanted, level_of(arg));
  int found = level();
  while (found > wanted && scopes_[static_cast<std::size_t>(found)].is_loop) --found;
  return found;
}

// --- lines ---------------------------------------------------------------------------------------

// One word for a register or a part of another operand; more for what does not fit.
void KernelCode::add_key(const Arg& arg) {
  const bool is_value = arg.kind == ArgKind::Value;
  const bool varies = is_value && is_variable(arg.value);
  std::uint64_t head = static_cast<std::uint64_t>(arg.kind) | std::uint64_t{varies} << 8U |
                       static_cast<std::uint64_t>(arg.value.kind) << 16U;
  if (is_value && arg.value.is_register()) {
    key_.push_back(head | std::uint64_t{arg.value.reg} << 32U);
    if (varies) key_.push_back(registers_[arg.value.reg].writes | std::uint64_t{loops_} << 32U);
    return;
  }
  if (is_value) {
    key_.push_back(head);
    key_.push_back(static_cast<std::uint64_t>(arg.value.bits));
    return;
  }
  head |= std::uint64_t{arg.parts.size()} << 32U;
  key_.push_back(head);
  key_.push_back(static_cast<std::uint64_t>(arg.offset));
  key_.push_back(arg.name.empty() ? 0 : static_cast<std::uint64_t>(words_.intern(arg.name)));
  for (const Arg& part : arg.parts) add_key(part);
}

// `mov.b32` copies a word or takes it apart: what it gives belongs to the key.
void KernelCode::find_key(ptx::NameId opcode, std::size_t results, std::span<const Arg> args) {
  key_.clear();
  key_.push_back(static_cast<std::uint64_t>(opcode) | std::uint64_t{results} << 32U);
  for (const Arg& arg : args) add_key(arg);
}

namespace {

std::uint32_t hash_of(std::span<const std::uint64_t> words) {
  std::uint64_t out = words.size();
  for (const std::uint64_t word : words) {
    out = (out ^ word) * 0x9E3779B97F4A7C15U;
    out ^= out >> 29U;
  }
  return spread(out);
}

}  // namespace

std::uint32_t KernelCode::find_known(const Scope& scope, std::uint32_t hash) const {
  return scope.index.find(hash, [&](std::uint32_t number) {
    const Known& known = known_[number];
    return !known.is_gone &&
           std::ranges::equal(key_, std::span(keys_).subspan(known.key, known.words));
  });
}

Value KernelCode::result_of(const Known& known, std::size_t number) const {
  const auto reg = known.first + static_cast<std::uint32_t>(number);
  return {.kind = ValueKind::Register, .cls = registers_[reg].cls, .reg = reg};
}

std::uint32_t KernelCode::known_for(std::string_view opcode, Class cls, std::size_t count,
                                    std::vector<Arg> args) {
  const ptx::NameId word = words_.intern(opcode);
  find_key(word, count, args);
  const std::uint32_t hash = hash_of(key_);
  for (const Scope& scope : scopes_)
    if (const std::uint32_t found = find_known(scope, hash); found != HashIndex::kNone)
      return found;
  const int where = level_for(args);
  const bool all_defined =
      std::ranges::all_of(args, [&](const Arg& arg) { return is_defined(arg); });
  Known known{.key = static_cast<std::uint32_t>(keys_.size()),
              .words = static_cast<std::uint32_t>(key_.size()),
              .hash = hash,
              .first = now()};
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  std::vector<Arg> results;
  results.reserve(count == 1 ? 1 + args.size() : count);
  for (std::size_t i = 0; i < count; ++i) {
    results.emplace_back(new_register(cls));
    registers_.back().level = where;
    registers_.back().is_defined = all_defined;
  }
  if (count != 1) results = {vector_arg(std::move(results))};
  std::ranges::move(args, std::back_inserter(results));
  Scope& scope = scopes_[static_cast<std::size_t>(where)];
  put({.text = word, .args = std::move(results), .span = span_}, scope).is_pure = true;
  const auto number = static_cast<std::uint32_t>(known_.size());
  known_.push_back(known);
  scope.known.push_back(number);
  scope.index.add(hash, number);
  return number;
}

std::vector<Value> KernelCode::pure_vector(std::string_view opcode, Class cls, std::size_t count,
                                           std::vector<Arg> args) {
  const Known& known = known_[known_for(opcode, cls, count, std::move(args))];
  std::vector<Value> results;
  for (std::size_t i = 0; i < count; ++i) results.push_back(result_of(known, i));
  return results;
}

Value KernelCode::pure(std::string_view opcode, Class cls, std::vector<Arg> args) {
  return result_of(known_[known_for(opcode, cls, 1, std::move(args))], 0);
}

void KernelCode::keep_names(std::span<Arg> args) {
  for (Arg& arg : args) {
    if (!arg.name.empty()) arg.name = kept(arg.name);
    keep_names(arg.parts);
  }
}

Line& KernelCode::put(Line line, Scope& scope) {
  keep_names(line.args);
  scope.lines.push_back(static_cast<std::uint32_t>(lines_.size()));
  return lines_.push_back(std::move(line));
}

Line KernelCode::instruction(std::string_view opcode, std::vector<Arg> args, Guard guard) {
  keep_names(args);
  return {.text = words_.intern(opcode), .args = std::move(args), .guard = guard};
}
Line KernelCode::label(std::string_view name) {
  return {.kind = LineKind::Label, .text = words_.intern(name)};
}

void KernelCode::add(std::string_view opcode, std::vector<Arg> args, Guard guard) {
  add_line({.text = words_.intern(opcode), .args = std::move(args), .guard = guard, .span = span_});
}
void KernelCode::add_label(std::string_view name) { add_line(label(name)); }
void KernelCode::jump(std::string_view label, Guard guard) {
  add("bra", {label_arg(label)}, guard);
}
void KernelCode::add_comment(std::string_view text) {
  add_line({.kind = LineKind::Comment, .text = words_.intern(text)});
}
void KernelCode::add_parameter(std::string_view name, std::uint32_t bits) {
  add_line({.kind = LineKind::Parameter, .text = words_.intern(name), .line = bits});
}
void KernelCode::add_place(const SourceText::Position& at) {
  add_line({.kind = LineKind::Place,
            .line = static_cast<std::uint32_t>(at.line),
            .column = static_cast<std::uint32_t>(at.column),
            .file = static_cast<std::uint32_t>(at.file)});
}

// Whether the last line of the scope makes the value, and nothing else knows of it but `known`.
bool KernelCode::is_made_last(Value value, std::uint32_t since) const {
  const std::vector<std::uint32_t>& lines = scopes_.back().lines;
  if (!value.is_register() || value.reg < since || lines.empty()) return false;
  const Line& line = lines_[lines.back()];
  const bool has_result =
      line.is_pure || text_of(line).starts_with("ld.") || text_of(line).starts_with("shfl.");
  return has_result && !line.guard.present() && line.args[0].kind == ArgKind::Value &&
         line.args[0].value == value;
}

void KernelCode::assign(Value variable, Value value, std::uint32_t since, Guard guard) {
  if (variable.cls == Class::P) value = in_register(value);
  if (!guard.present() && value.cls == variable.cls && is_made_last(value, since)) {
    Line& line = lines_[scopes_.back().lines.back()];
    if (line.is_pure) {
      find_key(line.text, 1, std::span(line.args).subspan(1));
      const std::uint32_t known = find_known(scopes_.back(), hash_of(key_));
      if (known != HashIndex::kNone) known_[known].is_gone = true;
    }
    line.args[0] = variable;
    line.is_pure = false;
    touch(variable);
    return;
  }
  touch(variable);
  const auto common = ptx::common_class(variable.cls, value.cls);
  WW_CHECK(common.has_value(), "a copy from class {} to class {}", ptx::info(value.cls).name,
           ptx::info(variable.cls).name);
  add(fmt::format("mov.{}", type_of(*common)), {variable, value}, guard);
}

Value KernelCode::in_register(Value value) {
  if (!value.is_constant()) return value;
  if (value.cls != Class::P)
    return pure(fmt::format("mov.{}", type_of(value.cls)), value.cls, {value});
  return pure("setp.ne.s32", Class::P, {in_register(int_value(value.bits)), int_value(0)});
}

Value KernelCode::snapshot(Value value) {
  if (!is_variable(value)) return value;
  return pure(fmt::format("mov.{}", type_of(value.cls)), value.cls, {value});
}

std::string KernelCode::new_label(std::string_view what) {
  return fmt::format("$L_{}_{}", what, ++labels_[std::string(what)]);
}

}  // namespace ww::emit::to_ptx
