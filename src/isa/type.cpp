// SPDX-License-Identifier: Apache-2.0
#include "isa/type.h"

#include <cstddef>
#include <iterator>

#include "base/check.h"

namespace ww::isa {
namespace {

constexpr bool Yes = true;
constexpr bool No = false;
constexpr TypeInfo kTypes[] = {
#define WW_TYPE(name, text, cls, bits, declared) {text, TypeClass::cls, bits, declared},
#include "isa/types.def"
#undef WW_TYPE
};

bool class_fits(Type wanted, Type declared) {
  const TypeClass have = info(declared).cls;
  switch (info(wanted).cls) {
    case TypeClass::Pred:
      return have == TypeClass::Pred;
    case TypeClass::Bits:
      return have != TypeClass::Pred;
    case TypeClass::Unsigned:
    case TypeClass::Signed:
      return is_whole(declared);
    case TypeClass::Float:
      return have == TypeClass::Bits || wanted == declared;
    case TypeClass::Other:
      return have == TypeClass::Bits;
  }
  return false;
}

}  // namespace

const TypeInfo& info(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

bool is_whole(Type type) {
  const TypeClass cls = info(type).cls;
  return cls == TypeClass::Bits || cls == TypeClass::Unsigned || cls == TypeClass::Signed;
}

std::optional<Type> parse_type(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == word) return static_cast<Type>(i);
  }
  return std::nullopt;
}

Type bits_type(int bits) {
  switch (bits) {
    case 1:
      return Type::Pred;
    case 8:
      return Type::B8;
    case 16:
      return Type::B16;
    case 32:
      return Type::B32;
    case 64:
      return Type::B64;
    case 128:
      return Type::B128;
    default:
      break;
  }
  WW_CHECK(false, "no .b type of {} bits", bits);
  return Type::B32;
}

bool accepts(Type wanted, Type declared, Width width) {
  const int want = info(wanted).bits;
  const int have = info(declared).bits;
  // Formats that are not declared as such have no wider form (ptxas: `cvt.rn.bf16.f32` into .b32).
  const bool may_widen = width == Width::OrWider && info(wanted).cls != TypeClass::Other;
  const bool wide_enough = may_widen ? have >= want : have == want;
  return wide_enough && class_fits(wanted, declared);
}

}  // namespace ww::isa
