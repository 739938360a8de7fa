// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/run_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/print/print.h"
#include "lower/as_index.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy_async/one_thread.h"
#include "lower/index_formula.h"

namespace ww::lower {
namespace {

class RunFinder {
 public:
  RunFinder(const Call& call, const CopyProblem& problem)
      : call_(call), dst_(problem.dst), src_(problem.src), problem_(problem) {}

  Match<RunPlan> run() {
    WW_TRY_VOID(check_sides());
    sort();
    const std::int64_t length = longest_common();
    RunPlan plan{.bytes = length * dst_.bits / 8,
                 .count = problem_.elements / std::max<std::int64_t>(1, length)};
    if (length * dst_.bits % (kRunUnit * 8) != 0) return too_short(length);
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < order_.size(); i += as_index(length)) starts.push_back(order_[i]);
    for (const OperandPlaces* side : {&dst_, &src_}) WW_TRY_VOID(check_alignment(*side, starts));
    plan.dst = WW_TRY(formulas(dst_, starts));
    plan.src = WW_TRY(formulas(src_, starts));
    return plan;
  }

 private:
  [[nodiscard]] const std::string& name_of(const OperandPlaces& side) const {
    return call_.f()[side.buffer].name;
  }

  [[nodiscard]] Match<void> check_sides() const {
    if (problem_.mask || problem_.predicate.valid())
      return decline("predicate", "the copy engine copies whole runs, under no condition");
    if (dst_.bits < 8)
      return decline("dtype", "elements of {} bits, expected whole bytes", dst_.bits);
    for (const OperandPlaces* side : {&dst_, &src_})
      if (!side->edges.empty())
        return decline("edge",
                       "the region may leave `{}`, and runs are copied whole; only a tensor map "
                       "(`tma`) has edges",
                       name_of(*side));
    WW_TRY_VOID(check_one_place(call_, dst_));
    for (const OperandPlaces* side : {&dst_, &src_})
      if (!side->base_commutes())
        return decline("swizzle",
                       "`{}` is used from `{}` on, not known to be a multiple of {} bytes, after "
                       "which its swizzle repeats",
                       name_of(*side), ir::print(call_.f(), side->base),
                       side->swizzle.period() * side->bits / 8);
    return {};
  }

  // In the order of shared memory, or of the source where both sides are.
  void sort() {
    const OperandPlaces& by = ir::is_shared(src_.scope) ? src_ : dst_;
    order_.resize(as_index(problem_.elements));
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::vector<std::int64_t> places(order_.size());
    for (std::size_t x = 0; x < order_.size(); ++x) places[x] = by.place(x);
    std::ranges::sort(order_, {}, [&](std::size_t x) { return places[x]; });
  }

  // Elements that every run is a multiple of.
  [[nodiscard]] std::int64_t longest_common() const {
    std::int64_t common = 0, length = 1;
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const bool follows =
          dst_.follows(order_[i - 1], order_[i]) && src_.follows(order_[i - 1], order_[i]);
      if (!follows) common = std::gcd(common, std::exchange(length, 0));
      ++length;
    }
    return std::gcd(common, length);
  }

  [[nodiscard]] Unexpected<Decline> too_short(std::int64_t length) const {
    const bool is_swizzled = !dst_.swizzle.is_none() || !src_.swizzle.is_none();
    return decline("units",
                   "runs that are contiguous in both `{}` and `{}` have {} bytes, expected a "
                   "multiple of {}{}",
                   name_of(src_), name_of(dst_), length * dst_.bits / 8, kRunUnit,
                   is_swizzled ? "; one side is swizzled" : "");
  }

