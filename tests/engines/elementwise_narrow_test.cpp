// SPDX-License-Identifier: Apache-2.0
// Casts from and to floats of 6 and 4 bits, and of 8 bits where the target has no `cvt` for them:
// every code, and numbers at, beside and half way between all of them, against tables of the
// formats' numbers that are written out here.
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_narrow_test {
namespace {

// --- the formats ---------------------------------------------------------------------------------

/// The numbers that are not below 0, by code; what follows them is infinity or NaN.
struct Format {
  std::string name;
  std::string pair;  // its name in `cvt`
  std::vector<double> numbers;
  int bits;
};

const Format kE2m1{"float4_e2m1fn", "e2m1x2", {0, 0.5, 1, 1.5, 2, 3, 4, 6}, 4};
const Format kE2m3{
    "float6_e2m3fn",
    "e2m3x2",
    {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875,
     2, 2.25,  2.5,  2.75,  3,   3.25,  3.5,  3.75,  4, 4.5,   5,    5.5,   6,   6.5,   7,    7.5},
    6};
const Format kE3m2{"float6_e3m2fn",
                   "e3m2x2",
                   {0,     0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625, 0.75,
                    0.875, 1,      1.25,  1.5,    1.75, 2,      2.5,   3,      3.5, 4,     5,
                    6,     7,      8,     10,     12,   14,     16,    20,     24,  28},
                   6};

// The same for 8 bits, by the formula: exponents of 8 and 4 numbers each.
Format eight_bits(const std::string& name, int mantissa, int least, int count) {
  Format out{name, {}, {}, 8};
  const int per = 1 << mantissa;
  for (int code = 0; code < count; ++code) {
    const int whole = code % per + (code < per ? 0 : per);
    out.numbers.push_back(std::ldexp(whole, std::max(code / per, 1) - 1 + least));
  }
  return out;
}
const Format kE4m3 = eight_bits("float8_e4m3fn", 3, -9, 0x7F);
const Format kE5m2 = eight_bits("float8_e5m2", 2, -16, 0x7C);

/// The code by rounding to nearest, ties to the even code; too large is the largest number. NaN is
/// 0x7F in 8 bits, and the largest number where the format has no other.
unsigned code_of(const Format& format, double x) {
  const std::vector<double>& numbers = format.numbers;
  if (std::isnan(x)) return (1U << (format.bits - 1)) - 1;
  const double size = std::min(std::abs(x), numbers.back());
  std::size_t best = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const double gain = std::abs(size - numbers[best]) - std::abs(size - numbers[i]);
    if (gain > 0 || (gain == 0 && i % 2 == 0)) best = i;
  }
  return static_cast<unsigned>(best) | (std::signbit(x) ? 1U << (format.bits - 1) : 0U);
}

double number_of(const Format& format, unsigned code) {
  const double size = format.numbers[code & ((1U << (format.bits - 1)) - 1)];
  return (code >> (format.bits - 1) & 1) != 0 ? -size : size;
}

// --- arrays --------------------------------------------------------------------------------------

const Bytes* bytes_of(const Checked& checked, const std::string& name) {
  const Ran& ran = *checked.ran;
  for (std::size_t k = 0; k < ran.args.size(); ++k)
    if (ran.args[k].name == name) return &ran.expected.arrays[k];
  return nullptr;
}
unsigned code_at(const Bytes& bytes, const Format& format, std::size_t i) {
  if (format.bits != 4) return std::to_integer<unsigned>(bytes[i]);
  return std::to_integer<unsigned>(bytes[i / 2]) >> (i % 2 * 4) & 15;
}
template <typename Number>
double real_at(const Bytes& bytes, std::size_t i) {
  Number out;
  std::memcpy(&out, bytes.data() + i * sizeof(Number), sizeof(Number));
  return static_cast<double>(out);
}

// --- programs ------------------------------------------------------------------------------------

constexpr std::size_t kCount = 8192;

/// float32 of 32 exponents from 2^-11 to 2^18, that of 0 and subnormal numbers and that of infinity
/// and NaN among them; of each, 5 bits of mantissa, and 0, 1, one half and nearly one more.
std::string source_to(const std::string& from, const std::string& to, const std::string& value) {
  return fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((8192,), "{0}"), D: T.Buffer((8192,), "{1}")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    for k in range(64):
        n: T.let = T.cast(t * 64 + k, "uint32")
        e: T.let = n // 128 % 32
        field: T.let = (115 + e) * ((e + 30) // 31) + e // 31 * 109
        beside: T.let = n % 4 // 2 * (131072 + n % 2 * 131071) + n % 2 * (1 - n % 4 // 2)
        bits: T.let = n // 4096 * 2147483648 + field * 8388608 + n % 128 // 4 * 262144 + beside
        x: T.let = T.reinterpret("float32", bits)
        A[t * 64 + k] = {2}
    T.cuda.cta_sync()
    Tx.cta.cast(D, A)
)",
                     from, to, value);
}

