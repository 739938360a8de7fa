// SPDX-License-Identifier: Apache-2.0
// How a case of a product is measured. It runs twice: on small whole numbers, whose sums no engine
// rounds, so that all bits must be the evaluator's; and on normal numbers, where the virtual GPU
// must be near to the evaluator and everything else equal to the virtual GPU.
#pragma once

#include <cstdint>
#include <string>

#include "engines/gemm_programs.h"

namespace ww::test {

inline const GemmTypes kHalf = {.in = "float16"};
inline const GemmTypes kBrain = {.in = "bfloat16"};

/// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
inline std::string opcode(const std::string& shape, const std::string& in, const std::string& out) {
  return fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{}", shape, out, in, in, out);
}
inline std::string opcode(const GemmTypes& types, int k) {
  return opcode(fmt::format("m16n8k{}", k), types.in == "float16" ? "f16" : "bf16", "f32");
}

/// Both runs of a case; `times`: how often a thread executes the instruction, by report and by PTX.
inline Checked run(Family& family, const GemmCase& c, const std::string& opcode,
                   std::int64_t times) {
  Checked checked = family.run(program_of(c));
  if (!checked.right()) return checked;
  EXPECT_EQ(gemm_of(checked).chosen, "mma");
  EXPECT_EQ(times_of(gemm_of(checked), opcode), times)
      << opcode << " among " << opcodes_of(gemm_of(checked)) << "\n"
      << checked.source;
  EXPECT_EQ(count_of(checked.ptx, opcode), static_cast<std::size_t>(times)) << checked.ptx;
  const Checked normal = check(normal_program_of(c));
  EXPECT_TRUE(normal.right()) << normal.explain();
  return checked;
}

}  // namespace ww::test
