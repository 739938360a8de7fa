// SPDX-License-Identifier: Apache-2.0
// The code of phases: addresses from their formulas, accesses, conditions, load modifiers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lower/copy/phase.h"
#include "lower/cost.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Declines settings that phase_plan ignores.
inline Match<void> check_load_settings(const Call& call) {
  return check_settings(call, {"cache", "l1_evict", "l2_evict", "prefetch_size"});
}
/// How `ld.global` treats the caches.
struct LoadModifiers {
  std::string text;                         // empty: none
  std::optional<std::int64_t> policy = {};  // the operand of `.L2::cache_hint` in the text
};
/// A copy by phases, and how it reads global memory.
struct PhasePlan {
  std::shared_ptr<const CopyProblem> problem;
  std::vector<CopyPhase> phases;
  LoadModifiers modifiers;
};
/// Takes the modifiers from the call's configuration (`cache="nc"`, `l1_evict=`, `l2_evict=`,
/// `prefetch_size=`); between which memories they stand is verified (ir/tile_settings.def).
/// `l2_evict=` becomes a cache policy where the phases are narrower than what `.L2::evict_…` needs.
/// Declines what the target does not have at the widths of the phases.
Match<PhasePlan> phase_plan(const Call& call, std::shared_ptr<const CopyProblem> problem,
                            std::vector<CopyPhase> phases);
void emit_phases(const PhasePlan& plan, const Call& call, CodeWriter& code);

/// The code of the phases.
class PhaseWriter {
 public:
  /// `modifiers` as in a plan.
  PhaseWriter(const Call& call, const CopyProblem& problem, CodeWriter& code,
              LoadModifiers modifiers = {});
  void write(const CopyPhase& phase);
  /// The same with other accesses: `move` writes one, between element `to` and element `from` of
  /// the flat views.
  struct Access {
    ir::ExprId to, from;
    /// Does it copy? none: always. All of the predicate, the mask and the source's edges but for
    /// those below.
    ir::ExprId condition = {};
    /// Elements of the source that are inside, where an edge may cut it: none, or an expression
    /// that may be negative or more than all.
    ir::ExprId inside = {};
    /// Is the destination inside its buffer? none: always. All of its edges but for those below.
    ir::ExprId stored = {};
    /// Elements of the destination that are inside, as for the source.
    ir::ExprId room = {};
  };
  using Move = std::function<void(const Access&)>;
  void write(const CopyPhase& phase, const Move& move);
  ir::BufferId flat(bool is_dst) const { return is_dst ? dst_ : src_; }
  /// Is all of the source inside? none: always.
  ir::ExprId is_whole(const CopyPhase& phase, const Access& access);
  /// Stores the fill value instead of an access; the destination is memory, and not cut.
  void store_fill(const CopyPhase& phase, const Access& access);
  /// The elements inside of accesses that an edge cuts, if they have not been written with them: an
  /// own loop, so that the rounds have no branches between their loads.
  void write_tails(const CopyPhase& phase);

 private:
  std::vector<ThreadPart> thread_parts(const OperandPlaces& side, const PlaceForm& form,
                                       std::string_view name, bool is_single = false);
  [[nodiscard]] bool is_narrow(const OperandPlaces& side) const;

  /// An edge of a side, up to what the round adds.
  struct EdgePart {
    const Edge* edge;
    const EdgeForm* form;
    ThreadPart beyond, above;  // how far an element is beyond the end, and above 0
    bool is_split = false;     // the round is compared with what is left up to the end, or above 0
  };
  std::vector<EdgePart> edge_parts(const OperandPlaces& side, const std::vector<EdgeForm>& forms,
                                   bool is_single);
  void rounds(const CopyPhase& phase, ir::ExprId predicate, bool is_unrolled, const Move& move);
  /// Is an access inside at the edge? Where it may be cut, `inside` gets its elements instead.
  ir::ExprId inside_of(const EdgePart& part, ir::ExprId k, std::int64_t threads,
                       ir::ExprId& inside);
  void move(const CopyPhase& phase, const Access& access);
  void copy(const CopyPhase& phase, const Access& access);
  [[nodiscard]] bool has_tails(const CopyPhase& phase) const;
  void tail(const CopyPhase& phase, const Access& access);
  void fill(const Access& access);
  void fill_registers(const CopyPhase& phase, const Access& access);
  void fill_memory(const CopyPhase& phase, const Access& access);
  void fill_all(const CopyPhase& phase, ir::BufferId into, ir::ExprId first);
  void copy_bytes(const CopyPhase& phase, ir::BufferId into, ir::ExprId to, ir::BufferId of,
                  ir::ExprId from);
  /// One access, or as many elements as `count` says one by one, now or as tails; none: one access.
  void carry(const CopyPhase& phase, ir::ExprId count, ir::BufferId into, ir::ExprId to,
             ir::BufferId of, ir::ExprId from);
  template <typename Part>
  void parts(const CopyPhase& phase, ir::ExprId count, Part&& part);
  void load_with_modifiers(const CopyPhase& phase, ir::ExprId to, ir::ExprId from);

  const Call& call_;
  const CopyProblem& problem_;
  CodeWriter& code_;
  LoadModifiers modifiers_;
  ir::ExprId u_;
  ir::ExprId fill_value_ = {};  // where it may arrive
  ir::BufferId dst_, src_;
  ir::BufferId mask_ = {};  // where there is one
};

/// The end of an opcode: ".v4.b32" for 16 bytes.
std::string access_type(std::int64_t bytes);
/// "ld.shared.v4.b32"
std::string access_opcode(std::string_view op, const OperandPlaces& side, std::int64_t bytes);

// --- what phases cost ----------------------------------------------------------------------------

/// What holds for all plans: elements, bytes, threads, registers.
PlanReport copy_report(const Call& call, const CopyProblem& problem);
/// Adds the phase's instructions and rounds to a report.
void add_phase(PlanReport& report, const CopyProblem& problem, const CopyPhase& phase);
/// Adds accesses to places in shared memory, in all rounds or once.
void log_rounds(AccessLog& log, const Rounds& rounds, std::int64_t bytes,
                const std::vector<std::int64_t>& places, bool is_once = false);
/// Adds the phase's accesses to a shared-memory operand.
void log_phase(AccessLog& log, const CopyPhase& phase, bool is_dst);
/// The report of a plan that consists of phases.
PlanReport phases_report(const Call& call, const CopyProblem& problem,
                         const std::vector<CopyPhase>& phases);

/// The report of such a plan by loads and stores.
PlanReport memory_report(const Call& call, const CopyProblem& problem, const CopyPhase& phase);
/// "4 rounds of 128 threads", and notes about threads that have less to do.
std::string rounds_text(PlanReport& report, const CopyPhase& phase);

}  // namespace ww::lower
