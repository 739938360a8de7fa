// SPDX-License-Identifier: Apache-2.0
// gemm / mma: D = alpha·A·B + beta·C in registers, as an unrolled nest of mma.sync.
//
// The operands are looked at register by register of a warp (lower/gemm/problem.h); any layouts
// that put matching rows, columns and values of k into the lanes of one instruction will do,
// however they are written or permuted. Two octets of rows, two quads of columns and one or more
// groups of k make an instruction; K that does not divide takes deep instructions first, then
// shallower ones.
//
// With one step in k, or one tile of D, the nest is m, n, k. With more of both, k is outermost:
// instructions that follow each other then add to different registers and need not wait. Every
// other row of tiles is gone through backwards.
//
//     Tx.warp.gemm(D, A, B, D, beta=1.0)       D 32x16 float32, A 32x16 and B 16x16 float16
//
//     for m in T.unroll(2):
//         for n in T.unroll(2):
//             n_turned = n + m % 2 * (1 - n * 2)
//             T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", …,
//                       T.address_of(D[m * 8 + n_turned * 4]), …, T.address_of(A[m * 8]), …)
//
// alpha other than 1 and beta other than 0 and 1 are element-wise work before or after the nest.
#include <algorithm>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/gemm/problem.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::gemm_mma {
namespace {

using ir::ExprId;
using ir::ExprOp;

// --- plan ----------------------------------------------------------------------------------------

/// First elements of one register of an instruction in all its tiles: value(i, j) = first + one
/// formula of i + one of j.
struct RegisterTable {
  std::size_t rows = 1, cols = 1;
  std::vector<std::int64_t> values = {};  // row by row
  layout::TileLayout by_row = {}, by_col = {};

  [[nodiscard]] std::int64_t at(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

/// Instructions of one shape, over steps of k.
struct Run {
  MmaAtom atom;
  std::size_t steps = 0;
  std::vector<RegisterTable> a = {};  // by m and step
  std::vector<RegisterTable> b = {};  // by n and step
};

struct Plan {
  GemmCall call;
  std::vector<bool> used;  // threads of the unit
  std::size_t tiles_m = 0, tiles_n = 0;
  std::vector<RegisterTable> d;  // by m and n: elements of a tile, octet by octet
  std::vector<RegisterTable> c;  // the same
  std::vector<Run> runs;
  bool is_regular = true;  // all tables have formulas

  [[nodiscard]] std::size_t steps() const {
    std::size_t sum = 0;
    for (const Run& run : runs) sum += run.steps;
    return sum;
  }
  [[nodiscard]] bool is_scaled() const { return !call.alpha.is(1); }
};

// --- match ---------------------------------------------------------------------------------------

// Registers are words of 32 bits; several elements share one where they are smaller.
Match<void> check_word_starts(const OperandPlaces& side, std::string_view role) {
  if (side.bits >= 32 || side.base_is_aligned(4)) return {};
  return decline("registers", "the first register of {} is not known to begin a 32-bit word", role);
}

/// The instructions over all groups of k, deep ones first; empty when they do not add up.
std::vector<Run> runs_of(const std::vector<MmaAtom>& atoms, int octets, std::size_t groups) {
  std::vector<Run> out;
  for (const MmaAtom& atom : atoms) {
    const auto each = as_index(atom.groups);
    if (atom.octets != octets || groups < each) continue;
    out.push_back({.atom = atom, .steps = groups / each});
    groups %= each;
  }
  return groups == 0 ? out : std::vector<Run>{};
}

Match<std::vector<Run>> choose_runs(const GemmProblem& p, const std::vector<MmaAtom>& atoms,
                                    const WarpTiles& tiles) {
  for (const int octets : {2, 1}) {
    if (tiles.octets % as_index(octets) != 0) continue;
    std::vector<Run> runs = runs_of(atoms, octets, tiles.groups);
    if (!runs.empty()) return runs;
  }
  return decline("shape", "a warp holds {} rows of D and {} of k, and the target has {} at least",
                 8 * tiles.octets, 4 * as_index(p.types.per_word()) * tiles.groups,
                 atoms.back().shape);
}

/// Fits the formulas; false when there are none.
bool fit(RegisterTable& table) {
  std::vector<std::int64_t> by_row, by_col;
  for (std::size_t i = 0; i < table.rows; ++i) by_row.push_back(table.at(i, 0) - table.at(0, 0));
  for (std::size_t j = 0; j < table.cols; ++j) by_col.push_back(table.at(0, j) - table.at(0, 0));
  for (std::size_t i = 0; i < table.rows; ++i)
    for (std::size_t j = 0; j < table.cols; ++j)
      if (table.at(i, j) != table.at(0, 0) + by_row[i] + by_col[j]) return false;
  const auto row_form = fit_table(by_row);
  const auto col_form = fit_table(by_col);
  if (!row_form || !col_form) return false;
  table.by_row = *row_form;
  table.by_col = *col_form;
  return true;
}

template <typename Value>
RegisterTable table_of(std::size_t rows, std::size_t cols, bool& is_regular, Value&& value) {
  RegisterTable out{.rows = rows, .cols = cols};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) out.values.push_back(value(i, j));
  is_regular = fit(out) && is_regular;
  return out;
}

void fill_tables(const WarpTiles& tiles, Plan& plan) {
  const auto octets = as_index(plan.runs[0].atom.octets);
  plan.tiles_m = tiles.octets / octets;
  plan.tiles_n = tiles.pairs;
  for (std::size_t o = 0; o < octets; ++o)
    for (const std::size_t quad : {0U, 1U}) {
      plan.d.push_back(table_of(plan.tiles_m, plan.tiles_n, plan.is_regular, [&](auto m, auto n) {
        return tiles.d_at(m * octets + o, n, quad);
      }));
      if (tiles.c.empty()) continue;
      plan.c.push_back(table_of(plan.tiles_m, plan.tiles_n, plan.is_regular, [&](auto m, auto n) {
        return tiles.c_at(m * octets + o, n, quad);
      }));
    }
  std::size_t first = 0;
  for (Run& run : plan.runs) {
    const auto groups = as_index(run.atom.groups);
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t o = 0; o < octets; ++o)
        run.a.push_back(table_of(plan.tiles_m, run.steps, plan.is_regular, [&](auto m, auto k) {
          return tiles.a_at(m * octets + o, first + k * groups + g);
        }));
      run.b.push_back(table_of(plan.tiles_n, run.steps, plan.is_regular, [&](auto n, auto k) {
        return tiles.b_at(n, first + k * groups + g);
      }));
    }
    first += run.steps * groups;
  }
}

