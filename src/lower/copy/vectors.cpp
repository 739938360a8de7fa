// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/vectors.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace ww::lower {

using ir::ExprId;

namespace {

// The slot in which thread u of the unit has element x; nothing when it has none.
std::optional<std::int64_t> slot_in(const Side& side, std::size_t x, std::int64_t u) {
  for (const Shift& replica : side.replicas) {
    const std::int64_t shift = u - side.owner[x] - replica.thread;
    if (std::binary_search(side.spread.begin(), side.spread.end(), shift))
      return side.linear[x] + replica.place;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> access_widths(const Call& call, const CopyProblem& problem) {
  std::vector<std::int64_t> out;
  const auto is_wide = [](const Side& side) {
    return side.scope == ir::Scope::Global || side.is_register();
  };
  if (call.context.target.has(target::Feature::Sm100) && is_wide(problem.dst) &&
      is_wide(problem.src))
    out.push_back(32);
  for (const std::int64_t bytes : {16, 8, 4, 2, 1})
    if (bytes * 8 % problem.dst.bits == 0) out.push_back(bytes);
  return out;
}

// --- which register holds what -------------------------------------------------------------------

RegisterMap register_map(const Call& call, const Side& side, bool is_dst) {
  std::int64_t low = side.linear[0], high = side.linear[0];
  for (const std::int64_t slot : side.linear) {
    low = std::min(low, slot);
    high = std::max(high, slot);
  }
  std::int64_t most = 0;
  for (const Shift& replica : side.replicas) most = std::max(most, replica.place);
  RegisterMap map;
  map.first_slot = low;
  map.slots = high + most - low + 1;
  map.threads = call.unit_threads();
  map.cells.assign(as_index(map.slots * map.threads), -1);
  std::vector<bool> is_given(side.size(), false);
  for_each_holder(side, map.threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    if (is_given[x] && !is_dst) return;
    map.cells[as_index((slot - low) * map.threads + u)] = static_cast<std::int32_t>(x);
    is_given[x] = true;
  });
  return map;
}

// --- phases over registers -----------------------------------------------------------------------

namespace {

// Cuts the slots into vectors, widest first, and joins equal ones that follow each other.
class RegisterPhases {
 public:
  RegisterPhases(const Call& call, const CopyProblem& problem)
      : is_dst_(problem.dst.is_register()),
        own_(is_dst_ ? problem.dst : problem.src),
        other_(is_dst_ ? problem.src : problem.dst),
        map_(register_map(call, own_, is_dst_)),
        widths_(access_widths(call, problem)) {}

  Match<std::vector<Phase>> make(const std::vector<bool>* wanted) {
    for (std::int64_t slot = 0; slot < map_.slots;) {
      const bool is_skipped = wanted != nullptr && !(*wanted)[as_index(slot)];
      if (is_skipped || !is_occupied(slot)) {
        ++slot;
        continue;
      }
      const auto bytes = widest(slot, wanted);
      if (!bytes)
        return decline("sub_byte", "elements of {} bits in register slot {} are no whole byte",
                       own_.bits, slot + map_.first_slot);
      add(slot, *bytes);
      slot += *bytes * 8 / own_.bits;
    }
    return std::move(phases_);
  }

 private:
  [[nodiscard]] bool is_occupied(std::int64_t slot) const {
    const auto row = map_.cells.begin() + slot * map_.threads;
    return std::any_of(row, row + map_.threads, [](std::int32_t x) { return x >= 0; });
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
    return true;
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
        if (slot_in(other_, as_index(next), u) !=
            slot_in(other_, as_index(before), u).value_or(-2) + 1)
          return false;
      } else if (!other_.follows(as_index(before), as_index(next))) {
        return false;
      }
    }
    if (first < 0) return true;
    if (!other_.is_register()) return other_.is_aligned(as_index(first), bytes);
    return slot_in(other_, as_index(first), u).value_or(0) % vec == 0;
  }

  void add(std::int64_t slot, std::int64_t bytes) {
    std::vector<bool> used(as_index(map_.threads));
    for (std::int64_t u = 0; u < map_.threads; ++u) used[as_index(u)] = map_.at(slot, u) >= 0;
    const bool goes_on =
        !phases_.empty() && phases_.back().bytes == bytes && phases_.back().used == used;
    if (!goes_on)
      phases_.push_back({.bytes = bytes,
                         .vec = bytes * 8 / own_.bits,
                         .threads = map_.threads,
                         .rounds = 0,
                         .used = std::move(used),
                         .first = {},
                         .dst_places = {},
                         .src_places = {},
                         .dst = {},
                         .src = {}});
    Phase& phase = phases_.back();
    ++phase.rounds;
    for (std::int64_t u = 0; u < map_.threads; ++u) {
      const std::int32_t x = map_.at(slot, u);
      phase.first.push_back(x);
      (is_dst_ ? phase.dst_places : phase.src_places).push_back(slot + map_.first_slot);
      (is_dst_ ? phase.src_places : phase.dst_places).push_back(x < 0 ? 0 : other_place(x, u));
    }
  }

  [[nodiscard]] std::int64_t other_place(std::int32_t x, std::int64_t u) const {
    return other_.is_register() ? slot_in(other_, as_index(x), u).value_or(-1)
                                : other_.linear[as_index(x)];
  }

  bool is_dst_;
  const Side& own_;
  const Side& other_;
  RegisterMap map_;
  std::vector<std::int64_t> widths_;
  std::vector<Phase> phases_;
};

// The rounds [k, k+1) of a phase.
Phase single_round(const Phase& phase, std::int64_t k) {
  const auto part = [&](const auto& list) {
    const auto begin = list.begin() + k * phase.threads;
    return std::remove_cvref_t<decltype(list)>(begin, begin + phase.threads);
  };
  Phase out = phase;
  out.rounds = 1;
  out.first = part(phase.first);
  out.dst_places = part(phase.dst_places);
  out.src_places = part(phase.src_places);
  return out;
}

// A register's number must not depend on the thread.
bool is_same_for_all(const Phase& phase, const std::vector<std::int64_t>& places) {
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

// The destination in memory holds each element at several places: the same accesses for each of
// them.
void add_replicas(const std::vector<Shift>& replicas, std::vector<Phase>& phases) {
  const std::vector<Phase> once = phases;
  for (std::size_t c = 1; c < replicas.size(); ++c)
    for (Phase phase : once) {
      for (std::int64_t& place : phase.dst_places) place += replicas[c].place;
      phases.push_back(std::move(phase));
    }
}

bool find_side(const CopyProblem& problem, const Phase& phase, bool is_dst, SideForm& out) {
  const Side& side = is_dst ? problem.dst : problem.src;
  const std::vector<std::int64_t>& places = is_dst ? phase.dst_places : phase.src_places;
  if (side.is_register() && !is_same_for_all(phase, places)) return false;
  AddressTable table{.threads = phase.threads,
                     .rounds = phase.rounds,
                     .linear = places,
                     .used = phase.used,
                     .count = phase.count,
                     .swizzle = side.swizzle,
                     .base_divisor = side.base_divisor};
  auto form = find_form(table);
  if (!form) return false;
  out.form = *std::move(form);
  table.swizzle = {};
  for (const RuntimeStride& stride : side.strides) {
    for (std::size_t i = 0; i < table.linear.size(); ++i)
      table.linear[i] = phase.first[i] < 0 ? 0 : stride.coef[as_index(phase.first[i])];
    auto coef = find_form(table);
    if (!coef) return false;
    out.strides.emplace_back(stride.stride, *std::move(coef));
  }
  return true;
}

}  // namespace

bool find_forms(const CopyProblem& problem, Phase& phase) {
  return find_side(problem, phase, true, phase.dst) && find_side(problem, phase, false, phase.src);
}

Match<std::vector<Phase>> register_phases(const Call& call, const CopyProblem& problem,
                                          const std::vector<bool>* wanted_slots) {
  const bool is_copied = !problem.dst.is_register() && problem.dst.replicas.size() > 1;
  if (is_copied && !problem.dst.swizzle.is_none())
    return decline("replica", "the swizzled destination holds each element at {} places",
                   problem.dst.replicas.size());
  std::vector<Phase> cut = WW_TRY(RegisterPhases(call, problem).make(wanted_slots));
  if (is_copied) add_replicas(problem.dst.replicas, cut);
  std::vector<Phase> out;
  for (Phase& phase : cut) {
    if (find_forms(problem, phase)) {
      out.push_back(std::move(phase));
      continue;
    }
    for (std::int64_t k = 0; k < phase.rounds; ++k) {
      Phase one = single_round(phase, k);
      if (!find_forms(problem, one))
        return decline("irregular", "no formula gives the addresses of register {} in all threads",
                       one.dst_places[0]);
      out.push_back(std::move(one));
    }
  }
  return out;
}

// --- phases that the threads share out -----------------------------------------------------------

namespace {

using Order = std::vector<std::int32_t>;

// By place in the storage of a side; elements that share one by number.
Order order_by(const Side& side) {
  Order order(side.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t x) {
    const auto i = static_cast<std::size_t>(x);
    std::int64_t far = 0;  // what runtime strides multiply counts most
    for (const RuntimeStride& stride : side.strides) far = far * 4096 + stride.coef[i];
    return std::pair(far, side.linear[i]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  return order;
}

// The elements in that order as vectors of `vec`: are they contiguous and aligned on both sides?
bool are_vectors(const CopyProblem& p, const Order& order, std::int64_t vec, std::int64_t bytes) {
  const auto n = static_cast<std::int64_t>(order.size());
  if (n % vec != 0) return false;
  for (const Side* side : {&p.dst, &p.src}) {
    if (!side->base_is_aligned(bytes)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      if (i % vec == 0) {
        if (!side->is_aligned(x, bytes)) return false;
      } else if (!side->follows(static_cast<std::size_t>(order[static_cast<std::size_t>(i - 1)]),
                                x)) {
        return false;
      }
    }
  }
  return true;
}

Phase make_phase(const Call& call, const CopyProblem& p, const Order& order, std::int64_t vec,
                 std::int64_t bytes) {
  const auto threads = static_cast<std::int64_t>(call.workers().size());
  const std::int64_t count = static_cast<std::int64_t>(order.size()) / vec;
  Phase phase;
  phase.bytes = bytes;
  phase.vec = vec;
  phase.threads = threads;
  phase.rounds = (count + threads - 1) / threads;
  phase.count = count % threads == 0 ? 0 : count;
  constexpr std::int64_t kMaxUnrolled = 16;
  phase.is_unrolled = phase.rounds <= kMaxUnrolled;
  phase.used.assign(static_cast<std::size_t>(threads), true);
  for (std::int64_t q = 0; q < phase.rounds * threads; ++q) {
    const std::int32_t x = q < count ? order[static_cast<std::size_t>(q * vec)] : -1;
    phase.first.push_back(x);
    phase.dst_places.push_back(x < 0 ? 0 : p.dst.linear[static_cast<std::size_t>(x)]);
    phase.src_places.push_back(x < 0 ? 0 : p.src.linear[static_cast<std::size_t>(x)]);
  }
  // One round that only some threads take part in is a guard on the thread, not on the round.
  if (phase.rounds == 1 && phase.count != 0) {
    for (std::int64_t u = count; u < threads; ++u) phase.used[static_cast<std::size_t>(u)] = false;
    phase.count = 0;
  }
  return phase;
}

// Where the accesses meet an edge.
enum class Meeting : std::uint8_t { Whole, Cut, Mixed };

// Within an access the coordinate stays or counts up. It is whole where it stays, and where the
// edge lies between accesses; it may be cut where the buffer ends, but not where it begins.
Meeting meeting_of(const Edge& edge, const Order& order, std::int64_t vec) {
  bool stays = true, counts = true, is_even = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t at = edge.coordinate[as_index(order[i])];
    if (i % as_index(vec) == 0) {
      is_even = is_even && at % vec == 0;
      continue;
    }
    const std::int64_t before = edge.coordinate[as_index(order[i - 1])];
    stays = stays && at == before;
    counts = counts && at == before + 1;
  }
  const bool ends_between = !edge.room.valid() || edge.divisor % vec == 0;
  const bool begins_between = !edge.start.valid() || edge.start_divisor % vec == 0;
  if (stays || (counts && is_even && ends_between && begins_between)) return Meeting::Whole;
  return counts && (!edge.start.valid() || (is_even && begins_between)) ? Meeting::Cut
                                                                        : Meeting::Mixed;
}

// The forms of a side's edges; false where one of them cuts accesses that must be whole.
bool find_edges(const Side& side, const Order& order, bool may_cut, const Phase& phase,
                std::vector<EdgeForm>& out) {
  std::int64_t cuts = 0;
  for (const Edge& edge : side.edges) {
    const Meeting meeting = meeting_of(edge, order, phase.vec);
    cuts += meeting == Meeting::Cut ? 1 : 0;
    if (meeting == Meeting::Mixed || cuts > (may_cut ? 1 : 0)) return false;
    AddressTable table{.threads = phase.threads,
                       .rounds = phase.rounds,
                       .linear = {},
                       .used = phase.used,
                       .count = phase.count,
                       .swizzle = {},
                       .base_divisor = 1};
    for (const std::int32_t x : phase.first)
      table.linear.push_back(x < 0 ? 0 : edge.coordinate[as_index(x)]);
    auto form = find_form(table);
    if (!form) return false;
    out.push_back({*std::move(form), meeting == Meeting::Cut});
  }
  return true;
}

std::vector<Order> orders_of(const CopyProblem& p) {
  const bool src_first = p.src.scope == ir::Scope::Global && p.dst.scope != ir::Scope::Global;
  Order logical(p.dst.size());
  std::iota(logical.begin(), logical.end(), 0);
  return {order_by(src_first ? p.src : p.dst), order_by(src_first ? p.dst : p.src),
          std::move(logical)};
}

}  // namespace

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

Match<void> check_no_tensor(const Call& call) {
  for (const std::size_t i : {0U, 1U})
    if (call.f()[call.region(i).buffer].scope == ir::Scope::Tmem)
      return decline("memory_pair", "tensor memory is copied by `copy_async`");
  return {};
}

Match<void> check_warps(const Call& call, std::string_view scope_rule,
                        std::string_view threads_rule) {
  const ir::Unit scope = call.tile.scope;
  if (scope != ir::Unit::Warp && scope != ir::Unit::Warpgroup && scope != ir::Unit::Cta)
    return decline(scope_rule, "{} scope, expected warp, warpgroup or cta", ir::name_of(scope));
  if (call.context.launch.threads() % 32 != 0)
    return decline(threads_rule, "{} threads are no whole warps", call.context.launch.threads());
  if (!call.active.together(ir::Unit::Warp))
    return decline(threads_rule, "not whole warps arrive: {}",
                   ir::to_text(call.active, call.context.launch));
  return {};
}

Match<void> check_workers(const Call& call) {
  Code scratch(call.f(), call.context.facts, call.span);
  if (!call.workers().empty() && call.worker(scratch).valid()) return {};
  return decline("threads", "the threads that arrive cannot be numbered: {}",
                 ir::to_text(call.active, call.context.launch));
}

std::optional<Phase> shared_out_phase(const Call& call, const CopyProblem& problem,
                                      std::int64_t bytes) {
  const std::int64_t vec = bytes * 8 / problem.dst.bits;
  for (const Order& order : orders_of(problem)) {
    if (!are_vectors(problem, order, vec, bytes)) continue;
    Phase phase = make_phase(call, problem, order, vec, bytes);
    if (find_forms(problem, phase) && find_edges(problem.src, order, true, phase, phase.edges) &&
        find_edges(problem.dst, order, false, phase, phase.dst_edges))
      return phase;
  }
  return std::nullopt;
}

Match<Phase> memory_phase(const Call& call, const CopyProblem& problem) {
  for (const std::int64_t bytes : access_widths(call, problem)) {
    if (problem.has_zeros() && bytes * 8 != problem.dst.bits) continue;
    if (auto phase = shared_out_phase(call, problem, bytes)) return *std::move(phase);
  }
  if (problem.dst.bits < 8)
    return decline("sub_byte", "elements of {} bits do not pair up to whole bytes on both sides",
                   problem.dst.bits);
  return decline("irregular", "no formula of round and thread gives the {} places of both sides",
                 problem.dst.size());
}

}  // namespace ww::lower
