// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace ww::emit::to_ptx {

// --- types ---------------------------------------------------------------------------------------

using num::DType;

int bits_of(Class cls) { return ptx::info(cls).bits; }

// Without the dot of the declaration.
std::string_view type_of(Class cls) { return ptx::info(cls).declaration.substr(1); }

Class class_of(DType type) {
  if (type == DType::Bool) return Class::P;
  const int bits = num::bits_of(type);
  if (bits == 64) return Class::Rd;
  return bits == 16 && is_float(type) ? Class::Rs : Class::R;
}

bool is_signed(DType type) { return num::kind_of(type) == num::DTypeKind::Int; }

std::string_view arith_type(DType type) {
  if (is_float(type))
    return word_for(
        type, {{DType::Float64, "f64"}, {DType::Float16, "f16"}, {DType::Bfloat16, "bf16"}}, "f32");
  if (num::bits_of(type) == 64) return is_signed(type) ? "s64" : "u64";
  return is_signed(type) || num::bits_of(type) < 32 ? "s32" : "u32";
}

std::string_view memory_type(DType type) {
  const bool is_int = is_signed(type);
  switch (storage_bits(type)) {
    case 8:
      return is_int ? "s8" : "u8";
    case 16:
      return is_float(type) ? "b16" : is_int ? "s16" : "u16";
    case 64:
      return "b64";
    default:
      return "b32";
  }
}

// --- operands ------------------------------------------------------------------------------------

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

// --- known operations ----------------------------------------------------------------------------

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

void KnownOperations::merge_scope() {
  const Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  Scope& around = scopes_.back();
  for (const std::uint32_t number : closed.known) {
    around.index.add(known_[number].hash, number);
    around.known.push_back(number);
  }
}

int KnownOperations::level_for(std::span<const Arg> args) const {
  int wanted = 0;
  for (const Arg& arg : args) wanted = std::max(wanted, registers_.level_of(arg, level()));
  int found = level();
  while (found > wanted && scopes_[static_cast<std::size_t>(found)].is_loop) --found;
  return found;
}

