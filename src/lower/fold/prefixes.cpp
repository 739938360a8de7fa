// SPDX-License-Identifier: Apache-2.0
#include "lower/fold/prefixes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "ir/scan.h"
#include "lower/as_index.h"

namespace ww::lower {

using ir::ExprId;

// --- rows ----------------------------------------------------------------------------------------

namespace prefixes {
namespace {

using Numbers = std::vector<std::int64_t>;

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

class Rows {
 public:
  Rows(const Call& call, ScanPlan& plan, const ir::FoldMap& map)
      : call_(call),
        p_(plan),
        rows_(as_index(map.results)),
        bands_of_(as_index(plan.fold.threads)) {
    for (std::size_t x = 0; x < map.into.size(); ++x) rows_[as_index(map.into[x])].push_back(x);
  }

  Match<void> find() {
    for (std::size_t row = 0; row < rows_.size(); ++row) WW_TRY_VOID(add_row(row));
    return add_results();
  }

 private:
  // Without copies in the same registers, and without copies beyond the unit.
  [[nodiscard]] std::set<Holders> copies_of(std::size_t row) const {
    const OperandPlaces& src = p_.fold.src;
    std::set<Holders> out;
    for (const Shift& replica : src.replicas)
      for (const std::int64_t spread : src.spread) {
        Holders copy;
        for (const std::size_t x : rows_[row]) {
          copy.threads.push_back(src.owner[x] + replica.thread + spread);
          copy.slots.push_back(src.linear[x] + replica.place);
        }
        if (std::ranges::all_of(copy.threads, [&](std::int64_t u) { return u < p_.fold.threads; }))
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
  Match<std::size_t> band_for(std::size_t row, const std::set<std::int64_t>& threads) {
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
      p_.bands.push_back({.lines = {}, .sweeps = decltype(ScanBand::sweeps)(bands_of_.size())});
    return band;
  }

  Match<void> add_copy(std::size_t row, const Holders& copy, const std::vector<Begins>& begins,
                       bool counts) {
    const std::set<std::int64_t> threads(copy.threads.begin(), copy.threads.end());
    const std::size_t number = WW_TRY(band_for(row, threads));
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
      if (k == band.lines.size())
        band.lines.push_back({.runs = std::vector<ScanRun>(bands_of_.size())});
      ScanRun& run = band.lines[k].runs[as_index(u)];
      if (begins[i] != Begins::Nothing) {
        run = {.sweep = static_cast<std::int64_t>(p_.sweeps.size()) - 1,
               .place = std::ssize(sweep.threads),
               .begins_row = i == 0};
        sweep.threads.push_back(u);
      }
      places_.emplace(key_of(u, rows_[row][i]), ScanResult{number, k, run.slots.size()});
      run.slots.push_back(copy.slots[i]);
    }
    p_.most_sweeps =
        std::max(p_.most_sweeps, static_cast<std::int64_t>(p_.sweeps.size() - first_sweep));
    for (const std::int64_t u : threads)
      for (std::size_t s = first_sweep; s < p_.sweeps.size(); ++s)
        band.sweeps[as_index(u)].push_back(s);
    return {};
  }

  Match<void> add_results() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> taken;  // thread, slot
    std::optional<Decline> problem;
    for_each_holder(
        p_.fold.dst, p_.fold.threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
          const auto found = places_.find(key_of(u, x));
          const auto [before, is_new] = taken.emplace(std::pair(u, slot), x);
          if (found == places_.end() && !problem)
            problem =
                decline("owner",
                        "element {} of `{}` is in thread {} of the {}, and that of `{}` is not", x,
                        call_.buffer(0).name, u, ir::name_of(call_.tile.scope),
                        call_.buffer(1).name)
                    .error();
          if (!is_new && before->second != x && !problem)
            problem = decline("collision",
                              "elements {} and {} of `{}` are both in register {} of thread {}",
                              before->second, x, call_.buffer(0).name, slot, u)
                          .error();
          if (!is_new || found == places_.end()) return;
          p_.results.push_back(found->second);
          p_.results.back().slot = slot;
          p_.results.back().thread = u;
        });
    if (problem) return Unexpected(*std::move(problem));
    std::ranges::sort(p_.results, {}, [](const ScanResult& r) {
      return std::tuple(r.band, r.line, r.place, r.slot, r.thread);
    });
    return {};
  }

