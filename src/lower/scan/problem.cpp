// SPDX-License-Identifier: Apache-2.0
#include "lower/scan/problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "ir/scan.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/reduce/lanes.h"
#include "lower/reduce/problem.h"

namespace ww::lower {
namespace scanning {
namespace {

using Numbers = std::vector<std::int64_t>;

Match<OperandPlaces> registers_of(const Call& call, std::size_t argument) {
  OperandPlaces side = WW_TRY(register_places(call, argument));
  if (side.bits < 8)
    return decline("dtype", "`{}` has elements of type {}, expected numbers of whole bytes",
                   call.buffer(argument).name, num::name_of(side.dtype));
  WW_TRY_VOID(check_cells(call, side, argument));
  return side;
}

/// Who holds the elements of a row, one copy of them.
struct Holders {
  Numbers threads, slots;
  friend auto operator<=>(const Holders&, const Holders&) = default;
};

/// How an element goes on from the one before.
enum class Begins : std::uint8_t { Nothing, Run, Sweep };

std::vector<Begins> begins_of(const Numbers& threads) {
  std::vector<Begins> out;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const std::int64_t before = i == 0 ? -1 : threads[i - 1], own = threads[i];
    const bool is_next = i > 0 && own > before && own / kLanesOfWarp == before / kLanesOfWarp;
    out.push_back(own == before ? Begins::Nothing : is_next ? Begins::Run : Begins::Sweep);
  }
  return out;
}

std::int64_t key_of(const ScanProblem& p, std::int64_t thread, std::size_t x) {
  return thread * std::ssize(p.src) + static_cast<std::int64_t>(x);
}

class Rows {
 public:
  Rows(const Call& call, ScanProblem& p, std::vector<std::vector<std::size_t>> rows)
      : call_(call), p_(p), rows_(std::move(rows)), bands_of_(as_index(p.threads)) {}

  Match<void> find() {
    for (std::size_t row = 0; row < rows_.size(); ++row) WW_TRY_VOID(add_row(row));
    return add_results();
  }

 private:
  // Without copies in the same registers, and without copies beyond the unit.
  [[nodiscard]] std::set<Holders> copies_of(std::size_t row) const {
    std::set<Holders> out;
    for (const Shift& replica : p_.src.replicas)
      for (const std::int64_t spread : p_.src.spread) {
        Holders copy;
        for (const std::size_t x : rows_[row]) {
          copy.threads.push_back(p_.src.owner[x] + replica.thread + spread);
          copy.slots.push_back(p_.src.linear[x] + replica.place);
        }
        if (std::ranges::all_of(copy.threads, [&](std::int64_t u) { return u < p_.threads; }))
          out.insert(std::move(copy));
      }
    return out;
  }

  Match<void> add_row(std::size_t row) {
    const std::set<Holders> copies = copies_of(row);
    if (copies.empty())
      return decline("owner", "row {} of `{}` is not in the registers of one {}", row,
                     call_.buffer(1).name, ir::name_of(call_.tile.scope));
    Numbers first = copies.begin()->threads;
    for (const Holders& copy : copies)
      for (std::size_t i = 0; i < first.size(); ++i) first[i] = std::min(first[i], copy.threads[i]);
    const std::vector<Begins> begins = begins_of(first);
    bool has_counted = false;
    for (const Holders& copy : copies) {
      if (begins_of(copy.threads) != begins)
        return decline("replica",
                       "threads {} and {} of the {} hold the first element of row {} of `{}`, and "
                       "other elements beside it",
                       first[0], copy.threads[0], ir::name_of(call_.tile.scope), row,
                       call_.buffer(1).name);
      const bool counts = !has_counted && copy.threads == first;
      has_counted = has_counted || counts;
      WW_TRY_VOID(add_copy(row, copy, begins, counts));
    }
    if (has_counted) return {};
    return decline("replica", "no copy of row {} of `{}` is in the first threads that hold it", row,
                   call_.buffer(1).name);
  }

  // The band of a row is the first that none of its threads has used.
  Match<std::size_t> band_for(std::size_t row, const Holders& copy) {
    const std::set<std::int64_t> threads(copy.threads.begin(), copy.threads.end());
    const std::size_t band = bands_of_[as_index(*threads.begin())];
    for (const std::int64_t u : threads) {
      if (bands_of_[as_index(u)] != band)
        return decline("irregular",
                       "row {} of `{}` is row {} of thread {} of the {}, and row {} of thread {}",
                       row, call_.buffer(1).name, band, *threads.begin(),
                       ir::name_of(call_.tile.scope), bands_of_[as_index(u)], u);
      ++bands_of_[as_index(u)];
    }
    if (band == p_.bands.size())
      p_.bands.push_back(
          {.lines = {}, .sweeps = std::vector<std::vector<std::size_t>>(as_index(p_.threads))});
    return band;
  }

