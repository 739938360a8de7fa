// SPDX-License-Identifier: Apache-2.0
#include "soak/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "soak/draft.h"

namespace ww::test {

bool Pending::any() const {
  return own_read || own_write || past_read || past_write || far_read || far_write;
}
Pending Pending::writes() const {
  Pending out;
  out.own_write = own_write;
  out.far_write = far_write;
  return out;
}
void Pending::settle() {
  past_read = past_read || own_read;
  past_write = past_write || own_write;
  own_read = own_write = false;
}
void Pending::merge(const Pending& other) {
  own_read = own_read || other.own_read;
  own_write = own_write || other.own_write;
  past_read = past_read || other.past_read;
  past_write = past_write || other.past_write;
  far_read = far_read || other.far_read;
  far_write = far_write || other.far_write;
}

Omission::Omission(Tape& tape) {
  if (!tape.one_in(8)) return;
  countdown_ = tape.below(6);
  if (tape.one_in(4)) kind_ = Kind::Wait;
}

bool Omission::takes(Kind kind, const std::set<std::string>& between) {
  if (countdown_ < 0 || kind != kind_ || countdown_-- > 0) return false;
  left_out_ = LeftOut{kind == Kind::Wait ? "wait" : "barrier", between};
  return true;
}

void sync_all(Draft& draft, const Place& at) {
  std::set<std::string> between;
  for (Shared& each : draft.shared) {
    if (each.pending.any()) between.insert(each.name);
    each.pending = each.is_arriving ? each.pending.writes() : Pending{};
  }
  if (!draft.omission.takes(Omission::Kind::Barrier, between))
    draft.text.line(at, "T.cuda.cta_sync()");
}
void sync_unit(Draft& draft, const Place& at) {
  if (draft.f.scope == "cta") return sync_all(draft, at);
  std::set<std::string> between;
  for (Shared& each : draft.shared) {
    if (each.pending.any()) between.insert(each.name);
    if (!each.is_arriving) each.pending.settle();
  }
  if (draft.omission.takes(Omission::Kind::Barrier, between)) return;
  draft.text.line(at, draft.f.scope == "warp"
                          ? "T.cuda.warp_sync()"
                          : fmt::format("T.cuda.warpgroup_sync({} + 1)", draft.f.unit));
}

void wait_all(Draft& draft, const Place& at) {
  std::set<std::string> arriving;
  for (Shared& each : draft.shared)
    if (std::exchange(each.is_arriving, false)) arriving.insert(each.name);
  if (!arriving.empty() && !draft.omission.takes(Omission::Kind::Wait, arriving))
    draft.text.line(at, "T.ptx.cp_async.wait_group(0)");
}

void order_access(Draft& draft, const Place& at, Shared& each, bool is_write, bool is_far) {
  if (each.is_arriving) wait_all(draft, at);
  Pending& p = each.pending;
  const auto clashes = [&](bool read, bool write) { return write || (is_write && read); };
  const bool far = clashes(p.far_read, p.far_write) ||
                   (is_far && clashes(p.own_read || p.past_read, p.own_write || p.past_write));
  if (far)
    sync_all(draft, at);
  else if (clashes(p.own_read, p.own_write))
    sync_unit(draft, at);
  (is_far ? (is_write ? p.far_write : p.far_read) : (is_write ? p.own_write : p.own_read)) = true;
}

void clean(Draft& draft, const Place& at) {
  wait_all(draft, at);
  if (std::ranges::none_of(draft.shared, [](const Shared& s) { return s.pending.any(); })) return;
  if (at.is_split)
    sync_unit(draft, at);
  else
    sync_all(draft, at);
}

}  // namespace ww::test
