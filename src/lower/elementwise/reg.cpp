// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives / reg: every thread computes the elements of its own registers, one after
// the other.
//
// Every element of the destination must have its sources in the same thread, in whatever registers;
// scalars are computed once, by each thread for itself. Registers that follow formulas become a
// loop, which is unrolled, since registers have no addresses; others are written one by one. Where
// two elements share a word and the target has the instruction, it takes both: `add.rn.f16x2`.
//
//     Tx.wg.cast(H[0:128, 0:64], R[0:128, 0:64])     R float32, H float16, a row in each thread
//
//     for i in T.unroll(32):
//         cvt.rn.f16x2.f32 H_words[i], R[i * 2 + 1], R[i * 2]
//
// Threads that share elements all compute them, which must not be with scalars that differ. Threads
// that hold nothing are left out.
#include <algorithm>

#include "lower/as_index.h"
#include "lower/elementwise/element_checks.h"
#include "lower/elementwise/element_value.h"
#include "lower/elementwise/packed.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_reg {
namespace {

using ir::ExprId;
using ir::TileOp;

/// The registers of a batch as formulas of the step: of dst, then of each source with a side.
using Forms = std::vector<layout::TileLayout>;

struct BatchPlan {
  bool is_packed = false;                        // two elements at a time: slots are words
  std::vector<std::vector<std::int64_t>> slots;  // by side, by step
  std::optional<Forms> forms;                    // nothing: one by one
};

struct Plan {
  ElementwiseProblem problem;
  std::optional<PackedOp> packed;
  std::vector<BatchPlan> batches = {};
};

// --- match ---------------------------------------------------------------------------------------

std::optional<Forms> forms_of(const std::vector<std::vector<std::int64_t>>& slots) {
  if (slots[0].size() < 2) return std::nullopt;
  Forms out;
  for (const std::vector<std::int64_t>& each : slots) {
    auto form = fit_table(each);
    if (!form) return std::nullopt;
    out.push_back(*std::move(form));
  }
  return out;
}

std::vector<const OperandPlaces*> sides_of(const ElementwiseProblem& p) {
  std::vector<const OperandPlaces*> out{&p.dst};
  for (const ElementwiseSource& source : p.sources)
    if (source.side) out.push_back(&*source.side);
  return out;
}

BatchPlan batch_plan(const Call& call, const Plan& plan, const StepBatch& batch) {
  const std::vector<const OperandPlaces*> sides = sides_of(plan.problem);
  BatchPlan out;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    out.slots.emplace_back();
    for (const RegisterStep& step : batch.steps)
      out.slots[s].push_back(s == 0 ? step.to : step.from[s - 1]);
  }
  out.is_packed = plan.packed.has_value();
  for (std::size_t s = 0; s < sides.size(); ++s)
    out.is_packed = out.is_packed && are_pairs(call, *sides[s], out.slots[s]);
  if (out.is_packed)
    for (std::vector<std::int64_t>& slots : out.slots) slots = words_of_pairs(slots);
  out.forms = forms_of(out.slots);
  return out;
}

