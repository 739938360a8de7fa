// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/phase.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "lower/as_index.h"
#include "lower/copy/problem.h"

namespace ww::lower {

std::vector<std::int64_t> access_widths(const Call& call, const CopyProblem& problem) {
  std::vector<std::int64_t> out;
  const auto is_wide = [](const OperandPlaces& side) {
    return side.scope == ir::Scope::Global || side.is_register();
  };
  if (call.context.target.has(target::Feature::Sm100) && is_wide(problem.dst) &&
      is_wide(problem.src))
    out.push_back(32);
  for (const std::int64_t bytes : {16, 8, 4, 2, 1})
    if (bytes * 8 % problem.dst.bits == 0) out.push_back(bytes);
  return out;
}

namespace {

// A register's number must not depend on the thread.
bool is_same_for_all(const CopyPhase& phase, const std::vector<std::int64_t>& places) {
  for (std::int64_t k = 0; k < phase.rounds; ++k) {
    std::optional<std::int64_t> seen;
    for (std::int64_t u = 0; u < phase.threads; ++u) {
      if (!phase.used[as_index(u)]) continue;
      const std::int64_t place = places[as_index(k * phase.threads + u)];
      if (place < 0 || (seen && *seen != place)) return false;
      seen = place;
    }
  }
  return true;
}

bool find_place_form(const OperandPlaces& side, const CopyPhase& phase,
                     const std::vector<std::int64_t>& places, PlaceForm& out) {
  if (side.is_register() && !is_same_for_all(phase, places)) return false;
  auto form = find_place_form(side, phase.table(places), phase.first);
  if (form) out = *std::move(form);
  return form.has_value();
}

// Where accesses meet an edge.
enum class Meeting : std::uint8_t { Whole, Cut, Mixed };

// Within an access the coordinate stays or counts up. It is whole where it stays, and where the
// edge lies between accesses; it may be cut where the buffer ends, but not where it begins.
Meeting meeting_of(const Edge& edge, std::span<const std::int32_t> elements, std::int64_t vec) {
  bool stays = true, counts = true, is_even = true;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::int64_t at = edge.coordinate[as_index(elements[i])];
    if (i % as_index(vec) == 0) {
      is_even = is_even && at % vec == 0;
      continue;
    }
    const std::int64_t before = edge.coordinate[as_index(elements[i - 1])];
    stays = stays && at == before;
    counts = counts && at == before + 1;
  }
  const bool ends_between = !edge.room.valid() || edge.divisor % vec == 0;
  const bool begins_between = !edge.start.valid() || edge.start_divisor % vec == 0;
  if (stays || (counts && is_even && ends_between && begins_between)) return Meeting::Whole;
  return counts && (!edge.start.valid() || (is_even && begins_between)) ? Meeting::Cut
                                                                        : Meeting::Mixed;
}

bool find_edge_forms(const OperandPlaces& side, const CopyPhase& phase,
                     const std::vector<bool>& cuts, std::vector<EdgeForm>& out) {
  out.clear();
  for (std::size_t e = 0; e < side.edges.size(); ++e) {
    std::vector<std::int64_t> coordinates;
    for (const std::int32_t x : phase.first)
      coordinates.push_back(x < 0 ? 0 : side.edges[e].coordinate[as_index(x)]);
    auto form = find_form(phase.table(std::move(coordinates)));
    if (!form) return false;
    out.push_back({*std::move(form), cuts[e]});
  }
  return true;
}

// Which edges of a side may cut accesses of `vec` elements, given one after the other; nothing
// when one cuts them where that cannot be, or two do.
std::optional<std::vector<bool>> cuts_of(const OperandPlaces& side,
                                         std::span<const std::int32_t> elements, std::int64_t vec) {
  std::vector<bool> out;
  for (const Edge& edge : side.edges) {
    const Meeting meeting = meeting_of(edge, elements, vec);
    if (meeting == Meeting::Mixed) return std::nullopt;
    out.push_back(meeting == Meeting::Cut);
  }
  // Less than a byte cannot be written alone.
  if (std::ranges::count(out, true) > (side.bits < 8 ? 0 : 1)) return std::nullopt;
  return out;
}

}  // namespace

