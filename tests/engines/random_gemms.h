// SPDX-License-Identifier: Apache-2.0
// Random products: element types, tilings, scopes, warps over M and N, transposes, factors, C in
// place or apart, registers in any order, operands in shared memory, and permutations of the rows,
// columns and values of k, which all operands share; in one of five programs they do not.
#pragma once

#include "engines/gemm_programs.h"
#include "harness/tape.h"

namespace ww::test {

struct RandomGemm {
  GemmCase gemm;
  bool is_consistent = true;  // otherwise it may be declined, and must never be wrong
  bool has_normals = false;   // numbers that are rounded

  [[nodiscard]] bool is_staged() const { return !gemm.shared_a.empty() || !gemm.shared_b.empty(); }
  [[nodiscard]] Program program() const {
    return has_normals ? normal_program_of(gemm) : program_of(gemm);
  }
};
RandomGemm random_gemm(const Choices& choices);

}  // namespace ww::test
