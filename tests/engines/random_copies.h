// SPDX-License-Identifier: Apache-2.0
// Random kernels of chained copies, as source text: memory -> A -> B -> …, each link between global
// memory, shared memory and registers, with layouts that are split, permuted, padded, swizzled,
// replicated and spread over threads in many ways, regions at constant and runtime starts, at one
// scope. Every buffer is filled before and dumped afterwards (engines/programs.h), so each copy
// shows.
//
// A kernel is made from a row of choices. 0 is the plainest choice everywhere, and what an ended
// row says, so shrinking the row shrinks the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/check.h"
#include "harness/tape.h"

namespace ww::test {

struct RandomProgram {
  Program program;
  std::vector<bool> is_matrix_pair = {};  // per copy: between shared memory and registers
  bool moves_registers = false;           // has a copy from registers to registers
  bool indexes_registers = false;         // has registers at a runtime index
  bool has_replicas = false;              // has shared memory with each element at several places
  bool runs_once = false;                 // each copy by one unit, once, at constant places

  [[nodiscard]] std::size_t copies() const { return is_matrix_pair.size(); }
};
RandomProgram random_program(const Choices& choices);

}  // namespace ww::test
