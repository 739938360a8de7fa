// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/test_programs.h"

namespace ww::ir::launch_launch_test {
namespace {

using test::Builder;
using enum ScopeIdKind;

// Declarations, each with a place of its own: the k-th stands at k·10.
struct Declared {
  ScopeIdKind kind;
  std::vector<std::int64_t> extents;  // 0: known at launch; none: left out
  std::size_t names = 1;
};

Function kernel(const std::vector<Declared>& ids) {
  Builder b;
  const VarId n = b.param("n", Type::of(num::DType::Int32));
  for (std::size_t k = 0; k < ids.size(); ++k) {
    Stmt stmt;
    stmt.kind = StmtKind::ScopeIds;
    stmt.scope_id = ids[k].kind;
    stmt.span = Span::at(10 * k, 10 * k + 5);
    for (const std::int64_t e : ids[k].extents) stmt.args.push_back(e == 0 ? b.var(n) : b.n(e));
    const std::size_t names = ids[k].extents.empty() ? ids[k].names : ids[k].extents.size();
    for (std::size_t d = 0; d < names; ++d) {
      Var var;
      var.name = "v";
      var.type = Type::of(num::DType::Int32);
      var.kind = VarKind::ScopeId;
      stmt.vars.push_back(b.f.add(std::move(var)));
    }
    b.stmt(std::move(stmt));
  }
  return b.done();
}

std::array<std::int64_t, 3> block_of(const std::vector<Declared>& ids) {
  const auto shape = launch_shape(kernel(ids));
  EXPECT_TRUE(shape) << shape.error().text;
  return shape ? shape->block : std::array<std::int64_t, 3>{0, 0, 0};
}

std::array<std::int64_t, 3> grid_of(const std::vector<Declared>& ids) {
  const auto shape = launch_shape(kernel(ids));
  EXPECT_TRUE(shape) << shape.error().text;
  if (!shape) return {0, 0, 0};
  std::array<std::int64_t, 3> out{};
  for (std::size_t d = 0; d < 3; ++d)
    out[d] = shape->grid[d].is_constant() ? shape->grid[d].value : -1;
  return out;
}

// The message, then the places of the notes.
std::string refusal(const std::vector<Declared>& ids) {
  const auto shape = launch_shape(kernel(ids));
  if (shape) return "";
  EXPECT_EQ(shape.error().kind, DiagKind::BadScopeIds);
  std::string out = fmt::format("{} @{}", shape.error().text, shape.error().span.begin);
  for (const Note& note : shape.error().notes)
    out += fmt::format("; {} @{}", note.text, note.span.begin);
  return out;
}

TEST(Launch, NoIdIsOneThread) {
  const auto shape = launch_shape(kernel({}));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->threads(), 1);
  EXPECT_EQ(shape->warps(), 1);
  EXPECT_FALSE(shape->has_clusters);
}

TEST(Launch, ThreadsFollow) {
  using Block = std::array<std::int64_t, 3>;
  EXPECT_EQ(block_of({{ThreadId, {96}}}), (Block{96, 1, 1}));
  EXPECT_EQ(block_of({{ThreadId, {33}}}), (Block{33, 1, 1}));
  EXPECT_EQ(block_of({{ThreadId, {16, 4, 2}}}), (Block{16, 4, 2}));
  EXPECT_EQ(block_of({{WarpId, {4}}, {LaneId, {32}}}), (Block{128, 1, 1}));
  EXPECT_EQ(block_of({{WarpId, {4}}}), (Block{128, 1, 1}));
  EXPECT_EQ(block_of({{WarpgroupId, {2}}, {ThreadIdInWg, {128}}}), (Block{256, 1, 1}));
  EXPECT_EQ(block_of({{WarpgroupId, {2}}, {WarpIdInWg, {}}}), (Block{256, 1, 1}));
  // One warpgroup, of which the CTA has a part.
  EXPECT_EQ(block_of({{WarpgroupId, {1}}, {WarpIdInWg, {2}}, {LaneId, {32}}}), (Block{64, 1, 1}));
  EXPECT_EQ(block_of({{WarpIdInWg, {1}}, {LaneId, {32}}}), (Block{32, 1, 1}));
  EXPECT_EQ(block_of({{WarpgroupId, {}}, {ThreadId, {384}}}), (Block{384, 1, 1}));
  EXPECT_EQ(block_of({{LaneId, {}}, {WarpId, {}}, {ThreadId, {64}}}), (Block{64, 1, 1}));
  EXPECT_EQ(block_of({{ThreadId, {}}, {WarpId, {3}}}), (Block{96, 1, 1}));
  // One row of threads beside two dimensions.
  EXPECT_EQ(block_of({{ThreadId, {128}}, {ThreadId, {32, 4}}}), (Block{32, 4, 1}));
}

TEST(Launch, GridFollows) {
  using Grid = std::array<std::int64_t, 3>;
  const Declared threads{ThreadId, {32}};
  EXPECT_EQ(grid_of({threads}), (Grid{1, 1, 1}));
  EXPECT_EQ(grid_of({{CtaId, {4, 3, 2}}, threads}), (Grid{4, 3, 2}));
  EXPECT_EQ(grid_of({{CtaId, {0, 3}}, threads}), (Grid{-1, 3, 1}));
  EXPECT_EQ(grid_of({{ClusterId, {3, 2}}, {CtaIdInCluster, {2, 1}}, threads}), (Grid{6, 2, 1}));
  EXPECT_EQ(grid_of({{CtaIdInCluster, {2}}, threads}), (Grid{2, 1, 1}));
  EXPECT_EQ(grid_of({{CtaId, {}}, {ClusterId, {3}}, {CtaIdInCluster, {2}}, threads}),
            (Grid{6, 1, 1}));
  EXPECT_EQ(grid_of({{CtaId, {0}}, {CtaIdInCluster, {2}}, {ClusterId, {}}, threads}),
            (Grid{-1, 1, 1}));
  EXPECT_EQ(grid_of({{ClusterId, {0, 2}}, {CtaIdInCluster, {1, 2}}, threads}), (Grid{-1, 4, 1}));
  const auto shape = launch_shape(kernel({{CtaId, {6, 4}}, {ClusterId, {3, 4}}, threads}));
  ASSERT_TRUE(shape);
  EXPECT_TRUE(shape->has_clusters);
  EXPECT_EQ(shape->cluster, (Grid{2, 1, 1}));
}

TEST(Launch, ContradictionsNameBothPlaces) {
  EXPECT_EQ(refusal({{ThreadId, {96}}, {WarpId, {4}}}),
            "a CTA has 96 threads by `thread_id`, but 128 threads by `warp_id` @10; "
            "`thread_id([96])` is declared here @0");
  EXPECT_EQ(refusal({{ThreadId, {64}}, {CtaId, {1}}, {ThreadId, {32}}}),
            "a CTA has 64 threads by `thread_id`, but 32 threads by `thread_id` @20; "
            "`thread_id([64])` is declared here @0");
  EXPECT_EQ(refusal({{LaneId, {16}}}), "a warp has 32 threads, but 16 threads by `lane_id` @0");
  EXPECT_EQ(refusal({{WarpIdInWg, {2}}, {WarpgroupId, {2}}}),
            "a CTA has 1 warpgroup by `warp_id_in_wg`, but 2 warpgroups by `warpgroup_id` @10; "
            "`warp_id_in_wg([2])` is declared here @0");
  EXPECT_EQ(refusal({{WarpIdInWg, {5}}, {WarpgroupId, {1}}}),
            "a warpgroup has 4 warps, but 5 warps by `warp_id_in_wg` @0");
  EXPECT_EQ(refusal({{WarpIdInWg, {2}}, {ThreadIdInWg, {128}}}),
            "a warpgroup has 128 threads by `thread_id_in_wg`, but 64 threads by "
            "`warp_id_in_wg` @10; `warp_id_in_wg([2])` is declared here @0");
  EXPECT_EQ(refusal({{ThreadId, {32, 4}}, {ThreadId, {4, 32}}}),
            "`thread_id` is declared as 32 x 4 and as 4 x 32 @10; "
            "`thread_id([32, 4])` is declared here @0");
  EXPECT_EQ(refusal({{CtaId, {4}}, {ThreadId, {32}}, {CtaId, {5}}}),
            "`cta_id` is declared as 4 and as 5 @20; `cta_id([4])` is declared here @0");
}

TEST(Launch, WhatDoesNotDivide) {
  EXPECT_EQ(refusal({{ThreadId, {48}}, {LaneId, {32}}}),
            "a CTA has 48 threads by `thread_id`, no multiple of the 32 threads of a warp @0");
  EXPECT_EQ(
      refusal({{ThreadId, {96}}, {WarpgroupId, {}}}),
      "a CTA has 96 threads by `thread_id`, no multiple of the 128 threads of a warpgroup @0");
  EXPECT_EQ(refusal({{CtaId, {5}}, {CtaIdInCluster, {2}}, {ThreadId, {32}}}),
            "5 CTAs along x are not a multiple of the 2 of a cluster @0; "
            "`cta_id_in_cluster([2])` is declared here @10");
  EXPECT_EQ(refusal({{CtaId, {6}}, {ClusterId, {4}}, {ThreadId, {32}}}),
            "6 CTAs do not divide into 4 clusters along x @10; `cta_id([6])` is declared here @0");
  EXPECT_EQ(
      refusal({{CtaId, {8}}, {ClusterId, {2}}, {CtaIdInCluster, {2}}, {ThreadId, {32}}}),
      "2 clusters of 2 CTAs along x are not 8 CTAs @0; `cluster_id([2])` is declared here @10; "
      "`cta_id_in_cluster([2])` is declared here @20");
  EXPECT_EQ(refusal({{CtaIdInCluster, {3}}, {CtaIdInPair, {}}, {ThreadId, {32}}}),
            "a cluster has 3 CTAs by `cta_id_in_cluster`, no multiple of the 2 CTAs of a pair @0");
}

TEST(Launch, WhatDoesNotFollow) {
  EXPECT_EQ(refusal({{CtaId, {4}}}),
            "the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or "
            "`warp_id([n])` @0");
  EXPECT_EQ(refusal({{LaneId, {}}, {CtaId, {1}}}),
            "the ids do not tell how many threads a CTA has: declare `thread_id([n])`, or "
            "`warp_id([n])` @0");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {CtaId, {}}}),
            "the extent of `cta_id` does not follow from the other ids: write it down, "
            "`cta_id([n])` @10");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {ClusterId, {2}}}),
            "`cluster_id` alone does not tell how many CTAs a cluster has: declare "
            "`cta_id_in_cluster` or `cta_id`, too @10");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {CtaIdInPair, {}}}),
            "`cta_id_in_pair` counts CTAs of a cluster, and no id tells its size: declare "
            "`cta_id_in_cluster` @10");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {ClusterId, {0}}, {CtaIdInCluster, {2}}}),
            "the number of CTAs does not follow from clusters that are counted at launch: declare "
            "`cta_id`, too @10; `cta_id_in_cluster([2])` is declared here @20");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {ClusterId, {0}}, {CtaId, {4}}}),
            "the CTAs of a cluster do not follow from extents that are known at launch: declare "
            "`cta_id_in_cluster` @10; `cta_id([4])` is declared here @20");
}

