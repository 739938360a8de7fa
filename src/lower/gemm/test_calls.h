// SPDX-License-Identifier: Apache-2.0
// gemm calls for tests: operands with given layouts, up to where the variant has written its code.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lower/test_calls.h"

namespace ww::lower::test {

/// Fragments in their natural order, for so many tiles of 16 rows, groups of 4e values of k, and
/// tiles of 8 columns.
inline std::string d_frag(int m, int n) {
  return fmt::format("S[({},2,8,{},4,2):({},2,4@laneid,4,1@laneid,1)]", m, n, 4 * n);
}
inline std::string a_frag(int m, int groups, int e = 2) {
  return fmt::format("S[({},2,8,{},4,{}):({},{},4@laneid,{},1@laneid,1)]", m, groups, e,
                     2 * e * groups, e, 2 * e);
}
inline std::string b_frag(int groups, int n, int e = 2) {
  return fmt::format("S[({},4,{},{},8):({},1@laneid,1,{},4@laneid)]", groups, e, n, e, e * groups);
}

struct GemmCase {
  ir::Unit unit = ir::Unit::Warp;
  std::int64_t threads = 32;
  DType in = DType::Float16, out = DType::Float32;
  std::optional<DType> in_b = {};  // of B, where it is another one
  std::vector<std::int64_t> d_shape{16, 8}, a_shape{16, 16}, b_shape{16, 8};
  std::string d = d_frag(1, 1), a = a_frag(1, 2), b = b_frag(2, 1);
  std::string c = {};  // empty: C is D
  Scope d_scope = Scope::Local, a_scope = Scope::Local, b_scope = Scope::Local,
        c_scope = Scope::Local;
  bool turns_a = false, turns_b = false;
  TileArg alpha = Setting(1.0), beta = Setting(0.0);
  std::vector<std::pair<std::string, Setting>> config = {};
  target::Target target = {.arch = target::Arch::Sm90a, .ptx = 90};
  /// The last word about the arguments D A B C …
  std::function<void(Builder&, std::vector<TileArg>&)> edit = {};

  /// A product of a CTA of four warps, two by two.
  static GemmCase over_warps() {
    GemmCase c;
    c.unit = ir::Unit::Cta;
    c.threads = 128;
    c.d_shape = {32, 16};
    c.a_shape = {32, 16};
    c.b_shape = {16, 16};
    c.d = "S[(2,2,8,2,4,2):(2@warpid,2,4@laneid,1@warpid,1@laneid,1)]";
    c.a = "S[(2,2,8,2,4,2):(2@warpid,2,4@laneid,4,1@laneid,1)] + R[2:1@warpid]";
    c.b = "S[(2,4,2,2,8):(2,1@laneid,1,1@warpid,4@laneid)] + R[2:2@warpid]";
    return c;
  }
  /// Sizes in tiles of 16 rows, groups of k and tiles of 8 columns, in natural order.
  static GemmCase natural(int m, int n, int groups, int e = 2) {
    GemmCase out;
    out.d_shape = {16 * m, 8 * n};
    out.a_shape = {16 * m, 4 * e * groups};
    out.b_shape = {4 * e * groups, 8 * n};
    out.d = d_frag(m, n);
    out.a = a_frag(m, groups, e);
    out.b = b_frag(groups, n, e);
    return out;
  }
};

/// The function of a case, its gemm call the last statement.
inline ir::Function function_of(const GemmCase& c) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", c.threads);
  const ir::BufferId d = b.alloc("D", c.d_shape, c.out, c.d_scope, c.d);
  const ir::BufferId a = b.alloc("A", c.a_shape, c.in, c.a_scope, c.a);
  const ir::BufferId w = b.alloc("B", c.b_shape, c.in_b.value_or(c.in), c.b_scope, c.b);
  ir::BufferId old = d;
  if (!c.c.empty() || c.c_scope != Scope::Local)
    old = b.alloc("C", c.d_shape, c.out, c.c_scope, c.c);
  std::vector<TileArg> args{b.full(d),          b.full(a),          b.full(w), b.full(old),
                            Setting(c.turns_a), Setting(c.turns_b), c.alpha,   c.beta};
  if (c.edit) c.edit(b, args);
  const ir::TileCallId call = b.tile(ir::TileOp::Gemm, c.unit, std::move(args));
  b.f.tile_calls[call.index].config = c.config;
  return b.done();
}

/// A gemm call, the variant's answer and its code.
class GemmUnderTest : public CallUnderTest {
 public:
  explicit GemmUnderTest(const GemmCase& c)
      : CallUnderTest(function_of(c), variant_named(ir::TileOp::Gemm, "mma"), prove_gemm,
                      c.target) {}
};

/// Declined; nothing more is meant.
inline void expect_declined(const GemmCase& c, std::string_view rule, std::string_view reason) {
  const GemmUnderTest gemm(c);
  EXPECT_EQ(gemm.rule, rule);
  EXPECT_EQ(gemm.reason, reason);
}

/// Accepted, with that tiling, and proven.
inline void expect_tiling(const GemmCase& c, std::string_view tiling) {
  const GemmUnderTest gemm(c);
  ASSERT_EQ(gemm.reason, "") << tiling;
  EXPECT_EQ(gemm.report.tiling, tiling);
  const Proof proof = gemm.prove();
  EXPECT_TRUE(proof.holds()) << tiling << ": " << proof.difference << proof.could_not;
}

/// The region [row, row + rows) x [col, col + cols).
inline ir::Region slice(Builder& b, const TileArg& whole, std::int64_t row, std::int64_t rows,
                        std::int64_t col, std::int64_t cols) {
  ir::Region out = std::get<ir::Region>(whole);
  out.ranges = {{b.n(row), b.n(rows)}, {b.n(col), b.n(cols)}};
  return out;
}

}  // namespace ww::lower::test