// Where D is of 16 bits, a register holds two neighbouring columns.
Match<void> check_out_words(const GemmProblem& p, const WarpTiles& tiles) {
  const int parts = p.types.per_out_word();
  for (std::size_t i = 0; parts > 1 && i + 1 < tiles.d.size(); i += 2)
    if (tiles.d[i] % parts != 0 || tiles.d[i + 1] != tiles.d[i] + 1)
      return decline("fragment",
                     "elements {} and {} of the registers of D would have to share a 32-bit "
                     "register, in this order",
                     tiles.d[i], tiles.d[i + 1]);
  return {};
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_warps(call, kFullLanes, kFullLanes));
  Plan plan;
  plan.call = WW_TRY(gemm_call(call));
  const GemmProblem& p = plan.call.problem;
  const bool may_cut = WW_TRY(flag_of(call, "allow_tf32"));
  const std::vector<MmaAtom> atoms = WW_TRY(atoms_of(p.types, may_cut, call.context.target));
  WW_TRY_VOID(check_sizes(p, atoms));
  WW_TRY_VOID(check_word_starts(p.a, "A"));
  WW_TRY_VOID(check_word_starts(p.b, "B"));
  WW_TRY_VOID(check_word_starts(p.d, "D"));
  const UnitTiles unit = WW_TRY(tiles_of(call, p));
  WW_TRY_VOID(check_out_words(p, unit.tiles));
  plan.runs = WW_TRY(choose_runs(p, atoms, unit.tiles));
  for (const bool takes_part : unit.warps) plan.used.insert(plan.used.end(), 32, takes_part);
  fill_tables(unit.tiles, plan);
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

