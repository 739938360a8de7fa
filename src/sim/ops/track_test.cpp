// SPDX-License-Identifier: Apache-2.0
// Undefined bytes, against what they mean: turning bits in undefined bytes of the sources may
// change a result only in bytes that are marked, and each marked byte does change some time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "sim/ops/test_warp.h"
#include "sim/ops/track.h"

namespace ww::sim::ops_track_test {
namespace {

// `%r0` for the result and `%r1`, `%h1`, … for the sources: how many bytes they have.
unsigned bytes_of(std::string_view name) {
  switch (name[1]) {
    case 'b':
      return 1;
    case 'h':
      return 2;
    case 'r':
      return 4;
    case 'd':
      return 8;
    default:
      return 16;
  }
}
unsigned marks(OpsUnderTest& ops, std::string_view name, unsigned lane) {
  const std::uint8_t* const low = ops.undefined(name) + lane;
  return bytes_of(name) > 8 ? low[0] | static_cast<unsigned>(low[kLanes]) << 8U : low[0];
}

struct Case {
  std::string text;
  std::vector<std::string> results;
  std::vector<std::string> sources;    // that may have undefined bytes
  std::vector<std::string> amounts{};  // that say where the bits go
};

class Tracked {
 public:
  explicit Tracked(const Case& it) : it_(it), ops_(it.text, true) {}
  void check() {
    ASSERT_TRUE(ops_.ok());
    for (int round = 0; round < 4; ++round) {
      fill(round);
      run_original();
      ASSERT_NO_FATAL_FAILURE(run_changed());
    }
  }

 private:
  using Values = std::vector<std::vector<std::uint8_t>>;

  std::uint8_t* bytes(const std::string& name) { return ops_.lanes<std::uint8_t>(name); }
  Values values(const std::vector<std::string>& names) {
    Values all;
    for (const std::string& name : names) {
      all.emplace_back(bytes(name), bytes(name) + kLanes * bytes_of(name));
    }
    return all;
  }
  void fill(int round) {
    for (const std::string& name : it_.sources) {
      for (unsigned i = 0; i < kLanes * bytes_of(name); ++i) {
        // Zeros and ones in whole bytes now and then: they decide what `and` and `or` give.
        const std::uint64_t x = numbers_.bits();
        bytes(name)[i] = static_cast<std::uint8_t>(x % 4 == 0 ? 0 : x % 4 == 1 ? 0xFF : x >> 8U);
      }
      const unsigned rows = bytes_of(name) > 8 ? 2 : 1;
      const unsigned width = std::min(bytes_of(name), 8U);
      for (unsigned i = 0; i < rows * kLanes; ++i) {
        const bool some = round != 0 && numbers_.bits() % 2 == 0;
        ops_.undefined(name)[i] =
            static_cast<std::uint8_t>(some ? numbers_.bits() & ((1U << width) - 1) : 0);
      }
    }
    // Shifts by less than an element calculate.
    const bool is_shift = it_.text.starts_with("shl") || it_.text.starts_with("shr");
    const std::uint64_t step = is_shift ? 4 : 1;
    for (const std::string& name : it_.amounts) {
      for (unsigned l = 0; l < kLanes; ++l) {
        ops_.lanes<std::uint32_t>(name)[l] =
            static_cast<std::uint32_t>(numbers_.bits() % (80 / step) * step);
      }
    }
  }
  void run_original() {
    sources_ = values(it_.sources);
    const Values undefined = marks_of(it_.sources);
    ops_.run();
    results_ = values(it_.results);
    undefined_ = undefined;
    marked_.clear();
    for (const std::string& name : it_.results) {
      for (unsigned l = 0; l < kLanes; ++l) marked_.push_back(marks(ops_, name, l));
    }
    changed_.assign(marked_.size(), 0);
  }
  Values marks_of(const std::vector<std::string>& names) {
    Values all;
    for (const std::string& name : names) {
      all.emplace_back(ops_.undefined(name), ops_.undefined(name) + 2 * kLanes);
    }
    return all;
  }
  // Random bits in the undefined bytes, and what becomes of them.
  void run_changed() {
    for (int attempt = 0; attempt < 60; ++attempt) {
      for (std::size_t s = 0; s < it_.sources.size(); ++s) change(s);
      ops_.run();
      compare();
    }
    for (std::size_t i = 0; i < marked_.size(); ++i) {
      ASSERT_EQ(changed_[i], marked_[i])
          << it_.text << ", " << it_.results[i / kLanes] << " lane " << i % kLanes;
    }
  }
  void change(std::size_t s) {
    const unsigned width = bytes_of(it_.sources[s]);
    for (unsigned i = 0; i < kLanes * width; ++i) {
      const unsigned lane = i / width;
      const unsigned byte = i % width;
      const unsigned marked = undefined_[s][byte / 8 * kLanes + lane];
      const bool free = ((marked >> (byte % 8)) & 1U) != 0;
      const auto turned = static_cast<std::uint8_t>(free ? numbers_.bits() : 0);
      bytes(it_.sources[s])[i] = static_cast<std::uint8_t>(sources_[s][i] ^ turned);
    }
    std::memcpy(ops_.undefined(it_.sources[s]), undefined_[s].data(), width > 8 ? 64 : 32);
  }
  void compare() {
    for (std::size_t r = 0; r < it_.results.size(); ++r) {
      const unsigned width = bytes_of(it_.results[r]);
      for (unsigned i = 0; i < kLanes * width; ++i) {
        const bool differs = bytes(it_.results[r])[i] != results_[r][i];
        if (differs) changed_[r * kLanes + i / width] |= 1U << (i % width);
      }
    }
  }

