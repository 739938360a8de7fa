// SPDX-License-Identifier: Apache-2.0
// Branches, calls, the end of threads.
#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/ops/families.h"
#include "sim/run/builtin.h"
#include "sim/run/calls.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim::control_ops {
namespace {

void run_branch(Warp& warp, const Op& op) { branch_to(warp, op.as<BranchOp>().target); }

struct Table {
  std::uint32_t number;  // in Program::branch_tables
};

// Lanes with the same index go together; the others come back to this op.
void run_branch_table(Warp& warp, const Op& op) {
  const auto& table = warp.program->branch_tables[op.as<Table>().number];
  const auto* index = warp.source<std::uint32_t>(op.p[0]);
  const std::uint32_t wanted = index[first_lane(warp.exec)];
  Mask same = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (index[l] == wanted) same |= lane_bit(l);
  });
  if (wanted >= table.size()) {
    trap(warp, "`brx.idx` beyond its list of labels");
    return;
  }
  const Mask rest = warp.exec & ~same;
  if (rest != 0) {
    warp.exec = rest;
    branch_to(warp, warp.current);
  }
  warp.exec = same;
  branch_to(warp, table[wanted]);
}

void run_ret(Warp& warp, const Op&) { leave_function(warp); }
void run_exit(Warp& warp, const Op&) { end_lanes(warp); }
void run_trap(Warp& warp, const Op&) { trap(warp, "`trap`"); }
void run_sleep(Warp& warp, const Op&) { yield_turn(warp); }

bool decode_branch(Decode& in) {
  in.op.run = run_branch;
  in.target_label(0);
  return true;
}
bool decode_branch_table(Decode& in) {
  in.op.run = run_branch_table;
  in.operands({in.source(0)});
  const std::uint32_t number = in.function().branch_table(in.operand(1).text);
  in.op.set(Table{number});
  return number != ~0U;
}
bool decode_sleep(Decode& in) { return in.runs(run_sleep, {in.source(0)}); }

constexpr OpRow kRows[] = {
    {"bra", decode_branch},
    {"brx.idx", decode_branch_table},
    {"ret", decode_bare<run_ret>},
    {"exit", decode_bare<run_exit>},
    {"trap", decode_bare<run_trap>},
    {"brkpt", decode_bare<run_nothing>},
    {"pmevent", decode_bare<run_nothing>},
    {"pmevent.mask", decode_bare<run_nothing>},
    {"nanosleep", decode_sleep},
};

}  // namespace

constinit const OpFamily family{"control", kRows};

}  // namespace ww::sim::control_ops

namespace ww::sim {

void run_call(Warp& warp, const Op& op) {
  const std::uint32_t number_of_site = op.as<CallOp>().site;
  const CallSite& site = warp.program->calls[number_of_site];
  if (!site.target.present()) {
    enter_function(warp, number_of_site, site.function);
    return;
  }
  use_value(warp, site.target, warp.exec);
  const auto* targets = warp.source<std::uint64_t>(site.target);
  const std::uint64_t wanted = targets[first_lane(warp.exec)];
  const std::uint64_t number = (wanted - kCodeWindow) / 16;
  if (wanted < kCodeWindow || number >= warp.program->functions.size() ||
      warp.program->functions[number].is_entry) {
    trap(warp, "a call of something that is not a function");
    return;
  }
  Mask same = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (targets[l] == wanted) same |= lane_bit(l);
  });
  const Mask rest = warp.exec & ~same;
  if (rest != 0) {
    warp.exec = rest;
    branch_to(warp, warp.current);
  }
  warp.exec = same;
  enter_function(warp, number_of_site, static_cast<std::uint32_t>(number));
}

}  // namespace ww::sim
