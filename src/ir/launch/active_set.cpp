// SPDX-License-Identifier: Apache-2.0
// One walk over the body in program order, with the set that arrives at each place. A condition
// narrows the set of its arms; `break`, `continue` and `return` take threads away from what
// follows.
//
// Those exits are the difficult part. Each is remembered with the threads that can take it, how
// they take it (its granule), and whether it is *certain*: taken by every one of its threads that
// comes to the statement in question. Certain leavers are taken out of `may`; others lower the
// granule until each unit loses all of its threads or none.
#include "ir/launch/active_set.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/join.h"
#include "ir/launch/memory_units.h"
#include "ir/launch/thread_flow.h"
#include "ir/launch/thread_values.h"
#include "ir/launch/uniformity.h"

namespace ww::ir {
namespace {

// --- conditions ----------------------------------------------------------------------------------
//
// Conditions that narrow an active set, for ir/launch/active_set.h.

struct Narrowed {
  ActiveSet set;
  bool is_exact = true;  // every thread of `set.may` that reaches the whole reaches this part
  Blame blame = {};
};

// The set without those threads, which are certain not to come.
ActiveSet without(const ActiveSet& set, const Threads& gone) {
  ActiveSet out = set;
  out.may &= ~gone;
  // Of a warp that sends one unknown lane, some of the lanes are out: it may be the one.
  if (set.one_lane_per_warp && coarsest(out.may, set.may, Unit::Warp) < Unit::Warp)
    out.granule = Unit::Thread;
  return out;
}

class Narrow {
 public:
  /// `sets` holds the sets of the statements walked so far.
  Narrow(const Function& function, const LaunchShape& shape, const Definitions& definitions,
         const MemoryUnits& memory, ThreadValues& values, const std::vector<ActiveSet>& sets)
      : f_(function),
        shape_(shape),
        sets_(sets),
        definitions_(definitions),
        memory_(memory),
        values_(values) {}

