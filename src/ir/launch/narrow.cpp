// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/narrow.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ww::ir {

ActiveSet without(const ActiveSet& set, const Threads& gone) {
  ActiveSet out = set;
  out.may &= ~gone;
  // Of a warp that sends one unknown lane, some of the lanes are out: it may be the one.
  if (set.one_lane_per_warp && coarsest(out.may, set.may, Unit::Warp) < Unit::Warp)
    out.granule = Unit::Thread;
  return out;
}

Narrowed Narrow::by(const ActiveSet& set, ExprId condition, bool sense, Blame blame) {
  values_.make_room();
  std::vector<Part> parts = split(condition, sense);
  Narrowed out{set, true, blame};
  // What is known goes first, it makes the rest more even. Only elect_sync keeps its place: it asks
  // who is there at that moment.
  for (auto first = parts.begin(); first != parts.end();) {
    const auto last = std::find_if(first, parts.end(), [](const Part& p) { return p.is_elect; });
    std::vector<Part> unknown;
    for (auto part = first; part != last; ++part)
      if (!apply_if_known(out, *part)) unknown.push_back(*part);
    for (const Part& part : unknown) apply_unknown(out, part);
    first = last;
    if (last != parts.end()) {
      apply_elect(out, *last);
      ++first;
    }
  }
  return out;
}

// A truth value in whatever type: bool, what elect_sync returns, a name or a cast of such.
bool Narrow::is_truth(ExprId expr) const {
  while (true) {
    const Expr& e = f_[expr];
    if (e.type.is_bool()) return true;
    if (e.op == ExprOp::Call) return e.callee == Intrinsic::ElectSync;
    if (e.op == ExprOp::Cast && !e.type.is_int()) return false;
    const Definition name = definition_of(f_, definitions_, expr);
    if (e.op != ExprOp::Cast && !name.value.valid()) return false;
    expr = e.op == ExprOp::Cast ? e.args[0] : name.value;
  }
}

// A truth value compared with 0 or 1: the truth that makes the comparison hold.
std::optional<bool> Narrow::truth_compared(const Expr& e) const {
  if (group_of(e.op) != ExprGroup::Compare || !is_truth(e.args[0])) return std::nullopt;
  const auto number = const_int(f_, e.args[1]);
  if (number == 0 && (e.op == ExprOp::Ne || e.op == ExprOp::Gt)) return true;
  if (number == 1 && (e.op == ExprOp::Eq || e.op == ExprOp::Ge)) return true;
  if (number == 0 && (e.op == ExprOp::Eq || e.op == ExprOp::Le)) return false;
  if (number == 1 && (e.op == ExprOp::Ne || e.op == ExprOp::Lt)) return false;
  return std::nullopt;
}

// The parts of a conjunction, from left to right; one that is met again says nothing new.
std::vector<Narrow::Part> Narrow::split(ExprId condition, bool sense) const {
  std::vector<Part> parts;
  std::vector<Part> left = {{condition, sense, false, {}}};
  std::set<std::pair<ExprId, bool>> seen;
  while (!left.empty()) {
    const Part part = left.back();
    left.pop_back();
    if (!seen.emplace(part.expr, part.sense).second) continue;
    if (take_apart(part, left)) continue;
    const Expr& e = f_[part.expr];
    const bool is_elect = e.op == ExprOp::Call && e.callee == Intrinsic::ElectSync;
    parts.push_back({part.expr, part.sense, is_elect, is_elect ? part.elected_at : StmtId{}});
  }
  return parts;
}

