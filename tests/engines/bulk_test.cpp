// SPDX-License-Identifier: Apache-2.0
// copy_async by the copy engine without a tensor map: contiguous runs of every width, in one and in
// several instructions, both directions, copies by chance, what is declined, and faults that must show.
#include <gmock/gmock.h>

#include "engines/box_programs.h"
#include "engines/chance.h"
#include "ir/build.h"
#include "lower/code_observer.h"
#include "lower/lower.h"
#include "script/compile.h"

namespace ww::test::bulk_test {
namespace {

using lower::Proof;

Expected by_runs(std::int64_t count) { return {.variant = "bulk", .rounds = count}; }

// --- what is accepted ----------------------------------------------------------------------------

TEST(Bulk, EveryWidthBothWays) {
  Family family("bulk, widths", Nvcc::Always);
  for (const std::string dtype :
       {"uint8", "float8_e4m3fn", "float16", "bfloat16", "float32", "int32", "float64", "uint64"})
    for (const bool is_load : {true, false}) {
      const std::int64_t unit = 128 / bits_of(dtype);  // elements of 16 bytes
      const BoxCase c{.dtype = dtype,
                      .array = {40 * unit},
                      .shared = {24 * unit},
                      .from = fmt::format("[{}:{}]", 3 * unit, 27 * unit),
                      .is_load = is_load,
                      .variant = "bulk",
                      .align = 16};
      const Checked checked = family.run(program_of(c), by_runs(1));
      EXPECT_EQ(count_of(checked.ptx, "cp.async.bulk."), is_load ? 1U : 3U) << checked.ptx;
      family.count();
    }
}

TEST(Bulk, Rows) {
  Family family("bulk, rows", Nvcc::Always);
  const auto run = [&](BoxCase c, std::int64_t runs) {
    c.variant = "bulk";
    for (const bool is_load : {true, false}) {
      c.is_load = is_load;
      family.run(program_of(c), by_runs(runs));
      family.count();
    }
  };
  // Rows that are parts of the array's; a loop where they are many.
  run({.array = {16, 128}, .shared = {8, 64}, .from = "[4:12, 64:128]"}, 8);
  run({.array = {96, 24}, .shared = {80, 16}, .from = "[16:96, 8:24]"}, 80);
  // Whole rows of 200 bytes, 5 of them: 1,000 bytes are no units, 16 rows are.
  run({.array = {48, 100}, .shared = {16, 100}, .from = "[16:32, 0:100]"}, 1);
  // Gaps in shared memory; planes; rows in another order.
  run({.dtype = "float32",
       .array = {16, 32},
       .shared = {8, 32},
       .tile = tile("S[(8, 32) : (36, 1)]"),
       .from = "[4:12, 0:32]"},
      8);
  run({.dtype = "float32", .array = {4, 6, 8}, .shared = {2, 3, 8}, .from = "[1:3, 2:5, 0:8]"}, 2);
  run({.array = {8, 16, 32}, .shared = {8, 16, 32}, .tile = tile("S[(8, 16, 32) : (32, 256, 1)]")},
      128);
  // Columns that follow each other on both sides are rows to the engine.
  run({.dtype = "float32",
       .array = {8, 64},
       .shared = {1, 64},
       .tile = tile("S[(1, 64) : (64, 1)]"),
       .from = "[3:4, 0:64]"},
      1);
}

TEST(Bulk, StagesAndStartsOfRunTime) {
  Family family("bulk, run time", Nvcc::Always);
  BoxCase c{.array = {8, 512},
            .shared = {3, 256},
            .from = "[by * 2, bx * 256:bx * 256 + 256]",
            .to = "[bx + 1, 0:256]",
            .elements = 256,
            .variant = "bulk",
            .align = 16,
            .grid = {2, 4}};
  for (const bool is_load : {true, false}) {
    c.is_load = is_load;
    family.run(program_of(c), by_runs(1));
  }
  // The number of rows is known at launch only, and their length.
  c.is_ragged = true;
  c.from = "[0:3, 0:256]";
  c.to = "[0:3, 0:256]";
  EXPECT_EQ(verdict_on(compile_only(program_of(c)), 0, "bulk"),
            "[alignment] rows of `A` are `T.Cast(\"int64\", n1)` elements apart, not known to be a "
            "multiple of 16 bytes");
  c = {.dtype = "float32",
       .array = {8192},
       .shared = {512},
       .from = "[bx * 512:bx * 512 + 512]",
       .variant = "bulk",
       .grid = {16},
       .is_ragged = true};
  for (const bool is_load : {true, false}) {
    c.is_load = is_load;
    family.run(program_of(c), by_runs(1));
  }
  family.count(4);
}

// What no tensor map describes comes here by itself.
TEST(Bulk, IsChosenBehindMaps) {
  Family family("bulk, without maps");
  BoxCase c{.array = {16, 128}, .shared = {8, 128}, .from = "[4:12, 0:128]", .align = 16};
  const Checked checked = family.run(program_of(c), by_runs(1));
  EXPECT_EQ(verdict_on(checked, 0, "tma"),
            "[alignment] `tile` is aligned to 64 bytes, expected 128");
  c.align = 128;
  family.run(program_of(c), by_boxes(1));
  family.count(2);
}

// --- copies by chance ----------------------------------------------------------------------------

// A tile of up to three dimensions with or without gaps between rows, in a region of an array.
BoxCase runs_by_chance(std::uint64_t seed) {
  Chance by(seed);
  BoxCase c{.variant = "bulk"};
  c.dtype = by.one_of<std::string>({"uint8", "float16", "float32", "float64"});
  const std::int64_t unit = 128 / bits_of(c.dtype);
  const std::size_t rank = 1 + static_cast<std::size_t>(by.upto(2));
  Extents strides(rank);
  for (std::size_t d = 0; d + 1 < rank; ++d) c.shared.push_back(1 + by.upto(9));
  c.shared.push_back(by.upto(7) == 0 ? 1 + by.upto(3 * unit) : unit * (1 + by.upto(9)));
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d + 1 < rank; ++d) order.push_back(d);
  std::shuffle(order.begin(), order.end(), by.random);
  strides[rank - 1] = 1;
  std::int64_t next = c.shared.back();
  for (const std::size_t d : order) {
    if (by.upto(3) == 0) next += unit * by.upto(2);
    strides[d] = next;
    next *= c.shared[d];
  }
  c.tile = tile(fmt::format("S[{} : {}]", tuple(c.shared), tuple(strides)));
  c.is_load = by.coin();
  c.align = by.one_of({16, 32, 128});
  c.grid = {1 + by.upto(2)};
  std::string from;
  const std::size_t moving = static_cast<std::size_t>(by.upto(static_cast<std::int64_t>(rank) - 1));
  for (std::size_t d = 0; d < rank; ++d) {
    const bool is_row = d + 1 == rank;
    const std::int64_t start = is_row ? unit * by.upto(2) : by.upto(3);
    const std::int64_t step = d == moving ? c.shared[d] : 0;
    const std::int64_t end = start + step * (c.grid[0] - 1) + c.shared[d];
    // Rows that the region covers whole make longer runs.
    const std::int64_t rest = by.coin() ? 0 : is_row ? unit * by.upto(2) : by.upto(3);
    c.array.push_back(end + rest);
    from += fmt::format("{0}bx * {1} + {2}:bx * {1} + {3}", d == 0 ? "" : ", ", step, start,
                        start + c.shared[d]);
  }
  c.from = "[" + from + "]";
  return c;
}

TEST(Bulk, ByChance) {
  run_by_chance("bulk, by chance", 60, [](std::uint64_t seed) {
    return ProgramByChance{.program = program_of(runs_by_chance(seed)), .variant = "bulk"};
  });
}

// --- what is declined ----------------------------------------------------------------------------

TEST(Bulk, Declines) {
  const BoxCase good{
      .array = {64, 128}, .shared = {32, 64}, .from = "[0:32, 0:64]", .variant = "bulk"};
  EXPECT_TRUE(compile_only(program_of(good)).right());
  const auto expect = [&](const std::string& verdict, const auto& change) {
    BoxCase c = good;
    change(c);
    const Checked checked = compile_only(program_of(c));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    const std::string said = verdict_on(checked, 0, "bulk");
    EXPECT_EQ(said.substr(0, verdict.size()), verdict) << said << "\n" << checked.why;
  };
  expect("[threads] 128 threads come here, of which each would start the copy",
         [](BoxCase& c) { c.around = "if tid >= 0:"; });
  expect(
      "[units] runs that are contiguous in both `A` and `tile` have 24 bytes, expected a multiple "
      "of 16",
      [](BoxCase& c) {
        c.shared = {32, 12};
        c.from = "[0:32, 0:12]";
      });
  expect(
      "[units] runs that are contiguous in both `A` and `tile` have 2 bytes, expected a multiple "
      "of "
      "16",
      [](BoxCase& c) { c.tile = tile("S[(32, 64) : (1, 32)]"); });
  expect("[alignment] a run begins at byte 8 of `A`, expected a multiple of 16",
         [](BoxCase& c) { c.from = "[0:32, 4:68]"; });
  expect("[alignment] `A` is used from element `bx * 4` on, not known to be a multiple of 16 bytes",
         [](BoxCase& c) {
           c.grid = {2};
           c.from = "[0:32, bx * 4:bx * 4 + 64]";
         });
  expect("[swizzle] the 256 runs begin in `A` where no formula says: bytes are copied as they lie",
         [](BoxCase& c) { c.tile = swizzled(3, 3, 3, "S[(32, 64) : (64, 1)]"); });
  expect(
      "[edge] the region may leave `A`, and runs are copied whole; only a tensor map (`tma`) has "
      "edges",
      [](BoxCase& c) { c.from = "[48:80, 0:64]", c.settings = "fill_value=0"; });
  expect("[predicate] the copy engine copies whole runs, under no condition",
         [](BoxCase& c) { c.settings = "predicate=tid < 4"; });
  expect("[mbarrier] `mbar=` of a copy from shared memory, which is waited for by bulk groups",
         [](BoxCase& c) {
           c.is_load = false;
           c.settings = "mbar=T.address_of(bar[0])";
         });
  expect("[config] `tensormap_l2_promotion=` is for copies through tensor maps",
         [](BoxCase& c) { c.settings = "tensormap_l2_promotion=\"128B\""; });
}

// --- faults that must show -----------------------------------------------------------------------

/// Changes an operand at a time behind the back of the variant, and notes what the proof says.
class Meddler final : public lower::CodeObserver {
 public:
  Proof observe(ir::Function& f, ir::Block& code, const std::function<Proof()>& prove) override {
    for (const ir::StmtId id : code)
      if (f[id].kind == ir::StmtKind::Ptx) meddle(f, f.at(f[id].ptx), prove);
    return prove();
  }
  std::vector<std::string> missed;
  int caught = 0;

