// SPDX-License-Identifier: Apache-2.0
// Tile calls, PTX instructions and the launch: one fault per test.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/verify/test_findings.h"
#include "ir/verify/verify.h"

namespace ww::ir::verify_calls_test {
namespace {

using test::Builder;
using test::DType;
using test::findings;
using test::mem;
using test::reg_at;
using test::value;

// --- tile calls ----------------------------------------------------------------------------------

class VerifyTile : public ::testing::Test {
 protected:
  Builder b;
  BufferId a = b.alloc("A", {8, 16}, DType::Float32, Scope::Local);
  BufferId c = b.alloc("C", {16, 8}, DType::Float32, Scope::Local);
  BufferId h = b.alloc("H", {8, 16}, DType::Float16, Scope::Local);

  std::string of(TileOp op, std::vector<TileArg> args, Unit unit = Unit::Thread) {
    b.tile(op, unit, std::move(args));
    return findings(b);
  }
  Region part(BufferId buffer, std::int64_t rows, std::int64_t columns) {
    Region region = b.full(buffer);
    region.ranges[0].extent = b.n(rows);
    region.ranges[1].extent = b.n(columns);
    return region;
  }
};

TEST_F(VerifyTile, MissingArgument) {
  EXPECT_EQ(of(TileOp::Copy, {b.full(a)}), "`copy` lacks its argument `src` [BadTileCall]");
}
TEST_F(VerifyTile, ScalarForARegion) {
  EXPECT_EQ(of(TileOp::Copy, {b.full(a), b.n(1)}),
            "argument `src` of `copy` is a scalar, expected a region of a buffer [BadTileCall]");
}
TEST_F(VerifyTile, RegionForAScalar) {
  EXPECT_EQ(of(TileOp::Fill, {b.full(a), b.full(a)}),
            "argument `value` of `fill` is a region, expected a scalar [BadTileCall]");
}
TEST_F(VerifyTile, ConstantOfAnotherKind) {
  EXPECT_EQ(of(TileOp::Sum, {b.full(a), b.full(a), {}, Setting(std::int64_t{1})}),
            "argument `accum` of `sum` is a constant of another kind, expected `True` or `False` "
            "[BadTileCall]");
}
TEST_F(VerifyTile, ScopeWithoutTilePrimitives) {
  EXPECT_EQ(of(TileOp::Zero, {b.full(a)}, Unit::Kernel).substr(0, 24), "`zero` at kernel scope, ");
}
TEST_F(VerifyTile, CopyOfAnotherShape) {
  EXPECT_EQ(of(TileOp::Copy, {b.full(a), b.full(c)}),
            "`copy` into (8, 16) of `A` from (16, 8) of `C`; the extents other than 1 differ "
            "[BadTileCall]");
}
TEST_F(VerifyTile, UnitExtentsDoNotMatter) {
  EXPECT_EQ(of(TileOp::Copy, {part(a, 1, 8), part(c, 8, 1)}), "");
}
TEST_F(VerifyTile, CopyOfAnotherType) {
  EXPECT_EQ(of(TileOp::Copy, {b.full(a), b.full(h)}),
            "`copy` with `float32` of `A` and `float16` of `H`, expected one element type "
            "[BadTileCall]");
}
TEST_F(VerifyTile, SourcesThatLeaveTheirBuffer) {
  const auto copy = [&](std::int64_t start, std::vector<std::pair<std::string, Setting>> config) {
    Builder each = b;
    Region src = each.full(c);
    src.ranges[0] = {each.n(start), each.n(8)};
    src.ranges[1].extent = each.n(16);
    const TileCallId id = each.tile(TileOp::CopyAsync, Unit::Thread, {each.full(a), src});
    each.f.tile_calls[id.index].config = std::move(config);
    return findings(each);
  };
  const Setting zero = std::string("zero");
  EXPECT_EQ(copy(12, {{"fill_mode", zero}}), "");
  EXPECT_EQ(copy(12, {}),
            "a region takes 8 from 12 in dimension 0 of `C`, which has extent 16 [OutOfBounds]\n"
            "a region takes 16 from 0 in dimension 1 of `C`, which has extent 8 [OutOfBounds]");
  EXPECT_EQ(copy(-1, {{"fill_mode", zero}}), "");
  EXPECT_EQ(copy(-1, {{"fill_value", 1.5}}), "");
  EXPECT_EQ(copy(-1, {{"clip", true}}), copy(-1, {}));
  EXPECT_EQ(copy(-1, {}),
            "a region takes 8 from -1 in dimension 0 of `C`, which has extent 16 [OutOfBounds]\n"
            "a region takes 16 from 0 in dimension 1 of `C`, which has extent 8 [OutOfBounds]");
}
TEST_F(VerifyTile, DestinationsThatLeaveTheirBuffer) {
  const auto copy = [&](std::vector<std::pair<std::string, Setting>> config) {
    Builder each = b;
    Region dst = each.full(a);
    dst.ranges[0].extent = each.n(16);
    dst.ranges[1].extent = each.n(8);
    const TileCallId id = each.tile(TileOp::Copy, Unit::Thread, {dst, each.full(c)});
    each.f.tile_calls[id.index].config = std::move(config);
    return findings(each);
  };
  EXPECT_EQ(copy({{"fill_mode", Setting(std::string("zero"))}}), "");
  EXPECT_EQ(copy({{"clip", true}}), "");
  EXPECT_EQ(copy({{"clip", false}}), copy({}));
  EXPECT_EQ(copy({{"fill_value", std::int64_t{0}}}), copy({}));
  EXPECT_EQ(copy({}),
            "a region takes 16 from 0 in dimension 0 of `A`, which has extent 8 [OutOfBounds]");
}
TEST_F(VerifyTile, SettingsForOtherMemories) {
  const BufferId g = b.matched("G", {8, 16}, DType::Float32);
  const BufferId s = b.alloc("S", {8, 16}, DType::Float32, Scope::Shared);
  const auto with = [&](TileOp op, BufferId dst, BufferId src, const std::string& name,
                        Setting setting) {
    Builder each = b;
    const TileCallId id = each.tile(op, Unit::Thread, {each.full(dst), each.full(src)});
    each.f.tile_calls[id.index].config = {{name, std::move(setting)}};
    return findings(each);
  };
  const Setting evict = std::string("evict_last");
  EXPECT_EQ(with(TileOp::Copy, a, g, "l1_evict", evict), "");
  EXPECT_EQ(with(TileOp::Copy, a, s, "l1_evict", std::string()), "");
  EXPECT_EQ(
      with(TileOp::Copy, a, s, "l1_evict", evict),
      "`l1_evict` of `copy` is for global to local or global to shared memory, this is shared to "
      "local "
      "[BadTileCall]");
  EXPECT_EQ(with(TileOp::CopyAsync, s, g, "direct", true), "");
  EXPECT_EQ(with(TileOp::CopyAsync, g, s, "direct", false), "");
  EXPECT_EQ(with(TileOp::CopyAsync, g, s, "direct", true),
            "`direct` of `copy_async` is for global to shared memory, this is shared to global "
            "[BadTileCall]");
  EXPECT_EQ(with(TileOp::CopyAsync, s, g, "shape", std::string("32x128b")),
            "`shape` of `copy_async` is for shared to tmem memory, this is global to shared "
            "[BadTileCall]");
}
TEST_F(VerifyTile, SettingsOfCopies) {
  const BufferId g = b.matched("G", {8, 16}, DType::Float32);
  const auto with = [&](const std::string& name, Setting setting) {
    Builder each = b;
    const TileCallId id = each.tile(TileOp::Copy, Unit::Thread, {each.full(a), each.full(g)});
    each.f.tile_calls[id.index].config = {{name, std::move(setting)}};
    return findings(each);
  };
  EXPECT_EQ(with("predicate", true), "");
  EXPECT_EQ(with("predicate", std::string("yes")),
            "`predicate` of `copy` is `\"yes\"`, expected a condition [BadTileCall]");
  EXPECT_EQ(with("predicate", b.real(DType::Float32, 1)),
            "`predicate` of `copy` is `T.float32(1.0)`, expected a condition [BadTileCall]");
  EXPECT_EQ(with("fill_mode", std::string("one")),
            "`fill_mode` of `copy` is `\"one\"`, expected \"zero\" [BadTileCall]");
  EXPECT_EQ(with("fill_mode", std::int64_t{0}),
            "`fill_mode` of `copy` is `0`, expected \"zero\" [BadTileCall]");
  EXPECT_EQ(with("fill_value", std::int64_t{-3}), "");
  EXPECT_EQ(with("fill_value", 0.1), "");
  EXPECT_EQ(with("fill_value", b.real(DType::Float16, 1)), "");
  EXPECT_EQ(with("fill_value", std::string("nan")),
            "`fill_value` of `copy` is `\"nan\"`, expected a number [BadTileCall]");
  EXPECT_EQ(with("fill_value", 1e300),
            "`fill_value` of `copy` is `1e+300`, which `float32` does not hold [BadTileCall]");
  EXPECT_EQ(with("fill_value", b.at(h, {b.n(0), b.n(0)})),
            "`fill_value` of `copy` has type `float16`, and the elements are `float32` "
            "[BadTileCall]");
  EXPECT_EQ(with("clip", std::int64_t{1}),
            "`clip` of `copy` is `1`, expected `True` or `False` [BadTileCall]");
  EXPECT_EQ(with("prefetch_size", std::int64_t{128}), "");
  EXPECT_EQ(with("prefetch_size", std::int64_t{-1}), "");
  EXPECT_EQ(with("prefetch_size", std::string("64")), "");
  EXPECT_EQ(with("prefetch_size", std::int64_t{96}),
            "`prefetch_size` of `copy` is `96`, expected 64, 128 or 256 [BadTileCall]");
  EXPECT_EQ(with("prefetch_size", true),
            "`prefetch_size` of `copy` is `True`, expected 64, 128 or 256 [BadTileCall]");
  EXPECT_EQ(with("fill_mod", std::string("zero")),
            "`copy` has no setting `fill_mod`; did you mean `fill_mode`? [UnknownName]");
  EXPECT_EQ(with("direct", true), "`copy` has no setting `direct` [UnknownName]");
}
TEST_F(VerifyTile, CastMayChangeTheType) {
  EXPECT_EQ(of(TileOp::Cast, {b.full(a), b.full(h)}), "");
}
TEST_F(VerifyTile, ReductionOfAnotherType) {
  EXPECT_EQ(of(TileOp::Sum, {part(a, 8, 1), b.full(h)}),
            "`sum` with `float32` of `A` and `float16` of `H`, expected one element type "
            "[BadTileCall]");
}
TEST_F(VerifyTile, SourceThatDoesNotStretch) {
  EXPECT_EQ(of(TileOp::Add, {b.full(a), part(a, 8, 1), part(a, 8, 4)}),
            "`add` of (8, 4) of `A` into (8, 16) of `A`, to which it does not stretch "
            "[BadTileCall]");
}
TEST_F(VerifyTile, Gemm) {
  EXPECT_EQ(of(TileOp::Gemm, {part(a, 8, 8), b.full(a), b.full(c), part(a, 8, 8)}), "");
  b.f.tile_calls[0].args[4] = Setting(true);
  EXPECT_EQ(findings(b),
            "`gemm` of A (8, 16) of `A`, B (16, 8) of `C`, C (8, 8) of `A` into D (8, 8) of `A`, "
            "expected A (M, K), B (K, N), C and D (M, N) after transposing [BadTileCall]");
  b.f.tile_calls[0].args[4] = Setting(false);
  b.f.tile_calls[0].args[1] = b.full(h);
  EXPECT_EQ(findings(b),
            "`gemm` with `float16` of `H` and `float32` of `C`, expected one element type "
            "[BadTileCall]");
  b.f.tile_calls[0].args[1] = part(a, 1, 16);
  EXPECT_EQ(findings(b),
            "`gemm` of (1, 16) of `A`, expected two extents other than 1 [BadTileCall]");
}
TEST_F(VerifyTile, TypesOfGemm) {
  const auto with = [&](DType left, DType right, DType sum, double alpha = 1, double beta = 0) {
    Builder each = b;
    const BufferId x = each.alloc("X", {8, 16}, left, Scope::Local);
    const BufferId y = each.alloc("Y", {16, 8}, right, Scope::Local);
    const BufferId d = each.alloc("D", {8, 8}, sum, Scope::Local);
    each.tile(TileOp::Gemm, Unit::Thread,
              {each.full(d), each.full(x), each.full(y), each.full(d), Setting(false),
               Setting(false), Setting(alpha), Setting(beta)});
    return findings(each);
  };
  EXPECT_EQ(with(DType::Uint8, DType::Int8, DType::Int32), "");
  EXPECT_EQ(with(DType::Float8E4M3fn, DType::Float8E5M2, DType::Float32), "");
  EXPECT_EQ(with(DType::Float8E4M3fn, DType::Float8E8M0, DType::Float32),
            "`gemm` with `float8_e4m3fn` of `X` and `float8_e8m0fnu` of `Y`, expected one element "
            "type [BadTileCall]");
  EXPECT_EQ(with(DType::Uint8, DType::Float8E5M2, DType::Float32),
            "`gemm` with `uint8` of `X` and `float8_e5m2` of `Y`, expected one element type "
            "[BadTileCall]");
  const DType s8 = DType::Int8, s32 = DType::Int32, f16 = DType::Float16, f64 = DType::Float64;
  EXPECT_EQ(with(s8, s8, s32, -2147483648.0, 2147483647), "");
  EXPECT_EQ(with(s8, s8, s32, 2147483648.0),
            "alpha is 2147483648, and D is of int32, expected a whole number of int32 "
            "[BadTileCall]");
  EXPECT_EQ(with(s8, s8, s32, 1, 0.5),
            "beta is 0.5, and D is of int32, expected a whole number of int32 [BadTileCall]");
  EXPECT_EQ(with(s8, s8, s32, NAN),
            "alpha is nan, and D is of int32, expected a whole number of int32 [BadTileCall]");
  EXPECT_EQ(with(f16, f16, f16, INFINITY),
            "alpha is inf, and D is of float16, expected a finite float32 [BadTileCall]");
  EXPECT_EQ(with(f16, f16, DType::Float32, 1, 1e39),
            "beta is 1e+39, and D is of float32, expected a finite float32 [BadTileCall]");
  EXPECT_EQ(with(f64, f64, f64, 1, 1e39), "");
  EXPECT_EQ(with(f64, f64, f64, NAN),
            "alpha is nan, and D is of float64, expected a finite float64 [BadTileCall]");
}

// --- launch --------------------------------------------------------------------------------------

TEST(VerifyLaunch, IdsThatContradictEachOther) {
  Builder b;
  b.id(ScopeIdKind::WarpId, "", 4);
  b.id(ScopeIdKind::LaneId, "", 32);
  b.id(ScopeIdKind::ThreadId, "", 64);
  const std::vector<Diag> found = verify(b.done());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, DiagKind::BadScopeIds);
}

/// A warp copy under a condition over the thread's id, in a CTA of 64 threads.
std::string of_condition(ExprOp op, std::int64_t bound, Unit unit, bool check = true) {
  Builder b;
  b.f.has_device_entry = true;
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 64);
  const BufferId a = b.alloc("A", {8}, DType::Float32, Scope::Local);
  b.when(b.op(op, b.var(tid), b.n(bound)));
  b.tile(TileOp::Zero, unit, {b.full(a)});
  b.end();
  return findings(b, {.target = {}, .check_uniform = check});
}

