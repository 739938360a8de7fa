// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/types.h"

namespace ww::emit::to_ptx {

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

}  // namespace ww::emit::to_ptx
