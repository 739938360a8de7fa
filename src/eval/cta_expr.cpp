// SPDX-License-Identifier: Apache-2.0
// Expressions. The value of an expression for n threads is n words; that of a vector of L lanes is
// L·n words, lane by lane.
#include <algorithm>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;

// The threads where a condition has a given value, and their numbers among all.
struct Part {
  std::vector<Thread> threads;
  std::vector<std::size_t> numbers;
};

Part part_of(Threads ts, const Words& condition, bool wanted) {
  Part part;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if ((condition[i] != 0) != wanted) continue;
    part.threads.push_back(ts[i]);
    part.numbers.push_back(i);
  }
  return part;
}

}  // namespace

Words Cta::constant(Word value, std::size_t size) {
  Words out(run_.pool, size);
  std::fill(out.begin(), out.end(), value);
  return out;
}

Words Cta::eval(ExprId id, Threads ts) {
  const Expr& expr = (*f_)[id];
  const std::size_t lanes = expr.type.lanes;
  switch (expr.op) {
    case ExprOp::IntImm:
      return constant(from_int(expr.type.dtype, expr.integer), ts.size() * lanes);
    case ExprOp::FloatImm:
      return constant(from_real(expr.type.dtype, expr.real), ts.size() * lanes);
    case ExprOp::TextImm:
      return constant(0, ts.size());
    case ExprOp::Var: {
      Words out(run_.pool, ts.size() * lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        const Word* row = &vars_[(var_base_[expr.var.index] + l) * thread_count()];
        for (std::size_t i = 0; i < ts.size(); ++i) out[l * ts.size() + i] = row[ts[i]];
      }
      return out;
    }
    case ExprOp::Load:
      return eval_load(expr, ts, nullptr);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return eval_address(expr, ts);
    case ExprOp::And:
    case ExprOp::Or:
      if (lanes == 1) return eval_logic(expr, ts);
      return eval_binary(id, ts);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not: {
      Words out = eval(expr.args[0], ts);
      if (k_.may_overflow[id.index]) check_overflow(id, constant(0, out.size()), out, ts);
      unary(expr.op, expr.type.dtype, out, out);
      return out;
    }
    case ExprOp::Cast: {
      Words out = eval(expr.args[0], ts);
      const num::DType from = type_of(expr.args[0]);
      if (k_.may_overflow[id.index]) check_cast(id, out, ts);
      for (Word& word : out) word = convert(from, expr.type.dtype, word);
      return out;
    }
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return eval_choice(expr, ts);
    case ExprOp::Reinterpret:
      return eval_reinterpret(expr, ts);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return eval_ramp(id, ts);
    case ExprOp::Shuffle:
      return eval_shuffle(expr, ts);
    case ExprOp::Call:
      return call(expr, ts);
    default:
      return eval_binary(id, ts);
  }
}

// A value that is only passed on keeps its undefined bits instead of being found.
Words Cta::eval_copied(ExprId id, Threads ts, Words& undefined) {
  const Expr& expr = (*f_)[id];
  if (expr.op == ExprOp::Load) return eval_load(expr, ts, &undefined);
  return eval(id, ts);
}

Words Cta::eval_binary(ExprId id, Threads ts) {
  const Expr& expr = (*f_)[id];
  Words a = eval(expr.args[0], ts);
  const Words b = eval(expr.args[1], ts);
  if (k_.may_overflow[id.index]) check_overflow(id, a, b, ts);
  const ir::Type type = (*f_)[expr.args[0]].type;
  binary(expr.op, type.is_pointer() ? num::DType::Uint64 : type.dtype, a, b, a);
  return a;
}

// The right side is evaluated only where the left one does not decide.
Words Cta::eval_logic(const Expr& expr, Threads ts) {
  Words out = eval(expr.args[0], ts);
  const Part rest = part_of(ts, out, expr.op == ExprOp::And);
  if (rest.threads.empty()) return out;
  const Words right = eval(expr.args[1], rest.threads);
  for (std::size_t i = 0; i < rest.numbers.size(); ++i) out[rest.numbers[i]] = right[i];
  return out;
}

Words Cta::eval_choice(const Expr& expr, Threads ts) {
  const Words condition = eval(expr.args[0], ts);
  const std::size_t lanes = expr.type.lanes;
  if (expr.op == ExprOp::Select) {
    Words yes = eval(expr.args[1], ts);
    const Words no = eval(expr.args[2], ts);
    const bool per_lane = condition.size() == yes.size();
    for (std::size_t i = 0; i < yes.size(); ++i)
      if (condition[per_lane ? i : i % ts.size()] == 0) yes[i] = no[i];
    return yes;
  }
  Words out(run_.pool, ts.size() * lanes);
  for (const bool wanted : {true, false}) {
    const Part part = part_of(ts, condition, wanted);
    if (part.threads.empty()) continue;
    const Words values = eval(expr.args[wanted ? 1 : 2], part.threads);
    const std::size_t n = part.numbers.size();
    for (std::size_t l = 0; l < lanes; ++l)
      for (std::size_t i = 0; i < n; ++i) out[l * ts.size() + part.numbers[i]] = values[l * n + i];
  }
  return out;
}

