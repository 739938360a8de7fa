// SPDX-License-Identifier: Apache-2.0
// Vectors are values of a struct `ww_vec<T, N>`. An elementwise expression over vectors becomes one
// function of the lane's number, so that no intermediate vector is made:
//
//     ww_lanes<float, 4>([&](int lane) { return A_ptr[i + lane] + 1.0f; })
//
// A shuffle must know its lane's number; around one, the lanes are listed one by one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "emit/cuda/types.h"
#include "emit/cuda/writer.h"

namespace ww::emit::cuda {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using num::DType;

bool Writer::needs_numbers(ExprId id) const {
  const Expr& e = f_[id];
  if (e.op == ExprOp::Shuffle) return true;
  if (e.op == ExprOp::Reinterpret || e.type.lanes == 1) return false;
  for (const ExprId arg : e.args)
    if (needs_numbers(arg)) return true;
  return false;
}

std::string Writer::vector(ExprId id) {
  const Expr& e = f_[id];
  helpers_.use("ww_vec");
  if (e.op == ExprOp::Var) return names_.of(e.var);
  if (e.op == ExprOp::Reinterpret) return reinterpret(e).text;
  if (e.op == ExprOp::Load && is_run(e.args, e.type)) return vector_load(e);
  if (e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure &&
      ir::facts_of(e.callee).effect != ir::Effect::Exchange)
    return call(e, nullptr).text;
  if (!needs_numbers(id))
    return lanes_of(e.type, [&](const Lane& at) { return lane(id, at).text; });
  std::vector<std::string> lanes;
  for (int k = 0; k < e.type.lanes; ++k)
    lanes.push_back(lane(id, Lane{fmt::format("{}", k), k}).text);
  return fmt::format("{}{{{{{}}}}}", type_text(e.type), fmt::join(lanes, ", "));
}

std::string Writer::lanes_of(ir::Type type, const std::function<std::string(const Lane&)>& text) {
  helpers_.use("ww_lanes");
  return fmt::format("ww_lanes<{}, {}>([&](int ww_lane) {{ return {}; }})", value_type(type.dtype),
                     type.lanes, text(Lane{"ww_lane"}));
}

Text Writer::lane(ExprId id, const Lane& at) {
  const Expr& e = f_[id];
  if (e.type.lanes == 1 || e.op == ExprOp::IntImm || e.op == ExprOp::FloatImm)
    return render_as(id, nullptr);
  switch (e.op) {
    case ExprOp::Var:
      return {fmt::format("{}.lane[{}]", names_.of(e.var), at.text)};
    case ExprOp::Broadcast:
      if (has_effect(e.args[0])) refuse(e.span, "a value with an effect is broadcast to a vector");
      return render(e.args[0]);
    case ExprOp::Ramp: {
      const Known known{.fits = e.no_wrap};
      const bool is_one = ir::const_int(f_, e.args[1]) == 1;
      const Text step =
          is_one ? Text{at.text}
                 : numbers_.binary(ExprOp::Mul, e.type.dtype, render(e.args[1]), {at.text}, known);
      return numbers_.binary(ExprOp::Add, e.type.dtype, render(e.args[0]), step, known);
    }
    case ExprOp::Load: {
      if (!is_run(e.args, e.type)) return {element_at(e.buffer, lane(e.args[0], at).text, e.span)};
      const std::string place = fmt::format("{} + {}", expr(e.args[0], kSum), at.text);
      return {element_at(e.buffer, place, e.span)};
    }
    case ExprOp::Shuffle:
      return shuffled(e, at);
    case ExprOp::Reinterpret:
      return {fmt::format("{}.lane[{}]", reinterpret(e).text, at.text)};
    default:
      return render_as(id, &at);
  }
}

// Lane `at` of a shuffle: which of the vectors' lanes it takes.
Text Writer::shuffled(const Expr& e, const Lane& at) {
  const auto vectors = static_cast<std::size_t>(e.integer);
  const std::size_t place = vectors + static_cast<std::size_t>(at.number.value_or(0));
  const auto wanted =
      place < e.args.size() ? ir::const_int(f_, e.args[place]) : std::optional<std::int64_t>();
  if (!wanted) return {refuse(e.span, "a shuffle whose lane numbers are not constant")};
  std::int64_t left = *wanted;
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::int64_t lanes = f_[e.args[v]].type.lanes;
    if (left < lanes) return lane(e.args[v], Lane{fmt::format("{}", left), static_cast<int>(left)});
    left -= lanes;
  }
  return {refuse(e.span,
                 fmt::format("a shuffle takes lane {}, which its vectors do not have", *wanted))};
}

// --- memory --------------------------------------------------------------------------------------

// n elements that follow each other from one index on.
bool Writer::is_run(const SmallVec<ExprId, 3>& indices, ir::Type type) const {
  return type.lanes > 1 && indices.size() == 1 && f_[indices[0]].type.lanes == 1;
}

// Whether the vector lies at a multiple of its size, in storage of this program (what parameters
// point to may be anywhere).
bool Writer::is_aligned(ir::BufferId id, ExprId at, ir::Type type) {
  const ir::Buffer& buffer = f_[id];
  const bool is_own = buffer.origin == ir::BufferOrigin::Alloc;
  const std::int64_t bytes = std::int64_t{bytes_of(type.dtype)} * type.lanes;
  const bool is_power = (type.lanes & (type.lanes - 1)) == 0;
  if (!is_own || !is_power || is_packed(type.dtype)) return false;
  const std::int64_t wanted = std::min<std::int64_t>(bytes, 16);
  const std::int64_t divisor = ranges_.divisor(at);
  return divisor * bytes_of(type.dtype) % wanted == 0;
}

std::string Writer::vector_load(const Expr& e) {
  if (!is_aligned(e.buffer, e.args[0], e.type) || e.type.is_bool())
    return lanes_of(e.type, [&](const Lane& at) {
      const std::string place = fmt::format("{} + {}", expr(e.args[0], kSum), at.text);
      return element_at(e.buffer, place, e.span);
    });
  return fmt::format("*reinterpret_cast<const {}*>(&{})", type_text(e.type),
                     element(e.buffer, e.args[0], e.span));
}

void Writer::vector_store(const ir::Stmt& s) {
  const ir::Type type = f_[s.expr].type;
  const std::string value = vector(s.expr);
  if (is_run(s.args, type)) {
    const std::string first = element(s.buffer, s.args[0], s.span);
    if (is_aligned(s.buffer, s.args[0], type) && !type.is_bool())
      return line(fmt::format("*reinterpret_cast<{}*>(&{}) = {};", type_text(type), first, value));
    return line(fmt::format("{}(&{}, {});", helpers_.use("ww_store"), first, value));
  }
  // All lanes are computed before one is written.
  line("{");
  ++indent_;
  line(fmt::format("const {} ww_value = {};", type_text(type), value));
  for (int k = 0; k < type.lanes; ++k) {
    const Text place = lane(s.args[0], Lane{fmt::format("{}", k), k});
    line(fmt::format("{} = ww_value.lane[{}];", element_at(s.buffer, place.text, s.span), k));
  }
  --indent_;
  line("}");
}

}  // namespace ww::emit::cuda
