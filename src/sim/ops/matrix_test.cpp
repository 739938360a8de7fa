// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix in every legal form against the catalogue's fragments, which say
// in their own words which lane holds which element.
#include <gtest/gtest.h>

#include <map>

#include "isa/catalogue.h"
#include "isa/fragment.h"
#include "sim/test_run.h"

namespace ww::sim::ops_matrix_test {
namespace {

constexpr unsigned kRowBytes = 16;

const isa::Binding binding_of(std::string_view opcode) {
  return isa::bind_opcode(opcode).fits.at(0);
}

// 32 rows of 16 bytes, all different.
std::vector<std::uint8_t> some_rows() {
  std::vector<std::uint8_t> bytes(32 * kRowBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 37 + i / 16 * 11);
  return bytes;
}

// What a row's element is once unpacked.
unsigned element_of(const std::vector<std::uint8_t>& rows, unsigned row, unsigned at,
                    unsigned bits) {
  unsigned value = 0;
  for (unsigned b = 0; b < bits; ++b) {
    const unsigned bit = at * bits + b;
    value |= ((rows[row * kRowBytes + bit / 8] >> (bit % 8)) & 1U) << b;
  }
  return value;
}

struct LoadForm {
  std::string opcode;
  unsigned regs;
  unsigned bits;         // of an element in the register
  unsigned stored_bits;  // and in memory
};

std::vector<LoadForm> load_forms() {
  std::vector<LoadForm> forms;
  for (const unsigned n : {1U, 2U, 4U}) {
    const std::string num = fmt::format("x{}", n);
    for (const char* trans : {"", ".trans"}) {
      forms.push_back(
          {fmt::format("ldmatrix.sync.aligned.m8n8.{}{}.shared.b16", num, trans), n, 16, 16});
    }
    forms.push_back(
        {fmt::format("ldmatrix.sync.aligned.m8n16.{}.shared.b8x16.b6x16_p32", num), n, 8, 6});
    forms.push_back(
        {fmt::format("ldmatrix.sync.aligned.m8n16.{}.shared.b8x16.b4x16_p64", num), n, 8, 4});
    if (n == 4) continue;
    forms.push_back(
        {fmt::format("ldmatrix.sync.aligned.m16n16.{}.trans.shared.b8", num), 2 * n, 8, 8});
    forms.push_back(
        {fmt::format("ldmatrix.sync.aligned.m16n16.{}.trans.shared.b8x16.b6x16_p32", num), 2 * n, 8,
         6});
    forms.push_back(
        {fmt::format("ldmatrix.sync.aligned.m16n16.{}.trans.shared.b8x16.b4x16_p64", num), 2 * n, 8,
         4});
  }
  return forms;
}

std::string registers(unsigned count) {
  std::string text;
  for (unsigned r = 0; r < count; ++r) text += fmt::format("{}%r{}", r == 0 ? "" : ",", 10 + r);
  return text;
}

// Thread t stores registers 10 .. to out[t * count + r].
std::string store_all(unsigned count) {
  std::string text = fmt::format(
      "mul.lo.u32 %r5, %r1, {}; mul.wide.u32 %d5, %r5, 4; add.u64 %d5, %d5, %a1;\n", count);
  for (unsigned r = 0; r < count; ++r)
    text += fmt::format("st.global.u32 [%d5+{}], %r{};\n", 4 * r, 10 + r);
  return text;
}

constexpr std::string_view kFillShared = R"(.shared .align 16 .b8 rows[512];
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, rows; add.u32 %r2, %r2, %r3;
mul.wide.u32 %d1, %r1, 16; add.u64 %d1, %d1, %a0; ld.global.v4.u32 {%r20,%r21,%r22,%r23}, [%d1];
st.shared.v4.u32 [%r2], {%r20,%r21,%r22,%r23}; bar.warp.sync -1;
)";

TEST(Matrix, LoadsFollowTheFragments) {
  const std::vector<std::uint8_t> rows = some_rows();
  for (const LoadForm& form : load_forms()) {
    SCOPED_TRACE(form.opcode);
    TestRun test(std::string(kFillShared) +
                     fmt::format("{} {{{}}}, [%r2];\n", form.opcode, registers(form.regs)) +
                     store_all(form.regs),
                 2, "sm_120a");
    ASSERT_EQ(test.errors(), "");
    test.launch.block = {32};
    test.input(rows).output<std::uint32_t>(32 * form.regs);
    test.run();
    EXPECT_EQ(test.findings(), "");
    const auto out = test.read<std::uint32_t>(1);
    const auto fragments = isa::fragments_of(binding_of(form.opcode));
    ASSERT_FALSE(fragments.empty());
    const isa::Fragment& fragment = fragments[0];
    // One fragment is one matrix; the rows of the next follow in memory, its registers behind.
    unsigned checked = 0;
    for (int all = 0; all < fragment.rows * static_cast<int>(form.regs) / fragment.regs; ++all) {
      const int row = all % fragment.rows;
      const int matrix = all / fragment.rows;
      for (int col = 0; col < fragment.cols; ++col) {
        isa::FragmentPlace place = fragment.at(row, col);
        place.reg = static_cast<std::int16_t>(place.reg + matrix * fragment.regs);
        const std::uint32_t word = out[static_cast<std::size_t>(place.lane) * form.regs +
                                       static_cast<std::size_t>(place.reg)];
        const unsigned seen =
            (word >> (static_cast<unsigned>(place.part) * form.bits)) & ((1U << form.bits) - 1);
        EXPECT_EQ(seen, element_of(rows, static_cast<unsigned>(all), static_cast<unsigned>(col),
                                   form.stored_bits))
            << "row " << row << " element " << col;
        ++checked;
      }
    }
    EXPECT_EQ(checked, 32 * form.regs * (32 / form.bits));
  }
}

TEST(Matrix, StoresFollowTheFragments) {
  for (const unsigned n : {1U, 2U, 4U}) {
    for (const char* shape :
         {"m8n8.x{}.shared.b16", "m8n8.x{}.trans.shared.b16", "m16n8.x{}.trans.shared.b8"}) {
      const std::string opcode = "stmatrix.sync.aligned." + fmt::format(fmt::runtime(shape), n);
      SCOPED_TRACE(opcode);
      std::string body = R"(.shared .align 16 .b8 rows[512];
        mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, rows; add.u32 %r2, %r2, %r3;
      )";
      body += fmt::format(
          "mul.lo.u32 %r5, %r1, {}; mul.wide.u32 %d5, %r5, 4; add.u64 %d5, %d5, %a0;\n", n);
      for (unsigned r = 0; r < n; ++r)
        body += fmt::format("ld.global.u32 %r{}, [%d5+{}];\n", 10 + r, 4 * r);
      body += fmt::format("{} [%r2], {{{}}};\nbar.warp.sync -1;\n", opcode, registers(n));
      body += fmt::format("setp.ge.u32 %p1, %r1, {}; @%p1 exit;\n", 8 * n);
      body +=
          R"(ld.shared.v4.u32 {%r20,%r21,%r22,%r23}, [%r2]; mul.wide.u32 %d1, %r1, 16; add.u64 %d1, %d1, %a1;
        st.global.v4.u32 [%d1], {%r20,%r21,%r22,%r23};)";
      TestRun test(body, 2, "sm_120a");
      ASSERT_EQ(test.errors(), "");
      test.launch.block = {32};
      std::vector<std::uint32_t> words(32 * n);
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = static_cast<std::uint32_t>(i * 0x9E3779B9U);
      test.input(words).output<std::uint8_t>(8 * n * kRowBytes);
      test.run();
      EXPECT_EQ(test.findings(), "");
      const auto rows = test.read<std::uint8_t>(1);
      const auto fragments = isa::fragments_of(binding_of(opcode));
      ASSERT_FALSE(fragments.empty());
      const isa::Fragment& fragment = fragments[0];
      const unsigned bits = 32 / static_cast<unsigned>(fragment.parts);
      for (int all = 0; all < fragment.rows * static_cast<int>(n) / fragment.regs; ++all) {
        const int row = all % fragment.rows;
        const int matrix = all / fragment.rows;
        for (int col = 0; col < fragment.cols; ++col) {
          isa::FragmentPlace place = fragment.at(row, col);
          place.reg = static_cast<std::int16_t>(place.reg + matrix * fragment.regs);
          const std::uint32_t word =
              words[static_cast<std::size_t>(place.lane) * n + static_cast<std::size_t>(place.reg)];
          const unsigned wanted =
              (word >> (static_cast<unsigned>(place.part) * bits)) & ((1U << bits) - 1);
          EXPECT_EQ(element_of(rows, static_cast<unsigned>(all), static_cast<unsigned>(col), bits),
                    wanted)
              << "row " << row << " element " << col;
        }
      }
    }
  }
}