TEST(VerifyLaunch, WholeUnits) {
  EXPECT_EQ(of_condition(ExprOp::Lt, 32, Unit::Warp), "");
  EXPECT_EQ(of_condition(ExprOp::Lt, 64, Unit::Cta), "");
  EXPECT_EQ(of_condition(ExprOp::Lt, 5, Unit::Thread), "");
}

TEST(VerifyLaunch, PartsOfUnits) {
  const std::string half = of_condition(ExprOp::Lt, 16, Unit::Warp);
  EXPECT_TRUE(half.starts_with("`zero` at warp scope is reached by ")) << half;
  EXPECT_TRUE(half.ends_with(", expected whole warps [Divergent]")) << half;
  EXPECT_NE(of_condition(ExprOp::Lt, 32, Unit::Cta), "");
  EXPECT_EQ(of_condition(ExprOp::Lt, 16, Unit::Warp, false), "");
}

// A copy of the CTA in a loop, and the notes of what is found: their texts, one below the other.
std::string notes_of_loop(Builder& b, BufferId a, ExprId trips) {
  b.loop("i", 1);
  b.tile(TileOp::Zero, Unit::Cta, {b.full(a)});
  b.f.at(b.end()).args = {b.n(0), trips};
  std::string out;
  for (const Diag& found : verify(b.done()))
    for (const Note& note : found.notes) out += note.text + "\n";
  return out;
}

