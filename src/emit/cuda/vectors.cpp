// SPDX-License-Identifier: Apache-2.0
// Vectors are values of a struct `ww_vec<T, N>`. An elementwise expression over vectors becomes one
// function of the lane's number, so that no intermediate vector is made:
//
//     ww_lanes<float, 4>([&](int lane) { return A_ptr[i + lane] + 1.0f; })
//
// A shuffle must know its lane's number; around one, the lanes are listed one by one.
#include "emit/cuda/vectors.h"

#include <algorithm>
#include <functional>

#include "base/join.h"
#include "emit/cuda/calls.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/types.h"

namespace ww::emit::cuda {
namespace {

bool needs_numbers(const Context& c, ExprId id) {
  const Expr& e = c.f[id];
  if (e.op == ExprOp::Shuffle) return true;
  if (e.op == ExprOp::Reinterpret || e.type.lanes == 1) return false;
  for (const ExprId arg : e.args)
    if (needs_numbers(c, arg)) return true;
  return false;
}

std::string lanes_of(Context& c, ir::Type type,
                     const std::function<std::string(const Lane&)>& text) {
  c.helpers.use("ww_lanes");
  return fmt::format("ww_lanes<{}, {}>([&](int ww_lane) {{ return {}; }})", value_type(type.dtype),
                     type.lanes, text(Lane{"ww_lane"}));
}

// n elements that follow each other from one index on.
bool is_run(const Context& c, const SmallVec<ExprId, 3>& indices, ir::Type type) {
  return type.lanes > 1 && indices.size() == 1 && c.f[indices[0]].type.lanes == 1;
}

// Whether the vector lies at a multiple of its size, in storage of this program (what parameters
// point to may be anywhere).
bool is_aligned(Context& c, BufferId id, ExprId at, ir::Type type) {
  const ir::Buffer& buffer = c.f[id];
  const bool is_own = buffer.origin == BufferOrigin::Alloc;
  const std::int64_t bytes = std::int64_t{bytes_of(type.dtype)} * type.lanes;
  const bool is_power = (type.lanes & (type.lanes - 1)) == 0;
  if (!is_own || !is_power || is_packed(type.dtype)) return false;
  const std::int64_t wanted = std::min<std::int64_t>(bytes, 16);
  const std::int64_t divisor = c.ranges.divisor(at);
  return divisor * bytes_of(type.dtype) % wanted == 0;
}

std::string vector_load(Context& c, const Expr& e) {
  if (!is_aligned(c, e.buffer, e.args[0], e.type) || e.type.is_bool())
    return lanes_of(c, e.type, [&](const Lane& at) {
      const std::string place = fmt::format("{} + {}", expr(c, e.args[0], kSum), at.text);
      return element_at(c, e.buffer, place, e.span);
    });
  return fmt::format("*reinterpret_cast<const {}*>(&{})", type_text(e.type),
                     element_at(c, e.buffer, expr(c, e.args[0]), e.span));
}

}  // namespace

std::string vector_text(Context& c, ExprId id) {
  const Expr& e = c.f[id];
  c.helpers.use("ww_vec");
  if (e.op == ExprOp::Var) return c.names.of(e.var);
  if (e.op == ExprOp::Reinterpret) return reinterpret(c, e).text;
  if (e.op == ExprOp::Load && is_run(c, e.args, e.type)) return vector_load(c, e);
  if (e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure &&
      ir::facts_of(e.callee).effect != ir::Effect::Exchange)
    return call(c, e, nullptr).text;
  if (!needs_numbers(c, id))
    return lanes_of(c, e.type, [&](const Lane& at) { return lane(c, id, at).text; });
  std::vector<std::string> lanes;
  for (int k = 0; k < e.type.lanes; ++k)
    lanes.push_back(lane(c, id, Lane{fmt::format("{}", k), k}).text);
  return fmt::format("{}{{{{{}}}}}", type_text(e.type), join(lanes, ", "));
}

Text lane(Context& c, ExprId id, const Lane& at) {
  const Expr& e = c.f[id];
  if (e.type.lanes == 1 || e.op == ExprOp::IntImm || e.op == ExprOp::FloatImm)
    return render_as(c, id, nullptr);
  switch (e.op) {
    case ExprOp::Var:
      return {fmt::format("{}.lane[{}]", c.names.of(e.var), at.text)};
    case ExprOp::Broadcast:
      if (c.f[e.args[0]].has_effect)
        refuse(c, e.span, "a value with an effect is broadcast to a vector");
      return render(c, e.args[0]);
    case ExprOp::Ramp: {
      const Known known{.fits = e.no_wrap};
      const bool is_one = ir::const_int(c.f, e.args[1]) == 1;
      const Text step = is_one ? Text{at.text}
                               : c.numbers.binary(ExprOp::Mul, e.type.dtype, render(c, e.args[1]),
                                                  {at.text}, known);
      return c.numbers.binary(ExprOp::Add, e.type.dtype, render(c, e.args[0]), step, known);
    }
    case ExprOp::Load: {
      if (!is_run(c, e.args, e.type))
        return {element_at(c, e.buffer, lane(c, e.args[0], at).text, e.span)};
      const std::string place = fmt::format("{} + {}", expr(c, e.args[0], kSum), at.text);
      return {element_at(c, e.buffer, place, e.span)};
    }
    case ExprOp::Shuffle:
      return shuffled(c, e, at);
    case ExprOp::Reinterpret:
      return {fmt::format("{}.lane[{}]", reinterpret(c, e).text, at.text)};
    default:
      return render_as(c, id, &at);
  }
}

Text shuffled(Context& c, const Expr& e, const Lane& at) {
  const auto vectors = static_cast<std::size_t>(e.integer);
  const std::size_t place = vectors + static_cast<std::size_t>(at.number.value_or(0));
  const auto wanted =
      place < e.args.size() ? ir::const_int(c.f, e.args[place]) : std::optional<std::int64_t>();
  if (!wanted) return {refuse(c, e.span, "a shuffle whose lane numbers are not constant")};
  std::int64_t left = *wanted;
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::int64_t lanes = c.f[e.args[v]].type.lanes;
    if (left < lanes)
      return lane(c, e.args[v], Lane{fmt::format("{}", left), static_cast<int>(left)});
    left -= lanes;
  }
  return {refuse(c, e.span, "a shuffle takes lane {}, which its vectors do not have", *wanted)};
}

void vector_store(Context& c, const Stmt& s) {
  const ir::Type type = c.f[s.expr].type;
  const std::string value = vector_text(c, s.expr);
  if (is_run(c, s.args, type)) {
    const std::string first = element_at(c, s.buffer, expr(c, s.args[0]), s.span);
    if (is_aligned(c, s.buffer, s.args[0], type) && !type.is_bool())
      return line(c, "*reinterpret_cast<{}*>(&{}) = {};", type_text(type), first, value);
    return line(c, "{}(&{}, {});", c.helpers.use("ww_store"), first, value);
  }
  // All lanes are computed before one is written.
  line(c, "{");
  ++c.indent;
  line(c, "const {} ww_value = {};", type_text(type), value);
  for (int k = 0; k < type.lanes; ++k) {
    const Text place = lane(c, s.args[0], Lane{fmt::format("{}", k), k});
    line(c, "{} = ww_value.lane[{}];", element_at(c, s.buffer, place.text, s.span), k);
  }
  --c.indent;
  line(c, "}");
}

}  // namespace ww::emit::cuda