bool find_forms(const CopyProblem& problem, CopyPhase& phase) {
  return find_place_form(problem.dst, phase, phase.dst_places, phase.dst) &&
         find_place_form(problem.src, phase, phase.src_places, phase.src) &&
         (!problem.mask || find_place_form(*problem.mask, phase, phase.mask_places, phase.mask)) &&
         find_edge_forms(problem.src, phase, phase.cuts, phase.edges) &&
         find_edge_forms(problem.dst, phase, phase.dst_cuts, phase.dst_edges);
}

// --- registers on one side, which say who moves what ---------------------------------------------

namespace {

// Cuts the slots into vectors, widest first, and joins equal ones that follow each other.
class RegisterPhases {
 public:
  RegisterPhases(const Call& call, const CopyProblem& problem)
      : problem_(problem),
        is_dst_(problem.dst.is_register()),
        own_(is_dst_ ? problem.dst : problem.src),
        other_(is_dst_ ? problem.src : problem.dst),
        map_(register_map(call, own_, is_dst_)),
        widths_(access_widths(call, problem)) {}

  Match<std::vector<CopyPhase>> make(const std::vector<bool>* wanted) {
    WW_TRY_VOID(check_mask());
    for (std::int64_t slot = 0; slot < map_.slots;) {
      const bool is_skipped = wanted != nullptr && !(*wanted)[as_index(slot)];
      if (is_skipped || !map_.is_occupied(slot)) {
        ++slot;
        continue;
      }
      const auto bytes = widest(slot, wanted);
      if (!bytes)
        return decline("sub_byte", "elements of {} bits in register slot {} are not a whole byte",
                       own_.bits, slot + map_.first_slot);
      add(slot, *bytes);
      slot += *bytes * 8 / own_.bits;
    }
    return std::move(phases_);
  }

 private:
  // A thread reads the bools of what it moves.
  [[nodiscard]] Match<void> check_mask() const {
    if (!problem_.mask || !problem_.mask->is_register()) return {};
    for (std::int64_t slot = 0; slot < map_.slots; ++slot)
      for (std::int64_t u = 0; u < map_.threads; ++u)
        if (const std::int32_t x = map_.at(slot, u); x >= 0 && problem_.mask_place(x, u) < 0)
          return decline(
              "owner", "thread {} moves element {}, and thread {} has its predicate in a register",
              u, x, problem_.mask->owner[as_index(x)]);
    return {};
  }

  [[nodiscard]] std::optional<std::int64_t> widest(std::int64_t slot,
                                                   const std::vector<bool>* wanted) const {
    for (const std::int64_t bytes : widths_)
      if (is_vector(slot, bytes, wanted)) return bytes;
    return std::nullopt;
  }

  // Are the slots from here on one access of that width, for every thread?
  [[nodiscard]] bool is_vector(std::int64_t slot, std::int64_t bytes,
                               const std::vector<bool>* wanted) const {
    const std::int64_t vec = bytes * 8 / own_.bits;
    if (slot + vec > map_.slots) return false;
    if (!own_.base_is_aligned(bytes) || (slot + map_.first_slot) % vec != 0) return false;
    if (!other_.base_is_aligned(bytes)) return false;
    for (std::int64_t i = 1; i < vec; ++i)
      if (wanted != nullptr && !(*wanted)[as_index(slot + i)]) return false;
    for (const Shift& shift : other_.replicas)
      if (!other_.is_register() && shift.place % vec != 0) return false;
    for (std::int64_t u = 0; u < map_.threads; ++u)
      if (!is_vector_of(slot, vec, u, bytes)) return false;
    if (problem_.mask && !problem_.is_one_mask(elements_in(slot, vec), vec)) return false;
    return cuts_in(slot, vec).has_value();
  }

