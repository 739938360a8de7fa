// SPDX-License-Identifier: Apache-2.0
// Rows and columns of a tile folded into one that its threads hold in common; of floats, too, whose
// sums depend on the order of additions.
#include <fmt/format.h>

#include <vector>

#include "soak/steps.h"

namespace ww::test {
namespace {

// Shared memory that calls may use in the place of their own. Units that share it would have to wait
// for each other between two calls.
void declare_workspace(Draft& draft) {
  constexpr std::int64_t kBytes = 4096;
  draft.has_workspace =
      draft.f.units == 1 && draft.tape.one_in(4) && add_bytes(draft, "ws", kBytes);
}

bool reductions_fit(const Draft& draft, const Place&) { return !draft.stretched.empty(); }

void write_reduction(Draft& draft, const Place& at) {
  const RegTile& dst = draft.tape.pick(draft.stretched);
  std::vector<RegTile> sources;
  for (std::size_t i = 0; i < draft.works; ++i)
    if (draft.regs[i].dtype == dst.dtype) sources.push_back(draft.regs[i]);
  if (sources.empty()) return;
  const RegTile& src = draft.tape.pick(sources);
  const Columns c = any_columns(draft, src.shape);
  const bool is_row = dst.name == "row";
  const std::string there = is_row ? fmt::format("row[0, {}:{}]", c.begin, c.begin + c.count)
                                   : fmt::format("column[0:{}, 0]", dst.shape[0]);
  const std::string op = draft.tape.pick(std::vector<std::string>{"sum", "max", "min"});
  const bool is_added = draft.tape.one_in(3);
  const std::string workspace = any_workspace(draft);
  draft.text.line(at, "{}{}({}, {}, axes={}{}{})", draft.f.prefix(), op, there, region_of(src, c),
                  is_row ? 0 : 1, is_added ? ", accum=True" : "", workspace);
  if (draft.tape.one_in(3)) store(draft, at, dst);
}

void finish_reductions(Draft& draft) {
  for (const RegTile& reg : draft.stretched) store(draft, {}, reg);
}

}  // namespace

const Step kReduction{.name = "reduction",
                      .weight = 2,
                      .fits = reductions_fit,
                      .write = write_reduction,
                      .declare = declare_workspace,
                      .finish = finish_reductions};

}  // namespace ww::test
