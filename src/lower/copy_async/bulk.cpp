// SPDX-License-Identifier: Apache-2.0
// copy_async / bulk: contiguous runs between global and shared memory by the copy engine, which one
// thread starts. It needs no tensor map, so that it serves arrays without one: rows that are not
// multiples of 16 bytes apart but copied whole, pointers known at run time only, shared memory that
// is aligned to 16 bytes. It is asked behind `tma`, which takes fewer instructions for tiles, swizzles,
// and fills what lies outside.
//
// Into shared memory, an mbarrier counts the bytes (`mbar=`); the caller makes it expect them, all of
// the tile, and waits. From shared memory the caller commits and waits for bulk groups. Runs, and where
// they begin, are multiples of 16 bytes. PTX manual, "cp.async.bulk".
//
//     Tx.copy_async(row[0:1024], A[m, 0:1024], mbar=full.ptr_to([0]))               float16
//
//     cp.async.bulk.shared::cluster.global…  [dst_ptr], [src_ptr], 2048, [full]
#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy_async/one_thread.h"
#include "lower/copy_async/run_plan.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_bulk {
namespace {

using ir::ExprId;

struct Plan {
  RunCopy copy;
  bool is_load = true;

  [[nodiscard]] std::string_view opcode() const {
    return is_load ? "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                   : "cp.async.bulk.global.shared::cta.bulk_group";
  }
};

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.is_load = WW_TRY(loads_by_engine(call));
  WW_TRY_VOID(check_target(call, "cp.async.bulk", target::Feature::Sm90));
  WW_TRY_VOID(check_engine_mbarrier(call, plan.is_load));
  WW_TRY_VOID(check_settings(call, {"mbar", "mbarrier_addr"}));
  plan.copy = WW_TRY(plan_runs(call));
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  const auto& [problem, is_one_thread, runs] = plan.copy;
  const OperandPlaces &dst = problem->dst, &src = problem->src;
  const ir::BufferId to = flat_view(call, code, dst), from = flat_view(call, code, src);
  for_each_run(code, runs, [&](ExprId k) {
    const auto address = [&](std::string_view name, ir::BufferId flat, ExprId at) {
      return address_operand(code.let(name, code.pointer(flat, at)));
    };
    std::vector<ir::PtxOperand> operands = {
        address("dst_ptr", to, run_start(code, dst, runs.dst, k)),
        address("src_ptr", from, run_start(code, src, runs.src, k)),
        {.expr = code.number(num::DType::Uint32, static_cast<double>(runs.bytes))}};
    if (plan.is_load)
      operands.push_back(address_operand(std::get<ExprId>(*ir::mbarrier_setting(call.tile))));
    code.ptx(plan.opcode(), std::move(operands));
  });
}

PlanReport report(const Plan& plan, const Call& call) {
  const RunPlan& runs = plan.copy.runs;
  std::string note = "the caller commits, and waits for bulk groups";
  if (plan.is_load)
    note = fmt::format("the mbarrier hears of {} bytes; the caller expects them",
                       runs.count * runs.bytes);
  return runs_report(plan.copy, call, plan.opcode(), "by the copy engine", std::move(note));
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "bulk",
     .priority = 8,
     .about = "contiguous runs by the copy engine, started by one thread"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_bulk
