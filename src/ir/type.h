// SPDX-License-Identifier: Apache-2.0
// Types of IR expressions, and the storage scopes of buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "num/dtype.h"

namespace ww::ir {

/// Where a buffer's elements are stored.
enum class Scope : std::uint8_t { Global, Shared, SharedDyn, Local, Tmem };
/// "global", "shared", "shared.dyn", "local", "tmem".
std::string_view name_of(Scope scope);
std::optional<Scope> find_scope(std::string_view name);
/// Static or dynamic shared memory.
constexpr bool is_shared(Scope scope) {
  return scope == Scope::Shared || scope == Scope::SharedDyn;
}

/// Limit on the lanes of a vector type.
inline constexpr int kMaxLanes = 1024;

/// The type of an expression: nothing, a text, a value of some element type (a vector when lanes is
/// more than 1), or a pointer to such elements (`dtype` is what it points to; `opaque` when
/// unknown).
struct Type {
  enum class Kind : std::uint8_t { Void, Text, Value, Pointer };
  Kind kind = Kind::Void;
  num::DType dtype = num::DType::Int32;
  std::uint16_t lanes = 1;
  bool opaque = false;

  static constexpr Type none() { return {}; }
  static constexpr Type text() { return {.kind = Kind::Text}; }
  static constexpr Type of(num::DType dtype, std::uint16_t lanes = 1) {
    return {.kind = Kind::Value, .dtype = dtype, .lanes = lanes};
  }
  static constexpr Type pointer(num::DType dtype) {
    return {.kind = Kind::Pointer, .dtype = dtype};
  }
  static constexpr Type handle() {
    return {.kind = Kind::Pointer, .dtype = num::DType::Uint8, .lanes = 1, .opaque = true};
  }

  [[nodiscard]] bool is_value() const { return kind == Kind::Value; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::Value && lanes == 1; }
  [[nodiscard]] bool is_pointer() const { return kind == Kind::Pointer; }
  [[nodiscard]] bool is_float() const {
    return is_value() && num::kind_of(dtype) == num::DTypeKind::Float;
  }
  [[nodiscard]] bool is_int() const {  // signed or unsigned, not bool
    return is_value() && (num::kind_of(dtype) == num::DTypeKind::Int ||
                          num::kind_of(dtype) == num::DTypeKind::Uint);
  }
  [[nodiscard]] bool is_bool() const { return is_value() && dtype == num::DType::Bool; }
  friend bool operator==(const Type&, const Type&) = default;
};

/// "float16", "float32x4", "handle", "handle(float32)", "void", "text".
std::string to_text(Type type);
/// Reads an element type or a vector of it, "float16x2"; a vector of 1 is the scalar. Otherwise
/// UnknownName with the nearest name.
Result<Type> parse_value_type(std::string_view text);

}  // namespace ww::ir