struct Lengths : Builder {
  VarId cta = id(ScopeIdKind::CtaId, "cta", 4);
  VarId tid = id(ScopeIdKind::ThreadId, "tid", 64);
  BufferId lens = matched("lens", {64}, DType::Int32);
  BufferId a = alloc("A", {8}, DType::Float32, Scope::Local);
  static constexpr std::string_view kOutside =
      "put it outside the loop, or let whole ctas go round equally often\n";
};

TEST(VerifyLaunch, LoopsToALengthFromMemory) {
  Lengths b;
  EXPECT_EQ(notes_of_loop(b, b.a, b.at(b.lens, {b.var(b.cta)})), "");
}

TEST(VerifyLaunch, NamesTheIdThatAValueComesFrom) {
  Lengths b;
  EXPECT_EQ(notes_of_loop(b, b.a, b.at(b.lens, {b.var(b.tid)})),
            fmt::format("`lens[tid]` may differ between threads of a cta\n"
                        "`tid` numbers threads\n{}",
                        b.kOutside));
}

TEST(VerifyLaunch, NamesTheMemoryThatMayChange) {
  Lengths b;
  b.store(b.lens, {b.n(0)}, b.n(1));
  EXPECT_EQ(notes_of_loop(b, b.a, b.at(b.lens, {b.var(b.cta)})),
            fmt::format("`lens[cta]` may differ between threads of a cta\n"
                        "`lens[cta]` reads memory that this kernel writes or takes addresses of, "
                        "so it may change between two threads' reads; let one thread read it, and "
                        "pass it on through shared memory, between barriers\n"
                        "`T.uniform(lens[cta])` promises that it is the same; runs check it\n{}",
                        b.kOutside));
}

