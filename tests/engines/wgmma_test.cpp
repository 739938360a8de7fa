// SPDX-License-Identifier: Apache-2.0
// gemm_async by wgmma on every engine: types, widths of C, swizzles and majors, factors in registers,
// slices, stages of run time, several warpgroups, and products by chance. WW_RANDOM_COUNT=n and
// WW_RANDOM_SEED=n for more and other random ones.
#include <gmock/gmock.h>

#include <cstdlib>
#include <random>

#include "engines/wgmma_programs.h"

namespace ww::test::wgmma_test {
namespace {

struct Types {
  std::string a, b, out;
};
const Types kTypes[] = {{"float16", "float16", "float32"},
                        {"float16", "float16", "float16"},
                        {"bfloat16", "bfloat16", "float32"},
                        {"float32", "float32", "float32"},
                        {"float8_e4m3fn", "float8_e4m3fn", "float32"},
                        {"float8_e4m3fn", "float8_e5m2", "float16"},
                        {"float8_e5m2", "float8_e4m3fn", "float32"},
                        {"int8", "int8", "int32"},
                        {"uint8", "int8", "int32"}};

WgmmaCase of_types(const Types& types) {
  WgmmaCase c{.a = types.a, .b = types.b, .out = types.out};
  c.k = 1024 / bits_of(types.a);  // 128 bytes
  return c;
}

// The product among the calls.
const lower::CallReport& product_of(const Checked& checked) {
  for (const lower::CallReport& call : checked.report.calls)
    if (call.op == "gemm_async" || call.op == "gemm") return call;
  return checked.report.calls.at(0);
}

void run(Family& family, const WgmmaCase& c, std::int64_t columns, std::int64_t times) {
  const Checked checked = family.run(program_of(c));
  family.count();
  if (!checked.right()) return;
  EXPECT_EQ(product_of(checked).chosen, "wgmma");
  EXPECT_EQ(times_of(product_of(checked), c.opcode(columns)), times)
      << c.opcode(columns) << " among " << opcodes_of(product_of(checked)) << "\n"
      << checked.source;
}

TEST(Wgmma, TypesFromMemoryAndRegisters) {
  Family family("wgmma, types", Nvcc::Always);
  for (const Types& types : kTypes)
    for (const bool is_in_registers : {false, true}) {
      WgmmaCase c = of_types(types);
      c.is_a_in_registers = is_in_registers;
      run(family, c, 64, 4);
      if (types.out != "int32") {
        const Checked normal = check(normal_program_of(c));
        EXPECT_TRUE(normal.right()) << normal.explain();
      }
    }
}

TEST(Wgmma, SwizzlesAndMajors) {
  Family family("wgmma, swizzles");
  for (const std::string swizzle : {"none", "32B", "64B", "128B"})
    for (const bool turns_a : {false, true})
      for (const bool turns_b : {false, true}) {
        WgmmaCase c{
            .swizzle_a = swizzle, .swizzle_b = swizzle, .turns_a = turns_a, .turns_b = turns_b};
        c.n = 128;
        run(family, c, 128, 4);
      }
  for (const std::string swizzle : {"none", "32B", "64B"}) {
    WgmmaCase c{
        .a = "int8", .b = "int8", .out = "int32", .swizzle_a = swizzle, .swizzle_b = swizzle};
    run(family, c, 64, 2);
  }
}

TEST(Wgmma, WidthsOfC) {
  Family family("wgmma, widths");
  const auto of_width = [](std::int64_t n) {
    return WgmmaCase{.n = n, .k = 16, .swizzle_a = "32B", .swizzle_b = "32B"};
  };
  for (const std::int64_t n : {8, 24, 40, 88, 136, 200, 256}) run(family, of_width(n), n, 1);
  // Two and three instructions.
  WgmmaCase wide = of_width(296);
  wide.out = "float16";
  run(family, wide, 152, 1);
  WgmmaCase bytes{.a = "int8", .b = "int8", .out = "int32", .n = 40, .k = 32};
  bytes.swizzle_a = bytes.swizzle_b = "32B";
  run(family, bytes, 32, 1);
}

TEST(Wgmma, RowsOfSeveralWarpgroups) {
  Family family("wgmma, warpgroups", Nvcc::Always);
  for (const std::int64_t warpgroups : {1, 2, 3}) {
    WgmmaCase c{.m = 128 * warpgroups, .n = 32, .warpgroups = warpgroups};
    run(family, c, 32, 8);
  }
  WgmmaCase registers{.m = 128, .n = 32, .is_a_in_registers = true, .warpgroups = 2};
  run(family, registers, 32, 4);
}

TEST(Wgmma, SlicesStagesAndSums) {
  Family family("wgmma, stages", Nvcc::Always);
  for (const std::string accum : {"i > 0", "False", "i % 2 == 1"})
    for (const std::int64_t keep : {0, 1}) {
      WgmmaCase c{.n = 32, .stages = 3, .margin = 8, .accum = accum, .keep = keep};
      run(family, c, 32, 4);
    }
  WgmmaCase inside{.n = 32, .stages = 2, .margin = 4};  // begins inside a swizzle's pattern
  run(family, inside, 32, 4);
  WgmmaCase group{.n = 32, .is_of_cta = false, .stages = 2};
  run(family, group, 32, 4);
}

// Layouts that are inferred.
TEST(Wgmma, InferredLayouts) {
  Family family("wgmma, inferred layouts");
  for (const std::int64_t warpgroups : {1, 2})
    for (const bool turns_b : {false, true}) {
      WgmmaCase c{.m = 64 * warpgroups, .turns_b = turns_b, .warpgroups = warpgroups, .stages = 2};
      c.c_layout = c.a_layout = c.b_layout = "\"auto\"";
      run(family, c, 64, 4);
    }
  WgmmaCase odd{.m = 96};
  odd.c_layout = "\"auto\"";
  const Checked refused = compile_only(program_of(odd));
  EXPECT_EQ(refused.stage, Stage::Script);
  EXPECT_THAT(refused.why, testing::HasSubstr("wgmma deals no such `C_r` to 1 warpgroup: "));
}

// `gemm` from shared memory, which waits itself.
TEST(Wgmma, WaitedProducts) {
  Family family("gemm by wgmma", Nvcc::Always);
  for (const Types& types : kTypes)
    for (const bool is_in_registers : {false, true}) {
      WgmmaCase c = of_types(types);
      c.is_waited = true;
      c.is_a_in_registers = is_in_registers;
      c.stages = 2;
      c.beta = is_in_registers ? "1.0" : "0.0";
      run(family, c, 64, 4);
    }
  for (const bool turns_a : {false, true})
    for (const bool turns_b : {false, true}) {
      WgmmaCase c{.m = 128, .turns_a = turns_a, .turns_b = turns_b, .warpgroups = 2};
      c.is_waited = true;
      c.beta = "1.0";
      c.stages = 2;
      run(family, c, 64, 4);
    }
  WgmmaCase group{.n = 32, .is_of_cta = false, .is_waited = true, .stages = 2};
  run(family, group, 32, 4);
}

// --- by chance -----------------------------------------------------------------------------------

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  WgmmaCase make() {
    WgmmaCase c = of_types(kTypes[below(std::size(kTypes))]);
    const int bits = bits_of(c.a);
    const bool may_turn = bits == 16;
    c.is_a_in_registers = one_in(4);
    c.turns_a = may_turn && !c.is_a_in_registers && one_in(3);
    c.turns_b = may_turn && one_in(3);
    c.warpgroups = one_in(4) ? 2 : 1;
    c.is_of_cta = c.warpgroups > 1 || one_in(2);
    c.m = 64 * c.warpgroups * (one_in(4) ? 2 : 1);
    const std::int64_t step = c.turns_b ? 64 : bits == 8 && c.out == "int32" ? 16 : 8;
    c.n = step * (1 + below(c.turns_b ? 2 : 12));
    c.k = 256 / bits * (1 + below(4));
    c.stages = 1 + below(3);
    c.keep = below(2);
    c.swizzle_a = swizzle(c.turns_a ? c.m * bits : c.k * bits);
    c.swizzle_b = swizzle(c.turns_b ? c.n * bits : c.k * bits);
    const bool has_rows = !c.turns_a && !c.turns_b;
    c.margin = has_rows && one_in(3) ? 8 * (1 + below(2)) : 0;
    constexpr const char* kAccum[] = {"i > 0", "False", "i % 2 == 1", "i != 0"};
    c.accum = kAccum[below(std::size(kAccum))];
    c.is_waited = one_in(4);
    c.beta = one_in(2) ? "1.0" : "0.0";
    return c;
  }

 private:
  std::int64_t below(std::size_t n) { return static_cast<std::int64_t>(random_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // One whose rows divide the tile's.
  std::string swizzle(std::int64_t row_bits) {
    std::vector<std::string> possible = {"none"};
    for (const std::int64_t width : {32, 64, 128})
      if (row_bits % (width * 8) == 0) possible.push_back(fmt::format("{}B", width));
    return possible[static_cast<std::size_t>(below(possible.size()))];
  }

  std::mt19937_64 random_;
};

std::int64_t number_of(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

TEST(Wgmma, ProductsByChance) {
  Family family("wgmma, by chance");
  const std::int64_t count = number_of("WW_RANDOM_COUNT", 100);
  const std::int64_t first = number_of("WW_RANDOM_SEED", 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const WgmmaCase c = Maker(static_cast<std::uint64_t>(first + i)).make();
    const Checked checked = family.run(program_of(c));
    family.count();
    if (!checked.right()) {
      ADD_FAILURE() << "seed " << first + i;
      break;
    }
    EXPECT_EQ(product_of(checked).chosen, "wgmma") << checked.source;
  }
}

}  // namespace
}  // namespace ww::test::wgmma_test
