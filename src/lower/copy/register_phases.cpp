// SPDX-License-Identifier: Apache-2.0
// Phases of a copy that has registers on one side: they say who moves what.
#include <algorithm>

#include "lower/copy/phase.h"
#include "lower/copy/register_map.h"

namespace ww::lower {

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
      phases_.push_back({.bytes = bytes,
                         .vec = vec,
                         .threads = map_.threads,
                         .rounds = 0,
                         .used = std::move(used)});
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

}  // namespace ww::lower