  [[nodiscard]] std::int64_t key_of(std::int64_t thread, std::size_t x) const {
    return thread * std::ssize(p_.fold.src) + static_cast<std::int64_t>(x);
  }

  const Call& call_;
  ScanPlan& p_;
  std::vector<std::vector<std::size_t>> rows_;           // elements, by row
  std::vector<std::size_t> bands_of_;                    // rows so far, by thread
  std::unordered_map<std::int64_t, ScanResult> places_;  // by thread and element
};

}  // namespace
}  // namespace prefixes

bool are_results_at_home(const OperandPlaces& dst, const OperandPlaces& src, std::int64_t threads) {
  bool out = true;
  for_each_holder(dst, threads, [&](std::size_t x, std::int64_t u, std::int64_t) {
    out = out && slot_of(src, x, u).has_value();
  });
  return out;
}

Match<ScanPlan> scan_rows(const Call& call) {
  ScanPlan plan{.fold = WW_TRY(fold_of(call))};
  const ir::FoldMap map = WW_TRY(row_map(call));
  plan.rows = map.results;
  WW_TRY_VOID(prefixes::Rows(call, plan, map).find());
  return plan;
}

// --- lines ---------------------------------------------------------------------------------------

namespace prefixes {
namespace {

// The lanes whose runs are `distance` before, in the same sweep.
Numbers givers_of(const ScanPlan& plan, const ScanLine& line, std::int64_t distance) {
  Numbers out;
  for (const ScanRun& run : line.runs)
    out.push_back(run.sweep < 0 || run.place < distance
                      ? -1
                      : plan.sweeps[as_index(run.sweep)].threads[as_index(run.place - distance)]);
  return out;
}

Match<void> plan_line(const Call& call, const ScanPlan& plan, ScanLine& line) {
  line.has_base.resize(line.runs.size());
  line.is_first.resize(line.runs.size());
  std::int64_t most = 0;  // runs of a sweep
  for (std::size_t u = 0; u < line.runs.size(); ++u) {
    const ScanRun& run = line.runs[u];
    line.is_everywhere = line.is_everywhere && run.sweep >= 0;
    if (run.sweep < 0) continue;
    const ScanSweep& sweep = plan.sweeps[as_index(run.sweep)];
    line.is_first[u] = run.begins_row;
    line.has_base[u] = sweep.number > 0;
    most = std::max(most, std::ssize(sweep.threads));
    if (run.slots.size() > line.takes.size()) line.takes.resize(run.slots.size());
    for (std::size_t j = 0; j < run.slots.size(); ++j)
      WW_TRY_VOID(
          add_slot(call, plan.fold, 1, line.takes[j], run.slots[j], static_cast<std::int64_t>(u)));
  }
  line.puts.resize(line.takes.size());
  for (std::int64_t distance = 1; distance < most; distance *= 2)
    line.steps.push_back(WW_TRY(lane_read(call, givers_of(plan, line, distance))));
  if (most > 1) line.before = line.steps[0];
  return {};
}

}  // namespace
}  // namespace prefixes

Match<void> plan_lines(const Call& call, ScanPlan& plan) {
  for (ScanBand& band : plan.bands)
    for (ScanLine& line : band.lines) {
      WW_TRY_VOID(prefixes::plan_line(call, plan, line));
      line.first = plan.elements;
      line.number = plan.lines++;
      plan.elements += line.takes.size();
    }
  for (const ScanResult& each : plan.results)
    WW_TRY_VOID(add_slot(call, plan.fold, 0,
                         plan.bands[each.band].lines[each.line].puts[each.place], each.slot,
                         each.thread));
  return {};
}

Match<LaneRead> lane_read(const Call& call, const std::vector<std::int64_t>& givers) {
  LaneRead out;
  std::vector<std::int64_t> lanes;
  bool is_up = true;
  for (std::size_t u = 0; u < givers.size(); ++u) {
    const auto thread = static_cast<std::int64_t>(u);
    out.threads.push_back(givers[u] >= 0);
    lanes.push_back(givers[u] < 0 ? 0 : givers[u] % kLanesOfWarp);
    if (givers[u] < 0) continue;
    const std::int64_t distance = thread - givers[u];
    is_up = is_up && distance > 0 && (out.by == 0 || out.by == distance);
    out.by = distance;
  }
  if (is_up && out.by > 0)
    out.shuffle = ir::Intrinsic::ShflUp;
  else
    out.giver = WW_TRY(formula_of(
        lanes, out.threads,
        fmt::format("which lanes hold what is before in rows of `{}`", call.buffer(1).name)));
  return out;
}

