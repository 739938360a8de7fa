// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/packed.h"

#include <algorithm>

#include "lower/as_index.h"
#include "lower/call.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using num::DType;

std::string_view pair_word(DType type) {
  switch (type) {
    case DType::Float16:
      return "f16x2";
    case DType::Bfloat16:
      return "bf16x2";
    default:
      return narrow_pair(type);
  }
}

bool is_narrow(DType type) { return !narrow_pair(type).empty(); }

// The instruction for one element, where there is one, with a word for its result; else the one
// that rounds as T.Cast does.
std::string pack_opcode(const CastForm& form, std::string_view from) {
  const std::string_view to = pair_word(form.to);
  if (to.empty()) return {};
  if (form.opcode.empty())
    return fmt::format("cvt.rn{}.{}.{}", is_narrow(form.to) ? ".satfinite" : "", to, from);
  if (makes_powers(form.opcode)) return form.opcode;
  const std::size_t at = form.opcode.rfind(".f32");
  return at == std::string::npos ? "" : form.opcode.substr(0, at) + "x2.f32";
}

// Powers of two are bfloat16 in between; into floats of at most 32 bits they stay in pairs.
std::optional<PackedCast> packed_powers(const CastForm& form) {
  if (form.to != DType::Float32 && pair_word(form.to).empty()) return std::nullopt;
  PackedCast out{.to = form.to, .unpack = std::string(kPowersToBfloat16), .half = DType::Bfloat16};
  if (form.to != DType::Float32 && form.to != DType::Bfloat16) out.pack = pack_opcode(form, "f32");
  return out;
}

std::optional<PackedCast> packed_form(const CastForm& form) {
  if (form.is_bounded || form.from == form.to) return std::nullopt;
  if (form.unpacks) return packed_powers(form);
  if (form.to == DType::Float8E8M0)
    return PackedCast{
        .to = form.to, .pack = form.opcode, .packs_halves = form.from == DType::Bfloat16};
  const bool is_unpacked = is_narrow(form.from), is_halved = form.wide == DType::Float16;
  PackedCast out{.to = form.to};
  if (is_unpacked && (is_halved || form.to == DType::Float16))
    out.unpack = fmt::format("cvt.rn.f16x2.{}", pair_word(form.from));
  out.packs_halves = is_halved && is_narrow(form.to) && form.wider == DType::Float16;
  if (out.packs_halves || form.wider == DType::Float32)
    out.pack = pack_opcode(form, out.packs_halves ? "f16x2" : "f32");
  if (out.unpack.empty() && out.pack.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<PackedCast> packed_cast(const Call& call) {
  const auto form = cast_form(call);
  const auto out = form ? packed_form(*form) : std::nullopt;
  if (!out) return std::nullopt;
  for (const std::string& opcode : {out->unpack, out->pack})
    if (!opcode.empty() && !is_on_target(opcode, call.context.target)) return std::nullopt;
  return out;
}

void write_packed_cast(CodeWriter& code, const PackedCast& cast, const CastPair& pair) {
  std::array<ExprId, 2> from = pair.from;
  ExprId halves = pair.from_word;
  if (!cast.unpack.empty()) {
    const bool is_last = cast.to == cast.half;
    ir::BufferId own = {};
    if (!is_last) {
      own = code.registers("halves", cast.half, 2);
      halves = code.load(word_view(code, own, DType::Uint32, 2), {code.n(0)});
    }
    code.ptx(cast.unpack, {{.expr = is_last ? pair.to_word : halves}, {.expr = pair.from_word}});
    if (is_last) return;
    from = {code.load(own, {code.n(0)}), code.load(own, {code.n(1)})};
  }
  if (cast.packs_halves) return code.ptx(cast.pack, {{.expr = pair.to_word}, {.expr = halves}});
  for (ExprId& each : from) each = code.as(DType::Float32, each);
  if (!cast.pack.empty())  // the upper one comes first
    return code.ptx(cast.pack, {{.expr = pair.to_word}, {.expr = from[1]}, {.expr = from[0]}});
  for (const std::size_t h : {0U, 1U}) code.store(pair.to, pair.to_index[h], from[h]);
}

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
