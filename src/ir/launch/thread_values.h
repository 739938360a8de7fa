// SPDX-License-Identifier: Apache-2.0
// The expressions that names mean, and the values of expressions over thread ids in each thread of
// a CTA: active sets (ir/launch/active_set.h) are computed from these two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/function.h"
#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"

namespace ww::ir {

/// Where a value comes from: the expression, and the statement that evaluates it.
struct Definition {
  ExprId value = {};
  StmtId stmt = {};
};

/// The definitions of a function.
struct Definitions {
  std::vector<Definition> lets;     // by VarId: Bind
  std::vector<StmtId> loops;        // by VarId: the For statement
  std::vector<IdBinding> ids;       // by VarId: ScopeIds, LaunchThread
  std::vector<Definition> scalars;  // by BufferId: one element of private memory, written once,
                                    // before every use, through its name only
};
Definitions definitions_of(const Function& function);
/// The expression that a name means: a T.let, or a load of such a scalar. None for anything else.
Definition definition_of(const Function& function, const Definitions& definitions, ExprId expr);

/// The largest unit in which a variable that the launch gives is the same everywhere: a parameter,
/// an extent, an id, a loop that is bound to threads. None for one that the kernel computes.
std::optional<Unit> given_unit(const Function& function, const Definitions& definitions, VarId var);

/// Values in the threads of a CTA; those of `known` are the same in every CTA and at any time.
struct PerThread {
  std::vector<std::int64_t> value;
  Threads known;
};

/// Evaluates integer and bool expressions for every thread, with the wrap-around of their types.
class ThreadValues {
 public:
  ThreadValues(const Function& function, const LaunchShape& shape, const Definitions& definitions)
      : f_(function),
        shape_(shape),
        definitions_(definitions),
        count_(static_cast<std::size_t>(shape.threads())) {
    WW_CHECK(count_ <= kMaxThreads, "{} threads", count_);
    nothing_ = unknown();
  }

  /// Threads where nothing is known (a parameter, memory, a division by 0) are not in `known`.
  const PerThread& of(ExprId expr);
  /// Before a question that has nothing to do with those before: lets go of their answers when they
  /// take much memory.
  void make_room();
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Definitions& definitions() const { return definitions_; }

 private:
  [[nodiscard]] bool is_done(ExprId expr) const {
    return done_.contains(expr.index) || given_up_.contains(expr.index);
  }
  const PerThread& known(ExprId expr) const;
  template <typename Add>
  void for_each_part(ExprId expr, const Add& add) const;
  [[nodiscard]] StmtId one_round(VarId var) const;
  PerThread compute(ExprId expr);
  PerThread constant(std::int64_t value) const;
  PerThread unknown() const;
  PerThread scope_id(VarId var);
  PerThread launch_id(const Stmt& stmt) const;
  PerThread variable(const Expr& e);
  PerThread chosen(const Expr& e);
  PerThread logic(const Expr& e);
  PerThread shuffled(const Expr& e);
  PerThread operated(const Expr& e);

  const Function& f_;
  const LaunchShape& shape_;
  const Definitions& definitions_;
  std::size_t count_;
  PerThread nothing_;
  std::map<std::uint32_t, PerThread> done_;
  std::set<std::uint32_t> given_up_;
};

}  // namespace ww::ir
