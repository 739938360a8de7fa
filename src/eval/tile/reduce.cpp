// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>

#include "eval/tile/primitives.h"
#include "eval/tile/shape.h"
#include "eval/value/exact_sum.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

using ir::TileOp;

ir::ExprOp folding_of(TileOp op) {
  if (op == TileOp::Sum) return ir::ExprOp::Add;
  return op == TileOp::Max ? ir::ExprOp::Max : ir::ExprOp::Min;
}

// One axis, or the numbers in a text.
std::vector<std::int64_t> axes_of(const ir::TileArg& arg) {
  const auto* setting = std::get_if<ir::Setting>(&arg);
  if (setting == nullptr) return {-1};
  if (const auto* axis = std::get_if<std::int64_t>(setting)) return {*axis};
  const auto* text = std::get_if<std::string>(setting);
  if (text == nullptr) return {};
  std::vector<std::int64_t> axes;
  const char* at = text->data();
  const char* end = at + text->size();
  while (at != end) {
    std::int64_t axis = 0;
    const auto [next, error] = std::from_chars(at, end, axis);
    if (error == std::errc{}) axes.push_back(axis);
    at = error == std::errc{} ? next : at + 1;
  }
  return axes;
}

}  // namespace

void tile_reduce(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto to = make_tile(cta, std::get<ir::Region>(call.args[0]), unit);
  if (!to) return;
  const auto from = make_tile(cta, std::get<ir::Region>(call.args[1]), unit);
  if (!from) return;
  const auto fold = folding(from->extents, axes_of(call.args[2]));
  if (!fold || fold->count != to->count)
    return tile_unsupported(cta, call, "the shapes do not go together");
  const TileValues in = read_tile(cta, *from, unit, false);
  const num::DType type = to->info->ir->dtype;
  const bool sums_floats = call.op == TileOp::Sum && is_float(in.type);
  std::vector<ExactSum> sums(to->count);
  std::vector<std::optional<Word>> folded(to->count);
  const auto take = [&](std::size_t into, num::DType from_type, Word bits) {
    if (sums_floats) return sums[into].add(as_real(from_type, bits));
    const Word value = convert(from_type, in.type, bits);
    folded[into] = folded[into] ? apply_in(in.type, folding_of(call.op), in.type, *folded[into],
                                           in.type, value)
                                : value;
  };
  if (ir::is_true(call.args[3])) {
    const TileValues old = read_tile(cta, *to, unit, false);
    for (std::size_t x = 0; x < to->count; ++x) take(x, old.type, old.bits[x]);
  }
  for (std::size_t x = 0; x < from->count; ++x) take(fold->into[x], in.type, in.bits[x]);
  TileValues out{.type = type, .bits = std::vector<Word>(to->count), .undefined = {}};
  for (std::size_t x = 0; x < to->count; ++x)
    out.bits[x] = sums_floats ? from_real(type, sums[x].value())
                              : convert(in.type, type, folded[x].value_or(0));
  write_tile(cta, *to, unit, out);
}

}  // namespace ww::eval