TEST(VerifyLaunch, NamesTheWriteWithoutABarrier) {
  Lengths b;
  const BufferId slot = b.alloc("slot", {1}, DType::Int32, Scope::Shared);
  b.store(slot, {b.n(0)}, b.n(1));
  EXPECT_EQ(notes_of_loop(b, b.a, b.at(slot, {b.n(0)})),
            fmt::format("`slot[0]` may differ between threads of a cta\n"
                        "`slot` is written here, and no barrier that whole ctas reach keeps that "
                        "apart from the read of `slot[0]`; put one before the read, and one after "
                        "it\n`T.uniform(slot[0])` promises that it is the same; runs check it\n{}",
                        b.kOutside));
}

TEST(VerifyLaunch, NamesTheAssignmentByPartOfAUnit) {
  Lengths b;
  const BufferId x = b.scalar("x", DType::Int32, b.n(0));
  b.when(b.op(ExprOp::Lt, b.var(b.tid), b.n(5)));
  b.store(x, {b.n(0)}, b.n(1));
  b.end();
  EXPECT_EQ(notes_of_loop(b, b.a, b.at(x, {b.n(0)})),
            fmt::format("`x` may differ between threads of a cta\n"
                        "`x` is assigned here by threads 0-4 of 64, expected whole ctas\n{}",
                        b.kOutside));
}