TEST(Matrix, MoveTransposes) {
  TestRun test(
      "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d1, %a0; ld.global.u32 %r2, "
      "[%d2];"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2; add.u64 %d3, %d1, %a1; st.global.u32 [%d3], "
      "%r3;",
      2);
  test.launch.block = {32};
  std::vector<std::uint16_t> in(64);
  for (unsigned i = 0; i < 64; ++i)
    in[i] = static_cast<std::uint16_t>(i);  // row l / 4, column 2 * (l % 4) + h
  test.input(in).output<std::uint16_t>(64);
  test.run();
  EXPECT_EQ(test.findings(), "");
  const auto out = test.read<std::uint16_t>(1);
  for (unsigned row = 0; row < 8; ++row) {
    for (unsigned col = 0; col < 8; ++col) EXPECT_EQ(out[row * 8 + col], in[col * 8 + row]);
  }
}

TEST(Matrix, BankConflictsAreCountedByEightRows) {
  // Rows 16 bytes apart are free of conflicts, rows 128 bytes apart fall on the same banks.
  for (const auto& [stride, needed] : std::map<unsigned, unsigned>{{16, 4}, {128, 32}}) {
    TestRun test(
        fmt::format(
            ".shared .align 128 .b8 rows[4096]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, {};"
            "mov.u32 %r3, rows; add.u32 %r2, %r2, %r3;"
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r4,%r5,%r6,%r7}}, [%r2];",
            stride),
        0);
    test.launch.block = {32};
    test.options.count = true;
    test.options.checks = CheckSet::nothing();
    test.run();
    std::uint64_t wavefronts = 0;
    std::uint64_t ideal = 0;
    for (const OpCount& count : test.report().counters.ops) {
      wavefronts += count.wavefronts;
      ideal += count.ideal_wavefronts;
    }
    EXPECT_EQ(wavefronts, needed) << stride;
    EXPECT_EQ(ideal, 4U);
  }
}

}  // namespace
}  // namespace ww::sim::ops_matrix_test