Words Cta::eval_load(const Expr& expr, Threads ts, Words* undefined) {
  const BufferInfo& info = k_.info(expr.buffer);
  const std::vector<Element> elements = locate(info, expr.args, expr.type.lanes, ts);
  Words out(run_.pool, elements.size());
  if (undefined != nullptr) *undefined = constant(0, elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out[i] = 0;
    if (elements[i].place.root == kNoRoot) continue;
    const Access by = access_of(thread_agent(elements[i].owner));
    if (undefined != nullptr)
      out[i] = read(elements[i], info.bits, by, (*undefined)[i]);
    else
      out[i] = read_defined(elements[i], info.bits, by);
  }
  return out;
}

Words Cta::eval_address(const Expr& expr, Threads ts) {
  const BufferInfo& info = k_.info(expr.buffer);
  if (expr.op == ExprOp::BufferData) {
    // The storage's start: offsets belong to the buffer, not to its data.
    if (info.root == kNoRoot && info.ir->pointer.valid()) return eval(info.ir->pointer, ts);
    return constant(pointer_to({info.root, 0}), ts.size());
  }
  const std::vector<Element> elements = locate(info, expr.args, 1, ts);
  Words out(run_.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) out[i] = pointer_to(elements[i].place);
  return out;
}

Words Cta::eval_ramp(ExprId id, Threads ts) {
  const Expr& expr = (*f_)[id];
  const Words first = eval(expr.args[0], ts);
  const Words stride = expr.op == ExprOp::Ramp ? eval(expr.args[1], ts) : constant(0, ts.size());
  const std::size_t n = ts.size();
  const Word mask = low_mask(num::bits_of(expr.type.dtype));
  if (k_.may_overflow[id.index]) check_overflow(id, first, stride, ts);
  Words out(run_.pool, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes; ++l)
    for (std::size_t i = 0; i < n; ++i) out[l * n + i] = (first[i] + l * stride[i]) & mask;
  return out;
}

// The lanes' bits one after the other, cut anew.
Words Cta::eval_reinterpret(const Expr& expr, Threads ts) {
  const Words from = eval(expr.args[0], ts);
  const auto width = [](ir::Type type) {
    return static_cast<std::size_t>(type.is_pointer() ? 64 : storage_bits(type.dtype));
  };
  const std::size_t in = width((*f_)[expr.args[0]].type);
  const std::size_t to = width(expr.type);
  const std::size_t step = std::min(in, to);
  const std::size_t n = ts.size();
  Words out = constant(0, n * expr.type.lanes);
  for (std::size_t bit = 0; bit < expr.type.lanes * to && bit / in * n < from.size(); bit += step)
    for (std::size_t i = 0; i < n; ++i) {
      const Word piece = from[bit / in * n + i] >> (bit % in) & low_mask(static_cast<int>(step));
      out[bit / to * n + i] |= piece << (bit % to);
    }
  return out;
}

// Vectors, then the numbers of the lanes wanted.
Words Cta::eval_shuffle(const Expr& expr, Threads ts) {
  const std::size_t n = ts.size();
  const auto vectors = static_cast<std::size_t>(expr.integer);
  std::vector<Word> all;
  for (std::size_t v = 0; v < vectors; ++v) {
    Words more = eval(expr.args[v], ts);
    all.insert(all.end(), more.begin(), more.end());
  }
  Words out = constant(0, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes && vectors + l < expr.args.size(); ++l) {
    const Words index = eval(expr.args[vectors + l], ts);
    for (std::size_t i = 0; i < n; ++i)
      if (index[i] * n + i < all.size()) out[l * n + i] = all[index[i] * n + i];
  }
  return out;
}

Word Cta::uniform(ExprId id, const UnitInstance& unit, std::string_view what,
                  const ir::Buffer* about, std::size_t dim) {
  const Words values = eval(id, unit.threads);
  for (std::size_t i = 1; i < unit.threads.size(); ++i) {
    if (values[i] == values[0]) continue;
    if (Finding* found = finding(Check::Operand); found != nullptr)
      found->text = fmt::format(
          "{}{} differs between threads of {}: {} in {}, {} in {}", what,
          about == nullptr ? "" : fmt::format(" of dimension {} of `{}`", dim, about->name),
          unit_text(unit), value_text(type_of(id), values[0]), thread_text(unit.threads[0]),
          value_text(type_of(id), values[i]), thread_text(unit.threads[i]));
    break;
  }
  return values[0];
}

std::int64_t Cta::uniform_int(ExprId id, const UnitInstance& unit, std::string_view what,
                              const ir::Buffer* about, std::size_t dim) {
  return as_int(type_of(id), uniform(id, unit, what, about, dim));
}

}  // namespace ww::eval
