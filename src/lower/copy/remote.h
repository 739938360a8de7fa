// SPDX-License-Identifier: Apache-2.0
// Code that reaches the shared memory of another CTA of the cluster (`remote_cta_id=`): the address of a
// place there comes from mapa, and is a number of the shared window.
#pragma once

#include <string_view>

#include "lower/copy/phase_writer.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Declines calls without `remote_cta_id=`, targets and launches without clusters, and the number of a CTA
/// that the cluster does not have. `instruction` is what the target has to know.
Match<void> check_remote(const Call& call, std::string_view instruction);

/// The number of the other CTA.
ir::ExprId remote_cta(const Call& call, CodeWriter& code);

/// Addresses in other CTAs, each in a register of its own.
class RemoteAddresses {
 public:
  RemoteAddresses(CodeWriter& code, std::int64_t registers)
      : code_(code), there_(code.registers("there", num::DType::Uint32, registers)) {}
  /// Writes the address of what `place` points to in the own CTA, or of that number in the shared window,
  /// into register `slot`: in that CTA.
  void map(std::int64_t slot, ir::ExprId place, ir::ExprId cta);
  ir::PtxOperand operator[](std::int64_t slot);

 private:
  CodeWriter& code_;
  ir::BufferId there_;
};

/// The rounds of a copy of which one side is in the other CTA: vectors through registers. With an mbarrier,
/// by `st.async`, and it hears of the bytes; the source is then in registers.
struct RemotePlan {
  std::shared_ptr<const CopyProblem> problem;
  std::vector<CopyPhase> phases;
  bool is_store = true;  // into the other CTA
  bool is_counted = false;

  /// The side that is not in the other CTA.
  [[nodiscard]] const OperandPlaces& near() const { return is_store ? problem->src : problem->dst; }
  /// "st.shared::cluster.v4.b32"
  [[nodiscard]] std::string opcode(const CopyPhase& phase) const;
};

/// The plan with the widest vectors, at least `least` bytes wide. Declines conditions and edges.
Match<RemotePlan> remote_plan(const Call& call, std::int64_t least);

void emit_remote(const RemotePlan& plan, const Call& call, CodeWriter& code);

PlanReport remote_report(const RemotePlan& plan, const Call& call);

}  // namespace ww::lower
