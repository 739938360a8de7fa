// SPDX-License-Identifier: Apache-2.0
#include "lower/vector_lanes.h"

#include "ir/build.h"

namespace ww::lower {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;

ExprId shuffled(ir::Function& f, ExprId vector, int lane) {
  Expr e{.op = ExprOp::Shuffle, .type = ir::Type::of(f[vector].type.dtype), .span = f[vector].span};
  e.args = {vector, ir::int_imm(f, num::DType::Int32, lane)};
  e.integer = 1;
  return f.add(std::move(e));
}

// base + lane · stride, in the type of both.
ExprId ramp_lane(ir::Function& f, const Expr& e, int lane) {
  const ExprId number = ir::int_imm(f, e.type.dtype, lane);
  Expr step{.op = ExprOp::Mul, .span = e.span, .no_wrap = e.no_wrap};
  const ExprId moved = ir::binary_like(f, step, e.args[1], number).value();
  step.op = ExprOp::Add;
  return ir::binary_like(f, step, e.args[0], moved).value();
}

bool is_by_lane(ExprOp op) {
  const ir::ExprGroup group = ir::group_of(op);
  return group == ir::ExprGroup::Infix || group == ir::ExprGroup::Compare || op == ExprOp::Cast ||
         op == ExprOp::Min || op == ExprOp::Max || op == ExprOp::Neg;
}

}  // namespace

ExprId lane_of(ir::Function& f, ExprId vector, int lane) {
  Expr e = f[vector];
  if (e.type.lanes == 1) return vector;
  if (e.op == ExprOp::Broadcast) return e.args[0];
  if (e.op == ExprOp::Ramp) return ramp_lane(f, e, lane);
  if (!is_by_lane(e.op)) return shuffled(f, vector, lane);
  e.type.lanes = 1;
  for (ExprId& arg : e.args) arg = lane_of(f, arg, lane);
  return f.add(std::move(e));
}

ExprId vector_of(ir::Function& f, std::span<const ExprId> scalars) {
  Expr e{.op = ExprOp::Shuffle, .span = f[scalars.front()].span};
  e.type = ir::Type::of(f[scalars.front()].type.dtype, static_cast<std::uint16_t>(scalars.size()));
  e.integer = std::ssize(scalars);
  for (const ExprId scalar : scalars) e.args.push_back(scalar);
  for (std::size_t i = 0; i < scalars.size(); ++i)
    e.args.push_back(ir::int_imm(f, num::DType::Int32, static_cast<std::int64_t>(i)));
  return f.add(std::move(e));
}

}  // namespace ww::lower
