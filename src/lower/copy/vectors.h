// SPDX-License-Identifier: Apache-2.0
// Copies as vector accesses: what `reg`, `gmem_smem` and the rest of a matrix copy have in common.
// A *phase* is a run of accesses of one width that the same threads make, one per round.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lower/copy/problem.h"
#include "lower/cost.h"
#include "lower/report.h"
#include "lower/tables.h"

namespace ww::lower {

/// The addresses of one side in a phase: a formula each for the constant part and for what
/// multiplies each runtime stride.
struct SideForm {
  AddressForm form;
  std::vector<std::pair<ir::ExprId, AddressForm>> strides;
};

/// How the accesses of a phase meet an edge: which coordinate each begins with, and whether it is
/// inside with all its elements or none, or may be cut off behind some of them.
struct EdgeForm {
  AddressForm form;
  bool is_cut = false;
};

struct Phase {
  std::int64_t bytes = 0;    // of one access
  std::int64_t vec = 1;      // elements of one access
  std::int64_t threads = 1;  // of the unit
  std::int64_t rounds = 1;
  std::vector<bool> used;  // which threads of the unit take part
  std::int64_t count = 0;  // accesses in all, where the last round is not full; 0: it is
  // By k·threads + u: the element that thread u begins with in round k, and its places before the
  // swizzle. Entries of threads that do not take part do not count.
  std::vector<std::int32_t> first;
  std::vector<std::int64_t> dst_places, src_places;
  SideForm dst, src;
  std::vector<EdgeForm> edges{};      // one for each of the source
  std::vector<EdgeForm> dst_edges{};  // and of the destination; never cut
  bool is_unrolled = false;  // loads of later rounds need not wait for stores of earlier ones
};

/// Widths of an access in bytes, widest first, that the copy may use.
std::vector<std::int64_t> access_widths(const Call& call, const CopyProblem& problem);

/// Finds the formulas of a phase from `first`; false when its addresses are irregular. A phase of
/// several rounds that fails may be cut into single rounds.
bool find_forms(const CopyProblem& problem, Phase& phase);

/// Elements of a flat view that holds all places of a side.
std::int64_t view_elements(const Call& call, const Side& side);

/// The settings that load_modifiers heeds.
inline constexpr std::string_view kLoadSettings = "cache l1_evict l2_evict prefetch_size";
/// How global memory is to be read, from the call's configuration (`cache="nc"`, `l1_evict=`,
/// `l2_evict=`, `prefetch_size=`): modifiers of `ld.global`, empty for none. Between which memories
/// they stand is verified (ir/tile_settings.def). Declines what the target does not have at the
/// widths of the phases.
Match<std::string> load_modifiers(const Call& call, std::span<const Phase> phases);

/// The code of the phases.
class PhaseWriter {
 public:
  /// `modifiers` as load_modifiers gives them.
  PhaseWriter(const Call& call, const CopyProblem& problem, Code& code, std::string modifiers = {});
  void write(const Phase& phase);
  /// The same with other accesses: `move` writes one, between element `to` and element `from` of
  /// the flat views.
  struct Access {
    ir::ExprId to, from;
    /// Does it copy? none: always. All of the predicate and the edges but for those below.
    ir::ExprId condition = {};
    /// Elements inside, where an edge may cut it: none, or an expression that may be negative or
    /// more than all.
    ir::ExprId inside = {};
    /// Is the destination inside its buffer? none: always.
    ir::ExprId stored = {};
  };
  using Move = std::function<void(const Access&)>;
  void write(const Phase& phase, const Move& move);
  ir::BufferId flat(bool is_dst) const { return is_dst ? dst_ : src_; }

 private:
  ir::ExprId address(const SideForm& form, const std::vector<ThreadPart>& parts, ir::ExprId k,
                     std::int64_t threads);
  std::vector<ThreadPart> thread_parts(const Side& side, const SideForm& form,
                                       std::string_view name);

