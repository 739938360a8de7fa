// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/index_key.h"

namespace ww::lower {
namespace key_numbers {
namespace {

using hashes::operated;
using ir::ExprOp;
using num::DType;

Number constant(DType type, std::int64_t value) {
  return hashes::number_of(ir::Constant{type, value, 0});
}
Number word(std::int64_t value) { return constant(DType::Uint32, value); }

}  // namespace
}  // namespace key_numbers

Number key_number(ir::TileOp op, num::DType type, Number x, std::int64_t index) {
  using namespace key_numbers;
  const Number bits = type == DType::Uint32
                          ? x
                          : hashes::hashed(hashes::kCast, static_cast<Number>(ExprOp::Reinterpret),
                                           DType::Uint32, {x});
  Number high = bits;
  if (type == DType::Int32) high = operated(ExprOp::BitXor, DType::Uint32, bits, word(0x8000'0000));
  if (type == DType::Float32) {
    const Number sign = operated(ExprOp::Shr, DType::Uint32, bits, word(31));
    const Number all = operated(ExprOp::Sub, DType::Uint32, word(0), sign);
    high = operated(ExprOp::BitXor, DType::Uint32, bits,
                    operated(ExprOp::BitOr, DType::Uint32, all, word(0x8000'0000)));
  }
  if (op == ir::TileOp::Argmin)
    high = operated(ExprOp::BitXor, DType::Uint32, high, word(0xFFFF'FFFF));
  if (type == DType::Float32)
    high = hashes::hashed(hashes::kChoice, 0, DType::Uint32,
                          {operated(ExprOp::Eq, type, x, x), high, word(0)});
  const Number above =
      operated(ExprOp::Shl, DType::Uint64, hashes::cast(DType::Uint32, DType::Uint64, high),
               constant(DType::Uint64, 32));
  return operated(ExprOp::BitOr, DType::Uint64, above,
                  constant(DType::Uint64, 0x7FFF'FFFF - index));
}

Number index_number(Number key) {
  using namespace key_numbers;
  return operated(ExprOp::Sub, DType::Int32, constant(DType::Int32, 0x7FFF'FFFF),
                  hashes::cast(DType::Uint64, DType::Int32, key));
}

}  // namespace ww::lower
