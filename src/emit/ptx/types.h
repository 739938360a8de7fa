// SPDX-License-Identifier: Apache-2.0
// Element types as PTX has them: which register holds a value, and what an instruction calls it.
#pragma once

#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "num/dtype.h"
#include "ptx/register_class.h"

namespace ww::emit::to_ptx {

/// P, B, Rs, R, Rd and Rq: a value is in a class that is declared. That a value of
/// R is a float shows in what is done with it.
using Class = ptx::RegisterClass;
int bits_of(Class cls);
/// "b8", "b16", "b32", "b64", "b128", "pred".
std::string_view type_of(Class cls);

/// The register class that holds a value of an element type. Integers of 8 and
/// 16 bits are held sign- or zero-extended in 32 bits, floats of 8 bits and fewer as their bits.
Class class_of(num::DType type);
bool is_signed(num::DType type);
/// "s32", "u64", "f32", "bf16": the type of an instruction that computes with it.
std::string_view arith_type(num::DType type);
/// The type of ld and st.
std::string_view memory_type(num::DType type);

/// The word beside the key in a table; `otherwise` for keys that are not there.
template <typename Key>
std::string_view word_for(
    Key key, std::initializer_list<std::pair<std::type_identity_t<Key>, std::string_view>> table,
    std::string_view otherwise) {
  for (const auto& [own, word] : table)
    if (own == key) return word;
  return otherwise;
}

}  // namespace ww::emit::to_ptx
