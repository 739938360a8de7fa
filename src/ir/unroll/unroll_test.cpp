// SPDX-License-Identifier: Apache-2.0
// Single loops; whole programs are in tests/property/lowering_test.cpp.
#include "ir/unroll/unroll.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "ir/print/print.h"
#include "ir/test_programs.h"
#include "ir/verify/verify.h"

namespace ww::ir::unroll_test {
namespace {

using ir::test::Builder;
using num::DType;

/// A lowered kernel of 32 threads with an array in registers.
struct Kernel : Builder {
  VarId tx = {};
  BufferId out = {};
  BufferId r = {};

  Kernel() : Builder("kernel") {
    f.level = Level::Lowered;
    out = matched("out", {1024}, DType::Int32);
    tx = launch("threadIdx_x", "threadIdx.x", 32);
    r = alloc("r", {16}, DType::Int32, Scope::Local);
  }
  VarId loop_over(std::string name, ExprId first, ExprId trips, LoopKind kind = LoopKind::Serial) {
    const VarId var = loop(std::move(name), 1, kind);
    bounds_.push_back({first, trips});
    return var;
  }
  StmtId end_over() {
    const StmtId id = end();
    f.at(id).args[0] = bounds_.back().first;
    f.at(id).args[1] = bounds_.back().second;
    bounds_.pop_back();
    return id;
  }

