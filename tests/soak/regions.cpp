// SPDX-License-Identifier: Apache-2.0
#include "soak/regions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ww::test {
namespace {

struct Start {
  std::string text = "0";
  std::int64_t more = 0;  // elements that it may skip
};

// A constant, by the parameter, or so many elements further in each turn of a loop.
Start any_start(Tape& tape, const Place& at, std::int64_t extent) {
  if (!tape.one_in(4)) return {};
  const std::int64_t step = tape.pick<std::int64_t>({8, 4, 1, 16});
  switch (tape.below(at.loops.empty() ? 2 : 4)) {
    case 0:
      return {fmt::format("p0 * {}", step), 2 * step};
    case 1:
      return {std::to_string(step), step};
    case 2: {
      const auto& [var, count] = tape.pick(at.loops);
      return {fmt::format("{} * {}", var, extent), (count - 1) * extent};
    }
    default: {
      const auto& [var, count] = tape.pick(at.loops);
      return {fmt::format("({} + p0) * {}", var, step), (count + 1) * step};
    }
  }
}

// An extent that is too short by a few elements; some are known at launch only.
std::string ragged_extent(Draft& draft, std::int64_t wanted) {
  const std::int64_t there = std::max<std::int64_t>(1, wanted - 1 - draft.tape.below(4));
  if (!draft.tape.one_in(2)) return std::to_string(there);
  const std::string name = draft.text.fresh("n");
  draft.scalars[name] = there;
  draft.text.extent(name);
  return name;
}

}  // namespace

Columns any_columns(Draft& draft, const Extents& shape) {
  if (!draft.tape.one_in(6)) return Columns::all(shape);
  const std::int64_t begin = draft.tape.below(shape[1]);
  return {begin, 1 + draft.tape.below(shape[1] - begin)};
}

std::string region_of(const RegTile& reg, Columns c) {
  return fmt::format("{}[0:{}, {}:{}]", reg.name, reg.shape[0], c.begin, c.begin + c.count);
}
std::string region_of(Draft& draft, const Place& at, const Shared& each, const std::string& unit,
                      Columns c) {
  return fmt::format("{}[{}, {}, 0:{}, {}:{}]", each.name, any_stage(draft, at, each.stages), unit,
                     each.shape[0], c.begin, c.begin + c.count);
}
std::string any_stage(Draft& draft, const Place& at, std::int64_t stages) {
  if (stages == 1) return "0";
  if (at.loops.empty() || draft.tape.one_in(4))
    return draft.tape.pick(std::vector<std::string>{"0", "1", "p0 % 2"});
  return fmt::format("{} % 2", draft.tape.pick(at.loops).first);
}

PerTurn per_turn(const Draft& draft, const Place& at) {
  PerTurn out{.extents = {draft.f.ctas}, .index = "cta, "};
  for (const auto& [var, count] : at.loops) {
    out.extents.push_back(count);
    out.index += var + ", ";
  }
  return out;
}

Source new_input(Draft& draft, const Place& at, const std::string& dtype, const Extents& shape,
                 Columns c, bool is_all, bool may_be_ragged) {
  Tape& tape = draft.tape;
  const Frame& f = draft.f;
  const std::string name = draft.text.fresh("a");
  std::vector<std::string> extents;
  std::string index;
  const auto add = [&](std::int64_t extent, const std::string& at_) {
    extents.push_back(std::to_string(extent));
    index += at_ + ", ";
  };
  if (tape.below(3) != 0) add(f.ctas, "cta");
  for (const auto& [var, count] : at.loops)
    if (tape.below(3) != 0) add(count, var);
  if (is_all || (f.units > 1 && tape.below(4) != 0)) add(f.units, f.parts(is_all));
  Source out;
  std::string ranges;
  for (const std::int64_t extent : {shape[0], c.count}) {
    const Start first = any_start(tape, at, extent);
    const bool is_ragged = may_be_ragged && tape.one_in(8);
    out.is_ragged = out.is_ragged || is_ragged;
    extents.push_back(is_ragged ? ragged_extent(draft, extent + first.more)
                                : std::to_string(extent + first.more));
    out.has_fill_value = out.is_ragged && tape.one_in(2);
    ranges += first.text == "0" ? fmt::format("0:{}, ", extent)
                                : fmt::format("{0}:{0} + {1}, ", first.text, extent);
  }
  draft.text.param(name, fmt::format("({},)", fmt::join(extents, ", ")), dtype);
  ranges.resize(ranges.size() - 2);
  out.text = fmt::format("{}[{}{}]", name, index, ranges);
  return out;
}

std::string new_output(Draft& draft, const Place& at, const std::string& dtype,
                       const Extents& shape, Columns c, bool is_all, bool is_cut) {
  const std::string name = draft.text.fresh("o");
  auto [extents, index] = per_turn(draft, at);
  extents.push_back(draft.f.units);
  for (const std::int64_t extent : {shape[0], c.count})
    extents.push_back(is_cut ? std::max<std::int64_t>(1, extent - draft.tape.below(4)) : extent);
  draft.text.param(name, tuple(extents), dtype);
  return fmt::format("{}[{}{}, 0:{}, 0:{}]", name, index, draft.f.parts(is_all), shape[0], c.count);
}

std::string any_condition(Draft& draft, const Place& at, bool is_of_unit) {
  std::vector<std::string> all = {"p0 > 0", "p0 != 1", "cta == 0", "cta + p0 >= 2"};
  for (const auto& [var, count] : at.loops) {
    all.push_back(fmt::format("{} % 2 == 0", var));
    all.push_back(fmt::format("{} < p0", var));
  }
  if (is_of_unit && draft.f.units > 1) {
    all.push_back(draft.f.unit + " != 0");
    all.push_back(fmt::format("({} + p0) % 2 == 1", draft.f.unit));
  }
  return draft.tape.pick(all);
}
std::string any_predicate(Draft& draft, const Place& at, bool is_of_unit) {
  return draft.tape.one_in(10) ? ", predicate=" + any_condition(draft, at, is_of_unit) : "";
}

}  // namespace ww::test
