// SPDX-License-Identifier: Apache-2.0
// Which mma.sync there is for the element types of a product, read off the catalogue. A shape is so
// many groups of eight rows (octets) by eight columns by so many groups of 4e values of k, where e
// elements of A or B share a register:
//
//     m16n8k16 of float16: 2 octets, e = 2, 2 groups of k      m8n8k4 of float64: 1, e = 1, 1
#pragma once

#include <string>
#include <vector>

#include "isa/fragment.h"
#include "lower/call.h"
#include "num/dtype.h"

namespace ww::lower {

struct MmaAtom {
  std::string shape;   // "m16n8k16"
  std::string opcode;  // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  int octets = 2;
  int groups = 1;
};

/// Element types of A and B, which are of one width, and of D and C.
struct GemmTypes {
  num::DType a = num::DType::Float16, b = num::DType::Float16;
  num::DType out = num::DType::Float32;

  /// Elements of A or B in one register, and of D.
  [[nodiscard]] int per_word() const { return per_register(a); }
  [[nodiscard]] int per_out_word() const { return per_register(out); }
  /// Those of A and B: "float16", "uint8 and int8".
  [[nodiscard]] std::string text() const {
    const std::string_view first = num::name_of(a);
    return a == b ? std::string(first) : fmt::format("{} and {}", first, num::name_of(b));
  }

 private:
  static int per_register(num::DType type) {
    return num::storage_bits(type) < 32 ? 32 / num::storage_bits(type) : 1;
  }
};

/// The instructions that the target has for these types: more octets first, then more groups.
/// Declines types that no mma.sync has (`dtype`) and targets that have none of them (`arch`).
/// `may_cut`: float32 factors may lose 13 of their bits.
Match<std::vector<MmaAtom>> atoms_of(const GemmTypes& types, bool may_cut, target::Target target);

struct GemmSizes {
  std::int64_t m = 0, n = 0, k = 0;
  bool turns_a = false, turns_b = false;
  GemmTypes types;
};
/// Declines sizes that are no multiples of what the instructions take (`shape`).
Match<void> check_sizes(const GemmSizes& sizes, const std::vector<MmaAtom>& atoms);

}  // namespace ww::lower