struct ToCase {
  const Format& to;
  std::string target;
  std::string from = "float32", value = "x";
};

void expect_codes(const ToCase& each, const Checked& checked) {
  const Bytes &from = *bytes_of(checked, "A"), &to = *bytes_of(checked, "D");
  int wrong = 0;
  for (std::size_t i = 0; i < kCount && wrong < 3; ++i) {
    const double x = each.from == "float64" ? real_at<double>(from, i) : real_at<float>(from, i);
    const unsigned seen = code_at(to, each.to, i);
    EXPECT_EQ(seen, code_of(each.to, x)) << x << " to " << each.to.name;
    if (seen != code_of(each.to, x)) ++wrong;
  }
}

TEST(ElementwiseNarrow, AllCodesAndTheirNeighbours) {
  Family family("casts to narrow floats");
  // A little more or less than a float32: rounding to that first would give ties.
  const std::string near = "T.cast(x, \"float64\") * T.float64(1.0000000000000284)";
  const std::vector<ToCase> cases = {{kE2m1, "sm_100a"},
                                     {kE2m1, "sm_75"},
                                     {kE2m3, "sm_120a"},
                                     {kE2m3, "sm_90a"},
                                     {kE3m2, "sm_103a"},
                                     {kE3m2, "sm_80"},
                                     {kE4m3, "sm_80"},
                                     {kE5m2, "sm_75"},
                                     {kE2m1, "sm_90a", "float64", near},
                                     {kE3m2, "sm_100a", "float64", near}};
  for (const ToCase& each : cases) {
    Program program{.source = source_to(each.from, each.to.name, each.value),
                    .target = each.target};
    program.has_any_nan = true;
    const Checked checked = family.run(program, {.variant = "mixed"});
    if (checked.right()) expect_codes(each, checked);
    family.count();
  }
}

// All codes, in an order that has every pair of neighbours of 4 bits.
TEST(ElementwiseNarrow, FromAllCodes) {
  Family family("casts from narrow floats");
  const auto source = [](const Format& format) {
    return fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((512,), "{0}"), D: T.Buffer((512,), "float32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([64])
    codes = A.view("uint8")
    for k in range({1}):
        codes[t * {1} + k] = T.cast(t * {1} + k, "uint8") & T.uint8({2})
    T.cuda.cta_sync()
    Tx.cta.cast(D, A)
)",
                       format.name, format.bits == 4 ? 4 : 8, format.bits == 6 ? 63 : 255);
  };
  for (const Format* format : {&kE2m1, &kE2m3, &kE3m2})
    for (const std::string target : {"sm_100a", "sm_75"}) {
      const Checked checked =
          family.run({.source = source(*format), .target = target}, {.variant = "mixed"});
      family.count();
      if (!checked.right()) continue;
      const Bytes &from = *bytes_of(checked, "A"), &to = *bytes_of(checked, "D");
      std::set<unsigned> codes;
      for (std::size_t i = 0; i < 512; ++i) {
        const unsigned code = code_at(from, *format, i);
        const double seen = real_at<float>(to, i), wanted = number_of(*format, code);
        EXPECT_TRUE(seen == wanted && std::signbit(seen) == std::signbit(wanted))
            << code << " of " << format->name << " is " << seen;
        codes.insert(code);
      }
      EXPECT_EQ(codes.size(), std::size_t{1} << format->bits);
    }
}

// Checked by hand: ties, ends, and what the formats do not have.
TEST(ElementwiseNarrow, TheTablesRound) {
  const std::pair<double, unsigned> rows[] = {{0.25, 0}, {0.26, 1}, {0.75, 2},       {1.25, 2},
                                              {2.5, 4},  {3.5, 6},  {5, 6},          {5.01, 7},
                                              {1e30, 7}, {-0.0, 8}, {-INFINITY, 15}, {NAN, 7}};
  for (const auto& [x, code] : rows) EXPECT_EQ(code_of(kE2m1, x), code) << x;
  EXPECT_EQ(code_of(kE3m2, 26), 30U);
  EXPECT_EQ(code_of(kE2m3, -0.0625), 32U);
  EXPECT_EQ(code_of(kE4m3, NAN), 0x7FU);
  EXPECT_EQ(code_of(kE4m3, 1000), 0x7EU);
  EXPECT_EQ(code_of(kE5m2, -1e9), 0xFBU);
}