// --- printf --------------------------------------------------------------------------------------

// Every letter with every type, as in C; an address may be printed from an integer.
TEST(VerifyPrintf, LettersAndTypes) {
  Builder b;
  const BufferId memory = b.matched("M", {8}, DType::Int32);
  const BufferId reals = b.matched("R", {8}, DType::Float32);
  const std::string_view integers = "diouxcp", floats = "fFeEgGaA";
  const std::pair<ExprId, std::string_view> rows[] = {
      {b.n(1), integers},
      {int_imm(b.f, DType::Uint8, 1), integers},
      {int_imm(b.f, DType::Int64, 1), integers},
      {b.op(ExprOp::Lt, b.n(1), b.n(2)), integers},
      {b.real(DType::Float16, 1), floats},
      {b.real(DType::Float32, 1), floats},
      {b.real(DType::Float64, 1), floats},
      {b.address(memory, {b.n(0)}), "p"},
      {text_imm(b.f, "a text"), "s"},
      {b.at(memory, {b.n(0)}, 2), ""},
      {b.at(reals, {b.n(0)}, 2), ""},
  };
  for (const auto& [value, wanted] : rows) {
    std::string taken;
    for (const char letter : std::string_view("diouxcpfFeEgGaAs")) {
      const ExprId args[] = {text_imm(b.f, fmt::format("%{}", letter)), value};
      if (call(b.f, Intrinsic::Printf, args)) taken += letter;
    }
    EXPECT_EQ(taken, wanted) << to_text(b.f[value].type);
  }
}

// --- ptx -----------------------------------------------------------------------------------------

