// SPDX-License-Identifier: Apache-2.0
// copy / ldstmatrix: between registers and shared memory with ldmatrix and stmatrix, which move
// rows of 16 bytes and shuffle them over the lanes of a warp as matrix instructions want them.
//
// The registers of a warp are taken word by word (32 bits). A word fits a form of the instruction
// when what all 32 lanes hold there is what the form would put there, for some eight rows of shared
// memory:
//
//     plain    lanes 4i … 4i+3 hold the four words of row i            any element of 4 to 32 bits
//     .trans   half h of lane l is element l/4 of row 2(l%4)+h         16-bit elements
//     b8       bytes transposed: m16n16 loads (two words), m16n8 stores   8-bit elements, sm_100a …
//
// Rows are 16-byte aligned and otherwise anywhere: padded, swizzled, at runtime offsets. Words that
// fit are moved four, two or one at a time, in ascending order; words that do not are moved by
// vectors. A copy of which no word fits is left to `reg`. See ldmatrix and stmatrix in the PTX
// manual.
//
//     Tx.warp.copy(R[0:8, 0:4, 0:2, 0:2], A[0:8, 0:4, 0:2, 0:2])
//         R = S[(8,4,2,2):(4@laneid,1@laneid,2,1)], A = S[(8,4,2,2):(16,2,8,1)], float16
//
//     for mm in T.unroll(1):
//         T.ptx.ldmatrix(False, 2, ".b16", smem_ptr, T.address_of(R[0]), T.address_of(R[2]))
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "isa/matrix_copy.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy/problem.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::copy_ldstmatrix {
namespace {

// --- forms ---------------------------------------------------------------------------------------

// The forms of ldmatrix and stmatrix: which registers of which lanes go with which rows.

/// A form: which element of which row register `reg` of a lane has as its part `part`.
struct MatrixForm {
  enum class Kind : std::uint8_t { Plain, Trans, Bytes };
  Kind kind;
  int rows;  // per matrix
  int regs;  // per matrix
  int most;  // matrices per instruction
};

struct MatrixCell {
  int row, col;
};

MatrixCell cell_of(const MatrixForm& form, bool is_load, int lane, int reg, int part,
                   int per_word) {
  switch (form.kind) {
    case MatrixForm::Kind::Plain:
      return {lane / 4, lane % 4 * per_word + part};
    case MatrixForm::Kind::Trans:
      return {lane % 4 * 2 + part, lane / 4};
    case MatrixForm::Kind::Bytes:
      break;
  }
  if (is_load) return {lane % 4 * 4 + part, lane / 4 + 8 * reg};
  return {lane % 4 * 2 + part % 2, lane / 4 + 8 * (part / 2)};
}

// For so many matrices in shared memory.
std::string opcode_of(const MatrixForm& form, bool is_load, int num) {
  const bool is_bytes = form.kind == MatrixForm::Kind::Bytes;
  isa::MatrixCopyProps props;
  props.family = is_load ? "ldmatrix" : "stmatrix";
  props.num = num * form.regs;
  props.shape = !is_bytes ? 0 : is_load ? 3 : 2;
  props.trans = form.kind == MatrixForm::Kind::Trans || (is_bytes && !is_load) ? 1 : 0;
  props.layout = is_bytes && is_load ? 1 : 0;
  const auto copy = isa::select_matrix_copy(props);
  WW_CHECK(copy.has_value(), "no matrix copy: {}", copy.error().text);
  return isa::with_space(copy->ptx, isa::Space::Shared);
}

// --- plan ----------------------------------------------------------------------------------------

/// Rounds of one instruction, each over `num` matrices.
struct Issue {
  int num = 1;    // matrices per instruction
  int words = 1;  // registers per instruction
  std::string opcode;
  std::int64_t rounds = 0;
  std::vector<bool> used;               // threads of the unit: whole warps
  std::vector<std::int64_t> row_start;  // by round·threads + u: the row that thread u points to
  std::vector<std::int64_t> slots;      // by round·words + i: first element of word i
  AddressForm form;
};

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  bool is_load = true;
  std::vector<Issue> issues;
  std::vector<CopyPhase> rest;  // words that fit no form
  std::int64_t fitting = 0, others = 0;
};

// --- match ---------------------------------------------------------------------------------------

