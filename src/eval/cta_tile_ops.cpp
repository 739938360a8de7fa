// SPDX-License-Identifier: Apache-2.0
// Tile primitives by their definition: all operands are read, element by element a value is
// computed in the type that ir/elementwise.h gives, rounded to the destination's, and written.
// Functions are computed as exactly as a double allows and rounded to that type.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "eval/cta.h"
#include "eval/exact_sum.h"
#include "eval/tile_shape.h"
#include "ir/elementwise.h"

namespace ww::eval {
namespace {

using ir::Region;
using ir::TileOp;

double unary_value(TileOp op, double x) {
  switch (op) {
    case TileOp::Sqrt:
      return std::sqrt(x);
    case TileOp::Exp:
      return std::exp(x);
    case TileOp::Exp2:
      return std::exp2(x);
    case TileOp::Log2:
      return std::log2(x);
    case TileOp::Reciprocal:
      return 1.0 / x;
    default:
      return x / (1.0 + std::exp(-x));  // silu
  }
}

ir::ExprOp folding_of(TileOp op) {
  if (op == TileOp::Sum) return ir::ExprOp::Add;
  return op == TileOp::Max ? ir::ExprOp::Max : ir::ExprOp::Min;
}

// In the type `in`.
Word apply(ir::ExprOp op, num::DType in, num::DType a_type, Word a, num::DType b_type, Word b) {
  a = convert(a_type, in, a);
  b = convert(b_type, in, b);
  Word out = 0;
  binary(op, in, {&a, 1}, {&b, 1}, {&out, 1});
  return out;
}

std::vector<std::int64_t> axes_of(const ir::TileArg& arg) {
  const auto* setting = std::get_if<ir::Setting>(&arg);
  if (setting == nullptr) return {-1};
  if (const auto* axis = std::get_if<std::int64_t>(setting)) return {*axis};
  const auto* text = std::get_if<std::string>(setting);
  std::vector<std::int64_t> axes;
  const char* at = text != nullptr ? text->data() : nullptr;
  const char* end = text != nullptr ? at + text->size() : nullptr;
  while (at != end) {
    std::int64_t axis = 0;
    const auto [next, error] = std::from_chars(at, end, axis);
    if (error == std::errc{}) axes.push_back(axis);
    at = error == std::errc{} ? next : at + 1;
  }
  return axes;
}

}  // namespace

bool Cta::does_copy(const ir::CopySettings& settings, const UnitInstance& unit) {
  if (settings.predicate == nullptr) return true;
  if (const bool* flag = std::get_if<bool>(settings.predicate)) return *flag;
  return uniform_int(std::get<ir::ExprId>(*settings.predicate), unit.threads, "a predicate") != 0;
}

bool Cta::tile_copy(const ir::TileCall& call, const UnitInstance& unit, bool is_async) {
  Tile to;
  Tile from;
  const ir::CopySettings settings = ir::copy_settings(call);
  const bool copies = does_copy(settings, unit);
  if (!copies && !settings.fills) return true;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return false;
  const Region& source = std::get<Region>(call.args[1]);
  if (!copies)  // nothing is read: zeros without a place
    from = {.info = &k_.info(source.buffer), .extents = to.extents, .count = to.count, .copies = 0};
  else if (!make_tile(source, unit, from, settings.fills))
    return false;
  const bool is_by_width = is_async && to.info->ir->scope == ir::Scope::Tmem;
  if (is_by_width ? to.info->bits != from.info->bits : to.info->ir->dtype != from.info->ir->dtype) {
    tile_unsupported(call, "the element types differ");
    return false;
  }
  if (squeezed(to.extents) != squeezed(from.extents)) {
    tile_unsupported(call, "the regions differ in shape");
    return false;
  }
  if (is_async)
    copy_async(to, from, unit);
  else
    write_tile(to, unit,
               read_tile(from, unit, true, to.info->ir->scope == ir::Scope::Local ? &to : nullptr));
  return true;
}

void Cta::copy_async(const Tile& to, const Tile& from, const UnitInstance& unit) {
  const ir::Scope target = to.info->ir->scope;
  const ir::Scope source = from.info->ir->scope;
  Copy copy{.kind = AsyncKind::Group, .agent = unit.agent};
  if (target == ir::Scope::Local && source == ir::Scope::Tmem)
    copy.kind = AsyncKind::TmemLoad;
  else if (target == ir::Scope::Tmem && source == ir::Scope::Local)
    copy.kind = AsyncKind::TmemStore;
  else if (target == ir::Scope::Tmem && ir::is_shared(source) && unit.size == 1)
    copy.kind = AsyncKind::Tensor;  // who starts it is who commits
  else if (target == ir::Scope::Global && ir::is_shared(source))
    copy.kind = AsyncKind::Bulk;
  else if (!ir::is_shared(target) || source != ir::Scope::Global)
    return stop(DiagKind::NotEvaluated,
                fmt::format("`copy_async` from {} to {} by {} is not evaluated",
                            ir::name_of(source), ir::name_of(target), agent_text(unit.agent)));
  const Values values = read_tile(from, unit, true);
  for (std::size_t i = 0; i < to.elements.size(); ++i) {
    const Element& element = to.elements[i];
    if (element.place.root == kNoRoot || !is_reachable(element, to.info->bits)) continue;
    copy.transfers.push_back(
        {element, to.info->bits, values.bits[i / to.copies], values.undefined[i / to.copies]});
  }
  // Registers are read when the copy starts.
  if (source != ir::Scope::Local)
    for (const Element& element : from.elements)
      if (element.place.root != kNoRoot && is_reachable(element, from.info->bits))
        copy.sources.emplace_back(element, from.info->bits);
  start_copy(std::move(copy), unit.threads);
}

void Cta::tile_fill(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  Values value{.type = num::DType::Int64, .bits = std::vector<Word>(to.count), .undefined = {}};
  if (call.op != TileOp::Zero && !read_operand(call.args[1], unit, to, value)) return;
  for (Word& bits : value.bits) bits = convert(value.type, to.info->ir->dtype, bits);
  write_tile(to, unit, value);
}

void Cta::tile_cast(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  Values value;
  if (!read_operand(call.args[is_given(call.args[1]) ? 1 : 0], unit, to, value)) return;
  for (Word& bits : value.bits) bits = convert(value.type, to.info->ir->dtype, bits);
  write_tile(to, unit, value);
}

void Cta::tile_unary(const ir::TileCall& call, const UnitInstance& unit) {
  constexpr std::size_t kBias = 2;
  constexpr std::size_t kScale = 3;
  Tile to;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  Values value;
  if (!read_operand(call.args[is_given(call.args[1]) ? 1 : 0], unit, to, value)) return;
  const num::DType in = ir::compute_type(*f_, call);
  // A scale or bias that is left out changes nothing: x·1 and x + -0 are x.
  const auto other = [&](std::size_t number, double otherwise, std::vector<Word>& bits) {
    bits.assign(to.count, from_real(in, otherwise));
    if (call.args.size() <= number || !is_given(call.args[number])) return true;
    Values read;
    if (!read_operand(call.args[number], unit, to, read)) return false;
    for (std::size_t i = 0; i < to.count; ++i) bits[i] = convert(read.type, in, read.bits[i]);
    return true;
  };
  std::vector<Word> scale;
  std::vector<Word> bias;
  if (!other(kScale, 1, scale) || !other(kBias, -0.0, bias)) return;
  Values out{.type = to.info->ir->dtype, .bits = std::vector<Word>(to.count), .undefined = {}};
  for (std::size_t i = 0; i < to.count; ++i) {
    const Word x = fused(in, convert(value.type, in, value.bits[i]), scale[i], bias[i]);
    out.bits[i] = convert(in, out.type, from_real(in, unary_value(call.op, as_real(in, x))));
  }
  write_tile(to, unit, out);
}

void Cta::tile_binary(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  Values a;
  Values b;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  if (!read_operand(call.args[1], unit, to, a) || !read_operand(call.args[2], unit, to, b)) return;
  if (call.op == TileOp::Fdiv && !is_float(to.info->ir->dtype))
    return tile_unsupported(call, "integers are divided");
  const num::DType in = ir::compute_type(*f_, call);
  Values out{.type = to.info->ir->dtype, .bits = std::vector<Word>(to.count), .undefined = {}};
  for (std::size_t i = 0; i < to.count; ++i)
    out.bits[i] = convert(
        in, out.type, apply(ir::operator_of(call.op), in, a.type, a.bits[i], b.type, b.bits[i]));
  write_tile(to, unit, out);
}

void Cta::tile_fma(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  Values in[3];
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  for (std::size_t k = 0; k < 3; ++k)
    if (!read_operand(call.args[k + 1], unit, to, in[k])) return;
  const num::DType type = ir::compute_type(*f_, call);
  Values out{.type = to.info->ir->dtype, .bits = std::vector<Word>(to.count), .undefined = {}};
  for (std::size_t i = 0; i < to.count; ++i)
    out.bits[i] = convert(
        type, out.type,
        fused(type, convert(in[0].type, type, in[0].bits[i]),
              convert(in[1].type, type, in[1].bits[i]), convert(in[2].type, type, in[2].bits[i])));
  write_tile(to, unit, out);
}

void Cta::tile_select(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  Values yes;
  Values no;
  Values choice;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  if (!read_operand(call.args[1], unit, to, yes) || !read_operand(call.args[2], unit, to, no))
    return;
  if (!read_operand(call.args[3], unit, to, choice)) return;
  Values out{.type = to.info->ir->dtype, .bits = std::vector<Word>(to.count), .undefined = {}};
  for (std::size_t i = 0; i < to.count; ++i) {
    const bool is_yes = as_real(choice.type, choice.bits[i]) != 0;
    out.bits[i] =
        is_yes ? convert(yes.type, out.type, yes.bits[i]) : convert(no.type, out.type, no.bits[i]);
  }
  write_tile(to, unit, out);
}

void Cta::tile_reduce(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  Tile from;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  if (!make_tile(std::get<Region>(call.args[1]), unit, from)) return;
  const auto fold = folding(from.extents, axes_of(call.args[2]));
  if (!fold || fold->count != to.count)
    return tile_unsupported(call, "the shapes do not go together");
  const Values in = read_tile(from, unit, false);
  const num::DType type = to.info->ir->dtype;
  const bool sums_floats = call.op == TileOp::Sum && is_float(in.type);
  std::vector<ExactSum> sums(to.count);
  std::vector<std::optional<Word>> folded(to.count);
  const auto take = [&](std::size_t into, num::DType from_type, Word bits) {
    if (sums_floats) return sums[into].add(as_real(from_type, bits));
    const Word value = convert(from_type, in.type, bits);
    folded[into] = folded[into]
                       ? apply(folding_of(call.op), in.type, in.type, *folded[into], in.type, value)
                       : value;
  };
  if (ir::is_true(call.args[3])) {
    const Values old = read_tile(to, unit, false);
    for (std::size_t x = 0; x < to.count; ++x) take(x, old.type, old.bits[x]);
  }
  for (std::size_t x = 0; x < from.count; ++x) take(fold->into[x], in.type, in.bits[x]);
  Values out{.type = type, .bits = std::vector<Word>(to.count), .undefined = {}};
  for (std::size_t x = 0; x < to.count; ++x)
    out.bits[x] = sums_floats ? from_real(type, sums[x].value())
                              : convert(in.type, type, folded[x].value_or(0));
  write_tile(to, unit, out);
}

}  // namespace ww::eval