  [[nodiscard]] Match<void> check_alignment(const OperandPlaces& side,
                                            const std::vector<std::size_t>& starts) const {
    for (const std::size_t x : starts)
      if (!side.is_aligned(x, kRunUnit))
        return decline("alignment", "a run begins at byte {} of `{}`, expected a multiple of {}",
                       side.place(x) * side.bits / 8, name_of(side), kRunUnit);
    if (side.align_bytes % kRunUnit != 0)
      return decline("alignment", "`{}` is aligned to {} bytes, expected {}", name_of(side),
                     side.align_bytes, kRunUnit);
    for (const RuntimeStride& each : side.strides)
      if (each.divisor * side.bits % (kRunUnit * 8) != 0)
        return decline("alignment",
                       "rows of `{}` are `{}` elements apart, not known to be a multiple of {} "
                       "bytes",
                       name_of(side), ir::print(call_.f(), each.stride), kRunUnit);
    if (!side.base_is_aligned(kRunUnit))
      return decline("alignment",
                     "`{}` is used from element `{}` on, not known to be a multiple of {} bytes",
                     name_of(side), ir::print(call_.f(), side.base), kRunUnit);
    return {};
  }

  [[nodiscard]] Match<RunSide> formulas(const OperandPlaces& side,
                                        const std::vector<std::size_t>& starts) const {
    const auto fit = [&](auto&& value_of) -> Match<layout::TileLayout> {
      std::vector<std::int64_t> table;
      for (const std::size_t x : starts) table.push_back(value_of(x));
      if (auto form = fit_table(table)) return *std::move(form);
      if (!dst_.swizzle.is_none() || !src_.swizzle.is_none())
        return decline("swizzle",
                       "the {} runs begin in `{}` where no formula says: bytes are copied as they "
                       "lie, so both sides need one swizzle, or a tensor map (`tma`) makes it",
                       starts.size(), name_of(side));
      return decline("irregular", "no formula says where the {} runs begin in `{}`", starts.size(),
                     name_of(side));
    };
    RunSide out{.place = WW_TRY(fit([&](std::size_t x) { return side.place(x); }))};
    for (const RuntimeStride& each : side.strides)
      out.strides.push_back(
          {each.stride, WW_TRY(fit([&](std::size_t x) { return each.coef[x]; }))});
    return out;
  }

  const Call& call_;
  const OperandPlaces& dst_;
  const OperandPlaces& src_;
  const CopyProblem& problem_;
  std::vector<std::size_t> order_;  // elements
};

}  // namespace

Match<RunCopy> plan_runs(const Call& call) {
  RunCopy out;
  out.is_one_thread = WW_TRY(check_one_thread(call));
  out.problem = WW_TRY(copy_problem(call));
  out.runs = WW_TRY(RunFinder(call, *out.problem).run());
  return out;
}

ir::ExprId run_start(CodeWriter& code, const OperandPlaces& side, const RunSide& run,
                     ir::ExprId k) {
  ir::ExprId out = code.add(side.base_expr(code), digits_expr(code, run.place, k));
  for (const auto& [stride, coef] : run.strides)
    out = wide_add(code, out, wide_mul(code, stride, digits_expr(code, coef, k)));
  return code.simplify(out);
}

PlanReport runs_report(const RunCopy& copy, const Call& call, std::string_view opcode,
                       std::string_view how, std::string note) {
  constexpr std::int64_t kMany = 32, kSmall = 512;
  const std::int64_t count = copy.runs.count, bytes = copy.runs.bytes;
  PlanReport out = copy_report(call, *copy.problem);
  out.threads = 1;
  out.rounds = count;
  out.add_instruction(std::string(opcode), count, bytes);
  out.summary = fmt::format("{} run{} of {} bytes {}", count, count == 1 ? "" : "s", bytes, how);
  out.notes.push_back(std::move(note));
  if (count > kMany && bytes < kSmall)
    out.notes.push_back(fmt::format(
        "{} instructions of {} bytes are many for one thread: a row ends where the next one begins "
        "elsewhere",
        count, bytes));
  if (!copy.is_one_thread) note_one_thread(out, call);
  return out;
}

}  // namespace ww::lower
