// SPDX-License-Identifier: Apache-2.0
// The 32-bit instruction descriptor of tcgen05.mma, which supplements the opcode: the shape of the
// product, the types and majors of its operands. Two tables list the fields and their bits, one for
// the kinds without block scales and one for the kinds with them; reading and writing use these
// tables. Bits outside the fields are reserved and must be 0. PTX manual, "Instruction descriptor".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "num/dtype.h"

namespace ww::isa {

/// `.kind::…` of tcgen05.mma.
enum class ProductKind : std::uint8_t { F16, Tf32, F8f6f4, I8, Mxf8f6f4, Mxf4, Mxf4nvf4 };

/// The kind of that modifier, e.g. "kind::f16".
std::optional<ProductKind> product_kind(std::string_view word);
/// The modifier, e.g. "kind::f16".
std::string_view name_of(ProductKind kind);
constexpr bool has_scales(ProductKind kind) { return kind >= ProductKind::Mxf8f6f4; }
/// Bits that an element takes: fp6 and fp4 take a byte, except where only fp4 is possible.
unsigned container_bits(ProductKind kind);
/// Elements of a row of A as it is stored: 32 bytes. A sparse row represents twice as many.
inline unsigned product_k(ProductKind kind) { return 256 / container_bits(kind); }

/// What the opcode says.
struct ProductForm {
  ProductKind kind = ProductKind::F16;
  bool is_pair = false;      // .cta_group::2
  bool is_ws = false;        // tcgen05.mma.ws
  bool is_sparse = false;    // .sp
  unsigned scale_count = 0;  // scales of a row of A: 1, 2 or 4; 0: none
};

/// What the descriptor says.
struct ProductDescriptor {
  unsigned m = 0, n = 0;
  num::DType a{}, b{}, d = num::DType::Float32;
  bool negates_a = false, negates_b = false;
  bool a_is_mn_major = false, b_is_mn_major = false;
  bool saturates = false;  // integers
  bool is_sparse = false;
  unsigned selector = 0;   // of sparse metadata
  unsigned max_shift = 0;  // of .ws, as a code
  num::DType scale_type = num::DType::Float8E8M0;
  unsigned scale_a_id = 0, scale_b_id = 0;  // first byte of a cell with scales
  bool is_long = false;                     // K = 96

  /// Columns of B that .ws may skip.
  [[nodiscard]] unsigned largest_shift() const { return max_shift == 0 ? 0 : 4U << max_shift; }
};

/// A field: where it is, and which member of a ProductDescriptor it holds (one of the three).
struct DescriptorField {
  std::string_view name;
  unsigned low, width;  // in bits
  unsigned ProductDescriptor::*number = nullptr;
  unsigned shift = 0;  // low bits of the number that are not stored
  bool ProductDescriptor::*flag = nullptr;
  num::DType ProductDescriptor::*type = nullptr;
};

/// The fields of a kind's descriptor, from bit 0 on.
std::span<const DescriptorField> descriptor_fields(ProductKind kind);

struct ReadDescriptor {
  ProductDescriptor value;
  std::string fault;  // what is wrong with it; empty: nothing
};
ReadDescriptor read_descriptor(const ProductForm& form, std::uint32_t bits);

/// The descriptor of a product that the kind has; anything else is a bug of the caller.
std::uint32_t write_descriptor(ProductKind kind, const ProductDescriptor& value);

}  // namespace ww::isa
