// SPDX-License-Identifier: Apache-2.0
// The operands of one PTX instruction as a kernel writes them, register by register: `r_uint32[0]`,
// `S.ptr_to([0])`. Programs that issue every form of the catalogue put these between a head of
// their own and its end.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "isa/form.h"

namespace ww::test {

inline std::optional<std::string> dtype_of(isa::Type type) {
  const isa::TypeInfo& info = isa::info(type);
  if (type == isa::Type::Pred) return "bool";
  if (type == isa::Type::F16) return "float16";
  if (type == isa::Type::F32) return "float32";
  if (type == isa::Type::F64) return "float64";
  const bool is_signed = info.cls == isa::TypeClass::Signed;
  for (const int bits : {8, 16, 32, 64})
    if (info.bits == bits) return fmt::format("{}int{}", is_signed ? "" : "u", bits);
  return std::nullopt;
}

class FormOperands {
 public:
  FormOperands(const isa::Binding& binding, bool with_optional)
      : binding_(binding), with_optional_(with_optional) {}

  /// False where an operand has no counterpart in a kernel.
  bool write() {
    for (const isa::OperandSpec& spec : binding_.form().operands) {
      if (spec.role == isa::Role::Label || spec.role == isa::Role::Rest) return false;
      // A scale stands alone or in braces: two optional operands of one name.
      if (spec.optional && (!with_optional_ || !names_.insert(spec.name).second)) continue;
      if (spec.present && !binding_.holds(*spec.present)) continue;
      if (!add(spec)) return false;
    }
    return true;
  }

  /// `    T.ptx["opcode"](operands)`, with its line break.
  [[nodiscard]] std::string call() const {
    return fmt::format("    T.ptx[\"{}\"]({})\n", binding_.opcode(), args_);
  }
  /// The element types of the arrays `r_<type>` that the operands are elements of, and how many
  /// elements these need.
  [[nodiscard]] const std::set<std::string>& dtypes() const { return dtypes_; }
  [[nodiscard]] int elements() const { return next_; }

 private:
  void put(const std::string& argument) {
    if (!args_.empty()) args_ += ", ";
    args_ += argument;
  }
  std::string element(const std::string& dtype) {
    dtypes_.insert(dtype);
    return fmt::format("r_{}[{}]", dtype, next_++);
  }

  bool add(const isa::OperandSpec& spec) {
    if (spec.role == isa::Role::Address) return add_address(spec);
    const bool is_limited = !spec.values.empty() || spec.low <= spec.high;
    if (spec.role == isa::Role::Immediate || (is_limited && spec.role == isa::Role::Read)) {
      put(fmt::format("{}", !spec.values.empty()    ? spec.values[0]
                            : spec.low <= spec.high ? spec.low
                                                    : 0));
      return true;
    }
    const std::optional<isa::Type> type = isa::type_of(spec, binding_);
    const std::optional<std::string> dtype = type ? dtype_of(*type) : std::nullopt;
    if (!dtype) return false;
    const int count = isa::count_of(spec, binding_).value_or(1);
    for (int i = 0; i < count; ++i) put(element(*dtype));
    if (spec.pair == isa::OperandSpec::Pair::Required) put(element("bool"));
    return true;
  }

  bool add_address(const isa::OperandSpec& spec) {
    switch (isa::space_of(spec, binding_)) {
      case isa::Space::Tensor:
        put(element("uint32"));
        break;
      case isa::Space::Shared:
      case isa::Space::SharedCluster:
        put("S.ptr_to([0])");
        break;
      case isa::Space::Local:
        put("L.ptr_to([0])");
        break;
      default:
        put("G.ptr_to([0])");
        break;
    }
    const int coordinates = isa::count_of(spec, binding_).value_or(0);
    const char* const of = binding_.opcode().ends_with(".f32") ? "float32" : "int32";
    for (int i = 0; i < coordinates; ++i) put(element(of));
    return true;
  }

  const isa::Binding& binding_;
  bool with_optional_;
  std::string args_;
  std::set<std::string> dtypes_;
  std::set<std::string_view> names_;
  int next_ = 0;
};

}  // namespace ww::test