class VerifyPtx : public ::testing::Test {
 protected:
  Builder b;
  BufferId r = b.alloc("r", {8}, DType::Uint32, Scope::Local);
  BufferId x = b.alloc("x", {8}, DType::Float32, Scope::Local);
  BufferId s = b.alloc("s", {64}, DType::Float16, Scope::Shared);
  BufferId g = b.matched("g", {64}, DType::Float32);

  PtxOperand reg(int i) { return reg_at(b.address(r, {b.n(i)})); }
  PtxOperand word(int i) { return value(b.at(r, {b.n(i)})); }
  PtxOperand real(int i) { return value(b.at(x, {b.n(i)})); }
  PtxOperand shared() { return mem(b.address(s, {b.n(0)})); }
  PtxOperand global() { return mem(b.address(g, {b.n(0)})); }
  std::string of(std::string opcode, std::vector<PtxOperand> operands,
                 const VerifyOptions& options = {}) {
    b.ptx(std::move(opcode), std::move(operands));
    return findings(b, options);
  }
};

// PTX ISA, operand type checking: bits pass for bits, signed for unsigned, a float only for the same
// float. There are no registers of bfloat16: bits hold them. Ours of integers pass for packed floats.
TEST_F(VerifyPtx, RegistersOfEveryType) {
  struct Row {
    DType dtype;
    int lanes;
    std::string_view takes;
  };
  const Row rows[] = {
      {DType::Int8, 1, ""},
      {DType::Int16, 1, "and.b16 add.s16 add.u16 add.rn.bf16"},
      {DType::Uint16, 1, "and.b16 add.s16 add.u16 add.f16 add.rn.bf16"},  // a half of nvcc's code
      {DType::Float16, 1, "and.b16 add.f16 add.rn.bf16"},
      {DType::Bfloat16, 1, "and.b16 add.s16 add.u16 add.f16 add.rn.bf16"},
      {DType::Int32, 1, "and.b32 add.s32 add.u32 add.f16x2 add.rn.bf16x2"},
      {DType::Uint32, 1, "and.b32 add.s32 add.u32 add.f16x2 add.rn.bf16x2"},
      {DType::Float32, 1, "and.b32 add.rn.bf16x2 add.f32"},
      {DType::Float16, 2, "and.b32 add.f16x2 add.rn.bf16x2"},
      {DType::Int64, 1, "and.b64 add.s64 add.u64"},
      {DType::Uint64, 1, "and.b64 add.s64 add.u64"},
      {DType::Float64, 1, "and.b64 add.f64"},
  };
  for (const Row& row : rows) {
    const BufferId all = b.alloc("a", {4}, row.dtype, Scope::Local);
    const PtxOperand each = value(b.at(all, {b.n(0)}, row.lanes));
    std::string taken;
    for (const std::string_view opcode :
         {"and.b16", "and.b32", "and.b64", "add.s16", "add.u16", "add.s32", "add.u32", "add.s64",
          "add.u64", "add.f16", "add.rn.bf16", "add.f16x2", "add.rn.bf16x2", "add.f32",
          "add.f64"}) {
      Builder alone = b;
      alone.ptx(std::string(opcode), {each, each, each});
      if (findings(alone).empty()) taken += fmt::format("{}{}", taken.empty() ? "" : " ", opcode);
    }
    EXPECT_EQ(taken, row.takes) << num::name_of(row.dtype) << " x " << row.lanes;
  }
}

TEST_F(VerifyPtx, Good) {
  EXPECT_EQ(of("ldmatrix.sync.aligned.m8n8.x2.shared.b16", {reg(0), reg(1), shared()}), "");
  EXPECT_EQ(of("ldmatrix.sync.aligned.m8n8.x2.shared.b16", {word(0), word(1), shared()}), "");
  EXPECT_EQ(of("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16", {shared(), reg(0)}), "");
  EXPECT_EQ(of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
               {real(0), real(1), real(2), real(3), word(0), word(1), word(2), word(3), word(4),
                word(5), real(0), real(1), real(2), real(3)}),
            "");
  EXPECT_EQ(of("ld.global.v4.f32", {real(0), real(1), real(2), real(3), global()}), "");
  EXPECT_EQ(of("st.shared.b32", {shared(), word(0)}), "");
  EXPECT_EQ(of("st.shared.b32", {shared(), value(b.u32(7))}), "");
  EXPECT_EQ(of("add.f32", {real(0), real(1), value(b.real(DType::Float32, 1))}), "");
  EXPECT_EQ(of("cp.async.cg.shared.global", {shared(), global(), value(b.n(16))}), "");
  EXPECT_EQ(of("cp.async.commit_group", {}), "");
  EXPECT_EQ(of("cp.async.wait_group", {value(b.n(0))}), "");
}

