// SPDX-License-Identifier: Apache-2.0
// Copies between the CTAs of a cluster: the shapes that TIRx tests, every way and width, swizzles, copies
// by chance, what is declined, faults that must show; and mbarriers of other CTAs.
#include <gmock/gmock.h>

#include "engines/chance.h"
#include "engines/dsmem_programs.h"
#include "ir/build.h"
#include "lower/code_observer.h"
#include "lower/lower.h"
#include "script/compile.h"

namespace ww::test::dsmem_test {
namespace {

using lower::Proof;
using ::testing::HasSubstr;

constexpr Way kWays[] = {Way::Engine, Way::Async, Way::Store, Way::Push, Way::Pull, Way::Global};
bool is_register(Way way) { return way == Way::Async || way == Way::Push || way == Way::Pull; }

// Threads hold `each` elements side by side.
std::string by_threads(std::int64_t threads, std::int64_t each) {
  return tile(fmt::format("S[({}, {}) : (1 @ tx, 1)]", threads, each));
}

// --- what TIRx covers ----------------------------------------------------------------------------

TEST(Dsmem, CoverageOfTirx) {
  Family family("dsmem, the grid of TIRx", Nvcc::Always);
  const auto run = [&](DsmemCase c, std::int64_t runs) {
    const Checked checked = family.run(program_of(c), {.variant = "dsmem", .rounds = runs});
    EXPECT_EQ(count_of(checked.ptx, "cp.async.bulk.shared::cluster.shared::cta"),
              static_cast<std::size_t>(runs))
        << checked.ptx;
    family.count();
  };
  run({.near = {128, 64}, .far = {128, 64}}, 1);
  run({.near = {256}, .far = {256}}, 1);
  run({.near = {8, 256},
       .far = {8, 256},
       .near_region = "[0:8, 0:128]",
       .far_region = "[0:8, 0:128]",
       .elements = 1024},
      8);
  run({.near = {8, 256},
       .far = {8, 192},
       .near_region = "[0:8, 128:256]",
       .far_region = "[0:8, 64:192]",
       .elements = 1024},
      8);
  // Row-major to column-major; no barrier; no other CTA.
  const auto declined = [](const DsmemCase& c, const std::string& verdict) {
    const Checked checked = compile_only(program_of(c));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_THAT(verdict_on(checked, 0, "dsmem"), HasSubstr(verdict));
  };
  declined({.near = {4, 64}, .far = {4, 64}, .far_layout = tile("S[(4, 64) : (1, 4)]")},
           "[units] runs that are contiguous in both `near` and `far` have 2 bytes, expected a "
           "multiple of 16");
  const auto without = [&](const std::string& what) {
    Program program = program_of(DsmemCase{.near = {256}, .far = {256}});
    program.source.erase(program.source.find(what), what.size());
    return verdict_on(compile_only(program), 0, "dsmem");
  };
  EXPECT_EQ(without(", mbar=T.address_of(bar[0])"),
            "[mbarrier] no `mbar=`: the copy engine tells an mbarrier of the other CTA that it is "
            "done");
  EXPECT_EQ(without(", remote_cta_id=(rank + 1) % ctas"),
            "[remote] no `remote_cta_id=`: both sides are in one CTA");
}

// --- what is accepted ----------------------------------------------------------------------------

DsmemCase plain(Way way, const std::string& dtype, std::int64_t each) {
  DsmemCase c{.way = way, .dtype = dtype, .near = {128 * each}, .far = {128 * each}};
  if (is_register(way)) c.near_layout = by_threads(128, each);
  return c;
}

TEST(Dsmem, EveryWayAndWidth) {
  Family family("dsmem, ways and widths", Nvcc::Always);
  for (const Way way : kWays)
    for (const std::string dtype : {"uint8", "float16", "float32", "float64"})
      for (const std::int64_t bytes : {2, 4, 8, 16}) {
        const std::int64_t each = bytes * 8 / bits_of(dtype);
        if (each == 0 || (way == Way::Async && bytes < 4)) continue;
        family.run(program_of(plain(way, dtype, each)), {.variant = variant_of(way)},
                   is_register(way) ? 1 : 0);
        family.count();
      }
}

TEST(Dsmem, Clusters) {
  Family family("dsmem, clusters");
  for (const std::int64_t ctas : {1, 2, 3, 4, 8})
    for (const Way way : kWays) {
      DsmemCase c = plain(way, "float32", 4);
      c.ctas = ctas;
      c.cta = ctas == 3 ? "(rank + 2) % ctas" : "rank ^ (ctas - 1)";
      family.run(program_of(c), {.variant = variant_of(way)}, is_register(way) ? 1 : 0);
      family.count();
    }
}

// Bytes go as they lie: the same swizzle on both sides is none to the engine, but to threads it is.
TEST(Dsmem, Swizzles) {
  Family family("dsmem, swizzles", Nvcc::Always);
  const std::string rows = "S[(32, 64) : (64, 1)]";
  DsmemCase c{.near = {32, 64},
              .far = {32, 64},
              .near_layout = swizzled(3, 3, 3, rows),
              .far_layout = swizzled(3, 3, 3, rows),
              .align = 1024};
  family.run(program_of(c), {.variant = "dsmem", .rounds = 1});
  c.way = Way::Store;
  family.run(program_of(c), {.variant = "dsmem"});
  c.far_layout = swizzled(3, 2, 3, rows);
  family.run(program_of(c), {.variant = "dsmem"});
  c.way = Way::Engine;
  EXPECT_THAT(verdict_on(compile_only(program_of(c)), 0, "dsmem"),
              HasSubstr("[swizzle] the 64 runs begin in `far` where no formula says"));
  family.count(3);
}

// --- copies by chance ----------------------------------------------------------------------------

DsmemCase dsmem_by_chance(std::uint64_t seed) {
  Chance by(seed);
  DsmemCase c{.way = kWays[static_cast<std::size_t>(by.upto(5))]};
  c.dtype = by.one_of<std::string>({"uint8", "float16", "float32", "float64"});
  c.ctas = by.one_of<std::int64_t>({1, 2, 2, 3, 4});
  c.threads = by.one_of<std::int64_t>({32, 64, 128});
  c.cta = by.one_of<std::string>(
      {"(rank + 1) % ctas", "(rank + ctas - 1) % ctas", "ctas - 1 - rank", "rank"});
  const int bits = bits_of(c.dtype);
  const std::int64_t unit = 128 / bits;
  Extents tile_of;  // what is copied
  if (is_register(c.way)) {
    const std::int64_t each = by.one_of<std::int64_t>({1, 2, 4, 8}) * std::max(1, 32 / bits);
    const std::int64_t rows = 1 + by.upto(2);
    tile_of = {rows, c.threads * each};
    c.near_layout =
        tile(fmt::format("S[({}, {}, {}) : ({}, 1 @ tx, 1)]", rows, c.threads, each, each));
    c.near = tile_of;
  } else {
    tile_of = {1 + by.upto(6), by.upto(7) == 0 ? 1 + by.upto(2 * unit) : unit * (1 + by.upto(7))};
    c.near = {tile_of[0] + by.upto(2), tile_of[1] + unit * by.upto(1)};
    c.near_region = box({by.upto(c.near[0] - tile_of[0]), 0}, tile_of);
    if (by.upto(3) == 0 && c.way != Way::Global)
      c.near_layout = tile(fmt::format("S[{} : ({}, 1)]", tuple(c.near), c.near[1] + unit));
  }
  c.far = {tile_of[0] + by.upto(2), tile_of[1] + unit * by.upto(2)};
  c.far_region =
      box({by.upto(c.far[0] - tile_of[0]), (c.far[1] - tile_of[1]) / unit * unit}, tile_of);
  if (by.upto(3) == 0)
    c.far_layout = tile(fmt::format("S[{} : ({}, 1)]", tuple(c.far), c.far[1] + unit));
  c.elements = product(tile_of);
  return c;
}

TEST(Dsmem, ByChance) {
  run_by_chance("dsmem, by chance", 60, [](std::uint64_t seed) {
    const DsmemCase c = dsmem_by_chance(seed);
    return ProgramByChance{.program = program_of(c),
                           .call = is_register(c.way) ? 1U : 0U,
                           .variant = std::string(variant_of(c.way))};
  });
}

// --- what is declined ----------------------------------------------------------------------------

TEST(Dsmem, Declines) {
  const auto expect = [&](const std::string& verdict, DsmemCase c) {
    const Checked checked = compile_only(program_of(c));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    const std::string said = verdict_on(checked, is_register(c.way) ? 1 : 0, variant_of(c.way));
    EXPECT_EQ(said.substr(0, verdict.size()), verdict) << said << "\n" << checked.why;
  };
  const auto with = [](DsmemCase c, const auto& change) {
    change(c);
    return c;
  };
  expect("[threads] 128 threads come here, of which each would start the copy",
         with(plain(Way::Engine, "float32", 4), [](auto& c) { c.around = "if tid >= 0:"; }));
  for (const Way way : {Way::Engine, Way::Async, Way::Push})
    expect("[remote] `remote_cta_id=` is 2, and the cluster has 2 CTAs",
           with(plain(way, "float32", 4), [](auto& c) { c.cta = "2"; }));
  expect("[vector] accesses of 2 bytes, expected 4 to 16", plain(Way::Async, "float16", 1));
  expect("[predicate]",
         with(plain(Way::Store, "float32", 4), [](auto& c) { c.settings = "predicate=rank < 1"; }));
  Program alone = program_of(plain(Way::Store, "float32", 4));
  const std::string ids = "    number = T.cluster_id([2])\n    rank = T.cta_id_in_cluster([2])\n";
  alone.source.replace(alone.source.find(ids), ids.size(),
                       "    number = T.cta_id([2])\n    rank: T.let = 0\n");
  EXPECT_EQ(verdict_on(compile_only(alone), 0, "dsmem"),
            "[remote] the launch has no clusters, expected `T.cta_id_in_cluster([n])`");
}

// What is wrong whatever the variants say.
TEST(Dsmem, BadSettings) {
  const auto why = [](DsmemCase c, const std::string& cta) {
    c.cta = cta;
    return compile_only(program_of(c)).why;
  };
  EXPECT_THAT(why(plain(Way::Store, "float32", 4), "1.5"),
              HasSubstr("`remote_cta_id` of `copy` is `1.5`, expected the number of a CTA in its "
                        "cluster [BadTileCall]"));
  Program program = program_of(plain(Way::Engine, "float32", 4));
  const std::string at = "near[0:512], remote_cta_id";
  program.source.replace(program.source.find(at), at.size(), "near_in[cta, 0:512], remote_cta_id");
  EXPECT_THAT(
      compile_only(program).why,
      HasSubstr("`remote_cta_id` of `copy_async` is for shared to shared or local to shared "
                "memory, this is global to shared [BadTileCall]"));
}

// --- faults that must show -----------------------------------------------------------------------

/// Changes an operand at a time behind the back of the variant, and notes what the proof says.
class Meddler final : public lower::CodeObserver {
 public:
  Proof observe(ir::Function& f, ir::Block& code, const std::function<Proof()>& prove) override {
    visit(f, code, prove);
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

  void visit(ir::Function& f, ir::Block& code, const std::function<Proof()>& prove) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const ir::StmtId id = code[i];
      visit(f, f.at(id).body, prove);
      if (f[id].kind != ir::StmtKind::Ptx) continue;
      meddle(f, f.at(f[id].ptx), prove);
      // Left out: the address of another round, or of nothing.
      code.erase(code.begin() + static_cast<std::ptrdiff_t>(i));
      note(f[f[id].ptx].opcode.text() + " left out", prove());
      code.insert(code.begin() + static_cast<std::ptrdiff_t>(i), id);
    }
  }

