// SPDX-License-Identifier: Apache-2.0
#include "eval/ptx/run.h"

#include "eval/cta/schedule.h"
#include "eval/expr/expressions.h"
#include "eval/ptx/kind.h"

namespace ww::eval {
namespace {

// True when the threads go on at once.
bool dispatch_ptx(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  switch (ptx.kind) {
    case PtxKind::Unknown:
      break;
#define WW_EVAL_PTX(id, together, handler) \
  case PtxKind::id:                        \
    handler(cta, ptx, ts);                 \
    break;
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
  }
  if (ptx.kind == PtxKind::BarSync || ptx.kind == PtxKind::BarCount ||
      ptx.kind == PtxKind::WarpSync || ptx.kind == PtxKind::ClusterWait)
    return false;
  go_on(cta, ts);
  return true;
}

}  // namespace

void ptx_nothing(Cta& /*cta*/, const PtxInstruction& /*ptx*/, Threads /*ts*/) {}

bool run_ptx(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const ir::ExprId predicate = ptx.call->predicate;
  if (!predicate.valid()) return dispatch_ptx(cta, ptx, ts);
  const Words holds = evaluate(cta, predicate, ts);
  std::vector<Thread> active;
  for (std::size_t i = 0; i < ts.size(); ++i)
    if (holds[i] != 0) active.push_back(ts[i]);
  if (active.size() == ts.size()) return dispatch_ptx(cta, ptx, ts);
  // Threads that skip it go on; threads waiting at it follow.
  go_on(cta, ts);
  if (active.empty()) return true;
  for (const Thread t : active) cta.pc[t] = cta.step;
  return dispatch_ptx(cta, ptx, active) && active.size() == ts.size();
}

}  // namespace ww::eval
