// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string_view>

#include "sim/ops/wgmma_ops.h"

namespace ww::sim {
namespace {

struct PackedWgmma {
  std::uint64_t kind : 3, a : 5, b : 5, n : 9, bits : 6, a_in_registers : 1, saturates : 1,
      a_is_mn_major : 1, b_is_mn_major : 1, negates_a : 1, negates_b : 1, is_sparse : 1,
      selector : 2;
};
static_assert(sizeof(PackedWgmma) == sizeof(std::int64_t));

// The value of an operand that is a constant; 0 if the form does not have it.
std::int64_t constant_named(const Decode& in, std::string_view name) {
  for (std::size_t i = 0; i < in.count(); ++i) {
    if (in.form.form().operands[i].name == name) return in.immediate(i);
  }
  return 0;
}

}  // namespace

std::optional<WgmmaForm> wgmma_form(Decode& in) {
  const std::optional<MmaForm> read = form_in(in);
  if (!read) return std::nullopt;
  WgmmaForm form;
  form.kind = read->kind;
  form.a = read->a;
  form.b = read->b;
  form.n = static_cast<unsigned>(read->shape.n);
  form.bits = read->bits;
  form.a_in_registers = in.operand(1).kind == isa::OperandKind::Vector;
  form.saturates = read->saturates;
  form.a_is_mn_major = constant_named(in, "trans_a") == 1;
  form.b_is_mn_major = constant_named(in, "trans_b") == 1;
  form.negates_a = constant_named(in, "scale_a") == -1;
  form.negates_b = constant_named(in, "scale_b") == -1;
  form.is_sparse = in.has("sp");
  form.selector = static_cast<unsigned>(constant_named(in, "sel"));
  return form;
}

void pack_form(const WgmmaForm& form, Op& op) {
  PackedWgmma packed{};
  packed.kind = static_cast<std::uint64_t>(form.kind) & 7U;
  packed.a = static_cast<std::uint64_t>(form.a) & 31U;
  packed.b = static_cast<std::uint64_t>(form.b) & 31U;
  packed.n = form.n & 511U;
  packed.bits = form.bits & 63U;
  packed.a_in_registers = form.a_in_registers;
  packed.saturates = form.saturates;
  packed.a_is_mn_major = form.a_is_mn_major;
  packed.b_is_mn_major = form.b_is_mn_major;
  packed.negates_a = form.negates_a;
  packed.negates_b = form.negates_b;
  packed.is_sparse = form.is_sparse;
  packed.selector = form.selector & 3U;
  std::memcpy(&op.imm, &packed, sizeof packed);
}

WgmmaForm unpack_wgmma(const Op& op) {
  PackedWgmma packed;
  std::memcpy(&packed, &op.imm, sizeof packed);
  WgmmaForm form;
  form.kind = static_cast<MmaKind>(packed.kind);
  form.a = static_cast<num::DType>(packed.a);
  form.b = static_cast<num::DType>(packed.b);
  form.n = packed.n;
  form.bits = packed.bits;
  form.a_in_registers = packed.a_in_registers != 0;
  form.saturates = packed.saturates != 0;
  form.a_is_mn_major = packed.a_is_mn_major != 0;
  form.b_is_mn_major = packed.b_is_mn_major != 0;
  form.negates_a = packed.negates_a != 0;
  form.negates_b = packed.negates_b != 0;
  form.is_sparse = packed.is_sparse != 0;
  form.selector = packed.selector;
  return form;
}

}  // namespace ww::sim
