// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/packed.h"

#include <algorithm>

#include "lower/as_index.h"
#include "lower/checks.h"

namespace ww::lower {

namespace {

using ir::TileOp;
using num::DType;

// The mnemonic, with the rounding that the emitters give single elements.
std::string_view packed_word(TileOp op) {
  switch (op) {
    case TileOp::Add:
      return "add.rn";
    case TileOp::Sub:
      return "sub.rn";
    case TileOp::Mul:
      return "mul.rn";
    case TileOp::Fma:
      return "fma.rn";
    case TileOp::Maximum:
    case TileOp::Relu:
      return "max";
    case TileOp::Minimum:
      return "min";
    case TileOp::Neg:
      return "neg";
    case TileOp::Abs:
      return "abs";
    default:
      return {};
  }
}

std::string_view packed_type(DType type) {
  return type == DType::Float16    ? "f16x2"
         : type == DType::Bfloat16 ? "bf16x2"
         : type == DType::Float32  ? "f32x2"
                                   : "";
}

}  // namespace

std::optional<PackedOp> packed_op(const Call& call, DType type, DType dst,
                                  std::span<const ElementwiseSource> sources) {
  if (call.tile.op == TileOp::Cast) {
    auto cast = packed_cast(call);
    return cast ? std::optional(
                      PackedOp{.opcode = {}, .word = DType::Uint32, .cast = *std::move(cast)})
                : std::nullopt;
  }
  const std::string_view word = packed_word(call.tile.op), halves = packed_type(type);
  if (word.empty() || halves.empty() || dst != type) return std::nullopt;
  for (const ElementwiseSource& source : sources)
    if (source.side && source.side->dtype != type) return std::nullopt;
  PackedOp out{.opcode = fmt::format("{}.{}", word, halves),
               .word = num::bits_of(type) == 16 ? DType::Uint32 : DType::Uint64,
               .has_zero = call.tile.op == TileOp::Relu};
  if (!is_on_target(out.opcode, call.context.target)) return std::nullopt;
  return out;
}

std::optional<DType> PackedOp::word_of(const OperandPlaces& side, bool is_dst) const {
  if (!cast) return word;
  if (is_dst ? !cast->writes_words() : !cast->reads_words()) return std::nullopt;
  return side.bits == 4 ? DType::Uint8 : side.bits == 8 ? DType::Uint16 : DType::Uint32;
}

std::vector<std::string> PackedOp::opcodes() const {
  if (!cast) return {opcode};
  std::vector<std::string> out;
  for (const std::string& each : {cast->unpack, cast->pack})
    if (!each.empty()) out.push_back(each);
  return out;
}

bool are_pairs(const Call& call, const OperandPlaces& side, std::span<const std::int64_t> slots) {
  const ir::Buffer& buffer = call.f()[side.buffer];
  const bool is_moved = buffer.origin == ir::BufferOrigin::View && buffer.elem_offset.valid() &&
                        ir::const_int(call.f(), buffer.elem_offset) != 0;
  if (is_moved || side.align_bytes % (side.bits / 4) != 0 || side.base.valid()) return false;
  if (slots.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < slots.size(); i += 2)
    if (slots[i] % 2 != 0 || slots[i + 1] != slots[i] + 1) return false;
  return true;
}

std::vector<std::int64_t> words_of_pairs(std::span<const std::int64_t> slots) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < slots.size(); i += 2) out.push_back(slots[i] / 2);
  return out;
}

ir::BufferId word_view(CodeWriter& code, ir::BufferId buffer, DType word, std::int64_t elements) {
  return code.flat_view(buffer, word, (elements + 1) / 2, code.f()[buffer].name + "_words");
}

ir::ExprId both_halves(CodeWriter& code, DType word, ir::ExprId value) {
  const ir::BufferId pair = code.registers("pair", code.f()[value].type.dtype, 2);
  for (const std::int64_t i : {0, 1}) code.store(pair, code.n(i), value);
  return code.load(word_view(code, pair, word, 2), {code.n(0)});
}

void write_packed(CodeWriter& code, const PackedOp& op, ir::ExprId to,
                  std::span<const ir::ExprId> from) {
  std::vector<ir::PtxOperand> operands{{.expr = to}};
  for (const ir::ExprId each : from) operands.push_back({.expr = each});
  code.ptx(op.opcode, std::move(operands));
}

}  // namespace ww::lower