  [[nodiscard]] std::vector<std::int32_t> elements_in(std::int64_t slot, std::int64_t vec) const {
    std::vector<std::int32_t> out;
    for (std::int64_t u = 0; u < map_.threads; ++u)
      for (std::int64_t i = 0; i < vec && map_.at(slot, u) >= 0; ++i)
        out.push_back(map_.at(slot + i, u));
    return out;
  }

  // Only memory has edges.
  [[nodiscard]] std::optional<std::vector<bool>> cuts_in(std::int64_t slot,
                                                         std::int64_t vec) const {
    if (other_.edges.empty()) return std::vector<bool>{};
    return cuts_of(other_, elements_in(slot, vec), vec);
  }

  [[nodiscard]] bool is_vector_of(std::int64_t slot, std::int64_t vec, std::int64_t u,
                                  std::int64_t bytes) const {
    const std::int32_t first = map_.at(slot, u);
    for (std::int64_t i = 1; i < vec; ++i) {
      const std::int32_t next = map_.at(slot + i, u);
      if ((first < 0) != (next < 0)) return false;
      if (first < 0) continue;
      const std::int32_t before = map_.at(slot + i - 1, u);
      if (other_.is_register()) {
        if (slot_of(other_, as_index(next), u) !=
            slot_of(other_, as_index(before), u).value_or(-2) + 1)
          return false;
      } else if (!other_.follows(as_index(before), as_index(next))) {
        return false;
      }
    }
    if (first < 0) return true;
    if (!other_.is_register()) return other_.is_aligned(as_index(first), bytes);
    return slot_of(other_, as_index(first), u).value_or(0) % vec == 0;
  }

  void add(std::int64_t slot, std::int64_t bytes) {
    std::vector<bool> used(as_index(map_.threads));
    for (std::int64_t u = 0; u < map_.threads; ++u) used[as_index(u)] = map_.at(slot, u) >= 0;
    const std::int64_t vec = bytes * 8 / own_.bits;
    const std::vector<bool> cuts = *cuts_in(slot, vec);
    const auto cuts_of_phase = [&](CopyPhase& phase) -> std::vector<bool>& {
      return is_dst_ ? phase.cuts : phase.dst_cuts;
    };
    const bool goes_on = !phases_.empty() && phases_.back().bytes == bytes &&
                         phases_.back().used == used && cuts_of_phase(phases_.back()) == cuts;
    if (!goes_on) {
      phases_.push_back(
          {{.vec = vec, .threads = map_.threads, .rounds = 0, .used = std::move(used)}, bytes});
      cuts_of_phase(phases_.back()) = cuts;
    }
    CopyPhase& phase = phases_.back();
    ++phase.rounds;
    for (std::int64_t u = 0; u < map_.threads; ++u) {
      const std::int32_t x = map_.at(slot, u);
      phase.first.push_back(x);
      (is_dst_ ? phase.dst_places : phase.src_places).push_back(slot + map_.first_slot);
      (is_dst_ ? phase.src_places : phase.dst_places).push_back(x < 0 ? 0 : other_place(x, u));
      if (problem_.mask) phase.mask_places.push_back(x < 0 ? 0 : problem_.mask_place(x, u));
    }
  }

  [[nodiscard]] std::int64_t other_place(std::int32_t x, std::int64_t u) const {
    return other_.is_register() ? slot_of(other_, as_index(x), u).value_or(-1)
                                : other_.linear[as_index(x)];
  }

