// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/work_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/elementwise.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/elementwise/forms.h"
#include "lower/elementwise/packed.h"
#include "lower/elementwise/work.h"
#include "lower/index_formula.h"
#include "lower/scratch.h"

namespace ww::lower {
namespace {

// --- one element ---------------------------------------------------------------------------------

// The value of one element of an elementwise primitive, as the table in ir/elementwise.h gives it.

using ir::ExprId;

/// An instruction that is written when its result is needed: into a register of its own, or where
/// the element goes.
struct LastInstruction {
  ir::BufferId part = {};
  ir::ExprId out = {};      // the element of `part`
  std::string opcode = {};  // empty: there is none
  std::vector<ir::PtxOperand> sources = {};

  /// `to`: the register; none: its own.
  void write(CodeWriter& code, ir::ExprId to = {}) {
    if (opcode.empty()) return;
    if (!to.valid()) code.allocate(part);
    std::vector<ir::PtxOperand> operands{{.expr = to.valid() ? to : out}};
    operands.insert(operands.end(), sources.begin(), sources.end());
    code.ptx(opcode, std::move(operands));
    *this = {};
  }
};

// Expressions and instructions.
class Expressions {
 public:
  using Value = ExprId;
  Expressions(CodeWriter& code, LastInstruction& last) : code_(code), last_(last) {}

  // --- of any type ---
  Value constant(const ir::Constant& value) { return code_.literal(value); }
  Value binary(ir::ExprOp op, num::DType, Value a, Value b) { return code_.binary(op, a, b); }
  Value call(ir::Intrinsic callee, num::DType, std::initializer_list<Value> args) {
    return code_.call(callee, args);
  }
  Value cast(num::DType, num::DType to, Value x) { return code_.as(to, x); }
  Value unpacked(Value x) {
    const ir::BufferId halves = code_.registers("halves", num::DType::Bfloat16, 2);
    const Value word = code_.load(word_view(code_, halves, num::DType::Uint32, 2), {code_.n(0)});
    const Value pair = both_halves(code_, num::DType::Uint16, x);
    code_.ptx(kPowersToBfloat16, {{.expr = word}, {.expr = pair}});
    return code_.load(halves, {code_.n(0)});
  }
  Value choose(Value condition, num::DType, Value yes, Value no) {
    return code_.choose(ir::ExprOp::Select, condition, yes, no);
  }
  Value instruct(std::string_view opcode, num::DType type, std::initializer_list<Value> args) {
    last_.write(code_);
    if (makes_powers(opcode)) return power(opcode, *args.begin());
    last_.part = code_.new_registers("part", type, 1);
    last_.out = code_.load(last_.part, {code_.n(0)});
    last_.opcode = opcode;
    for (const Value arg : args) last_.sources.push_back({.expr = arg});
    return last_.out;
  }

  // --- of float32 ---
  Value number(float value) { return constant({kReal, 0, double{value}}); }
  Value mul(Value a, Value b) { return binary(ir::ExprOp::Mul, kReal, a, b); }
  Value add(Value a, Value b) { return binary(ir::ExprOp::Add, kReal, a, b); }
  Value fma(Value a, Value b, Value c) { return call(ir::Intrinsic::Fma, kReal, {a, b, c}); }
  Value abs(Value a) { return call(ir::Intrinsic::Abs, kReal, {a}); }
  Value copysign(Value size, Value sign) {
    return call(ir::Intrinsic::Copysign, kReal, {size, sign});
  }
  Value approx(std::string_view opcode, std::initializer_list<Value> args) {
    return instruct(opcode, kReal, args);
  }

 private:
  // The lower one of a pair.
  Value power(std::string_view opcode, Value x) {
    const bool is_word = code_.f()[x].type.dtype == num::DType::Bfloat16;
    const ir::BufferId powers = code_.registers("powers", num::DType::Float8E8M0, 2);
    const Value word = code_.load(word_view(code_, powers, num::DType::Uint16, 2), {code_.n(0)});
    std::vector<ir::PtxOperand> operands{{.expr = word}};
    if (!is_word) operands.push_back({.expr = number(0)});
    operands.push_back({.expr = is_word ? both_halves(code_, num::DType::Uint32, x) : x});
    code_.ptx(opcode, std::move(operands));
    return code_.load(powers, {code_.n(0)});
  }

