// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/work.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/join.h"
#include "ir/elementwise.h"
#include "layout/apply.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/elementwise/holders.h"
#include "lower/index_formula.h"

namespace ww::lower {
namespace {

/// An element that a thread computes, and the registers of its sides there; 0 for those in memory.
struct Task {
  std::int64_t x = 0;
  std::vector<std::int64_t> slots = {};
};

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
  WW_TRY_VOID(check_one_place(call, dst));
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
    const auto place = [&](const Task& task) { return p_.dst.rank(as_index(task.x)); };
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

// Tasks by thread of the unit, where registers say who works: the threads that hold an element of
// a destination there, or one that holds all its sources. In the order in which a thread takes
// them.
Match<std::vector<std::vector<Task>>> register_tasks(const Call& call,
                                                     const ElementwiseProblem& problem) {
  return TaskMaker(call, problem).make();
}

}  // namespace

// Vectors of elements for threads: who takes which in which round.

namespace {

constexpr std::size_t kMaxSets = 8;      // of threads, in which registers differ
constexpr std::int64_t kMaxAccess = 16;  // bytes
using Access = WorkSide::Access;

/// Who computes what: elements by round, thread and number in the vector; -1 for none.
struct Shares {
  Work work;
  std::vector<std::int32_t> elements;
  std::vector<std::vector<std::int64_t>> slots;  // by side, then by step; of registers

