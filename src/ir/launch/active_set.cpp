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

#include "ir/launch/narrow.h"
#include "ir/launch/thread_flow.h"

namespace ww::ir {
namespace {

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
    ActiveSet all;
    for (std::size_t t = 0; t < static_cast<std::size_t>(shape_.threads()); ++t) all.may.set(t);
    block(f_.body, all, {});
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
    const bool is_once = const_int(f_, stmt.args[1]) == 1;
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

Unit uniformity(const Function& function, const LaunchShape& shape, ExprId expr) {
  ThreadFlow flow(function, shape, expr);
  Threads all;
  for (std::size_t t = 0; t < static_cast<std::size_t>(shape.threads()); ++t) all.set(t);
  return flow.uniformity(expr, all);
}

}  // namespace ww::ir
