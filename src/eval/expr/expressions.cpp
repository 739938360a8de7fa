// SPDX-License-Identifier: Apache-2.0
#include "eval/expr/expressions.h"

#include <algorithm>

#include "eval/expr/intrinsics.h"
#include "eval/expr/overflow.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;

// The threads where a condition has a given value, and their numbers among all.
struct ThreadSubset {
  std::vector<Thread> threads;
  std::vector<std::size_t> numbers;
};

ThreadSubset subset_where(Threads ts, const Words& condition, bool wanted) {
  ThreadSubset part;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if ((condition[i] != 0) != wanted) continue;
    part.threads.push_back(ts[i]);
    part.numbers.push_back(i);
  }
  return part;
}

Words variable_value(Cta& cta, const Expr& expr, Threads ts) {
  const std::size_t n = ts.size();
  Words out(cta.run.pool, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes; ++l) {
    const Word* row = cta.vars.row(expr.var, l);
    for (std::size_t i = 0; i < n; ++i) out[l * n + i] = row[ts[i]];
  }
  return out;
}

Words unary_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  Words out = evaluate(cta, expr.args[0], ts);
  if (cta.launch.may_overflow[id.index])
    check_overflow(cta, id, constant(cta, 0, out.size()), out, ts);
  unary(expr.op, expr.type.dtype, out, out);
  return out;
}

Words cast_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  Words out = evaluate(cta, expr.args[0], ts);
  const num::DType from = cta.type_of(expr.args[0]);
  if (cta.launch.may_overflow[id.index]) check_cast(cta, id, out, ts);
  for (Word& word : out) word = convert(from, expr.type.dtype, word);
  return out;
}

Words binary_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  Words a = evaluate(cta, expr.args[0], ts);
  const ir::Type type = cta.f[expr.args[0]].type;
  const num::DType dtype = type.is_pointer() ? num::DType::Uint64 : type.dtype;
  const Expr& right = cta.f[expr.args[1]];
  const bool may_overflow = cta.launch.may_overflow[id.index];
  if (right.op == ExprOp::IntImm && !may_overflow) {
    const Word number = from_int(right.type.dtype, right.integer);
    binary(expr.op, dtype, a, {&number, 1}, a);
    return a;
  }
  const Words b = evaluate(cta, expr.args[1], ts);
  if (may_overflow) check_overflow(cta, id, a, b, ts);
  binary(expr.op, dtype, a, b, a);
  return a;
}

// The right side is evaluated only where the left one does not decide.
Words logic_value(Cta& cta, const Expr& expr, Threads ts) {
  Words out = evaluate(cta, expr.args[0], ts);
  const ThreadSubset rest = subset_where(ts, out, expr.op == ExprOp::And);
  if (rest.threads.empty()) return out;
  const Words right = evaluate(cta, expr.args[1], rest.threads);
  for (std::size_t i = 0; i < rest.numbers.size(); ++i) out[rest.numbers[i]] = right[i];
  return out;
}

Words choice_value(Cta& cta, const Expr& expr, Threads ts) {
  const Words condition = evaluate(cta, expr.args[0], ts);
  const std::size_t lanes = expr.type.lanes;
  if (expr.op == ExprOp::Select) {
    Words yes = evaluate(cta, expr.args[1], ts);
    const Words no = evaluate(cta, expr.args[2], ts);
    const bool per_lane = condition.size() == yes.size();
    for (std::size_t i = 0; i < yes.size(); ++i)
      if (condition[per_lane ? i : i % ts.size()] == 0) yes[i] = no[i];
    return yes;
  }
  Words out(cta.run.pool, ts.size() * lanes);
  for (const bool wanted : {true, false}) {
    const ThreadSubset part = subset_where(ts, condition, wanted);
    if (part.threads.empty()) continue;
    const Words values = evaluate(cta, expr.args[wanted ? 1 : 2], part.threads);
    const std::size_t n = part.numbers.size();
    for (std::size_t l = 0; l < lanes; ++l)
      for (std::size_t i = 0; i < n; ++i) out[l * ts.size() + part.numbers[i]] = values[l * n + i];
  }
  return out;
}

Words load_value(Cta& cta, const Expr& expr, Threads ts) {
  const BufferInfo& info = cta.launch.info(expr.buffer);
  const Located elements(cta, info, expr.args, expr.type.lanes, ts);
  Words out(cta.run.pool, elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element element = elements[i];
    out[i] = element.at.exists()
                 ? read_defined(cta, element, info.bits, access_of(cta, element.owner))
                 : 0;
  }
  return out;
}

Words address_value(Cta& cta, const Expr& expr, Threads ts) {
  const BufferInfo& info = cta.launch.info(expr.buffer);
  if (expr.op == ExprOp::BufferData) {
    // The storage's start: offsets belong to the buffer, not to its data.
    if (info.root == kNoRoot && info.ir->pointer.valid())
      return evaluate(cta, info.ir->pointer, ts);
    return constant(cta, pointer_to({info.root, 0}), ts.size());
  }
  const Located elements(cta, info, expr.args, 1, ts);
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) out[i] = pointer_to(elements[i].at);
  return out;
}

