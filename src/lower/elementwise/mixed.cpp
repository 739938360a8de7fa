// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives / mixed: operands in shared memory, global memory and registers in any
// mix, the destination among them.
//
// Where an operand is in registers, the threads that hold an element compute it (into memory, the
// first of them). Otherwise the threads of the unit share the tile, neighbours taking neighbours.
// An access to memory has as many elements as all operands allow, 16 bytes at most; an operand that
// is stretched along them is read once for all. What a thread needs in all rounds is read before them.
//
//     Tx.cta.add(X[0:64, 0:64], X[0:64, 0:64], bias[0:64])     float32, X shared, bias global
//
//     T.cuda.copy_bytes(&b[0], &bias[threadIdx_x % 16 * 4], 16)
//     for f in T.unroll(8):                                    128 threads
//         T.cuda.copy_bytes(&a[0], &X[f * 512 + threadIdx_x * 4], 16)
//         for i in T.unroll(4):
//             dst[i] = a[i] + b[i]
//         T.cuda.copy_bytes(&X[f * 512 + threadIdx_x * 4], &dst[0], 16)
//     T.cuda.cta_sync()
//
// What is in shared memory is there for the whole unit afterwards: a barrier of the unit ends it.
#include <algorithm>

#include "ir/elementwise.h"
#include "lower/as_index.h"
#include "lower/copy/phase_writer.h"
#include "lower/cost.h"
#include "lower/elementwise/element_checks.h"
#include "lower/elementwise/element_value.h"
#include "lower/elementwise/packed.h"
#include "lower/elementwise/work_exprs.h"
#include "lower/index_formula.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::elementwise_mixed {
namespace {

using ir::ExprId;
using ir::TileOp;
using Access = WorkSide::Access;

struct Plan {
  MixedProblem problem;
  std::vector<Work> works;
  std::optional<PackedOp> packed = {};  // for the works whose elements are pairs
  std::vector<bool> is_packed = {};     // by work
};

// --- match ---------------------------------------------------------------------------------------

// Vectors are loaded into registers of their own, which pair up.
bool has_pairs(const Call& call, const MixedProblem& p, const Work& work, const PackedOp& op) {
  const auto sides = p.sides();
  if (op.cast && work.sides[1].access == Access::Single) return false;
  for (std::size_t s = 0; s < sides.size(); ++s)
    if (work.sides[s].access == Access::Register &&
        !are_pairs(call, *sides[s], work.sides[s].slots))
      return false;
  return work.vec % 2 == 0;
}

Match<Plan> match(const Call& call) {
  Plan plan{.problem = WW_TRY(mixed_problem(call)), .works = {}};
  WW_TRY_VOID(check_elements(call, plan.problem.dst, plan.problem.sources));
  plan.works = WW_TRY(mixed_work(call, plan.problem));
  plan.packed = packed_op(call, plan.problem.type, plan.problem.dst.dtype, plan.problem.sources);
  for (const Work& work : plan.works)
    plan.is_packed.push_back(plan.packed && has_pairs(call, plan.problem, work, *plan.packed));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

std::string_view name_of_side(const Call& call, const MixedProblem& p, std::size_t side) {
  const auto& params = ir::params_of(call.tile.op);
  for (const ElementwiseSource& source : p.sources)
    if (source.side && source.operand + 1 == side) return params[source.argument].name;
  return params[0].name;
}

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        p_(plan.problem),
        sides_(plan.problem.sides()),
        call_(call),
        code_(code),
        value_(call, code, p_.type, p_.dst.dtype),
        u_(p_.has_registers() ? call.unit_thread(code) : call.worker(code)) {}

  void write() {
    for (const OperandPlaces* side : sides_) views_.push_back(view(*side));
    for (std::size_t i = 0; i < p_.sources.size(); ++i)
      scalars_.push_back(value_.scalar(i, p_.sources[i].scalar));
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
      parts_[s] = side_parts(code_, form, u_, sides_[s]->base_expr(code_));
      if (form.form.kind != AddressForm::Kind::Joint)
        parts_[s][0].fixed = code_.let(name(s) + "_base", parts_[s][0].fixed);
    }
  }
  ExprId place(const Work& work, std::size_t s, ExprId k) {
    return code_.simplify(side_place(code_, work.sides[s].form, parts_[s], u_, k, work.threads));
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
    has_formulas_ = has_formulas(work);
    loaded_.assign(sides_.size(), {});
    if (is_packed_) find_words(work);
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
        copy(code_.pointer(values_[s], code_.n(0)), code_.pointer(views_[s], from), side.bytes);
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
    if (has_formulas_ && work.vec > 1)
      code_.loop("i", steps, ir::LoopKind::Unroll, step);
    else
      for (std::int64_t i = 0; i < steps; ++i) step(code_.n(i));
    if (values_[0].valid())
      copy(code_.pointer(views_[0], place(work, 0, k)), code_.pointer(values_[0], code_.n(0)),
           work.sides[0].bytes);
  }
  void copy(ExprId to, ExprId from, std::int64_t bytes) {
    const ExprId dst = code_.let("dst_ptr", to), src = code_.let("src_ptr", from);
    code_.evaluate(ir::Intrinsic::CopyBytes, {dst, src, code_.n(bytes)});
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

  void find_words(const Work& work) {
    words_.clear();
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const auto word = plan_.packed->word_of(*sides_[s], s == 0);
      const bool is_register = work.sides[s].access == Access::Register;
      words_.push_back(!word                ? ir::BufferId{}
                       : values_[s].valid() ? word_view(code_, values_[s], *word, work.vec)
                       : is_register        ? word_view(code_, sides_[s]->buffer, *word,
                                                        view_elements(call_, *sides_[s]))
                                            : ir::BufferId{});
    }
    pairs_.clear();
    if (plan_.packed->cast) return;
    for (const ExprId scalar : scalars_)
      pairs_.push_back(scalar.valid() ? both_halves(code_, plan_.packed->word, scalar) : ExprId{});
    if (plan_.packed->has_zero)
      pairs_.push_back(both_halves(code_, plan_.packed->word, code_.zero(p_.type)));
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

  const Plan& plan_;
  const MixedProblem& p_;
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
  bool has_formulas_ = true;
  bool is_packed_ = false;  // the work being written
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

void log_work(AccessLog& log, const Work& work, const WorkSide& side) {
  for (std::int64_t k = 0; k < (side.is_fixed ? 1 : work.rounds); ++k)
    for (std::int64_t first = 0; first < work.threads; first += 32) {
      WarpAccess access{.bytes = side.bytes};
      for (std::int64_t u = first; u < std::min(first + 32, work.threads); ++u) {
        const auto q = as_index(k * work.threads + u);
        const bool takes_part = work.used[as_index(u)] && work.first[q] >= 0;
        access.linear.push_back(takes_part ? side.places[q] : WarpAccess::kNoAddress);
      }
      log.add(std::move(access));
    }
}

void add_memory(PlanReport& out, const Plan& plan, const Call& call) {
  const auto sides = plan.problem.sides();
  for (std::size_t n = 1; n <= sides.size(); ++n) {
    const std::size_t s = n % sides.size();  // sources first
    const OperandPlaces& side = *sides[s];
    if (side.is_register()) continue;
    AccessLog log(side);
    for (const Work& work : plan.works) {
      const WorkSide& reached = work.sides[s];
      const std::int64_t bytes = reached.bytes;
      const std::string_view space = ir::is_shared(side.scope) ? "shared" : "global";
      out.add_instruction(fmt::format("{}.{}{}", s == 0 ? "st" : "ld", space, access_type(bytes)),
                          reached.is_fixed ? 1 : work.rounds, bytes);
      out.vector_bits = std::max(out.vector_bits, static_cast<int>(bytes * 8));
      log_work(log, work, reached);
    }
    if (ir::is_shared(side.scope)) add_costs(out, call, log);
  }
}

void add_registers(PlanReport& out, const Plan& plan, const Call& call) {
  const auto sides = plan.problem.sides();
  for (std::size_t s = 0; s < sides.size(); ++s) {
    if (!sides[s]->is_register()) continue;
    std::vector<std::int64_t> slots;
    for (const Work& work : plan.works)
      slots.insert(slots.end(), work.sides[s].slots.begin(), work.sides[s].slots.end());
    const std::int64_t words = words_of(std::move(slots), sides[s]->bits);
    out.operand_registers.emplace_back(name_of_side(call, plan.problem, s), words);
    out.registers += words;
  }
}

PlanReport report(const Plan& plan, const Call& call) {
  const MixedProblem& p = plan.problem;
  PlanReport out;
  out.elements = p.elements;
  out.flops = p.elements;
  out.bytes = p.elements * p.dst.bits / 8;
  std::int64_t vec = 1;
  for (const Work& work : plan.works) {
    out.threads += std::ranges::count(work.used, true);
    out.rounds = std::max(out.rounds, work.rounds);
    vec = std::max(vec, work.vec);
  }
  add_memory(out, plan, call);
  add_registers(out, plan, call);
  for (std::size_t w = 0; w < plan.works.size(); ++w)
    if (plan.is_packed[w])
      for (const std::string& opcode : plan.packed->opcodes())
        out.add_instruction(opcode, plan.works[w].rounds * plan.works[w].vec / 2, 0);
  out.summary =
      fmt::format("{} element{} at a time, {} round{} of {} thread{}", vec, vec == 1 ? "" : "s",
                  out.rounds, out.rounds == 1 ? "" : "s", out.threads, out.threads == 1 ? "" : "s");
  const Work& work = plan.works[0];
  if (work.count != 0)
    out.notes.push_back(fmt::format("the last round is done by {} of {} threads",
                                    work.count % work.threads, work.threads));
  if (ir::is_shared(p.dst.scope) && call.tile.scope == ir::Unit::Warpgroup)
    out.notes.emplace_back("ends with the named barrier 8 + the number of the warpgroup");
  const bool is_packed = std::ranges::find(plan.is_packed, true) != plan.is_packed.end();
  add_value_notes(out, call, p.type, is_packed ? 0 : out.rounds * vec);
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op,
       .name = "mixed",
       .priority = 5,
       .aliases = "smem",
       .about = "threads compute from and into memory in vectors"});
}

constexpr Variant kVariants[] = {
#define WW_FILL(id, name, parameters, group, computed_by)
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) row(TileOp::id),
#include "ir/tile_ops.def"
};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::elementwise_mixed