bool ScanPlan::is_shuffled() const {
  return std::ranges::any_of(bands, [](const ScanBand& band) {
    return std::ranges::any_of(band.lines,
                               [](const ScanLine& line) { return line.before.has_value(); });
  });
}

// --- code ----------------------------------------------------------------------------------------

namespace prefixes {
namespace {

// Of at least three, for a loop.
std::optional<SlotForm> loop_form(std::span<const std::vector<ThreadSlot>> entries) {
  return entries.size() < 3 ? std::nullopt : slot_form(entries);
}

// Does every thread hold an element at this place?
bool is_full(const std::vector<ThreadSlot>& entry, std::size_t threads) {
  for (std::size_t u = 0; u < threads; ++u)
    if (std::ranges::none_of(entry, [&](const ThreadSlot& each) { return each.threads[u]; }))
      return false;
  return true;
}

std::vector<bool> both(const std::vector<bool>& a, const std::vector<bool>& b, bool is_b) {
  std::vector<bool> out = a;
  for (std::size_t u = 0; u < out.size(); ++u) out[u] = a[u] && b[u] == is_b;
  return out;
}

}  // namespace
}  // namespace prefixes

void ScanWriter::add_to_base(ExprId value, bool is_first) {
  code_.store(base_, code_.n(0), is_first ? value : folded(at(base_, 0), value));
}

// A thread whose run is shorter than others repeats what it has, so that the last place has the
// whole run in every thread.
void ScanWriter::fold_run(const ScanLine& line) {
  const auto first = static_cast<std::int64_t>(line.first);
  const auto count = std::ssize(line.takes);
  const auto one = [&](std::int64_t j, ExprId slot) {
    const ExprId value = source(slot);
    set_part(first + j, j == 0 ? value : folded(part(first + j - 1), value));
  };
  const auto form = prefixes::loop_form(line.takes);
  if (!line.is_everywhere)
    set_part(first + (form ? count - 1 : 0), neutral_value(code_, p_.by, p_.type));
  if (form)
    return code_.guarded(member_expr(code_, thread_, form->threads), [&] {
      one(0, code_.n(line.takes[0][0].slot));
      code_.loop("i", count - 1, ir::LoopKind::Unroll, [&](ExprId i) {
        const ExprId next = code_.add(i, code_.n(1));
        const ExprId value = source(digits_expr(code_, form->form, next));
        const ExprId before = code_.load(parts_, {code_.simplify(code_.add(i, code_.n(first)))});
        code_.store(parts_, code_.simplify(code_.add(next, code_.n(first))), folded(before, value));
      });
    });
  for (std::int64_t j = 0; j < count; ++j) {
    const std::vector<ThreadSlot>& entry = line.takes[as_index(j)];
    if (j > 0 && !prefixes::is_full(entry, as_index(p_.threads)))
      set_part(first + j, part(first + j - 1));
    for (const ThreadSlot& each : entry)
      in_threads(each.threads, [&] { one(j, code_.n(each.slot)); });
  }
}

void ScanWriter::fold_lanes(const ScanLine& line) {
  const ExprId own = code_.n(line.number);
  code_.store(swept_, own,
              part(static_cast<std::int64_t>(line.first) + std::ssize(line.takes) - 1));
  for (const LaneRead& step : line.steps) {
    const ExprId other = given(swept(line), step);
    in_threads(step.threads, [&] { code_.store(swept_, own, folded(other, swept(line))); });
  }
}

void ScanWriter::write_sweeps() {
  if (plan_.has_sweeps()) swept_ = code_.registers("swept", p_.type, plan_.lines);
  for (const ScanBand& band : plan_.bands)
    for (const ScanLine& line : band.lines) fold_run(line);
  for (const ScanBand& band : plan_.bands)
    for (const ScanLine& line : band.lines)
      if (plan_.has_sweeps()) fold_lanes(line);
}

