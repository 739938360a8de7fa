// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sim/ops/test_tensor.h"

namespace ww::sim::ops_tcgen05_test {
namespace {

// Loads eight registers of the numbered cells.
std::vector<std::uint32_t> loaded(const std::string& shape, const std::string& address,
                                  const std::string& tail = "") {
  return expect_fine(allocated() + numbered() + kStored + "tcgen05.ld.sync.aligned." + shape +
                         ".b32 " + registers(40, 8) + ", [" + address + "]" + tail + ";" + kLoaded +
                         shown() + freed(),
                     kFour);
}

// --- shapes --------------------------------------------------------------------------------------

using CellOf = std::function<std::uint32_t(unsigned lane, unsigned reg)>;

// `base`: the first lane in the quarter of a warp.
void expect_cells(const std::vector<std::uint32_t>& out, unsigned base, const CellOf& lane_of,
                  const CellOf& column_of) {
  for (unsigned thread = 0; thread < 128; ++thread) {
    const unsigned l = thread % 32;
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned lane = thread / 32 * 32 + base + lane_of(l, r);
      ASSERT_EQ(out[thread * 8 + r], cell(lane, column_of(l, r)))
          << "thread " << thread << " r " << r;
    }
  }
}

TEST(TensorLoad, ShapesOf32Lanes) {
  expect_cells(
      loaded("32x32b.x8", "%r22+5"), 0, [](unsigned l, unsigned) { return l; },
      [](unsigned, unsigned r) { return 5 + r; });
}

TEST(TensorLoad, ShapesOf16Lanes) {
  for (const unsigned base : {0U, 16U}) {
    const std::string address = "%r22+" + std::to_string(base << 16U);
    expect_cells(
        loaded("16x64b.x8", address), base,
        [](unsigned l, unsigned) { return l / 4 + 8 * (l % 2); },
        [](unsigned l, unsigned r) { return 2 * r + (l % 4) / 2; });
    expect_cells(
        loaded("16x128b.x4", address), base,
        [](unsigned l, unsigned r) { return l / 4 + (r % 2 == 1 ? 8U : 0U); },
        [](unsigned l, unsigned r) { return r / 2 * 4 + l % 4; });
    // The accumulator of mma.m16n8, 8 columns at a time.
    expect_cells(
        loaded("16x256b.x2", address), base,
        [](unsigned l, unsigned r) { return l / 4 + (r % 4 >= 2 ? 8U : 0U); },
        [](unsigned l, unsigned r) { return r / 4 * 8 + l % 4 * 2 + r % 2; });
  }
}

TEST(TensorLoad, TheUpperHalfOfTheWarpFromElsewhere) {
  expect_cells(
      loaded("16x32bx2.x8", "%r22", ", 20"), 0, [](unsigned l, unsigned) { return l % 16; },
      [](unsigned l, unsigned r) { return r + (l >= 16 ? 20U : 0U); });
}

TEST(TensorLoad, PacksTheLowerHalvesOfTwoColumns) {
  const auto out = loaded("32x32b.x8.pack::16b", "%r22+2");
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned r = 0; r < 8; ++r) {
      const std::uint32_t low = cell(thread, 2 + 2 * r) & 0xFFFFU;
      ASSERT_EQ(out[thread * 8 + r], low | ((low + 1) << 16U));
    }
  }
}

TEST(TensorStore, UnpacksIntoTheLowerHalvesOfTwoColumns) {
  const auto out =
      expect_fine(allocated() + numbered() + kStored +
                      "mov.u32 %r40, 0x00020001; mov.u32 %r41, 0x00040003;"
                      "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r22], {%r40, %r41};" +
                      kStored + "tcgen05.ld.sync.aligned.32x32b.x8.b32 " + registers(40, 8) +
                      ", [%r22];" + kLoaded + shown() + freed(),
                  kFour);
  for (std::uint32_t c = 0; c < 4; ++c) EXPECT_EQ(out[8 * 77 + c], 0xA5000001U + c);
  EXPECT_EQ(out[8 * 77 + 4], cell(77, 4));
}

