// SPDX-License-Identifier: Apache-2.0
// Copies of which a tile of bools says what is copied: registers from inputs, and to outputs.
#include "soak/steps.h"

namespace ww::test {
namespace {

bool masked_fit(const Draft&, const Place&) { return true; }

// A bool for each element, each row or each column; in global memory.
std::string mask_of(Draft& draft, const Place& at, const RegTile& reg) {
  Extents shape = reg.shape;
  const std::int64_t stretched = draft.tape.below(3);
  if (stretched < 2) shape[static_cast<std::size_t>(stretched)] = 1;
  return ", predicate=" +
         new_input(draft, at, "bool", shape, Columns::all(shape), false, false).text;
}

void write_masked(Draft& draft, const Place& at) {
  const RegTile& reg = draft.tape.pick(draft.regs);
  const Columns c = Columns::all(reg.shape);
  const bool is_load = draft.tape.one_in(2);
  if (is_load && reg.name == "acc") return;
  if (is_load) {
    const Source from = new_input(draft, at, reg.dtype, reg.shape, c, false, true);
    const std::string mask = mask_of(draft, at, reg);
    draft.text.line(at, "{}copy({}, {}{}{})", draft.f.prefix(), region_of(reg, c), from.text, mask,
                    from.fill());
    return;
  }
  const bool is_cut = draft.tape.one_in(4);
  const std::string there = new_output(draft, at, reg.dtype, reg.shape, c, false, is_cut);
  const std::string mask = mask_of(draft, at, reg);
  draft.text.line(at, "{}copy({}, {}{}{})", draft.f.prefix(), there, region_of(reg, c), mask,
                  is_cut ? ", clip=True" : "");
}

}  // namespace

const Step kMasked{.name = "registers: under a mask", .fits = masked_fit, .write = write_masked};

}  // namespace ww::test