// Through registers: 8 elements of a thread, of which those of one side may be in another order.
std::string through_registers(const std::string& from, const std::string& to,
                              const std::string& from_layout, const std::string& to_layout) {
  return fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid

@T.prim_func
def kernel(A: T.Buffer((32, 8), "{0}"), D: T.Buffer((32, 8), "{1}")):
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    a = T.alloc_buffer((32, 8), "{0}", scope="local", layout=TileLayout(S[{2}]))
    d = T.alloc_buffer((32, 8), "{1}", scope="local", layout=TileLayout(S[{3}]))
    Tx.warp.copy(a, A)
    Tx.warp.cast(d, a)
    Tx.warp.copy(D, d)
)",
                     from, to, from_layout, to_layout);
}
const std::string kInOrder = "(32, 8) : (1 @ laneid, 1)";
const std::string kApart = "(32, 2, 4) : (1 @ laneid, 1, 2)";

// Pairs by the instruction, on every target that has it.
TEST(ElementwiseNarrow, PairsByInstructions) {
  Family family("narrow floats in pairs", Nvcc::Always);
  struct Row {
    std::string from, to, opcode, target;
  };
  const std::vector<Row> rows = {
      {"float32", "float4_e2m1fn", "cvt.rn.satfinite.e2m1x2.f32", "sm_100a"},
      {"float16", "float4_e2m1fn", "cvt.rn.satfinite.e2m1x2.f32", "sm_100f"},
      {"bfloat16", "float6_e2m3fn", "cvt.rn.satfinite.e2m3x2.f32", "sm_103a"},
      {"float8_e4m3fn", "float4_e2m1fn", "cvt.rn.satfinite.e2m1x2.f32", "sm_103f"},
      {"float4_e2m1fn", "float16", "cvt.rn.f16x2.e2m1x2", "sm_110a"},
      {"float4_e2m1fn", "float32", "cvt.rn.f16x2.e2m1x2", "sm_110f"},
      {"float4_e2m1fn", "bfloat16", "cvt.rn.f16x2.e2m1x2", "sm_120a"},
      {"float4_e2m1fn", "float8_e5m2", "cvt.rn.f16x2.e2m1x2", "sm_120f"},
      {"float6_e3m2fn", "float16", "cvt.rn.f16x2.e3m2x2", "sm_121a"},
      {"float6_e2m3fn", "float6_e3m2fn", "cvt.rn.satfinite.e3m2x2.f32", "sm_121f"}};
  for (const Row& row : rows) {
    const Checked checked =
        family.run({.source = through_registers(row.from, row.to, kInOrder, kInOrder),
                    .target = row.target,
                    .has_any_nan = true},
                   {.variant = "reg", .opcode = row.opcode, .per_thread = 4, .rounds = 8}, 1);
    EXPECT_EQ(count_of(checked.ptx, row.opcode + "\t"), 4U) << checked.ptx;
    family.count();
  }
}

