// SPDX-License-Identifier: Apache-2.0
// What instructions are given while a kernel is written: values, operands made of them, guards.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "emit/ptx/types.h"

namespace ww::emit::to_ptx {

enum class ValueKind : std::uint8_t { None, Register, Int, F32, F64 };

/// A register, or a constant.
struct Value {
  ValueKind kind = ValueKind::None;
  Class cls = Class::R;
  std::uint32_t reg = 0;
  std::int64_t bits = 0;  // of a constant

  [[nodiscard]] bool is_register() const { return kind == ValueKind::Register; }
  [[nodiscard]] bool is_constant() const { return !is_register() && kind != ValueKind::None; }
  friend bool operator==(const Value&, const Value&) = default;
};
Value int_value(std::int64_t number, Class cls = Class::R);
Value f32_value(float number);
Value f64_value(double number);

enum class ArgKind : std::uint8_t {
  Value,
  Symbol,
  Special,
  Label,
  Address,
  Vector,
  Pair,
  List,
  Sink
};

/// An operand of an instruction. Its name must live until the operand is given to KernelCode, which
/// keeps it.
struct Arg {
  ArgKind kind = ArgKind::Sink;
  Value value = {};
  std::string_view name = {};   // Symbol, Special, Label
  std::int64_t offset = 0;      // Address
  std::vector<Arg> parts = {};  // Address: base, then coordinates in a Vector

  Arg() = default;
  Arg(Value v) : kind(ArgKind::Value), value(v) {}  // NOLINT(google-explicit-constructor)
};
Arg symbol_arg(std::string_view name);
Arg special_arg(std::string_view name);
Arg label_arg(std::string_view name);
Arg address_arg(Arg base, std::int64_t offset);
Arg vector_arg(std::vector<Arg> parts);
Arg vector_arg(std::span<const Value> values);
Arg pair_arg(Arg first, Arg second);
Arg list_arg(std::vector<Arg> parts);

/// `@%p1`, `@!%p1`, or none.
struct Guard {
  Value value = {};
  bool is_negated = false;
  [[nodiscard]] bool present() const { return value.is_register(); }
};

}  // namespace ww::emit::to_ptx
