// SPDX-License-Identifier: Apache-2.0
// mma.sync in every dense form: elements are placed by the catalogue's fragments, which say in
// their own words who holds what; numbers are small, so that any order of adding gives the same
// sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "isa/catalogue.h"
#include "isa/check.h"
#include "isa/fragment.h"
#include "num/float_format.h"
#include "sim/test_run.h"

namespace ww::sim::ops_mma_test {
namespace {

using num::DType;

struct Kind {
  const char* word;
  DType type;
  int lowest, highest;  // values that are exact, and whose products and sums are
};
constexpr Kind kKinds[] = {
    {"f16", DType::Float16, -4, 4},       {"bf16", DType::Bfloat16, -4, 4},
    {"tf32", DType::Tfloat32, -4, 4},     {"e4m3", DType::Float8E4M3fn, -4, 4},
    {"e5m2", DType::Float8E5M2, -4, 4},   {"e3m2", DType::Float6E3M2fn, -4, 4},
    {"e2m3", DType::Float6E2M3fn, -4, 4}, {"e2m1", DType::Float4E2M1fn, -4, 4},
};

const Kind* find_kind(std::string_view word) {
  for (const Kind& kind : kKinds) {
    if (word == kind.word) return &kind;
  }
  return nullptr;
}

bool is_whole(std::string_view word) {
  return word == "s8" || word == "u8" || word == "s4" || word == "u4";
}

// A value and its bits in a register.
std::uint64_t bits_of(std::string_view word, int value, bool in_byte) {
  if (word == "f64") return num::encode(DType::Float64, value);
  if (is_whole(word))
    return static_cast<std::uint64_t>(value) & (word.ends_with('8') ? 0xFFU : 0xFU);
  const std::uint64_t bits = num::encode(find_kind(word)->type, value);
  return in_byte && word == "e2m1" ? bits << 2U : bits;
}

// One instruction with its operands filled from matrices, and D compared with the product.
void check_form(const isa::Binding& binding, std::mt19937& random) {
  const std::vector<isa::Fragment> fragments = isa::fragments_of(binding);
  ASSERT_EQ(fragments.size(), 4U);
  const auto named = [&](std::string_view name) -> const isa::Fragment& {
    return *std::find_if(fragments.begin(), fragments.end(),
                         [&](const isa::Fragment& f) { return f.operand == name; });
  };
  const isa::Fragment& fd = named("d");
  const isa::Fragment& fa = named("a");
  const isa::Fragment& fb = named("b");
  const std::string_view a_type = binding.word("atype").text();
  const std::string_view b_type = binding.word("btype").text();
  const std::string_view d_type = binding.word("dtype").text();
  const bool in_byte =
      binding.word("kind") == "kind::f8f6f4" || binding.word("kind") == "kind::mxf8f6f4";
  const int m = fa.rows;
  const int k = fa.cols;
  const int n = fb.cols;
  const bool is_double = d_type == "f64";
  const unsigned reg_bytes = is_double ? 8 : 4;
  const auto value_in = [&](std::string_view type) {
    const int low = type.starts_with('u') ? 0 : -4;
    int value = std::uniform_int_distribution<int>(low, 4)(random);
    if (type == "s4" && value == 4) value = 3;
    return value;
  };
  std::vector<int> a(static_cast<std::size_t>(m * k));
  std::vector<int> b(static_cast<std::size_t>(k * n));
  std::vector<int> c(static_cast<std::size_t>(m * n));
  for (int& v : a) v = value_in(a_type);
  for (int& v : b) v = value_in(b_type);
  for (int& v : c) v = std::uniform_int_distribution<int>(-30, 30)(random);

  const auto regs = static_cast<std::size_t>(fa.regs + fb.regs + fd.regs);
  std::vector<std::uint64_t> words(32 * regs);
  const auto put = [&](const isa::Fragment& f, std::size_t first, int row, int col,
                       std::uint64_t bits) {
    const isa::FragmentPlace& place = f.at(row, col);
    const unsigned width = 8 * reg_bytes / static_cast<unsigned>(f.parts);
    words[static_cast<std::size_t>(place.lane) * regs + first +
          static_cast<std::size_t>(place.reg)] |= bits
                                                  << (static_cast<unsigned>(place.part) * width);
  };
  const auto sum_bits = [&](int value) -> std::uint64_t {
    if (d_type == "f64") return num::encode(DType::Float64, value);
    if (d_type == "f32") return num::encode(DType::Float32, value);
    if (d_type == "f16") return num::encode(DType::Float16, value);
    return static_cast<std::uint32_t>(value);
  };
  const auto first_b = static_cast<std::size_t>(fa.regs);
  const auto first_c = first_b + static_cast<std::size_t>(fb.regs);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < k; ++j)
      put(fa, 0, i, j, bits_of(a_type, a[static_cast<std::size_t>(i * k + j)], in_byte));
  }
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < n; ++j)
      put(fb, first_b, i, j, bits_of(b_type, b[static_cast<std::size_t>(i * n + j)], in_byte));
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j)
      put(fd, first_c, i, j, sum_bits(c[static_cast<std::size_t>(i * n + j)]));
  }

  const char* prefix = is_double ? "%d" : "%r";
  const auto list = [&](int first, int count) {
    std::string text = "{";
    for (int r = 0; r < count; ++r)
      text += fmt::format("{}{}{}", r == 0 ? "" : ",", prefix, first + r);
    return text + "}";
  };
  std::string body = fmt::format(
      "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, {}; add.u64 %d2, %d1, %a0;\n", 8 * regs);
  for (std::size_t r = 0; r < regs; ++r) {
    body += fmt::format("ld.global.{} {}{}, [%d2+{}];\n", is_double ? "b64" : "b32", prefix, 20 + r,
                        8 * r);
  }
  const auto fregs = [](const isa::Fragment& f) { return f.regs; };
  body +=
      fmt::format("{} {}, {}, {}, {}", binding.opcode(), list(80, fregs(fd)), list(20, fregs(fa)),
                  list(20 + fregs(fa), fregs(fb)), list(20 + fregs(fa) + fregs(fb), fregs(fd)));
  if (binding.has("block_scale")) {
    // Scales of one: 2^0, or 1.0 of ue4m3.
    const bool is_ue4m3 = binding.word("stype") == "ue4m3";
    body = fmt::format("mov.u32 %r2, {};\n", is_ue4m3 ? "0x38383838" : "0x7F7F7F7F") + body;
    body += ", %r2, {0, 0}, %r2, {0, 0}";
  }
  body += ";\n";
  body += fmt::format("mul.wide.u32 %d1, %r1, {}; add.u64 %d2, %d1, %a1;\n", 8 * fd.regs);
  for (int r = 0; r < fd.regs; ++r) {
    body += fmt::format("st.global.{} [%d2+{}], {}{};\n", is_double ? "b64" : "b32", 8 * r, prefix,
                        80 + r);
  }
  const char* target = binding.has("block_scale") || in_byte ? "sm_120a" : "sm_90a";
  TestRun test(body, 2, target);
  ASSERT_EQ(test.errors(), "");
  test.launch.block = {32};
  test.input(words).output<std::uint64_t>(32 * static_cast<std::size_t>(fd.regs));
  test.options.checks.remove(Check::Uninit);  // only half of each 64-bit word of out is written
  test.run();
  EXPECT_EQ(test.findings(), "");
  const auto out = test.read<std::uint64_t>(1);
  const unsigned width = 8 * reg_bytes / static_cast<unsigned>(fd.parts);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = c[static_cast<std::size_t>(i * n + j)];
      for (int x = 0; x < k; ++x)
        sum += a[static_cast<std::size_t>(i * k + x)] * b[static_cast<std::size_t>(x * n + j)];
      const isa::FragmentPlace& place = fd.at(i, j);
      const std::uint64_t word =
          out[static_cast<std::size_t>(place.lane) * static_cast<std::size_t>(fd.regs) +
              static_cast<std::size_t>(place.reg)];
      std::uint64_t seen = (word >> (static_cast<unsigned>(place.part) * width)) & mask;
      if (sum == 0 && is_double) seen &= mask >> 1U;  // rounded down, an exact zero is negative
      ASSERT_EQ(seen, sum_bits(sum) & mask) << binding.opcode() << " row " << i << " column " << j;
    }
  }
}

