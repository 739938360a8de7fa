// SPDX-License-Identifier: Apache-2.0
// Row kernels on what callers really pass: rows of no and of one element, lengths that are a multiple
// of nothing, rows that lie apart in memory, pointers that are not aligned, and more than 2^31
// elements in all. Each is right, or refused at its place before the launch.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "driver/build.h"
#include "driver/run/device_run.h"
#include "engines/example_oracle.h"
#include "ir/param_use.h"
#include "num/dtype.h"
#include "runtime/sim_device.h"

namespace ww::test::row_edges_test {
namespace {

std::string source_of(const std::string& file) { return program_of(file + ".py", "").source; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  ASSERT_NE(text.find(from), std::string::npos) << from;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// --- lengths -------------------------------------------------------------------------------------

constexpr const char* kRowKernels[] = {"softmax_tuned", "layer_norm_tuned", "rms_norm_tuned",
                                       "cross_entropy", "row_sum",          "column_sum",
                                       "cumsum",        "bias_gelu",        "quantize_fp8"};

// Labels are elements of the shortest row. The evaluator does not know column_sum's `red`; the example
// runs on odd lengths by itself (tests/tools/cli/examples_test.cpp).
Program row_program(const std::string& file, const std::string& arguments) {
  Program program = program_of("rows/" + file + ".py", "build(" + arguments + ")");
  if (file == "cross_entropy") program.arrays["Label"] = {0, 0, 0};
  program.inputs = Inputs::Normal;
  program.tolerance = 1.6e-2;
  program.is_approximate = true;
  return program;
}

TEST(RowEdges, OneElementAndOddLengths) {
  for (const std::string file : kRowKernels)
    for (const std::string length : {"1", "7", "1021"}) {
      if (file == "column_sum") continue;
      const Checked checked = check(row_program(file, "m=3, n=" + length));
      EXPECT_TRUE(checked.right()) << file << " " << length << ": " << checked.explain();
    }
}

struct Refused {
  std::string file, kernel, place, why;
};

TEST(RowEdges, ShapesWithoutARowAreRefused) {
  std::vector<Refused> cases;
  for (const std::string file : kRowKernels)
    for (const std::string arguments : {"n=0", "m=0", "n=2**30 + 1", "m=2**30 + 1", "n=-1"})
      cases.push_back({"rows/" + file, arguments, ": error: assertion failed: 1 to 2**30 rows of",
                       "note: `m` is "});
  cases.push_back({"rows/rope", "dim=24", "error: assertion failed: halves", "`dim` is 24"});
  cases.push_back(
      {"rows/rope", "heads=0", "error: assertion failed: 1 to 2**30 vectors", "`heads` is 0"});
  cases.push_back(
      {"rows/attention_tuned", "seq=0", "error: assertion failed: nothing to", "`seq` is 0"});
  cases.push_back({"rows/attention_tuned", "dim=24", "error: assertion failed: products take 16",
                   "`dim` is 24"});
  cases.push_back({"rows/attention_tuned", "heads=3, kv_heads=2", "assertion failed: as many heads",
                   "`heads` is 3, `kv_heads` is 2"});
  for (const std::string file : {"softmax", "layer_norm"})
    cases.push_back(
        {"rows/" + file, "n=0", "error: an extent of 0, expected 1 or more", "[BadExtent]"});
  cases.push_back(
      {"rows/softmax", "m=1, n=2**31", "more elements than a tile can have", "[BadBuffer]"});
  for (const Refused& each : cases) {
    const Checked checked = check(program_of(each.file + ".py", "build(" + each.kernel + ")"));
    EXPECT_EQ(checked.stage, Stage::Script) << each.file << " " << each.kernel;
    for (const std::string& text : {each.place, each.why})
      EXPECT_NE(checked.why.find(text), std::string::npos) << each.file << "\n" << checked.why;
  }
}

// --- arrays where the test wants them ------------------------------------------------------------

/// An array of a kernel in the memory of the virtual GPU.
struct Array {
  std::string name;
  std::int64_t rows = 1, row_bytes = 0;  // rows == 1: the array does not have the kernel's rows
  bool is_output = false;
};

std::vector<Array> arrays_of(const driver::Build& build, std::int64_t m) {
  const ir::Function& f = build.tile();
  std::vector<Array> out;
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    const ir::Buffer& buffer = f[ir::buffer_of_param(f, i)];
    std::int64_t elements = 1;
    for (const ir::ExprId extent : buffer.shape) elements *= ir::const_int(f, extent).value();
    const std::int64_t bytes = elements * num::bits_of(buffer.dtype) / 8;
    const bool has_rows = ir::const_int(f, buffer.shape[0]) == m;
    const bool is_output = buffer.name == "Y" || buffer.name == "Sum" || buffer.name == "Loss" ||
                           buffer.name == "Q" || buffer.name == "Scale";
    out.push_back({buffer.name, has_rows ? m : 1, has_rows ? bytes / m : bytes, is_output});
  }
  return out;
}

// Bits of halves and floats between 0.5 and 2; labels are 0.
Bytes contents_of(const Array& array, std::int64_t rows) {
  Bytes out(static_cast<std::size_t>(rows * array.row_bytes));
  if (array.name == "Label") return out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>(i % 2 == 0 ? i / 2 * 37 % 251 : std::size_t{0x3F});
  return out;
}

/// How the rows lie in memory.
struct Placing {
  std::int64_t pitch_bytes = 0;  // 0: one row behind the other
  std::int64_t first_row = 0;    // only rows from here on have memory
  std::uint64_t shift = 0;       // bytes that pointers are off a multiple of 256
};

struct Outcome {
  Result<void> launched;
  std::string findings;        // empty: none
  std::vector<Bytes> outputs;  // rows one behind the other
  std::size_t between = 0;     // bytes that the kernel wrote between rows
};

/// Runs PTX for `m` rows, of which those from `first_row` on have memory.
class Bench {
 public:
  Bench(const driver::Build& build, std::int64_t m, Placing placing)
      : build_(build), m_(m), placing_(placing) {}