  void meddle(ir::Function& f, ir::PtxCall& call, const std::function<Proof()>& prove) {
    const auto with = [&](std::size_t i, ir::ExprId other, const std::string& what) {
      const ir::ExprId old = std::exchange(call.operands[i].expr, other);
      note(call.opcode.text() + ": " + what, prove());
      call.operands[i].expr = old;
    };
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called == "mapa") return with(2, ir::int_imm(f, num::DType::Uint32, 7), "another CTA");
    if (called == "cp.async.bulk") {
      const std::int64_t bytes = *ir::const_int(f, call.operands[2].expr);
      for (const std::int64_t other : {bytes - 16, bytes + 16, bytes / 2 + 8})
        with(2, ir::int_imm(f, num::DType::Uint32, other), fmt::format("{} bytes", other));
      with(0, call.operands[3].expr, "onto the mbarrier");
      with(3, call.operands[0].expr, "the tile hears of the bytes");
      with(0, call.operands[1].expr, "onto the source");
      return;
    }
    if (called == "st.async") with(call.operands.size() - 1, call.operands[0].expr, "no mbarrier");
    const bool is_load = called == "ld";
    const std::size_t first = is_load ? 0 : 1;
    const std::size_t values = call.operands.size() - (called == "st.async" ? 2 : 1);
    if (values > 1) with(first, call.operands[first + 1].expr, "a value twice");
  }
};