Words ramp_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  const Words first = evaluate(cta, expr.args[0], ts);
  const Words stride =
      expr.op == ExprOp::Ramp ? evaluate(cta, expr.args[1], ts) : constant(cta, 0, ts.size());
  const std::size_t n = ts.size();
  const Word mask = low_mask(num::bits_of(expr.type.dtype));
  if (cta.launch.may_overflow[id.index]) check_overflow(cta, id, first, stride, ts);
  Words out(cta.run.pool, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes; ++l)
    for (std::size_t i = 0; i < n; ++i) out[l * n + i] = (first[i] + l * stride[i]) & mask;
  return out;
}

// The lanes' bits one after the other, cut anew.
Words reinterpreted_value(Cta& cta, const Expr& expr, Threads ts) {
  const Words from = evaluate(cta, expr.args[0], ts);
  const auto width = [](ir::Type type) {
    return static_cast<std::size_t>(type.is_pointer() ? 64 : storage_bits(type.dtype));
  };
  const std::size_t in = width(cta.f[expr.args[0]].type);
  const std::size_t to = width(expr.type);
  const std::size_t step = std::min(in, to);
  const std::size_t n = ts.size();
  Words out = constant(cta, 0, n * expr.type.lanes);
  for (std::size_t bit = 0; bit < expr.type.lanes * to && bit / in * n < from.size(); bit += step)
    for (std::size_t i = 0; i < n; ++i) {
      const Word piece = from[bit / in * n + i] >> (bit % in) & low_mask(static_cast<int>(step));
      out[bit / to * n + i] |= piece << (bit % to);
    }
  return out;
}

// Vectors, then the numbers of the lanes wanted.
Words shuffled_value(Cta& cta, const Expr& expr, Threads ts) {
  const std::size_t n = ts.size();
  const auto vectors = static_cast<std::size_t>(expr.integer);
  std::vector<Word> all;
  for (std::size_t v = 0; v < vectors; ++v) {
    Words more = evaluate(cta, expr.args[v], ts);
    all.insert(all.end(), more.begin(), more.end());
  }
  Words out = constant(cta, 0, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes && vectors + l < expr.args.size(); ++l) {
    const Words index = evaluate(cta, expr.args[vectors + l], ts);
    for (std::size_t i = 0; i < n; ++i)
      if (index[i] * n + i < all.size()) out[l * n + i] = all[index[i] * n + i];
  }
  return out;
}

}  // namespace

Words constant(Cta& cta, Word value, std::size_t size) {
  Words out(cta.run.pool, size);
  std::fill(out.begin(), out.end(), value);
  return out;
}

Words evaluate(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  const std::size_t lanes = expr.type.lanes;
  switch (expr.op) {
    case ExprOp::IntImm:
      return constant(cta, from_int(expr.type.dtype, expr.integer), ts.size() * lanes);
    case ExprOp::FloatImm:
      return constant(cta, from_real(expr.type.dtype, expr.real), ts.size() * lanes);
    case ExprOp::TextImm:
      return constant(cta, 0, ts.size());
    case ExprOp::Var:
      return variable_value(cta, expr, ts);
    case ExprOp::Load:
      return load_value(cta, expr, ts);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return address_value(cta, expr, ts);
    case ExprOp::And:
    case ExprOp::Or:
      if (lanes == 1) return logic_value(cta, expr, ts);
      return binary_value(cta, id, ts);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not:
      return unary_value(cta, id, ts);
    case ExprOp::Cast:
      return cast_value(cta, id, ts);
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return choice_value(cta, expr, ts);
    case ExprOp::Reinterpret:
      return reinterpreted_value(cta, expr, ts);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return ramp_value(cta, id, ts);
    case ExprOp::Shuffle:
      return shuffled_value(cta, expr, ts);
    case ExprOp::Call:
      return call_intrinsic(cta, expr, ts);
    default:
      return binary_value(cta, id, ts);
  }
}

Contents evaluate_copied(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  if (expr.op != ExprOp::Load) {
    Words value = evaluate(cta, id, ts);
    const std::size_t size = value.size();
    return {std::move(value), constant(cta, 0, size)};
  }
  const BufferInfo& info = cta.launch.info(expr.buffer);
  const Located elements(cta, info, expr.args, expr.type.lanes, ts);
  Contents out{Words(cta.run.pool, elements.size()), Words(cta.run.pool, elements.size())};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element element = elements[i];
    out.set(i, element.at.exists() ? read(cta, element, info.bits, access_of(cta, element.owner))
                                   : Content{});
  }
  return out;
}

Contents empty_contents(Cta& cta, std::size_t size) {
  return {constant(cta, 0, size), constant(cta, 0, size)};
}

}  // namespace ww::eval
