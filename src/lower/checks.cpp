// SPDX-License-Identifier: Apache-2.0
#include "lower/checks.h"

#include <algorithm>

#include "isa/catalogue.h"
#include "isa/check.h"
#include "lower/expr_writer.h"

namespace ww::lower {

Match<void> check_scope(const Call& call) {
  if (call.tile.scope != ir::Unit::Cluster) return {};
  return decline("scope", "{} scope, expected thread, warp, warpgroup or cta",
                 ir::name_of(call.tile.scope));
}

Match<void> check_target(const Call& call, std::string_view instruction, target::Feature feature) {
  if (call.context.target.has(feature)) return {};
  return decline("arch", "{} needs {}, the target is {}", instruction,
                 target::to_text(target::archs_with(feature)),
                 target::info(call.context.target.arch).name);
}

Match<void> check_warps(const Call& call, Rule scope_rule, Rule threads_rule) {
  const ir::Unit scope = call.tile.scope;
  if (scope != ir::Unit::Warp && scope != ir::Unit::Warpgroup && scope != ir::Unit::Cta)
    return decline(scope_rule, "{} scope, expected warp, warpgroup or cta", ir::name_of(scope));
  if (call.context.launch.threads() % 32 != 0)
    return decline(threads_rule, "{} threads are not whole warps", call.context.launch.threads());
  if (!call.active.together(ir::Unit::Warp))
    return decline(threads_rule, "not whole warps arrive: {}",
                   ir::to_text(call.active, call.context.launch));
  return {};
}

Match<void> check_all_arrive(const Call& call) {
  const bool is_whole =
      std::ssize(call.workers()) == call.unit_threads() && call.active.together(call.tile.scope) &&
      (call.is_of_cluster() || call.context.launch.threads() % call.unit_threads() == 0);
  if (is_whole) return {};
  return decline("threads", "not all threads of the {} arrive, which waits at a barrier: {}",
                 ir::name_of(call.tile.scope), ir::to_text(call.active, call.context.launch));
}

Match<void> check_workers(const Call& call) {
  CodeWriter scratch(call.f(), call.context.facts, call.span);
  if (!call.workers().empty() && call.worker(scratch).valid()) return {};
  const std::int64_t threads = call.context.launch.threads();
  if (threads % call.unit_threads() != 0)
    return decline("threads", "the {} threads of a CTA are not whole {}s", threads,
                   ir::name_of(call.tile.scope));
  return decline("threads", "the threads that arrive cannot be numbered: {}",
                 ir::to_text(call.active, call.context.launch));
}

Match<std::int64_t> constant_extent(const Call& call, std::size_t operand, std::size_t dimension) {
  ExprWriter write(call.f(), call.context.facts, call.span);
  const auto extent = write.constant(write.simplify(call.region(operand).ranges[dimension].extent));
  if (!extent)
    return decline("extents", "an extent of `{}` is known at run time only",
                   call.buffer(operand).name);
  return *extent;
}

bool is_on_target(const std::string& opcode, target::Target target) {
  return std::ranges::any_of(isa::opcode_of(opcode).forms(), [&](const isa::Binding& binding) {
    return !isa::missing_on(binding, target);
  });
}

bool has_cache_policy(const ir::PtxCall& call) {
  return !call.opcode.binding().word("hint").empty();
}

}  // namespace ww::lower