bool Narrow::take_apart(const Part& part, std::vector<Part>& left) const {
  const Expr& e = f_[part.expr];
  const auto add = [&](ExprId expr, bool sense, StmtId at) {
    left.push_back({expr, sense, false, at});
  };
  const bool is_and = e.op == ExprOp::And || (e.op == ExprOp::BitAnd && e.type.is_bool());
  const bool is_or = e.op == ExprOp::Or || (e.op == ExprOp::BitOr && e.type.is_bool());
  if (e.op == ExprOp::Not) {
    add(e.args[0], !part.sense, part.elected_at);
    return true;
  }
  if ((is_and && part.sense) || (is_or && !part.sense)) {
    add(e.args[1], part.sense, part.elected_at);
    add(e.args[0], part.sense, part.elected_at);
    return true;
  }
  if (e.op == ExprOp::Call && e.callee == Intrinsic::ElectSync) return false;
  const bool is_likely = e.op == ExprOp::Call && e.callee == Intrinsic::Likely;
  const bool is_plain_cast = e.op == ExprOp::Cast && is_truth(e.args[0]);
  if (is_likely || is_plain_cast) {
    add(e.args[0], part.sense, part.elected_at);
    return true;
  }
  if (const Definition name = definition_of(f_, definitions_, part.expr);
      name.value.valid() && is_truth(name.value)) {
    add(name.value, part.sense, name.stmt);
    return true;
  }
  if (const auto truth = truth_compared(e)) {
    add(e.args[0], part.sense == *truth, part.elected_at);
    return true;
  }
  return false;
}

bool Narrow::apply_if_known(Narrowed& to, const Part& part) {
  const PerThread& values = values_.of(part.expr);
  if ((to.set.may & ~values.known).any()) return false;
  Threads gone;
  for (std::size_t t = 0; t < values_.count(); ++t)
    gone[t] = to.set.may[t] && (values.value[t] != 0) != part.sense;
  if (gone.any()) to.blame.leaves_out = part.expr;
  to.set = without(to.set, gone);
  return true;
}

void Narrow::apply_unknown(Narrowed& to, const Part& part) {
  const Unit unit = uniformity_among(f_, definitions_, memory_, values_, part.expr, to.set.may);
  const PerThread& values = values_.of(part.expr);
  Threads gone;
  for (std::size_t t = 0; t < values_.count(); ++t)
    gone[t] = to.set.may[t] && values.known[t] && (values.value[t] != 0) != part.sense;
  to.is_exact = false;
  to.set = without(to.set, gone);
  if (unit < to.set.granule) to.blame.splits = part.expr;
  to.set.granule = std::min(to.set.granule, unit);
}

// One lane of each warp, when whole warps elect; otherwise nobody knows who.
void Narrow::apply_elect(Narrowed& to, const Part& part) const {
  to.is_exact = false;
  to.blame.splits = part.expr;
  const bool elected_well =
      !part.elected_at.valid() || is_whole_warps(sets_[part.elected_at.index]);
  if (part.sense && elected_well && is_whole_warps(to.set))
    to.set.one_lane_per_warp = true;
  else
    to.set.granule = Unit::Thread;
}

bool Narrow::is_whole_warps(const ActiveSet& set) const {
  Threads all;
  for (std::size_t t = 0; t < values_.count(); ++t) all.set(t);
  return set.together(Unit::Warp) && coarsest(set.may, all, Unit::Warp) == Unit::Warp;
}

Narrowed Narrow::by_trips(const ActiveSet& set, const Stmt& loop, Blame blame) {
  values_.make_room();
  const ExprId trips = loop.args[1];
  const PerThread& values = values_.of(trips);
  Threads gone;
  for (std::size_t t = 0; t < values_.count(); ++t)
    gone[t] = values.known[t] && values.value[t] <= 0;
  if ((gone & set.may).any()) blame.leaves_out = trips;
  Narrowed out{without(set, gone), (set.may & ~values.known).none(), blame};
  const Unit unit = uniformity_among(f_, definitions_, memory_, values_, trips, out.set.may);
  if (unit < out.set.granule) out.blame.splits = trips;
  out.set.granule = std::min(out.set.granule, unit);
  if (loop.loop == LoopKind::ThreadBinding && loop.hardware.kind == HardwareId::Kind::ThreadIdx) {
    // Each round belongs to one thread of a dimension; the others have it elsewhere or not at all.
    const bool is_all = const_int(f_, trips) == shape_.block[loop.hardware.dim];
    if (!is_all) out = {{out.set.may, Unit::Thread, out.set.one_lane_per_warp}, false, blame};
  }
  return out;
}

}  // namespace ww::ir