  static constexpr num::DType kReal = num::DType::Float32;
  CodeWriter& code_;
  LastInstruction& last_;
};

using ir::ExprOp;
using ir::TileOp;

class ElementValue {
 public:
  /// `type` is the one in which the primitive computes, `dst` that of its destination.
  ElementValue(const Call& call, CodeWriter& code, num::DType type, num::DType dst)
      : call_(call),
        code_(code),
        f_(code.f()),
        type_(type),
        dst_(dst),
        is_fast_(lower::is_fast(call.tile, type)),
        cast_(call.tile.op == ir::TileOp::Cast ? cast_form(call).value() : CastForm{}) {}

  /// Operand i, as ir::operands_of lists them, in the type in which it is used.
  ir::ExprId converted(std::size_t i, ExprId value) {
    if (ir::is_condition(call_.tile.op, i)) {
      const ir::Type type = f_[value].type;
      return type.is_bool() ? value : code_.binary(ExprOp::Ne, value, code_.zero(type.dtype));
    }
    if (call_.tile.op == TileOp::Cast) return value;
    return code_.as(ir::computes(call_.tile.op) ? type_ : dst_, value);
  }
  /// The same of a scalar, computed before anything else; none for none.
  ir::ExprId scalar(std::size_t i, ExprId value) {
    if (!value.valid()) return {};
    const ExprId out = converted(i, value);
    return f_[out].op == ExprOp::FloatImm ? out : code_.let("scalar", out);
  }
  /// Stores the element, of converted operands; none: left out. An instruction that ends it writes
  /// the register itself.
  void store(ir::BufferId to, ExprId index, const std::vector<ExprId>& operands) {
    const ExprId value = code_.as(dst_, computed(operands));
    if (last_.out == value && f_[to].scope == ir::Scope::Local)
      return last_.write(code_, code_.load(to, {index}));
    last_.write(code_);
    code_.store(to, index, value);
  }

 private:
  ir::ExprId computed(const std::vector<ExprId>& v) {
    const TileOp op = call_.tile.op;
    if (op == TileOp::Zero) return code_.zero(dst_);
    if (ir::group_of(op) == ir::ElementGroup::Choice)
      return code_.choose(ExprOp::Select, v[2], v[0], v[1]);
    if (op == TileOp::Cast) {
      Expressions values(code_, last_);
      return cast_value(values, cast_, v[0]);
    }
    if (!ir::computes(op)) return v[0];
    if (is_fast_)
      return ir::is_function(op) ? fast(argument(v[0], v[1], v[2]), {}) : fast(v[0], v[1]);
    if (ir::has_operator(op)) return code_.binary(ir::operator_of(op), v[0], v[1]);
    if (ir::is_function(op)) return function(argument(v[0], v[1], v[2]));
    if (op == TileOp::Fma) return multiply_add(code_, v[0], v[1], v[2]);
    if (op == TileOp::Pow) return code_.call(ir::Intrinsic::Pow, {v[0], v[1]});
    if (op == TileOp::Clamp)
      return code_.binary(ExprOp::Min, code_.binary(ExprOp::Max, v[0], v[1]), v[2]);
    return of_number(v[0]);
  }
  ir::ExprId of_number(ExprId x) {
    switch (call_.tile.op) {
      case TileOp::Relu:
        return code_.binary(ExprOp::Max, x, code_.zero(type_));
      case TileOp::Neg:
        return unary(ExprOp::Neg, x);
      case TileOp::LogicalNot:
        return unary(ExprOp::Not, x);
      case TileOp::BitwiseNot:
        return unary(ExprOp::BitNot, x);
      default:
        break;
    }
    const bool is_whole = !is_float(type_) && call_.tile.op != TileOp::Abs;
    return is_whole ? x : code_.call(*ir::callee_of(call_.tile.op), {x});
  }
  ir::ExprId unary(ExprOp op, ExprId x) { return ir::unary(f_, op, {x}, call_.span).value(); }
  ir::ExprId argument(ExprId x, ExprId scale, ExprId bias) {
    if (scale.valid() && bias.valid()) return multiply_add(code_, x, scale, bias);
    if (scale.valid()) return code_.binary(ExprOp::Mul, x, scale);
    return bias.valid() ? code_.binary(ExprOp::Add, x, bias) : x;
  }
  ir::ExprId function(ExprId x) {
    if (const auto callee = ir::callee_of(call_.tile.op)) return code_.call(*callee, {x});
    if (call_.tile.op == TileOp::Reciprocal)
      return code_.binary(ExprOp::Div, code_.number(type_, 1), x);
    WW_CHECK(call_.tile.op == TileOp::Silu, "`{}` has no code", ir::name_of(call_.tile.op));
    const ExprId minus = unary(ExprOp::Neg, x);
    const ExprId power = code_.call(ir::Intrinsic::Exp, {minus});
    const ExprId below = code_.binary(ExprOp::Add, code_.number(type_, 1), power);
    return code_.binary(ExprOp::Div, x, below);
  }
  ir::ExprId fast(ExprId x, ExprId y) {
    Expressions values(code_, last_);
    const ExprId a = code_.as(num::DType::Float32, x);
    const ExprId b = y.valid() ? code_.as(num::DType::Float32, y) : y;
    return code_.as(type_, FastForm<Expressions>(values, a, b).of(call_.tile.op));
  }

