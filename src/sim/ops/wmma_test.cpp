// SPDX-License-Identifier: Apache-2.0
// wmma: every shape, type and layout against three loops over small whole numbers, which any order of
// adding gives exactly; fragments, which on an H200 are the same register by register; what the checks see.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "num/float_format.h"
#include "sim/test_run.h"

namespace ww::sim::ops_wmma_test {
namespace {

using num::DType;

struct Kind {
  std::string word;
  DType type;
  int bits;
  int lowest, highest;
};
const Kind kF16{"f16", DType::Float16, 16, -4, 4};
const Kind kF32{"f32", DType::Float32, 32, -9, 9};
const Kind kS32{"s32", DType::Int32, 32, -99, 99};
const Kind kF64{"f64", DType::Float64, 64, -9, 9};

/// One product: C and D have types of their own.
struct Form {
  std::string opcode;  // behind the layouts and the shape
  Kind in, c, d;
  int m, n, k;
  bool any_layout = true;

  [[nodiscard]] std::string shape() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

std::vector<Form> all_forms() {
  const Kind bf16{"bf16", DType::Bfloat16, 16, -4, 4};
  const Kind tf32{"tf32", DType::Tfloat32, 32, -4, 4};
  const Kind s8{"s8", DType::Int8, 8, -128, 127};
  const Kind u8{"u8", DType::Uint8, 8, 0, 255};
  const Kind s4{"s4", DType::Int4, 4, -8, 7};
  const Kind u4{"u4", DType::Uint4, 4, 0, 15};
  std::vector<Form> out;
  const int shapes[][2] = {{16, 16}, {8, 32}, {32, 8}};
  for (const auto& [m, n] : shapes) {
    for (const Kind& c : {kF16, kF32})
      for (const Kind& d : {kF16, kF32})
        out.push_back({d.word + "." + c.word, kF16, c, d, m, n, 16});
    out.push_back({"f32.bf16.bf16.f32", bf16, kF32, kF32, m, n, 16});
    out.push_back({"s32.s8.s8.s32", s8, kS32, kS32, m, n, 16});
    out.push_back({"s32.u8.u8.s32", u8, kS32, kS32, m, n, 16});
  }
  out.push_back({"f32.tf32.tf32.f32", tf32, kF32, kF32, 16, 16, 8});
  out.push_back({"f64.f64.f64.f64.rn", kF64, kF64, kF64, 8, 8, 4});
  out.push_back({"s32.s4.s4.s32", s4, kS32, kS32, 8, 8, 32, false});
  out.push_back({"s32.u4.u4.s32", u4, kS32, kS32, 8, 8, 32, false});
  return out;
}

std::uint64_t bits_of(const Kind& kind, int value) {
  if (kind.word[0] == 's' || kind.word[0] == 'u')
    return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << kind.bits) - 1);
  return num::encode(kind.type, value);
}

/// A matrix in memory, by rows or by columns, with some room between them.
struct Stored {
  int rows, cols;
  bool by_rows;
  std::vector<int> values;
  int stride;

  Stored(int r, int c, bool rows_first, const Kind& kind, std::mt19937& random)
      : rows(r), cols(c), by_rows(rows_first), stride((rows_first ? c : r) + 32) {
    std::uniform_int_distribution<int> any(kind.lowest, kind.highest);
    for (int i = 0; i < r * c; ++i) values.push_back(any(random));
  }
  [[nodiscard]] int at(int r, int c) const {
    return values[static_cast<std::size_t>(r * cols + c)];
  }
  [[nodiscard]] std::size_t index(int r, int c) const {
    return static_cast<std::size_t>(by_rows ? r * stride + c : c * stride + r);
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(const Kind& kind) const {
    const int lines = by_rows ? rows : cols;
    std::vector<std::uint8_t> out(static_cast<std::size_t>(lines * stride * kind.bits / 8));
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        const std::uint64_t bits = bits_of(kind, at(r, c));
        const std::size_t bit = index(r, c) * static_cast<std::size_t>(kind.bits);
        if (kind.bits < 8) {
          out[bit / 8] |= static_cast<std::uint8_t>(bits << (bit % 8));
        } else {
          std::memcpy(&out[bit / 8], &bits, static_cast<std::size_t>(kind.bits / 8));
        }
      }
    return out;
  }
};

std::string list(const std::string& prefix, int first, int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i)
    out += (i == 0 ? "%" : ", %") + prefix + std::to_string(first + i);
  return out + "}";
}