TEST(TensorStore, EveryShapeIsTheInverseOfItsLoad) {
  for (const std::string shape :
       {"32x32b.x8", "16x64b.x8", "16x128b.x4", "16x256b.x2", "16x32bx2.x8"}) {
    const bool is_split = shape.starts_with("16x32bx2");
    std::string fill;
    for (unsigned r = 0; r < 8; ++r) {
      const std::string n = std::to_string(r);
      fill += "add.u32 %r6" + n + ", %r1, " + std::to_string(1000 * (r + 1)) + ";";
    }
    const auto out =
        expect_fine(allocated() + fill + "tcgen05.st.sync.aligned." + shape + ".b32 [%r22], " +
                        (is_split ? "32, " : "") + registers(60, 8) + ";" + kStored +
                        "tcgen05.ld.sync.aligned." + shape + ".b32 " + registers(40, 8) +
                        ", [%r22]" + (is_split ? ", 32" : "") + ";" + kLoaded + shown() + freed(),
                    kFour);
    for (unsigned i = 0; i < 1024; ++i) ASSERT_EQ(out[i], i / 8 + 1000 * (i % 8 + 1)) << shape;
  }
}

TEST(TensorLoad, TheLeastAndTheGreatest) {
  const Grid grid{.threads = 128, .target = "sm_103a"};
  const auto red = [&](const std::string& tail, std::uint32_t a, std::uint32_t b) {
    return expect_fine(allocated() + "mov.u32 %r60, " + std::to_string(a) + "; mov.u32 %r61, " +
                           std::to_string(b) +
                           "; tcgen05.st.sync.aligned.32x32b.x2.b32 [%r22], {%r60, %r61};" +
                           kStored + "tcgen05.ld.red.sync.aligned.32x32b.x2." + tail +
                           " {%r41, %r42}, %r40, [%r22];" + kLoaded + shown(3) + freed(),
                       grid)[8];
  };
  constexpr std::uint32_t kNan = 0x7FC00000U;
  EXPECT_EQ(red("max.u32", 5, 0xFFFFFFFF), 0xFFFFFFFFU);
  EXPECT_EQ(red("max.s32", 5, 0xFFFFFFFF), 5U);
  EXPECT_EQ(red("min.s32", 5, 0xFFFFFFFF), 0xFFFFFFFFU);
  EXPECT_EQ(red("min.u32", 5, 0xFFFFFFFF), 5U);
  EXPECT_EQ(red("max.f32", 0x3F800000, 0xC0000000), 0x3F800000U);
  EXPECT_EQ(red("max.abs.f32", 0x3F800000, 0xC0000000), 0x40000000U);
  EXPECT_EQ(red("min.f32", 0x3F800000, kNan), 0x3F800000U);
  EXPECT_EQ(red("min.NaN.f32", 0x3F800000, kNan), 0x7FFFFFFFU);
}

// --- waiting -------------------------------------------------------------------------------------

TEST(TensorLoad, RegistersAreNotUsedBeforeTheWait) {
  const std::string load = allocated() + numbered() + kStored +
                           "mov.u32 %r40, 0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];";
  const std::string use = "add.u32 %r41, %r40, 1;";
  expect_found(Check::Async, "`%r40` is used before `tcgen05.wait::ld`",
               load + use + kLoaded + freed(), kFour);
  expect_fine(load + kLoaded + use + freed(), kFour);
  // Undefined bytes may be stored, but not those of a load under way.
  expect_found(Check::Async, "`%r40` is used before `tcgen05.wait::ld`",
               load + shown(1) + kLoaded + freed(), kFour);
  expect_fine(load + kLoaded + shown(1) + freed(), kFour);
  // Nor may they be copied.
  for (const std::string& copy : std::vector<std::string>{
           "mov.b32 %r41, %r40;", "mov.b64 %d1, {%r41, %r40};", "mov.b32 {%h1, %h2}, %r40;",
           "mov.v2.b32 {%r41, %r42}, {%r22, %r40};"}) {
    expect_found(Check::Async, "`%r40` is used before `tcgen05.wait::ld`",
                 load + "mov.u32 %r41, 0;" + copy + kLoaded + freed(), kFour);
    expect_fine(load + kLoaded + "mov.u32 %r41, 0;" + copy + freed(), kFour);
  }
}