  Outcome run(const std::string& ptx, runtime::Dims grid) {
    EXPECT_TRUE(device_.load({.bytes = ptx, .kernel = build_.tile().name}).has_value());
    runtime::Launch launch = launch_;
    launch.grid = grid;
    launch.block = block_of(ptx);
    const std::vector<Array> arrays = arrays_of(build_, m_);
    std::vector<runtime::Address> bases;
    for (const Array& array : arrays) {
      bases.push_back(place(array));
      const std::int64_t below = array.rows == 1 ? 0 : placing_.first_row * pitch_of(array);
      launch.arguments.push_back({bases.back() - static_cast<std::uint64_t>(below), 8});
    }
    Outcome out{.launched = device_.launch(launch), .findings = {}, .outputs = {}};
    if (!out.launched) return out;
    for (const sim::Finding& each : device_.report()->findings.list()) out.findings += each.text;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].is_output) collect(arrays[i], bases[i], out);
    return out;
  }

 private:
  static runtime::Dims block_of(const std::string& ptx) {
    const std::size_t at = ptx.find(".reqntid ");
    EXPECT_NE(at, std::string::npos);
    return {static_cast<std::uint32_t>(std::stoul(ptx.substr(at + 9))), 1, 1};
  }
  [[nodiscard]] std::int64_t pitch_of(const Array& array) const {
    return placing_.pitch_bytes == 0 || array.rows == 1 ? array.row_bytes : placing_.pitch_bytes;
  }
  [[nodiscard]] std::int64_t rows_of(const Array& array) const {
    return array.rows == 1 ? 1 : m_ - placing_.first_row;
  }

  runtime::Address place(const Array& array) {
    const std::int64_t rows = rows_of(array), pitch = pitch_of(array);
    const auto size = static_cast<std::size_t>((rows - 1) * pitch + array.row_bytes);
    const runtime::Address base =
        device_.allocate(size + placing_.shift, array.name).value() + placing_.shift;
    const Bytes contents = contents_of(array, rows);
    for (std::int64_t row = 0; row < rows && !array.is_output; ++row)
      EXPECT_TRUE(
          device_
              .upload(base + static_cast<std::uint64_t>(row * pitch),
                      std::span(contents).subspan(static_cast<std::size_t>(row * array.row_bytes),
                                                  static_cast<std::size_t>(array.row_bytes)))
              .has_value());
    return base;
  }