// Of an operand of so many elements; halves of A and B fill eight.
int registers(const Kind& kind, int elements, bool is_factor) {
  return is_factor && kind.word == "f16" ? 8
                                         : elements * kind.bits / (kind.bits == 64 ? 2048 : 1024);
}

std::string layout(bool by_rows) { return by_rows ? "row" : "col"; }

std::string body_of(const Form& form, const Stored& a, const Stored& b, const Stored& c,
                    const Stored& d) {
  const std::string reg = form.in.bits == 64 ? "d" : "r";
  const int ra = registers(form.in, form.m * form.k, true);
  const int rb = registers(form.in, form.n * form.k, true);
  const int rc = registers(form.c, form.m * form.n, false);
  const int rd = registers(form.d, form.m * form.n, false);
  const auto load = [&](const char* matrix, const Stored& from, const Kind& kind, int first,
                        int count, const char* address) {
    return fmt::format("wmma.load.{}.sync.aligned.{}.{}.global.{} {}, [{}], {};\n", matrix,
                       layout(from.by_rows), form.shape(), kind.word, list(reg, first, count),
                       address, from.stride);
  };
  std::string text = load("a", a, form.in, 10, ra, "%a0") + load("b", b, form.in, 20, rb, "%a1") +
                     load("c", c, form.c, 30, rc, "%a2");
  text += fmt::format("wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", layout(a.by_rows),
                      layout(b.by_rows), form.shape(), form.opcode, list(reg, 40, rd),
                      list(reg, 10, ra), list(reg, 20, rb), list(reg, 30, rc));
  return text + fmt::format("wmma.store.d.sync.aligned.{}.{}.{} [%a3], {}, {};", layout(d.by_rows),
                            form.shape(), form.d.word, list(reg, 40, rd), d.stride);
}

void check_product(const Form& form, bool rows_a, bool rows_b, bool rows_c, std::mt19937& random) {
  SCOPED_TRACE(form.opcode + " " + form.shape() + " " + layout(rows_a) + layout(rows_b));
  const Stored a(form.m, form.k, rows_a, form.in, random);
  const Stored b(form.k, form.n, rows_b, form.in, random);
  const Stored c(form.m, form.n, rows_c, form.c, random);
  const Stored d(form.m, form.n, !rows_c, form.d, random);
  TestRun test(body_of(form, a, b, c, d), 4);
  test.launch.block = {32};
  test.input(a.bytes(form.in)).input(b.bytes(form.in)).input(c.bytes(form.c));
  test.input(std::vector<std::uint8_t>(d.bytes(form.d).size(), 0xEE));
  test.run();
  ASSERT_EQ(test.findings(), "");
  const auto seen = test.read<std::uint8_t>(3);
  const auto width = static_cast<std::size_t>(form.d.bits / 8);
  std::size_t written = 0;
  for (int r = 0; r < form.m; ++r)
    for (int col = 0; col < form.n; ++col) {
      int sum = c.at(r, col);
      for (int k = 0; k < form.k; ++k) sum += a.at(r, k) * b.at(k, col);
      const std::uint64_t bits = bits_of(form.d, sum);
      ASSERT_EQ(std::memcmp(&seen[d.index(r, col) * width], &bits, width), 0) << r << "," << col;
      written += width;
    }
  std::size_t kept = 0;
  for (const std::uint8_t byte : seen) kept += byte == 0xEE ? 1U : 0U;
  EXPECT_GE(kept + written, seen.size());  // the room between rows is left alone
}

