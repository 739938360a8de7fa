// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/work.h"

#include <algorithm>
#include <tuple>

#include "base/join.h"
#include "ir/elementwise.h"
#include "layout/apply.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/elementwise/holders.h"

namespace ww::lower {

namespace {

Match<OperandPlaces> places_of(const Call& call, std::size_t argument) {
  const ir::Buffer& buffer = call.buffer(argument);
  if (buffer.scope == ir::Scope::Tmem)
    return decline("memory",
                   "`{}` is in tensor memory, expected registers, shared or global memory",
                   buffer.name);
  OperandPlaces side = WW_TRY(operand_places(call, argument));
  WW_TRY_VOID(check_width(call, side));
  if (side.is_register()) WW_TRY_VOID(check_cells(call, side, argument));
  return side;
}

Match<void> check_dst(const Call& call, const OperandPlaces& dst) {
  if (dst.is_register()) return {};
  if (dst.replicas.size() > 1)
    return decline("replica", "`{}` holds each element at {} places", call.buffer(0).name,
                   dst.replicas.size());
  return {};
}

// --- overlap -------------------------------------------------------------------------------------

// The first element of `dst` that shares bits with one of `src`.
std::optional<std::size_t> first_shared(const std::vector<std::int64_t>& dst, int dst_bits,
                                        std::vector<std::int64_t> src, int src_bits) {
  std::ranges::sort(src);
  for (std::size_t x = 0; x < dst.size(); ++x) {
    const auto after = std::ranges::upper_bound(src, dst[x] - src_bits);
    if (after != src.end() && *after < dst[x] + dst_bits) return x;
  }
  return std::nullopt;
}

// Threads read and write in turn: a source may be in the storage of the destination where it is the
// destination, element by element, or apart from it.
Match<void> check_source(const Call& call, const OperandPlaces& dst, const OperandPlaces& src) {
  const ir::Function& f = call.f();
  const ir::BufferId storage = ir::storage_of(f, dst.buffer);
  if (storage != ir::storage_of(f, src.buffer) || are_apart(f, dst.buffer, src.buffer)) return {};
  if (are_same_places(f, dst, src)) return {};
  const auto written = bit_places(call, dst), read = bit_places(call, src);
  if (!written || !read || src.replicas.size() > 1 || dst.replicas.size() > 1)
    return decline("overlap", "`{}` may overlap `{}` in `{}`: where they are is known at run time",
                   f[src.buffer].name, f[dst.buffer].name, f[storage].name);
  const auto shared = first_shared(*written, dst.bits, *read, src.bits);
  if (!shared) return {};
  return decline("overlap", "element {} of `{}` is written where another element of `{}` is read",
                 *shared, f[dst.buffer].name, f[src.buffer].name);
}

}  // namespace

Match<ElementwiseProblem> mixed_problem(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  std::vector<std::int64_t> extents;  // of the destination
  const ElementwiseProblem p =
      WW_TRY(elementwise_problem(call, [&](std::size_t argument) -> Match<OperandPlaces> {
        OperandPlaces side = WW_TRY(places_of(call, argument));
        if (argument == 0) {
          WW_TRY_VOID(check_dst(call, side));
          extents = extents_of(call, call.region(0));
          return side;
        }
        if (!side.is_register()) side.replicas.resize(1);
        return stretched_places(std::move(side),
                                stretched(extents, extents_of(call, call.region(argument))));
      }));
  const auto sides = p.sides();
  if (std::ranges::all_of(sides, &OperandPlaces::is_register))
    return decline("memory", "all operands are in registers");
  for (const OperandPlaces* side : sides)
    if (side != &p.dst) WW_TRY_VOID(check_source(call, p.dst, *side));
  return p;
}

// --- who works -----------------------------------------------------------------------------------

namespace {

class TaskMaker {
 public:
  TaskMaker(const Call& call, const ElementwiseProblem& problem)
      : call_(call), p_(problem), sides_(problem.sides()), tasks_(as_index(call.unit_threads())) {
    std::vector<std::int64_t> each(as_index(p_.elements));
    for (std::size_t x = 0; x < each.size(); ++x) each[x] = static_cast<std::int64_t>(x);
    for (const OperandPlaces* side : sides_) {
      holders_.emplace_back();
      if (side->is_register()) holders_.back().emplace(*side, call.unit_threads(), each);
    }
  }

