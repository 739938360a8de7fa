// SPDX-License-Identifier: Apache-2.0
#include "isa/product_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "base/join.h"

namespace ww::isa {
namespace {

using num::DType;

constexpr std::array kKindNames = {"kind::f16",      "kind::tf32", "kind::f8f6f4",  "kind::i8",
                                   "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"};

using Is = ProductDescriptor;
// clang-format off
constexpr DescriptorField kPlainFields[] = {
    {.name = "sparsity selector",    .low =  0, .width = 2, .number = &Is::selector},
    {.name = "sparsity",             .low =  2, .width = 1, .flag = &Is::is_sparse},
    {.name = "saturation",           .low =  3, .width = 1, .flag = &Is::saturates},
    {.name = "type of D",            .low =  4, .width = 2, .type = &Is::d},
    {.name = "type of A",            .low =  7, .width = 3, .type = &Is::a},
    {.name = "type of B",            .low = 10, .width = 3, .type = &Is::b},
    {.name = "negation of A",        .low = 13, .width = 1, .flag = &Is::negates_a},
    {.name = "negation of B",        .low = 14, .width = 1, .flag = &Is::negates_b},
    {.name = "major of A",           .low = 15, .width = 1, .flag = &Is::a_is_mn_major},
    {.name = "major of B",           .low = 16, .width = 1, .flag = &Is::b_is_mn_major},
    {.name = "N",                    .low = 17, .width = 6, .number = &Is::n, .shift = 3},
    {.name = "M",                    .low = 24, .width = 5, .number = &Is::m, .shift = 4},
    {.name = "maximum shift of B",   .low = 30, .width = 2, .number = &Is::max_shift},
};
constexpr DescriptorField kScaledFields[] = {
    {.name = "sparsity",             .low =  2, .width = 1, .flag = &Is::is_sparse},
    {.name = "scale factor ID of B", .low =  4, .width = 2, .number = &Is::scale_b_id},
    {.name = "type of A",            .low =  7, .width = 3, .type = &Is::a},
    {.name = "type of B",            .low = 10, .width = 3, .type = &Is::b},
    {.name = "negation of A",        .low = 13, .width = 1, .flag = &Is::negates_a},
    {.name = "negation of B",        .low = 14, .width = 1, .flag = &Is::negates_b},
    {.name = "major of A",           .low = 15, .width = 1, .flag = &Is::a_is_mn_major},
    {.name = "major of B",           .low = 16, .width = 1, .flag = &Is::b_is_mn_major},
    {.name = "N",                    .low = 17, .width = 6, .number = &Is::n, .shift = 3},
    {.name = "type of the scales",   .low = 23, .width = 1, .type = &Is::scale_type},
    {.name = "M",                    .low = 27, .width = 2, .number = &Is::m, .shift = 7},
    {.name = "scale factor ID of A", .low = 29, .width = 2, .number = &Is::scale_a_id},
    {.name = "K",                    .low = 31, .width = 1, .flag = &Is::is_long},
};
// clang-format on

/// Which types a field can name.
enum class TypesOf : std::uint8_t { Operand, Result, Scale };

TypesOf types_of(const DescriptorField& field) {
  if (field.type == &Is::d) return TypesOf::Result;
  return field.type == &Is::scale_type ? TypesOf::Scale : TypesOf::Operand;
}

/// A type that a field can name.
struct TypeCode {
  ProductKind kind;
  TypesOf of;
  std::uint32_t code;
  DType type;
};
constexpr TypeCode kTypeCodes[] = {
    {ProductKind::F16, TypesOf::Operand, 0, DType::Float16},
    {ProductKind::F16, TypesOf::Operand, 1, DType::Bfloat16},
    {ProductKind::F16, TypesOf::Result, 0, DType::Float16},
    {ProductKind::F16, TypesOf::Result, 1, DType::Float32},
    {ProductKind::Tf32, TypesOf::Operand, 2, DType::Tfloat32},
    {ProductKind::Tf32, TypesOf::Result, 1, DType::Float32},
    {ProductKind::F8f6f4, TypesOf::Operand, 0, DType::Float8E4M3fn},
    {ProductKind::F8f6f4, TypesOf::Operand, 1, DType::Float8E5M2},
    {ProductKind::F8f6f4, TypesOf::Operand, 3, DType::Float6E2M3fn},
    {ProductKind::F8f6f4, TypesOf::Operand, 4, DType::Float6E3M2fn},
    {ProductKind::F8f6f4, TypesOf::Operand, 5, DType::Float4E2M1fn},
    {ProductKind::F8f6f4, TypesOf::Result, 0, DType::Float16},
    {ProductKind::F8f6f4, TypesOf::Result, 1, DType::Float32},
    {ProductKind::I8, TypesOf::Operand, 0, DType::Uint8},
    {ProductKind::I8, TypesOf::Operand, 1, DType::Int8},
    {ProductKind::I8, TypesOf::Result, 2, DType::Int32},
    {ProductKind::Mxf8f6f4, TypesOf::Operand, 0, DType::Float8E4M3fn},
    {ProductKind::Mxf8f6f4, TypesOf::Operand, 1, DType::Float8E5M2},
    {ProductKind::Mxf8f6f4, TypesOf::Operand, 3, DType::Float6E2M3fn},
    {ProductKind::Mxf8f6f4, TypesOf::Operand, 4, DType::Float6E3M2fn},
    {ProductKind::Mxf8f6f4, TypesOf::Operand, 5, DType::Float4E2M1fn},
    {ProductKind::Mxf8f6f4, TypesOf::Scale, 1, DType::Float8E8M0},
    {ProductKind::Mxf4, TypesOf::Operand, 1, DType::Float4E2M1fn},
    {ProductKind::Mxf4, TypesOf::Scale, 1, DType::Float8E8M0},
    {ProductKind::Mxf4nvf4, TypesOf::Operand, 1, DType::Float4E2M1fn},
    {ProductKind::Mxf4nvf4, TypesOf::Scale, 0, DType::Float8E4M3fn},
    {ProductKind::Mxf4nvf4, TypesOf::Scale, 1, DType::Float8E8M0},
};

const TypeCode* type_of_code(ProductKind kind, TypesOf of, std::uint32_t code) {
  const auto* found = std::ranges::find_if(kTypeCodes, [&](const TypeCode& row) {
    return row.kind == kind && row.of == of && row.code == code;
  });
  return found == std::end(kTypeCodes) ? nullptr : found;
}

const TypeCode* code_of_type(ProductKind kind, TypesOf of, DType type) {
  const auto* found = std::ranges::find_if(kTypeCodes, [&](const TypeCode& row) {
    return row.kind == kind && row.of == of && row.type == type;
  });
  return found == std::end(kTypeCodes) ? nullptr : found;
}

std::string possible_types(ProductKind kind, TypesOf of) {
  std::string text;
  for (const TypeCode& row : kTypeCodes) {
    if (row.kind != kind || row.of != of) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row.code, num::name_of(row.type));
  }
  return text;
}

constexpr std::uint32_t mask_of(const DescriptorField& field) {
  return ((1U << field.width) - 1) << field.low;
}

// --- what a kind allows --------------------------------------------------------------------------

std::string name_of(const ProductForm& form) {
  return fmt::format("`tcgen05.mma{}{}.cta_group::{}.{}`", form.is_ws ? ".ws" : "",
                     form.is_sparse ? ".sp" : "", form.is_pair ? 2 : 1,
                     ww::isa::name_of(form.kind));
}

// The possible M, in ascending order.
std::vector<unsigned> possible_m(const ProductForm& form) {
  if (form.is_ws) return {32, 64, 128};
  if (form.is_pair) return {128, 256};
  return has_scales(form.kind) ? std::vector<unsigned>{128} : std::vector<unsigned>{64, 128};
}

std::string fault_of_n(const ProductForm& form, unsigned n) {
  const auto wrong = [&](std::string_view what) {
    return fmt::format("N is {}; {} has {}", n, name_of(form), what);
  };
  if (form.is_ws) return n == 64 || n == 128 || n == 256 ? "" : wrong("64, 128 and 256");
  const bool in_range = n >= 8 && n <= 256;
  const bool is_i8 = form.kind == ProductKind::I8;
  if (form.is_pair) {
    const unsigned step = is_i8 ? 32 : 16;
    if (in_range && n % step == 0) return "";
    return wrong(fmt::format("multiples of {} up to 256", step));
  }
  if (in_range && (!is_i8 || n <= 32 || n % 16 == 0)) return "";
  return wrong(is_i8 ? "8, 16, 24, 32 and multiples of 16 up to 256"
                     : "multiples of 8 from 8 to 256");
}

std::string fault_of_shape(const ProductForm& form, const ProductDescriptor& value) {
  const std::vector<unsigned> all = possible_m(form);
  if (std::ranges::find(all, value.m) == all.end())
    return fmt::format("M is {}; {} has {}", value.m, name_of(form), join(all, " and "));
  return fault_of_n(form, value.n);
}

std::string fault_of_scales(const ProductForm& form, const ProductDescriptor& value) {
  const unsigned step = form.scale_count;
  for (const bool is_a : {true, false}) {
    const unsigned id = is_a ? value.scale_a_id : value.scale_b_id;
    if (id % step != 0)
      return fmt::format("scale factor ID {} of {}; with {} scales to a row it is a multiple of {}",
                         id, is_a ? "A" : "B", step, step);
  }
  if (step == 2 && value.scale_type != DType::Float8E8M0)
    return "scales of ue4m3 for 32 elements each; they are ue8m0 then";
  return "";
}

// Metadata of 16-bit and 32-bit elements takes one of two columns, which the selector names; that of
// narrower ones takes both.
std::string fault_of_sparsity(const ProductForm& form, const ProductDescriptor& value) {
  if (value.is_sparse && !form.is_sparse)
    return "the sparsity bit is set, and the instruction has no `.sp`";
  if (!value.is_sparse && form.is_sparse)
    return "the sparsity bit is not set, and the instruction has `.sp`";
  if (!form.is_sparse) return value.selector != 0 ? "a sparsity selector without sparsity" : "";
  const bool has_two = container_bits(form.kind) >= 16;
  if (value.selector <= (has_two ? 1U : 0U)) return "";
  return fmt::format("sparsity selector {}; {} has {}", value.selector, name_of(form),
                     has_two ? "0 and 1" : "0 alone");
}

std::string fault_of_value(const ProductForm& form, const ProductDescriptor& value) {
  if (std::string shape = fault_of_shape(form, value); !shape.empty()) return shape;
  if (std::string sparsity = fault_of_sparsity(form, value); !sparsity.empty()) return sparsity;
  if (value.saturates && form.kind != ProductKind::I8) return "saturation is of `.kind::i8` alone";
  if (form.kind == ProductKind::I8 && (value.negates_a || value.negates_b))
    return "`.kind::i8` negates neither A nor B";
  if (value.max_shift != 0 && !form.is_ws) return "a maximum shift of B is of `.ws` alone";
  if (form.kind == ProductKind::F16 && value.d == DType::Float16 && value.a == DType::Bfloat16)
    return "D of float16 needs A and B of float16";
  if (form.kind == ProductKind::F16 && value.a != value.b)
    return fmt::format("A of {} and B of {}; the manual has no such product", num::name_of(value.a),
                       num::name_of(value.b));
  const bool is_fp4 = form.kind == ProductKind::Mxf4 || form.kind == ProductKind::Mxf4nvf4;
  if (is_fp4 && (value.a_is_mn_major || value.b_is_mn_major))
    return fmt::format("`.{}` takes K-major operands alone", ww::isa::name_of(form.kind));
  return has_scales(form.kind) ? fault_of_scales(form, value) : "";
}

}  // namespace

