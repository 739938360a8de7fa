// SPDX-License-Identifier: Apache-2.0
// The operands of an elementwise primitive, and what each thread does if all of them are in
// registers: which of its registers it computes from which others. That follows from the places of
// elements, so two spellings of a layout get the same code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

/// What is read for an element: a register of the thread, a place in memory, or a scalar.
struct ElementwiseSource {
  std::optional<OperandPlaces> side;
  ir::ExprId scalar = {};    // where there is no side; none: left out (a scale or bias)
  std::size_t operand = 0;   // its number among those that have a side
  std::size_t argument = 0;  // of the call, where there is a side
};

struct ElementwiseProblem {
  num::DType type = num::DType::Float32;  // in which it computes
  std::int64_t elements = 0;              // of the tile
  OperandPlaces dst;
  std::vector<ElementwiseSource> sources;  // as ir::operands_of gives them

  /// The destination, then the sources that have a side.
  [[nodiscard]] std::vector<const OperandPlaces*> sides() const;
  [[nodiscard]] bool has_registers() const;
};
/// The same of a call, with sides that `places_of(argument)` finds; the destination first.
Match<ElementwiseProblem> elementwise_problem(
    const Call& call, const std::function<Match<OperandPlaces>(std::size_t argument)>& places_of);

/// One element in one thread: register `to` from registers `from`, one for each source that has a
/// side.
struct RegisterStep {
  std::int64_t to = 0;
  std::vector<std::int64_t> from = {};
  friend bool operator==(const RegisterStep&, const RegisterStep&) = default;
};

/// Steps that the same threads of the unit take.
struct StepBatch {
  std::vector<bool> threads;
  std::vector<RegisterStep> steps;
};

/// The argument as an expression of its own type; none for a region or what is left out.
ir::ExprId scalar_of(const Call& call, const ir::TileArg* arg);

/// Declines integers of 4 bits, for which no emitter has arithmetic.
Match<void> check_width(const Call& call, const OperandPlaces& side);

/// Of a region whose places were enumerated.
std::vector<std::int64_t> extents_of(const Call& call, const ir::Region& region);

/// Which element of a region with extents `from` goes into each element of one with extents `into`:
/// extents of 1 do not count if the others agree; otherwise they are stretched, aligned at the last
/// dimension. The verifier has seen that one of the two is so.
std::vector<std::int64_t> stretched(const std::vector<std::int64_t>& into,
                                    const std::vector<std::int64_t>& from);

/// The places of these elements, one after the other.
OperandPlaces stretched_places(OperandPlaces side, const std::vector<std::int64_t>& element);

/// All operands in registers.
struct RegisterProblem {
  ElementwiseProblem problem;
  std::vector<StepBatch> batches;  // in an order in which no step writes what a later one reads
};
/// Declines what is not in registers, elements whose sources are in another thread, and registers
/// that are written before they are read.
Match<RegisterProblem> register_problem(const Call& call);

}  // namespace ww::lower