/// Where one word of a warp's registers fits: the rows, by thread of the unit and row of the
/// matrix.
struct Fit {
  bool fits = false;
  std::vector<bool> warps;                      // of the unit, that hold the word
  std::vector<std::vector<std::int64_t>> rows;  // by warp: linear address of each row
  std::string reason;                           // when it does not fit
};

class Matcher {
 public:
  Matcher(const Call& call, Plan& plan)
      : call_(call),
        plan_(plan),
        p_(*plan.problem),
        own_(plan.is_load ? p_.dst : p_.src),
        other_(plan.is_load ? p_.src : p_.dst),
        map_(register_map(call, own_, plan.is_load)),
        per_word_(32 / own_.bits),
        threads_(call.unit_threads()) {}

  Match<void> run() {
    const std::vector<MatrixForm> forms = forms_here();
    std::vector<bool> rest(as_index(map_.slots), false);
    // Words begin at multiples of 32 bits in the registers; the first may begin before the tile.
    for (std::int64_t slot = -(map_.first_slot % per_word_); slot < map_.slots;) {
      const std::int64_t taken = take(forms, slot);
      for (std::int64_t s = std::max<std::int64_t>(0, slot);
           taken == 0 && s < std::min(slot + per_word_, map_.slots); ++s)
        rest[as_index(s)] = true;
      slot += std::max<std::int64_t>(1, taken) * per_word_;
    }
    if (plan_.fitting == 0) return decline("fragment", "{}", first_reason_);
    return find_all_forms(rest);
  }

 private:
  [[nodiscard]] std::vector<MatrixForm> forms_here() const {
    std::vector<MatrixForm> out{{MatrixForm::Kind::Plain, 8, 1, 4}};
    if (own_.bits == 16) out.push_back({MatrixForm::Kind::Trans, 8, 1, 4});
    if (own_.bits == 8 && call_.context.target.has(target::Feature::MatrixB8))
      out.push_back(plan_.is_load ? MatrixForm{MatrixForm::Kind::Bytes, 16, 2, 2}
                                  : MatrixForm{MatrixForm::Kind::Bytes, 8, 1, 4});
    return out;
  }

  // Words from `slot` on that one matrix takes: 0 when none of the forms fits.
  std::int64_t take(const std::vector<MatrixForm>& forms, std::int64_t slot) {
    bool is_occupied = false;
    for (const MatrixForm& form : forms) {
      Fit fit = fit_of(form, slot, is_occupied);
      if (fit.fits) {
        taken_.push_back({form, slot, std::move(fit)});
        plan_.fitting += form.regs;
        return form.regs;
      }
      if (first_reason_.empty()) first_reason_ = fit.reason;
    }
    plan_.others += is_occupied ? 1 : 0;
    return 0;
  }

  [[nodiscard]] Fit fit_of(const MatrixForm& form, std::int64_t slot, bool& is_occupied) const {
    Fit fit;
    const std::int64_t end = slot + form.regs * per_word_;
    if (slot < 0 || end > map_.slots) {
      is_occupied = true;
      fit.reason =
          fmt::format("register {} is not a whole word of the tile", map_.first_slot + slot);
      return fit;
    }
    bool any = false;
    for (std::int64_t warp = 0; warp < threads_ / 32; ++warp) {
      std::vector<std::int64_t> rows(as_index(form.rows), kNone);
      const auto state = fit_warp(form, slot, warp, rows, fit.reason);
      is_occupied = is_occupied || state != State::Empty;
      if (state == State::No) return fit;
      any = any || state == State::Yes;
      fit.warps.push_back(state == State::Yes);
      fit.rows.push_back(std::move(rows));
    }
    fit.fits = any;
    return fit;
  }

  enum class State : std::uint8_t { Empty, Yes, No };
  static constexpr std::int64_t kNone = -1;