  Match<std::vector<std::vector<Task>>> make() {
    WW_TRY_VOID(p_.dst.is_register() ? by_destination() : by_sources());
    return std::move(tasks_);
  }

 private:
  Match<void> by_destination() {
    std::vector<ElementCell> cells = cells_of(p_.dst, call_.unit_threads());
    std::ranges::sort(cells, {}, [](const ElementCell& cell) {
      return std::tuple(cell.thread, cell.slot, cell.x);
    });
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const ElementCell& cell = cells[i];
      if (i > 0 && cells[i - 1].thread == cell.thread && cells[i - 1].slot == cell.slot) {
        if (cells[i - 1].x == cell.x) continue;
        return decline(
            "collision", "elements {} and {} of `{}` are both in register {} of thread {}",
            text(cells[i - 1].x), text(cell.x), call_.buffer(0).name, cell.slot, cell.thread);
      }
      Task task{.x = cell.x, .slots = {cell.slot}};
      for (std::size_t s = 1; s < sides_.size(); ++s) {
        const auto slot = slot_of(s, cell.x, cell.thread);
        if (!slot) return elsewhere(s, cell);
        task.slots.push_back(*slot);
      }
      tasks_[as_index(cell.thread)].push_back(std::move(task));
    }
    return {};
  }

  // The first thread that holds all sources of an element computes it, in the order in which the
  // destination has them.
  Match<void> by_sources() {
    for (std::int64_t x = 0; x < p_.elements; ++x) {
      const auto thread = common_thread(x);
      if (!thread)
        return decline("owner",
                       "no thread holds all sources of element {} of `{}` in its registers",
                       text(x), call_.buffer(0).name);
      Task task{.x = x, .slots = {0}};
      for (std::size_t s = 1; s < sides_.size(); ++s) task.slots.push_back(*slot_of(s, x, *thread));
      tasks_[as_index(*thread)].push_back(std::move(task));
    }
    const auto place = [&](const Task& task) {
      std::int64_t far = 0;
      for (const RuntimeStride& stride : p_.dst.strides)
        far = far * 4096 + stride.coef[as_index(task.x)];
      return std::pair(far, p_.dst.linear[as_index(task.x)]);
    };
    for (std::vector<Task>& each : tasks_) std::ranges::stable_sort(each, {}, place);
    return {};
  }

  [[nodiscard]] std::optional<std::int64_t> common_thread(std::int64_t x) const {
    const auto first = std::ranges::find_if(holders_, [](const auto& h) { return h.has_value(); });
    for (const std::int64_t thread : (*first)->threads_of(x))
      if (std::ranges::all_of(holders_, [&](const std::optional<Holders>& h) {
            return !h || h->slot(x, thread).has_value();
          }))
        return thread;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> slot_of(std::size_t side, std::int64_t x,
                                                    std::int64_t thread) const {
    return holders_[side] ? holders_[side]->slot(x, thread) : std::optional<std::int64_t>(0);
  }
  [[nodiscard]] Unexpected<Decline> elsewhere(std::size_t side, const ElementCell& to) const {
    return decline("owner",
                   "element {} of `{}` is in register {} of thread {}, its source of `{}` in "
                   "thread {}",
                   text(to.x), call_.buffer(0).name, to.slot, to.thread,
                   call_.f()[sides_[side]->buffer].name, holders_[side]->owner(to.x));
  }
  [[nodiscard]] std::string text(std::int64_t x) const {
    return fmt::format("({})",
                       join(layout::unflatten(x, extents_of(call_, call_.region(0))), ", "));
  }

  const Call& call_;
  const ElementwiseProblem& p_;
  std::vector<const OperandPlaces*> sides_;
  std::vector<std::optional<Holders>> holders_;  // by side
  std::vector<std::vector<Task>> tasks_;
};

}  // namespace

Match<std::vector<std::vector<Task>>> register_tasks(const Call& call,
                                                     const ElementwiseProblem& problem) {
  return TaskMaker(call, problem).make();
}

}  // namespace ww::lower
