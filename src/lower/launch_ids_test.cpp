// SPDX-License-Identifier: Apache-2.0
#include "lower/launch_ids.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/print/print.h"
#include "ir/test_programs.h"

namespace ww::lower::launch_ids_test {
namespace {

using ir::ScopeIdKind;
using ir::VarId;
using ir::test::Builder;
using num::DType;

/// The body, one statement per line.
std::string body_of(const ir::Function& f) {
  std::string out;
  for (const ir::StmtId id : f.body) out += ir::print(f, id);
  return out;
}

std::string resolved(Builder& b) {
  ir::Function f = b.done();
  const auto shape = ir::launch_shape(f);
  EXPECT_TRUE(shape) << shape.error().text;
  resolve_scope_ids(f, *shape);
  return body_of(f);
}

// An id that nothing uses is not bound: all of these are stored.
void use(Builder& b, ir::BufferId out, std::initializer_list<VarId> ids) {
  for (const VarId id : ids) b.store(out, {b.n(0)}, b.var(id));
}

TEST(LaunchVars, OneDimension) {
  Builder b;
  const ir::BufferId out = b.matched("out", {1}, DType::Int32);
  const VarId cta = b.id(ScopeIdKind::CtaId, "bx", 4);
  b.id(ScopeIdKind::WarpId, "unused", 8);
  const VarId lane = b.id(ScopeIdKind::LaneId, "lane", 32);
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 256);
  const VarId group = b.id(ScopeIdKind::WarpgroupId, "wg", 2);
  const VarId warp = b.id(ScopeIdKind::WarpIdInWg, "warp", 4);
  const VarId in_group = b.id(ScopeIdKind::ThreadIdInWg, "t", 128);
  use(b, out, {cta, lane, tid, group, warp, in_group});
  EXPECT_EQ(resolved(b), R"(blockIdx_x = T.launch_thread("blockIdx.x", 4)
threadIdx_x = T.launch_thread("threadIdx.x", 256)
bx: T.let[T.int32] = blockIdx_x
lane: T.let[T.int32] = threadIdx_x % 32
tid: T.let[T.int32] = threadIdx_x
wg: T.let[T.int32] = threadIdx_x // 128
warp: T.let[T.int32] = threadIdx_x // 32 % 4
t: T.let[T.int32] = threadIdx_x % 128
out[0] = bx
out[0] = lane
out[0] = tid
out[0] = wg
out[0] = warp
out[0] = t
)");
}

TEST(LaunchVars, WhatTheLaunchDecidesIsDecided) {
  Builder b;
  const ir::BufferId out = b.matched("out", {1}, DType::Int32);
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 32);
  const VarId warp = b.id(ScopeIdKind::WarpId, "warp", 1);
  const VarId lane = b.id(ScopeIdKind::LaneId, "lane", 0);
  use(b, out, {tid, warp, lane});
  EXPECT_EQ(resolved(b), R"(blockIdx_x = T.launch_thread("blockIdx.x", 1)
threadIdx_x = T.launch_thread("threadIdx.x", 32)
tid: T.let[T.int32] = threadIdx_x
warp: T.let[T.int32] = 0
lane: T.let[T.int32] = threadIdx_x
out[0] = tid
out[0] = warp
out[0] = lane
)");
}

/// An id of several dimensions.
std::vector<VarId> ids(Builder& b, ScopeIdKind kind, std::vector<std::string> names,
                       std::vector<std::int64_t> extents) {
  ir::Stmt s{.kind = ir::StmtKind::ScopeIds, .scope_id = kind};
  for (std::size_t i = 0; i < names.size(); ++i) {
    s.vars.push_back(b.f.add(ir::Var{
        .name = names[i], .type = ir::Type::of(DType::Int32), .kind = ir::VarKind::ScopeId}));
    s.args.push_back(b.n(extents[i]));
  }
  const std::vector<VarId> vars = s.vars;
  b.stmt(std::move(s));
  return vars;
}