  const Call& call_;
  CodeWriter& code_;
  ir::Function& f_;
  num::DType type_, dst_;
  bool is_fast_;
  CastForm cast_;
  LastInstruction last_ = {};
};

}  // namespace

// --- plan ----------------------------------------------------------------------------------------

namespace work_writer {
namespace {

using Access = WorkSide::Access;

// The parameter that a side is the argument for.
std::string_view name_of_side(const Call& call, const ElementwiseProblem& p, std::size_t side) {
  const auto& params = ir::params_of(call.tile.op);
  for (const ElementwiseSource& source : p.sources)
    if (source.side && source.operand + 1 == side) return params[source.argument].name;
  return params[0].name;
}

// Vectors are loaded into registers of their own, which pair up.
bool has_pairs(const Call& call, const ElementwiseProblem& p, const Work& work,
               const PackedOp& op) {
  const auto sides = p.sides();
  if (op.cast && work.sides[1].access == Access::Single) return false;
  for (std::size_t s = 0; s < sides.size(); ++s)
    if (work.sides[s].access == Access::Register &&
        !are_pairs(call, *sides[s], work.sides[s].slots))
      return false;
  return work.vec % 2 == 0;
}

}  // namespace
}  // namespace work_writer

WorkPlan work_plan(const Call& call, ElementwiseProblem problem, std::vector<Work> works) {
  WorkPlan plan{.problem = std::move(problem), .works = std::move(works)};
  const ElementwiseProblem& p = plan.problem;
  plan.packed = packed_op(call, p.type, p.dst.dtype, p.sources);
  for (const Work& work : plan.works)
    plan.is_packed.push_back(plan.packed && work_writer::has_pairs(call, p, work, *plan.packed));
  return plan;
}

std::int64_t WorkPlan::packed_count() const {
  std::int64_t out = 0;
  for (std::size_t w = 0; w < works.size(); ++w)
    if (is_packed[w]) out += works[w].rounds * works[w].vec / 2;
  return out;
}

// --- code ----------------------------------------------------------------------------------------

namespace work_writer {
namespace {

class Writer {
 public:
  Writer(const WorkPlan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        p_(plan.problem),
        sides_(plan.problem.sides()),
        call_(call),
        code_(code),
        value_(call, code, p_.type, p_.dst.dtype),
        u_(p_.has_registers() ? call.unit_thread(code) : call.worker(code)),
        has_same_words_(std::ranges::all_of(sides_, &OperandPlaces::is_register)) {}

  void write() {
    views_.push_back(view(p_.dst));
    for (std::size_t i = 0; i < p_.sources.size(); ++i) {
      if (p_.sources[i].side) views_.push_back(view(*p_.sources[i].side));
      scalars_.push_back(value_.scalar(i, p_.sources[i].scalar));
    }
    if (has_same_words_ && plan_.packed_count() > 0) find_words(0);
    for (std::size_t w = 0; w < plan_.works.size(); ++w) {
      is_packed_ = plan_.is_packed[w];
      const Work& work = plan_.works[w];
      code_.guarded(member_expr(code_, u_, work.used), [&] { rounds(work); });
    }
    if (ir::is_shared(p_.dst.scope)) write_barrier(call_, code_);
  }

 private:
  ir::BufferId view(const OperandPlaces& side) {
    for (std::size_t s = 0; s < views_.size(); ++s)
      if (sides_[s]->buffer == side.buffer) return views_[s];
    return flat_view(call_, code_, side);
  }
  [[nodiscard]] std::string name(std::size_t side) const {
    return std::string(name_of_side(call_, p_, side));
  }

  // --- addresses ---

  // What does not depend on the round is computed once.
  void find_parts(const Work& work) {
    parts_.clear();
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      parts_.emplace_back();
      if (work.sides[s].access == Access::Register) continue;
      const PlaceForm& form = work.sides[s].form;
      parts_[s] = place_parts(code_, form, u_, sides_[s]->base_expr(code_));
      if (form.form.kind != AddressForm::Kind::Joint)
        parts_[s][0].fixed = code_.let(name(s) + "_base", parts_[s][0].fixed);
    }
  }
  ExprId place(const Work& work, std::size_t s, ExprId k) {
    return code_.simplify(place_expr(code_, work.sides[s].form, parts_[s], u_, k, work.threads));
  }
  ExprId slot(const Work& work, std::size_t s, ExprId k, ExprId i) {
    return slot_expr(code_, work, s, *sides_[s], k, i);
  }

