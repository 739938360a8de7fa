// SPDX-License-Identifier: Apache-2.0
// Phases of a copy between two memories: the threads share the vectors out among them.
#include <algorithm>
#include <map>
#include <numeric>

#include "lower/as_index.h"
#include "lower/copy/phase.h"

namespace ww::lower {

namespace {

using Order = std::vector<std::int32_t>;

// By place in the storage of a side; elements that share one by number.
Order order_by(const OperandPlaces& side) {
  Order order(side.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t x) {
    const auto i = as_index(x);
    std::int64_t far = 0;  // what runtime strides multiply counts most
    for (const RuntimeStride& stride : side.strides) far = far * 4096 + stride.coef[i];
    return std::pair(far, side.linear[i]);
  };
  if (!std::ranges::is_sorted(order, {}, key)) std::ranges::stable_sort(order, {}, key);
  return order;
}

// The elements in that order as vectors of `vec`: are they contiguous and aligned on both sides?
bool are_vectors(const CopyProblem& p, const Order& order, std::int64_t vec, std::int64_t bytes) {
  const auto n = std::ssize(order);
  if (n % vec != 0) return false;
  for (const OperandPlaces* side : {&p.dst, &p.src}) {
    if (!side->base_is_aligned(bytes)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto x = as_index(order[as_index(i)]);
      if (i % vec == 0) {
        if (!side->is_aligned(x, bytes)) return false;
      } else if (!side->follows(as_index(order[as_index(i - 1)]), x)) {
        return false;
      }
    }
  }
  return true;
}

CopyPhase make_phase(const Call& call, const CopyProblem& p, const Order& order, std::int64_t vec,
                     std::int64_t bytes) {
  const auto threads = std::ssize(call.workers());
  const std::int64_t count = std::ssize(order) / vec;
  CopyPhase phase;
  phase.bytes = bytes;
  phase.vec = vec;
  phase.threads = threads;
  phase.rounds = (count + threads - 1) / threads;
  phase.count = count % threads == 0 ? 0 : count;
  constexpr std::int64_t kMaxUnrolled = 16;
  phase.is_unrolled = phase.rounds <= kMaxUnrolled;
  phase.used.assign(as_index(threads), true);
  for (std::int64_t q = 0; q < phase.rounds * threads; ++q) {
    const std::int32_t x = q < count ? order[as_index(q * vec)] : -1;
    phase.first.push_back(x);
    phase.dst_places.push_back(x < 0 ? 0 : p.dst.linear[as_index(x)]);
    phase.src_places.push_back(x < 0 ? 0 : p.src.linear[as_index(x)]);
    if (p.mask) phase.mask_places.push_back(x < 0 ? 0 : p.mask_place(x, q % threads));
  }
  // One round that only some threads take part in is a guard on the thread, not on the round.
  if (phase.rounds == 1 && phase.count != 0) {
    for (std::int64_t u = count; u < threads; ++u) phase.used[as_index(u)] = false;
    phase.count = 0;
  }
  return phase;
}

// Vector f·T + u is one whose bool thread u has in a register, the same in round f for all threads.
// Empty when the threads that have bools do not all have as many, or vectors have several.
Order order_by_holders(const Call& call, const CopyProblem& p, const Order& order,
                       std::int64_t vec) {
  const auto threads = std::ssize(call.workers());
  std::map<std::int64_t, std::vector<Order>> by_slot;  // of each thread: what its bool decides
  for (const std::int32_t x : order) {
    const std::int64_t u = p.mask->owner[as_index(x)];
    const std::int64_t slot = p.mask_place(x, u);
    if (u >= threads || slot < 0) return {};
    by_slot.try_emplace(slot, as_index(threads)).first->second[as_index(u)].push_back(x);
  }
  Order out;
  for (const auto& [slot, lists] : by_slot)
    for (std::size_t first = 0; first < lists[0].size(); first += as_index(vec))
      for (const Order& list : lists) {
        if (list.size() != lists[0].size() || first + as_index(vec) > list.size()) return {};
        out.insert(out.end(), list.begin() + static_cast<std::ptrdiff_t>(first),
                   list.begin() + static_cast<std::ptrdiff_t>(first) + vec);
      }
  return out;
}

// The orders that are tried, by number: by place on one side, on the other, and as elements are
// numbered; then each of them as the threads have the bools of a mask. Most copies take the first.
constexpr std::size_t kPlainOrders = 3;

std::size_t order_count(const Call& call, const CopyProblem& p) {
  if (!p.mask || !p.mask->is_register()) return kPlainOrders;
  // Registers belong to a whole unit.
  if (std::ssize(call.workers()) != call.unit_threads()) return 0;
  return ir::has_thread_axes(call.buffer(kMask)) ? 2 * kPlainOrders : kPlainOrders;
}

Order plain_order(const CopyProblem& p, std::size_t number) {
  const bool src_first = p.src.scope == ir::Scope::Global && p.dst.scope != ir::Scope::Global;
  if (number < 2) return order_by(src_first == (number == 0) ? p.src : p.dst);
  Order logical(p.dst.size());
  std::iota(logical.begin(), logical.end(), 0);
  return logical;
}

// Empty when there is none.
Order order_of(const Call& call, const CopyProblem& p, std::int64_t vec, std::size_t number) {
  Order plain = plain_order(p, number % kPlainOrders);
  return number < kPlainOrders ? plain : order_by_holders(call, p, plain, vec);
}

}  // namespace

std::optional<CopyPhase> shared_out_phase(const Call& call, const CopyProblem& problem,
                                          std::int64_t bytes) {
  const std::int64_t vec = bytes * 8 / problem.dst.bits;
  for (std::size_t i = 0; i < order_count(call, problem); ++i) {
    const Order order = order_of(call, problem, vec, i);
    if (order.empty()) continue;
    if (!are_vectors(problem, order, vec, bytes) || !problem.is_one_mask(order, vec)) continue;
    auto cuts = cuts_of(problem.src, order, vec), dst_cuts = cuts_of(problem.dst, order, vec);
    if (!cuts || !dst_cuts) continue;
    CopyPhase phase = make_phase(call, problem, order, vec, bytes);
    phase.cuts = *std::move(cuts);
    phase.dst_cuts = *std::move(dst_cuts);
    if (find_forms(problem, phase)) return phase;
  }
  return std::nullopt;
}

Match<CopyPhase> memory_phase(const Call& call, const CopyProblem& problem) {
  for (const std::int64_t bytes : access_widths(call, problem)) {
    // Values of less than a byte are not put together in registers.
    if (problem.dst.bits < 8 && problem.may_fill()) continue;
    if (auto phase = shared_out_phase(call, problem, bytes)) return *std::move(phase);
  }
  if (problem.dst.bits < 8)
    return decline("sub_byte", "elements of {} bits do not pair up to whole bytes on both sides",
                   problem.dst.bits);
  return decline("irregular", "no formula of round and thread gives the {} places of both sides",
                 problem.dst.size());
}

}  // namespace ww::lower
