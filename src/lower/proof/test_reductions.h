// SPDX-License-Identifier: Apache-2.0
// Calls of reductions between registers, for the tests of their proof.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "lower/test_calls.h"

namespace ww::lower::test {

struct ReductionCase {
  ir::TileOp op = ir::TileOp::Sum;
  num::DType type = num::DType::Float32;
  ir::Unit unit = ir::Unit::Warp;
  std::vector<std::int64_t> d_shape = {8}, a_shape = {8, 16};
  std::string d = "S[8:4@laneid] + R[4:1@laneid]";
  std::string a = "S[(8,4,4):(4@laneid,1@laneid,1)]";
  std::int64_t threads = 64, axis = -1;
  bool accum = false;
  std::int64_t cluster = 0;  // its CTAs; 0: no cluster
  bool may_repeat = true, is_in_loop = true;
  bool has_workspace = false;
};

inline ir::Function function_of(const ReductionCase& c) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", std::max<std::int64_t>(1, c.cluster));
  if (c.cluster > 0) b.id(ir::ScopeIdKind::CtaIdInCluster, "rank", c.cluster);
  b.id(ir::ScopeIdKind::ThreadId, "tid", c.threads);
  std::vector<TileArg> args;
  args.emplace_back(b.full(b.alloc("D", c.d_shape, c.type, Scope::Local, c.d)));
  args.emplace_back(b.full(b.alloc("A", c.a_shape, c.type, Scope::Local, c.a)));
  args.emplace_back(Setting(c.axis));
  args.emplace_back(Setting(c.accum));
  ir::BufferId scratch;
  if (c.has_workspace) scratch = b.alloc("W", {64}, num::DType::Float64, Scope::Shared, "");
  const ir::TileCallId id = b.tile(c.op, c.unit, std::move(args));
  if (c.has_workspace) b.f.at(id).workspace.emplace_back("scratch", scratch);
  return b.done();
}

inline std::string text(const ReductionCase& c) {
  return fmt::format("{} of {} {}", ir::name_of(c.op), num::name_of(c.type), c.a);
}

/// `registers` lowers calls of a warp, `cluster` those of a cluster, `warps` the others.
inline std::string_view variant_for(ir::Unit unit) {
  if (unit == ir::Unit::Cluster) return "cluster";
  return unit == ir::Unit::Warp ? "registers" : "warps";
}
class ReductionUnderTest : public CallUnderTest {
 public:
  explicit ReductionUnderTest(const ReductionCase& c)
      : CallUnderTest(function_of(c), variant_named(c.op, variant_for(c.unit)), prove_reduction,
                      {.arch = target::Arch::Sm90a, .ptx = 90}, c.may_repeat, c.is_in_loop) {}
};

inline void expect_proven(const std::vector<ReductionCase>& cases) {
  for (const ReductionCase& c : cases) {
    const ReductionUnderTest under(c);
    ASSERT_EQ(under.reason, "") << text(c);
    const Proof proof = under.prove();
    EXPECT_TRUE(proof.holds()) << text(c) << ": " << proof.difference << proof.could_not;
  }
}

}  // namespace ww::lower::test