/// A loop variable, or one of its values.
struct Index {
  ExprId var = {};
  std::size_t fixed = 0;
};

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), p_(plan.call.problem), call_(call), code_(code), f_(code.f()) {}

  void write() {
    d_ = flat_view(call_, code_, p_.d);
    a_ = flat_view(call_, code_, p_.a);
    b_ = flat_view(call_, code_, p_.b);
    if (p_.c && !plan_.call.is_in_place) c_ = flat_view(call_, code_, *p_.c);
    if (p_.c && plan_.call.is_in_place) c_ = d_;
    sums_ = d_;
    // Sums of one tile, apart from D, whose old values are needed at the end.
    if (plan_.is_scaled() && p_.c && plan_.call.is_in_place)
      sums_ = code_.registers("sums", p_.types.out, std::ssize(plan_.d));
    code_.guarded(member_expr(code_, call_.unit_thread(code_), plan_.used), [&] {
      alpha_ = factor("alpha", plan_.call.alpha);
      beta_ = factor("beta", plan_.call.beta);
      nest();
    });
  }

 private:
  // --- registers ---

  [[nodiscard]] bool has_own_sums() const { return sums_ != d_; }

  ExprId part(const layout::TileLayout& form, const std::vector<std::int64_t>& values,
              std::size_t step, Index i) {
    if (!i.var.valid()) return code_.n(values[i.fixed * step] - values[0]);
    return digits_expr(code_, form, i.var);
  }
  // The element at which a register begins.
  ExprId slot(const RegisterTable& table, Index i, Index j, const OperandPlaces& side) {
    const ExprId base = side.base_expr(code_);
    ExprId at;
    if (!i.var.valid() && !j.var.valid()) {
      at = code_.n(table.at(i.fixed, j.fixed));
    } else {
      const ExprId row = part(table.by_row, table.values, table.cols, i);
      const ExprId col = part(table.by_col, table.values, 1, j);
      at = code_.add(code_.add(row, col), table.at(0, 0));
    }
    return code_.simplify(code_.add(base, at));
  }
  ExprId sum_slot(std::size_t r, Index m, Index n) {
    return has_own_sums() ? code_.n(static_cast<std::int64_t>(r)) : slot(plan_.d[r], m, n, p_.d);
  }

  ir::PtxOperand operand(ir::BufferId flat, ExprId at) {
    if (num::bits_of(f_[flat].dtype) == 64) return {.expr = code_.load(flat, {at})};
    return register_operand(code_, flat, at);
  }

  // --- the nest ---

  // A loop where the registers follow formulas, otherwise the rounds one by one.
  template <typename Body>
  void each(std::string_view name, std::size_t rounds, Body&& body) {
    if (rounds > 1 && plan_.is_regular) {
      code_.loop(name, static_cast<std::int64_t>(rounds), ir::LoopKind::Unroll,
                 [&](ExprId var) { body(Index{.var = var}); });
      return;
    }
    for (std::size_t i = 0; i < rounds; ++i) body(Index{.fixed = i});
  }
  template <typename Body>
  void each_tile(Body&& body) {
    each("m", plan_.tiles_m,
         [&](Index m) { each("n", plan_.tiles_n, [&](Index n) { body(m, n); }); });
  }
  // Every other row of tiles is gone through backwards, so that its first instruction finds the B
  // of the one before in the operand cache; on an H200 that is worth 1 to 2 %.
  Index turned(Index m, Index n) {
    const auto last = static_cast<std::int64_t>(plan_.tiles_n) - 1;
    if (plan_.tiles_m == 1 || last == 0) return n;
    if (!n.var.valid()) return m.fixed % 2 == 0 ? n : Index{.fixed = plan_.tiles_n - 1 - n.fixed};
    const ExprId back = code_.index(ExprOp::Sub, code_.n(last), code_.mul(n.var, 2));
    const ExprId there = code_.index(ExprOp::Mul, code_.mod(m.var, 2), back);
    return {.var = code_.let("n_turned", code_.add(n.var, there))};
  }

  void nest() {
    const bool is_k_outermost =
        !plan_.is_scaled() && plan_.steps() > 1 && plan_.tiles_m * plan_.tiles_n > 1;
    if (!is_k_outermost) return each_tile([&](Index m, Index n) { tile(m, turned(m, n)); });
    if (needs_start()) each_tile([&](Index m, Index n) { start(m, n); });
    for (const Run& run : plan_.runs)
      each("k", run.steps, [&](Index k) {
        each_tile([&](Index m, Index n) { multiply(run, m, turned(m, n), k); });
      });
  }

  void tile(Index m, Index n) {
    if (needs_start()) start(m, n);
    for (const Run& run : plan_.runs)
      each("k", run.steps, [&](Index k) { multiply(run, m, n, k); });
    if (plan_.is_scaled()) finish(m, n);
  }

  void multiply(const Run& run, Index m, Index n, Index k) {
    std::vector<ir::PtxOperand> sums, all;
    const auto parts = as_index(p_.types.per_out_word());
    for (std::size_t r = 0; r < plan_.d.size(); r += parts)
      sums.push_back(operand(sums_, sum_slot(r, m, n)));
    all = sums;
    for (const RegisterTable& a : run.a) all.push_back(operand(a_, slot(a, m, k, p_.a)));
    for (const RegisterTable& b : run.b) all.push_back(operand(b_, slot(b, n, k, p_.b)));
    all.insert(all.end(), sums.begin(), sums.end());
    code_.ptx(run.atom.opcode, std::move(all));
  }

  // --- before and after ---

  // Sums begin as what they are when C is D and nothing is scaled.
  [[nodiscard]] bool needs_start() const {
    return plan_.is_scaled() || !plan_.call.beta.is(1) || !plan_.call.is_in_place;
  }
  void start(Index m, Index n) {
    for (std::size_t r = 0; r < plan_.d.size(); ++r) {
      const ExprId at = sum_slot(r, m, n);
      const bool is_zero = plan_.is_scaled() || !p_.c;
      const ExprId value = is_zero                 ? code_.number(p_.types.out, 0)
                           : plan_.call.beta.is(1) ? old(r, m, n)
                                                   : code_.as(p_.types.out, scaled_old(r, m, n));
      code_.store(sums_, at, value);
    }
  }
  void finish(Index m, Index n) {
    for (std::size_t r = 0; r < plan_.d.size(); ++r) {
      const ExprId sum = code_.as(working_type(), code_.load(sums_, {sum_slot(r, m, n)}));
      // Without C a zero is added, which costs nothing: a product of zero has no sign then.
      const ExprId more = p_.c ? scaled_old(r, m, n) : code_.number(working_type(), 0);
      const ExprId value = multiply_add(code_, alpha_, sum, more);
      const ExprId at = slot(plan_.d[r], m, n, p_.d);
      code_.store(d_, at, code_.as(p_.types.out, value));
    }
  }

  ExprId old(std::size_t r, Index m, Index n) {
    return code_.load(c_, {slot(plan_.c[r], m, n, *p_.c)});
  }
  // beta·C. Where beta is 0 at run time, C does not count and is not read: it need not be defined.
  ExprId scaled_old(std::size_t r, Index m, Index n) {
    const ExprId value = old(r, m, n);
    if (plan_.call.beta.is(1)) return code_.as(working_type(), value);
    if (plan_.call.beta.constant)
      return code_.binary(ExprOp::Mul, beta_, code_.as(working_type(), value));
    const ExprId counts = code_.binary(ExprOp::Ne, beta_, code_.number(working_type(), 0));
    // Otherwise beta itself, because 0 times 0 is 0, and so is -0 times -0.
    const ExprId zero = code_.as(code_.f()[value].type.dtype, beta_);
    const ExprId read = code_.choose(ExprOp::IfThenElse, counts, value, zero);
    return code_.binary(ExprOp::Mul, beta_, code_.as(working_type(), read));
  }

  // --- numbers ---

  // Halves are scaled in single precision and rounded once.
  [[nodiscard]] num::DType working_type() const {
    return p_.types.out == num::DType::Float16 ? num::DType::Float32 : p_.types.out;
  }
  ExprId factor(std::string_view name, const ir::GemmFactor& factor) {
    if (factor.constant) return code_.number(working_type(), *factor.constant);
    return code_.let(name, code_.as(working_type(), factor.expr));
  }

  const Plan& plan_;
  const GemmProblem& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::Function& f_;
  ir::BufferId d_, a_, b_, c_;
  ExprId alpha_, beta_;
  ir::BufferId sums_;  // where instructions add up: D, or registers of one tile
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