 private:
  void note(const std::string& what, const Proof& proof) {
    if (proof.holds())
      missed.push_back(what);
    else
      ++caught;
  }

  void meddle(ir::Function& f, ir::PtxCall& call, const std::function<Proof()>& prove) {
    const auto with = [&](std::size_t i, ir::ExprId other, const std::string& what) {
      const ir::ExprId old = std::exchange(call.operands[i].expr, other);
      note(what, prove());
      call.operands[i].expr = old;
    };
    const std::int64_t bytes = *ir::const_int(f, call.operands[2].expr);
    for (const std::int64_t other : {bytes - 16, bytes + 16, bytes - 8, bytes / 2, bytes * 2})
      with(2, ir::int_imm(f, num::DType::Uint32, other), fmt::format("{} bytes", other));
    std::swap(call.operands[0].expr, call.operands[1].expr);
    note("source and destination exchanged", prove());
    std::swap(call.operands[0].expr, call.operands[1].expr);
    with(0, call.operands[1].expr, "onto the source");
    if (call.operands.size() < 4) return;
    ir::Expr beside = f[call.operands[3].expr];
    ASSERT_EQ(beside.op, ir::ExprOp::AddressOf);
    beside.args = {ir::int_imm(f, num::DType::Int32, 1)};
    with(3, f.add(std::move(beside)), "the mbarrier beside");
  }
};

TEST(Bulk, FaultsAreCaughtByTheProof) {
  for (const bool is_load : {true, false}) {
    const Program program = program_of({.array = {16, 128},
                                        .shared = {2, 64},
                                        .from = "[bx * 2 + 4:bx * 2 + 6, 64:128]",
                                        .is_load = is_load,
                                        .variant = "bulk",
                                        .grid = {3}});
    const target::Target target{.arch = target::parse_arch("sm_90a").value(), .ptx = 90};
    const script::Compiled compiled =
        script::compile(SourceText("test.py", program.source), {.target = target});
    ASSERT_TRUE(compiled.function) << program.source;
    Meddler meddler;
    const lower::Lowered lowered =
        lower::lower(*compiled.function, {.target = target, .observer = &meddler});
    EXPECT_TRUE(lowered.errors.empty());
    EXPECT_EQ(meddler.caught, is_load ? 16 : 14);
    for (const std::string& missed : meddler.missed) ADD_FAILURE() << missed;
  }
}

TEST(Bulk, FaultsShow) {
  const BoxCase good{
      .array = {64, 128}, .shared = {32, 64}, .from = "[0:32, 0:64]", .variant = "bulk"};
  const auto expect = [&](const std::string& what, const std::string& with,
                          const std::string& evaluator, const std::string& device) {
    Program program = program_of(good);
    const std::size_t at = program.source.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    program.source.replace(at, what.size(), with);
    const Findings found = findings_of(program);
    EXPECT_TRUE(found.tile && found.tile->contains(evaluator)) << found.tile.value_or("nothing");
    EXPECT_TRUE(found.lowered && found.lowered->contains(evaluator))
        << found.lowered.value_or("nothing");
    EXPECT_TRUE(found.device && found.device->contains(device)) << found.device.value_or("nothing");
  };
  expect(", 4096)", ", 8192 + bx)", "4096 bytes are missing", "4096");
  expect("T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)",
         "if T.cast(tile_in[0, 0, 0], \"int32\") == 123456789:\n            "
         "T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)",
         "1 arrival is missing", "4096 bytes more than it expects");
  expect("    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n", "    T.cuda.cta_sync()\n",
         "while a copy into it is under way", "that an asynchronous write is still on its way to");
}

}  // namespace
}  // namespace ww::test::bulk_test