  // --- rounds ---

  void rounds(const Work& work) {
    find_parts(work);
    values_.clear();
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const bool is_array = work.sides[s].access == Access::Vector && work.vec > 1;
      values_.push_back(is_array ? code_.registers(name(s), sides_[s]->dtype, work.vec)
                                 : ir::BufferId{});
    }
    loaded_.assign(sides_.size(), {});
    if (is_packed_ && !has_same_words_) find_words(work.vec);
    load(work, code_.n(0), true);
    write_rounds(code_, work, u_, [&](ExprId k) { round(work, k); });
  }

  // The sides that are read before all rounds, or in each of them.
  void load(const Work& work, ExprId k, bool is_fixed) {
    for (std::size_t s = 1; s < sides_.size(); ++s) {
      const WorkSide& side = work.sides[s];
      if (side.access == Access::Register || side.is_fixed != is_fixed) continue;
      const ExprId from = place(work, s, k);
      if (values_[s].valid())
        code_.copy_bytes(code_.pointer(values_[s], code_.n(0)), code_.pointer(views_[s], from),
                         side.bytes);
      else
        loaded_[s] = code_.let(name(s) + "_value", code_.load(views_[s], {from}));
      if (is_packed_ && loaded_[s].valid())
        loaded_[s] = both_halves(code_, plan_.packed->word, loaded_[s]);
    }
  }

  void round(const Work& work, ExprId k) {
    load(work, k, false);
    const std::int64_t steps = is_packed_ ? work.vec / 2 : work.vec;
    const auto step = [&](ExprId i) { is_packed_ ? two(work, k, i) : one(work, k, i); };
    if (steps > 1 && has_formulas(work))
      code_.loop("i", steps, ir::LoopKind::Unroll, step);
    else
      for (std::int64_t i = 0; i < steps; ++i) step(code_.n(i));
    if (values_[0].valid())
      code_.copy_bytes(code_.pointer(views_[0], place(work, 0, k)),
                       code_.pointer(values_[0], code_.n(0)), work.sides[0].bytes);
  }

  void one(const Work& work, ExprId k, ExprId i) {
    std::vector<ExprId> operands;
    for (std::size_t n = 0; n < p_.sources.size(); ++n) {
      const std::size_t s = p_.sources[n].operand + 1;
      operands.push_back(!p_.sources[n].side  ? scalars_[n]
                         : loaded_[s].valid() ? value_.converted(n, loaded_[s])
                                              : value_.converted(n, element(work, s, k, i)));
    }
    if (values_[0].valid()) return value_.store(values_[0], i, operands);
    const bool is_register = work.sides[0].access == Access::Register;
    value_.store(views_[0], is_register ? slot(work, 0, k, i) : place(work, 0, k), operands);
  }
  // --- two elements at a time ---