std::int64_t register_count(std::size_t registers, int bits) {
  return static_cast<std::int64_t>(registers) * std::max(1, bits / 32);
}

PlanReport report(const Plan& plan, const Call&) {
  const GemmProblem& p = plan.call.problem;
  const std::size_t tiles = plan.tiles_m * plan.tiles_n;
  PlanReport out;
  std::size_t a = 0, b = 0;
  for (const Run& run : plan.runs) {
    out.add_instruction(run.atom.opcode, static_cast<std::int64_t>(tiles * run.steps), 0);
    out.tiling += fmt::format("{}{} x {} x {} tiles of {}", out.tiling.empty() ? "" : " and ",
                              plan.tiles_m, plan.tiles_n, run.steps, run.atom.shape);
    a += plan.tiles_m * run.steps * run.a.size();
    b += plan.tiles_n * run.steps * run.b.size();
  }
  const std::size_t d = tiles * plan.d.size() / as_index(p.types.per_out_word());
  out.operand_registers = {{"A", register_count(a, p.a.bits)},
                           {"B", register_count(b, p.b.bits)},
                           {"D", register_count(d, p.d.bits)}};
  for (const auto& [role, count] : out.operand_registers) out.registers += count;
  out.threads = std::ranges::count(plan.used, true);
  out.flops = 2 * p.m * p.n * p.k;
  out.summary = fmt::format("{}, {} per warp", plan.runs[0].atom.shape, tiles * plan.steps());
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Gemm,
     .name = "mma",
     .aliases = "mma.m16n8k*",
     .about = "mma.sync on fragments in registers, unrolled over M, N and K"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::gemm_mma
