// SPDX-License-Identifier: Apache-2.0
#include "lower/expr_writer.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

namespace {

template <typename T>
T sure(Result<T>&& result) {
  WW_CHECK(result.has_value(), "lowering wrote what has no type: {}", result.error().text);
  return *std::move(result);
}

bool fits_int32(ir::Range range) {
  return range.min >= std::numeric_limits<std::int32_t>::min() &&
         range.max <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

ExprId ExprWriter::n(std::int64_t value) {
  const bool is_small = fits_int32({value, value});
  return ir::int_imm(f_, is_small ? DType::Int32 : DType::Int64, value, span_);
}

ExprId ExprWriter::var(ir::VarId id) { return ir::var_ref(f_, id, span_); }

std::optional<std::int64_t> ExprWriter::constant(ExprId expr) const {
  return ir::const_int(f_, expr);
}

ExprId ExprWriter::simplify(ExprId expr) { return ir::simplify(f_, expr, facts_); }

ExprId ExprWriter::binary(ExprOp op, ExprId a, ExprId b) {
  // A small constant takes the type of the other side; one beyond int32 makes both int64.
  const auto is_weak = [&](ExprId id) {
    const auto value = constant(id);
    return value && fits_int32({*value, *value});
  };
  return sure(ir::binary(f_, op, {.expr = a, .is_weak = is_weak(a)},
                         {.expr = b, .is_weak = is_weak(b)}, span_));
}

ExprId ExprWriter::index(ExprOp op, ExprId a, ExprId b) {
  const ExprId made = binary(op, a, b);
  if (f_[made].op == op) f_.set_no_wrap(made);
  return made;
}

ExprId ExprWriter::as(DType dtype, ExprId value) {
  if (f_[value].type == ir::Type::of(dtype)) return value;
  return sure(ir::cast(f_, value, ir::Type::of(dtype), span_));
}

ExprId ExprWriter::add(ExprId a, ExprId b) {
  if (constant(a) == 0) return b;
  if (constant(b) == 0) return a;
  return index(ExprOp::Add, a, b);
}

ExprId ExprWriter::mul(ExprId a, std::int64_t b) {
  if (b == 1) return a;
  if (b == 0 || constant(a) == 0) return n(0);
  return index(ExprOp::Mul, a, n(b));
}

ExprId wide_add(ExprWriter& write, ExprId a, ExprId b) {
  const ir::Ranges ranges(write.f(), write.facts());
  const auto x = ranges.range(a);
  const auto y = ranges.range(b);
  const bool is_wide = !fits_int32({x.min + y.min, x.max + y.max});
  return write.simplify(is_wide ? write.add(write.as_int64(a), write.as_int64(b))
                                : write.add(a, b));
}

ExprId wide_mul(ExprWriter& write, ExprId a, ExprId b) {
  const ir::Ranges ranges(write.f(), write.facts());
  const auto x = ranges.range(a);
  const auto y = ranges.range(b);
  const auto most = [](std::int64_t v) { return static_cast<double>(v < 0 ? -v : v); };
  const double product = std::max(most(x.min), most(x.max)) * std::max(most(y.min), most(y.max));
  if (product > static_cast<double>(std::numeric_limits<std::int32_t>::max())) {
    a = write.as_int64(a);
    b = write.as_int64(b);
  }
  return write.simplify(write.index(ExprOp::Mul, a, b));
}

ExprId multiply_add(ExprWriter& write, ExprId a, ExprId b, ExprId c) {
  if (write.f()[a].type.is_float()) return write.call(ir::Intrinsic::Fma, {a, b, c});
  return write.binary(ExprOp::Add, write.binary(ExprOp::Mul, a, b), c);
}

ExprId ExprWriter::div(ExprId a, std::int64_t b) {
  return b == 1 ? a : index(ExprOp::FloorDiv, a, n(b));
}
ExprId ExprWriter::mod(ExprId a, std::int64_t b) { return index(ExprOp::FloorMod, a, n(b)); }
ExprId ExprWriter::bit_xor(ExprId a, ExprId b) {
  if (constant(b) == 0) return a;
  if (constant(a) == 0) return b;
  return index(ExprOp::BitXor, a, b);
}
ExprId ExprWriter::less(ExprId a, std::int64_t b) { return index(ExprOp::Lt, a, n(b)); }

ExprId ExprWriter::both(ExprId a, ExprId b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return sure(ir::binary(f_, ExprOp::And, {.expr = a}, {.expr = b}, span_));
}

ExprId ExprWriter::number(DType dtype, double value) {
  return ir::Type::of(dtype).is_float()
             ? ir::float_imm(f_, dtype, value, span_)
             : ir::int_imm(f_, dtype, static_cast<std::int64_t>(value), span_);
}

ExprId ExprWriter::choose(ExprOp op, ExprId condition, ExprId yes, ExprId no) {
  return sure(ir::choose(f_, op, condition, {.expr = yes}, {.expr = no}, span_));
}

ExprId ExprWriter::call(ir::Intrinsic callee, std::initializer_list<ExprId> args) {
  return sure(ir::call(f_, callee, std::span(args.begin(), args.size()), span_));
}

ExprId ExprWriter::pointer(ir::BufferId flat, ExprId offset) {
  offset = simplify(offset);
  const ExprId zero = n(0);
  const ExprId start = sure(ir::address_of(f_, flat, std::span(&zero, 1), span_));
  return call(ir::Intrinsic::PointerOffset, {start, offset});
}

ExprId ExprWriter::address(ir::BufferId flat, ExprId index) {
  index = simplify(index);
  return sure(ir::address_of(f_, flat, std::span(&index, 1), span_, ir::Bounds::Guarded));
}

ExprId ExprWriter::load(ir::BufferId buffer, std::initializer_list<ExprId> indices) {
  return sure(ir::load(f_, buffer, std::span(indices.begin(), indices.size()), 1, span_,
                       ir::Bounds::Guarded));
}

}  // namespace ww::lower