TEST(Launch, SingleDeclarationsThatAreWrong) {
  EXPECT_EQ(refusal({{ThreadId, {}, 2}}),
            "`thread_id` names 2 variables and no extent: only one can follow from the other ids "
            "@0");
  EXPECT_EQ(refusal({{WarpId, {2, 2}}}), "`warp_id` has 2 dimensions: at most 1 is possible @0");
  EXPECT_EQ(refusal({{ThreadId, {2, 2, 2, 2}}}),
            "`thread_id` has 4 dimensions: at most 3 are possible @0");
  EXPECT_EQ(refusal({{ThreadId, {-1}}}), "`thread_id` has the extent -1: expected at least 1 @0");
  EXPECT_EQ(refusal({{ThreadId, {0}}}),
            "the extent of `thread_id` is not constant: only the grid may be known at launch "
            "(`cta_id`, `cluster_id`) @0");
  EXPECT_EQ(refusal({{ThreadId, {64, 32}}}),
            "a CTA has 64 x 32 x 1 threads: at most 1024 are possible @0");
  EXPECT_EQ(refusal({{WarpId, {33}}}),
            "a CTA has 1056 x 1 x 1 threads: at most 1024 are possible @0");
  EXPECT_EQ(refusal({{ThreadId, {1, 1, 128}}}),
            "a CTA has 128 threads along z: at most 64 are possible @0");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {CtaId, {1, 70000}}}),
            "the grid has 70000 CTAs along y: at most 65535 are possible @10");
  EXPECT_EQ(refusal({{ThreadId, {32}}, {CtaIdInCluster, {4, 5}}}),
            "a cluster has 4 x 5 CTAs: at most 16 are possible @10");
  EXPECT_EQ(refusal({{ThreadId, {1 << 30, 1 << 30, 1 << 30}}}),
            "`thread_id` has more elements than fit in 64 bits @0");
}

