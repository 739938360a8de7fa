// SPDX-License-Identifier: Apache-2.0
#include "eval/eval.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "eval/cta/cta.h"
#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/launch/launch.h"
#include "eval/memory/storage.h"
#include "eval/sync/barriers.h"
#include "eval/tile/primitives.h"

namespace ww::eval {
namespace {

// --- arguments -----------------------------------------------------------------------------------
//
// Memory of parameters, which the host copies before and after a launch.

// Both have the same size: 0, at no address, where nothing is matched to a parameter.
template <typename To, typename From>
void copy_all(std::vector<To>& to, const std::vector<From>& from) {
  static_assert(sizeof(To) == 1 && sizeof(From) == 1);
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

// Whether element after element lies in memory as in the argument.
bool is_as_packed(const BufferInfo& info, const Root& root, const BufferArg& argument) {
  const auto bits = static_cast<std::int64_t>(argument.bytes->size()) * 8;
  return info.placement.is_plain() && info.offset_bits == 0 && info.size * info.bits == bits &&
         argument.bytes->size() <= root.bytes;
}

// The memory of a parameter, filled from its argument through the layout of the buffer.
Storage load_argument(const Launch& launch, const Root& root, const BufferArg& argument) {
  Storage storage(root.bytes, root.granule, !root.buffer.valid() && argument.is_defined);
  std::vector<std::uint8_t> packed(argument.bytes->size());
  copy_all(packed, *argument.bytes);
  if (!root.buffer.valid()) {
    storage.bytes() = std::move(packed);
    storage.keep_written();
    return storage;
  }
  const BufferInfo& info = launch.info(root.buffer);
  if (is_as_packed(info, root, argument)) {
    storage = Storage(root.bytes, root.granule, argument.is_defined);
    std::copy(packed.begin(), packed.end(), storage.bytes().begin());
    storage.keep_written();
    return storage;
  }
  Storage source(packed.size(), 1, true);
  source.bytes() = std::move(packed);
  for (std::int64_t flat = 0; flat < info.size; ++flat)
    for (std::size_t copy = 0; copy < info.placement.copies(); ++copy) {
      const std::int64_t bit =
          info.placement.spot(flat, copy).memory * info.bits + info.offset_bits;
      const Word undefined = argument.is_defined ? 0 : ~Word{0};
      if (storage.holds(bit, info.bits))
        storage.put(bit, info.bits, source.value(flat * info.bits, info.bits), undefined);
    }
  storage.keep_written();
  return storage;
}

// The other way round; `written` gets a flag for each element.
void store_argument(const Launch& launch, const Root& root, Storage& storage,
                    const BufferArg& argument, std::vector<bool>& written) {
  if (!root.buffer.valid()) {
    copy_all(*argument.bytes, storage.bytes());
    for (std::size_t i = 0; i < argument.bytes->size(); ++i)
      written.push_back(storage.was_written(static_cast<std::int64_t>(i) * 8, 8));
    return;
  }
  const BufferInfo& info = launch.info(root.buffer);
  written.assign(static_cast<std::size_t>(info.size), false);
  if (is_as_packed(info, root, argument)) {
    copy_all(*argument.bytes, storage.bytes());
    for (std::int64_t flat = 0; flat < info.size; ++flat)
      written[static_cast<std::size_t>(flat)] = storage.was_written(flat * info.bits, info.bits);
    return;
  }
  Storage target(argument.bytes->size(), 1, true);
  copy_all(target.bytes(), *argument.bytes);
  for (std::int64_t flat = 0; flat < info.size; ++flat) {
    const std::int64_t bit = info.placement.spot(flat).memory * info.bits + info.offset_bits;
    if (!storage.holds(bit, info.bits)) continue;
    target.put(flat * info.bits, info.bits, storage.value(bit, info.bits), 0);
    written[static_cast<std::size_t>(flat)] = storage.was_written(bit, info.bits);
  }
  copy_all(*argument.bytes, target.bytes());
}

// --- calls of a cluster --------------------------------------------------------------------------
//
// Primitives that the CTAs of a cluster execute together: all of them reach the call and wait.

// The threads of a CTA that have not ended.
std::vector<Thread> threads_of(const Cta& cta) {
  std::vector<Thread> out;
  for (std::size_t t = 0; t < cta.thread_count(); ++t)
    if (cta.status[t] != Status::Exited) out.push_back(static_cast<Thread>(t));
  return out;
}

void report_apart(Cta& cta, const Cta& other) {
  Finding* found = finding(cta, Check::Barrier);
  if (found == nullptr) return;
  found->text = fmt::format("{} waits for its cluster here, and {} {}", cta_text(cta),
                            cta_text(other), is_done(other) ? "has ended" : "elsewhere");
  if (cluster_step(other) == kNoStep) return;
  found->note = fmt::format("{} waits here", cta_text(other));
  found->note_span = span_of(other, cluster_step(other));
}

// Does a CTA that waits for its cluster wait for a primitive, not at a barrier?
bool is_at_cluster_call(const Cta& cta) {
  const std::uint32_t step = is_done(cta) ? kNoStep : cluster_step(cta);
  return step != kNoStep && cta.launch.steps[step].kind == StepKind::Tile;
}

// Executes the primitive for which they wait, and lets them continue. All must have reached the
// same one; otherwise false, and a finding.
bool run_cluster_call(std::deque<Cta>& ctas) {
  const auto first = std::find_if(ctas.begin(), ctas.end(), is_at_cluster_call);
  const std::uint32_t step = cluster_step(*first);
  std::vector<std::vector<Thread>> threads;
  std::vector<ReduceMember> members;
  for (Cta& cta : ctas) {
    if (is_done(cta) || cluster_step(cta) != step) {
      first->step = step;
      report_apart(*first, cta);
      return false;
    }
    cta.step = step;
    cta.order.tick();
    threads.push_back(threads_of(cta));
  }
  for (std::size_t c = 0; c < ctas.size(); ++c)
    members.push_back({.cta = &ctas[c],
                       .unit = {.agent = {AgentKind::Cta, 0},
                                .first = 0,
                                .size = static_cast<std::int64_t>(ctas[c].thread_count()),
                                .threads = threads[c],
                                .is_of_cluster = true}});
  const ir::Function& f = ctas[0].f;
  const ir::TileCall& call = f[f[ctas[0].launch.steps[step].stmt].tile];
  tile_reduce(members, call);
  for (Cta& cta : ctas) {
    forget_workspace(cta, call);
    pass_cluster(cta);
  }
  return true;
}

Coordinates unflatten(std::int64_t number, const Coordinates& extents) {
  return {number % extents[0], number / extents[0] % extents[1],
          number / (extents[0] * extents[1])};
}

std::int64_t volume(const Coordinates& extents) { return extents[0] * extents[1] * extents[2]; }

// The CTAs of a cluster take turns until all have ended or none can go on. False: the run ends.
bool run_cluster(Run& run, std::deque<Cta>& ctas, Clock& clock) {
  while (!run.stop) {
    bool all_done = true;
    bool all_wait = true;
    for (Cta& cta : ctas) {
      advance(cta);
      all_done = all_done && is_done(cta);
      all_wait = all_wait && (is_done(cta) || waits_for_cluster(cta));
    }
    if (all_done) break;
    // An arrival, or bytes, at an mbarrier of a CTA that had its turn.
    if (std::any_of(ctas.begin(), ctas.end(), can_run)) continue;
    const bool is_call = all_wait && std::any_of(ctas.begin(), ctas.end(), is_at_cluster_call);
    if (is_call) {
      if (!run_cluster_call(ctas)) return false;
      continue;
    }
    if (!all_wait) {
      for (Cta& cta : ctas)
        if (!is_done(cta) && !run.stop) report_stuck(cta);
      return false;
    }
    bool orders = true;
    for (Cta& cta : ctas) orders = release_cluster(cta) && orders;
    if (orders) clock.cluster_floor = clock.now++;
  }
  if (run.stop) return false;
  for (Cta& cta : ctas) report_leftovers(cta);
  return true;
}

void run_grid(Run& run) {
  const Launch& launch = run.launch;
  const Coordinates cluster = launch.shape.cluster;
  Coordinates clusters{};
  for (std::size_t d = 0; d < 3; ++d) clusters[d] = launch.grid[d] / cluster[d];
  std::uint32_t number = 0;
  for (std::int64_t c = 0; c < volume(clusters); ++c) {
    Clock clock;
    std::deque<Cta> ctas;
    const Coordinates at = unflatten(c, clusters);
    for (std::int64_t k = 0; k < volume(cluster); ++k) {
      const Coordinates in = unflatten(k, cluster);
      ctas.emplace_back(run, clock, number++,
                        Coordinates{at[0] * cluster[0] + in[0], at[1] * cluster[1] + in[1],
                                    at[2] * cluster[2] + in[2]});
    }
    for (Cta& cta : ctas) cta.cluster = &ctas;
    if (!run_cluster(run, ctas, clock)) return;
  }
}

}  // namespace

Result<Report> run(const ir::Function& function, std::vector<Argument> arguments,
                   const Options& options) {
  const Launch launch = WW_TRY(make_launch(function, arguments, options));
  Run state(launch, options);
  state.globals.resize(launch.roots.size());
  for (std::size_t r = 0; r < launch.roots.size(); ++r)
    if (launch.roots[r].scope == ir::Scope::Global)
      state.globals[r] = load_argument(launch, launch.roots[r],
                                       std::get<BufferArg>(arguments[launch.roots[r].param]));
  run_grid(state);
  if (state.stop) return fail(*std::move(state.stop));
  Report report;
  state.findings.move_to(report);
  report.grid = launch.grid;
  report.steps = state.steps;
  report.printed = std::move(state.printed);
  report.written.resize(function.params.size());
  for (std::size_t r = 0; r < launch.roots.size(); ++r) {
    const Root& root = launch.roots[r];
    if (root.scope != ir::Scope::Global) continue;
    store_argument(launch, root, state.globals[r], std::get<BufferArg>(arguments[root.param]),
                   report.written[root.param]);
  }
  return report;
}

}  // namespace ww::eval
