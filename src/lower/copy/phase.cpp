// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/phase.h"

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

bool find_place_form(const CopyProblem& problem, const CopyPhase& phase, bool is_dst,
                     PlaceForm& out) {
  const OperandPlaces& side = is_dst ? problem.dst : problem.src;
  const std::vector<std::int64_t>& places = is_dst ? phase.dst_places : phase.src_places;
  if (side.is_register() && !is_same_for_all(phase, places)) return false;
  AddressTable table = phase.table(places);
  table.swizzle = side.swizzle;
  table.base_divisor = side.base_divisor;
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

bool find_forms(const CopyProblem& problem, CopyPhase& phase) {
  return find_place_form(problem, phase, true, phase.dst) &&
         find_place_form(problem, phase, false, phase.src);
}

}  // namespace ww::lower
