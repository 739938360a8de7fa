// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/work_exprs.h"

#include <algorithm>

#include "lower/as_index.h"

namespace ww::lower {

using ir::ExprId;

ExprId slot_expr(CodeWriter& code, const Work& work, std::size_t s, const OperandPlaces& side,
                 ExprId k, ExprId i) {
  const ExprId step = code.simplify(code.add(code.mul(k, work.vec), i));
  const auto constant = code.constant(step);
  const ExprId out = constant ? code.n(work.sides[s].slots[as_index(*constant)])
                              : digits_expr(code, *work.sides[s].slot_form, step);
  return code.simplify(side.base.valid() ? code.add(side.base, out) : out);
}

bool has_formulas(const Work& work) {
  return std::ranges::all_of(work.sides, [](const WorkSide& side) {
    return side.access != WorkSide::Access::Register || side.slot_form;
  });
}

void write_rounds(CodeWriter& code, const Work& work, ExprId u,
                  const std::function<void(ExprId k)>& round) {
  if (!has_formulas(work)) {
    for (std::int64_t k = 0; k < work.rounds; ++k) round(code.n(k));
    return;
  }
  const bool is_unrolled = work.is_unrolled && work.rounds > 1;
  code.loop(
      "f", work.rounds, is_unrolled ? ir::LoopKind::Unroll : ir::LoopKind::Serial, [&](ExprId k) {
        const ExprId q = code.add(code.mul(k, work.threads), u);
        code.guarded(work.count == 0 ? ExprId{} : code.less(q, work.count), [&] { round(k); });
      });
}

void log_work(AccessLog& log, const Work& work, const WorkSide& side) {
  const std::int64_t rounds = side.is_fixed ? 1 : work.rounds;
  log.add_rounds(rounds, work.threads, side.bytes, [&](std::int64_t k, std::int64_t u) {
    const auto q = as_index(k * work.threads + u);
    const bool takes_part = work.used[as_index(u)] && work.first[q] >= 0;
    return takes_part ? side.places[q] : WarpAccess::kNoAddress;
  });
}

std::int64_t add_rounds(PlanReport& out, const std::vector<Work>& works) {
  std::int64_t vec = 1;
  for (const Work& work : works) {
    out.threads += std::ranges::count(work.used, true);
    out.rounds = std::max(out.rounds, work.rounds);
    vec = std::max(vec, work.vec);
  }
  out.summary =
      fmt::format("{} element{} at a time, {} round{} of {} thread{}", vec, vec == 1 ? "" : "s",
                  out.rounds, out.rounds == 1 ? "" : "s", out.threads, out.threads == 1 ? "" : "s");
  return vec;
}

}  // namespace ww::lower
