// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_class.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace ww::ptx