  const CopyProblem& problem_;
  bool is_dst_;
  const OperandPlaces& own_;
  const OperandPlaces& other_;
  RegisterMap map_;
  std::vector<std::int64_t> widths_;
  std::vector<CopyPhase> phases_;
};

// The rounds [k, k+1) of a phase.
CopyPhase single_round(const CopyPhase& phase, std::int64_t k) {
  const auto part = [&](const auto& list) {
    const auto begin = list.begin() + k * phase.threads;
    return std::remove_cvref_t<decltype(list)>(begin, begin + phase.threads);
  };
  CopyPhase out = phase;
  out.rounds = 1;
  out.first = part(phase.first);
  out.dst_places = part(phase.dst_places);
  out.src_places = part(phase.src_places);
  if (!phase.mask_places.empty()) out.mask_places = part(phase.mask_places);
  return out;
}

// The destination in memory holds each element at several places: the same accesses for each of
// them.
void add_replicas(const std::vector<Shift>& replicas, std::vector<CopyPhase>& phases) {
  const std::vector<CopyPhase> once = phases;
  for (std::size_t c = 1; c < replicas.size(); ++c)
    for (CopyPhase phase : once) {
      for (std::int64_t& place : phase.dst_places) place += replicas[c].place;
      phases.push_back(std::move(phase));
    }
}

}  // namespace

Match<std::vector<CopyPhase>> register_phases(const Call& call, const CopyProblem& problem,
                                              const std::vector<bool>* wanted_slots) {
  const bool is_copied = !problem.dst.is_register() && problem.dst.replicas.size() > 1;
  if (is_copied && !problem.dst.swizzle.is_none())
    return decline("replica", "the swizzled destination holds each element at {} places",
                   problem.dst.replicas.size());
  if (problem.dst.bits < 8 && problem.may_fill())
    return decline("sub_byte", "elements of {} bits are filled one by one", problem.dst.bits);
  std::vector<CopyPhase> cut = WW_TRY(RegisterPhases(call, problem).make(wanted_slots));
  if (is_copied) add_replicas(problem.dst.replicas, cut);
  std::vector<CopyPhase> out;
  for (CopyPhase& phase : cut) {
    if (find_forms(problem, phase)) {
      out.push_back(std::move(phase));
      continue;
    }
    for (std::int64_t k = 0; k < phase.rounds; ++k) {
      CopyPhase one = single_round(phase, k);
      if (!find_forms(problem, one))
        return decline("irregular", "no formula gives the addresses of register {} in all threads",
                       one.dst_places[0]);
      out.push_back(std::move(one));
    }
  }
  return out;
}

// --- two memories: threads share the vectors out among them --------------------------------------

namespace {

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
  CopyPhase phase{shared_rounds(order, vec, std::ssize(call.workers())), bytes};
  for (std::size_t q = 0; q < phase.first.size(); ++q) {
    const std::int32_t x = phase.first[q];
    const auto u = static_cast<std::int64_t>(q) % phase.threads;
    phase.dst_places.push_back(x < 0 ? 0 : p.dst.linear[as_index(x)]);
    phase.src_places.push_back(x < 0 ? 0 : p.src.linear[as_index(x)]);
    if (p.mask) phase.mask_places.push_back(x < 0 ? 0 : p.mask_place(x, u));
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
  if (number < 2) return order_of_places(src_first == (number == 0) ? p.src : p.dst);
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

Order order_of_places(const OperandPlaces& side) {
  Order order(side.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t x) { return side.rank(as_index(x)); };
  if (!std::ranges::is_sorted(order, {}, key)) std::ranges::stable_sort(order, {}, key);
  return order;
}

Rounds shared_rounds(const Order& order, std::int64_t vec, std::int64_t threads) {
  constexpr std::int64_t kMaxUnrolled = 16;
  const std::int64_t count = std::ssize(order) / vec;
  Rounds out{.vec = vec, .threads = threads, .rounds = (count + threads - 1) / threads};
  out.used.assign(as_index(threads), true);
  out.count = count % threads == 0 ? 0 : count;
  out.is_unrolled = out.rounds <= kMaxUnrolled;
  for (std::int64_t q = 0; q < out.rounds * threads; ++q)
    out.first.push_back(q < count ? order[as_index(q * vec)] : -1);
  // One round that only some threads take part in is a guard on the thread, not on the round.
  if (out.rounds == 1 && out.count != 0) {
    for (std::int64_t u = count; u < threads; ++u) out.used[as_index(u)] = false;
    out.count = 0;
  }
  return out;
}

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