 private:
  std::vector<std::pair<ExprId, ExprId>> bounds_;
};

/// Statements behind the declarations.
std::string body_of(const Function& f) {
  for (const Diag& d : verify(f)) ADD_FAILURE() << d.text << "\n" << print(f);
  std::string out;
  for (std::size_t i = 2; i < f.body.size(); ++i) out += print(f, f.body[i]);
  return out;
}

std::string expanded(Kernel& k, std::string* spilled = nullptr) {
  Function f = k.done();
  for (const SpilledArray& array : settle_loops(f))
    if (spilled != nullptr) *spilled += array.reason;
  return body_of(expand_unrolled(f));
}

TEST(Unroll, LoopsOverRegisters) {
  Kernel k;
  const VarId i = k.loop("i", 2);
  const VarId j = k.loop("j", 2);
  const VarId let = k.bind("at", k.add(k.mul(k.var(i), k.n(2)), k.var(j)));
  k.store(k.r, {k.var(let)}, k.add(k.var(k.tx), k.var(j)));
  k.end();
  k.end();
  const VarId m = k.loop("m", 4);  // no register is indexed
  k.store(k.out, {k.add(k.mul(k.var(k.tx), k.n(4)), k.var(m))}, k.at(k.r, {k.n(0)}));
  k.end();
  EXPECT_EQ(expanded(k), R"(r[0] = threadIdx_x
r[1] = threadIdx_x + 1
r[2] = threadIdx_x
r[3] = threadIdx_x + 1
for m in range(4):
    out[threadIdx_x * 4 + m] = r[0]
)");
}

TEST(Unroll, BoundsOfInnerLoops) {
  Kernel k;
  const VarId i = k.loop("i", 3);
  const VarId j = k.loop_over("j", k.var(i), k.add(k.var(i), k.n(1)));
  k.store(k.r, {k.var(j)}, k.var(i));
  k.end_over();
  k.end();
  EXPECT_EQ(expanded(k), R"(r[0] = 0
r[1] = 1
r[2] = 1
r[2] = 2
r[3] = 2
r[4] = 2
)");
}

TEST(Unroll, WhatIsDecidedGoes) {
  Kernel k;
  const VarId i = k.loop("i", 3, LoopKind::Unroll);
  k.when(k.op(ExprOp::Eq, k.var(i), k.n(1)));
  k.store(k.r, {k.n(0)}, k.n(7));
  k.end();
  k.loop_over("none", k.n(0), k.op(ExprOp::Sub, k.var(i), k.n(1)));
  k.store(k.r, {k.n(1)}, k.var(i));
  k.end_over();
  k.end();
  const VarId four = k.bind("four", k.n(4));
  k.store(k.out, {k.add(k.var(k.tx), k.var(four))}, k.at(k.r, {k.var(four)}));
  EXPECT_EQ(expanded(k), R"(r[0] = 7
r[1] = 2
out[threadIdx_x + 4] = r[4]
)");
}

TEST(Unroll, ConditionsThatRangesDecide) {
  Kernel k;
  const VarId i = k.loop("i", 2, LoopKind::Unroll);
  k.when(k.op(ExprOp::Lt, k.var(k.tx), k.add(k.mul(k.var(i), k.n(16)), k.n(16))));
  k.store(k.r, {k.var(i)}, k.div(k.add(k.var(k.tx), k.mul(k.var(i), k.n(8))), 8));
  k.end();
  k.end();
  EXPECT_EQ(expanded(k), R"(if threadIdx_x < 16:
    r[0] = threadIdx_x // 8
r[1] = (threadIdx_x + 8) // 8
)");
}

TEST(Unroll, NamesAndStorageOfBodies) {
  Kernel k;
  const VarId i = k.loop("i", 2, LoopKind::Unroll);
  const BufferId own = k.alloc("own", {2}, DType::Int32, Scope::Local);
  const VarId value = k.bind("v", k.add(k.var(k.tx), k.var(i)));
  const VarId j = k.loop("j", 4);
  k.store(k.out, {k.add(k.var(j), k.var(i))}, k.var(value));
  k.end();
  k.store(own, {k.var(i)}, k.var(value));
  k.end();
  EXPECT_EQ(expanded(k), R"(own = T.alloc_local((2,), "int32")
v: T.let[T.int32] = threadIdx_x
for j in range(4):
    out[j] = v
own[0] = v
v_1: T.let[T.int32] = threadIdx_x + 1
for j in range(4):
    out[j + 1] = v_1
own[1] = v_1
)");
}

TEST(Unroll, PointersToRegistersAreReplaced) {
  Kernel k;
  const VarId i = k.loop("i", 2);
  const VarId to = k.bind(
      "to", k.call(Intrinsic::PointerOffset, {k.address(k.r, {k.n(0)}), k.mul(k.var(i), k.n(4))}));
  k.evaluate(k.call(Intrinsic::CopyBytes,
                    {k.var(to), k.address(k.out, {k.mul(k.var(k.tx), k.n(4))}), k.n(16)}));
  k.end();
  EXPECT_EQ(expanded(k),
            R"(T.cuda.copy_bytes(T.address_of(r[0]), T.address_of(out[threadIdx_x * 4]), 16)
T.cuda.copy_bytes(T.address_of(r[4]), T.address_of(out[threadIdx_x * 4]), 16)
)");
}

TEST(Unroll, AStartFromMemoryIsReadOnce) {
  Kernel k;
  const VarId i = k.loop_over("i", k.at(k.r, {k.n(0)}), k.n(2), LoopKind::Unroll);
  k.store(k.r, {k.n(0)}, k.var(i));
  k.end_over();
  EXPECT_EQ(expanded(k), R"(i_start: T.let[T.int32] = r[0]
r[0] = i_start
r[0] = i_start + 1
)");
}

TEST(Unroll, LoopsThatAreLeftStay) {
  Kernel k;
  const VarId i = k.loop("i", 4, LoopKind::Unroll);
  k.when(k.op(ExprOp::Eq, k.at(k.r, {k.var(i)}), k.n(3)));
  k.stmt({.kind = StmtKind::Break});
  k.end();
  k.end();
  std::string spilled;
  EXPECT_EQ(expanded(k, &spilled), R"(for i in range(4):
    if r[i] == 3:
        break
)");
  EXPECT_EQ(spilled, "indexed by `i`, whose loop is left by `break` or `continue`");
}

// Reasons, one access each.
TEST(Unroll, Spills) {
  const auto reason = [](auto&& access) {
    Kernel k;
    access(k);
    std::string spilled;
    expanded(k, &spilled);
    return spilled;
  };
  EXPECT_EQ(reason([](Kernel& k) { k.store(k.r, {k.n(15)}, k.n(0)); }), "");
  EXPECT_EQ(reason([](Kernel& k) { k.store(k.r, {k.var(k.tx)}, k.n(0)); }),
            "indexed by `threadIdx_x`");
  EXPECT_EQ(reason([](Kernel& k) { k.store(k.r, {k.at(k.out, {k.n(0)})}, k.n(0)); }),
            "indexed by `out`");
  EXPECT_EQ(reason([](Kernel& k) {
              const VarId i = k.loop_over("i", k.n(0), k.var(k.tx));
              k.store(k.r, {k.var(i)}, k.n(0));
              k.end_over();
            }),
            "indexed by `i`, whose loop goes as far as `threadIdx_x` says");
  EXPECT_EQ(reason([](Kernel& k) {
              k.evaluate(k.call(Intrinsic::FuncCall,
                                {text_imm(k.f, "g"), text_imm(k.f, ""), k.address(k.r, {k.n(0)})}));
            }),
            "its address goes to `T.cuda.func_call`");
  EXPECT_EQ(reason([](Kernel& k) {
              k.ptx("ld.b32", {ir::test::value(k.at(k.out, {k.n(0)})),
                               ir::test::mem(k.address(k.r, {k.n(0)}))});
            }),
            "its address goes to `ld.b32`");
  EXPECT_EQ(reason([](Kernel& k) {
              const VarId i = k.loop("i", 5000);
              k.store(k.r, {k.mod(k.var(i), 16)}, k.n(0));
              k.end();
            }),
            "indexed by `i`, whose loop would become 5000 statements, of 4096 at most");
}

TEST(Unroll, FourThousandStatementsTakeMilliseconds) {
  Kernel k;
  const VarId i = k.loop("i", 256, LoopKind::Unroll);
  const VarId j = k.loop("j", 16, LoopKind::Unroll);
  k.store(k.r, {k.var(j)}, k.add(k.at(k.r, {k.var(j)}), k.mul(k.var(i), k.var(k.tx))));
  k.end();
  k.end();
  const Function f = k.done();
  const auto start = std::chrono::steady_clock::now();
  const Function all = expand_unrolled(f);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(all.body.size(), 2 + 4096U);
}

}  // namespace
}  // namespace ww::ir::unroll_test
