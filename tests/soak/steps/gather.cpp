// SPDX-License-Identifier: Apache-2.0
// Rows of a tile in global or shared memory by numbers that the threads hold: in any order, several
// times, and out of range.
#include <fmt/format.h>

#include <string>

#include "soak/steps.h"

namespace ww::test {
namespace {

constexpr const char* kPicks = "picks";

bool has_picks(const Draft& draft) { return draft.f.spread == Spread::Rows && draft.picks_rows; }

// A number for each row, held by the first thread of it or by all.
void declare_picks(Draft& draft) {
  const Frame& f = draft.f;
  if (f.spread != Spread::Rows || !draft.tape.one_in(3)) return;
  draft.picks_rows = true;
  const std::int64_t rows = f.unit_threads / f.of_row;
  const bool is_everywhere = f.of_row > 1 && draft.tape.one_in(2);
  std::string layout = fmt::format("S[({}, {}) : (1, {} @ {})]", f.rounds, rows, f.of_row, f.axis);
  if (is_everywhere) layout += fmt::format(" + R[{} : 1 @ {}]", f.of_row, f.axis);
  draft.text.line({}, "{} = T.alloc_buffer({}, \"int32\", scope=\"local\", layout={})", kPicks,
                  tuple({f.tile[0], 1}), tile(layout));
}

// Most are in range.
void begin_picks(Draft& draft) {
  if (!has_picks(draft)) return;
  load(draft, {}, {.name = kPicks, .dtype = "int32", .shape = {draft.f.tile[0], 1}}, false);
  std::int64_t mask = 1;
  while (mask < draft.f.tile[0]) mask *= 2;
  draft.text.line({}, "{0}bitwise_and({1}, {1}, {2})", draft.f.prefix(), kPicks, 2 * mask - 1);
  draft.text.line({}, "{0}sub({1}, {1}, {2})", draft.f.prefix(), kPicks, mask / 4);
}

bool gather_fits(const Draft& draft, const Place&) { return has_picks(draft); }

void write_gather(Draft& draft, const Place& at) {
  const RegTile& dst = any_work(draft);
  const Columns c = any_columns(draft, dst.shape);
  std::vector<Shared*> tables;
  for (const auto& [reg, each] : copy_pairs(draft, true))
    if (reg->name == dst.name) tables.push_back(each);
  std::string from;
  if (!tables.empty() && draft.tape.one_in(2)) {
    Shared& table = *draft.tape.pick(tables);
    order_access(draft, at, table, false, false);
    from = region_of(draft, at, table, draft.f.unit, c);
  } else {
    from = new_input(draft, at, dst.dtype, dst.shape, c, false, false).text;
  }
  draft.text.line(at, "{}gather({}, {}, {}[0:{}, 0], axis=-2, fill_value=3)", draft.f.prefix(),
                  region_of(dst, c), from, kPicks, draft.f.tile[0]);
}

}  // namespace

const Step kGather{.name = "gather",
                   .fits = gather_fits,
                   .write = write_gather,
                   .declare = declare_picks,
                   .begin = begin_picks};

}  // namespace ww::test
