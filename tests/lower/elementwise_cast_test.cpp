// SPDX-License-Identifier: Apache-2.0
// `cast` with `round=` and `saturate=`, bit for bit: against a model of its own, which looks the
// neighbours of a number up in a table of all codes of the type; and the rules by which what a
// target lacks is declined.
#include <algorithm>
#include <cmath>

#include "lower/elementwise_programs.h"
#include "lower/family.h"

namespace ww::test::elementwise_cast_test {
namespace {

using Names = std::vector<std::string>;

// --- the model -----------------------------------------------------------------------------------

/// A float type, by its bits.
struct Format {
  std::string name;
  int exponent_bits, mantissa_bits;
  bool has_infinity;
  bool always_saturates = false;
  bool is_power = false;  // powers of two, without 0 and without a sign
};
const Format kHalf{"float16", 5, 10, true};
const Format kBrain{"bfloat16", 8, 7, true};
const Format kE4m3{"float8_e4m3fn", 4, 3, false, true};
const Format kE5m2{"float8_e5m2", 5, 2, true, true};
const Format kPower{"float8_e8m0fnu", 8, 0, false, false, true};

/// All numbers that are not below 0, by code; the code behind the last is infinity or NaN.
std::vector<double> numbers_of(const Format& format) {
  std::vector<double> out;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int last = (1 << (format.exponent_bits + format.mantissa_bits)) - 1;
  const int top = format.has_infinity ? last - (1 << format.mantissa_bits) + 1 : last;
  for (int code = 0; code < top; ++code) {
    const int exponent = code >> format.mantissa_bits;
    const int mantissa = code & ((1 << format.mantissa_bits) - 1);
    const int whole = exponent == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
    out.push_back(format.is_power
                      ? std::ldexp(1, code - bias)
                      : std::ldexp(whole, std::max(exponent, 1) - bias - format.mantissa_bits));
  }
  return out;
}

class Model {
 public:
  explicit Model(Format format) : format_(std::move(format)), numbers_(numbers_of(format_)) {}

  /// The code, or -1 for any NaN.
  [[nodiscard]] std::int64_t code_of(double x, const std::string& round, bool saturate) const {
    if (std::isnan(x)) return -1;
    const bool is_negative = std::signbit(x) && !format_.is_power;
    const std::int64_t sign =
        is_negative ? std::int64_t{1} << (format_.exponent_bits + format_.mantissa_bits) : 0;
    return sign | size_code(std::abs(x), is_negative, round, saturate || format_.always_saturates);
  }

 private:
  // The step beyond the largest number is as wide as the one before it.
  [[nodiscard]] std::int64_t size_code(double size, bool is_negative, const std::string& round,
                                       bool saturate) const {
    const std::int64_t count = std::ssize(numbers_);
    const std::int64_t beyond = saturate ? count - 1 : count;
    if (std::isinf(size)) return beyond;
    if (size < numbers_[0]) return 0;
    const auto above = std::ranges::upper_bound(numbers_, size);
    const std::int64_t low = above - numbers_.begin() - 1;
    const double below = numbers_[static_cast<std::size_t>(low)];
    if (below == size) return low;
    const double next = low + 1 < count ? *above : 2 * below - *(above - 2);
    const double middle = (below + next) / 2;
    bool is_up = false;
    if (round == "rn") is_up = size > middle || (size == middle && low % 2 != 0);
    if (round == "rna") is_up = size >= middle;
    if (round == "rm") is_up = is_negative;
    if (round == "rp") is_up = !is_negative;
    return std::min(is_up ? low + 1 : low, beyond);
  }