  void collect(const Array& array, runtime::Address base, Outcome& out) {
    const auto pitch = static_cast<std::size_t>(pitch_of(array));
    const auto wide = static_cast<std::size_t>(array.row_bytes);
    const auto rows = static_cast<std::size_t>(rows_of(array));
    Bytes all((rows - 1) * pitch + wide), packed;
    EXPECT_TRUE(device_.download(all, base).has_value());
    const std::span<const std::uint8_t> undefined = device_.undefined(base);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i % pitch < wide)
        packed.push_back(all[i]);
      else
        out.between += undefined[i] == 0 ? 1U : 0U;
    }
    out.outputs.push_back(std::move(packed));
  }

  const driver::Build& build_;
  std::int64_t m_;
  Placing placing_;
  runtime::Launch launch_;
  runtime::SimDevice device_;
};

driver::Build build_of(const std::string& source, const std::string& kernel) {
  driver::Build build =
      driver::build_kernel(SourceText("rows.py", source), {.kernel = kernel, .target = "sm_90a"});
  EXPECT_TRUE(build.good()) << build.errors;
  return build;
}

// --- pitches and alignment -----------------------------------------------------------------------

constexpr const char* kTwoArrays[] = {"softmax_tuned", "cumsum", "layer_norm_tuned",
                                      "rms_norm_tuned", "bias_gelu"};
constexpr std::string_view kDeclared = "(m, n), dtype)";

TEST(RowEdges, PitchesNeedNotBeTheLength) {
  for (const std::string file : kTwoArrays) {
    SCOPED_TRACE(file);
    const std::string kernel = "build(m=3, n=1021)";
    const driver::Build plain = build_of(source_of("rows/" + file), kernel);
    std::string source = source_of("rows/" + file);
    replace_all(source, kDeclared, "(m, n), dtype, strides=[n + 11, 1])");
    const driver::Build apart = build_of(source, kernel);
    const Outcome wanted = Bench(plain, 3, {}).run(plain.ptx, {3, 1, 1});
    const Outcome seen = Bench(apart, 3, {.pitch_bytes = 2 * 1032}).run(apart.ptx, {3, 1, 1});
    ASSERT_TRUE(wanted.launched && seen.launched);
    EXPECT_EQ(wanted.findings + seen.findings, "");
    EXPECT_EQ(seen.outputs, wanted.outputs);
    EXPECT_EQ(seen.between, 0U);
    // The plain kernel on such rows reads what lies between them.
    EXPECT_NE(Bench(plain, 3, {.pitch_bytes = 2 * 1032}).run(plain.ptx, {3, 1, 1}).findings, "");
  }
}

TEST(RowEdges, APitchKnownAtLaunchOnlyIsRefused) {
  std::string source = source_of("rows/softmax_tuned");
  replace_all(source, "def softmax(X_ptr", "def softmax(pitch: T.int32, X_ptr");
  replace_all(source, kDeclared, "(m, n), dtype, strides=[pitch, 1])");
  const driver::Build build = driver::build_kernel(SourceText("rows.py", source), {});
  EXPECT_FALSE(build.good());
  EXPECT_NE(
      build.errors.find("a stride is a value of run time, expected an integer that is known at "
                        "compile time"),
      std::string::npos)
      << build.errors;
}

TEST(RowEdges, PointersThatAreNotAligned) {
  for (const std::string file : kTwoArrays) {
    SCOPED_TRACE(file);
    const std::string kernel = "build(m=2, n=1024)";
    const driver::Build plain = build_of(source_of("rows/" + file), kernel);
    const Outcome refused = Bench(plain, 2, {.shift = 2}).run(plain.ptx, {2, 1, 1});
    ASSERT_FALSE(refused.launched);
    EXPECT_EQ(refused.launched.error().kind, DiagKind::BadLaunch);
    EXPECT_NE(refused.launched.error().text.find("`.ptr .align 16`"), std::string::npos)
        << refused.launched.error().text;
    // With `align=2` the kernel promises less, and takes them.
    std::string source = source_of("rows/" + file);
    replace_all(source, kDeclared, "(m, n), dtype, align=2)");
    if (source.find("(n,), dtype)") != std::string::npos)
      replace_all(source, "(n,), dtype)", "(n,), dtype, align=2)");
    const driver::Build narrow = build_of(source, kernel);
    const Outcome wanted = Bench(plain, 2, {}).run(plain.ptx, {2, 1, 1});
    const Outcome seen = Bench(narrow, 2, {.shift = 2}).run(narrow.ptx, {2, 1, 1});
    ASSERT_TRUE(wanted.launched && seen.launched);
    EXPECT_EQ(wanted.findings + seen.findings, "");
    EXPECT_EQ(seen.outputs, wanted.outputs);
  }
}