  void find_words(std::int64_t vec) {
    words_.clear();
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const auto word = plan_.packed->word_of(*sides_[s], s == 0);
      const bool is_vector = s < values_.size() && values_[s].valid();
      words_.push_back(!word                      ? ir::BufferId{}
                       : is_vector                ? word_view(code_, values_[s], *word, vec)
                       : sides_[s]->is_register() ? words_of(*sides_[s], *word)
                                                  : ir::BufferId{});
    }
    pairs_.clear();
    if (plan_.packed->cast) return;
    for (const ExprId scalar : scalars_)
      pairs_.push_back(scalar.valid() ? both_halves(code_, plan_.packed->word, scalar) : ExprId{});
    if (plan_.packed->has_zero)
      pairs_.push_back(both_halves(code_, plan_.packed->word, code_.zero(p_.type)));
  }
  ir::BufferId words_of(const OperandPlaces& side, num::DType word) {
    for (std::size_t s = 0; s < words_.size(); ++s)
      if (sides_[s]->buffer == side.buffer && words_[s].valid()) return words_[s];
    return word_view(code_, side.buffer, word, view_elements(call_, side));
  }
  ExprId word(const Work& work, std::size_t s, ExprId k, ExprId i) {
    if (values_[s].valid()) return code_.load(words_[s], {i});
    const ExprId first = slot(work, s, k, code_.simplify(code_.mul(i, 2)));
    return code_.load(words_[s], {code_.simplify(code_.div(first, 2))});
  }
  void two(const Work& work, ExprId k, ExprId i) {
    if (plan_.packed->cast) return two_cast(work, k, i);
    std::vector<ExprId> from;
    for (std::size_t n = 0; n < pairs_.size(); ++n) {
      const bool is_side = n < p_.sources.size() && p_.sources[n].side;
      const std::size_t s = is_side ? p_.sources[n].operand + 1 : 0;
      from.push_back(!is_side ? pairs_[n] : loaded_[s].valid() ? loaded_[s] : word(work, s, k, i));
    }
    write_packed(code_, *plan_.packed, word(work, 0, k, i), from);
  }

  void two_cast(const Work& work, ExprId k, ExprId i) {
    const auto word_of = [&](std::size_t s) {
      return words_[s].valid() ? word(work, s, k, i) : ExprId{};
    };
    const ExprId from_word = word_of(1), to_word = word_of(0);
    CastPair pair{.from_word = from_word, .to_word = to_word};
    pair.to = values_[0].valid() ? values_[0] : views_[0];
    for (const std::size_t h : {0U, 1U}) {
      const ExprId at = code_.simplify(code_.add(code_.mul(i, 2), static_cast<std::int64_t>(h)));
      pair.from[h] = element(work, 1, k, at);
      pair.to_index[h] = values_[0].valid() ? at : slot(work, 0, k, at);
    }
    write_packed_cast(code_, *plan_.packed->cast, pair);
  }

  ExprId element(const Work& work, std::size_t s, ExprId k, ExprId i) {
    return values_[s].valid() ? code_.load(values_[s], {i})
                              : code_.load(views_[s], {slot(work, s, k, i)});
  }

  const WorkPlan& plan_;
  const ElementwiseProblem& p_;
  std::vector<const OperandPlaces*> sides_;
  const Call& call_;
  CodeWriter& code_;
  ElementValue value_;
  ExprId u_;
  std::vector<ir::BufferId> views_;             // by side
  std::vector<ExprId> scalars_;                 // by source
  std::vector<std::vector<ThreadPart>> parts_;  // by side: of the work being written
  std::vector<ir::BufferId> values_;            // by side: registers of a vector
  std::vector<ExprId> loaded_;                  // by side: read once for all elements of a round
  std::vector<ir::BufferId> words_;             // by side: by words of two elements
  std::vector<ExprId> pairs_;                   // by source: scalars in both halves of a word
  bool has_same_words_;                         // all works have: those of registers
  bool is_packed_ = false;                      // the work being written
};

}  // namespace
}  // namespace work_writer

void write_works(const WorkPlan& plan, const Call& call, CodeWriter& code) {
  work_writer::Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

void add_registers(PlanReport& out, const WorkPlan& plan, const Call& call, std::size_t side) {
  std::vector<std::int64_t> slots;
  for (const Work& work : plan.works)
    slots.insert(slots.end(), work.sides[side].slots.begin(), work.sides[side].slots.end());
  const std::int64_t words = words_of(std::move(slots), plan.problem.sides()[side]->bits);
  out.operand_registers.emplace_back(work_writer::name_of_side(call, plan.problem, side), words);
  out.registers += words;
}

void add_packed(PlanReport& out, const WorkPlan& plan) {
  for (std::size_t w = 0; w < plan.works.size(); ++w)
    if (plan.is_packed[w])
      for (const std::string& opcode : plan.packed->opcodes())
        out.add_instruction(opcode, plan.works[w].rounds * plan.works[w].vec / 2, 0);
}

PlanReport work_report(const WorkPlan& plan) {
  const ElementwiseProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.elements;
  out.flops = p.elements;
  out.bytes = p.elements * p.dst.bits / 8;
  return out;
}

}  // namespace ww::lower
