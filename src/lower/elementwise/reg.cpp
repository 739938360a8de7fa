// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives / reg: every thread computes the elements of its own registers, one after
// the other.
//
// Every element of the destination must have its sources in the same thread, in whatever registers;
// scalars are computed once, by each thread for itself. Registers that follow formulas become a
// loop, which is unrolled, since registers have no addresses; others are written one by one.
//
//     Tx.wg.cast(H[0:128, 0:64], R[0:128, 0:64])     R float32, H float16, a row in each thread
//
//     for i in T.unroll(64):
//         H[i] = T.cast(R[i], "float16")
//
// Threads that share elements all compute them, which must not be with scalars that differ. Threads
// that hold nothing are left out.
#include <algorithm>

#include "ir/elementwise.h"
#include "ir/launch/dependence.h"
#include "ir/print/print.h"
#include "lower/as_index.h"
#include "lower/elementwise/accuracy.h"
#include "lower/elementwise/problem.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_reg {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;

/// The registers of a batch as formulas of the step: of dst, then of each source with a side.
using Forms = std::vector<layout::TileLayout>;

struct Plan {
  ElementwiseProblem problem;
  std::vector<std::optional<Forms>> forms;  // by batch; nothing: one by one
};

// --- match ---------------------------------------------------------------------------------------

// What has no meaning, or none that instructions agree on.
Match<void> check_types(const Call& call, const ElementwiseProblem& p) {
  const std::string_view op = ir::name_of(call.tile.op);
  const num::DType dst = p.dst.dtype;
  if (ir::computes(call.tile.op) && !ir::gives_bool(call.tile.op) && dst == num::DType::Bool)
    return decline("dtype", "{} into bool", op);
  const bool is_real = ir::is_function(call.tile.op) || call.tile.op == TileOp::Fdiv;
  if (is_real && !is_float(dst))
    return decline("dtype", "{} into {}, expected floats", op, num::name_of(dst));
  return {};
}

// Threads that hold the same element compute it each for itself, with their own scalar.
struct Sharing {
  ir::Unit unit = ir::Unit::Thread;  // in which all holders of an element are
  std::size_t element = 0;           // with holders furthest apart
  std::int64_t first = 0, last = 0;
};
Sharing sharing_of(const OperandPlaces& dst, std::int64_t threads) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ends(dst.size(), {threads, -1});
  for_each_holder(dst, threads, [&](std::size_t x, std::int64_t u, std::int64_t) {
    ends[x] = {std::min(ends[x].first, u), std::max(ends[x].second, u)};
  });
  Sharing out;
  for (std::size_t x = 0; x < ends.size(); ++x) {
    const auto [first, last] = ends[x];
    const ir::Unit unit = first >= last               ? ir::Unit::Thread
                          : first / 32 == last / 32   ? ir::Unit::Warp
                          : first / 128 == last / 128 ? ir::Unit::Warpgroup
                                                      : ir::Unit::Cta;
    if (unit > out.unit) out = {unit, x, first, last};
  }
  return out;
}

Match<void> check_scalars(const Call& call, const ElementwiseProblem& p) {
  const Sharing shared = sharing_of(p.dst, call.unit_threads());
  if (shared.unit == ir::Unit::Thread) return {};
  for (const ElementwiseSource& source : p.sources) {
    if (!source.scalar.valid() || ir::const_int(call.f(), source.scalar) ||
        call.f()[source.scalar].op == ExprOp::FloatImm)
      continue;
    ir::Dependence dependence(call.f(), call.context.launch);
    if (dependence.of(source.scalar, call.active.may) >= shared.unit) continue;
    return decline(
        "scalar",
        "`{}` differs between threads, and threads {} and {} of the {} both hold element "
        "{} of `{}`",
        ir::print(call.f(), source.scalar), shared.first, shared.last, ir::name_of(call.tile.scope),
        shared.element, call.f()[p.dst.buffer].name);
  }
  return {};
}