// --- more than 2^31 elements ---------------------------------------------------------------------

struct Large {
  std::string file;
  std::string extra = {};  // arguments of `build`
};

// The block of the last row, and memory for that row alone: the launch is small, the addresses are
// those of the whole array. The PTX reads the number of the block as a constant.
std::string last_row_ptx(std::string ptx, std::int64_t row) {
  replace_all(ptx, "%ctaid.x;", std::to_string(row) + ";");
  return ptx;
}

// A 32-bit product in place of the row's start: shifted up and back it is what int32 holds.
std::string wrapped(std::string ptx) {
  const std::size_t at = ptx.find(", 2051, ");
  EXPECT_NE(at, std::string::npos);
  const std::size_t begin = ptx.rfind("%rd", at - 6), end = ptx.find('\n', at);
  const std::string to = ptx.substr(begin, ptx.find(',', begin) - begin);
  return ptx.insert(end, fmt::format("\n\tshl.b64 {0}, {0}, 32;\n\tshr.s64 {0}, {0}, 32;", to));
}

TEST(RowEdges, MoreElementsThanInt32Counts) {
  constexpr std::int64_t kRow = std::int64_t{1} << 20U;  // of 2051: 4.3 GB of bfloat16
  for (const Large& large :
       {Large{"softmax_tuned"}, Large{"layer_norm_tuned"}, Large{"rms_norm_tuned"},
        Large{"cross_entropy"}, Large{"row_sum"}, Large{"cumsum"}, Large{"quantize_fp8"},
        Large{"bias_gelu", ", threads=512"}}) {
    SCOPED_TRACE(large.file + large.extra);
    const std::string source = source_of("rows/" + large.file);
    const driver::Build one = build_of(source, "build(m=1, n=2051" + large.extra + ")");
    const driver::Build all = build_of(source, "build(m=2**20 + 1, n=2051" + large.extra + ")");
    const Outcome wanted = Bench(one, 1, {}).run(one.ptx, {1, 1, 1});
    const std::string last = last_row_ptx(all.ptx, kRow);
    const Placing high{.first_row = kRow};
    const Outcome seen = Bench(all, kRow + 1, high).run(last, {1, 1, 1});
    ASSERT_TRUE(wanted.launched && seen.launched) << seen.launched.error().text;
    EXPECT_EQ(wanted.findings + seen.findings, "");
    EXPECT_EQ(seen.outputs, wanted.outputs);
    EXPECT_NE(Bench(all, kRow + 1, high).run(wrapped(last), {1, 1, 1}).findings, "");
  }
}

// One extent beyond int32: where the array ends is a 64-bit number, too.
constexpr std::string_view kLongRow = R"(
@T.prim_func
def double(X: T.Buffer((2**31 + 8,), "bfloat16"), Y: T.Buffer((2**31 + 8,), "bfloat16")):
    T.device_entry()
    start = T.int64(T.cta_id([2**21 + 1])) * 1024
    T.thread_id([128])
    x = T.alloc_local((1024,), "bfloat16", layout="auto")
    Tx.cta.copy(x, X[start : start + 1024], fill_value=0)
    Tx.cta.add(x, x, x)
    Tx.cta.copy(Y[start : start + 1024], x, clip=True)
)";

TEST(RowEdges, AnExtentBeyondInt32) {
  constexpr std::int64_t kLong = std::int64_t{1} << 31U;
  const driver::Build build = build_of(std::string(kLongRow), "");
  const std::string last = last_row_ptx(build.ptx, 1 << 21);
  const Outcome seen = Bench(build, kLong + 8, {.first_row = kLong}).run(last, {1, 1, 1});
  ASSERT_TRUE(seen.launched);
  EXPECT_EQ(seen.findings, "");
  Bytes doubled = contents_of({.name = "X", .row_bytes = 2}, 8);
  for (std::size_t i = 0; i < doubled.size(); i += 2) {  // the exponent of bfloat16 is above bit 6
    const unsigned bits = std::to_integer<unsigned>(doubled[i]) + 0x80;
    doubled[i] = static_cast<std::byte>(bits & 0xFFU);
    doubled[i + 1] = static_cast<std::byte>(0x3F + (bits >> 8U));
  }
  ASSERT_EQ(seen.outputs.size(), 1U);
  EXPECT_EQ(seen.outputs[0], doubled);
}

}  // namespace
}  // namespace ww::test::row_edges_test
