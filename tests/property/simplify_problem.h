// SPDX-License-Identifier: Apache-2.0
// Expressions of a few variables with the values that these take, and an interpreter that shares
// nothing with src/ir: for simplify_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/wide.h"
#include "ir/build.h"
#include "ir/indices.h"
#include "ir/simplify/simplify.h"

namespace ww::test::simplify_test {

using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using num::DType;

struct Variable {
  ir::VarId id;
  std::vector<std::int64_t> values;
  std::string known;  // what the facts say
};

struct Problem {
  Function f;
  std::vector<Variable> variables;
  ir::Facts facts;
  ExprId integer;
  ExprId condition;
  DType dtype = DType::Int32;
  bool has_indices = false;
};

// Nothing where index arithmetic overflows.
using Value = std::optional<std::int64_t>;

inline bool is_unsigned(DType dtype) { return num::kind_of(dtype) == num::DTypeKind::Uint; }

// A uint64 beyond the greatest int64 has its bits, as in ir::Expr.
inline Wide whole(std::int64_t v, DType dtype) {
  return dtype == DType::Uint64 ? Wide{static_cast<std::uint64_t>(v)} : Wide{v};
}

inline std::int64_t wrapped(Wide v, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return v != 0;
    case DType::Int8:
      return static_cast<std::int8_t>(v);
    case DType::Int16:
      return static_cast<std::int16_t>(v);
    case DType::Int32:
      return static_cast<std::int32_t>(v);
    case DType::Uint8:
      return static_cast<std::uint8_t>(v);
    case DType::Uint16:
      return static_cast<std::uint16_t>(v);
    case DType::Uint32:
      return static_cast<std::uint32_t>(v);
    default:
      return static_cast<std::int64_t>(v);
  }
}

// What index arithmetic that leaves its type is: nothing, or, in what simplifying makes of a sum
// that does not, a step on the way: numbers that wrap, and whole numbers that do not, must both get
// there. Parts of an index are taken to be no greater than the whole, so that an index near the end
// of its type counts as one that leaves it.
enum class Overflow { IsNothing, Wraps, IsWhole };

class Interpreter {
 public:
  Interpreter(const Function& f, const std::vector<std::int64_t>& values,
              Overflow overflow = Overflow::IsNothing)
      : f_(f), values_(values), overflow_(overflow) {}

  Value operator()(ExprId id) const {
    const Number v = number(id);
    return v ? Value(wrapped(*v, f_[id].type.dtype)) : std::nullopt;
  }

 private:
  using Number = std::optional<Wide>;

  Number number(ExprId id) const {
    const ir::Expr& e = f_[id];
    const DType to = e.type.dtype;
    if (e.op == ExprOp::IntImm) return whole(e.integer, to);
    if (e.op == ExprOp::Var) return whole(values_[e.var.index], to);
    const Number a = number(e.args[0]);
    if (!a) return std::nullopt;
    if (e.op == ExprOp::And) return *a == 0 ? Number(0) : number(e.args[1]);
    if (e.op == ExprOp::Or) return *a != 0 ? Number(1) : number(e.args[1]);
    if (e.op == ExprOp::Not) return *a == 0 ? 1 : 0;
    if (e.op == ExprOp::IfThenElse) return number(e.args[*a != 0 ? 1 : 2]);
    if (e.op == ExprOp::Neg) return linear(e, -*a);
    if (e.op == ExprOp::BitNot) return held(~*a, to);
    if (e.op == ExprOp::Call) return held(*a < 0 ? -*a : *a, to);  // abs
    if (e.op == ExprOp::Cast) return held(*a, to);
    const Number b = number(e.args[1]);
    if (!b) return std::nullopt;
    if (e.op == ExprOp::Select) {
      const Number c = number(e.args[2]);
      return !c ? std::nullopt : (*a != 0 ? b : c);
    }
    return two(e, f_[e.args[0]].type.dtype, *a, *b);
  }

  Number two(const ir::Expr& e, DType dtype, Wide a, Wide b) const {
    switch (e.op) {
      case ExprOp::Add:
        return linear(e, a + b);
      case ExprOp::Sub:
        return linear(e, a - b);
      case ExprOp::Mul:
        return linear(e, a * b);
      case ExprOp::FloorDiv:
      case ExprOp::FloorMod:
      case ExprOp::TruncDiv:
      case ExprOp::TruncMod:
        return divided(e.op, dtype, a, b);
      case ExprOp::Min:
        return a < b ? a : b;
      case ExprOp::Max:
        return a < b ? b : a;
      case ExprOp::BitAnd:
        return held(a & b, dtype);
      case ExprOp::BitOr:
        return held(a | b, dtype);
      case ExprOp::BitXor:
        return held(a ^ b, dtype);
      case ExprOp::Shl:
      case ExprOp::Shr:
        return shifted(e, dtype, a, b);
      case ExprOp::Eq:
        return a == b;
      case ExprOp::Ne:
        return a != b;
      case ExprOp::Lt:
        return a < b;
      case ExprOp::Le:
        return a <= b;
      case ExprOp::Gt:
        return a > b;
      case ExprOp::Ge:
        return a >= b;
      default:
        throw std::logic_error("no such operator in this test");
    }
  }
  // By 0: all bits, or the dividend.
  static Number divided(ExprOp op, DType dtype, Wide a, Wide b) {
    const bool is_modulo = op == ExprOp::FloorMod || op == ExprOp::TruncMod;
    if (b == 0) return held(is_modulo ? a : -1, dtype);
    const bool is_floor = op == ExprOp::FloorDiv || op == ExprOp::FloorMod;
    Wide q = a / b;
    if (is_floor && q * b != a && (a < 0) != (b < 0)) --q;
    return held(is_modulo ? a - q * b : q, dtype);
  }
  // From the width on everything is shifted out; a negative amount counts as a great one.
  [[nodiscard]] Number shifted(const ir::Expr& e, DType dtype, Wide a, Wide b) const {
    const bool is_beyond = b < 0 || b >= num::bits_of(dtype);
    if (e.op == ExprOp::Shr) return held(is_beyond ? (a < 0 ? -1 : 0) : a >> b, dtype);
    if (is_beyond) return e.no_wrap && overflow_ == Overflow::IsNothing && a != 0 ? Number() : 0;
    return linear(e, a * (Wide{1} << b));
  }
  // A sum or product.
  [[nodiscard]] Number linear(const ir::Expr& e, Wide v) const {
    const Wide w = held(v, e.type.dtype);
    const bool is_index = e.no_wrap && !is_unsigned(e.type.dtype);
    if (!is_index || overflow_ == Overflow::Wraps) return w;
    if (overflow_ == Overflow::IsWhole) return v;
    constexpr int kRoom = 6;
    const Wide end = Wide{1} << (num::bits_of(e.type.dtype) - 1 - kRoom);
    for (const ExprId arg : e.args)
      if (const Number part = number(arg); !part || *part < -end || *part >= end)
        return std::nullopt;
    return v < -end || v >= end ? std::nullopt : Number(v);
  }
  static Wide held(Wide v, DType dtype) { return whole(wrapped(v, dtype), dtype); }

  const Function& f_;
  const std::vector<std::int64_t>& values_;
  Overflow overflow_;
};

inline void for_each_assignment(
    const Problem& p, const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> values(p.f.var_count(), 0);
  const std::function<void(std::size_t)> fill = [&](std::size_t k) {
    if (k == p.variables.size()) return visit(values);
    for (const std::int64_t x : p.variables[k].values) {
      values[p.variables[k].id.index] = x;
      fill(k + 1);
    }
  };
  fill(0);
}

}  // namespace ww::test::simplify_test