  Format format_;
  std::vector<double> numbers_;
};

// --- programs ------------------------------------------------------------------------------------

/// 65536 elements in global memory; their bits are computed from their number `i`.
std::string source_of(const std::string& from, const std::string& to, const std::string& bits,
                      const std::string& settings) {
  const std::string word = from == "float32" ? "uint32" : from.find('8') == 5 ? "uint8" : "uint16";
  std::string out = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((256, 256), "FROM"), D: T.Buffer((256, 256), "TO")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([256])
    for k in range(256):
        i: T.let = t * 256 + k
        A[t, k] = T.reinterpret("FROM", T.cast(BITS, "WORD"))
    T.cuda.cta_sync()
    Tx.cta.cast(D, AMORE)
)";
  const auto put = [&](const std::string& what, const std::string& with) {
    for (std::size_t at = out.find(what); at != std::string::npos;
         at = out.find(what, at + with.size()))
      out.replace(at, what.size(), with);
  };
  put("FROM", from);
  put("TO", to);
  put("BITS", bits);
  put("WORD", word);
  put("MORE", settings);
  return out;
}

struct Arrays {
  std::vector<double> from;
  std::vector<std::uint64_t> codes;
  std::vector<double> to;
};
Arrays arrays_of(const Checked& checked) {
  Arrays out;
  const Ran& ran = *checked.ran;
  for (std::size_t k = 0; k < ran.args.size(); ++k)
    for (std::size_t i = 0; i < 65536; ++i) {
      const double number = number_at(ran.args[k], ran.expected.arrays[k], i);
      if (ran.args[k].name == "A") out.from.push_back(number);
      if (ran.args[k].name != "D") continue;
      out.to.push_back(number);
      std::uint64_t code = 0;
      const std::size_t bytes = ran.args[k].element_bytes;
      for (std::size_t b = 0; b < bytes; ++b)
        code |= std::to_integer<std::uint64_t>(ran.expected.arrays[k][i * bytes + b]) << (8 * b);
      out.codes.push_back(code);
    }
  return out;
}

std::string settings_text(const std::string& round, bool saturate) {
  return (round.empty() ? "" : ", round=\"" + round + "\"") + (saturate ? ", saturate=True" : "");
}

struct FloatCase {
  std::string from;
  Format to;
  std::string bits;
  std::string round;
  bool saturate = false;
  std::string target = "sm_100a";
};

// float32 beside every number of bfloat16, and half way to the next; the same for float16 around
// its exponents.
const std::string kNumber = "T.cast(i, \"uint32\")";
const std::string kBesideBrain = kNumber + " * 65536 + 32767 + " + kNumber + " % 3";
const std::string kBesideHalf = kNumber + " // 32768 * 2147483648 + (103 + " + kNumber +
                                " // 768 % 42) * 8388608 + " + kNumber +
                                " % 768 // 3 * 32768 + 4095 + " + kNumber + " % 3";

/// What the program left, against the model.
void expect_codes(const FloatCase& each, const Checked& checked) {
  const Arrays arrays = arrays_of(checked);
  const Model model(each.to);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < arrays.from.size() && wrong < 3; ++i) {
    const std::int64_t code = model.code_of(arrays.from[i], each.round, each.saturate);
    const bool is_right =
        code < 0 ? std::isnan(arrays.to[i]) : static_cast<std::uint64_t>(code) == arrays.codes[i];
    EXPECT_TRUE(is_right) << each.from << " to " << each.to.name << " " << each.round << ": "
                          << arrays.from[i] << " is " << arrays.codes[i] << ", expected " << code;
    if (!is_right) ++wrong;
  }
}

TEST(ElementwiseCast, AllNumbersOfFloats) {
  Family family("casts of floats");
  std::vector<FloatCase> cases;
  for (const std::string round : {"rn", "rz", "rm", "rp"}) {
    cases.push_back({"float32", kHalf, kBesideHalf, round, round == "rm"});
    cases.push_back({"float32", kBrain, kBesideBrain, round, round == "rz"});
  }
  cases.push_back({"float16", kBrain, "i", "rp", false, "sm_90a"});
  cases.push_back({"bfloat16", kHalf, "i", "rn", true, "sm_90a"});
  cases.push_back({"bfloat16", kHalf, "i", "rm", false, "sm_80"});
  cases.push_back({"float32", kHalf, kBesideHalf, "rz", true, "sm_75"});
  cases.push_back({"float32", kBrain, kBesideBrain, "rp", true, "sm_80"});
  cases.push_back({"float16", kE4m3, "i", "rn", true});
  cases.push_back({"bfloat16", kE5m2, "i", "rn", false, "sm_90a"});
  cases.push_back({"float32", kE4m3, kBesideHalf, "rn", true, "sm_89"});
  cases.push_back({"float8_e4m3fn", kE5m2, "i", "rn", false});
  for (const FloatCase& each : cases) {
    const std::string text = settings_text(each.round, each.saturate);
    Program program{.source = source_of(each.from, each.to.name, each.bits, text),
                    .target = each.target};
    program.has_any_nan = true;
    const Checked checked = family.run(program, {.variant = "mixed"});
    if (checked.right()) expect_codes(each, checked);
    family.count();
  }
}

