// SPDX-License-Identifier: Apache-2.0
#include "isa/type.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/check.h"

namespace ww::isa {
namespace {

constexpr bool Yes = true;
constexpr bool No = false;
constexpr TypeInfo kTypes[] = {
#define WW_TYPE(name, text, cls, bits, declared, number) \
  {text, TypeClass::cls, bits, declared, num::DType::number},
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
  const auto found = Word::find(word);
  return found ? parse_type(*found) : std::nullopt;
}

std::optional<Type> parse_type(Word word) {
  // The types stand first in the list of words, after the empty one.
  const bool is_type = !word.empty() && word.index() <= std::size(kTypes);
  return is_type ? std::optional(static_cast<Type>(word.index() - 1)) : std::nullopt;
}

Type bits_type(int bits) {
  if (bits == 1) return Type::Pred;
  const auto* found = std::ranges::find_if(kTypes, [&](const TypeInfo& type) {
    return type.cls == TypeClass::Bits && type.bits == bits;
  });
  WW_CHECK(found != std::end(kTypes), "no .b type of {} bits", bits);
  return static_cast<Type>(found - std::begin(kTypes));
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
