// SPDX-License-Identifier: Apache-2.0
// How far values are the same, within a set of threads; and the sets that units cut out of a CTA.
#pragma once

#include <map>

#include "ir/launch/memory_units.h"
#include "ir/launch/thread_values.h"

namespace ww::ir {

/// The coarsest unit, at most `at_most`, of which `part` holds all threads of `whole` or none.
Unit coarsest(const Threads& part, const Threads& whole, Unit at_most);

/// How far known values are the same among some threads. What is computed from thread ids alone is
/// the same in every CTA: one value in a CTA is one in all.
Unit unit_of(const PerThread& values, const Threads& among);

/// How far the value is the same, between the threads of `among` that evaluate it together.
Unit uniformity_among(const Function& function, const Definitions& definitions,
                      const MemoryUnits& memory, ThreadValues& values, ExprId expr,
                      const Threads& among);

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
