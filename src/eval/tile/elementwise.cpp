// SPDX-License-Identifier: Apache-2.0
// An element is computed in the type that ir/elementwise.h gives, and rounded to the destination's.
// Functions are computed as exactly as a double allows and rounded to that type.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "eval/cta/report.h"
#include "eval/tile/casts.h"
#include "eval/tile/primitives.h"
#include "ir/elementwise.h"

namespace ww::eval {
namespace {

double function_value(TileOp op, double x) {
  if (const auto callee = ir::callee_of(op)) return host_function(*callee, x);
  if (op == TileOp::Reciprocal) return 1.0 / x;
  WW_CHECK(op == TileOp::Silu, "`{}` is not evaluated", ir::name_of(op));
  return x / (1.0 + std::exp(-x));
}

/// One element of an elementwise primitive, in the type in which it computes; the operands as
/// ir::operands_of lists them.
class ElementRule {
 public:
  ElementRule(const ir::Function& f, const ir::TileCall& call, num::DType dst)
      : op_(call.op), dst_(dst), in_(ir::compute_type(f, call)), cast_(ir::cast_settings(call)) {}

  struct Operand {
    num::DType type;
    Word bits;
    bool is_given;
  };
  [[nodiscard]] Word operator()(std::span<const Operand> v) const {
    if (op_ == TileOp::Zero) return convert(num::DType::Int64, dst_, 0);
    const ir::ElementGroup group = ir::group_of(op_);
    if (group == ir::ElementGroup::Choice) return as(v[is_yes(v[2]) ? 0 : 1], dst_);
    if (group == ir::ElementGroup::Logic) return convert(num::DType::Bool, dst_, decided(v));
    if (op_ == TileOp::Cast) return cast_as(v[0].type, dst_, v[0].bits, cast_);
    if (!ir::computes(op_)) return as(v[0], dst_);
    return convert(ir::gives_bool(op_) ? num::DType::Bool : in_, dst_, computed(v));
  }

 private:
  static Word as(const Operand& v, num::DType type) { return convert(v.type, type, v.bits); }
  // A scale or bias that is left out changes nothing: x·1 and x + -0 are x.
  [[nodiscard]] Word or_else(const Operand& v, double otherwise) const {
    return v.is_given ? as(v, in_) : from_real(in_, otherwise);
  }
  [[nodiscard]] Word computed(std::span<const Operand> v) const {
    if (op_ == TileOp::Fma) return fused(in_, as(v[0], in_), as(v[1], in_), as(v[2], in_));
    if (op_ == TileOp::Clamp) {
      const Word above = apply_in(in_, ir::ExprOp::Max, v[0].type, v[0].bits, v[1].type, v[1].bits);
      return apply_in(in_, ir::ExprOp::Min, in_, above, v[2].type, v[2].bits);
    }
    if (op_ == TileOp::Pow)
      return from_real(in_, std::pow(as_real(in_, as(v[0], in_)), as_real(in_, as(v[1], in_))));
    if (ir::has_operator(op_))
      return apply_in(in_, ir::operator_of(op_), v[0].type, v[0].bits, v[1].type, v[1].bits);
    if (!ir::is_function(op_)) return of_number(as(v[0], in_));
    const Word x = fused(in_, as(v[0], in_), or_else(v[1], 1), or_else(v[2], -0.0));
    return from_real(in_, function_value(op_, as_real(in_, x)));
  }

  static bool is_yes(const Operand& v) { return as_real(v.type, v.bits) != 0; }
  [[nodiscard]] Word decided(std::span<const Operand> v) const {
    if (op_ == TileOp::LogicalNot) return is_yes(v[0]) ? 0 : 1;
    const bool a = is_yes(v[0]), b = is_yes(v[1]);
    if (op_ == TileOp::LogicalAnd) return a && b ? 1 : 0;
    return (op_ == TileOp::LogicalOr ? a || b : a != b) ? 1 : 0;
  }
  [[nodiscard]] Word of_number(Word x) const {
    Word out = x;
    switch (op_) {
      case TileOp::Relu:
        return apply_in(in_, ir::ExprOp::Max, in_, x, num::DType::Int32, 0);
      case TileOp::Neg:
        unary(ir::ExprOp::Neg, in_, {&x, 1}, {&out, 1});
        return out;
      case TileOp::BitwiseNot:
        unary(ir::ExprOp::BitNot, in_, {&x, 1}, {&out, 1});
        return out;
      default:
        return pure_call(*ir::callee_of(op_), in_, {&x, 1});  // abs, floor, ceil, round
    }
  }

  TileOp op_;
  num::DType dst_, in_;
  ir::CastSettings cast_;
};

// Which copies of an element get different values, because a scalar differs between threads.
void check_copies(Cta& cta, const ir::TileCall& call, const Tile& tile,
                  const std::vector<TileValues>& operands, const TileValues& out) {
  const auto differing = std::find_if(operands.begin(), operands.end(),
                                      [](const TileValues& values) { return values.is_by_copy; });
  const ir::TileArg* arg =
      ir::operands_of(call)[static_cast<std::size_t>(differing - operands.begin())];
  const auto name = ir::params_of(call.op)[static_cast<std::size_t>(arg - call.args.data())].name;
  for (std::size_t x = 0; x < tile.count; ++x) {
    const Element* first = nullptr;
    for (std::size_t c = 0; c < tile.copies; ++c) {
      const std::size_t i = x * tile.copies + c;
      const Element& element = tile.elements[i];
      if (!element.at.exists()) continue;
      if (first == nullptr) first = &element;
      const auto j = static_cast<std::size_t>(first - tile.elements.data());
      if (out.bits[i] == out.bits[j]) continue;
      describe(finding(cta, Check::Replica, element),
               "the copies of {} in {} and {} of {} become different: `{}` is {} and {} there",
               element_text(cta, element), thread_text(first->owner), thread_text(element.owner),
               cta_text(cta), name, value_text(differing->type, differing->bits[j]),
               value_text(differing->type, differing->bits[i]));
    }
  }
}

}  // namespace

void tile_elementwise(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto to = make_tile(cta, std::get<ir::Region>(call.args[0]), unit);
  if (!to) return;
  const num::DType type = to->info->ir->dtype;
  if (call.op == TileOp::Fdiv && !is_float(type))
    return tile_unsupported(cta, call, "integers are divided");
  const std::vector<const ir::TileArg*> args = ir::operands_of(call);
  std::vector<TileValues> in(args.size());
  for (std::size_t k = 0; k < args.size(); ++k)
    if (args[k] != nullptr && !read_operand(cta, *args[k], unit, *to, in[k])) return;
  TileValues out{.type = type, .bits = {}, .undefined = {}};
  out.is_by_copy =
      std::any_of(in.begin(), in.end(), [](const TileValues& values) { return values.is_by_copy; });
  const std::size_t each = out.is_by_copy ? to->copies : 1;
  out.bits.resize(to->count * each);
  const ElementRule rule(cta.f, call, type);
  std::vector<ElementRule::Operand> operands(args.size());
  for (std::size_t i = 0; i < out.bits.size(); ++i) {
    for (std::size_t k = 0; k < args.size(); ++k)
      operands[k] = {in[k].type,
                     args[k] == nullptr ? 0 : in[k].bits[in[k].is_by_copy ? i : i / each],
                     args[k] != nullptr};
    out.bits[i] = rule(operands);
  }
  if (out.is_by_copy) check_copies(cta, call, *to, in, out);
  write_tile(cta, *to, unit, out);
}

}  // namespace ww::eval
