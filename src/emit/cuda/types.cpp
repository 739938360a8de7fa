// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/types.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/look_up.h"
#include "num/float_format.h"

namespace ww::emit::cuda {

using num::DTypeKind;

std::string_view value_type(DType dtype) {
  return word_for(dtype,
                  {{DType::Bool, "bool"},
                   {DType::Int8, "int8_t"},
                   {DType::Int16, "int16_t"},
                   {DType::Int32, "int"},
                   {DType::Int64, "int64_t"},
                   {DType::Uint16, "uint16_t"},
                   {DType::Uint32, "uint32_t"},
                   {DType::Uint64, "uint64_t"},
                   {DType::Float64, "double"},
                   {DType::Float32, "float"},
                   {DType::Tfloat32, "float"},
                   {DType::Float16, "half"},
                   {DType::Bfloat16, "nv_bfloat16"},
                   {DType::Float8E4M3fn, "__nv_fp8_e4m3"},
                   {DType::Float8E5M2, "__nv_fp8_e5m2"}},
                  "uint8_t");
}

std::string_view memory_type(DType dtype) {
  return dtype == DType::Bool ? "int8_t" : value_type(dtype);
}

std::string type_text(ir::Type type) {
  if (type.is_pointer()) return type.opaque ? "void*" : fmt::format("{}*", memory_type(type.dtype));
  if (!type.is_value()) return "void";
  if (type.lanes == 1) return std::string(value_type(type.dtype));
  return fmt::format("ww_vec<{}, {}>", value_type(type.dtype), type.lanes);
}

std::string memory_type(ir::Type type) {
  if (!type.is_value()) return type_text(type);
  if (type.lanes == 1) return std::string(memory_type(type.dtype));
  return fmt::format("ww_vec<{}, {}>", memory_type(type.dtype), type.lanes);
}

bool is_packed(DType dtype) { return num::bits_of(dtype) == 4; }

bool is_fp8(DType dtype) { return dtype == DType::Float8E4M3fn || dtype == DType::Float8E5M2; }

bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::Bfloat16; }

bool is_tiny(DType dtype) {
  return num::kind_of(dtype) == DTypeKind::Float && num::bits_of(dtype) < 8;
}

bool is_number(DType dtype) {
  if (num::kind_of(dtype) != DTypeKind::Float) return !is_packed(dtype);
  return is_tiny(dtype) || is_half(dtype) || is_fp8(dtype) || dtype == DType::Float32 ||
         dtype == DType::Float64;
}

bool is_signed(DType dtype) { return num::kind_of(dtype) == DTypeKind::Int; }

int bytes_of(DType dtype) { return num::bits_of(dtype) < 8 ? 1 : num::bits_of(dtype) / 8; }

std::string_view unsigned_type(int bits) {
  return bits <= 8 ? "uint8_t" : bits == 16 ? "uint16_t" : bits == 32 ? "uint32_t" : "uint64_t";
}

std::string int_literal(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::Bool:
      return value != 0 ? "true" : "false";
    case DType::Int32:
      if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
      return fmt::format("{}", value);
    case DType::Uint32:
      return value > 0xffff ? fmt::format("0x{:x}u", static_cast<std::uint32_t>(value))
                            : fmt::format("{}u", static_cast<std::uint32_t>(value));
    case DType::Uint64:
      return value < 0 || value > 0xffff
                 ? fmt::format("uint64_t(0x{:x}u)", static_cast<std::uint64_t>(value))
                 : fmt::format("uint64_t({})", value);
    default:
      break;
  }
  if (value == std::numeric_limits<std::int64_t>::min()) return "int64_t(0x8000000000000000u)";
  return fmt::format("{}({})", value_type(dtype), value);
}

namespace {

std::string plain_float(double value) {
  constexpr double kReadable = 1e15;  // whole numbers up to here are written out
  if (std::trunc(value) == value && std::abs(value) < kReadable)
    return fmt::format("{:.1f}", value);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string float32_literal(double value) {
  const auto narrow = static_cast<float>(value);
  if (std::isnan(narrow)) return "__int_as_float(0x7fffffff)";
  if (std::isinf(narrow))
    return narrow > 0 ? "__int_as_float(0x7f800000)" : "(-__int_as_float(0x7f800000))";
  constexpr float kReadable = 1e7F;
  if (std::trunc(narrow) == narrow && std::abs(narrow) < kReadable)
    return fmt::format("{:.1f}f", narrow);
  std::string text = fmt::format("{}", narrow);  // the shortest that reads back as this float
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace

std::string float_literal(DType dtype, double value) {
  switch (dtype) {
    case DType::Float64:
      if (std::isnan(value)) return "__longlong_as_double(0x7fffffffffffffffll)";
      if (std::isinf(value))
        return value > 0 ? "__longlong_as_double(0x7ff0000000000000ll)"
                         : "(-__longlong_as_double(0x7ff0000000000000ll))";
      return plain_float(value);
    case DType::Float16:
      return fmt::format("__float2half_rn({})", float32_literal(value));
    case DType::Bfloat16:
      return fmt::format("__float2bfloat16_rn({})", float32_literal(value));
    case DType::Float8E4M3fn:
    case DType::Float8E5M2:
      return fmt::format("{}({})", value_type(dtype), float32_literal(value));
    case DType::Float8E8M0:
    case DType::Float6E2M3fn:
    case DType::Float6E3M2fn:
    case DType::Float4E2M1fn:
      return fmt::format(
          "{}({})", value_type(dtype),
          num::encode(dtype, value, num::Rounding::NearestEven, num::Overflow::Saturate));
    default:
      return float32_literal(value);
  }
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + '"';
}

int register_bits(ir::Type type) {
  return type.is_pointer() ? 64 : bytes_of(type.dtype) * 8 * static_cast<int>(type.lanes);
}

}  // namespace ww::emit::cuda