TEST(Launch, LoweredFunctionsSayItDirectly) {
  const auto shape_of = [](const std::vector<std::pair<std::string, std::int64_t>>& tags) {
    Builder b;
    b.f.level = Level::Lowered;
    for (const auto& [tag, extent] : tags) b.launch("v", tag, extent);
    return launch_shape(b.done());
  };
  const auto shape = shape_of(
      {{"blockIdx.x", 8}, {"threadIdx.y", 4}, {"threadIdx.x", 32}, {"clusterCtaIdx.x", 2}});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->threads(), 128);
  EXPECT_EQ(shape->grid[0].value, 8);
  EXPECT_EQ(shape->cluster[0], 2);
  EXPECT_TRUE(shape->has_clusters);
  EXPECT_TRUE(shape_of({{"threadIdx.x", 32}, {"threadIdx.x", 32}}));
  EXPECT_EQ(shape_of({{"threadIdx.x", 32}, {"threadIdx.x", 64}}).error().text,
            "`threadIdx.x` is launched twice with different extents");
  EXPECT_EQ(
      parse_hardware_id("warp.x").error().text,
      "`warp.x` is not a hardware id: expected `blockIdx`, `threadIdx` or `clusterCtaIdx` with "
      "`.x`, `.y` or `.z`");
  EXPECT_EQ(shape_of({{"threadIdx.x", 0}}).error().text,
            "the extent of `threadIdx.x` is 0: expected a constant of at least 1");
  EXPECT_EQ(shape_of({{"threadIdx.x", 2048}}).error().text,
            "a CTA has 2048 x 1 x 1 threads: at most 1024 are possible");
}