  [[nodiscard]] std::int32_t at(std::int64_t access, std::int64_t i) const {
    return elements[as_index(access * work.vec + i)];
  }
  [[nodiscard]] bool counts(std::int64_t access) const {
    return work.used[as_index(access % work.threads)] && at(access, 0) >= 0;
  }
  [[nodiscard]] std::int64_t accesses() const { return work.rounds * work.threads; }
};

// --- how the sides are reached -------------------------------------------------------------------

bool is_vector(const OperandPlaces& side, const Shares& shares, std::int64_t bytes) {
  if (!side.base_is_aligned(bytes)) return false;
  for (std::int64_t q = 0; q < shares.accesses(); ++q) {
    if (!shares.counts(q)) continue;
    if (!side.is_aligned(as_index(shares.at(q, 0)), bytes)) return false;
    for (std::int64_t i = 1; i < shares.work.vec; ++i)
      if (!side.follows(as_index(shares.at(q, i - 1)), as_index(shares.at(q, i)))) return false;
  }
  return true;
}

bool is_single(const OperandPlaces& side, const Shares& shares) {
  const auto same = [&](std::size_t x, std::size_t y) {
    return side.linear[x] == side.linear[y] &&
           std::ranges::all_of(side.strides,
                               [&](const RuntimeStride& s) { return s.coef[x] == s.coef[y]; });
  };
  for (std::int64_t q = 0; q < shares.accesses(); ++q)
    for (std::int64_t i = 1; i < shares.work.vec; ++i)
      if (shares.counts(q) && !same(as_index(shares.at(q, 0)), as_index(shares.at(q, i))))
        return false;
  return true;
}

std::optional<WorkSide> reach_memory(const OperandPlaces& side, const Shares& shares, bool is_dst) {
  WorkSide out;
  const std::int64_t bits = shares.work.vec * side.bits, bytes = bits / 8;
  if (bits % 8 != 0) return std::nullopt;
  if (bytes <= kMaxAccess && is_vector(side, shares, bytes)) {
    out.access = Access::Vector;
    out.bytes = bytes;
  } else if (!is_dst && side.bits >= 8 && is_single(side, shares)) {
    out.access = Access::Single;
    out.bytes = side.bits / 8;
  } else {
    return std::nullopt;
  }
  const Work& work = shares.work;
  for (const std::int32_t x : work.first)
    out.places.push_back(x < 0 ? 0 : side.linear[as_index(x)]);
  auto form = find_place_form(side, work.table(out.places), work.first);
  if (!form) return std::nullopt;
  out.form = *std::move(form);
  return out;
}

// Does each thread read the same place in all rounds?
bool is_fixed(const OperandPlaces& side, const Work& work) {
  for (std::size_t q = as_index(work.threads); q < work.first.size(); ++q) {
    if (work.first[q] < 0 || !work.used[q % as_index(work.threads)]) continue;
    const std::size_t x = as_index(work.first[q]),
                      y = as_index(work.first[q % as_index(work.threads)]);
    if (side.linear[x] != side.linear[y]) return false;
    for (const RuntimeStride& stride : side.strides)
      if (stride.coef[x] != stride.coef[y]) return false;
  }
  return work.rounds > 1;
}

// Nothing where some side is not reached in vectors of that length.
std::optional<Work> reached(const ElementwiseProblem& p, Shares shares) {
  const auto sides = p.sides();
  for (std::size_t s = 0; s < sides.size(); ++s) {
    if (!sides[s]->is_register()) {
      auto side = reach_memory(*sides[s], shares, s == 0);
      if (!side) return std::nullopt;
      side->is_fixed = s > 0 && is_fixed(*sides[s], shares.work);
      shares.work.sides.push_back(*std::move(side));
      continue;
    }
    auto form = fit_table(shares.slots[s]);
    shares.work.sides.push_back(
        {.slots = std::move(shares.slots[s]), .slot_form = std::move(form)});
  }
  return std::move(shares.work);
}

/// Elements of a vector, most first.
std::vector<std::int64_t> lengths_of(const ElementwiseProblem& p) {
  std::int64_t most = 1;
  for (const OperandPlaces* side : p.sides())
    if (!side->is_register()) most = std::max(most, kMaxAccess * 8 / side->bits);
  std::vector<std::int64_t> out;
  for (; most > 0; most /= 2) out.push_back(most);
  return out;
}

// What a message adds about elements that share bytes.
std::string_view in_bytes(const ElementwiseProblem& p) {
  const auto shares_bytes = [](const OperandPlaces* s) { return !s->is_register() && s->bits < 8; };
  return std::ranges::any_of(p.sides(), shares_bytes) ? " in whole bytes" : "";
}

// --- threads that share the tile -----------------------------------------------------------------

// Global memory is read and written in the order of its addresses.
std::vector<Order> orders_of(const ElementwiseProblem& p) {
  std::vector<Order> out{order_of_places(p.dst)};
  for (const OperandPlaces* side : p.sides())
    if (side != &p.dst && side->scope == ir::Scope::Global && p.dst.scope != ir::Scope::Global)
      out.insert(out.begin(), order_of_places(*side));
  Order logical(p.dst.size());
  std::iota(logical.begin(), logical.end(), 0);
  out.push_back(std::move(logical));
  return out;
}

Shares shared_out(const Order& order, std::int64_t vec, std::int64_t threads) {
  Shares out{.work = {shared_rounds(order, vec, threads)}, .elements = order, .slots = {}};
  out.elements.resize(as_index(out.accesses() * vec), -1);
  return out;
}

Match<std::vector<Work>> shared_work(const Call& call, const ElementwiseProblem& p) {
  WW_TRY_VOID(check_workers(call));
  const auto threads = std::ssize(call.workers());
  const std::vector<Order> orders = orders_of(p);
  for (const std::int64_t vec : lengths_of(p)) {
    if (p.elements % vec != 0) continue;
    for (const Order& order : orders)
      if (auto work = reached(p, shared_out(order, vec, threads)))
        return std::vector{*std::move(work)};
  }
  return decline("irregular",
                 "no formula of round and thread gives the {} places of all operands{}", p.elements,
                 in_bytes(p));
}

// --- threads with registers ----------------------------------------------------------------------

/// Threads that take the same registers in the same order.
struct ThreadSet {
  std::vector<bool> threads;
  const std::vector<Task>* tasks;  // of the first of them
};

bool have_same_slots(const std::vector<Task>& a, const std::vector<Task>& b) {
  return std::ranges::equal(a, b, {}, &Task::slots, &Task::slots);
}

Match<std::vector<ThreadSet>> thread_sets(const std::vector<std::vector<Task>>& tasks) {
  std::vector<ThreadSet> out;
  for (std::size_t u = 0; u < tasks.size(); ++u) {
    if (tasks[u].empty()) continue;
    auto set = std::ranges::find_if(
        out, [&](const ThreadSet& each) { return have_same_slots(*each.tasks, tasks[u]); });
    if (set == out.end()) {
      if (out.size() == kMaxSets)
        return decline("irregular",
                       "registers are used in different orders in more than {} sets of threads",
                       kMaxSets);
      out.push_back({std::vector<bool>(tasks.size()), &tasks[u]});
      set = out.end() - 1;
    }
    set->threads[u] = true;
  }
  return out;
}

Shares shares_of(const ThreadSet& set, const std::vector<std::vector<Task>>& tasks,
                 std::int64_t vec) {
  Shares out;
  Work& work = out.work;
  work.vec = vec;
  work.threads = std::ssize(tasks);
  work.rounds = std::ssize(*set.tasks) / vec;
  work.used = set.threads;
  work.is_unrolled = true;
  out.elements.assign(as_index(work.rounds * work.threads * vec), -1);
  for (std::size_t u = 0; u < tasks.size(); ++u)
    for (std::size_t j = 0; set.threads[u] && j < tasks[u].size(); ++j) {
      const std::size_t k = j / as_index(vec), i = j % as_index(vec);
      out.elements[(k * tasks.size() + u) * as_index(vec) + i] =
          static_cast<std::int32_t>(tasks[u][j].x);
    }
  for (std::int64_t q = 0; q < out.accesses(); ++q) work.first.push_back(out.at(q, 0));
  out.slots.resize((*set.tasks)[0].slots.size());
  for (const Task& task : *set.tasks)
    for (std::size_t s = 0; s < out.slots.size(); ++s) out.slots[s].push_back(task.slots[s]);
  return out;
}

Match<Work> set_work(const ElementwiseProblem& p, const ThreadSet& set,
                     const std::vector<std::vector<Task>>& tasks) {
  for (const std::int64_t vec : lengths_of(p))
    if (std::ssize(*set.tasks) % vec == 0)
      if (auto work = reached(p, shares_of(set, tasks, vec))) return *std::move(work);
  return decline("irregular",
                 "no formula of register and thread gives the places in memory of {} "
                 "elements of each thread{}",
                 set.tasks->size(), in_bytes(p));
}

}  // namespace

Match<std::vector<Work>> mixed_work(const Call& call, const ElementwiseProblem& problem) {
  if (!problem.has_registers()) return shared_work(call, problem);
  const auto tasks = WW_TRY(register_tasks(call, problem));
  std::vector<Work> out;
  for (const ThreadSet& set : WW_TRY(thread_sets(tasks)))
    out.push_back(WW_TRY(set_work(problem, set, tasks)));
  return out;
}

using ir::ExprId;

ExprId slot_expr(CodeWriter& code, const Work& work, std::size_t s, const OperandPlaces& side,
                 ExprId k, ExprId i) {
  const ExprId step = code.simplify(code.add(code.mul(k, work.vec), i));
  const auto constant = code.constant(step);
  const ExprId out = constant ? code.n(work.sides[s].slots[as_index(*constant)])
                              : digits_expr(code, *work.sides[s].slot_form, step);
  return code.simplify(side.base.valid() ? code.add(side.base, out) : out);
}

bool has_formulas(const Work& work) {
  return std::ranges::all_of(work.sides, [](const WorkSide& side) {
    return side.access != WorkSide::Access::Register || side.slot_form;
  });
}

void write_rounds(CodeWriter& code, const Work& work, ExprId u,
                  const std::function<void(ExprId k)>& round) {
  if (!has_formulas(work)) {
    for (std::int64_t k = 0; k < work.rounds; ++k) round(code.n(k));
    return;
  }
  const bool is_unrolled = work.is_unrolled && work.rounds > 1;
  code.loop(
      "f", work.rounds, is_unrolled ? ir::LoopKind::Unroll : ir::LoopKind::Serial, [&](ExprId k) {
        const ExprId q = code.add(code.mul(k, work.threads), u);
        code.guarded(work.count == 0 ? ExprId{} : code.less(q, work.count), [&] { round(k); });
      });
}

std::int64_t add_rounds(PlanReport& out, const std::vector<Work>& works) {
  std::int64_t vec = 1;
  for (const Work& work : works) {
    out.threads += std::ranges::count(work.used, true);
    out.rounds = std::max(out.rounds, work.rounds);
    vec = std::max(vec, work.vec);
  }
  out.summary =
      fmt::format("{} element{} at a time, {} round{} of {} thread{}", vec, vec == 1 ? "" : "s",
                  out.rounds, out.rounds == 1 ? "" : "s", out.threads, out.threads == 1 ? "" : "s");
  return vec;
}

}  // namespace ww::lower