// Powers of two, each with its neighbours; negative numbers, subnormal ones, NaN.
TEST(ElementwiseCast, PowersOfTwo) {
  Family family("casts of powers of two");
  const auto beside = [](int first) {
    return kNumber + " * 65536 + (" + kNumber + " + " + std::to_string(first) + ") % 3 - 1";
  };
  const std::vector<FloatCase> cases = {{"float32", kPower, beside(0), "rz", true, "sm_100a"},
                                        {"float32", kPower, beside(1), "rz", false, "sm_100f"},
                                        {"float32", kPower, beside(2), "rp", true, "sm_103a"},
                                        {"float32", kPower, beside(0), "rp", false, "sm_110a"},
                                        {"bfloat16", kPower, "i", "rp", true, "sm_120f"},
                                        {"float8_e8m0fnu", kBrain, "i", "rn", false, "sm_103f"},
                                        {"float8_e8m0fnu", kHalf, "i", "rz", true, "sm_110f"},
                                        {"float8_e8m0fnu", kBrain, "i", "rn", false, "sm_90a"}};
  for (const FloatCase& each : cases) {
    std::string text = settings_text(each.round, each.saturate);
    if (each.to.is_power && !each.saturate) text += ", saturate=False";
    Program program{.source = source_of(each.from, each.to.name, each.bits, text),
                    .target = each.target};
    program.has_any_nan = true;
    const Checked checked = family.run(program, {.variant = "mixed"});
    if (checked.right()) expect_codes(each, checked);
    family.count();
  }
}

// Single elements are halves of pairs: three in each thread's registers, and types that no pair
// becomes. Every target that has the instructions.
TEST(ElementwiseCast, SinglePowersOfTwo) {
  Family family("single powers of two", Nvcc::Always);
  struct Row {
    std::string from, to, settings, opcode, target = "sm_100a";
  };
  const std::vector<Row> rows = {
      {"float32", "float8_e8m0fnu", ", round=\"rz\"", "cvt.rz.satfinite.ue8m0x2.f32"},
      {"bfloat16", "float8_e8m0fnu", ", round=\"rp\"", "cvt.rp.satfinite.ue8m0x2.bf16x2",
       "sm_103a"},
      {"bfloat16", "float8_e8m0fnu", ", round=\"rz\", saturate=False", "cvt.rz.ue8m0x2.bf16x2",
       "sm_103f"},
      {"int8", "float8_e8m0fnu", ", round=\"rp\"", "cvt.rp.satfinite.ue8m0x2.f32", "sm_110a"},
      {"float16", "float8_e8m0fnu", ", round=\"rp\"", "cvt.rp.satfinite.ue8m0x2.f32", "sm_110f"},
      {"float8_e8m0fnu", "float32", "", "cvt.rn.bf16x2.ue8m0x2", "sm_120a"},
      {"float8_e8m0fnu", "float16", ", round=\"rp\"", "cvt.rn.bf16x2.ue8m0x2", "sm_120f"},
      {"float8_e8m0fnu", "int32", ", round=\"rp\"", "cvt.rn.bf16x2.ue8m0x2", "sm_121a"},
      {"float8_e8m0fnu", "float64", "", "cvt.rn.bf16x2.ue8m0x2", "sm_121f"},
      {"float8_e8m0fnu", "float8_e8m0fnu", "", ""}};
  for (const Row& row : rows) {
    const std::string source = fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid

@T.prim_func
def kernel(A: T.Buffer((96,), "{0}"), D: T.Buffer((96,), "{1}")):
    T.device_entry()
    T.warp_id([1])
    T.lane_id([32])
    rows = TileLayout(S[(32, 3) : (1 @ laneid, 1)])
    a = T.alloc_buffer((96,), "{0}", scope="local", layout=rows)
    d = T.alloc_buffer((96,), "{1}", scope="local", layout=rows)
    Tx.warp.copy(a, A)
    Tx.warp.cast(d, a{2})
    Tx.warp.copy(D, d)
)",
                                           row.from, row.to, row.settings);
    family.run({.source = source, .target = row.target, .has_any_nan = true},
               {.variant = "reg", .opcode = row.opcode, .per_thread = 3, .rounds = 3}, 1);
    family.count();
  }
}

struct WholeCase {
  std::string from, to, round;
  bool saturate = false;
};

double rounded(double x, const std::string& round) {
  return round == "rz"    ? std::trunc(x)
         : round == "rm"  ? std::floor(x)
         : round == "rp"  ? std::ceil(x)
         : round == "rna" ? std::round(x)
                          : std::nearbyint(x);
}