std::optional<ProductKind> product_kind(std::string_view word) {
  const auto* found = std::ranges::find(kKindNames, word);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<ProductKind>(found - kKindNames.begin());
}

std::string_view name_of(ProductKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

unsigned container_bits(ProductKind kind) {
  switch (kind) {
    case ProductKind::Tf32:
      return 32;
    case ProductKind::F16:
      return 16;
    case ProductKind::F8f6f4:
    case ProductKind::I8:
    case ProductKind::Mxf8f6f4:
      return 8;
    case ProductKind::Mxf4:
    case ProductKind::Mxf4nvf4:
      return 4;
  }
  return 8;
}

std::span<const DescriptorField> descriptor_fields(ProductKind kind) {
  if (has_scales(kind)) return kScaledFields;
  return kPlainFields;
}

ReadDescriptor read_descriptor(const ProductForm& form, std::uint32_t bits) {
  ReadDescriptor read;
  std::uint32_t reserved = ~0U;
  for (const DescriptorField& field : descriptor_fields(form.kind)) {
    reserved &= ~mask_of(field);
    const std::uint32_t code = (bits & mask_of(field)) >> field.low;
    if (field.number != nullptr) read.value.*field.number = code << field.shift;
    if (field.flag != nullptr) read.value.*field.flag = code != 0;
    if (field.type == nullptr) continue;
    const TypeCode* type = type_of_code(form.kind, types_of(field), code);
    if (type == nullptr) {
      read.fault = fmt::format(
          "{} (bits {}:{}) is {}; `.{}` has {}", field.name, field.low + field.width - 1, field.low,
          code, ww::isa::name_of(form.kind), possible_types(form.kind, types_of(field)));
      return read;
    }
    read.value.*field.type = type->type;
  }
  read.fault = (bits & reserved) != 0
                   ? fmt::format("bits 0x{:08x} are set, which must be 0", bits & reserved)
                   : fault_of_value(form, read.value);
  return read;
}

std::uint32_t write_descriptor(ProductKind kind, const ProductDescriptor& value) {
  std::uint32_t bits = 0;
  for (const DescriptorField& field : descriptor_fields(kind)) {
    std::uint32_t code = 0;
    if (field.number != nullptr) code = value.*field.number >> field.shift;
    if (field.flag != nullptr) code = value.*field.flag ? 1 : 0;
    if (field.type != nullptr) {
      const TypeCode* type = code_of_type(kind, types_of(field), value.*field.type);
      WW_CHECK(type != nullptr, "{} as {} of {}", num::name_of(value.*field.type), field.name,
               ww::isa::name_of(kind));
      code = type->code;
    }
    WW_CHECK(code < (1U << field.width), "{} does not fit into {}", code, field.name);
    bits |= code << field.low;
  }
  return bits;
}

}  // namespace ww::isa