// As compilers put them: the assembler takes a copy for no instruction, and waits for the load wherever
// its value is needed.
TEST(TensorLoad, CopiesBeforeTheWaitHaveTheNewValue) {
  const std::string body =
      allocated() + numbered() + kStored +
      "mov.u32 %r40, 777; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];"
      "mov.b32 %r41, %r40; mov.b32 %r42, %r40; mov.b32 %r40, 5;" +
      kLoaded + "st.global.u32 [%d2], %r41; st.global.u32 [%d2+512], %r40;" + freed();
  const std::string found = "`%r40` is used before `tcgen05.wait::ld`";
  const Done early = expect_found(Check::Async, found, body, kFour);
  EXPECT_EQ(early.findings.find(found), early.findings.rfind(found));  // and no more
  Grid manual = kFour;
  manual.late_tensor_loads = true;
  const Done late = expect_found(Check::Async, found, body, manual);
  for (std::uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(early.out[i], cell(i, 0));
    EXPECT_EQ(early.out[128 + i], 5U);  // written since
    EXPECT_EQ(late.out[i], 777U);
    EXPECT_EQ(late.out[128 + i], cell(i, 0));  // the load has the last word
  }
}

// What nothing has stored stays undefined, however early it is copied.
TEST(TensorLoad, CopiesBeforeTheWaitHaveUndefinedBytes) {
  const Done done =
      run_async(allocated() +
                    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];"
                    "mov.b32 %r41, %r40;" +
                    kLoaded + "add.u32 %r41, %r41, 1; st.global.u32 [%d2], %r41;" + freed(),
                kFour);
  EXPECT_NE(done.findings.find("uninit"), std::string::npos) << done.findings;
}

TEST(TensorLoad, IsWaitedFor) {
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];";
  expect_found(Check::Async, "the kernel ends without `tcgen05.wait::ld`",
               allocated() + numbered() + kStored + load + freed(), kFour);
  expect_found(Check::Async, "the kernel ends without `tcgen05.wait::st`",
               allocated() + numbered() + freed(), kFour);
}

TEST(TensorStore, CellsComeWithTheWait) {
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];" + kLoaded;
  expect_found(Check::Async, "which an earlier instruction is still to write",
               allocated() + numbered() + load + kStored + freed(), kFour);
  expect_fine(allocated() + numbered() + kStored + load + freed(), kFour);
}

TEST(TensorLoad, CellsThatNothingWrote) {
  const std::string load =
      allocated() + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];" + kLoaded;
  expect_fine(load + freed(), kFour);
  expect_found(Check::Uninit, "%r40", load + "st.global.u32 [%d2], %r40;" + freed(), kFour);
}

// --- order between warps -------------------------------------------------------------------------

// Warps 0 to 3 and 4 to 7 reach the same lanes.
constexpr Grid kEight{.threads = 256, .target = "sm_100a"};
const std::string kUpperHalf = "setp.ge.u32 %p2, %r1, 128; @!%p2 bra $L_no; ";
const std::string kLowerHalf = "setp.lt.u32 %p2, %r1, 128; @!%p2 bra $L_none; ";
const std::string kLoadOne = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];";
const std::string kStoreOne =
    "mov.b32 %r40, 7; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r40};";