TEST(Mma, EveryDenseFormFollowsTheFragments) {
  std::mt19937 random(7);
  unsigned forms = 0;
  for (const isa::Form* form : isa::forms_of("mma")) {
    if (form->slot_index("sp")) continue;
    isa::for_each_binding(*form, [&](const isa::Binding& binding) {
      const isa::Word type = binding.word("atype");
      // Bits have their own test; m8n8k4 of 16-bit types is four products.
      if (type == "b1" || binding.word("alayout") == "col" || binding.word("blayout") == "row")
        return;
      if (binding.word("shape") == "m8n8k4" && type != "f64") return;
      check_form(binding, random);
      ++forms;
    });
  }
  EXPECT_GT(forms, 100U);
}

TEST(Mma, SingleBits) {
  for (const char* op : {"xor", "and"}) {
    TestRun test(
        fmt::format(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, 0xF0F0F0F0; mov.u32 %r3, 0xFF00FF00; mov.u32 %r4, "
            "3;\n"
            "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{}.popc {{%r10,%r11,%r12,%r13}}, "
            "{{%r2,%r2,%r2,%r2}}, {{%r3,%r3}}, {{%r4,%r4,%r4,%r4}};\n"
            "mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %a0; st.global.u32 [%d1], %r12;",
            op),
        1);
    test.launch.block = {32};
    test.output<std::uint32_t>(32);
    test.run();
    EXPECT_EQ(test.findings(), "");
    // 8 words of 32 bits: 16 of them differ, 8 are set in both.
    for (const std::uint32_t v : test.read<std::uint32_t>(0))
      EXPECT_EQ(v, 3U + 8 * (op[0] == 'x' ? 16U : 8U));
  }
}

TEST(Mma, FourProductsOfHalves) {
  // A = 1 everywhere, B = 2 everywhere, C = 3: D = 3 + 4 * 2.
  TestRun test(
      "mov.u32 %r1, %tid.x; mov.b32 %r2, 0x3C003C00; mov.b32 %r3, 0x40004000; mov.f32 %f1, "
      "0f40400000;\n"
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f10,%f11,%f12,%f13,%f14,%f15,%f16,%f17}, "
      "{%r2,%r2}, "
      "{%r3,%r3}, {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};\n"
      "mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %a0; st.global.f32 [%d1], %f14;",
      1);
  test.launch.block = {32};
  test.output<float>(32);
  test.run();
  EXPECT_EQ(test.findings(), "");
  for (const float v : test.read<float>(0)) EXPECT_EQ(v, 11.0F);
}

TEST(Mma, WhatIsNotSimulatedSaysWhy) {
  TestRun brain(
      "mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, "
      "{%r5,%r6}, {%r7,%r8}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};",
      0);
  EXPECT_NE(brain.errors().find("the hardware takes it and multiplies nothing"), std::string::npos)
      << brain.errors();
  EXPECT_NE(brain.errors().find("test.ptx:"), std::string::npos);
}

}  // namespace
}  // namespace ww::sim::ops_mma_test
