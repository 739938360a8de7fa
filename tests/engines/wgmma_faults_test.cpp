// SPDX-License-Identifier: Apache-2.0
// Faults in asynchronous products, and who catches them: descriptors, signs and sums that are changed
// behind the variant's back (the proof), and programs that do not fence, commit or wait (the evaluator
// and the virtual GPU).
#include <gmock/gmock.h>

#include <random>

#include "engines/wgmma_programs.h"
#include "ir/build.h"
#include "ir/print/print.h"
#include "isa/catalogue.h"
#include "lower/code_observer.h"
#include "lower/lower.h"
#include "lower/proof/shared_matrix.h"
#include "script/compile.h"
#include "sim/memory/matrix_descriptor.h"

namespace ww::test::wgmma_faults_test {
namespace {

using lower::Proof;
using testing::HasSubstr;

// --- code ----------------------------------------------------------------------------------------

/// A copy of the expression in which the `which`-th number is `more` larger.
ir::ExprId changed(ir::Function& f, ir::ExprId id, int& which, std::int64_t more) {
  ir::Expr e = f[id];
  if (e.op == ir::ExprOp::IntImm && which-- == 0) {
    e.integer += more;
    return f.add(std::move(e));
  }
  bool is_same = true;
  for (ir::ExprId& arg : e.args) {
    const ir::ExprId next = changed(f, arg, which, more);
    is_same = is_same && next == arg;
    arg = next;
  }
  return is_same ? id : f.add(std::move(e));
}

/// Changes one number of an instruction, or of what its descriptors are made from, at a time; leaves an
/// instruction out; exchanges operands.
class Meddler final : public lower::CodeObserver {
 public:
  Proof observe(ir::Function& f, ir::Block& code, const std::function<Proof()>& prove) override {
    bool is_product = false;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const ir::StmtId id = code[i];
      if (f[id].kind != ir::StmtKind::Ptx) continue;
      const bool is_other = f[f[id].ptx].opcode.mnemonic() != "wgmma.mma_async";
      if (is_other && !is_waited) return prove();
      is_product = true;
      if (!is_other) meddle_with_operands(f, f.at(f[id].ptx), prove);
      if (i + 1 < code.size() && is_other && f[code[i + 1]].kind == ir::StmtKind::Ptx) {
        std::swap(code[i], code[i + 1]);
        note("two instructions exchanged", prove());
        std::swap(code[i], code[i + 1]);
      }
      code.erase(code.begin() + static_cast<std::ptrdiff_t>(i));
      note("an instruction left out", prove());
      code.insert(code.begin() + static_cast<std::ptrdiff_t>(i), id);
    }
    if (is_product)
      for (const ir::StmtId id : code)
        if (f[id].kind == ir::StmtKind::Bind && f[f[id].var].name.ends_with("_start"))
          meddle_with_start(f, f.at(id).expr, prove);
    return prove();
  }

  std::vector<std::string> missed;
  int caught = 0;
  bool is_waited = false;

 private:
  void note(const std::string& what, const Proof& proof) {
    if (proof.holds())
      missed.push_back(what);
    else
      ++caught;
  }

  // By 16: what is smaller does not reach a descriptor, whose units are 16 bytes. That its start has 14
  // bits changes nothing below 256 KiB.
  void meddle_with_start(ir::Function& f, ir::ExprId& place, const std::function<Proof()>& prove) {
    for (int which = 0;; ++which) {
      const ir::ExprId before = place;
      int left = which;
      place = changed(f, before, left, 16);
      if (place == before) return;
      const std::string text = ir::print(f, place);
      if (!text.contains("16400")) note("what a descriptor starts from: " + text, prove());
      place = before;
    }
  }

  void meddle_with_numbers(ir::Function& f, ir::ExprId& place, const std::string& where,
                           const std::function<Proof()>& prove) {
    for (int which = 0;; ++which) {
      const ir::ExprId before = place;
      const auto flag = ir::const_int(f, before);
      int left = which;
      place = changed(f, before, left, flag ? 1 - 2 * *flag : 1);
      if (place == before) return;
      note(fmt::format("number {} of {}", which, where), prove());
      place = before;
    }
  }