TEST(WmmaOps, MultiplyInEveryShapeTypeAndLayout) {
  std::mt19937 random(1);
  for (const Form& form : all_forms())
    for (const bool rows_a : {true, false})
      for (const bool rows_b : {true, false}) {
        if (!form.any_layout && (!rows_a || rows_b)) continue;
        check_product(form, rows_a, rows_b, rows_a != rows_b, random);
      }
}

TEST(WmmaOps, CountBits) {
  std::vector<std::uint32_t> a(8 * 4), b(8 * 4);
  std::mt19937 random(2);
  for (std::uint32_t& word : a) word = static_cast<std::uint32_t>(random());
  for (std::uint32_t& word : b) word = static_cast<std::uint32_t>(random());
  for (const std::string op : {"xor", "and"}) {
    TestRun test(
        "wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r10}, [%a0];\n"
        "wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r11}, [%a1];\n"
        "mov.b32 %r12, 5; mov.b32 %r13, 5;\nwmma.mma." +
            op +
            ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r14, %r15}, {%r10}, {%r11}, "
            "{%r12, %r13};\n"
            "wmma.store.d.sync.aligned.row.m8n8k128.global.s32 [%a2], {%r14, %r15};",
        3);
    test.launch.block = {32};
    test.input(a).input(b).output<std::uint32_t>(64).run();
    ASSERT_EQ(test.findings(), "");
    const auto sums = test.read<std::uint32_t>(2);
    for (std::size_t r = 0; r < 8; ++r)
      for (std::size_t c = 0; c < 8; ++c) {
        int wanted = 5;
        for (std::size_t w = 0; w < 4; ++w)
          wanted += std::popcount(op == "xor" ? a[r * 4 + w] ^ b[c * 4 + w]
                                              : a[r * 4 + w] & b[c * 4 + w]);
        ASSERT_EQ(sums[r * 8 + c], static_cast<std::uint32_t>(wanted)) << op << r << "," << c;
      }
  }
}

// --- what the checks see -------------------------------------------------------------------------

const std::string kLoad =
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, "
    "[%a0], 16;\n";
const std::string kStore =
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%a0], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, "
    "%r8}, 16;\n";

TestRun run_on(const std::string& body, std::size_t bytes, unsigned threads = 32) {
  TestRun test(body, 1);
  test.launch.block = {threads};
  test.input(std::vector<std::uint8_t>(bytes));
  test.run();
  return test;
}

TEST(WmmaChecks, AccessesOutsideBuffersAreFound) {
  EXPECT_EQ(run_on(kLoad, 512).findings(), "");
  EXPECT_EQ(run_on(kLoad, 508).count(Check::Bounds), 1U);
}

TEST(WmmaChecks, UndefinedElementsStayUndefined) {
  TestRun test(kLoad + "st.global.b32 [%a0], %r4;", 1);
  test.launch.block = {32};
  test.output<std::uint16_t>(256).run();
  EXPECT_EQ(test.count(Check::Uninit), 1U);
}

TEST(WmmaChecks, StoresOfTwoWarpsRace) {
  const std::string body =
      "mov.u32 %r1, %tid.x; mov.b32 %r2, %r1; mov.b32 %r3, %r1; mov.b32 %r4, %r1; mov.b32 %r5, "
      "%r1; "
      "mov.b32 %r6, %r1; mov.b32 %r7, %r1; mov.b32 %r8, %r1;\n" +
      kStore;
  EXPECT_EQ(run_on(body, 1024).findings(), "");
  EXPECT_EQ(run_on(body, 1024, 64).count(Check::Race), 1U);
}

TEST(WmmaChecks, AllLanesTakePart) {
  EXPECT_EQ(run_on("mov.u32 %r9, %tid.x; setp.lt.u32 %p1, %r9, 16; @%p1 bra L; bra M; L:\n" +
                       kLoad + "M:",
                   512)
                .count(Check::Collective),
            1U);
}

}  // namespace
}  // namespace ww::sim::ops_wmma_test