TEST(Launch, ValuesOfIds) {
  LaunchShape shape;
  shape.block = {16, 4, 4};
  shape.cluster = {2, 2, 1};
  const std::array<std::int64_t, 3> grid{4, 6, 2};
  const ThreadPlace place{16 * 4 * 2 + 16 * 3 + 5, {3, 4, 1}};  // thread 181 = (5, 3, 2)
  const auto value = [&](ScopeIdKind kind, std::size_t dim = 0, std::size_t dims = 1) {
    return scope_id_value(shape, kind, dim, dims, grid, place);
  };
  EXPECT_EQ(value(ThreadId), 181);
  EXPECT_EQ(value(ThreadId, 0, 3), 5);
  EXPECT_EQ(value(ThreadId, 1, 3), 3);
  EXPECT_EQ(value(ThreadId, 2, 3), 2);
  EXPECT_EQ(value(LaneId), 181 % 32);
  EXPECT_EQ(value(WarpId), 5);
  EXPECT_EQ(value(WarpIdInWg), 1);
  EXPECT_EQ(value(WarpgroupId), 1);
  EXPECT_EQ(value(ThreadIdInWg), 53);
  EXPECT_EQ(value(CtaId, 0, 3), 3);
  EXPECT_EQ(value(CtaId, 1, 3), 4);
  EXPECT_EQ(value(CtaId, 2, 3), 1);
  EXPECT_EQ(value(CtaId), 3 + 4 * (4 + 6 * 1));
  EXPECT_EQ(value(ClusterId, 0, 3), 1);
  EXPECT_EQ(value(ClusterId, 1, 3), 2);
  EXPECT_EQ(value(ClusterId, 2, 3), 1);
  EXPECT_EQ(value(ClusterId), 1 + 2 * (2 + 3 * 1));
  EXPECT_EQ(value(CtaIdInCluster, 0, 2), 1);
  EXPECT_EQ(value(CtaIdInCluster, 1, 2), 0);
  EXPECT_EQ(value(CtaIdInCluster), 1);
  EXPECT_EQ(value(CtaIdInPair), 1);
}

TEST(Launch, AttributesOfTheLaunch) {
  Function f = kernel({{CtaId, {2}}, {ThreadId, {32}}});
  EXPECT_FALSE(launch_shape(f)->is_cooperative);
  f.attrs.emplace_back(kCooperativeAttribute, true);
  EXPECT_TRUE(launch_shape(f)->is_cooperative);
  EXPECT_FALSE(launch_shape(f)->is_programmatic);
  f.attrs.emplace_back(kProgrammaticAttribute, true);
  EXPECT_TRUE(launch_shape(f)->is_programmatic);
  f.attrs.back().second = std::int64_t{1};
  EXPECT_EQ(launch_shape(f).error().text,
            "`tirx.programmatic_stream_serialization` is neither True nor False");
}

TEST(Launch, BindingsOfIds) {
  const Function f = kernel({{CtaId, {2, 3}}, {ThreadId, {32}}});
  const auto bindings = id_bindings(f);
  ASSERT_EQ(bindings.size(), f.var_count());
  EXPECT_FALSE(bindings[0].stmt.valid());  // the parameter
  EXPECT_EQ(bindings[1].stmt, f.body[0]);
  EXPECT_EQ(bindings[2].stmt, f.body[0]);
  EXPECT_EQ(bindings[2].dim, 1U);
  EXPECT_EQ(bindings[3].stmt, f.body[1]);
}

}  // namespace
}  // namespace ww::ir::launch_launch_test