void ScanWriter::write_results(const std::function<void(std::size_t, std::size_t)>& advance) {
  // Filled in all threads, so that a compiler may compute with them where the result is not used.
  const auto filled = [&](std::string_view name) {
    const ir::BufferId out = code_.registers(name, p_.type, 1);
    code_.store(out, code_.n(0), neutral_value(code_, p_.by, p_.type));
    return out;
  };
  if (plan_.most_sweeps > 1) base_ = filled("base");
  if (plan_.has_sweeps()) before_ = filled("before");
  for (std::size_t b = 0; b < plan_.bands.size(); ++b)
    for (std::size_t k = 0; k < plan_.bands[b].lines.size(); ++k) {
      const ScanLine& line = plan_.bands[b].lines[k];
      if (has_any(line.has_base)) advance(b, k);
      find_before(line);
      if (ir::is_exclusive(call_.tile)) put_first(line);
      put_rest(line, true);
      put_rest(line, false);
    }
}

// The base, then what the run before has. Where there is only one of them, nothing is folded, so
// that a NaN stays as it is.
void ScanWriter::find_before(const ScanLine& line) {
  const auto set = [&](const std::vector<bool>& threads, auto&& value) {
    in_threads(threads, [&] { code_.store(before_, code_.n(0), value()); });
  };
  const auto base = [&] { return at(base_, 0); };
  if (!line.before) return set(line.has_base, base);
  const ExprId value = given(swept(line), *line.before);
  const std::vector<bool>& has_run = line.before->threads;
  set(prefixes::both(has_run, line.has_base, false), [&] { return value; });
  set(prefixes::both(line.has_base, has_run, false), base);
  set(prefixes::both(line.has_base, has_run, true), [&] { return folded(base(), value); });
}

ExprId ScanWriter::result(ExprId element, bool is_first) {
  const ExprId own = code_.load(parts_, {code_.simplify(element)});
  return is_first ? own : folded(at(before_, 0), own);
}

// Of an exclusive scan: what is before the run, or nothing.
void ScanWriter::put_first(const ScanLine& line) {
  for (const ThreadSlot& each : line.puts[0]) {
    const ExprId to = index(p_.dst, code_.n(each.slot));
    in_threads(prefixes::both(each.threads, line.is_first, true),
               [&] { store(to, code_.literal(ir::scan_identity(p_.by, p_.dst.dtype))); });
    in_threads(prefixes::both(each.threads, line.is_first, false),
               [&] { store(to, at(before_, 0)); });
  }
}

// The results of runs that begin a row, or those of the others.
void ScanWriter::put_rest(const ScanLine& line, bool is_first) {
  const auto entries = std::span(line.puts).subspan(ir::is_exclusive(call_.tile) ? 1 : 0);
  const auto first = static_cast<std::int64_t>(line.first);
  const auto in = [&](const std::vector<bool>& threads) {
    return prefixes::both(threads, line.is_first, is_first);
  };
  if (const auto form = prefixes::loop_form(entries))
    return in_threads(in(form->threads), [&] {
      code_.loop("i", std::ssize(entries), ir::LoopKind::Unroll, [&](ExprId i) {
        const ExprId value = result(code_.add(i, code_.n(first)), is_first);
        store(index(p_.dst, digits_expr(code_, form->form, i)), value);
      });
    });
  for (std::size_t j = 0; j < entries.size(); ++j)
    for (const ThreadSlot& each : entries[j])
      in_threads(in(each.threads), [&] {
        const ExprId value = result(code_.n(first + static_cast<std::int64_t>(j)), is_first);
        store(index(p_.dst, code_.n(each.slot)), value);
      });
}

// --- report --------------------------------------------------------------------------------------

PlanReport scan_report(const ScanPlan& plan, const Call& call, std::int64_t given) {
  FoldCost cost{.takes = {}, .puts = {}, .reads = {}, .given = given};
  for (const ScanBand& band : plan.bands)
    for (const ScanLine& line : band.lines) {
      cost.takes.push_back(&line.takes);
      for (const std::vector<ThreadSlot>& entry : line.puts)
        for (const ThreadSlot& each : entry) cost.puts.push_back(each.slot);
      for (const LaneRead& step : line.steps) cost.reads.push_back(&step);
      if (line.before) cost.reads.push_back(&*line.before);
    }
  return fold_report(plan.fold, call, std::move(cost));
}

}  // namespace ww::lower
