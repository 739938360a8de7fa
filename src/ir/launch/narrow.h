// SPDX-License-Identifier: Apache-2.0
// Conditions that narrow an active set, for ir/launch/active_set.h.
#pragma once

#include <optional>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/launch/memory_units.h"
#include "ir/launch/thread_values.h"
#include "ir/launch/uniformity.h"

namespace ww::ir {

/// The set without those threads, which are certain not to come.
ActiveSet without(const ActiveSet& set, const Threads& gone);

/// The conditions that shaped an active set, for messages.
struct Blame {
  ExprId splits = {};      // the last that threads of a granule may answer differently
  ExprId leaves_out = {};  // the last one that excludes known threads
};

struct Narrowed {
  ActiveSet set;
  bool is_exact = true;  // every thread of `set.may` that reaches the whole reaches this part
  Blame blame = {};
};

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
  Narrowed by(const ActiveSet& set, ExprId condition, bool sense, Blame blame = {});
  /// Those who execute the body of a For, in any round.
  Narrowed by_trips(const ActiveSet& set, const Stmt& loop, Blame blame = {});

 private:
  // A part of a conjunction.
  struct Part {
    ExprId expr;
    bool sense = true;
    bool is_elect = false;
    StmtId elected_at =
        {};  // the statement that evaluates elect_sync, when it is not the condition
  };
  [[nodiscard]] std::vector<Part> split(ExprId condition, bool sense) const;
  bool take_apart(const Part& part, std::vector<Part>& left) const;
  [[nodiscard]] bool is_truth(ExprId expr) const;
  [[nodiscard]] std::optional<bool> truth_compared(const Expr& e) const;
  bool apply_if_known(Narrowed& to, const Part& part);
  void apply_unknown(Narrowed& to, const Part& part);
  void apply_elect(Narrowed& to, const Part& part) const;
  [[nodiscard]] bool is_whole_warps(const ActiveSet& set) const;

  const Function& f_;
  const LaunchShape& shape_;
  const std::vector<ActiveSet>& sets_;
  const Definitions& definitions_;
  const MemoryUnits& memory_;
  ThreadValues& values_;
};

}  // namespace ww::ir
