// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

Arg named(ArgKind kind, std::string name) {
  Arg arg;
  arg.kind = kind;
  arg.name = std::move(name);
  return arg;
}

Arg composite(ArgKind kind, std::vector<Arg> parts) {
  Arg arg;
  arg.kind = kind;
  arg.parts = std::move(parts);
  return arg;
}

}  // namespace

Arg symbol_arg(std::string name) { return named(ArgKind::Symbol, std::move(name)); }
Arg special_arg(std::string name) { return named(ArgKind::Special, std::move(name)); }
Arg label_arg(std::string name) { return named(ArgKind::Label, std::move(name)); }
Arg vector_arg(std::vector<Arg> parts) { return composite(ArgKind::Vector, std::move(parts)); }
Arg vector_arg(std::span<const Value> values) {
  return vector_arg(std::vector<Arg>(values.begin(), values.end()));
}
Arg list_arg(std::vector<Arg> parts) { return composite(ArgKind::List, std::move(parts)); }
Arg pair_arg(Arg first, Arg second) {
  return composite(ArgKind::Pair, {std::move(first), std::move(second)});
}
Arg address_arg(Arg base, std::int64_t offset) {
  Arg arg = composite(ArgKind::Address, {std::move(base)});
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
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  std::ranges::move(before, std::back_inserter(scopes_.back().lines));
  std::ranges::move(closed.lines, std::back_inserter(scopes_.back().lines));
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
bool is_edge_store(const std::string& opcode) {
  return opcode.starts_with("st.global.") && !opcode.ends_with("16") && !opcode.ends_with("8");
}

}  // namespace

// What is computed ahead of its condition must not use undefined values: only a move may have them.
bool KernelCode::is_single_store(const Scope& scope) const {
  int stores = 0;
  int computed = 0;
  for (const Line& line : scope.lines) {
    if (line.kind == LineKind::Place || line.kind == LineKind::Comment) continue;
    if (line.kind != LineKind::Instruction || line.guard.present() || stores != 0) return false;
    if (line.is_pure) {
      ++computed;
      if (!is_defined(line.args[0]) && !line.text.starts_with("mov.")) return false;
    } else if (is_edge_store(line.text)) {
      ++stores;
    } else {
      return false;
    }
  }
  return stores == 1 && computed <= kMaxSpeculated;
}

bool KernelCode::close_as_guarded(Guard guard) {
  if (scopes_.back().is_loop || !is_single_store(scopes_.back())) return false;
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (Line& line : closed.lines) {
    if (line.is_pure) {
      const std::span<const Arg> parts = line.args[0].parts;
      for (const Arg& to : parts.empty() ? std::span<const Arg>(line.args).first(1) : parts)
        registers_[to.value.reg].level = level();
    } else if (line.kind == LineKind::Instruction) {
      line.guard = guard;
    }
    scopes_.back().lines.push_back(std::move(line));
  }
  scopes_.back().known.merge(closed.known);
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

void KernelCode::add_key(const Arg& arg, std::string& key) const {
  const auto add = [&](auto number) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(number)>>(number);
    key.append(bytes.data(), bytes.size());
  };
  add(arg.kind);
  add(arg.offset);
  if (arg.kind == ArgKind::Value) {
    const Value& v = arg.value;
    const bool varies = is_variable(v);
    add(v.kind);
    add(v.is_register() ? v.reg : 0);
    add(v.bits);
    add(varies ? registers_[v.reg].writes : 0);
    add(varies ? loops_ : 0);
  }
  add(arg.name.size());
  key += arg.name;
  add(arg.parts.size());
  for (const Arg& part : arg.parts) add_key(part, key);
}

// `mov.b32` copies a word or takes it apart: what it gives belongs to the key.
std::string KernelCode::key_of(const std::string& opcode, std::size_t results,
                               const std::vector<Arg>& args) const {
  std::string key = results == 1 ? opcode : fmt::format("{}*{}", opcode, results);
  key += ' ';
  for (const Arg& arg : args) add_key(arg, key);
  return key;
}

std::vector<Value> KernelCode::pure_vector(std::string opcode, Class cls, std::size_t count,
                                           std::vector<Arg> args) {
  std::string key = key_of(opcode, count, args);
  for (const Scope& scope : scopes_) {
    if (const auto found = scope.known.find(key); found != scope.known.end()) return found->second;
  }
  const int where = level_for(args);
  const bool all_defined =
      std::ranges::all_of(args, [&](const Arg& arg) { return is_defined(arg); });
  std::vector<Value> results;
  for (std::size_t i = 0; i < count; ++i) {
    results.push_back(new_register(cls));
    registers_.back().level = where;
    registers_.back().is_defined = all_defined;
  }
  Scope& scope = scopes_[static_cast<std::size_t>(where)];
  args.insert(args.begin(), count == 1 ? Arg(results[0]) : vector_arg(results));
  scope.lines.push_back({.text = std::move(opcode), .args = std::move(args), .span = span_});
  scope.lines.back().is_pure = true;
  scope.known.emplace(std::move(key), results);
  return results;
}

Value KernelCode::pure(std::string opcode, Class cls, std::vector<Arg> args) {
  return pure_vector(std::move(opcode), cls, 1, std::move(args))[0];
}

void KernelCode::add(std::string opcode, std::vector<Arg> args, Guard guard) {
  add_line({.text = std::move(opcode), .args = std::move(args), .guard = guard, .span = span_});
}
void KernelCode::add_label(std::string name) {
  add_line({.kind = LineKind::Label, .text = std::move(name)});
}
void KernelCode::jump(const std::string& label, Guard guard) {
  add("bra", {label_arg(label)}, guard);
}
void KernelCode::add_comment(std::string text) {
  add_line({.kind = LineKind::Comment, .text = std::move(text)});
}
void KernelCode::add_place(const SourceText::Position& at) {
  add_line({.kind = LineKind::Place,
            .line = static_cast<std::uint32_t>(at.line),
            .column = static_cast<std::uint32_t>(at.column),
            .file = static_cast<std::uint32_t>(at.file)});
}
void KernelCode::add_line(Line line) { scopes_.back().lines.push_back(std::move(line)); }

// Whether the last line of the scope makes the value, and nothing else knows of it but `known`.
bool KernelCode::is_made_last(Value value, std::uint32_t since) const {
  const std::vector<Line>& lines = scopes_.back().lines;
  if (!value.is_register() || value.reg < since || lines.empty()) return false;
  const Line& line = lines.back();
  const bool has_result =
      line.is_pure || line.text.starts_with("ld.") || line.text.starts_with("shfl.");
  return has_result && !line.guard.present() && line.args[0].kind == ArgKind::Value &&
         line.args[0].value == value;
}

void KernelCode::assign(Value variable, Value value, std::uint32_t since, Guard guard) {
  if (variable.cls == Class::P) value = in_register(value);
  if (!guard.present() && value.cls == variable.cls && is_made_last(value, since)) {
    Line& line = scopes_.back().lines.back();
    if (line.is_pure)
      scopes_.back().known.erase(key_of(line.text, 1, {line.args.begin() + 1, line.args.end()}));
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
