// SPDX-License-Identifier: Apache-2.0
#include "lower/fold/index_key.h"

namespace ww::lower {
namespace reduce_key {
namespace {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

constexpr std::int64_t kLast = 0x7FFF'FFFF, kAll = 0xFFFF'FFFF, kSign = 0x8000'0000;

ExprId word(CodeWriter& code, std::int64_t value) {
  return ir::int_imm(code.f(), DType::Uint32, value, code.span());
}

ExprId bits_of(CodeWriter& code, ExprId value) {
  ir::Expr out{.op = ExprOp::Reinterpret, .type = ir::Type::of(DType::Uint32)};
  out.span = code.span();
  out.args = {value};
  return code.f().add(std::move(out));
}

// Grows with the element. The bits of negative floats fall, so all of them are turned over.
ExprId growing(CodeWriter& code, ExprId element) {
  const DType type = code.f()[element].type.dtype;
  if (type == DType::Uint32) return element;
  const ExprId bits = bits_of(code, element);
  if (type == DType::Int32) return code.binary(ExprOp::BitXor, bits, word(code, kSign));
  const ExprId is_negative = code.binary(ExprOp::Shr, bits, word(code, 31));
  const ExprId all = code.binary(ExprOp::Sub, word(code, 0), is_negative);
  const ExprId turned = code.binary(ExprOp::BitOr, all, word(code, kSign));
  return code.binary(ExprOp::BitXor, bits, turned);
}

}  // namespace
}  // namespace reduce_key

ir::ExprId index_key(CodeWriter& code, ir::TileOp op, ir::ExprId element, ir::ExprId index) {
  using namespace reduce_key;
  ExprId high = growing(code, element);
  if (op == ir::TileOp::Argmin) high = code.binary(ExprOp::BitXor, high, word(code, kAll));
  if (is_float(code.f()[element].type.dtype))
    high =
        code.choose(ExprOp::Select, code.binary(ExprOp::Eq, element, element), high, word(code, 0));
  const ExprId above = code.binary(ExprOp::Shl, code.as(DType::Uint64, high),
                                   ir::int_imm(code.f(), DType::Uint64, 32, code.span()));
  const ExprId below = code.simplify(code.index(ExprOp::Sub, code.n(kLast), index));
  return code.binary(ExprOp::BitOr, above, code.as(DType::Uint64, below));
}

ir::ExprId index_of_key(CodeWriter& code, ir::ExprId key) {
  return code.binary(ir::ExprOp::Sub, code.n(reduce_key::kLast), code.as_int32(key));
}

}  // namespace ww::lower
