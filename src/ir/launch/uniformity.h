// SPDX-License-Identifier: Apache-2.0
// How far values are the same, within a set of threads; and the sets that units cut out of a CTA.
//
// There are two questions about a value. Is it certainly the same, so that a barrier behind a
// condition on it is safe? And does the program make it differ, so that an operand cannot be one
// value? Between the two lies what is read from memory at one place: it is the same unless threads
// race, and a scalar that all threads keep in step, such as the stage of a ring, is the same as well.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "ir/launch/memory_units.h"
#include "ir/launch/thread_values.h"

namespace ww::ir {

/// The coarsest unit, at most `at_most`, of which `part` holds all threads of `whole` or none.
Unit coarsest(const Threads& part, const Threads& whole, Unit at_most);

/// The units of values: that of a value known in each thread is found by comparing, any other has the
/// least unit of the values that it depends on.
class ValueUnits {
 public:
  /// `Certain` gives a unit only where all threads of it certainly have one value; `Possible` gives
  /// each value the largest unit, unless the program makes it differ there.
  enum class Sense : std::uint8_t { Certain, Possible };
  /// Gives the unit of a load that is not known in each thread; what the load depends on has one
  /// already.
  using Loaded = std::function<Unit(const ValueUnits& units, ExprId load)>;
  ValueUnits(const Function& function, const Definitions& definitions, ThreadValues& values,
             Sense sense, Loaded loaded)
      : f_(function),
        definitions_(definitions),
        values_(values),
        is_certain_(sense == Sense::Certain),
        loaded_(std::move(loaded)) {}

  /// Between the threads of `among` that evaluate it together: Unit::Thread when it differs from
  /// thread to thread, Unit::Warp when it is one value per warp, …
  Unit of(ExprId expr, const Threads& among);
  /// The least unit of expressions that have one already.
  template <typename Exprs>
  [[nodiscard]] Unit least(const Exprs& exprs) const {
    Unit unit = Unit::Kernel;
    for (const ExprId expr : exprs) unit = std::min(unit, done_.at(expr.index));
    return unit;
  }
  /// Memory has other contents than before.
  void forget() { done_.clear(); }

 private:
  Unit by_parts(ExprId expr);
  Unit variable(VarId var) const;
  Unit called(const Expr& e) const;

  const Function& f_;
  const Definitions& definitions_;
  ThreadValues& values_;
  bool is_certain_;
  Loaded loaded_;
  Threads among_;
  std::map<std::uint32_t, Unit> done_;
};

/// How far the value is certainly the same.
Unit uniformity_among(const Function& function, const Definitions& definitions,
                      const MemoryUnits& memory, ThreadValues& values, ExprId expr,
                      const Threads& among);

/// Which values the program makes different.
class Dependence {
 public:
  Dependence(const Function& function, const LaunchShape& shape);
  Dependence(const Dependence&) = delete;
  Dependence& operator=(const Dependence&) = delete;

  Unit of(ExprId expr, const Threads& among) { return units_.of(expr, among); }

 private:
  Unit loaded(const Expr& e) const;
  template <typename Exprs>
  Unit least(Unit around, const Exprs& exprs);
  void note(BufferId buffer, Unit unit);
  void visit(const Block& block, Unit around);
  void visit(const TileCall& call, Unit around);

  const Function& f_;
  Definitions definitions_;
  ThreadValues values_;
  std::vector<Unit> written_;  // by BufferId of a private storage: what its elements are
  bool has_changed_ = false;
  ValueUnits units_;
};

/// The parts of an expression that decide how far it is the same: the value behind a name, the
/// bounds of a loop variable's loop, the indices of a load and the place of its buffer, operands.
template <typename Add>
void for_each_decider(const Function& f, const Definitions& definitions, ExprId id,
                      const Add& add) {
  const Expr& e = f[id];
  if (const Definition name = definition_of(f, definitions, id); name.value.valid())
    return add(name.value);
  if (e.op == ExprOp::Var) {
    if (const StmtId loop = definitions.loops[e.var.index]; loop.valid())
      for (const ExprId arg : f[loop].args) add(arg);
    return;
  }
  for (const ExprId arg : e.args) add(arg);
  if (e.op != ExprOp::Load) return;
  const Buffer& buffer = f[e.buffer];
  for (const ExprId place : {buffer.pointer, buffer.elem_offset, buffer.byte_offset})
    if (place.valid()) add(place);
}

}  // namespace ww::ir