  /// An edge of a side, up to what the round adds.
  struct EdgePart {
    const Edge* edge;
    const EdgeForm* form;
    ThreadPart beyond, above;  // how far an element is beyond the end, and above 0
  };
  std::vector<EdgePart> edge_parts(const Side& side, const std::vector<EdgeForm>& forms);
  void rounds(const Phase& phase, ir::ExprId predicate, const Move& move);
  /// Is an access inside at the edge? Where it may be cut, `inside` gets its elements instead.
  ir::ExprId inside_of(const EdgePart& part, ir::ExprId k, std::int64_t threads,
                       ir::ExprId& inside);
  void move(const Phase& phase, const Access& access);
  void fill(const Access& access);
  ir::BufferId new_words(num::DType type, std::int64_t words);
  void load_with_modifiers(const Phase& phase, ir::ExprId to, ir::ExprId from);

  const Call& call_;
  const CopyProblem& problem_;
  Code& code_;
  std::string modifiers_;
  ir::ExprId u_;
  ir::BufferId dst_, src_;
};

/// The end of an opcode: ".v4.b32" for 16 bytes.
std::string access_type(std::int64_t bytes);
/// Does the target have the instruction with these modifiers?
bool is_on_target(const std::string& opcode, target::Target target);

/// What holds for all plans: elements, bytes, threads, registers.
PlanReport begin_report(const Call& call, const CopyProblem& problem);
/// Counts instructions; equal ones are one row.
void add_instruction(PlanReport& report, std::string opcode, std::int64_t per_thread,
                     std::int64_t bytes);
/// Adds the phase's instructions and rounds to a report.
void add_phase(PlanReport& report, const CopyProblem& problem, const Phase& phase);
/// Adds the phase's accesses to a shared-memory operand.
void log_phase(AccessLog& log, const Phase& phase, bool is_dst);
/// The report of a plan that consists of phases.
PlanReport phases_report(const Call& call, const CopyProblem& problem,
                         const std::vector<Phase>& phases);

/// How the accesses of one thread to registers pair with memory, slot by slot: phases in ascending
/// order of registers. `wanted` limits them to some slots (none: all). The reason when an access
/// cannot be expressed.
Match<std::vector<Phase>> register_phases(const Call& call, const CopyProblem& problem,
                                          const std::vector<bool>* wanted_slots = nullptr);

/// Declines cluster scope.
Match<void> check_scope(const Call& call);
/// Declines targets without the feature that an instruction needs.
Match<void> check_target(const Call& call, std::string_view instruction, target::Feature feature);
/// Declines tensor memory, which loads and stores do not reach.
Match<void> check_no_tensor(const Call& call);
/// Declines other scopes than those of whole warps, by the first rule, and warps of which not all
/// lanes come, by the second.
Match<void> check_warps(const Call& call, std::string_view scope_rule,
                        std::string_view threads_rule);
/// Declines where the threads that arrive cannot be numbered: they differ between units, or follow
/// no formula.
Match<void> check_workers(const Call& call);

/// A copy between two memories, shared out among the threads of the unit in accesses of that width:
/// the vectors in the order of the global side's addresses, vector f·T + u to thread u in round f.
/// Nothing when the elements are not vectors of that width on both sides, or lie irregularly, or an
/// edge would cut them where that cannot be.
std::optional<Phase> shared_out_phase(const Call& call, const CopyProblem& problem,
                                      std::int64_t bytes);

/// The same with the widest vectors that there are; single elements where some become zero.
Match<Phase> memory_phase(const Call& call, const CopyProblem& problem);
/// The report of such a plan by loads and stores.
PlanReport memory_report(const Call& call, const CopyProblem& problem, const Phase& phase);
/// "4 rounds of 128 threads", and notes about threads that have less to do.
std::string rounds_text(PlanReport& report, const Phase& phase);

/// Which element thread u of the unit has in which slot of a register side: x = at(slot, u), -1 for
/// none. Every holder of an element of a destination gets it, one holder of a source's gives it.
struct RegisterMap {
  std::int64_t first_slot = 0;
  std::int64_t slots = 0;
  std::int64_t threads = 1;
  std::vector<std::int32_t> cells;

  [[nodiscard]] std::int32_t at(std::int64_t slot, std::int64_t u) const {
    return cells[static_cast<std::size_t>(slot * threads + u)];
  }
};
RegisterMap register_map(const Call& call, const Side& side, bool is_dst);

}  // namespace ww::lower