Match<Plan> match(const Call& call) {
  Plan plan{.problem = WW_TRY(elementwise_problem(call)), .packed = {}};
  WW_TRY_VOID(check_elements(call, plan.problem.dst, plan.problem.sources));
  plan.packed = packed_op(call, plan.problem.type, plan.problem.dst.dtype, plan.problem.sources);
  for (const StepBatch& batch : plan.problem.batches)
    plan.batches.push_back(batch_plan(call, plan, batch));
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
    if (std::ranges::any_of(plan_.batches, &BatchPlan::is_packed)) prepare_words();
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

  // The same by words of two elements.
  void prepare_words() {
    const std::vector<const OperandPlaces*> sides = sides_of(p_);
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const auto word = plan_.packed->word_of(*sides[s], s == 0);
      words_.push_back(word ? words(*sides[s], *word) : ir::BufferId{});
    }
    if (plan_.packed->cast) return;
    const num::DType word = plan_.packed->word;
    for (std::size_t i = 0; i < p_.sources.size(); ++i)
      pairs_.push_back(scalars_[i].valid() ? both_halves(code_, word, scalars_[i]) : ExprId{});
    if (plan_.packed->has_zero) pairs_.push_back(both_halves(code_, word, code_.zero(p_.type)));
  }
  ir::BufferId words(const OperandPlaces& side, num::DType word) {
    const std::vector<const OperandPlaces*> sides = sides_of(p_);
    for (std::size_t s = 0; s < words_.size(); ++s)
      if (sides[s]->buffer == side.buffer && words_[s].valid()) return words_[s];
    return word_view(code_, side.buffer, word, view_elements(call_, side));
  }

  // --- steps ---

  void batch(std::size_t number) {
    const BatchPlan& batch = plan_.batches[number];
    const std::int64_t steps = std::ssize(batch.slots[0]);
    const auto step = [&](const auto& slot_of) { batch.is_packed ? two(slot_of) : one(slot_of); };
    if (!batch.forms) {
      for (std::int64_t k = 0; k < steps; ++k)
        step([&](std::size_t i) { return code_.n(batch.slots[i][as_index(k)]); });
      return;
    }
    code_.loop("i", steps, ir::LoopKind::Unroll, [&](ExprId k) {
      step([&](std::size_t i) { return digits_expr(code_, (*batch.forms)[i], k); });
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
    value_.store(dst_, to, values);
  }

  // `word_of` is the same for words.
  template <typename WordOf>
  void two(WordOf&& word_of) {
    if (plan_.packed->cast) return two_cast(word_of);
    const auto word = [&](std::size_t s) {
      return code_.load(words_[s], {code_.simplify(word_of(s))});
    };
    std::vector<ExprId> from;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const bool is_side = i < p_.sources.size() && p_.sources[i].side;
      from.push_back(is_side ? word(1 + p_.sources[i].operand) : pairs_[i]);
    }
    write_packed(code_, *plan_.packed, word(0), from);
  }
  template <typename WordOf>
  void two_cast(WordOf&& word_of) {
    const ExprId to = word_of(0), from = word_of(1);
    const auto word = [&](std::size_t s, ExprId at) {
      return words_[s].valid() ? code_.load(words_[s], {code_.simplify(at)}) : ExprId{};
    };
    const ExprId from_word = word(1, from), to_word = word(0, to);
    CastPair pair{.from_word = from_word, .to_word = to_word, .to = dst_};
    for (const std::size_t h : {0U, 1U}) {
      const auto element = [&](ExprId at) {
        return code_.simplify(code_.add(code_.mul(at, 2), static_cast<std::int64_t>(h)));
      };
      pair.from[h] = code_.load(buffers_[0], {element(from)});
      pair.to_index[h] = element(to);
    }
    write_packed_cast(code_, *plan_.packed->cast, pair);
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
  std::vector<ir::BufferId> words_;    // by side
  std::vector<ExprId> pairs_;          // scalars in both halves of a word
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
  std::int64_t packed = 0;
  for (const BatchPlan& batch : plan.batches)
    if (batch.is_packed) packed += std::ssize(batch.slots[0]);
  out.summary = fmt::format("{} element{} per thread, in its registers{}", out.rounds,
                            out.rounds == 1 ? "" : "s", packed > 0 ? ", two at a time" : "");
  if (packed > 0)
    for (const std::string& opcode : plan.packed->opcodes()) out.add_instruction(opcode, packed, 0);
  const auto is_loop = [](const BatchPlan& batch) { return batch.forms.has_value(); };
  const bool is_single = out.rounds > 1 && (packed == 0 || packed > 1);
  if (is_single && std::ranges::none_of(plan.batches, is_loop))
    out.notes.emplace_back("the registers follow no formula and are written one by one");
  if (is_copied) out.notes.emplace_back("elements that several threads hold are computed by each");
  add_value_notes(out, call, p.type, packed > 0 ? 0 : out.rounds);
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op, .name = "reg", .about = "each thread computes the elements of its registers"});
}

constexpr Variant kVariants[] = {
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) row(TileOp::id),
#include "ir/tile_ops.def"
};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::elementwise_reg
