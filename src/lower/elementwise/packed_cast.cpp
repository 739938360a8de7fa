// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/packed_cast.h"

#include "lower/checks.h"
#include "lower/elementwise/packed.h"

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

}  // namespace ww::lower