TEST_F(VerifyPtx, UnknownInstruction) {
  const std::string found = of("ldmatrux.sync", {});
  EXPECT_TRUE(found.ends_with("[UnknownName]")) << found;
}
TEST_F(VerifyPtx, ModifiersThatDoNotGoTogether) {
  const std::string found = of("ldmatrix.sync.aligned.m8n8.x3.shared.b16", {reg(0), shared()});
  EXPECT_TRUE(found.ends_with("[IllegalForm]")) << found;
}
TEST_F(VerifyPtx, NumberOfOperands) {
  EXPECT_EQ(of("ldmatrix.sync.aligned.m8n8.x2.shared.b16", {reg(0), shared()}),
            "`ldmatrix.sync.aligned.m8n8.x2.shared.b16` with 2 operands; its form is "
            "`ldmatrix.sync.aligned.m8n8.x1|.x2|.x4{.trans}{.shared|.shared::cta}.b16 {d…}, [p]` "
            "[BadOperand]");
}
TEST_F(VerifyPtx, OperandOfAnotherType) {
  EXPECT_EQ(of("add.f32", {real(0), real(1), word(0)}),
            "`r` is declared `.u32`; operand `b` of `add.f32` takes `.b32` or `.f32` [BadOperand]");
}
TEST_F(VerifyPtx, OperandOfAnotherWidth) {
  const std::string found = of("st.shared.b32", {shared(), value(b.at(s, {b.n(0)}))});
  EXPECT_TRUE(found.ends_with("[BadOperand]")) << found;
}
TEST_F(VerifyPtx, ValueForAnAddress) {
  EXPECT_EQ(of("ld.shared.b32", {word(0), word(1)}),
            "operand `a` is a register, an address in brackets is wanted [BadOperand]");
}
TEST_F(VerifyPtx, ColumnsOfAnAllocation) {
  EXPECT_EQ(of("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
               {mem(b.address(s, {b.n(0)})), value(b.u32(48))}),
            "operand `columns` is 48, allowed: 32, 64, 128, 256, 512 [BadOperand]");
}
TEST_F(VerifyPtx, NotOnTheTarget) {
  EXPECT_EQ(of("stmatrix.sync.aligned.m8n8.x1.shared.b16", {shared(), reg(0)},
               {.target = target::Target{.arch = target::Arch::Sm80}}),
            "`stmatrix` needs sm_90 or later; the target is sm_80 [NotOnTarget]");
}
TEST_F(VerifyPtx, DestinationThatCannotBeAssigned) {
  const VarId y = b.bind("y", b.u32(1));
  EXPECT_EQ(of("ld.shared.b32", {value(b.var(y)), shared()}),
            "`ld.shared.b32` writes to `y`, which cannot be assigned [ReadOnly]");
}
TEST_F(VerifyPtx, DestinationThatIsAnExpression) {
  EXPECT_EQ(
      of("ld.shared.b32", {value(b.add(b.at(r, {b.n(0)}), b.u32(1))), shared()}),
      "`ld.shared.b32` writes to an expression, expected an element of a buffer [BadOperand]");
}
TEST_F(VerifyPtx, RegisterInSharedMemory) {
  EXPECT_EQ(
      of("ldmatrix.sync.aligned.m8n8.x1.shared.b16", {reg_at(b.address(s, {b.n(0)})), shared()}),
      "a register of `ldmatrix.sync.aligned.m8n8.x1.shared.b16` is given by the address of "
      "`s` in shared, expected a pointer to local memory [BadOperand]");
}
TEST_F(VerifyPtx, AddressInAnotherSpace) {
  EXPECT_EQ(of("ld.shared.f32", {real(0), global()}),
            "`ld.shared.f32` addresses the shared space, `g` is in global [BadOperand]");
}
TEST_F(VerifyPtx, GuardThatIsNoCondition) {
  const PtxCallId id = b.ptx("st.shared.b32", {shared(), word(0)});
  b.f.ptx_calls[id.index].predicate = b.real(DType::Float32, 1);
  EXPECT_EQ(findings(b),
            "the guard of `st.shared.b32` has type `float32`, expected `bool` [BadOperand]");
}

}  // namespace
}  // namespace ww::ir::verify_calls_test