TEST(Dsmem, FaultsAreCaughtByTheProof) {
  for (const Way way : kWays) {
    DsmemCase c = plain(way, "float32", 4);
    if (way == Way::Engine)
      c = {.near = {2, 64}, .far = {2, 128}, .far_region = "[0:2, 64:128]", .elements = 128};
    const Program program = program_of(c);
    const target::Target target{.arch = target::parse_arch("sm_90a").value(), .ptx = 90};
    const script::Compiled compiled =
        script::compile(SourceText("test.py", program.source), {.target = target});
    ASSERT_TRUE(compiled.function) << program.source;
    Meddler meddler;
    const lower::Lowered lowered =
        lower::lower(*compiled.function, {.target = target, .observer = &meddler});
    EXPECT_TRUE(lowered.errors.empty());
    EXPECT_GE(meddler.caught, 4) << program.source;
    for (const std::string& missed : meddler.missed) ADD_FAILURE() << missed << program.source;
  }
}

TEST(Dsmem, FaultsShow) {
  const auto expect = [&](const DsmemCase& c, const std::string& what, const std::string& with,
                          const std::string& evaluator, const std::string& device) {
    Program program = program_of(c);
    const std::size_t at = program.source.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    program.source.replace(at, what.size(), with);
    const Findings found = findings_of(program);
    EXPECT_TRUE(found.tile && found.tile->contains(evaluator)) << found.tile.value_or("nothing");
    EXPECT_TRUE(found.lowered && found.lowered->contains(evaluator))
        << found.lowered.value_or("nothing");
    EXPECT_TRUE(found.device && found.device->contains(device)) << found.device.value_or("nothing");
  };
  const DsmemCase engine = plain(Way::Engine, "float32", 4);
  expect(engine, ", 2048)", ", 4096 + number * 0)", "2048 bytes are missing", "2048");
  expect(engine, "    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n", "    T.cuda.cta_sync()\n",
         "nothing orders them", "with nothing to order the two");
  // The other CTA still fills its tile.
  expect(plain(Way::Push, "float32", 4), "    T.cuda.cluster_sync()\n", "    T.cuda.cta_sync()\n",
         "nothing orders them", "");
  // It reads before the tile is there.
  const std::string behind =
      "    T.cuda.cluster_sync()\n    for k in range(4):\n        e: T.let = "
      "k * 128 + tid\n        if e < 512:\n            far_out";
  std::string none = behind;
  none.replace(0, 26, "    T.cuda.cta_sync()\n");
  expect(plain(Way::Push, "float32", 4), behind, none, "nothing orders them", "");
  // No such CTA.
  expect(plain(Way::Push, "float32", 4), "(rank + 1) % ctas", "rank + 1",
         "CTA 2 of the cluster is named", "");
}