// The front end folds numbers; what is left over is a fill.
Match<void> check_operands(const Call& call, const ElementwiseProblem& p) {
  if (ir::computes(call.tile.op) && p.sides() == 0)
    return decline("operands",
                   "{} of scalars alone, expected a region among them; `fill` stores one",
                   ir::name_of(call.tile.op));
  return {};
}

std::optional<Forms> forms_of(const StepBatch& batch) {
  if (batch.steps.size() < 2) return std::nullopt;
  Forms out;
  for (std::size_t i = 0; i <= batch.steps[0].from.size(); ++i) {
    std::vector<std::int64_t> slots;
    for (const RegisterStep& step : batch.steps)
      slots.push_back(i == 0 ? step.to : step.from[i - 1]);
    auto form = fit_table(slots);
    if (!form) return std::nullopt;
    out.push_back(*std::move(form));
  }
  return out;
}

Match<Plan> match(const Call& call) {
  Plan plan{WW_TRY(elementwise_problem(call)), {}};
  WW_TRY_VOID(check_types(call, plan.problem));
  WW_TRY_VOID(check_operands(call, plan.problem));
  WW_TRY_VOID(check_scalars(call, plan.problem));
  for (const StepBatch& batch : plan.problem.batches) plan.forms.push_back(forms_of(batch));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), p_(plan.problem), call_(call), code_(code), f_(code.f()) {}

  void write() {
    dst_ = view(p_.dst);
    for (std::size_t i = 0; i < p_.sources.size(); ++i) prepare(i);
    const ExprId u = call_.unit_thread(code_);
    for (std::size_t i = 0; i < p_.batches.size(); ++i)
      code_.guarded(member_expr(code_, u, p_.batches[i].threads), [&] { batch(i); });
  }

 private:
  // --- operands ---

  ir::BufferId view(const OperandPlaces& side) {
    for (const auto& [buffer, flat] : views_)
      if (buffer == side.buffer) return flat;
    const ir::BufferId flat = flat_view(call_, code_, side);
    views_.emplace_back(side.buffer, flat);
    return flat;
  }

  // An operand in the type in which it is used.
  ExprId converted(std::size_t i, ExprId value) {
    if (ir::is_condition(call_.tile.op, i)) {
      const ir::Type type = f_[value].type;
      return type.is_bool() ? value : code_.binary(ExprOp::Ne, value, code_.zero(type.dtype));
    }
    return code_.as(ir::computes(call_.tile.op) ? p_.type : p_.dst.dtype, value);
  }
  // Views of registers, and scalars, which are computed once.
  void prepare(std::size_t i) {
    const ElementwiseSource& source = p_.sources[i];
    buffers_.push_back(source.side ? view(*source.side) : ir::BufferId{});
    ExprId scalar = {};
    if (source.scalar.valid()) {
      scalar = converted(i, source.scalar);
      if (f_[scalar].op != ExprOp::FloatImm) scalar = code_.let("scalar", scalar);
    }
    scalars_.push_back(scalar);
  }

  // --- steps ---

  void batch(std::size_t number) {
    const StepBatch& batch = p_.batches[number];
    if (!plan_.forms[number]) {
      for (const RegisterStep& step : batch.steps)
        one([&](std::size_t i) { return code_.n(i == 0 ? step.to : step.from[i - 1]); });
      return;
    }
    const Forms& forms = *plan_.forms[number];
    code_.loop("i", std::ssize(batch.steps), ir::LoopKind::Unroll, [&](ExprId k) {
      one([&](std::size_t i) { return digits_expr(code_, forms[i], k); });
    });
  }

  ExprId index(const OperandPlaces& side, ExprId slot) {
    return code_.simplify(side.base.valid() ? code_.add(side.base, slot) : slot);
  }
  // `slot_of(0)` is the register of the destination, `slot_of(1 + k)` that of operand k.
  template <typename SlotOf>
  void one(SlotOf&& slot_of) {
    std::vector<ExprId> values;
    for (std::size_t i = 0; i < p_.sources.size(); ++i) {
      const ElementwiseSource& source = p_.sources[i];
      values.push_back(
          source.side ? converted(i, code_.load(buffers_[i],
                                                {index(*source.side, slot_of(1 + source.operand))}))
                      : scalars_[i]);
    }
    const ExprId to = index(p_.dst, slot_of(0));
    code_.store(dst_, to, code_.as(p_.dst.dtype, computed(values)));
  }

  // --- values ---

  ExprId computed(const std::vector<ExprId>& v) {
    const TileOp op = call_.tile.op;
    if (op == TileOp::Zero) return code_.zero(p_.dst.dtype);
    if (ir::group_of(op) == ir::ElementGroup::Choice)
      return code_.choose(ExprOp::Select, v[2], v[0], v[1]);
    if (!ir::computes(op)) return v[0];
    if (ir::has_operator(op)) return code_.binary(ir::operator_of(op), v[0], v[1]);
    if (ir::is_function(op)) return function(argument(v[0], v[1], v[2]));
    if (op == TileOp::Fma) return multiply_add(code_, v[0], v[1], v[2]);
    if (op == TileOp::Pow) return code_.call(ir::Intrinsic::Pow, {v[0], v[1]});
    if (op == TileOp::Clamp)
      return code_.binary(ExprOp::Min, code_.binary(ExprOp::Max, v[0], v[1]), v[2]);
    return of_number(v[0]);
  }
  ExprId of_number(ExprId x) {
    switch (call_.tile.op) {
      case TileOp::Relu:
        return code_.binary(ExprOp::Max, x, code_.zero(p_.type));
      case TileOp::Neg:
        return unary(ExprOp::Neg, x);
      case TileOp::LogicalNot:
        return unary(ExprOp::Not, x);
      case TileOp::BitwiseNot:
        return unary(ExprOp::BitNot, x);
      default:
        break;
    }
    const bool is_whole = !is_float(p_.type) && call_.tile.op != TileOp::Abs;
    return is_whole ? x : code_.call(*ir::callee_of(call_.tile.op), {x});
  }
  ExprId unary(ExprOp op, ExprId x) { return ir::unary(f_, op, {x}, call_.span).value(); }
  ExprId argument(ExprId x, ExprId scale, ExprId bias) {
    if (scale.valid() && bias.valid()) return multiply_add(code_, x, scale, bias);
    if (scale.valid()) return code_.binary(ExprOp::Mul, x, scale);
    return bias.valid() ? code_.binary(ExprOp::Add, x, bias) : x;
  }
  ExprId function(ExprId x) {
    if (const auto callee = ir::callee_of(call_.tile.op)) return code_.call(*callee, {x});
    if (call_.tile.op == TileOp::Reciprocal)
      return code_.binary(ExprOp::Div, code_.number(p_.type, 1), x);
    const ExprId minus = unary(ExprOp::Neg, x);  // silu
    const ExprId power = code_.call(ir::Intrinsic::Exp, {minus});
    const ExprId below = code_.binary(ExprOp::Add, code_.number(p_.type, 1), power);
    return code_.binary(ExprOp::Div, x, below);
  }

  const Plan& plan_;
  const ElementwiseProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::Function& f_;
  ir::BufferId dst_;
  std::vector<std::pair<ir::BufferId, ir::BufferId>> views_;
  std::vector<ir::BufferId> buffers_;  // by source, of those in registers
  std::vector<ExprId> scalars_;        // by source, of the others
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

