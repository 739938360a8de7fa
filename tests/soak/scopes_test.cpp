// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "soak/examine.h"

namespace ww::test::scopes_test {
namespace {

WholeProgram scopes_of(std::uint64_t seed, std::uint64_t number) {
  return whole_program(whole_choices(seed, number, ProgramKind::Scope));
}

WholeProgram with_body(const std::string& body) {
  WholeProgram out;
  out.kind = ProgramKind::Scope;
  out.program = {.source = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid

@T.prim_func
def kernel(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    r = T.alloc_buffer((32,), "int32", scope="local", layout=TileLayout(S[32 : 1 @ laneid]))
)" + body,
                 .inputs = Inputs::Whole};
  return out;
}

TEST(ScopeSoak, RefusalsWithAPlaceAreNoFinds) {
  const Examined refused = examine(with_body("    if tid < 16:\n        Tx.warp.copy(r, A)\n"));
  EXPECT_FALSE(refused.is_find) << refused.explanation;
  EXPECT_TRUE(refused.tally.contains("refused: Divergent")) << refused.checked.explain();
  const Examined race = examine(with_body("    B[tid] = tid\n    B[31 - tid] = 1\n"));
  EXPECT_FALSE(race.is_find) << race.explanation;
  EXPECT_TRUE(race.tally.contains("found in the tile program: race")) << race.checked.explain();
}

TEST(ScopeSoak, NoticesWrongCode) {
  WholeProgram made = with_body("    Tx.warp.copy(r, A)\n    Tx.warp.copy(B, r)\n");
  EXPECT_TRUE(examine(made).checked.right()) << examine(made).checked.explain();
  made.program.edits = {{"ld.global", "ld.volatile.global"}};
  EXPECT_FALSE(examine(made).is_find);
  const std::string ptx = examine(made).checked.ptx;
  const std::size_t at = ptx.find("st.global");
  const std::string text = ptx.substr(at, ptx.find(']', at) - at);
  made.program.edits = {{text + "]", text + "+4]"}};
  EXPECT_TRUE(examine(made).is_find);
}

TEST(ScopeSoak, SeedAndNumberDecide) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (std::uint64_t number = 0; number < 300; ++number)
    for (const char c : scopes_of(1, number).program.source)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  EXPECT_EQ(hash, 3209775843732424626U);
}

}  // namespace
}  // namespace ww::test::scopes_test