// --- mbarriers of other CTAs ---------------------------------------------------------------------

// CTA 1 of each pair says by an mbarrier of CTA 0 that it has read; CTA 0 then writes again.
std::string remote_arrival(const std::string& arrive, const std::string& count = "128") {
  return "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
         "from tvm.tirx.layout import S, TileLayout, tx\n\n@T.prim_func\n"
         "def kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
         "    A = T.match_buffer(A_ptr, (128,), \"float32\")\n"
         "    B = T.match_buffer(B_ptr, (2, 128), \"float32\")\n"
         "    T.device_entry()\n    number = T.cluster_id([1])\n"
         "    rank = T.cta_id_in_cluster([2])\n    tid = T.thread_id([128])\n"
         "    s = T.alloc_buffer((128,), \"float32\", scope=\"shared\")\n"
         "    r = T.alloc_buffer((128,), \"float32\", scope=\"local\", layout=TileLayout(S[128 : 1 "
         "@ tx]))\n"
         "    bar = T.alloc_buffer((1,), \"uint64\", scope=\"shared\")\n"
         "    if tid == 0:\n        T.ptx.mbarrier.init(T.address_of(bar[0]), " +
         count +
         ")\n"
         "        T.ptx.fence.mbarrier_init()\n"
         "    s[tid] = A[tid]\n    T.cuda.cluster_sync()\n"
         "    if rank == 1:\n"
         "        Tx.cta.copy(r[0:128], s[0:128], remote_cta_id=0)\n"
         "        B[1, tid] = r.local(1)[0]\n"
         "        " +
         arrive +
         "\n"
         "    else:\n"
         "        T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n"
         "        s[tid] = A[tid] * T.float32(2)\n"
         "        B[0, tid] = s[tid]\n"
         "    T.cuda.cluster_sync()\n";
}

