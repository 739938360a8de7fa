// SPDX-License-Identifier: Apache-2.0
// What a variant is asked about: one tile primitive with everything around it that matters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/expected.h"
#include "ir/function.h"
#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"
#include "ir/launch/thread_values.h"
#include "ir/simplify/simplify.h"
#include "lower/code_writer.h"
#include "lower/launch_ids.h"
#include "lower/rules.h"
#include "target/target.h"

namespace ww::lower {

/// A variant's reasoned no: the rule that was not met, and the values seen.
struct Decline {
  std::string rule;
  std::string reason;
};
template <typename T>
using Match = Expected<T, Decline>;

Unexpected<Decline> decline_with(Rule rule, fmt::string_view format, fmt::format_args args);

template <typename... Args>
Unexpected<Decline> decline(Rule rule, fmt::format_string<Args...> format, Args&&... args) {
  return decline_with(rule, format, fmt::make_format_args(args...));
}

/// Shared memory between the threads of units of one kind (lower/scratch.h).
struct ScratchBuffer {
  ir::Unit unit;
  int bits;  // of an element
  ir::BufferId buffer;
  std::int64_t elements;       // of all units
  std::int64_t piece = 0;      // elements of a unit that lie side by side; 0: units take turns
  std::int64_t first_bit = 0;  // in `buffer`; not 0 in a workspace only
  std::int64_t site = 0;       // of one call only, by its number from 1 on; 0: calls share it
  /// A barrier of the cluster stands behind all that earlier calls, or rounds, do there.
  bool is_settled = false;
  bool is_mbarrier =
      false;  // at which one thread arrives, and which is made where the kernel begins
};

struct LayoutPlaces;
struct KnownNames;
struct KnownPlaces;

/// What is the same for all calls of a function. The function's scope ids are resolved; its buffers
/// still have their layouts.
struct Context {
  ir::Function& f;
  const ir::LaunchShape& launch;
  const LaunchVars& ids;
  ir::Facts& facts;
  ir::ThreadValues& values;
  target::Target target;
  std::vector<ScratchBuffer> scratch = {};
  bool writes_other_ctas = false;  // code does, into their shared memory
  /// Registers that count how often calls are made, modulo 4 (lower/reduce/cluster.cpp).
  std::vector<ir::BufferId> turns = {};
  /// Tensor maps to prefetch where the kernel begins.
  std::vector<ir::VarId> prefetched = {};
  /// By buffer: what lower/proof/names.cpp has enumerated.
  std::unordered_map<std::uint32_t, std::shared_ptr<const LayoutPlaces>> layout_places = {};
  /// The last regions that lower/proof/names.h was asked about: most are the same in all trials, and
  /// tiles go from one call to the next.
  std::vector<std::shared_ptr<const KnownNames>> names = {};
  /// The last operands that lower/operand_places.h was asked about: tiles go from one call to the next.
  std::vector<std::shared_ptr<const KnownPlaces>> places = {};
};

struct CopyProblem;

struct Call {
  Context& context;
  const ir::TileCall& tile;
  Span span;
  const ir::ActiveSet& active;
  /// What lower/copy/problem.h has worked out about the call, for the variants that ask next.
  mutable std::optional<Match<std::shared_ptr<const CopyProblem>>> copy = {};
  /// What lower/scratch.h uses of the caller's workspace, once code is written.
  mutable std::optional<ScratchBuffer> workspace = {};
  /// By expression: its number in lower/proof/values.h, from 1 on, in the order of questions.
  mutable std::vector<std::uint32_t> value_numbers = {};
  mutable std::uint32_t value_count = 0;
  /// May the call be made twice with no barrier of the cluster between the two? (lower/scratch.h)
  bool may_repeat = true;
  bool is_in_loop = true;
  /// Registers of a thread here, where `setmaxnreg` has set them.
  std::optional<std::int64_t> registers = {};

  [[nodiscard]] ir::Function& f() const { return context.f; }
  /// Threads of the unit that executes the call together: 1, 32, 128, the whole CTA, or those of
  /// all CTAs of the cluster, one CTA after the other.
  [[nodiscard]] std::int64_t unit_threads() const;
  [[nodiscard]] bool is_of_cluster() const { return tile.scope == ir::Unit::Cluster; }
  [[nodiscard]] std::int64_t cluster_ctas() const;
  /// The number of the executing CTA within its cluster.
  [[nodiscard]] ir::ExprId cluster_rank(CodeWriter& code) const;
  /// The first thread of each unit that comes here.
  [[nodiscard]] std::vector<std::int64_t> unit_starts() const;
  /// The number of the executing thread within its unit.
  [[nodiscard]] ir::ExprId unit_thread(CodeWriter& code) const;
  /// Threads of a unit that come here, by their number in it: all of them, unless a copy between
  /// memories stands where only part of a unit arrives. Empty when that part differs between units.
  [[nodiscard]] std::vector<std::int64_t> workers() const;
  /// The number of the executing thread among the workers; none when no formula gives it.
  [[nodiscard]] ir::ExprId worker(CodeWriter& code) const;
  /// The value of a setting of the call's configuration, or nullptr.
  [[nodiscard]] const ir::Setting* setting(std::string_view name) const;
  [[nodiscard]] const ir::Region& region(std::size_t argument) const {
    return std::get<ir::Region>(tile.args[argument]);
  }
  [[nodiscard]] const ir::Buffer& buffer(std::size_t argument) const {
    return context.f[region(argument).buffer];
  }
  /// The memory that an operand is in.
  [[nodiscard]] ir::Scope memory(std::size_t argument) const { return buffer(argument).scope; }
};

/// The call that is made in place of another.
Call with_tile(const Call& call, const ir::TileCall& tile);

/// All elements of a buffer.
ir::Region whole_region(ir::Function& f, ir::BufferId buffer);

// --- checks --------------------------------------------------------------------------------------

// Questions about a call that variants of several primitives ask: who executes it, and for which
// target.

/// Declines a copy between two memories: "… to …, expected {what}".
Unexpected<Decline> other_memories(const Call& call, std::string_view expected);
/// Declines cluster scope.
Match<void> check_scope(const Call& call);
/// Declines targets without the feature that an instruction needs.
Match<void> check_target(const Call& call, std::string_view instruction, target::Feature feature);
/// Declines other scopes than those of whole warps, by the first rule, and warps of which not all
/// lanes come, by the second.
Match<void> check_warps(const Call& call, Rule scope_rule, Rule threads_rule);
/// Declines where not all threads of the unit come together, as a barrier of it needs.
Match<void> check_all_arrive(const Call& call);
/// Declines where the threads that arrive cannot be numbered: they differ between units, or follow
/// no formula.
Match<void> check_workers(const Call& call);

/// How far the region of an operand reaches in a dimension; declines what is known at run time only.
Match<std::int64_t> constant_extent(const Call& call, std::size_t operand, std::size_t dimension);

/// Does the target have the instruction with these modifiers?
bool is_on_target(const std::string& opcode, target::Target target);
/// Is the last operand the policy of `.L2::cache_hint`?
bool has_cache_policy(const ir::PtxCall& call);

}  // namespace ww::lower
