// SPDX-License-Identifier: Apache-2.0
// Tiles of registers from inputs, and to outputs.
#include "soak/steps.h"

namespace ww::test {

void load(Draft& draft, const Place& at, const RegTile& reg, bool may_be_ragged) {
  const Columns c = Columns::all(reg.shape);
  const Source from = new_input(draft, at, reg.dtype, reg.shape, c, false, may_be_ragged);
  draft.text.line(at, "{}copy({}, {}{}{})", draft.f.prefix(), region_of(reg, c), from.text,
                  from.fill(), may_be_ragged ? any_predicate(draft, at, true) : "");
}

void store(Draft& draft, const Place& at, const RegTile& reg) {
  const Columns c = Columns::all(reg.shape);
  const bool is_cut = draft.tape.one_in(8);
  const std::string there = new_output(draft, at, reg.dtype, reg.shape, c, false, is_cut);
  draft.text.line(at, "{}copy({}, {}{}{})", draft.f.prefix(), there, region_of(reg, c),
                  is_cut ? ", clip=True" : "", at.depth > 0 ? any_predicate(draft, at, true) : "");
}

namespace {

bool registers_fit(const Draft&, const Place&) { return true; }

void write_registers_load(Draft& draft, const Place& at) {
  const RegTile& reg = draft.tape.pick(draft.regs);
  if (reg.name != "acc") load(draft, at, reg, true);
}
void write_registers_store(Draft& draft, const Place& at) {
  store(draft, at, draft.tape.pick(draft.regs));
}

}  // namespace

const Step kLoadRegisters{
    .name = "registers: from global memory", .fits = registers_fit, .write = write_registers_load};
const Step kStoreRegisters{
    .name = "registers: to global memory", .fits = registers_fit, .write = write_registers_store};

}  // namespace ww::test
