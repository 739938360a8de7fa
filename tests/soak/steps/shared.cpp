// SPDX-License-Identifier: Apache-2.0
// Copies from and to shared memory, and constants there.
#include <fmt/format.h>

#include "soak/steps.h"

namespace ww::test {

void fill_all(Draft& draft, const Place& at, Shared& each) {
  for (std::int64_t s = 0; s < each.stages; ++s) {
    const Columns c = Draft::all(each.shape);
    const Source from = draft.input(at, each.dtype, each.shape, c, true, false);
    draft.line(at, fmt::format("Tx.cta.copy({}[{}, 0:{}, 0:{}, 0:{}], {})", each.name, s,
                               draft.f.units, each.shape[0], each.shape[1], from.text));
  }
  each.pending.far_write = true;
}

void load_part(Draft& draft, const Place& at, Shared& to, Columns c, bool is_all, bool is_async) {
  draft.access(at, to, true, is_all);
  const Source from = draft.input(at, to.dtype, to.shape, c, is_all, true);
  const std::string there = draft.of(at, to, draft.units(is_all), c);
  draft.line(at, fmt::format("{}copy{}({}, {}{}{})", is_all ? "Tx.cta." : draft.prefix(),
                             is_async ? "_async" : "", there, from.text, from.fill(),
                             draft.predicate(at, !is_all)));
  if (!is_async) return;
  draft.line(at, "T.ptx.cp_async.commit_group()");
  to.is_arriving = true;
}

namespace {

bool shared_fit(const Draft& draft, const Place&) { return !draft.shared.empty(); }

void write_shared_load(Draft& draft, const Place& at) {
  Shared& to = draft.tape.pick(draft.shared);
  const bool is_all = !at.is_split && draft.tape.one_in(3);
  const bool is_async = draft.tape.one_in(2) && draft.f.has_async();
  load_part(draft, at, to, is_all ? Draft::all(to.shape) : draft.some(to.shape), is_all, is_async);
  if (is_async && draft.tape.one_in(2)) draft.wait(at);
}

// Sums of a product must stay small: its factors come from shared memory that nothing but inputs
// go to, if their shape is another one.
void write_read(Draft& draft, const Place& at) {
  const auto all = draft.pairs(true);
  if (all.empty()) return;
  auto [reg, from] = draft.tape.pick(all);
  if (reg->is_for_sums && from->shape == draft.f.tile) return;
  const bool is_far = !at.is_split && draft.f.units > 1 && draft.tape.one_in(3);
  draft.access(at, *from, false, is_far);
  const Columns c = reg->is_for_sums ? Draft::all(reg->shape) : draft.some(reg->shape);
  const std::string unit =
      is_far ? fmt::format("({} + 1) % {}", draft.f.unit, draft.f.units) : draft.f.unit;
  draft.line(at, fmt::format("{}copy({}, {})", draft.prefix(), Draft::of(*reg, c),
                             draft.of(at, *from, unit, c)));
}

void write_write(Draft& draft, const Place& at) {
  const auto all = draft.pairs(false);
  if (all.empty()) return;
  auto [reg, to] = draft.tape.pick(all);
  if (to->shape != draft.f.tile) return;
  draft.access(at, *to, true, false);
  const Columns c = draft.some(reg->shape);
  const std::string there = draft.of(at, *to, draft.f.unit, c);
  draft.line(at, fmt::format("{}copy({}, {}{})", draft.prefix(), there, Draft::of(*reg, c),
                             draft.predicate(at, true)));
}

void write_shared_store(Draft& draft, const Place& at) {
  Shared& from = draft.tape.pick(draft.shared);
  const bool is_all = !at.is_split && draft.tape.one_in(2);
  draft.access(at, from, false, is_all);
  const Columns c = is_all ? Draft::all(from.shape) : draft.some(from.shape);
  const std::string to = draft.output(at, from.dtype, from.shape, c, is_all);
  draft.line(at, fmt::format("{}copy({}, {})", is_all ? "Tx.cta." : draft.prefix(), to,
                             draft.of(at, from, draft.units(is_all), c)));
}

void write_move(Draft& draft, const Place& at) {
  Shared& to = draft.tape.pick(draft.shared);
  Shared& from = draft.tape.pick(draft.shared);
  if (&to == &from || to.dtype != from.dtype || to.shape != from.shape) return;
  draft.access(at, from, false, false);
  draft.access(at, to, true, false);
  from.pending.own_read = true;  // behind the barrier that the other side may have needed
  const Columns c = draft.some(to.shape);
  const std::string there = draft.of(at, to, draft.f.unit, c);
  draft.line(at, fmt::format("{}copy({}, {})", draft.prefix(), there,
                             draft.of(at, from, draft.f.unit, c)));
}

// Ends with a barrier of its unit.
void write_fill(Draft& draft, const Place& at) {
  Shared& to = draft.tape.pick(draft.shared);
  draft.access(at, to, true, false);
  const Columns c = draft.some(to.shape);
  const std::string region = draft.of(at, to, draft.f.unit, c);
  draft.line(at, fmt::format("{}fill({}, {})", draft.prefix(), region, draft.tape.below(4)));
}

}  // namespace

const Step kLoadShared{.name = "shared: from global memory",
                       .weight = 2,
                       .fits = shared_fit,
                       .write = write_shared_load};
const Step kReadShared{
    .name = "shared: to registers", .weight = 2, .fits = shared_fit, .write = write_read};
const Step kWriteShared{
    .name = "shared: from registers", .weight = 2, .fits = shared_fit, .write = write_write};
const Step kStoreShared{
    .name = "shared: to global memory", .fits = shared_fit, .write = write_shared_store};
const Step kMoveShared{.name = "shared: to shared", .fits = shared_fit, .write = write_move};
const Step kFillShared{.name = "shared: a constant", .fits = shared_fit, .write = write_fill};

}  // namespace ww::test