// By integer instructions where a target has no others, and as operands.
TEST(ElementwiseCast, PowersOfTwoOnOldTargets) {
  Family family("powers of two on old targets", Nvcc::Always);
  for (const std::string target : {"sm_75", "sm_90a"})
    for (const std::string to : {"float32", "float16", "bfloat16", "int32", "float64", "bool"}) {
      ElementwiseCase each = on_rows({"warp", 32}, {to, "float8_e8m0fnu"}, "cast(D, A)");
      each.target = target;
      Program program = program_of(each);
      program.has_any_nan = true;
      family.run(program, {.variant = "reg", .rounds = 8});
      family.count();
    }
  ElementwiseCase scaled =
      on_rows({"warp", 32}, {"float32", "float32", "float8_e8m0fnu"}, "mul(D, A, B)");
  Program program = program_of(scaled);
  program.has_any_nan = true;
  family.run(program, {.variant = "reg", .rounds = 8});
  family.count();
}

// All numbers of 16 bits and of 8 to integers.
TEST(ElementwiseCast, AllNumbersToIntegers) {
  Family family("casts to integers");
  const std::vector<WholeCase> cases = {
      {"float16", "int8", "rn", true},  {"float16", "uint8", "rna"}, {"float16", "int32", "rz"},
      {"float16", "int8", "rm"},        {"bfloat16", "int32", "rp"}, {"bfloat16", "int16", "rn"},
      {"float8_e4m3fn", "uint8", "rna"}};
  for (const WholeCase& each : cases) {
    const Checked checked = family.run(
        {.source = source_of(each.from, each.to, "i", settings_text(each.round, each.saturate))},
        {.variant = "mixed"});
    if (!checked.right()) continue;
    const Arrays arrays = arrays_of(checked);
    const int bits = each.to.ends_with("8") ? 8 : each.to == "int16" ? 16 : 32;
    const bool is_signed = !each.to.starts_with("u");
    const double low = is_signed ? -std::ldexp(1, bits - 1) : 0;
    const double high = std::ldexp(1, is_signed ? bits - 1 : bits) - 1;
    for (std::size_t i = 0; i < arrays.from.size(); ++i) {
      const double x = arrays.from[i], whole = rounded(x, each.round);
      const double wanted = std::isnan(x) ? 0 : std::min(std::max(whole, low), high);
      ASSERT_EQ(arrays.to[i], wanted) << x << " to " << each.to << " " << each.round;
    }
    family.count();
  }
}

// Every pair of integer types, with saturation; the evaluator and all engines agree, and with what
// a wide integer gives.
TEST(ElementwiseCast, SaturatedIntegers) {
  Family family("saturated integers", Nvcc::Always);
  const Names types = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"};
  for (std::size_t a = 0; a < types.size(); ++a)
    for (const std::size_t step : {1U, 3U, 6U}) {
      const std::string& to = types[(a + step) % types.size()];
      ElementwiseCase each = on_rows({"warp", 32}, {to, types[a]}, "cast(D, A, saturate=True)");
      each.inputs = Inputs::Edges;
      family.run(program_of(each), {.variant = "reg", .rounds = 8});
      family.count();
    }
}

TEST(ElementwiseCast, RoundedIntegersAndDoubles) {
  Family family("integers to floats, doubles", Nvcc::Always);
  struct Row {
    std::string from, to, settings, opcode, target = "sm_90a";
  };
  const std::vector<Row> rows = {
      {"int32", "float32", "round=\"rz\"", "cvt.rz.f32.s32"},
      {"uint32", "float16", "round=\"rp\"", "cvt.rp.f16.u32"},
      {"uint32", "float16", "round=\"rn\", saturate=True", ""},
      {"int64", "float64", "round=\"rm\"", "cvt.rm.f64.s64"},
      {"uint64", "float64", "round=\"rp\"", "cvt.rp.f64.u64"},
      {"uint64", "float32", "round=\"rz\"", "cvt.rz.f32.u64"},
      {"int64", "bfloat16", "round=\"rz\"", "cvt.rz.bf16.s64"},
      {"int16", "bfloat16", "round=\"rm\"", "cvt.rm.bf16.s32"},
      {"int8", "bfloat16", "round=\"rm\"", "", "sm_80"},
      {"float64", "float32", "round=\"rz\"", "cvt.rz.f32.f64"},
      {"float64", "float16", "round=\"rp\", saturate=True", "cvt.rp.f16.f64"},
      {"float64", "bfloat16", "round=\"rm\"", "cvt.rm.bf16.f64"},
      {"float64", "float32", "saturate=True", ""},
      {"float32", "float16", "saturate=True", "cvt.rn.satfinite.f16x2.f32"},
      {"float32", "tfloat32", "round=\"rna\"", "cvt.rna.tf32.f32", "sm_80"},
      {"float32", "tfloat32", "round=\"rz\"", "cvt.rz.tf32.f32"},
      {"float32", "tfloat32", "round=\"rna\", saturate=True", "cvt.rna.satfinite.tf32.f32"},
      {"float8_e4m3fn", "float32", "round=\"rz\"", ""},
      {"float8_e5m2", "int8", "round=\"rn\"", ""}};
  for (const Row& row : rows) {
    ElementwiseCase each =
        on_rows({"warp", 32}, {row.to, row.from}, "cast(D, A, " + row.settings + ")");
    each.inputs = Inputs::Edges;
    each.target = row.target;
    const std::size_t times = row.opcode.find("x2") == std::string::npos ? 8 : 4;
    const Checked checked =
        family.run(program_of(each), {.variant = "reg",
                                      .opcode = row.opcode,
                                      .per_thread = static_cast<std::int64_t>(times),
                                      .rounds = 8});
    if (!row.opcode.empty()) {
      EXPECT_EQ(count_of(checked.ptx, row.opcode + "\t"), times) << checked.ptx;
    }
    family.count();
  }
}

