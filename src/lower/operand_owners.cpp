// SPDX-License-Identifier: Apache-2.0
#include "lower/operand_owners.h"

#include <algorithm>
#include <string>

#include "ir/print/print.h"
#include "layout/image.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

class Owners {
 public:
  Owners(const Call& call, const ThreadPlaces& places, OperandPlaces& side)
      : call_(call), name_(call.f()[side.buffer].name), places_(places), side_(side) {}

  Match<void> run(const layout::TileLayout& whole) {
    std::vector<ThreadDigits> covered;
    for (const layout::Axis axis : layout::moving_axes(whole)) {
      if (!axis.is_thread()) {
        if (axis == layout::axes::m()) continue;
        return decline("axes", "`{}` in registers has a layout over `{}`", name_, axis.name());
      }
      const auto digits = digits_of(call_, axis);
      if (!digits)
        return decline("axes", "`{}` is spread over `{}`, beyond the {}", name_, axis.name(),
                       call_.is_of_cluster() ? "cluster" : "CTA");
      covered.push_back(*digits);
    }
    std::ranges::sort(covered, {}, &ThreadDigits::begin);
    spread_over(covered);
    return place_in_units(covered);
  }

 private:
  // Threads of the unit that the layout does not tell apart hold the same elements.
  void spread_over(const std::vector<ThreadDigits>& covered) {
    const std::int64_t unit = call_.unit_threads();
    std::int64_t open = 1;
    const auto take = [&](std::int64_t begin, std::int64_t end) {
      if (begin >= end) return;
      const std::vector<std::int64_t> before = std::exchange(side_.spread, {});
      for (std::int64_t k = 0; k * begin < end; ++k)
        for (const std::int64_t shift : before) side_.spread.push_back(shift + k * begin);
    };
    for (const ThreadDigits& digits : covered) {
      take(open, std::min(digits.begin, unit));
      open = digits.end == 0 ? unit : std::max(open, digits.end);
    }
    take(open, unit);
    std::ranges::sort(side_.spread);
  }

  Match<void> place_in_units(const std::vector<ThreadDigits>& covered) {
    const std::int64_t unit = call_.unit_threads();
    std::vector<std::int64_t> first_seen, starts = call_.unit_starts();
    if (starts.empty()) starts.push_back(0);  // no thread comes here: anything is right
    for (const std::int64_t first : starts) {
      const std::int64_t start = WW_TRY(start_in_unit(first));
      // The layout's own digits above the unit must be those of the unit.
      std::int64_t above = 0;
      for (const ThreadDigits& d : covered) {
        const std::int64_t digit = first / d.begin * d.begin;
        above += d.end == 0 ? digit : digit % d.end;
      }
      above -= above % unit;
      std::vector<std::int64_t> here(places_.owner.size());
      for (std::size_t x = 0; x < places_.owner.size(); ++x) {
        here[x] = places_.owner[x] + start - above;
        const std::int64_t low = side_.replicas.front().thread;
        const std::int64_t high = side_.replicas.back().thread;
        const bool is_below = here[x] + low < 0;
        if (is_below || here[x] + high >= unit) {
          // The first of the holders that is outside.
          const std::int64_t replica = is_below ? low : here[x] >= unit ? 0 : high;
          return decline(
              "owner",
              "an element of `{}` belongs to thread {}, which is not in the {} of thread {}", name_,
              places_.owner[x] + start + replica, ir::name_of(call_.tile.scope), first);
        }
      }
      if (first_seen.empty()) first_seen = here;
      if (first_seen != here)
        return decline("owner", "the threads that hold `{}` differ from {} to {}", name_,
                       ir::name_of(call_.tile.scope), ir::name_of(call_.tile.scope));
      if (places_.starts.empty() && is_inside(covered, unit)) break;
    }
    side_.owner = std::move(first_seen);
    return {};
  }

  // Do the layout's digits count threads within the unit only, so that all units are alike?
  [[nodiscard]] bool is_inside(const std::vector<ThreadDigits>& covered, std::int64_t unit) const {
    const bool is_all = unit >= call_.context.launch.threads();
    return std::ranges::all_of(covered, [&](const ThreadDigits& d) {
      return d.begin < unit && (d.end == 0 ? is_all : d.end <= unit);
    });
  }

  // What the runtime starts add on thread axes, in one unit: it must be the same for all its
  // threads.
  Match<std::int64_t> start_in_unit(std::int64_t first) {
    std::int64_t sum = 0;
    for (const auto& [axis, expr] : places_.starts) {
      const ir::PerThread& value = call_.context.values.of(expr);
      const auto at = as_index(first);
      const auto end = std::min(at + as_index(call_.unit_threads()), value.value.size());
      for (std::size_t t = at; t < end; ++t)
        if (!value.known[t] || value.value[t] != value.value[at])
          return decline("owner",
                         "which thread holds `{}` depends on `{}`, not known at compile time",
                         name_, ir::print(call_.f(), expr));
      sum += value.value[at] * threads_per_step(call_, axis);
    }
    return sum;
  }

  const Call& call_;
  const std::string& name_;
  const ThreadPlaces& places_;
  OperandPlaces& side_;
};

}  // namespace

std::optional<ThreadDigits> digits_of(const Call& call, layout::Axis axis) {
  const layout::AxisFacts& facts = axis.facts();
  const std::int64_t threads = call.context.launch.threads();
  if (facts.counter == layout::Counter::CtaThread) {
    if (facts.modulus != 0) return ThreadDigits{facts.divisor, facts.divisor * facts.modulus};
    return ThreadDigits{facts.divisor, call.is_of_cluster() ? threads : 0};
  }
  if (!call.is_of_cluster()) return std::nullopt;
  std::int64_t below = threads;
  const layout::Counter counters[] = {layout::Counter::ClusterX, layout::Counter::ClusterY,
                                      layout::Counter::ClusterZ};
  for (std::size_t d = 0; d < std::size(counters); ++d) {
    const std::int64_t above = below * call.context.launch.cluster[d];
    if (facts.counter == counters[d]) return ThreadDigits{below, above};
    below = above;
  }
  return std::nullopt;
}

std::int64_t threads_per_step(const Call& call, layout::Axis axis) {
  const auto digits = digits_of(call, axis);
  return digits ? digits->begin : axis.facts().divisor;
}

Match<void> set_owners(const Call& call, const layout::TileLayout& whole,
                       const ThreadPlaces& places, OperandPlaces& side) {
  return Owners(call, places, side).run(whole);
}

}  // namespace ww::lower