  Match<void> add_copy(std::size_t row, const Holders& copy, const std::vector<Begins>& begins,
                       bool counts) {
    const std::size_t number = WW_TRY(band_for(row, copy));
    ScanBand& band = p_.bands[number];
    std::map<std::int64_t, std::int64_t> of_warp;  // sweeps so far
    const std::size_t first_sweep = p_.sweeps.size();
    for (std::size_t i = 0; i < copy.threads.size(); ++i) {
      const std::int64_t u = copy.threads[i];
      if (begins[i] == Begins::Sweep)
        p_.sweeps.push_back({.row = static_cast<std::int64_t>(row),
                             .number = static_cast<std::int64_t>(p_.sweeps.size() - first_sweep),
                             .in_warp = of_warp[u / kLanesOfWarp]++,
                             .counts = counts,
                             .threads = {}});
      ScanSweep& sweep = p_.sweeps.back();
      const std::size_t k = as_index(sweep.in_warp);
      if (k == band.lines.size()) band.lines.emplace_back(as_index(p_.threads));
      ScanRun& run = band.lines[k][as_index(u)];
      if (begins[i] != Begins::Nothing) {
        run = {.sweep = static_cast<std::int64_t>(p_.sweeps.size()) - 1,
               .place = std::ssize(sweep.threads),
               .first = static_cast<std::int64_t>(i)};
        sweep.threads.push_back(u);
      }
      places_.emplace(key_of(p_, u, rows_[row][i]), ScanPlace{number, k, run.slots.size()});
      run.slots.push_back(copy.slots[i]);
    }
    p_.most_sweeps =
        std::max(p_.most_sweeps, static_cast<std::int64_t>(p_.sweeps.size() - first_sweep));
    for (const std::int64_t u : std::set<std::int64_t>(copy.threads.begin(), copy.threads.end()))
      for (std::size_t s = first_sweep; s < p_.sweeps.size(); ++s)
        band.sweeps[as_index(u)].push_back(s);
    return {};
  }

  Match<void> add_results() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> taken;  // thread, slot
    std::optional<Decline> problem;
    for_each_holder(p_.dst, p_.threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
      const auto found = places_.find(key_of(p_, u, x));
      const auto [before, is_new] = taken.emplace(std::pair(u, slot), x);
      if (found == places_.end() && !problem)
        problem =
            decline("owner",
                    "element {} of `{}` is in thread {} of the {}, and that of `{}` is not", x,
                    call_.buffer(0).name, u, ir::name_of(call_.tile.scope), call_.buffer(1).name)
                .error();
      if (!is_new && before->second != x && !problem)
        problem =
            decline("collision", "elements {} and {} of `{}` are both in register {} of thread {}",
                    before->second, x, call_.buffer(0).name, slot, u)
                .error();
      if (is_new && found != places_.end()) p_.results.push_back({found->second, slot, u});
    });
    if (problem) return Unexpected(*std::move(problem));
    std::ranges::sort(p_.results, {}, [](const ScanResult& r) {
      return std::tuple(r.of.band, r.of.line, r.of.place, r.slot, r.thread);
    });
    return {};
  }

  const Call& call_;
  ScanProblem& p_;
  std::vector<std::vector<std::size_t>> rows_;          // elements, by row
  std::vector<std::size_t> bands_of_;                   // rows so far, by thread
  std::unordered_map<std::int64_t, ScanPlace> places_;  // by thread and element
};

std::vector<std::vector<std::size_t>> rows_of(const std::vector<std::int64_t>& extents,
                                              std::size_t dimension) {
  std::vector<bool> is_scanned(extents.size());
  is_scanned[dimension] = true;
  const ir::FoldMap map = ir::fold_map(extents, is_scanned);
  std::vector<std::vector<std::size_t>> out(as_index(map.results));
  for (std::size_t x = 0; x < map.into.size(); ++x) out[as_index(map.into[x])].push_back(x);
  return out;
}

}  // namespace
}  // namespace scanning

bool are_results_at_home(const OperandPlaces& dst, const OperandPlaces& src, std::int64_t threads) {
  std::set<std::pair<std::size_t, std::int64_t>> held;
  for_each_holder(src, threads,
                  [&](std::size_t x, std::int64_t u, std::int64_t) { held.emplace(x, u); });
  bool out = true;
  for_each_holder(dst, threads, [&](std::size_t x, std::int64_t u, std::int64_t) {
    out = out && held.contains({x, u});
  });
  return out;
}

Match<ScanProblem> scan_problem(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  ScanProblem p;
  p.dst = WW_TRY(scanning::registers_of(call, 0));
  p.src = WW_TRY(scanning::registers_of(call, 1));
  p.type = ir::fold_type(p.src.dtype);
  p.by = ir::scanning_operator(call.tile.op);
  p.is_exclusive = ir::is_exclusive(call.tile);
  p.threads = call.unit_threads();
  const std::vector<std::int64_t> extents = WW_TRY(source_extents(call));
  const std::size_t dimension = ir::scanned_dimension(call.tile);
  p.length = extents[dimension];
  auto rows = scanning::rows_of(extents, dimension);
  p.rows = std::ssize(rows);
  WW_TRY_VOID(scanning::Rows(call, p, std::move(rows)).find());
  return p;
}

}  // namespace ww::lower
