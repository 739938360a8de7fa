// SPDX-License-Identifier: Apache-2.0
// Rows or columns of a tile scanned into another of its kind, or where they are; of floats, too, whose
// sums depend on the order of additions.
#include <vector>

#include "soak/steps.h"

namespace ww::test {
namespace {

bool scans_fit(const Draft& draft, const Place&) { return draft.works > 0; }

void write_scan(Draft& draft, const Place& at) {
  const RegTile src = any_work(draft);
  std::vector<RegTile> results;
  for (std::size_t i = 0; i < draft.works; ++i)
    if (draft.regs[i].dtype == src.dtype && draft.regs[i].shape == src.shape)
      results.push_back(draft.regs[i]);
  const RegTile& dst = draft.tape.pick(results);
  const Columns c = any_columns(draft, src.shape);
  const std::string op =
      draft.tape.pick(std::vector<std::string>{"cumsum", "cummax", "cummin", "cumprod"});
  const int axis = draft.tape.one_in(2) ? 0 : 1;
  const bool is_exclusive = draft.tape.one_in(3);
  draft.text.line(at, "{}{}({}, {}, axis={}{}{})", draft.f.prefix(), op, region_of(dst, c),
                  region_of(src, c), axis, is_exclusive ? ", exclusive=True" : "",
                  any_workspace(draft));
}

}  // namespace

const Step kScan{.name = "scan", .weight = 2, .fits = scans_fit, .write = write_scan};

}  // namespace ww::test
