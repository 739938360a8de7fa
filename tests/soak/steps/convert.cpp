// SPDX-License-Identifier: Apache-2.0
// Copies between registers whose elements change threads.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "soak/steps.h"

namespace ww::test {
namespace {

constexpr const char* kTurned = "turned";

// Rows by other threads than those of the tiles: numbered along columns, or of another length each.
// "" where the tile has no such rows.
std::string turned_layout(Draft& draft) {
  const Frame& f = draft.f;
  const std::int64_t each = draft.tape.pick<std::int64_t>({2, 1, 4});
  const std::int64_t rows = f.tile[0], columns = f.tile[1];
  if (columns % each != 0) return "";
  const std::int64_t of_row = columns / each;
  if (of_row > f.unit_threads || f.unit_threads % of_row != 0) return "";
  const std::int64_t at_a_time = f.unit_threads / of_row;
  if (rows % at_a_time != 0) return "";
  const bool is_along_columns = draft.tape.one_in(2);
  return tile(fmt::format("S[({}, {}, {}, {}) : ({}, {} @ {}, {} @ {}, 1)]", rows / at_a_time,
                          at_a_time, of_row, each, each, is_along_columns ? 1 : of_row, f.axis,
                          is_along_columns ? at_a_time : 1, f.axis));
}

void declare_turned(Draft& draft) {
  if (draft.f.has_products || draft.f.spread == Spread::Atoms || !draft.tape.one_in(2)) return;
  const std::string layout = turned_layout(draft);
  if (!layout.empty()) add_reg(draft, kTurned, any_work(draft).dtype, draft.f.tile, layout);
}

const RegTile* turned_of(const Draft& draft) {
  return draft.regs.back().name == kTurned ? &draft.regs.back() : nullptr;
}

void begin_turned(Draft& draft) {
  if (const RegTile* reg = turned_of(draft)) load(draft, {}, *reg, false);
}

bool turned_fits(const Draft& draft, const Place&) { return turned_of(draft) != nullptr; }

void write_turned(Draft& draft, const Place& at) {
  const RegTile& turned = *turned_of(draft);
  const RegTile& other = any_work(draft);
  if (other.dtype != turned.dtype) return;
  const Columns c = any_columns(draft, turned.shape);
  const std::string one = region_of(turned, c), two = region_of(other, c);
  const bool is_to = draft.tape.one_in(2);
  draft.text.line(at, "{}copy({}, {}{})", draft.f.prefix(), is_to ? one : two, is_to ? two : one,
                  any_workspace(draft));
}

}  // namespace

const Step kConvert{.name = "registers: to other threads",
                    .weight = 2,
                    .fits = turned_fits,
                    .write = write_turned,
                    .declare = declare_turned,
                    .begin = begin_turned};

}  // namespace ww::test