  State fit_warp(const MatrixForm& form, std::int64_t slot, std::int64_t warp,
                 std::vector<std::int64_t>& rows, std::string& reason) const {
    std::vector<std::int64_t> row_place(rows.size(), kNone);
    int held = 0;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < form.regs * per_word_; ++i) {
        const std::int32_t x = map_.at(slot + i, warp * 32 + lane);
        if (x < 0) continue;
        ++held;
        const auto at = as_index(x);
        const MatrixCell cell =
            cell_of(form, plan_.is_load, lane, static_cast<int>(i / per_word_),
                    static_cast<int>(i % per_word_), static_cast<int>(per_word_));
        const std::int64_t start = other_.place(at) - cell.col;
        if (start < 0) {
          reason = fmt::format(
              "register {} of lane {} holds the element at {}, which {} takes from column {} of a "
              "row that would begin before the storage",
              map_.first_slot + slot + i, lane, other_.place(at), name_of(form), cell.col);
          return State::No;
        }
        auto& place = row_place[as_index(cell.row)];
        if (place == kNone) place = start;
        if (place != start) {
          reason = fmt::format(
              "register {} of lane {} holds the element at {}, where {} would put the one at {}",
              map_.first_slot + slot + i, lane, other_.place(at), name_of(form), place + cell.col);
          return State::No;
        }
        if (cell.col == 0) rows[as_index(cell.row)] = other_.linear[at];
      }
    if (held == 0) return State::Empty;
    if (held != 32 * form.regs * per_word_) {
      reason = fmt::format("register {} holds {} of the {} elements that a whole warp has",
                           map_.first_slot + slot, held, 32 * form.regs * per_word_);
      return State::No;
    }
    return are_aligned(row_place, reason) ? State::Yes : State::No;
  }

  bool are_aligned(const std::vector<std::int64_t>& row_place, std::string& reason) const {
    for (const std::int64_t place : row_place)
      if (place * own_.bits % 128 != 0) {
        reason = fmt::format("a row begins at byte {}, expected a multiple of 16",
                             place * own_.bits / 8);
        return false;
      }
    return true;
  }

  [[nodiscard]] std::string name_of(const MatrixForm& form) const {
    const std::string_view name = plan_.is_load ? "ldmatrix" : "stmatrix";
    return form.kind == MatrixForm::Kind::Plain ? std::string(name) : fmt::format("{}.trans", name);
  }

  // --- grouping ---

  struct Taken {
    MatrixForm form;
    std::int64_t slot;
    Fit fit;
  };

  Match<void> find_all_forms(const std::vector<bool>& rest) {
    for (std::size_t i = 0; i < taken_.size();) {
      std::size_t run = i + 1;
      while (run < taken_.size() && taken_[run].form.kind == taken_[i].form.kind &&
             taken_[run].fit.warps == taken_[i].fit.warps)
        ++run;
      for (int num = taken_[i].form.most; num >= 1; num /= 2)
        for (; run - i >= as_index(num); i += as_index(num))
          issue(std::span(taken_).subspan(i, as_index(num)));
    }
    WW_TRY_VOID(merge());
    if (std::ranges::find(rest, true) == rest.end()) return {};
    plan_.rest = WW_TRY(register_phases(call_, p_, &rest));
    return {};
  }

  // One instruction over these matrices.
  void issue(std::span<const Taken> matrices) {
    const MatrixForm& form = matrices[0].form;
    Issue out;
    out.num = static_cast<int>(matrices.size());
    out.words = out.num * form.regs;
    out.opcode = opcode_of(form, plan_.is_load, out.num);
    out.rounds = 1;
    for (std::int64_t u = 0; u < threads_; ++u) {
      const auto warp = as_index(u / 32);
      out.used.push_back(matrices[0].fit.warps[warp]);
      const auto matrix = as_index(u % 32 / form.rows) % matrices.size();
      const auto row = as_index(u % form.rows);
      out.row_start.push_back(out.used.back() ? matrices[matrix].fit.rows[warp][row] : 0);
    }
    for (const Taken& each : matrices)
      for (int reg = 0; reg < form.regs; ++reg)
        out.slots.push_back(map_.first_slot + each.slot + reg * per_word_);
    plan_.issues.push_back(std::move(out));
  }

  [[nodiscard]] bool find_address(Issue& issue) const {
    auto form = find_form({.threads = threads_,
                           .rounds = issue.rounds,
                           .linear = issue.row_start,
                           .used = issue.used,
                           .count = 0,
                           .swizzle = other_.swizzle,
                           .base_divisor = other_.base_divisor});
    if (!form) return false;
    issue.form = *std::move(form);
    return true;
  }

  // Equal instructions that follow each other become rounds where a formula gives their addresses
  // and registers: all of them at once, or halves of them.
  Match<void> merge() {
    const std::vector<Issue> issues = std::exchange(plan_.issues, {});
    for (std::size_t i = 0; i < issues.size();) {
      std::size_t end = i + 1;
      while (end < issues.size() && issues[end].opcode == issues[i].opcode &&
             issues[end].used == issues[i].used)
        ++end;
      if (!add_rounds(std::span(issues).subspan(i, end - i)))
        return decline("irregular", "no formula gives the row addresses of all lanes");
      i = end;
    }
    return {};
  }

  bool add_rounds(std::span<const Issue> alike) {
    Issue all = alike[0];
    for (const Issue& next : alike.subspan(1)) {
      ++all.rounds;
      all.row_start.insert(all.row_start.end(), next.row_start.begin(), next.row_start.end());
      all.slots.insert(all.slots.end(), next.slots.begin(), next.slots.end());
    }
    if (has_regular_slots(all) && find_address(all)) {
      plan_.issues.push_back(std::move(all));
      return true;
    }
    if (alike.size() == 1) return false;
    const std::size_t half = alike.size() / 2;
    return add_rounds(alike.first(half)) && add_rounds(alike.subspan(half));
  }

  static bool has_regular_slots(const Issue& issue) {
    const auto words = as_index(issue.words);
    for (std::size_t i = 0; i + words < issue.slots.size(); ++i) {
      const std::int64_t step = issue.slots[words] - issue.slots[0];
      if (issue.slots[i + words] - issue.slots[i] != step) return false;
    }
    return true;
  }

  const Call& call_;
  Plan& plan_;
  const CopyProblem& p_;
  const OperandPlaces& own_;
  const OperandPlaces& other_;
  RegisterMap map_;
  std::int64_t per_word_;
  std::int64_t threads_;
  std::vector<Taken> taken_;
  std::string first_reason_;
};