  const Case& it_;
  OpsUnderTest ops_;
  Numbers numbers_;
  Values sources_, results_, undefined_;
  std::vector<unsigned> marked_, changed_;  // by result and lane: bit b is byte b
};

TEST(Track, MarksTheBytesThatCanChange) {
  const Case cases[] = {
      {"mov.b16 %h0, %h1;", {"%h0"}, {"%h1"}},
      {"mov.b32 %r0, %r1;", {"%r0"}, {"%r1"}},
      {"mov.b64 %d0, %d1;", {"%d0"}, {"%d1"}},
      {"mov.b128 %q0, %q1;", {"%q0"}, {"%q1"}},
      {"mov.b16 %h0, {%b1, %b2};", {"%h0"}, {"%b1", "%b2"}},
      {"mov.b32 %r0, {%h1, %h2};", {"%r0"}, {"%h1", "%h2"}},
      {"mov.b32 %r0, {%b1, %b2, %b3, %b4};", {"%r0"}, {"%b1", "%b2", "%b3", "%b4"}},
      {"mov.b64 %d0, {%r1, %r2};", {"%d0"}, {"%r1", "%r2"}},
      {"mov.b64 %d0, {%h1, 5, %h2, %h3};", {"%d0"}, {"%h1", "%h2", "%h3"}},
      {"mov.b128 %q0, {%d1, %d2};", {"%q0"}, {"%d1", "%d2"}},
      {"mov.b128 %q0, {%r1, %r2, %r3, %r4};", {"%q0"}, {"%r1", "%r2", "%r3", "%r4"}},
      {"mov.b16 {%b0, %b1}, %h1;", {"%b0", "%b1"}, {"%h1"}},
      {"mov.b32 {%h0, %h1}, %r1;", {"%h0", "%h1"}, {"%r1"}},
      {"mov.b32 {%b0, %b1, %b2, %b3}, %r1;", {"%b0", "%b1", "%b2", "%b3"}, {"%r1"}},
      {"mov.b64 {%r0, %r2}, %d1;", {"%r0", "%r2"}, {"%d1"}},
      {"mov.b64 {%h0, _, %h2, %h3}, %d1;", {"%h0", "%h2", "%h3"}, {"%d1"}},
      {"mov.b128 {%d0, %d2}, %q1;", {"%d0", "%d2"}, {"%q1"}},
      {"mov.b128 {%r0, %r1, %r2, %r3}, %q1;", {"%r0", "%r1", "%r2", "%r3"}, {"%q1"}},
      {"and.b16 %h0, %h1, %h2;", {"%h0"}, {"%h1", "%h2"}},
      {"and.b32 %r0, %r1, 0x00FF00F0;", {"%r0"}, {"%r1"}},
      {"or.b32 %r0, %r1, %r2;", {"%r0"}, {"%r1", "%r2"}},
      {"or.b32 %r0, %r1, 0x00FF00F0;", {"%r0"}, {"%r1"}},
      {"xor.b64 %d0, %d1, %d2;", {"%d0"}, {"%d1", "%d2"}},
      {"not.b64 %d0, %d1;", {"%d0"}, {"%d1"}},
      {"lop3.b32 %r0, %r1, %r2, %r3, 0xCA;", {"%r0"}, {"%r1", "%r2", "%r3"}},
      {"lop3.b32 %r0, %r1, %r2, %r3, 0x17;", {"%r0"}, {"%r1", "%r2", "%r3"}},
      {"lop3.b32 %r0, %r1, %r2, 0xFF, 0xEA;", {"%r0"}, {"%r1", "%r2"}},
      {"shl.b32 %r0, %r1, 8;", {"%r0"}, {"%r1"}},
      {"shl.b32 %r0, %r1, 12;", {"%r0"}, {"%r1"}},
      {"shl.b64 %d0, %d1, %r2;", {"%d0"}, {"%d1"}, {"%r2"}},
      {"shr.u16 %h0, %h1, 4;", {"%h0"}, {"%h1"}},
      {"shr.s32 %r0, %r1, 16;", {"%r0"}, {"%r1"}},
      {"shr.s64 %d0, %d1, %r2;", {"%d0"}, {"%d1"}, {"%r2"}},
      {"shf.l.wrap.b32 %r0, %r1, %r2, 12;", {"%r0"}, {"%r1", "%r2"}},
      {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {"%r0"}, {"%r1", "%r2"}, {"%r3"}},
      {"bfe.u32 %r0, %r1, 4, 9;", {"%r0"}, {"%r1"}},
      {"bfe.s64 %d0, %d1, %r2, %r3;", {"%d0"}, {"%d1"}, {"%r2", "%r3"}},
      {"bfi.b32 %r0, %r1, %r2, 6, 12;", {"%r0"}, {"%r1", "%r2"}},
      {"bfi.b64 %d0, %d1, %d2, %r3, %r4;", {"%d0"}, {"%d1", "%d2"}, {"%r3", "%r4"}},
      {"brev.b64 %d0, %d1;", {"%d0"}, {"%d1"}},
      {"prmt.b32 %r0, %r1, %r2, 0x5410;", {"%r0"}, {"%r1", "%r2"}},
      {"prmt.b32 %r0, %r1, %r2, 0xF8E1;", {"%r0"}, {"%r1", "%r2"}},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {"%r0"}, {"%r1", "%r2"}, {"%r3"}},
      {"prmt.b32.b4e %r0, %r1, %r2, %r3;", {"%r0"}, {"%r1", "%r2"}, {"%r3"}},
      {"slct.b64.s32 %d0, %d1, %d2, %r3;", {"%d0"}, {"%d1", "%d2"}, {"%r3"}},
  };
  for (const Case& it : cases) {
    SCOPED_TRACE(it.text);
    Tracked(it).check();
  }
}

// Bits through several shifts and masks by constants, against what turning them changes: no bit is
// lost and none is added.
TEST(Track, FollowsBitsThroughShiftsAndMasks) {
  Numbers numbers(7);
  const auto next = [&](std::uint64_t below) { return numbers.bits() % below; };
  const auto constant = [&] { return fmt::format("0x{:08x}", numbers.bits() & 0xFFFF'FFFFU); };
  for (int round = 0; round < 300; ++round) {
    std::string text;
    constexpr unsigned kSteps = 5;
    for (unsigned i = 1; i <= kSteps; ++i) {
      const std::string to = fmt::format("%r{}", i + 1);
      const std::string from = fmt::format("%r{}", i);
      switch (next(10)) {
        case 0:
          text += fmt::format("and.b32 {}, {}, {}; ", to, from, constant());
          break;
        case 1:
          text += fmt::format("or.b32 {}, {}, {}; ", to, from, constant());
          break;
        case 2:
          text += fmt::format("xor.b32 {}, {}, {}; ", to, from, constant());
          break;
        case 3:
          text += fmt::format("shl.b32 {}, {}, {}; ", to, from, next(12));
          break;
        case 4:
          text += fmt::format("shr.u32 {}, {}, {}; ", to, from, next(12));
          break;
        case 5:
          text += fmt::format("shf.l.wrap.b32 {}, {}, {}, {}; ", to, from, constant(), next(32));
          break;
        case 6:
          text += fmt::format("bfe.u32 {}, {}, {}, {}; ", to, from, next(16), 8 + next(24));
          break;
        case 7:
          text += fmt::format("prmt.b32 {}, {}, {}, 0x{:04x}; ", to, from, constant(),
                              std::array{0x0123, 0x2301, 0x4016, 0x1732}[next(4)]);
          break;
        case 8:
          text += fmt::format("lop3.b32 {}, {}, {}, {}, 0x{:02x}; ", to, from, constant(),
                              constant(), numbers.bits() & 0xFFU);
          break;
        default:
          text += fmt::format("mov.b32 {}, {}; ", to, from);
      }
    }
    SCOPED_TRACE(text);
    OpsUnderTest ops(text, true);
    ASSERT_TRUE(ops.ok());
    // Never undefined as a whole: shifting such a value counts as a use.
    const auto marks = static_cast<std::uint8_t>(1U + next(14));
    std::uint32_t before[kLanes];
    std::uint32_t after[kLanes];
    std::uint32_t changed[kLanes] = {};
    const std::string result = fmt::format("%r{}", kSteps + 1);
    for (unsigned l = 0; l < kLanes; ++l) before[l] = static_cast<std::uint32_t>(numbers.bits());
    for (int attempt = 0; attempt < 40; ++attempt) {
      for (unsigned l = 0; l < kLanes; ++l) {
        const auto free = undefined_bits<std::uint32_t>(marks);
        const auto turned = attempt == 0 ? 0U : static_cast<std::uint32_t>(numbers.bits()) & free;
        ops.lanes<std::uint32_t>("%r1")[l] = before[l] ^ turned;
        ops.undefined("%r1")[l] = marks;
      }
      ops.run();
      const std::uint32_t* const got = ops.lanes<std::uint32_t>(result);
      for (unsigned l = 0; l < kLanes; ++l) {
        if (attempt == 0) after[l] = got[l];
        changed[l] |= got[l] ^ after[l];
      }
    }
    for (unsigned l = 0; l < kLanes; ++l)
      ASSERT_EQ(undefined_in<std::uint32_t>(ops.warp, ops.place(result), l), changed[l]);
  }
}

TEST(Track, FollowsBitsThroughMovesAndWidths) {
  OpsUnderTest ops(
      "shl.b32 %r1, %r0, 4; mov.b64 %d0, {%r1, %r2}; mov.b64 {%r3, %r4}, %d0; cvt.u64.u32 %d1, %r3;"
      "cvt.u32.u64 %r5, %d1; selp.b32 %r6, %r5, %r2, %p0; not.b32 %r7, %r6; and.b32 %r0, %r7, 15;",
      true);
  ASSERT_TRUE(ops.ok());
  ops.pred("%p0") = 0x0000'FFFF;
  for (unsigned l = 0; l < kLanes; ++l) {
    ops.undefined("%r0")[l] = 0b1111;
    ops.undefined("%r2")[l] = 0b0001;
  }
  const auto bits = [&](std::string_view name, unsigned lane) {
    return undefined_in<std::uint32_t>(ops.warp, ops.place(name), lane);
  };
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(bits("%r1", l), 0xFFFF'FFF0U);
    EXPECT_EQ(bits("%r3", l), 0xFFFF'FFF0U);
    EXPECT_EQ(bits("%r4", l), 0x0000'00FFU);
    EXPECT_EQ(bits("%r5", l), 0xFFFF'FFF0U);
    EXPECT_EQ(bits("%r6", l), l < 16 ? 0xFFFF'FFF0U : 0xFFU);
    EXPECT_EQ(bits("%r0", l), l < 16 ? 0U : 15U);
  }
}

// What is known of a value goes when another one takes its place.
TEST(Track, ForgetsBitsThatAreWrittenAgain) {
  OpsUnderTest ops("shl.b32 %r1, %r0, 4; mov.b32 %r1, %r2; and.b32 %r3, %r1, 15;", true);
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) ops.undefined("%r0")[l] = ops.undefined("%r2")[l] = 0b1111;
  ops.run();
  EXPECT_EQ(ops.undefined("%r3")[0], 0b0001);
}

TEST(Track, LeavesOtherLanesAlone) {
  OpsUnderTest ops("mov.b32 %r0, %r1; xor.b32 %r2, %r3, %r3; shl.b32 %r4, %r5, 8;", true);
  ASSERT_TRUE(ops.ok());
  for (unsigned l = 0; l < kLanes; ++l) {
    for (const char* result : {"%r0", "%r2", "%r4"}) ops.undefined(result)[l] = 0b0110;
    ops.undefined("%r1")[l] = 0b0001;
    ops.undefined("%r5")[l] = 0b1001;
  }
  ops.run(0x0000'00F0);
  for (unsigned l = 0; l < kLanes; ++l) {
    const bool runs = l >= 4 && l < 8;
    EXPECT_EQ(ops.undefined("%r0")[l], runs ? 0b0001 : 0b0110);
    EXPECT_EQ(ops.undefined("%r2")[l], runs ? 0b0000 : 0b0110);
    EXPECT_EQ(ops.undefined("%r4")[l], runs ? 0b0010 : 0b0110);
  }
}

TEST(Track, FollowsTheSelectedSource) {
  OpsUnderTest ops("selp.b32 %r0, %r1, %r2, !%p0; selp.b32 %r3, %r1, 7, %p0;", true);
  ASSERT_TRUE(ops.ok());
  ops.pred("%p0") = 0xFFFF'0000;
  for (unsigned l = 0; l < kLanes; ++l) {
    ops.undefined("%r1")[l] = 0b0001;
    ops.undefined("%r2")[l] = 0b0100;
  }
  ops.run();
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(ops.undefined("%r0")[l], l < 16 ? 0b0001 : 0b0100);
    EXPECT_EQ(ops.undefined("%r3")[l], l < 16 ? 0b0000 : 0b0001);
  }
}

Mask undefined_pred_of(OpsUnderTest& ops, std::string_view name) {
  Mask lanes = 0;
  std::memcpy(&lanes, ops.undefined(name), sizeof lanes);
  return lanes;
}
TEST(Track, MarksPredicates) {
  OpsUnderTest ops(
      "and.pred %p0, %p1, %p2; or.pred %p3, %p1, !%p2; xor.pred %p4, %p1, %p2;"
      "not.pred %p5, %p2; mov.pred %p6, %p2;",
      true);
  ASSERT_TRUE(ops.ok());
  ops.pred("%p1") = 0x0F;
  ops.pred("%p2") = 0x33;
  const Mask undefined = 0x55;
  std::memcpy(ops.undefined("%p2"), &undefined, sizeof undefined);
  ops.run();
  EXPECT_EQ(undefined_pred_of(ops, "%p0"), 0x05U);  // where the other is 1
  EXPECT_EQ(undefined_pred_of(ops, "%p3"), 0x50U);  // where the other is 0
  EXPECT_EQ(undefined_pred_of(ops, "%p4"), 0x55U);
  EXPECT_EQ(undefined_pred_of(ops, "%p5"), 0x55U);
  EXPECT_EQ(undefined_pred_of(ops, "%p6"), 0x55U);
}

}  // namespace
}  // namespace ww::sim::ops_track_test