// --- what is declined ----------------------------------------------------------------------------

TEST(ElementwiseCast, Declines) {
  struct Row {
    std::string from, to, settings, why, target = "sm_90a";
  };
  const std::vector<Row> rows = {
      {"float32", "float16", "round=\"rna\"", "[arch] sm_90a has no `cvt.rna.f16.f32`"},
      {"float32", "tfloat32", "round=\"rz\"", "[arch] sm_80 has no `cvt.rz.tf32.f32`", "sm_80"},
      {"float32", "float8_e4m3fn", "round=\"rz\"",
       "[dtype] no instruction rounds float32 to float8_e4m3fn by `rz`"},
      {"float32", "float8_e4m3fn", "saturate=False",
       "[config] float32 to float8_e4m3fn always saturates, expected no `saturate=False`"},
      {"float32", "int8", "saturate=False",
       "[config] float32 to int8 always saturates, expected no `saturate=False`"},
      {"int32", "int8", "round=\"rz\"",
       "[config] int32 to int8 rounds nothing, expected no `round`"},
      {"int64", "bfloat16", "round=\"rz\"", "[arch] sm_80 has no `cvt.rz.bf16.s64`", "sm_80"},
      {"float32", "float8_e8m0fnu", "saturate=True",
       "[config] no instruction rounds float32 to float8_e8m0fnu by `rn`, expected `round=\"rz\"` "
       "or `\"rp\"`",
       "sm_100a"},
      {"float64", "float8_e8m0fnu", "round=\"rz\"",
       "[dtype] float64 to float8_e8m0fnu: no instruction, expected a source that float32 holds",
       "sm_100a"},
      {"float32", "float8_e8m0fnu", "round=\"rp\"",
       "[arch] sm_90a has no `cvt.rp.satfinite.ue8m0x2.f32`"},
      {"float8_e8m0fnu", "int8", "saturate=False",
       "[config] float8_e8m0fnu to int8 always saturates, expected no `saturate=False`", "sm_100a"},
      {"bool", "int8", "saturate=True",
       "[config] bool to int8 has no use for `round` and `saturate`"}};
  for (const Row& row : rows) {
    ElementwiseCase each =
        on_rows({"warp", 32}, {row.to, row.from}, "cast(D, A, " + row.settings + ")");
    each.target = row.target;
    const Checked checked = check(program_of(each));
    EXPECT_EQ(checked.stage, Stage::Lower) << row.from << row.to;
    EXPECT_EQ(verdict_on(checked, 0, "reg"), row.why);
  }
}

TEST(ElementwiseCast, FaultsShow) {
  ElementwiseCase each = on_rows({"warp", 32}, {"float16", "float32"}, "cast(D, A, round=\"rz\")");
  each.inputs = Inputs::Normal;
  Program program = program_of(each);
  ASSERT_TRUE(check(program).right());
  program.edits = {{"cvt.rz.f16x2.f32", "cvt.rn.f16x2.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);

  each = on_rows({"warp", 32}, {"float8_e8m0fnu", "float32"}, "cast(D, A, round=\"rz\")");
  each.target = "sm_100a";
  program = program_of(each);
  ASSERT_TRUE(check(program).right());
  program.edits = {{"cvt.rz.satfinite.ue8m0x2.f32", "cvt.rp.satfinite.ue8m0x2.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
}

}  // namespace
}  // namespace ww::test::elementwise_cast_test