// One word for a register or a part of another operand; more for what does not fit.
void KnownOperations::add_key(const Arg& arg) {
  const bool is_value = arg.kind == ArgKind::Value;
  const bool varies = is_value && registers_.is_variable(arg.value);
  std::uint64_t head = static_cast<std::uint64_t>(arg.kind) | std::uint64_t{varies} << 8U |
                       static_cast<std::uint64_t>(arg.value.kind) << 16U;
  if (is_value && arg.value.is_register()) {
    key_.push_back(head | std::uint64_t{arg.value.reg} << 32U);
    if (varies) key_.push_back(registers_.version(arg.value));
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
void KnownOperations::set_key(ptx::NameId opcode, std::size_t results, std::span<const Arg> args) {
  key_.clear();
  key_.push_back(static_cast<std::uint64_t>(opcode) | std::uint64_t{results} << 32U);
  for (const Arg& arg : args) add_key(arg);
  hash_ = hash_of(key_);
}

std::uint32_t KnownOperations::find_in(const Scope& scope) const {
  return scope.index.find(hash_, [&](std::uint32_t number) {
    const Known& known = known_[number];
    return !known.is_gone &&
           std::ranges::equal(key_, std::span(keys_).subspan(known.key, known.words));
  });
}

Value KnownOperations::find(ptx::NameId opcode, std::size_t results, std::span<const Arg> args) {
  set_key(opcode, results, args);
  for (const Scope& scope : scopes_)
    if (const std::uint32_t found = find_in(scope); found != HashIndex::kNone)
      return registers_.value(known_[found].first);
  return {};
}

void KnownOperations::add(Value first, int level) {
  const auto number = static_cast<std::uint32_t>(known_.size());
  known_.push_back({.key = static_cast<std::uint32_t>(keys_.size()),
                    .words = static_cast<std::uint32_t>(key_.size()),
                    .hash = hash_,
                    .first = first.reg});
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  Scope& scope = scopes_[static_cast<std::size_t>(level)];
  scope.known.push_back(number);
  scope.index.add(hash_, number);
}

void KnownOperations::forget(ptx::NameId opcode, std::span<const Arg> args) {
  set_key(opcode, 1, args);
  const std::uint32_t found = find_in(scopes_.back());
  if (found != HashIndex::kNone) known_[found].is_gone = true;
}

namespace {

constexpr int kMaxSpeculated = 4;  // instructions ahead of their condition

// Stores at the edges of arrays, of a word or more. Elements of 16 bits are the tails of rows, rarely
// stored; and a reduction that guards its parts in shared memory takes more registers (softmax of 999
// halves: 39 instead of 32).
bool is_edge_store(std::string_view opcode) {
  return opcode.starts_with("st.global.") && !opcode.ends_with("16") && !opcode.ends_with("8");
}

void keep_names(ptx::NamePool& words, std::span<Arg> args) {
  for (Arg& arg : args) {
    if (!arg.name.empty()) arg.name = words.text(words.intern(arg.name));
    keep_names(words, arg.parts);
  }
}

}  // namespace

// --- scopes --------------------------------------------------------------------------------------

void KernelCode::open_scope(bool is_loop) {
  if (is_loop) registers_.enter_loop();
  known_.open_scope(is_loop);
  scopes_.emplace_back();
}

void KernelCode::close_scope(const std::function<void()>& before) {
  const std::vector<std::uint32_t> closed = std::move(scopes_.back());
  scopes_.pop_back();
  known_.close_scope();
  if (before) before();
  std::ranges::copy(closed, std::back_inserter(scopes_.back()));
}

// What is computed ahead of its condition must not use undefined values: only a move may have them.
bool KernelCode::is_single_store() const {
  int stores = 0;
  int computed = 0;
  for (const std::uint32_t number : scopes_.back()) {
    const Line& line = lines_[number];
    const std::string_view text = words_.text(line.text);
    if (line.kind == LineKind::Place || line.kind == LineKind::Comment) continue;
    if (line.kind != LineKind::Instruction || line.guard.present() || stores != 0) return false;
    if (line.is_pure) {
      ++computed;
      if (!registers_.is_defined(line.args[0]) && !text.starts_with("mov.")) return false;
    } else if (is_edge_store(text)) {
      ++stores;
    } else {
      return false;
    }
  }
  return stores == 1 && computed <= kMaxSpeculated;
}

bool KernelCode::close_as_guarded(Guard guard) {
  if (known_.is_loop() || !is_single_store()) return false;
  const std::vector<std::uint32_t> closed = std::move(scopes_.back());
  scopes_.pop_back();
  known_.merge_scope();
  for (const std::uint32_t number : closed) {
    Line& line = lines_[number];
    if (line.is_pure) {
      const std::span<const Arg> parts = line.args[0].parts;
      for (const Arg& to : parts.empty() ? std::span<const Arg>(line.args).first(1) : parts)
        registers_.set_level(to.value, known_.level());
    } else if (line.kind == LineKind::Instruction) {
      line.guard = guard;
    }
    scopes_.back().push_back(number);
  }
  return true;
}

// --- lines ---------------------------------------------------------------------------------------

Value KernelCode::first_of(std::string_view opcode, Class cls, std::size_t count,
                           std::vector<Arg> args) {
  const ptx::NameId word = words_.intern(opcode);
  if (const Value found = known_.find(word, count, args); found.is_register()) return found;
  const int level = known_.level_for(args);
  const bool all_defined =
      std::ranges::all_of(args, [&](const Arg& arg) { return registers_.is_defined(arg); });
  const std::uint32_t first = now();
  std::vector<Arg> results;
  results.reserve(count == 1 ? 1 + args.size() : count);
  for (std::size_t i = 0; i < count; ++i)
    results.emplace_back(registers_.add({.cls = cls, .level = level, .is_defined = all_defined}));
  if (count != 1) results = {vector_arg(std::move(results))};
  std::ranges::move(args, std::back_inserter(results));
  put({.text = word, .args = std::move(results), .span = span_},
      scopes_[static_cast<std::size_t>(level)])
      .is_pure = true;
  known_.add(registers_.value(first), level);
  return registers_.value(first);
}

std::vector<Value> KernelCode::pure_vector(std::string_view opcode, Class cls, std::size_t count,
                                           std::vector<Arg> args) {
  const std::uint32_t first = first_of(opcode, cls, count, std::move(args)).reg;
  std::vector<Value> results;
  for (std::uint32_t i = 0; i < count; ++i) results.push_back(registers_.value(first + i));
  return results;
}

Line& KernelCode::put(Line line, std::vector<std::uint32_t>& scope) {
  keep_names(words_, line.args);
  scope.push_back(static_cast<std::uint32_t>(lines_.size()));
  return lines_.push_back(std::move(line));
}

void KernelCode::add(std::string_view opcode, std::vector<Arg> args, Guard guard) {
  put({.text = words_.intern(opcode), .args = std::move(args), .guard = guard, .span = span_},
      scopes_.back());
}

void KernelCode::add_line(Line line, std::string_view text) {
  line.text = words_.intern(text);
  put(std::move(line), scopes_.back());
}

// Whether the last line of the scope makes the value, and nothing else knows of it but `known_`.
bool KernelCode::is_made_last(Value value, std::uint32_t since) const {
  if (!value.is_register() || value.reg < since || scopes_.back().empty()) return false;
  const Line& line = lines_[scopes_.back().back()];
  const std::string_view text = words_.text(line.text);
  const bool has_result = line.is_pure || text.starts_with("ld.") || text.starts_with("shfl.");
  return has_result && !line.guard.present() && line.args[0].kind == ArgKind::Value &&
         line.args[0].value == value;
}

void KernelCode::assign(Value variable, Value value, std::uint32_t since, Guard guard) {
  if (variable.cls == Class::P) value = in_register(value);
  if (!guard.present() && value.cls == variable.cls && is_made_last(value, since)) {
    Line& line = lines_[scopes_.back().back()];
    if (line.is_pure) known_.forget(line.text, std::span(line.args).subspan(1));
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
  if (!registers_.is_variable(value)) return value;
  return pure(fmt::format("mov.{}", type_of(value.cls)), value.cls, {value});
}

std::string KernelCode::new_label(std::string_view what) {
  return fmt::format("$L_{}_{}", what, ++labels_[std::string(what)]);
}

std::vector<const Line*> KernelCode::lines() const {
  WW_CHECK(scopes_.size() == 1, "{} scopes are open", scopes_.size() - 1);
  std::vector<const Line*> out;
  out.reserve(scopes_[0].size());
  for (const std::uint32_t number : scopes_[0]) out.push_back(&lines_[number]);
  return out;
}

}  // namespace ww::emit::to_ptx
