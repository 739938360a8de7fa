// SPDX-License-Identifier: Apache-2.0
// Products against their definition.
#include <cmath>

#include "eval/test_kernel.h"

namespace ww::eval::test::gemm_test {
namespace {

Numbers product(DType in, DType out, bool ta, bool tb, double alpha, double beta, const Numbers& a,
                const Numbers& b, const Numbers& c) {
  OpKernel k;
  k.arrays({{{2, 3}, out},
            {ta ? std::vector<std::int64_t>{4, 2} : std::vector<std::int64_t>{2, 4}, in},
            {tb ? std::vector<std::int64_t>{3, 4} : std::vector<std::int64_t>{4, 3}, in},
            {{2, 3}, out}});
  k.tile(TileOp::Gemm, Unit::Warp,
         {k.all(0), k.all(1), k.all(2), k.all(3), ir::Setting(ta), ir::Setting(tb),
          ir::Setting(alpha), ir::Setting(beta)});
  const Outcome o = k.run({{}, a, b, c});
  EXPECT_EQ(o.checks(), "") << o.text();
  return o.arrays[0];
}

TEST(EvalGemm, EveryTransposition) {
  const Numbers a{1, 2, 3, 4, 5, 6, 7, 8};
  const Numbers at{1, 5, 2, 6, 3, 7, 4, 8};
  const Numbers b{1, 0, 2, 0, 1, 0, 1, 1, 0, 2, 0, 1};
  const Numbers bt{1, 0, 1, 2, 0, 1, 1, 0, 2, 0, 0, 1};
  const Numbers d{12, 5, 6, 28, 13, 18};
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      EXPECT_EQ(product(DType::Float16, DType::Float32, ta, tb, 1, 0, ta ? at : a, tb ? bt : b, {}),
                d);
  EXPECT_EQ(product(DType::Int8, DType::Int32, false, false, 1, 0, a, b, {}), d);
  EXPECT_EQ(
      product(DType::Bfloat16, DType::Float32, false, false, 2, 0.5, a, b, {2, 2, 2, 2, 2, 2}),
      (Numbers{25, 11, 13, 57, 27, 37}));
}

TEST(EvalGemm, SumsAreExactBeforeTheyAreRounded) {
  // 2^60 + 1 - 2^60: a plain sum in double would lose the 1.
  const double big = std::ldexp(1, 60);
  const Numbers a{big, 1, -big, 0, 1, 1, 1, 1};
  const Numbers b(12, 1);
  EXPECT_EQ(product(DType::Bfloat16, DType::Float32, false, false, 1, 0, a, b, {})[0], 1);
}

TEST(EvalGemm, TheAddendIsReadOnlyWithABeta) {
  OpKernel k;
  k.arrays({{{2, 2}, DType::Float32}, {{2, 2}, DType::Float16}, {{2, 2}, DType::Float16}});
  k.tile(TileOp::Gemm, Unit::Warp,
         {k.all(0), k.all(1), k.all(2), k.all(0), ir::Setting(false), ir::Setting(false),
          ir::Setting(1.0), ir::Setting(1.0)});
  EXPECT_EQ(k.run({{}, {1, 0, 0, 1}, {1, 2, 3, 4}}).checks(), "uninit");
  EXPECT_EQ(k.run({{1, 1, 1, 1}, {1, 0, 0, 1}, {1, 2, 3, 4}}).arrays[0], (Numbers{2, 3, 4, 5}));
}

}  // namespace
}  // namespace ww::eval::test::gemm_test