Match<void> check_sides(const Call& call, const CopyProblem& problem, bool is_load) {
  const OperandPlaces& own = is_load ? problem.dst : problem.src;
  const OperandPlaces& other = is_load ? problem.src : problem.dst;
  if (own.bits > 32 || 32 % own.bits != 0)
    return decline("dtype", "elements of {} bits, expected 4, 8, 16 or 32", own.bits);
  WW_TRY_VOID(check_target(call, is_load ? "ldmatrix" : "stmatrix",
                           is_load ? target::Feature::Sm75 : target::Feature::Sm90));
  if (!own.base_is_aligned(4))
    return decline("registers", "the first register is not known to begin a 32-bit word");
  if (!other.base_is_aligned(16) || !other.strides.empty())
    return decline("alignment",
                   "`{}` is not known to begin at a multiple of 16 bytes: storage of {}, offset a "
                   "multiple of {} elements of {} bits",
                   call.f()[other.buffer].name, other.align_bytes, other.base_divisor, other.bits);
  WW_TRY_VOID(check_one_place(call, other));
  if (other.longest_run() * other.bits < 128)
    return decline("swizzle", "the swizzle moves units of {} bytes, expected 16 or more",
                   other.longest_run() * other.bits / 8);
  return {};
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  const bool is_load = call.memory(0) == ir::Scope::Local;
  if (!is_load && call.memory(1) != ir::Scope::Local)
    return other_memories(call, "registers on one side");
  if (!ir::is_shared(call.memory(is_load ? 1 : 0)))
    return other_memories(call, "shared memory on one side");
  Plan plan;
  plan.is_load = is_load;
  plan.problem = WW_TRY(copy_problem(call));
  WW_TRY_VOID(check_plain(*plan.problem));
  WW_TRY_VOID(check_settings(call));
  WW_TRY_VOID(check_sides(call, *plan.problem, is_load));
  WW_TRY_VOID(Matcher(call, plan).run());
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void emit_issue(const Plan& plan, const Issue& issue, const Call& call, CodeWriter& code,
                const PhaseWriter& writer) {
  const OperandPlaces& own = plan.is_load ? plan.problem->dst : plan.problem->src;
  const OperandPlaces& other = plan.is_load ? plan.problem->src : plan.problem->dst;
  const ir::ExprId u = call.unit_thread(code);
  const ir::ExprId own_base = own.base_expr(code);
  const ir::ExprId base = other.base_expr(code);
  code.guarded(member_expr(code, u, issue.used), [&] {
    ThreadPart part = thread_part(code, issue.form, u, base);
    if (issue.form.kind != AddressForm::Kind::Joint) part.fixed = code.let("row", part.fixed);
    code.loop("mm", issue.rounds, ir::LoopKind::Unroll, [&](ir::ExprId mm) {
      const ir::ExprId at = address_expr(code, issue.form, part, u, mm, call.unit_threads());
      const ir::PtxOperand address =
          address_operand(code.let("smem_ptr", code.pointer(writer.flat(!plan.is_load), at)));
      std::vector<ir::PtxOperand> operands;
      if (!plan.is_load) operands.push_back(address);
      const auto words = as_index(issue.words);
      const std::int64_t step = issue.rounds > 1 ? issue.slots[words] - issue.slots[0] : 0;
      for (std::size_t i = 0; i < words; ++i) {
        const ir::ExprId slot = code.add(code.add(own_base, code.mul(mm, step)), issue.slots[i]);
        operands.push_back(register_operand(code, writer.flat(plan.is_load), slot));
      }
      if (plan.is_load) operands.push_back(address);
      code.ptx(issue.opcode, std::move(operands));
    });
  });
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  PhaseWriter writer(call, *plan.problem, code);
  for (const Issue& issue : plan.issues) emit_issue(plan, issue, call, code, writer);
  for (const CopyPhase& phase : plan.rest) writer.write(phase);
}

// --- report --------------------------------------------------------------------------------------

// The lanes that point to a row.
int rows_of(const Issue& issue) { return issue.num * (issue.words > issue.num ? 16 : 8); }

void log_issue(AccessLog& log, const Issue& issue, std::int64_t threads) {
  for (std::int64_t k = 0; k < issue.rounds; ++k)
    for (std::int64_t first = 0; first < threads; first += 32) {
      if (!issue.used[as_index(first)]) continue;
      WarpAccess access{.bytes = 16};
      for (std::int64_t u = first; u < first + rows_of(issue); ++u)
        access.linear.push_back(issue.row_start[as_index(k * threads + u)]);
      log.add(std::move(access));
    }
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  AccessLog log(plan.is_load ? plan.problem->src : plan.problem->dst);
  for (const Issue& issue : plan.issues) {
    out.add_instruction(issue.opcode, issue.rounds, 4 * issue.words);
    out.rounds += issue.rounds;
    log_issue(log, issue, call.unit_threads());
  }
  for (const CopyPhase& phase : plan.rest) {
    add_phase(out, *plan.problem, phase);
    log_phase(log, phase, !plan.is_load);
  }
  add_costs(out, call, log);
  out.summary = fmt::format("{}, {} per thread", plan.issues[0].opcode.substr(0, 8), out.rounds);
  if (plan.others > 0)
    out.notes.push_back(
        fmt::format("{} of {} register words do not fit a matrix and are moved by vectors",
                    plan.others, plan.others + plan.fitting));
  return out;
}

// Of a row, the thread that points to it.
Reach reach(const Plan& plan, const Call& call) {
  const OperandPlaces& own = plan.is_load ? plan.problem->dst : plan.problem->src;
  const OperandPlaces& other = plan.is_load ? plan.problem->src : plan.problem->dst;
  RegisterMap rest = register_map(call, own, plan.is_load);
  std::map<std::int64_t, ThreadRange> rows;  // by where they begin
  for (const Issue& issue : plan.issues) {
    for (const std::int64_t slot : issue.slots) {
      const auto word = rest.cells.begin() + (slot - rest.first_slot) * rest.threads;
      std::fill(word, word + 32 / own.bits * rest.threads, -1);
    }
    for (std::size_t i = 0; i < issue.row_start.size(); ++i) {
      const auto u = static_cast<std::int64_t>(i) % rest.threads;
      if (issue.used[as_index(u)] && u % 32 < rows_of(issue)) rows[issue.row_start[i]].add(u);
    }
  }
  Reach out = reach_of(rest, own.size());
  for (std::size_t x = 0; x < own.size(); ++x) {
    const auto row = rows.upper_bound(other.linear[x]);
    if (row == rows.begin()) continue;
    const auto& [start, threads] = *std::prev(row);
    if (other.linear[x] < start + 128 / own.bits) out[x].add(threads);
  }
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report, reach>(
    {.op = ir::TileOp::Copy,
     .name = "ldstmatrix",
     .about = "ldmatrix and stmatrix between shared memory and fragments of matrix instructions"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_ldstmatrix
