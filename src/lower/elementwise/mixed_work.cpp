// SPDX-License-Identifier: Apache-2.0
// Vectors of elements for threads: who takes which in which round.
#include <algorithm>
#include <numeric>

#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/elementwise/work.h"
#include "lower/index_formula.h"

namespace ww::lower {

namespace {

constexpr std::size_t kMaxSets = 8;        // of threads, in which registers differ
constexpr std::int64_t kMaxAccess = 16;    // bytes
constexpr std::int64_t kMaxUnrolled = 16;  // rounds, where no registers ask for it
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
  auto form = find_place_form(side,
                              {.threads = work.threads,
                               .rounds = work.rounds,
                               .linear = out.places,
                               .used = work.used,
                               .count = work.count},
                              work.first);
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

using Order = std::vector<std::int32_t>;

Order order_of_places(const OperandPlaces& side) {
  Order order(side.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t x) {
    std::int64_t far = 0;  // what runtime strides multiply counts most
    for (const RuntimeStride& stride : side.strides) far = far * 4096 + stride.coef[as_index(x)];
    return std::pair(far, side.linear[as_index(x)]);
  });
  return order;
}

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
  const std::int64_t count = std::ssize(order) / vec;
  Shares out;
  Work& work = out.work;
  work.vec = vec;
  work.threads = threads;
  work.rounds = (count + threads - 1) / threads;
  work.count = count % threads == 0 ? 0 : count;
  work.is_unrolled = work.rounds <= kMaxUnrolled;
  work.used.assign(as_index(threads), true);
  // One round of some threads is a guard on the thread, not on the round.
  if (work.rounds == 1 && work.count != 0) {
    for (std::int64_t u = count; u < threads; ++u) work.used[as_index(u)] = false;
    work.count = 0;
  }
  out.elements.assign(as_index(work.rounds * threads * vec), -1);
  std::ranges::copy(order, out.elements.begin());
  for (std::int64_t q = 0; q < out.accesses(); ++q) work.first.push_back(out.at(q, 0));
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

}  // namespace ww::lower