  void meddle_with_operands(ir::Function& f, ir::PtxCall& call,
                            const std::function<Proof()>& prove) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const bool is_register = call.operands[i].kind == ir::PtxOperandKind::At;
      if (is_register && i % 7 != 0) continue;  // some of them
      meddle_with_numbers(f, call.operands[i].expr, fmt::format("operand {}", i), prove);
    }
    std::swap(call.operands[0].expr, call.operands[1].expr);
    note("two registers of C exchanged", prove());
    std::swap(call.operands[0].expr, call.operands[1].expr);
  }
};

void expect_caught(const WgmmaCase& c, int least) {
  const target::Target target{.arch = target::Arch::Sm90a, .ptx = 90};
  const script::Compiled compiled =
      script::compile(SourceText("test.py", source_of(c)), {.target = target});
  ASSERT_TRUE(compiled.function) << source_of(c);
  Meddler meddler;
  meddler.is_waited = c.is_waited;
  const lower::Lowered lowered =
      lower::lower(*compiled.function, {.target = target, .observer = &meddler});
  EXPECT_TRUE(lowered.errors.empty());
  EXPECT_GE(meddler.caught, least);
  for (const std::string& missed : meddler.missed) ADD_FAILURE() << missed << "\n" << source_of(c);
}

TEST(WgmmaFaults, InCodeAreCaughtByTheProof) {
  const auto with = [](const std::string& swizzle) {
    return WgmmaCase{.n = 16, .k = 32, .swizzle_a = swizzle, .swizzle_b = swizzle, .stages = 2};
  };
  expect_caught(with("64B"), 20);
  expect_caught(with("none"), 20);
  WgmmaCase turned{.n = 64, .k = 32, .turns_a = true, .turns_b = true, .stages = 2};
  expect_caught(turned, 20);
  WgmmaCase registers = with("64B");
  registers.is_a_in_registers = true;
  expect_caught(registers, 15);
  WgmmaCase groups = with("64B");
  groups.m = 128;
  groups.warpgroups = 2;
  expect_caught(groups, 20);
  // Fences, commit and wait are part of these.
  WgmmaCase waited = with("64B");
  waited.is_waited = true;
  expect_caught(waited, 20);
}

// The proof decodes descriptors by code of its own; the virtual GPU, which agrees with an H200, by other.
TEST(WgmmaFaults, DescriptorsMeanTheSameToTheProofAndTheVirtualGpu) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random() & 0xC000'1FFF'1FFF'1FFFU;
    const bool is_mn_major = random() % 2 == 0;
    const std::int64_t size = is_mn_major ? 2 : std::int64_t{1} << random() % 3;
    const auto ours = lower::DescribedMatrix::read(bits, size, is_mn_major);
    ASSERT_TRUE(ours);
    const sim::MatrixDescriptor theirs(bits);
    const auto line = static_cast<std::uint32_t>(random() % 256);
    const auto k = static_cast<std::uint32_t>(random() % (32 / static_cast<std::uint64_t>(size)));
    const auto bytes = static_cast<std::uint32_t>(size) * (is_mn_major ? line : k);
    const std::uint32_t chunk =
        is_mn_major ? theirs.mn_major(bytes / 16, k) : theirs.k_major(line, bytes / 16);
    EXPECT_EQ(ours->byte(line, k), std::int64_t{chunk} + bytes % 16)
        << bits << " " << line << " " << k;
  }
}

// --- programs ------------------------------------------------------------------------------------

struct Fault {
  std::string_view name;
  std::function<void(WgmmaCase&)> plant;
  Stage stage;
  std::string words;
};