// 32-bit registers that a thread's part of an operand takes.
std::int64_t registers_of(const ElementwiseProblem& p, const OperandPlaces& side,
                          std::size_t form) {
  std::vector<std::int64_t> slots;
  for (const StepBatch& batch : p.batches)
    for (const RegisterStep& step : batch.steps)
      slots.push_back(form == 0 ? step.to : step.from[form - 1]);
  return words_of(std::move(slots), side.bits);
}

PlanReport report(const Plan& plan, const Call& call) {
  const ElementwiseProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.elements;
  out.flops = p.elements;
  out.bytes = p.elements * p.dst.bits / 8;
  std::vector<std::int64_t> steps(as_index(call.unit_threads()));
  for (const StepBatch& batch : p.batches)
    for (std::size_t u = 0; u < steps.size(); ++u)
      if (batch.threads[u]) steps[u] += std::ssize(batch.steps);
  out.threads = std::ssize(steps) - std::ranges::count(steps, std::int64_t{0});
  out.rounds = *std::ranges::max_element(steps);
  const auto& params = ir::params_of(call.tile.op);
  out.operand_registers.emplace_back(params[0].name, registers_of(p, p.dst, 0));
  std::vector<ir::BufferId> counted{p.dst.buffer};
  for (const ElementwiseSource& source : p.sources) {
    if (!source.side) continue;
    const ir::BufferId buffer = source.side->buffer;
    if (std::ranges::find(counted, buffer) != counted.end()) continue;
    counted.push_back(buffer);
    out.operand_registers.emplace_back(params[source.argument].name,
                                       registers_of(p, *source.side, 1 + source.operand));
  }
  for (const auto& [name, count] : out.operand_registers) out.registers += count;
  const bool is_copied = out.rounds * out.threads > out.elements;
  out.summary = fmt::format("{} element{} per thread, in its registers", out.rounds,
                            out.rounds == 1 ? "" : "s");
  const auto is_loop = [](const std::optional<Forms>& forms) { return forms.has_value(); };
  if (out.rounds > 1 && std::ranges::none_of(plan.forms, is_loop))
    out.notes.emplace_back("the registers follow no formula and are written one by one");
  if (is_copied) out.notes.emplace_back("elements that several threads hold are computed by each");
  if (const std::string_view how = accuracy_of(call.tile.op);
      !how.empty() && p.type == num::DType::Float32)
    out.notes.emplace_back(how);
  const bool is_compared = ir::group_of(call.tile.op) == ir::ElementGroup::Comparison;
  if (p.type != p.dst.dtype && ir::computes(call.tile.op))
    out.notes.push_back(
        fmt::format("{} in {}", is_compared ? "compared" : "computed", num::name_of(p.type)));
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op, .name = "reg", .about = "each thread computes the elements of its registers"});
}

