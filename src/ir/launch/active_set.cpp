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

namespace ww::ir {
namespace {

struct Exit {
  StmtKind kind = StmtKind::Return;
  Threads may;
  Unit granule = Unit::Kernel;
  bool is_certain = true;
};
using Exits = std::vector<Exit>;

class Walk {
 public:
  Walk(const Function& f, const LaunchShape& shape, std::vector<ActiveSet>& sets)
      : f_(f), shape_(shape), sets_(sets), narrow_(f, shape, sets) {}

  void whole_body() {
    ActiveSet all;
    for (std::size_t t = 0; t < static_cast<std::size_t>(shape_.threads()); ++t) all.may.set(t);
    block(f_.body, all);
  }

 private:
  Exits block(const Block& stmts, ActiveSet set) {
    Exits out;
    Threads unsure;  // may have left earlier in this block
    for (const StmtId id : stmts) {
      sets_[id.index] = set;
      Exits leaving = statement(f_[id], set);
      set = remaining(set, leaving);
      const Threads before = unsure;
      for (Exit& exit : leaving) {
        if ((exit.may & before).any()) exit.is_certain = false;
        if (!exit.is_certain) unsure |= exit.may;
        out.push_back(exit);
      }
    }
    return out;
  }

  Exits statement(const Stmt& stmt, const ActiveSet& set) {
    switch (stmt.kind) {
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Return:
        return {{stmt.kind, set.may, set.granule, true}};
      case StmtKind::If:
        return branch(stmt, set);
      case StmtKind::For:
        return counted(stmt, set);
      case StmtKind::While: {
        const Narrowed body = narrow_.by(set, stmt.expr, true);
        return out_of_loop(repeated(stmt.body, body.set, false), body, set);
      }
      default:
        return block(stmt.body, set);
    }
  }

  Exits branch(const Stmt& stmt, const ActiveSet& set) {
    Exits out;
    for (const bool sense : {true, false}) {
      const Narrowed arm = narrow_.by(set, stmt.expr, sense);
      for (Exit& exit : block(sense ? stmt.body : stmt.other, arm.set))
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

  Exits counted(const Stmt& stmt, const ActiveSet& set) {
    const Narrowed body = narrow_.by_trips(set, stmt);
    const bool is_once = const_int(f_, stmt.args[1]) == 1;
    return out_of_loop(repeated(stmt.body, body.set, is_once), body, set);
  }

  // Who left in one round is missing in the next: the body's granule sinks until that holds.
  Exits repeated(const Block& body, ActiveSet set, bool is_once) {
    while (true) {
      Exits exits = block(body, set);
      Unit granule = set.granule;
      for (const Exit& exit : exits)
        if (exit.kind != StmtKind::Continue)
          granule = std::min(granule, coarsest(exit.may, set.may, std::min(granule, exit.granule)));
      if (is_once || granule == set.granule) return exits;
      set.granule = granule;
    }
  }

  static Exits out_of_loop(const Exits& exits, const Narrowed& body, const ActiveSet& outer) {
    Exits out;
    for (const Exit& exit : exits)
      if (exit.kind == StmtKind::Return) out.push_back(seen_from(outer, body, exit));
    return out;
  }

  static ActiveSet remaining(const ActiveSet& set, const Exits& leaving) {
    ActiveSet out = set;
    Threads gone;
    for (const Exit& exit : leaving)
      if (exit.is_certain) gone |= exit.may;
    out = without(out, gone);
    for (const Exit& exit : leaving)
      if (!exit.is_certain)
        out.granule =
            std::min(out.granule, coarsest(exit.may, out.may, std::min(out.granule, exit.granule)));
    return out;
  }

  const Function& f_;
  const LaunchShape& shape_;
  std::vector<ActiveSet>& sets_;
  Narrow narrow_;
};

}  // namespace

ActiveSets ActiveSets::of(const Function& function, const LaunchShape& shape) {
  ActiveSets out;
  out.sets_.resize(function.stmt_count());
  Walk(function, shape, out.sets_).whole_body();
  return out;
}

}  // namespace ww::ir