TEST(WgmmaFaults, InProgramsAreFoundWhenTheyRun) {
  constexpr const char* kNever = "for j in range(rounds): ";
  const Fault faults[] = {
      // What the compiler sees.
      {"no commit", [](WgmmaCase& c) { c.commit = "-"; }, Stage::Script,
       "`C_r` is read while the product into `C_r` is under way: no `T.ptx.wgmma.commit_group()` "
       "has "
       "closed its group"},
      {"no wait", [](WgmmaCase& c) { c.wait = "-"; }, Stage::Script,
       "`T.ptx.wgmma.wait_group(0)` comes first"},
      {"a wait for fewer groups", [](WgmmaCase& c) { c.wait = "T.ptx.wgmma.wait_group(1)"; },
       Stage::Script, "`T.ptx.wgmma.wait_group(0)` comes first"},
      {"C written early", [](WgmmaCase& c) { c.before_wait = "Tx.cta.fill(C_r, 0.0)"; },
       Stage::Script, "`C_r` is written while the product into `C_r` is under way"},
      {"a factor written early", [](WgmmaCase& c) { c.before_wait = "Tx.cta.copy(B_s, B)"; },
       Stage::Script, "`B_s` is written while the product of `B_s` is under way"},
      // What shows when it runs.
      {"a commit that does not come", [&](WgmmaCase& c) { c.commit = kNever + c.commit; },
       Stage::Tile, "while a product into it is under way"},
      {"a wait that does not come", [&](WgmmaCase& c) { c.wait = kNever + c.wait; }, Stage::Tile,
       "while a product into it is under way"},
      {"a factor written early by the time it runs",
       [](WgmmaCase& c) { c.before_wait = "Tx.cta.copy(B_s[rounds, :, :], B[rounds, :, :])"; },
       Stage::Tile, "while a product from it is under way"},
      {"no fence for stores", [](WgmmaCase& c) { c.proxy = "-"; }, Stage::Device,
       "fence.proxy.async"},
      {"no fence for registers",
       [](WgmmaCase& c) {
         c.is_a_in_registers = true;
         c.fence = "-";
       },
       Stage::Device, "wgmma.fence"},
  };
  for (const Fault& fault : faults) {
    WgmmaCase c{.n = 16, .k = 32, .swizzle_a = "64B", .swizzle_b = "64B"};
    EXPECT_TRUE(check(program_of(c)).right());
    fault.plant(c);
    const Checked checked = check(program_of(c));
    EXPECT_EQ(checked.stage, fault.stage) << fault.name << "\n" << checked.explain();
    EXPECT_THAT(checked.why, HasSubstr(fault.words)) << fault.name;
  }
}

// --- what is declined ----------------------------------------------------------------------------

struct Refused {
  std::function<void(WgmmaCase&)> change;
  std::string verdict;
};

TEST(WgmmaFaults, WaitedCallsAreDeclinedWithTheirRule) {
  const Refused rows[] = {
      {[](WgmmaCase& c) { c.settings = ", alpha=2.0"; },
       "[factor] alpha is 2, expected 1: wgmma multiplies by nothing else"},
      {[](WgmmaCase& c) { c.beta = "0.5"; },
       "[factor] beta is 0.5, expected 0 or 1: wgmma adds D as it is"},
      {[](WgmmaCase& c) { c.beta = "T.cast(rounds, \"float32\")"; },
       "[factor] beta is known at run time only, expected 0 or 1: wgmma adds D as it is"},
      {[](WgmmaCase& c) {
         c.k = 24;
         c.swizzle_a = c.swizzle_b = "none";
       },
       "[shape] as `gemm_async` into C: K is 24, expected a multiple of 16: wgmma takes 32 bytes "
       "of float16 each"},
  };
  for (const Refused& row : rows) {
    WgmmaCase c;
    c.is_waited = true;
    row.change(c);
    const Checked checked = compile_only(program_of(c));
    bool is_seen = false;
    for (std::size_t k = 0; k < checked.report.calls.size(); ++k)
      if (checked.call(k).op == "gemm") {
        is_seen = true;
        EXPECT_EQ(verdict_on(checked, k, "wgmma"), row.verdict) << checked.explain();
      }
    EXPECT_TRUE(is_seen) << checked.explain();
  }
}