TEST(TensorMemory, WarpsOfOneQuarterAreOrderedByBarriers) {
  const auto program = [](const std::string& between) {
    return allocated() + kLowerHalf + kStoreOne + kStored + "$L_none:" + between + kUpperHalf +
           kLoadOne + kLoaded + "$L_no:" + freed();
  };
  expect_found(Check::Race, "of tensor memory that another thread has", program(""), kEight);
  expect_fine(program(kBarrier), kEight);
}

TEST(TensorMemory, ALoadLastsUntilItIsWaitedFor) {
  // One half begins to load, the other stores behind the barrier, and only then the load is waited
  // for.
  const auto program = [](const std::string& before, const std::string& behind) {
    return allocated() + kLowerHalf + kLoadOne + before + "$L_none:" + kBarrier + kUpperHalf +
           kStoreOne + kStored + "bra $L_end; $L_no:" + behind + "$L_end:" + freed();
  };
  expect_found(Check::Race, "column 0 of tensor memory that another thread has",
               program("", kLoaded), kEight);
  expect_fine(program(kLoaded, ""), kEight);
}

TEST(TensorMemory, ColumnsAreFreedWhenNobodyWorksOnThem) {
  const std::string work = allocated() + kStoreOne + kStored + kLoadOne + kLoaded;
  const std::string free = "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 64;";
  expect_found(Check::Race, "frees lane", work + free, kFour);
  expect_fine(work + kBarrier + free, kFour);
}

// --- who may touch what --------------------------------------------------------------------------

TEST(TensorMemory, LanesOfAnotherWarp) {
  const auto refused = [](const std::string& what, const std::string& load) {
    expect_found(Check::Tensor, what + " of tensor memory is none of the lanes",
                 allocated() + "tcgen05.ld.sync.aligned." + load + ";" + kLoaded + freed(), kFour);
  };
  refused("lane 32", "32x32b.x1.b32 {%r40}, [%r20+2097152]");
  refused("lane 80", "16x64b.x1.b32 {%r40}, [%r20+5242880]");
  // The upper half of each warp leaves its quarter.
  refused("", "16x32bx2.x1.b32 {%r40}, [%r20+1048576], 1048576");
}

// `%r20` has lane 0 in all four warps, `%r22` the first lane of each.
TEST(TensorMemory, TheFirstQuarterStandsForTheWarpsOwn) {
  for (const std::string shape : {"32x32b.x8", "16x64b.x8", "16x128b.x4", "16x256b.x2"})
    EXPECT_EQ(loaded(shape, "%r20"), loaded(shape, "%r22")) << shape;
  EXPECT_EQ(loaded("16x256b.x2", "%r20+1048576"), loaded("16x256b.x2", "%r22+1048576"));
  EXPECT_EQ(loaded("16x32bx2.x8", "%r20", ", 1048580"), loaded("16x32bx2.x8", "%r22", ", 1048580"));
  const auto stored = [](const std::string& address) {
    return expect_fine(allocated() + numbered() + kStored +
                           "mov.u32 %r40, 7; tcgen05.st.sync.aligned.32x32b.x1.b32 [" + address +
                           "], {%r40};" + kStored + "tcgen05.ld.sync.aligned.32x32b.x8.b32 " +
                           registers(40, 8) + ", [%r22];" + kLoaded + shown() + freed(),
                       kFour);
  };
  EXPECT_EQ(stored("%r20"), stored("%r22"));
}

TEST(TensorMemory, ColumnsThatAreNotAllocated) {
  const std::string start = allocated(32);
  expect_found(
      Check::Tensor, "column 32 of tensor memory is not allocated",
      start + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22+32];" + kLoaded + freed(32),
      kFour);
  expect_fine(
      start + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22+31];" + kLoaded + freed(32),
      kFour);
  expect_found(
      Check::Tensor, "column 0 of tensor memory is not allocated",
      "mov.u32 %r22, 0; mov.u32 %r40, 1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r40};",
      kOne);
}

