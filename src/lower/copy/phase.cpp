// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/phase.h"

#include <algorithm>

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

}  // namespace

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

bool find_forms(const CopyProblem& problem, CopyPhase& phase) {
  return find_place_form(problem.dst, phase, phase.dst_places, phase.dst) &&
         find_place_form(problem.src, phase, phase.src_places, phase.src) &&
         (!problem.mask || find_place_form(*problem.mask, phase, phase.mask_places, phase.mask)) &&
         find_edge_forms(problem.src, phase, phase.cuts, phase.edges) &&
         find_edge_forms(problem.dst, phase, phase.dst_cuts, phase.dst_edges);
}

}  // namespace ww::lower
