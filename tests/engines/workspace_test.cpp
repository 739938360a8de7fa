// SPDX-License-Identifier: Apache-2.0
// Workspaces: reductions, scans and copies between registers that use the caller's shared memory, whole
// or from the middle of a buffer, in all units at once; and the workspaces that are declined.
#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::workspace_test {
namespace {

const std::string kW = ", workspace={\"scratch\": W})";

// `memory` declares W.
ElementwiseCase case_of(const Reg& d, const Reg& a, const std::string& memory,
                        const std::string& call, std::int64_t threads = 128) {
  return {.threads = threads, .regs = {d, a}, .calls = {memory, call}};
}

Reg sums() { return reg("D", "float32", {4}, "S[4] + R[128 : 1 @ tx]", 4, "0"); }
Reg columns() { return reg("A", "float32", {128, 4}, "S[(128, 4) : (1 @ tx, 1)]", 4); }
Reg others() { return reg("D", "float32", {128, 4}, "S[(4, 32, 4) : (1, 4 @ tx, 1 @ tx)]", 4); }

std::string shared(std::int64_t elements, const std::string& dtype = "float32",
                   const std::string& scope = "shared") {
  return fmt::format("W = T.alloc_buffer(({},), \"{}\", scope=\"{}\")", elements, dtype, scope);
}

TEST(Workspace, IsUsed) {
  Family family("workspaces", Nvcc::Always);
  const Reg groups = reg("D", "float64", {2}, "S[2] + R[128 : 1 @ tid_in_wg]", 2, "tid // 128");
  const Reg of_groups = reg("A", "float64", {128, 2}, "S[(128, 2) : (1 @ tid_in_wg, 1)]", 2);
  const std::string middle =
      "P = T.alloc_buffer((256,), \"float16\", scope=\"shared\"); "
      "W = T.decl_buffer((16,), \"float32\", data=P.data, byte_offset=64, scope=\"shared\")";
  ElementwiseCase in_groups =
      case_of(groups, of_groups, shared(16, "float64"), "Tx.wg.max(D, A, axes=0" + kW, 256);
  in_groups.inputs = Inputs::Normal;
  const std::vector<ElementwiseCase> cases = {
      case_of(sums(), columns(), shared(16), "Tx.cta.sum(D, A, axes=0" + kW),
      case_of(sums(), columns(), shared(64, "uint8", "shared.dyn"), "Tx.cta.sum(D, A, axes=0" + kW),
      case_of(sums(), columns(), middle, "Tx.cta.sum(D, A, axes=0" + kW),
      in_groups,
      case_of(columns(), columns(), shared(16), "Tx.cta.cumsum(A, A, axis=0" + kW),
      case_of(others(), columns(), shared(512), "Tx.cta.copy(D, A" + kW),
      case_of(others(), columns(), shared(512), "Tx.cta.cumsum(D, A, axis=0" + kW),
  };
  for (ElementwiseCase each : cases) {
    if (each.regs[0].name == each.regs[1].name) each.regs.erase(each.regs.begin());
    const Checked checked = family.run(program_of(each));
    EXPECT_EQ(count_of(checked.ptx, "scratch"), 0U) << checked.ptx;
    family.count();
  }
}

// It is used again, by the next call and by the program, behind a barrier.
TEST(Workspace, IsUsedAgain) {
  Family family("workspaces again");
  ElementwiseCase each = case_of(sums(), columns(), shared(16), "");
  each.calls = {shared(16),
                "Tx.cta.sum(D, A, axes=0" + kW,
                "Tx.cta.max(D, A, axes=0, accum=True" + kW,
                "T.cuda.cta_sync()",
                "Tx.cta.fill(W, 1)",
                "T.cuda.cta_sync()",
                "Tx.cta.sum(D, A, axes=0" + kW};
  family.run(program_of(each), {.variant = "warps"});
  family.count();
}

TEST(Workspace, Declines) {
  const auto verdict = [](const std::string& memory, const std::string& call,
                          const std::string& variant = "warps") {
    return verdict_on(check(program_of(case_of(sums(), columns(), memory, call))), 0, variant);
  };
  const std::string sum = "Tx.cta.sum(D, A, axes=0" + kW;
  EXPECT_EQ(verdict(shared(15), sum), "[scratch] workspace `W` has 60 bytes, expected 64");
  EXPECT_EQ(verdict(shared(16, "float32", "local"), sum),
            "[scratch] workspace `W` is in local memory, expected 64 bytes of shared memory");
  EXPECT_EQ(verdict(shared(16), "Tx.cta.sum(D, A, axes=0, workspace={\"a\": W, \"b\": W})"),
            "[scratch] 2 workspaces, expected one, of 64 bytes of shared memory");
  EXPECT_EQ(
      verdict("P = T.alloc_buffer((256,), \"float16\", scope=\"shared\"); W = T.decl_buffer((64,), "
              "\"float16\", data=P.data, byte_offset=2, scope=\"shared\")",
              sum),
      "[scratch] workspace `W` is aligned to 2 bytes, expected 4");
  EXPECT_EQ(verdict(shared(512), "Tx.cta.sum(W[0:4], A, axes=0" + kW),
            "[scratch] workspace `W` shares memory with `W`, expected its own");
}

}  // namespace
}  // namespace ww::test::workspace_test