constexpr Variant kVariants[] = {
    row(TileOp::Fill),       row(TileOp::Zero),         row(TileOp::Memset),
    row(TileOp::Cast),       row(TileOp::Sqrt),         row(TileOp::Exp),
    row(TileOp::Exp2),       row(TileOp::Log2),         row(TileOp::Reciprocal),
    row(TileOp::Silu),       row(TileOp::Add),          row(TileOp::Sub),
    row(TileOp::Mul),        row(TileOp::Fdiv),         row(TileOp::Maximum),
    row(TileOp::Minimum),    row(TileOp::Fma),          row(TileOp::Select),
    row(TileOp::Log),        row(TileOp::Log1p),        row(TileOp::Expm1),
    row(TileOp::Rsqrt),      row(TileOp::Sin),          row(TileOp::Cos),
    row(TileOp::Tanh),       row(TileOp::Sigmoid),      row(TileOp::Erf),
    row(TileOp::Gelu),       row(TileOp::GeluTanh),     row(TileOp::Abs),
    row(TileOp::Neg),        row(TileOp::Relu),         row(TileOp::Floor),
    row(TileOp::Ceil),       row(TileOp::Round),        row(TileOp::Pow),
    row(TileOp::Clamp),      row(TileOp::Where),        row(TileOp::Equal),
    row(TileOp::NotEqual),   row(TileOp::Less),         row(TileOp::LessEqual),
    row(TileOp::Greater),    row(TileOp::GreaterEqual), row(TileOp::LogicalAnd),
    row(TileOp::LogicalOr),  row(TileOp::LogicalXor),   row(TileOp::LogicalNot),
    row(TileOp::BitwiseAnd), row(TileOp::BitwiseOr),    row(TileOp::BitwiseXor),
    row(TileOp::LeftShift),  row(TileOp::RightShift),   row(TileOp::BitwiseNot)};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::elementwise_reg