TEST(TensorMemory, AddressesAreThoseOfTheWholeWarp) {
  expect_found(Check::Tensor, "different addresses",
               allocated() +
                   "add.u32 %r22, %r22, %r1; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, "
                   "[%r22];" +
                   kLoaded + freed(),
               kFour);
  expect_found(Check::Tensor, "not a multiple of 16",
               allocated() + "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r40}, [%r22+524288];" +
                   kLoaded + freed(),
               kFour);
}

// --- allocation ----------------------------------------------------------------------------------

const std::string kAlloc32 =
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells], 32; bar.warp.sync -1;"
    "ld.shared.u32 %r20, [cells];";
std::string dealloc(std::string_view address, std::string_view columns) {
  return "tcgen05.dealloc.cta_group::1.sync.aligned.b32 " + std::string(address) + ", " +
         std::string(columns) + ";";
}

TEST(TensorMemory, IsGivenBackOnce) {
  expect_fine(kAlloc32 + dealloc("%r20", "32"), kOne);
  expect_found(Check::Tensor, "are never freed", kAlloc32, kOne);
  expect_found(Check::Tensor, "where no allocation starts",
               kAlloc32 + dealloc("%r20", "32") + dealloc("%r20", "32"), kOne);
  expect_found(Check::Tensor, "frees 64 columns of an allocation of 32",
               kAlloc32 + dealloc("%r20", "64"), kOne);
  expect_found(Check::Tensor, "where no allocation starts",
               kAlloc32 + "add.u32 %r21, %r20, 32;" + dealloc("%r21", "32") + dealloc("%r20", "32"),
               kOne);
}

TEST(TensorMemory, CountsAreChecked) {
  const std::string by_register =
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells], %r19; bar.warp.sync -1;"
      "ld.shared.u32 %r20, [cells];";
  expect_found(Check::Tensor, "allocates 48 columns",
               "mov.u32 %r19, 48;" + by_register + dealloc("%r20", "64"), kOne);
  expect_found(Check::Tensor, "allocates 1024 columns",
               "mov.u32 %r19, 1024;" + by_register + dealloc("%r20", "512"), kOne);
  expect_fine("mov.u32 %r19, 512;" + by_register + dealloc("%r20", "512"), kOne);
}

TEST(TensorMemory, NothingIsAllocatedAfterThePermitIsGone) {
  const std::string relinquish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
  expect_found(Check::Tensor, "allocates after", relinquish + kAlloc32 + dealloc("%r20", "32"),
               kOne);
  expect_fine(kAlloc32 + relinquish + dealloc("%r20", "32"), kOne);
}

TEST(TensorMemory, AllocationWaitsForColumns) {
  const Grid two{.threads = 64, .target = "sm_100a"};
  const std::string body =
      "setp.lt.u32 %p1, %r1, 32; @!%p1 bra second;"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells], 512;"
      "bar.sync 1, 64; bar.warp.sync -1; ld.shared.u32 %r20, [cells]; mov.u32 %r10, 0;"
      "count: add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 5000; @%p2 bra count;" +
      dealloc("%r20", "512") +
      "bra all; second: bar.sync 1, 64;"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells+16], 256; bar.warp.sync -1;"
      "ld.shared.u32 %r20, [cells+16];" +
      dealloc("%r20", "256") + "all:";
  expect_fine(body, two);
}

TEST(TensorMemory, ColumnsThatNobodyGivesBack) {
  const Done done = expect_found(
      Check::Tensor, "waits for 512 columns of tensor memory and can never have them: 32 of 512",
      kAlloc32 + "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cells], 512;", kOne);
  EXPECT_EQ(done.outcome, Outcome::Deadlocked);
}

TEST(TensorMemory, GenericAddressesOfTheResult) {
  expect_fine(
      "mov.u64 %d7, cells; cvta.shared.u64 %d7, %d7;"
      "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d7], 32; bar.warp.sync -1;"
      "ld.shared.u32 %r20, [cells];" +
          dealloc("%r20", "32"),
      kOne);
}

}  // namespace
}  // namespace ww::sim::ops_tcgen05_test
