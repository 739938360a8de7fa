// SPDX-License-Identifier: Apache-2.0
// Chains of elementwise calls on the same registers leave nothing in the PTX but what they compute:
// a conversion where a type changes, a `mov` where two halves are put together or taken apart, and
// one for each constant that an instruction does not take.
#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_chain_test {
namespace {

using Names = std::vector<std::string>;

/// 8 elements of a row in each lane, from global memory and back; `more` registers of float32.
std::string source_of(const std::string& dtype, bool has_more, const Names& calls) {
  KernelText text(32, dtype);
  text.param("A", {32, 8});
  text.param("B", {32, 8});
  const std::string layout = tile("S[(32, 8) : (1 @ laneid, 1)]");
  text.line(fmt::format("x = T.alloc_buffer((32, 8), \"{}\", scope=\"local\", layout={})", dtype,
                        layout));
  if (has_more)
    text.line(fmt::format("h = T.alloc_buffer((32, 8), \"float32\", scope=\"local\", layout={})",
                          layout));
  text.line("Tx.warp.copy(x, A)");
  for (const std::string& call : calls) text.line("Tx.warp." + call);
  text.line("Tx.warp.copy(B, x)");
  return text.text();
}

/// Instructions of the kernel that begin with the word, without those of addresses.
std::size_t times(const Checked& checked, const std::string& word) {
  return count_of(checked.ptx, "\t" + word) - (word == "mov." ? count_of(checked.ptx, "%tid") : 0);
}

struct Chain {
  std::string dtype;
  bool has_more;
  Names calls;
  std::size_t moves, conversions;
  std::string target = "sm_90a";
};

TEST(ElementwiseChain, NothingNeedless) {
  Family family("chains", Nvcc::Always);
  const std::vector<Chain> chains = {
      // 4 words taken apart, 8 halves put above a 0, the 0; `cvt` puts 4 words together.
      {"bfloat16",
       true,
       {"cast(h, x)", "mul(h, h, 3)", "exp2(h, h)", "add(h, h, 0.1)", "cast(x, h)"},
       4 + 8 + 1,
       4},
      {"bfloat16",
       true,
       {"cast(h, x)", "exp(h, fast=True)", "sigmoid(h, fast=True)", "cast(x, h)"},
       4 + 8 + 1,
       4},
      {"float16", true, {"cast(h, x)", "tanh(h, fast=True)", "cast(x, h, round=\"rz\")"}, 4, 8 + 4},
      // A constant is made once, and put into both halves.
      {"float16", false, {"mul(x, x, 2)", "add(x, x, x)", "relu(x)", "fma(x, x, 0.5, x)"}, 6, 0},
      {"float16", false, {"add(x, x, x)", "neg(x)", "abs(x)"}, 0, 0},
      {"bfloat16", false, {"add(x, x, x)", "mul(x, x, x)", "neg(x)"}, 0, 0},
      {"float32",
       false,
       {"fdiv(x, x, 3, fast=True)", "sqrt(x, fast=True)", "sin(x, fast=True)"},
       1,
       0}};
  for (const Chain& chain : chains) {
    const Checked checked =
        family.run({.source = source_of(chain.dtype, chain.has_more, chain.calls),
                    .target = chain.target,
                    .inputs = Inputs::Normal,
                    .tolerance = 0x1p-6,
                    .is_approximate = true});
    EXPECT_EQ(times(checked, "mov."), chain.moves) << chain.calls[0] << checked.ptx;
    EXPECT_EQ(times(checked, "cvt."), chain.conversions) << chain.calls[0] << checked.ptx;
    family.count();
  }
}

// The counts see a needless one.
TEST(ElementwiseChain, FaultsShow) {
  const Chain chain{"float16", false, {"add(x, x, x)"}, 0, 0};
  Checked checked =
      check({.source = source_of(chain.dtype, false, chain.calls), .inputs = Inputs::Normal});
  ASSERT_TRUE(checked.right()) << checked.explain();
  EXPECT_EQ(times(checked, "mov."), 0U);
  checked.ptx += "\tmov.b32\t%r1, %r2;\n\tcvt.u16.u32\t%rs1, %r2;\n";
  EXPECT_EQ(times(checked, "mov."), 1U);
  EXPECT_EQ(times(checked, "cvt."), 1U);
}

}  // namespace
}  // namespace ww::test::elementwise_chain_test
