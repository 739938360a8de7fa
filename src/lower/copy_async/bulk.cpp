// SPDX-License-Identifier: Apache-2.0
// copy_async / bulk: contiguous runs between global and shared memory by the copy engine, which one
// thread starts. It needs no tensor map, so that it serves arrays without one: rows that are not
// multiples of 16 bytes apart but copied whole, pointers known at run time only, shared memory that
// is aligned to 16 bytes. It is asked behind `tma`, which takes fewer instructions for tiles, swizzles,
// and fills what lies outside.
//
// To shared memory an mbarrier hears of the bytes (`mbar=`); the caller makes it expect them, all of
// the tile, and waits. From shared memory the caller commits and waits for bulk groups. Runs, and where
// they begin, are multiples of 16 bytes. PTX manual, "cp.async.bulk".
//
//     Tx.copy_async(row[0:1024], A[m, 0:1024], mbar=full.ptr_to([0]))               float16
//
//     cp.async.bulk.shared::cluster.global…  [dst_ptr], [src_ptr], 2048, [full]
#include "ir/settings.h"
#include "lower/checks.h"
#include "lower/copy/copy_report.h"
#include "lower/copy_async/one_thread.h"
#include "lower/copy_async/run_plan.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_bulk {
namespace {

using ir::ExprId;

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  RunPlan runs;
  bool is_load = true;
  bool is_one_thread = true;  // provably

  [[nodiscard]] std::string_view opcode() const {
    return is_load ? "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                   : "cp.async.bulk.global.shared::cta.bulk_group";
  }
};

// --- match ---------------------------------------------------------------------------------------

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.is_load = WW_TRY(loads_by_engine(call));
  WW_TRY_VOID(check_target(call, "cp.async.bulk", target::Feature::Sm90));
  WW_TRY_VOID(check_engine_mbarrier(call, plan.is_load));
  WW_TRY_VOID(check_settings(call, "mbar mbarrier_addr"));
  plan.is_one_thread = WW_TRY(check_one_thread(call));
  plan.problem = WW_TRY(copy_problem(call));
  plan.runs = WW_TRY(plan_runs(call, *plan.problem));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  const OperandPlaces& dst = plan.problem->dst;
  const OperandPlaces& src = plan.problem->src;
  const ir::BufferId to = flat_view(call, code, dst), from = flat_view(call, code, src);
  for_each_run(code, plan.runs, [&](ExprId k) {
    const auto address = [&](std::string_view name, ir::BufferId flat, ExprId at) {
      return address_operand(code.let(name, code.pointer(flat, at)));
    };
    std::vector<ir::PtxOperand> operands = {
        address("dst_ptr", to, run_start(code, dst, plan.runs.dst, k)),
        address("src_ptr", from, run_start(code, src, plan.runs.src, k)),
        {.expr = code.number(num::DType::Uint32, static_cast<double>(plan.runs.bytes))}};
    if (plan.is_load)
      operands.push_back(address_operand(std::get<ExprId>(*ir::mbarrier_setting(call.tile))));
    code.ptx(plan.opcode(), std::move(operands));
  });
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  out.threads = 1;
  out.rounds = plan.runs.count;
  out.add_instruction(std::string(plan.opcode()), plan.runs.count, plan.runs.bytes);
  out.summary = fmt::format("{} by the copy engine", plan.runs.text());
  if (plan.is_load)
    out.notes.push_back(
        fmt::format("the mbarrier hears of {} bytes; the caller expects them", out.bytes));
  else
    out.notes.emplace_back("the caller commits, and waits for bulk groups");
  if (std::string note = many_runs_note(plan.runs); !note.empty())
    out.notes.push_back(std::move(note));
  if (!plan.is_one_thread) note_one_thread(out, call);
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "bulk",
     .priority = 8,
     .about = "contiguous runs by the copy engine, started by one thread"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_bulk