TEST(RemoteMbarrier, ArrivesInEveryForm) {
  Family family("mbarriers of other CTAs", Nvcc::Always);
  const auto run = [&](const std::string& arrive, const std::string& count,
                       const std::string& opcode) {
    const Checked checked = family.run({.source = remote_arrival(arrive, count)});
    EXPECT_EQ(count_of(checked.ptx, opcode), 1U) << checked.ptx;
    family.count();
  };
  // What a loop that hands stages back wants: no barrier of all memory.
  run("T.ptx.mbarrier.arrive(T.address_of(bar[0]), remote=0)", "128",
      "mbarrier.arrive.shared::cluster.b64\t_, [");
  run("T.ptx.mbarrier.arrive(T.address_of(bar[0]), cta_id=0)", "128",
      "mbarrier.arrive.shared::cluster.b64\t_, [");
  run("T.cuda.cta_sync()\n        T.ptx.mbarrier.arrive(T.address_of(bar[0]), remote=rank - 1, "
      "pred=tid == 0, count=1)",
      "1", "mbarrier.arrive.shared::cluster.b64\t_, [");
  run("T.ptx.mbarrier.arrive(T.address_of(bar[0]), remote=0, sem=\"release\", scope=\"cluster\")",
      "128", "mbarrier.arrive.release.cluster.shared::cluster.b64\t_, [");
  run("T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 0, remote=0)", "128",
      "mbarrier.arrive.expect_tx.shared::cluster.b64\t_, [");
  run("T.ptx[\"mbarrier.arrive.shared::cluster.b64\"](T.ptx.mapa(T.address_of(bar[0]), 0, "
      "\"shared::cluster\", \"u32\"))",
      "128", "mbarrier.arrive.shared::cluster.b64\t_, [");
}

TEST(RemoteMbarrier, FaultsShow) {
  const auto expect = [](const std::string& arrive, const std::string& count,
                         const std::string& evaluator, const std::string& device) {
    const Findings found = findings_of({.source = remote_arrival(arrive, count)});
    EXPECT_TRUE(found.tile && found.tile->contains(evaluator)) << found.tile.value_or("nothing");
    EXPECT_TRUE(found.device && found.device->contains(device)) << found.device.value_or("nothing");
  };
  const std::string good = "T.ptx.mbarrier.arrive(T.address_of(bar[0]), remote=0)";
  // Waits for ever: one arrival too few, or at the wrong CTA.
  expect(good, "129", "1 arrival is missing", "");
  expect("T.ptx.mbarrier.arrive(T.address_of(bar[0]), remote=rank)", "128",
         "128 arrivals are missing", "");
  // Too early: not all threads have arrived.
  expect(good, "96", "nothing orders them", "");
  // Another place than a barrier.
  expect("T.ptx.mbarrier.arrive(T.address_of(s[0]), remote=0)", "128",
         "uses an mbarrier at `s` at byte 0 of CTA (0,0,0) that is not initialised", "");
  // Scope of the own CTA alone.
  expect("T.ptx.mbarrier.arrive(T.address_of(bar[0]), remote=0, sem=\"release\", scope=\"cta\")",
         "128", "nothing orders them", "");
}

}  // namespace
}  // namespace ww::test::dsmem_test