TEST(LaunchVars, SeveralDimensionsAndClusters) {
  Builder b;
  const ir::BufferId out = b.matched("out", {1}, DType::Int32);
  const auto cluster = ids(b, ScopeIdKind::ClusterId, {"cx", "cy"}, {4, 3});
  const auto rank = ids(b, ScopeIdKind::CtaIdInCluster, {"rx", "ry"}, {2, 1});
  const auto thread = ids(b, ScopeIdKind::ThreadId, {"x", "y"}, {16, 4});
  const VarId warp = b.id(ScopeIdKind::WarpId, "warp", 2);
  use(b, out, {cluster[0], cluster[1], rank[0], rank[1], thread[1], warp});
  EXPECT_EQ(resolved(b), R"(blockIdx_x = T.launch_thread("blockIdx.x", 8)
blockIdx_y = T.launch_thread("blockIdx.y", 3)
threadIdx_x = T.launch_thread("threadIdx.x", 16)
threadIdx_y = T.launch_thread("threadIdx.y", 4)
clusterCtaIdx_x = T.launch_thread("clusterCtaIdx.x", 2)
linear_thread: T.let[T.int32] = threadIdx_x + threadIdx_y * 16
cx: T.let[T.int32] = blockIdx_x // 2
cy: T.let[T.int32] = blockIdx_y
rx: T.let[T.int32] = clusterCtaIdx_x
ry: T.let[T.int32] = 0
y: T.let[T.int32] = threadIdx_y
warp: T.let[T.int32] = linear_thread // 32
out[0] = cx
out[0] = cy
out[0] = rx
out[0] = ry
out[0] = y
out[0] = warp
)");
}

TEST(LaunchVars, ExtentsBecomeParameters) {
  Builder b;
  const VarId n = b.f.add(
      ir::Var{.name = "n", .type = ir::Type::of(DType::Int32), .kind = ir::VarKind::Extent});
  ir::Buffer a = b.buffer("a", {4}, DType::Int32, ir::Scope::Global);
  a.shape = {b.var(n)};
  const ir::BufferId out = b.matched("a_ptr", std::move(a));
  b.param("k", ir::Type::of(DType::Int32));
  const VarId half = b.bind("half", b.div(b.var(n), 2));
  const VarId cta = b.f.add(
      ir::Var{.name = "bx", .type = ir::Type::of(DType::Int32), .kind = ir::VarKind::ScopeId});
  ir::Stmt s{.kind = ir::StmtKind::ScopeIds, .scope_id = ScopeIdKind::CtaId, .vars = {cta}};
  s.args = {b.var(half)};
  b.stmt(std::move(s));
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 1);
  use(b, out, {cta, tid});
  ir::Function f = b.done();
  const auto shape = ir::launch_shape(f);
  ASSERT_TRUE(shape) << shape.error().text;
  const LaunchVars found = resolve_scope_ids(f, *shape);
  ASSERT_EQ(f.params.size(), 3U);
  EXPECT_EQ(f.params[2].var, n);
  EXPECT_EQ(f[n].kind, ir::VarKind::Param);
  EXPECT_EQ(found.linear_thread, found.thread[0]);
  EXPECT_FALSE(found.block[1].valid());
  // What the body binds is not known where the launch stands.
  EXPECT_EQ(body_of(f).substr(0, 49), "blockIdx_x = T.launch_thread(\"blockIdx.x\", n // 2");
}

TEST(LaunchVars, LoopsOverHardwareIds) {
  Builder b;
  const ir::BufferId out = b.matched("out", {1}, DType::Int32);
  b.id(ScopeIdKind::ThreadId, "", 8);
  const VarId x = b.loop("x", 8, ir::LoopKind::ThreadBinding);
  use(b, out, {x});
  const ir::StmtId loop = b.end();
  b.f.at(loop).hardware = {ir::HardwareId::Kind::ThreadIdx, 0};
  EXPECT_EQ(resolved(b), R"(blockIdx_x = T.launch_thread("blockIdx.x", 1)
threadIdx_x = T.launch_thread("threadIdx.x", 8)
x: T.let[T.int32] = threadIdx_x
out[0] = x
)");
}

}  // namespace
}  // namespace ww::lower::launch_ids_test
