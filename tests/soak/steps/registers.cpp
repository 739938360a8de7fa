// SPDX-License-Identifier: Apache-2.0
// Tiles of registers from inputs, and to outputs.
#include <fmt/format.h>

#include "soak/steps.h"

namespace ww::test {

void load(Draft& draft, const Place& at, const RegTile& reg, bool may_be_ragged) {
  const Columns c = Draft::all(reg.shape);
  const Source from = draft.input(at, reg.dtype, reg.shape, c, false, may_be_ragged);
  draft.line(at, fmt::format("{}copy({}, {}{}{})", draft.prefix(), Draft::of(reg, c), from.text,
                             from.fill(), may_be_ragged ? draft.predicate(at, true) : ""));
}

void store(Draft& draft, const Place& at, const RegTile& reg) {
  const Columns c = Draft::all(reg.shape);
  const bool is_cut = draft.tape.one_in(8);
  const std::string there = draft.output(at, reg.dtype, reg.shape, c, false, is_cut);
  draft.line(
      at, fmt::format("{}copy({}, {}{}{})", draft.prefix(), there, Draft::of(reg, c),
                      is_cut ? ", clip=True" : "", at.depth > 0 ? draft.predicate(at, true) : ""));
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
