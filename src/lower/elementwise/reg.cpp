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

#include "lower/as_index.h"
#include "lower/elementwise/element_checks.h"
#include "lower/elementwise/element_value.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_reg {
namespace {

using ir::ExprId;
using ir::TileOp;

/// The registers of a batch as formulas of the step: of dst, then of each source with a side.
using Forms = std::vector<layout::TileLayout>;

struct Plan {
  ElementwiseProblem problem;
  std::vector<std::optional<Forms>> forms;  // by batch; nothing: one by one
};

// --- match ---------------------------------------------------------------------------------------

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
  WW_TRY_VOID(check_elements(call, plan.problem.dst, plan.problem.sources));
  for (const StepBatch& batch : plan.problem.batches) plan.forms.push_back(forms_of(batch));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        p_(plan.problem),
        call_(call),
        code_(code),
        value_(call, code, p_.type, p_.dst.dtype) {}

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

  // Views of registers, and scalars, which are computed once.
  void prepare(std::size_t i) {
    const ElementwiseSource& source = p_.sources[i];
    buffers_.push_back(source.side ? view(*source.side) : ir::BufferId{});
    scalars_.push_back(value_.scalar(i, source.scalar));
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
          source.side
              ? value_.converted(
                    i, code_.load(buffers_[i], {index(*source.side, slot_of(1 + source.operand))}))
              : scalars_[i]);
    }
    const ExprId to = index(p_.dst, slot_of(0));
    code_.store(dst_, to, value_.of(values));
  }

  const Plan& plan_;
  const ElementwiseProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ElementValue value_;
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
  add_value_notes(out, call, p.type);
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
