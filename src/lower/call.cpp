// SPDX-License-Identifier: Apache-2.0
#include "lower/call.h"

#include <algorithm>

#include "ir/settings.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "lower/as_index.h"
#include "lower/code_writer.h"
#include "lower/index_formula.h"

namespace ww::lower {

std::int64_t Call::unit_threads() const {
  switch (tile.scope) {
    case ir::Unit::Thread:
      return 1;
    case ir::Unit::Warp:
      return 32;
    case ir::Unit::Warpgroup:
      return 128;
    case ir::Unit::Cluster:
      return context.launch.threads() * cluster_ctas();
    default:
      return context.launch.threads();
  }
}

std::int64_t Call::cluster_ctas() const {
  const auto& cluster = context.launch.cluster;
  return cluster[0] * cluster[1] * cluster[2];
}

ir::ExprId Call::cluster_rank(CodeWriter& code) const {
  ir::ExprId out = code.n(0);
  for (std::size_t d = 3; d-- > 0;) {
    const ir::VarId at = context.ids.cta_in_cluster[d];
    if (at.valid()) out = code.add(code.mul(out, context.launch.cluster[d]), code.var(at));
  }
  return code.simplify(out);
}

std::vector<std::int64_t> Call::unit_starts() const {
  std::vector<std::int64_t> out;
  const std::int64_t size = unit_threads();
  for (std::int64_t t = 0; t < context.launch.threads(); ++t) {
    const std::int64_t first = t / size * size;
    if (active.may[as_index(t)] && (out.empty() || out.back() != first)) out.push_back(first);
  }
  return out;
}

ir::ExprId Call::unit_thread(CodeWriter& code) const {
  if (tile.scope == ir::Unit::Thread) return code.n(0);
  const ir::ExprId linear = code.var(context.ids.linear_thread);
  if (is_of_cluster())
    return code.simplify(code.add(code.mul(cluster_rank(code), context.launch.threads()), linear));
  return tile.scope == ir::Unit::Cta ? linear : code.mod(linear, unit_threads());
}

std::vector<std::int64_t> Call::workers() const {
  std::vector<std::int64_t> seen;
  const std::int64_t size = unit_threads(), of_cta = context.launch.threads();
  const std::int64_t end = is_of_cluster() ? size : of_cta;
  for (const std::int64_t first : unit_starts()) {
    std::vector<std::int64_t> here;
    for (std::int64_t t = first; t < std::min(first + size, end); ++t)
      if (active.may[as_index(t % of_cta)]) here.push_back(t - first);
    if (!seen.empty() && seen != here) return {};
    seen = std::move(here);
  }
  if (seen.empty()) seen.resize(as_index(size));  // no thread comes
  return seen;
}

ir::ExprId Call::worker(CodeWriter& code) const {
  const std::vector<std::int64_t> all = workers();
  const ir::ExprId u = unit_thread(code);
  const std::int64_t size = unit_threads();
  if (std::ssize(all) == size) return u;
  std::vector<std::int64_t> rank(as_index(size), 0);
  std::vector<bool> used(as_index(size), false);
  for (std::size_t i = 0; i < all.size(); ++i) {
    rank[as_index(all[i])] = static_cast<std::int64_t>(i);
    used[as_index(all[i])] = true;
  }
  const auto form = fit_table(rank, used);
  return form ? code.simplify(digits_expr(code, *form, u)) : ir::ExprId{};
}

const ir::Setting* Call::setting(std::string_view name) const {
  return ir::find_setting(tile, name);
}

Unexpected<Decline> decline_with(Rule rule, fmt::string_view format, fmt::format_args args) {
  return Unexpected(Decline{std::string(rule.name), fmt::vformat(format, args)});
}

ir::Region whole_region(ir::Function& f, ir::BufferId buffer) {
  ir::Region out;
  out.buffer = buffer;
  for (const ir::ExprId extent : f[buffer].shape)
    out.ranges.push_back({.min = ir::int_imm(f, num::DType::Int32, 0), .extent = extent});
  return out;
}

Unexpected<Decline> other_memories(const Call& call, std::string_view expected) {
  return decline("memory_pair", "{} to {}, expected {}", ir::name_of(call.memory(1)),
                 ir::name_of(call.memory(0)), expected);
}

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
  CodeWriter write(call.f(), call.context.facts, call.span);
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

Call with_tile(const Call& call, const ir::TileCall& tile) {
  Call out{call.context, tile, call.span, call.active};
  out.may_repeat = call.may_repeat;
  out.is_in_loop = call.is_in_loop;
  out.registers = call.registers;
  return out;
}
}  // namespace ww::lower