  /// Those for whom the condition is `sense`.
  Narrowed by(const ActiveSet& set, ExprId condition, bool sense, Blame blame = {}) {
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

  /// Those who execute the body of a For, in any round.
  Narrowed by_trips(const ActiveSet& set, const Stmt& loop, Blame blame = {}) {
    values_.make_room();
    const ExprId trips = loop.trips();
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

 private:
  // A part of a conjunction.
  struct Part {
    ExprId expr;
    bool sense = true;
    bool is_elect = false;
    StmtId elected_at =
        {};  // the statement that evaluates elect_sync, when it is not the condition
  };

  // The parts of a conjunction, from left to right; one that is met again says nothing new.
  [[nodiscard]] std::vector<Narrow::Part> split(ExprId condition, bool sense) const {
    std::vector<Part> parts;
    std::vector<Part> left = {{condition, sense, false, {}}};
    std::set<std::pair<ExprId, bool>> seen;
    while (!left.empty()) {
      const Part part = left.back();
      left.pop_back();
      if (!seen.emplace(part.expr, part.sense).second) continue;
      if (take_apart(part, left)) continue;
      const Expr& e = f_[part.expr];
      const bool is_elect = is_call(e, Intrinsic::ElectSync);
      parts.push_back({part.expr, part.sense, is_elect, is_elect ? part.elected_at : StmtId{}});
    }
    return parts;
  }

  bool take_apart(const Part& part, std::vector<Part>& left) const {
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
    if (is_call(e, Intrinsic::ElectSync)) return false;
    if (is_call(e, Intrinsic::Likely) || (e.op == ExprOp::Cast && is_truth(e.args[0]))) {
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

  // A truth value in whatever type: bool, what elect_sync returns, a name or a cast of such.
  [[nodiscard]] bool is_truth(ExprId expr) const {
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
  [[nodiscard]] std::optional<bool> truth_compared(const Expr& e) const {
    if (group_of(e.op) != ExprGroup::Compare || !is_truth(e.args[0])) return std::nullopt;
    const auto number = const_int(f_, e.args[1]);
    if (number == 0 && (e.op == ExprOp::Ne || e.op == ExprOp::Gt)) return true;
    if (number == 1 && (e.op == ExprOp::Eq || e.op == ExprOp::Ge)) return true;
    if (number == 0 && (e.op == ExprOp::Eq || e.op == ExprOp::Le)) return false;
    if (number == 1 && (e.op == ExprOp::Ne || e.op == ExprOp::Lt)) return false;
    return std::nullopt;
  }

  bool apply_if_known(Narrowed& to, const Part& part) {
    const PerThread& values = values_.of(part.expr);
    if ((to.set.may & ~values.known).any()) return false;
    Threads gone;
    for (std::size_t t = 0; t < values_.count(); ++t)
      gone[t] = to.set.may[t] && (values.value[t] != 0) != part.sense;
    if (gone.any()) to.blame.leaves_out = part.expr;
    to.set = without(to.set, gone);
    return true;
  }

  void apply_unknown(Narrowed& to, const Part& part) {
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
  void apply_elect(Narrowed& to, const Part& part) const {
    to.is_exact = false;
    to.blame.splits = part.expr;
    const bool elected_well =
        !part.elected_at.valid() || is_whole_warps(sets_[part.elected_at.index]);
    if (part.sense && elected_well && is_whole_warps(to.set))
      to.set.one_lane_per_warp = true;
    else
      to.set.granule = Unit::Thread;
  }

  [[nodiscard]] bool is_whole_warps(const ActiveSet& set) const {
    return set.together(Unit::Warp) &&
           coarsest(set.may, first_threads(values_.count()), Unit::Warp) == Unit::Warp;
  }

  const Function& f_;
  const LaunchShape& shape_;
  const std::vector<ActiveSet>& sets_;
  const Definitions& definitions_;
  const MemoryUnits& memory_;
  ThreadValues& values_;
};

struct Exit {
  StmtKind kind = StmtKind::Return;
  Threads may;
  Unit granule = Unit::Kernel;
  bool is_certain = true;
  Blame blame = {};
};
using Exits = std::vector<Exit>;

class Walk {
 public:
  Walk(const Function& f, const LaunchShape& shape, Narrow narrow, std::vector<ActiveSet>& sets,
       std::vector<Blame>& blames)
      : f_(f), shape_(shape), narrow_(narrow), sets_(sets), blames_(blames) {}

  void whole_body() {
    block(f_.body, {.may = first_threads(static_cast<std::size_t>(shape_.threads()))}, {});
  }

 private:
  Exits block(const Block& stmts, ActiveSet set, Blame blame) {
    Exits out;
    Threads unsure;  // may have left earlier in this block
    for (const StmtId id : stmts) {
      sets_[id.index] = set;
      blames_[id.index] = blame;
      Exits leaving = statement(f_[id], set, blame);
      set = remaining(set, leaving, blame);
      const Threads before = unsure;
      for (Exit& exit : leaving) {
        if ((exit.may & before).any()) exit.is_certain = false;
        if (!exit.is_certain) unsure |= exit.may;
        out.push_back(exit);
      }
    }
    return out;
  }

  Exits statement(const Stmt& stmt, const ActiveSet& set, const Blame& blame) {
    switch (stmt.kind) {
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Return:
        return {{stmt.kind, set.may, set.granule, true, blame}};
      case StmtKind::If:
        return branch(stmt, set, blame);
      case StmtKind::For:
        return counted(stmt, set, blame);
      case StmtKind::While: {
        const Narrowed body = narrow_.by(set, stmt.expr, true, blame);
        return out_of_loop(repeated(stmt.body, body, false), body, set);
      }
      default:
        return block(stmt.body, set, blame);
    }
  }

  Exits branch(const Stmt& stmt, const ActiveSet& set, const Blame& blame) {
    Exits out;
    for (const bool sense : {true, false}) {
      const Narrowed arm = narrow_.by(set, stmt.expr, sense, blame);
      for (Exit& exit : block(sense ? stmt.body : stmt.other, arm.set, arm.blame))
        out.push_back(seen_from(set, arm, exit));
    }
    return out;
  }

  // An exit inside a part that `inner` describes, for those who arrive at the whole.
  static Exit seen_from(const ActiveSet& outer, const Narrowed& inner, Exit exit) {
    if (!inner.is_exact) exit.is_certain = false;
    // Which lane was elected is not known: any of them may be the one that leaves.
    if (inner.set.one_lane_per_warp && !outer.one_lane_per_warp) exit.granule = Unit::Thread;
    return exit;
  }

  Exits counted(const Stmt& stmt, const ActiveSet& set, const Blame& blame) {
    const Narrowed body = narrow_.by_trips(set, stmt, blame);
    const bool is_once = const_int(f_, stmt.trips()) == 1;
    return out_of_loop(repeated(stmt.body, body, is_once), body, set);
  }

  // Who left in one round is missing in the next: the body's granule sinks until that holds.
  Exits repeated(const Block& body, const Narrowed& first, bool is_once) {
    ActiveSet set = first.set;
    Blame blame = first.blame;
    while (true) {
      Exits exits = block(body, set, blame);
      const Unit before = set.granule;
      for (const Exit& exit : exits)
        if (exit.kind != StmtKind::Continue) sink(set, exit, blame);
      if (is_once || before == set.granule) return exits;
    }
  }

  // Each unit loses all of its threads by the exit, or none.
  static void sink(ActiveSet& set, const Exit& exit, Blame& blame) {
    const Unit unit = coarsest(exit.may, set.may, std::min(set.granule, exit.granule));
    if (unit >= set.granule) return;
    set.granule = unit;
    // Who leaves is known, but not when: what leaves the others out is to blame.
    blame.splits = exit.blame.splits.valid() ? exit.blame.splits : exit.blame.leaves_out;
  }

  static Exits out_of_loop(const Exits& exits, const Narrowed& body, const ActiveSet& outer) {
    Exits out;
    for (const Exit& exit : exits)
      if (exit.kind == StmtKind::Return) out.push_back(seen_from(outer, body, exit));
    return out;
  }

  static ActiveSet remaining(const ActiveSet& set, const Exits& leaving, Blame& blame) {
    ActiveSet out = set;
    Threads gone;
    for (const Exit& exit : leaving)
      if (exit.is_certain) {
        gone |= exit.may;
        if (exit.blame.leaves_out.valid()) blame.leaves_out = exit.blame.leaves_out;
      }
    out = without(out, gone);
    for (const Exit& exit : leaving)
      if (!exit.is_certain) sink(out, exit, blame);
    return out;
  }

  const Function& f_;
  const LaunchShape& shape_;
  Narrow narrow_;
  std::vector<ActiveSet>& sets_;
  std::vector<Blame>& blames_;
};

// A program whose scalars depend on each other in a long chain takes as many rounds.
constexpr int kMaxRounds = 16;

}  // namespace

ThreadFlow::ThreadFlow(const Function& function, const LaunchShape& shape, ExprId more)
    : f_(function),
      shape_(shape),
      definitions_(definitions_of(function)),
      values_(function, shape, definitions_),
      memory_(function, definitions_, more) {
  walk();
  for (int round = 1; memory_.refine(sets_, values_); ++round) {
    if (round == kMaxRounds) memory_.give_up();
    walk();
  }
}

void ThreadFlow::walk() {
  sets_.assign(f_.stmt_count(), {});
  blames_.assign(f_.stmt_count(), {});
  Walk(f_, shape_, Narrow(f_, shape_, definitions_, memory_, values_, sets_), sets_, blames_)
      .whole_body();
}

Unit ThreadFlow::uniformity(ExprId expr, const Threads& among) {
  return uniformity_among(f_, definitions_, memory_, values_, expr, among);
}

ActiveSets ActiveSets::of(const Function& function, const LaunchShape& shape) {
  ActiveSets out;
  out.sets_ = ThreadFlow(function, shape).take_sets();
  return out;
}

bool ActiveSets::parts(const Stmt& branch, StmtId id) const {
  const auto may = [&](const Block& of) {
    return of.empty() ? Threads() : (*this)[of.front()].may;
  };
  return branch.other.empty() ? may(branch.body) != (*this)[id].may
                              : (may(branch.body) & may(branch.other)).none();
}

Unit uniformity(const Function& function, const LaunchShape& shape, ExprId expr) {
  ThreadFlow flow(function, shape, expr);
  return flow.uniformity(expr, first_threads(static_cast<std::size_t>(shape.threads())));
}

// --- as text -------------------------------------------------------------------------------------
//
// Active sets in words.

namespace {

constexpr std::size_t kMaxRuns = 4;
constexpr std::size_t kShownRuns = 3;

// The warps that `threads` consists of, if it is whole ones.
std::optional<Threads> whole_warps(const Threads& threads, std::size_t count) {
  Threads warps;
  for (std::size_t t = 0; t < count; ++t) {
    if (threads[t] != threads[t / 32 * 32]) return std::nullopt;
    if (threads[t]) warps.set(t / 32);
  }
  return warps;
}

std::string members(const Threads& threads, const LaunchShape& shape) {
  const auto count = static_cast<std::size_t>(shape.threads());
  const std::size_t size = threads.count();
  if (size == 0) return "no thread";
  if (size == count) return count == 1 ? "the only thread" : fmt::format("all {} threads", count);
  if (const auto warps = whole_warps(threads, count))
    return fmt::format("{} {} of {}", warps->count() == 1 ? "warp" : "warps",
                       to_text(*warps, kMaxThreads), shape.warps());
  const std::string list = to_text(threads, count);
  if (list.ends_with("…")) return fmt::format("threads {} ({} of {})", list, size, count);
  return fmt::format("{} {} of {}", size == 1 ? "thread" : "threads", list, count);
}

}  // namespace

std::string to_text(const Threads& threads, std::size_t count) {
  std::vector<std::string> runs;
  std::size_t total = 0;
  for (std::size_t t = 0; t < count; ++t) {
    if (!threads[t]) continue;
    const std::size_t first = t;
    while (t + 1 < count && threads[t + 1]) ++t;
    if (++total <= kMaxRuns)
      runs.push_back(first == t ? fmt::format("{}", t) : fmt::format("{}-{}", first, t));
  }
  if (total <= kMaxRuns) return join(runs, ", ");
  runs.resize(kShownRuns);
  return fmt::format("{} …", join(runs, ", "));
}

std::string to_text(const ActiveSet& set, const LaunchShape& shape) {
  std::string who = members(set.may, shape);
  if (set.may.none()) return who;
  const bool whole = set.granule >= Unit::Cta;
  if (set.one_lane_per_warp) {
    if (whole) return "one lane of each warp of " + who;
    return (set.granule == Unit::Thread ? "at most one lane of each warp of "
                                        : "one lane of some warps of ") +
           who;
  }
  return whole ? who : fmt::format("some {}s of {}", name_of(set.granule), who);
}

}  // namespace ww::ir
