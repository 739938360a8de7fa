// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/mma_forms.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ww::sim {
namespace {

using num::DType;

struct TypeRow {
  std::string_view word;
  DType type;
  unsigned bits;
};
constexpr TypeRow kTypes[] = {
    {"f16", DType::Float16, 16},      {"bf16", DType::Bfloat16, 16},
    {"tf32", DType::Tfloat32, 32},    {"e4m3", DType::Float8E4M3fn, 8},
    {"e5m2", DType::Float8E5M2, 8},   {"e3m2", DType::Float6E3M2fn, 8},
    {"e2m3", DType::Float6E2M3fn, 8}, {"e2m1", DType::Float4E2M1fn, 8},
    {"s8", DType::Int8, 8},           {"u8", DType::Uint8, 8},
    {"s4", DType::Int4, 4},           {"u4", DType::Uint4, 4},
    {"b1", DType::Uint32, 32},        {"f64", DType::Float64, 64},
    {"ue8m0", DType::Float8E8M0, 8},  {"ue4m3", DType::Float8E4M3fn, 8},
};

const TypeRow* find_type(std::string_view word) {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const TypeRow& row) { return row.word == word; });
  return found == std::end(kTypes) ? nullptr : found;
}

// "m16n8k16"
num::TileShape shape_of(std::string_view word) {
  std::array<int, 3> numbers{};
  int at = -1;
  for (const char c : word) {
    if (c < '0' || c > '9') {
      ++at;
    } else {
      numbers[static_cast<std::size_t>(at)] =
          numbers[static_cast<std::size_t>(at)] * 10 + (c - '0');
    }
  }
  return {numbers[0], numbers[1], numbers[2]};
}

num::Rounding rounding_of(std::string_view word) {
  if (word == "rz") return num::Rounding::TowardZero;
  if (word == "rm") return num::Rounding::Down;
  if (word == "rp") return num::Rounding::Up;
  return num::Rounding::NearestEven;
}

struct Packed {
  std::uint64_t kind : 3, a : 5, b : 5, m : 5, k : 9, bits : 7, a_regs : 4, b_regs : 3, d_regs : 4,
      in_bytes : 1, saturates : 1, is_xor : 1, rounding : 3, scale_type : 5, scale_count : 3,
      is_sparse : 1, is_ordered : 1, selector : 2;
};
static_assert(sizeof(Packed) == sizeof(std::int64_t));

}  // namespace

std::optional<MmaForm> form_in(Decode& in) {
  const TypeRow* a = find_type(in.word("atype"));
  const TypeRow* b = find_type(in.word("btype"));
  if (a == nullptr || b == nullptr) return std::nullopt;
  MmaForm form;
  form.a = a->type;
  form.b = b->type;
  form.bits = a->bits;
  form.shape = shape_of(in.word("shape"));
  const std::string_view kind = in.word("kind");
  const std::string_view dtype = in.word("dtype");
  form.is_sparse = in.has("sp");
  form.is_ordered = in.word("sp") == "sp::ordered_metadata";
  form.in_bytes = kind == "kind::f8f6f4" || kind == "kind::mxf8f6f4";
  if (in.has("block_scale")) {
    form.kind = MmaKind::Scaled;
    if (!form.in_bytes) form.bits = 4;
    form.scale_type = find_type(in.word("stype"))->type;
    const std::string_view vec = in.word("scale_vec");
    form.scale_count = vec.ends_with("4X") ? 4 : form.in_bytes ? 1 : 2;
  } else if (dtype == "f64") {
    form.kind = MmaKind::F64;
    form.rounding = rounding_of(in.word("rnd"));
  } else if (in.word("atype") == "b1") {
    form.kind = MmaKind::Bits;
    form.is_xor = in.word("op") == "xor";
    form.shape.k /= 32;
  } else if (dtype == "s32") {
    form.kind = MmaKind::S32;
    form.saturates = in.has("satfinite");
  } else {
    form.kind = dtype == "f16" ? MmaKind::F16 : MmaKind::F32;
  }
  // Bits of A and B over 32 lanes, and of D.
  const auto count = [](int elements, unsigned bits, unsigned reg_bits) {
    return static_cast<unsigned>(elements) * bits / (32 * reg_bits);
  };
  const unsigned reg_bits = form.kind == MmaKind::F64 ? 64 : 32;
  form.a_regs = count(form.shape.m * static_cast<int>(form.a_length()), form.bits, reg_bits);
  form.b_regs = count(form.shape.n * form.shape.k, form.bits, reg_bits);
  form.d_regs =
      count(form.shape.m * form.shape.n, form.kind == MmaKind::F16 ? 16 : reg_bits, reg_bits);
  return form;
}

void add_scale_places(Decode& in, std::size_t first, std::vector<Place>& places) {
  // Two spellings of A's scale, its selectors; then B's.
  for (const std::size_t at : {first, first + 3}) {
    const std::size_t scale = in.given(at) ? at : at + 1;
    places.push_back(in.sources(scale)[0]);
    const std::vector<Place> ids = in.sources(at + 2);
    places.insert(places.end(), ids.begin(), ids.end());
  }
}

void pack_form(const MmaForm& form, Op& op) {
  Packed packed{};
  packed.kind = static_cast<std::uint64_t>(form.kind) & 7U;
  packed.a = static_cast<std::uint64_t>(form.a) & 31U;
  packed.b = static_cast<std::uint64_t>(form.b) & 31U;
  packed.m = static_cast<std::uint64_t>(form.shape.m) & 31U;
  packed.k = static_cast<std::uint64_t>(form.shape.k) & 511U;
  packed.bits = form.bits & 127U;
  packed.a_regs = form.a_regs & 15U;
  packed.b_regs = form.b_regs & 7U;
  packed.d_regs = form.d_regs & 15U;
  packed.in_bytes = form.in_bytes;
  packed.saturates = form.saturates;
  packed.is_xor = form.is_xor;
  packed.rounding = static_cast<std::uint64_t>(form.rounding) & 7U;
  packed.scale_type = static_cast<std::uint64_t>(form.scale_type) & 31U;
  packed.scale_count = form.scale_count & 7U;
  packed.is_sparse = form.is_sparse;
  packed.is_ordered = form.is_ordered;
  packed.selector = form.selector & 3U;
  std::memcpy(&op.imm, &packed, sizeof packed);
}

MmaForm unpack_form(const Op& op) {
  Packed packed;
  std::memcpy(&packed, &op.imm, sizeof packed);
  MmaForm form;
  form.kind = static_cast<MmaKind>(packed.kind);
  form.a = static_cast<DType>(packed.a);
  form.b = static_cast<DType>(packed.b);
  form.shape = {static_cast<int>(packed.m), 8, static_cast<int>(packed.k)};
  form.bits = packed.bits;
  form.a_regs = packed.a_regs;
  form.b_regs = packed.b_regs;
  form.d_regs = packed.d_regs;
  form.in_bytes = packed.in_bytes != 0;
  form.saturates = packed.saturates != 0;
  form.is_xor = packed.is_xor != 0;
  form.rounding = static_cast<num::Rounding>(packed.rounding);
  form.scale_type = static_cast<DType>(packed.scale_type);
  form.scale_count = packed.scale_count;
  form.is_sparse = packed.is_sparse != 0;
  form.is_ordered = packed.is_ordered != 0;
  form.selector = packed.selector;
  return form;
}

}  // namespace ww::sim