// Elements one by one, by instructions and by arithmetic; other types on the way, and as operands.
TEST(ElementwiseNarrow, SingleElements) {
  Family family("narrow floats one by one", Nvcc::Always);
  struct Row {
    std::string from, to, target;
  };
  const std::vector<Row> rows = {
      {"float32", "float4_e2m1fn", "sm_100a"}, {"float16", "float4_e2m1fn", "sm_75"},
      {"float64", "float4_e2m1fn", "sm_90a"},  {"int32", "float4_e2m1fn", "sm_120a"},
      {"uint64", "float6_e3m2fn", "sm_80"},    {"float8_e5m2", "float4_e2m1fn", "sm_80"},
      {"bool", "float6_e2m3fn", "sm_90a"},     {"float32", "float8_e4m3fn", "sm_75"},
      {"float6_e2m3fn", "float64", "sm_75"},   {"float6_e3m2fn", "int8", "sm_100a"},
      {"float8_e5m2", "float32", "sm_80"},     {"float8_e4m3fn", "float16", "sm_80"},
      {"float6_e3m2fn", "bool", "sm_90a"},     {"float6_e2m3fn", "float4_e2m1fn", "sm_90a"}};
  for (const Row& row : rows) {
    family.run({.source = through_registers(row.from, row.to, kApart, kInOrder),
                .target = row.target,
                .has_any_nan = true},
               {.variant = "reg", .rounds = 8}, 1);
    family.count();
  }
  for (const std::string to : {"float32", "int8", "float64", "bool"}) {
    family.run({.source = through_registers("float4_e2m1fn", to, kInOrder, kApart),
                .target = to == "int8" ? "sm_100a" : "sm_80"},
               {.variant = "reg", .rounds = 8}, 1);
    family.count();
  }
  std::string scaled = through_registers("float4_e2m1fn", "float4_e2m1fn", kInOrder, kInOrder);
  scaled.replace(scaled.find("Tx.warp.cast(d, a)"), 18, "Tx.warp.mul(d, a, 1.5)");
  family.run({.source = scaled}, {.variant = "reg", .rounds = 8}, 1);
  family.count();
}

// Copies of 6-bit floats move bytes, and shared memory has room for them.
TEST(ElementwiseNarrow, CopiesThroughSharedMemory) {
  Family family("copies of narrow floats", Nvcc::Always);
  for (const std::string type : {"float6_e2m3fn", "float4_e2m1fn"}) {
    const std::string source = fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((64, 64), "{0}"), D: T.Buffer((64, 64), "{0}"), E: T.Buffer((64, 64), "float16")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([4])
    T.lane_id([32])
    s = T.alloc_buffer((64, 64), "{0}", scope="shared")
    w = T.alloc_buffer((64, 64), "float32", scope="shared")
    Tx.cta.copy(s, A)
    T.cuda.cta_sync()
    Tx.cta.cast(w, s)
    Tx.cta.cast(E, w)
    Tx.cta.cast(D, w)
)",
                                           type);
    const Checked checked = family.run({.source = source}, {.vector_bits = 128});
    family.count();
    // Bytes are half the number of an element: its bits would leave int32.
    std::size_t halved = 0;
    for (std::size_t at = 0; (at = checked.ptx.find("shr.s32\t", at)) != std::string::npos; ++at) {
      const std::string line = checked.ptx.substr(at, checked.ptx.find('\n', at) - at);
      EXPECT_TRUE(line.ends_with(", 1;")) << line;
      ++halved;
    }
    EXPECT_EQ(halved > 0, type == "float4_e2m1fn") << checked.ptx;
  }
}

TEST(ElementwiseNarrow, Declines) {
  struct Row {
    std::string from, to, settings, variant, why;
  };
  const std::vector<Row> rows = {
      {"float32", "float4_e2m1fn", ", round=\"rz\"", "reg",
       "[dtype] no instruction rounds float32 to float4_e2m1fn by `rz`"},
      {"float32", "float6_e3m2fn", ", saturate=False", "reg",
       "[config] float32 to float6_e3m2fn always saturates, expected no `saturate=False`"},
      {"float32", "int4", "", "reg",
       "[sub_byte] `d` has elements of int4, expected whole bytes or float4_e2m1fn"}};
  for (const Row& row : rows) {
    std::string source = through_registers(row.from, row.to, kInOrder, kInOrder);
    source.replace(source.find("cast(d, a)"), 10, "cast(d, a" + row.settings + ")");
    EXPECT_EQ(verdict_on(check({.source = source}), 1, row.variant), row.why);
  }
  // A byte of two elements is not split between threads.
  std::string split = through_registers("float32", "float4_e2m1fn", "(8, 32) : (1, 1 @ laneid)",
                                        "(8, 32) : (1, 1 @ laneid)");
  for (std::size_t at; (at = split.find("(32, 8)")) != std::string::npos;)
    split.replace(at, 7, "(8, 32)");
  split.erase(split.find("    d = T.alloc"),
              split.find("    Tx.warp.copy(a") - split.find("    d = T.alloc"));
  split.erase(split.find("    Tx.warp.copy(D, d)"));
  split.replace(split.find("cast(d, a)"), 10, "cast(D, a)");
  EXPECT_EQ(
      verdict_on(check({.source = split}), 1, "mixed"),
      "[irregular] no formula of register and thread gives the places in memory of 8 elements "
      "of each thread in whole bytes");
}

}  // namespace
}  // namespace ww::test::elementwise_narrow_test
