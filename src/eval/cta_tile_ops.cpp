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
  return uniform_int(std::get<ir::ExprId>(*settings.predicate), unit, "`predicate`") != 0;
}

bool Cta::tile_copy(const ir::TileCall& call, const UnitInstance& unit, bool is_async) {
  Tile to;
  Tile from;
  const ir::CopySettings settings = ir::copy_settings(call);
  const bool copies = does_copy(settings, unit);
  if (!copies && !settings.fills) return true;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to, settings.fills)) return false;
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

namespace {

/// One element of an elementwise primitive, in the type in which it computes; the operands as
/// ir::operands_of lists them.
class ElementRule {
 public:
  ElementRule(const ir::Function& f, const ir::TileCall& call, num::DType dst)
      : op_(call.op), dst_(dst), in_(ir::compute_type(f, call)) {}

  struct Operand {
    num::DType type;
    Word bits;
    bool is_given;
  };
  [[nodiscard]] Word operator()(std::span<const Operand> v) const {
    if (op_ == TileOp::Zero) return convert(num::DType::Int64, dst_, 0);
    if (op_ == TileOp::Select) return as(v[as_real(v[2].type, v[2].bits) != 0 ? 0 : 1], dst_);
    if (!ir::computes(op_)) return as(v[0], dst_);
    return convert(in_, dst_, computed(v));
  }

 private:
  static Word as(const Operand& v, num::DType type) { return convert(v.type, type, v.bits); }
  // A scale or bias that is left out changes nothing: x·1 and x + -0 are x.
  [[nodiscard]] Word or_else(const Operand& v, double otherwise) const {
    return v.is_given ? as(v, in_) : from_real(in_, otherwise);
  }
  [[nodiscard]] Word computed(std::span<const Operand> v) const {
    if (op_ == TileOp::Fma) return fused(in_, as(v[0], in_), as(v[1], in_), as(v[2], in_));
    if (ir::is_arithmetic(op_))
      return apply(ir::operator_of(op_), in_, v[0].type, v[0].bits, v[1].type, v[1].bits);
    const Word x = fused(in_, as(v[0], in_), or_else(v[1], 1), or_else(v[2], -0.0));
    return from_real(in_, unary_value(op_, as_real(in_, x)));
  }

  TileOp op_;
  num::DType dst_, in_;
};

}  // namespace

void Cta::tile_elementwise(const ir::TileCall& call, const UnitInstance& unit) {
  Tile to;
  if (!make_tile(std::get<Region>(call.args[0]), unit, to)) return;
  const num::DType type = to.info->ir->dtype;
  if (call.op == TileOp::Fdiv && !is_float(type))
    return tile_unsupported(call, "integers are divided");
  const std::vector<const ir::TileArg*> args = ir::operands_of(call);
  std::vector<Values> in(args.size());
  for (std::size_t k = 0; k < args.size(); ++k)
    if (args[k] != nullptr && !read_operand(*args[k], unit, to, in[k])) return;
  Values out{.type = type, .bits = {}, .undefined = {}};
  out.is_by_copy =
      std::any_of(in.begin(), in.end(), [](const Values& values) { return values.is_by_copy; });
  const std::size_t each = out.is_by_copy ? to.copies : 1;
  out.bits.resize(to.count * each);
  const ElementRule rule(*f_, call, type);
  std::vector<ElementRule::Operand> operands(args.size());
  for (std::size_t i = 0; i < out.bits.size(); ++i) {
    for (std::size_t k = 0; k < args.size(); ++k)
      operands[k] = {in[k].type,
                     args[k] == nullptr ? 0 : in[k].bits[in[k].is_by_copy ? i : i / each],
                     args[k] != nullptr};
    out.bits[i] = rule(operands);
  }
  if (out.is_by_copy) check_copies(call, to, in, out);
  write_tile(to, unit, out);
}

void Cta::check_copies(const ir::TileCall& call, const Tile& tile,
                       const std::vector<Values>& operands, const Values& out) {
  const auto differing = std::find_if(operands.begin(), operands.end(),
                                      [](const Values& values) { return values.is_by_copy; });
  const ir::TileArg* arg =
      ir::operands_of(call)[static_cast<std::size_t>(differing - operands.begin())];
  const auto name = ir::params_of(call.op)[static_cast<std::size_t>(arg - call.args.data())].name;
  for (std::size_t x = 0; x < tile.count; ++x) {
    const Element* first = nullptr;
    for (std::size_t c = 0; c < tile.copies; ++c) {
      const std::size_t i = x * tile.copies + c;
      const Element& element = tile.elements[i];
      if (element.place.root == kNoRoot) continue;
      if (first == nullptr) first = &element;
      const auto j = static_cast<std::size_t>(first - tile.elements.data());
      if (out.bits[i] == out.bits[j]) continue;
      if (Finding* found = finding(Check::Replica, element); found != nullptr)
        found->text = fmt::format(
            "the copies of {} in {} and {} of {} become different: `{}` is {} and {} there",
            element_text(element), thread_text(first->owner), thread_text(element.owner),
            cta_text(), name, value_text(differing->type, differing->bits[j]),
            value_text(differing->type, differing->bits[i]));
    }
  }
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