TEST(WgmmaFaults, CallsAreDeclinedWithTheirRule) {
  const Refused rows[] = {
      {[](WgmmaCase& c) {
         c.m = 32;
         c.c_layout = "TileLayout(S[(32, 64) : (1 @ laneid, 1)])";
       },
       "[shape] C has 32 rows, expected a multiple of 64 for each warpgroup"},
      {[](WgmmaCase& c) {
         c.n = 60;
         c.swizzle_b = "none";
         c.c_layout = "TileLayout(S[(64, 60) : (1 @ tid_in_wg, 1)])";
       },
       "[shape] C has 60 columns, expected a multiple of 8"},
      {[](WgmmaCase& c) {
         c.k = 24;
         c.swizzle_a = c.swizzle_b = "none";
       },
       "[shape] K is 24, expected a multiple of 16: wgmma takes 32 bytes of float16 each"},
      {[](WgmmaCase& c) {
         c.a = c.b = "bfloat16";
         c.out = "float16";
       },
       "[dtype] wgmma has no bfloat16 times bfloat16 into float16"},
      {[](WgmmaCase& c) { c.settings = ", cta_group=2"; },
       "[config] `cta_group=` is of `tcgen05.mma`, expected none"},
      {[](WgmmaCase& c) {
         c.a_layout = "ComposeLayout(SwizzleLayout(2, 3, 3), TileLayout(S[(64, 64) : (64, 1)]))";
       },
       "[swizzle] `A_s` has a swizzle (2, 3, 3) of elements of 16 bits; a descriptor has 32, 64 "
       "and "
       "128 bytes in units of 16, `mma_shared_layout` makes them"},
      {[](WgmmaCase& c) { c.b_layout = "TileLayout(S[(64, 64) : (64, 1)])"; },
       "[descriptor] no matrix descriptor gives 64 lines of 16 elements of B, without a swizzle: "
       "before it (line, k) (0, 0) at byte 0, (0, 1) at byte 2, (0, 8) at byte 16, (1, 0) at byte "
       "128, (8, 0) at byte 1024"},
      {[](WgmmaCase& c) {
         c.a = c.b = "int8";
         c.out = "int32";
         c.swizzle_b = "64B";
         c.k = 128;
         c.turns_b = true;
       },
       "[major] B lies along N, elements of 8 bits; wgmma takes that of 16 bits only, expected 16 "
       "bytes along K"},
      {[](WgmmaCase& c) { c.c_layout = "mma_tile_layout(\"D\", (64, 64), \"float32\", (2, 2))"; },
       "[fragment] element (16, 0) of C is in thread 0 of the unit, where wgmma has it in thread "
       "32; "
       "`wgmma_tile_layout` is what it wants"},
      {[](WgmmaCase& c) {
         c.m = 128;
         c.n = 256;
       },
       "[registers] C takes 256 registers of a thread and A 0, expected at most 240 of 255: more "
       "warpgroups, or fewer rows or columns in each"},
      // A role that has given its registers away.
      {[](WgmmaCase& c) { c.proxy = "T.ptx[\"setmaxnreg.dec.sync.aligned.u32\"](T.uint32(40))"; },
       "[registers] C takes 32 registers of a thread and A 0, expected at most 25 of 40, which "
       "`setmaxnreg` sets: more warpgroups, or fewer rows or columns in each"},
  };
  for (const Refused& row : rows) {
    WgmmaCase c;
    row.change(c);
    const Checked checked = compile_only(program_of(c));
    bool is_seen = false;
    for (std::size_t k = 0; k < checked.report.calls.size(); ++k)
      if (checked.call(k).op == "gemm_async") {
        is_seen = true;
        EXPECT_EQ(verdict_on(checked, k, "wgmma"), row.verdict) << checked.explain();
      }
    EXPECT_TRUE(is_seen) << checked.explain();
  }
}

}  // namespace
}  // namespace ww::test::wgmma_faults_test
