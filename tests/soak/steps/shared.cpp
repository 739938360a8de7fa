// SPDX-License-Identifier: Apache-2.0
// Copies from and to shared memory, and constants there.
#include <fmt/format.h>

#include "soak/steps.h"

namespace ww::test {

void fill_all(Draft& draft, const Place& at, Shared& each) {
  for (std::int64_t s = 0; s < each.stages; ++s) {
    const Columns c = Columns::all(each.shape);
    const Source from = new_input(draft, at, each.dtype, each.shape, c, true, false);
    draft.text.line(at, "Tx.cta.copy({}[{}, 0:{}, 0:{}, 0:{}], {})", each.name, s, draft.f.units,
                    each.shape[0], each.shape[1], from.text);
  }
  each.pending.far_write = true;
}

void load_part(Draft& draft, const Place& at, Shared& to, Columns c, bool is_all, bool is_async) {
  order_access(draft, at, to, true, is_all);
  const Source from = new_input(draft, at, to.dtype, to.shape, c, is_all, true);
  const std::string there = region_of(draft, at, to, draft.f.parts(is_all), c);
  draft.text.line(at, "{}copy{}({}, {}{}{})", is_all ? "Tx.cta." : draft.f.prefix(),
                  is_async ? "_async" : "", there, from.text, from.fill(),
                  any_predicate(draft, at, !is_all));
  if (!is_async) return;
  draft.text.line(at, "T.ptx.cp_async.commit_group()");
  to.is_arriving = true;
}

namespace {

bool shared_fit(const Draft& draft, const Place&) { return !draft.shared.empty(); }

void write_shared_load(Draft& draft, const Place& at) {
  Shared& to = draft.tape.pick(draft.shared);
  const bool is_all = !at.is_split && draft.tape.one_in(3);
  const bool is_async = draft.tape.one_in(2) && draft.f.has_async();
  load_part(draft, at, to, is_all ? Columns::all(to.shape) : any_columns(draft, to.shape), is_all,
            is_async);
  if (is_async && draft.tape.one_in(2)) wait_all(draft, at);
}

// Sums of a product must stay small: its factors come from shared memory that nothing but inputs
// go to, if their shape is another one.
void write_read(Draft& draft, const Place& at) {
  const auto all = copy_pairs(draft, true);
  if (all.empty()) return;
  auto [reg, from] = draft.tape.pick(all);
  if (reg->is_for_sums && from->shape == draft.f.tile) return;
  const bool is_far = !at.is_split && draft.f.units > 1 && draft.tape.one_in(3);
  order_access(draft, at, *from, false, is_far);
  const Columns c = reg->is_for_sums ? Columns::all(reg->shape) : any_columns(draft, reg->shape);
  const std::string unit =
      is_far ? fmt::format("({} + 1) % {}", draft.f.unit, draft.f.units) : draft.f.unit;
  draft.text.line(at, "{}copy({}, {})", draft.f.prefix(), region_of(*reg, c),
                  region_of(draft, at, *from, unit, c));
}

void write_write(Draft& draft, const Place& at) {
  const auto all = copy_pairs(draft, false);
  if (all.empty()) return;
  auto [reg, to] = draft.tape.pick(all);
  if (to->shape != draft.f.tile) return;
  order_access(draft, at, *to, true, false);
  const Columns c = any_columns(draft, reg->shape);
  const std::string there = region_of(draft, at, *to, draft.f.unit, c);
  draft.text.line(at, "{}copy({}, {}{})", draft.f.prefix(), there, region_of(*reg, c),
                  any_predicate(draft, at, true));
}

void write_shared_store(Draft& draft, const Place& at) {
  Shared& from = draft.tape.pick(draft.shared);
  const bool is_all = !at.is_split && draft.tape.one_in(2);
  order_access(draft, at, from, false, is_all);
  const Columns c = is_all ? Columns::all(from.shape) : any_columns(draft, from.shape);
  const std::string to = new_output(draft, at, from.dtype, from.shape, c, is_all);
  draft.text.line(at, "{}copy({}, {})", is_all ? "Tx.cta." : draft.f.prefix(), to,
                  region_of(draft, at, from, draft.f.parts(is_all), c));
}

void write_move(Draft& draft, const Place& at) {
  Shared& to = draft.tape.pick(draft.shared);
  Shared& from = draft.tape.pick(draft.shared);
  if (&to == &from || to.dtype != from.dtype || to.shape != from.shape) return;
  order_access(draft, at, from, false, false);
  order_access(draft, at, to, true, false);
  from.pending.own_read = true;  // behind the barrier that the other side may have needed
  const Columns c = any_columns(draft, to.shape);
  const std::string there = region_of(draft, at, to, draft.f.unit, c);
  draft.text.line(at, "{}copy({}, {})", draft.f.prefix(), there,
                  region_of(draft, at, from, draft.f.unit, c));
}

// Ends with a barrier of its unit.
void write_fill(Draft& draft, const Place& at) {
  Shared& to = draft.tape.pick(draft.shared);
  order_access(draft, at, to, true, false);
  const Columns c = any_columns(draft, to.shape);
  const std::string region = region_of(draft, at, to, draft.f.unit, c);
  draft.text.line(at, "{}fill({}, {})", draft.f.prefix(), region, draft.tape.below(4));
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
