// SPDX-License-Identifier: Apache-2.0
// `layout="auto"`, whole programs: the short examples run on all engines, leave what their twins with
// written layouts leave, and take no more instructions, turns of shared memory or registers; what `explain` prints can be written in the
// place of "auto"; conversions between layouts are right and counted; and a change of one use leaves
// buffers alone that have nothing to do with it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "base/file_io.h"
#include "driver/build.h"
#include "engines/family.h"
#include "infer/infer.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "runtime/assembler.h"

namespace ww::test::auto_layout_test {
namespace {

namespace fs = std::filesystem;

std::string source_of(const std::string& file) {
  return read_file(fs::path(WW_SOURCE_DIR) / "examples" / file, std::size_t{1} << 20U).value();
}

struct Twins {
  std::string name;
  std::string twin = {};  // none: no form with written layouts
  std::string kernel = {}, twin_kernel = {};
  // Turns and registers: otherwise those of `build()`, whose tiles are whole. The twin stores ragged
  // ones through shared memory.
  bool is_counted = true;
  double tolerance = 1e-5;
  std::map<std::string, std::vector<std::int64_t>> arrays = {};
};

const std::vector<Twins>& all_twins() {
  static const std::vector<Twins> kTwins = {
      {.name = "rows/softmax",
       .twin = "softmax",
       .kernel = "build(m=2)",
       .twin_kernel = "build(m=2)"},
      {.name = "rows/layer_norm",
       .twin = "layer_norm",
       .kernel = "build(m=2)",
       .twin_kernel = "build(m=2)"},
      {.name = "rows/bias_gelu", .kernel = "build(m=8)", .tolerance = 1e-2},
      {.name = "gemm",
       .twin = "gemm_mma",
       .kernel = "build(M=72, N=80, K=88, BM=64, BN=64)",
       .twin_kernel = "build(M=72, N=80, K=88, BM=64, BN=64, WM=32, WN=32)",
       .is_counted = false,
       .tolerance = 1e-3},
      {.name = "rows/attention",
       .twin = "attention_varlen",
       .kernel = "build(rows=160, sequences=2, heads=1)",
       .twin_kernel = "build(rows=160, sequences=2, heads=1)",
       .tolerance = 1e-2,
       .arrays = {{"cu_seqlens", {0, 67, 160}}}},
      {.name = "rows/rms_norm",
       .twin = "rows/rms_norm_tuned",
       .kernel = "build(m=2)",
       .twin_kernel = "build(m=2)",
       .tolerance = 1.6e-2},
      {.name = "rows/rope", .kernel = "build(positions=4)", .tolerance = 1.6e-2},
      {.name = "rows/row_sum", .kernel = "build(m=2, n=999)"},
      {.name = "rows/column_sum", .kernel = "build(m=32)"},
      {.name = "rows/cumsum", .kernel = "build(m=2)", .tolerance = 1.6e-2},
      {.name = "rows/cross_entropy", .kernel = "build(m=2)", .arrays = {{"Label", {5, 1023}}}},
      {.name = "rows/quantize_fp8", .kernel = "build(m=2)", .tolerance = 1.6e-2},
  };
  return kTwins;
}

Program program_of(const Twins& twins, bool is_short) {
  return {.source = source_of((is_short ? twins.name : twins.twin) + ".py"),
          .arrays = twins.arrays,
          .kernel = is_short ? twins.kernel : twins.twin_kernel,
          .inputs = Inputs::Normal,
          .tolerance = twins.tolerance,
          .is_approximate = true};
}

std::size_t instructions_of(const std::string& ptx) {
  std::size_t count = 0;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line[begin] != '.' && line.back() == ';') ++count;
  }
  return count;
}

std::int64_t turns_of(const Checked& checked) {
  std::int64_t sum = 0;
  for (const Turns& each : checked.turns) sum += each.needed;
  return sum;
}

// As ptxas says; none without it.
std::optional<std::uint32_t> registers_of(const std::string& ptx) {
  const char* const path = std::getenv("PATH");
  const auto ptxas = runtime::find_ptxas({.path = path == nullptr ? "" : path});
  if (!ptxas) return {};
  const auto size = runtime::assembled_size(*ptxas, ptx, target::Arch::Sm90a);
  EXPECT_TRUE(size.has_value()) << size.error().text;
  return size ? std::optional(size->registers) : std::nullopt;
}

// What a kernel takes of an SM; of whole tiles where the program at hand is not counted.
void compare_costs(const Twins& twins, Checked is_short, Checked is_long) {
  if (!twins.is_counted) {
    for (Checked* each : {&is_short, &is_long}) {
      Program program = program_of(twins, each == &is_short);
      program.kernel = "build()";
      *each = compile_only(program);
      ASSERT_TRUE(each->right()) << each->explain();
    }
  } else {
    EXPECT_LE(turns_of(is_short), turns_of(is_long));
  }
  const auto own = registers_of(is_short.ptx), twin = registers_of(is_long.ptx);
  EXPECT_LE(own.value_or(0), twin.value_or(0));
}

TEST(AutoLayout, ShortExamplesDoWhatTheirTwinsDo) {
  Family family("short examples", Nvcc::Always);
  for (const Twins& twins : all_twins()) {
    SCOPED_TRACE(twins.name);
    // The evaluator does not know the `red` of column_sum; the example runs by itself.
    if (twins.name == "rows/column_sum") continue;
    const Checked is_short = family.run(program_of(twins, true));
    if (twins.twin.empty()) {
      EXPECT_TRUE(is_short.right()) << is_short.explain();
      family.count();
      continue;
    }
    const Checked is_long = check(program_of(twins, false));
    ASSERT_TRUE(is_short.right() && is_long.right()) << is_long.explain();
    EXPECT_EQ(distance_of(is_long.ran->args, is_long.ran->expected, is_short.ran->expected,
                          twins.tolerance)
                  .value_or(""),
              "");
    const std::size_t count = instructions_of(is_short.ptx);
    EXPECT_GT(count, 10U);
    EXPECT_LE(count, instructions_of(is_long.ptx));
    compare_costs(twins, is_short, is_long);
    family.count();
  }
}

TEST(AutoLayout, EveryTunedRowKernelHasAShortForm) {
  const fs::path folder = fs::path(WW_SOURCE_DIR) / "examples/rows";
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().stem().string();
    const std::size_t tuned = name.find("_tuned");
    if (tuned == std::string::npos) continue;
    name.resize(tuned);
    EXPECT_TRUE(fs::exists(folder / (name + ".py"))) << entry.path();
    EXPECT_TRUE(std::ranges::any_of(all_twins(), [&](const Twins& t) {
      return t.name == "rows/" + name;
    })) << name;
  }
}

// --- what explain prints -------------------------------------------------------------------------

driver::Build tile_of(const std::string& source, const std::string& kernel = {}) {
  return driver::build_kernel(SourceText("auto.py", source),
                              {.kernel = kernel, .until = driver::Phase::Tile});
}

// The source with every inferred layout written where "auto" was.
std::string written_out(std::string source, const driver::Build& build) {
  std::vector<infer::Inferred> inferred = build.compiled->layouts.buffers;
  std::ranges::sort(inferred, std::ranges::greater{}, [&](const infer::Inferred& each) {
    return build.tile()[each.buffer].span.begin;
  });
  for (const infer::Inferred& each : inferred) {
    const Span span = build.tile()[each.buffer].span;
    const std::size_t at = source.find("\"auto\"", span.begin);
    if (at < span.end) source.replace(at, 6, each.text);
  }
  return "from tvm.tirx.layout import coalesced_layout, mma_shared_layout, mma_tile_layout\n"
         "from tvm.tirx.layout import reduced_layout, row_layout\n" +
         source;
}

TEST(AutoLayout, TextCanBeWrittenInItsPlace) {
  for (const Twins& twins : all_twins()) {
    SCOPED_TRACE(twins.name);
    const std::string source = source_of(twins.name + ".py");
    const driver::Build inferred = tile_of(source, twins.kernel);
    ASSERT_TRUE(inferred.good()) << inferred.errors;
    EXPECT_FALSE(inferred.compiled->layouts.buffers.empty());
    const std::string text = written_out(source, inferred);
    EXPECT_EQ(text.find("\"auto\")"), std::string::npos) << text;
    const driver::Build written = tile_of(text, twins.kernel);
    ASSERT_TRUE(written.good()) << written.errors << text;
    EXPECT_TRUE(written.compiled->layouts.buffers.empty());
    EXPECT_EQ(ir::difference(inferred.tile(), written.tile()).value_or(""), "");
  }
}

// --- conversions ---------------------------------------------------------------------------------

constexpr std::string_view kHead =
    "from tvm.script import tirx as T\n"
    "from tvm.script.tirx import tile as Tx\n"
    "from tvm.tirx.layout import coalesced_layout, column_layout, mma_tile_layout, row_layout\n\n\n"
    "@T.prim_func\n";

struct Converted {
  std::string body;
  std::vector<std::string> conversions;  // "x into Tx.cta.add", "y out of Tx.cta.sum"
};

std::vector<std::string> conversions_of(const driver::Build& build) {
  std::vector<std::string> out;
  for (const infer::Conversion& each : build.compiled->layouts.conversions)
    out.push_back(
        fmt::format("{} {} {}", each.buffer, each.is_written ? "out of" : "into", each.call));
  return out;
}

// Sums of a 2 x 2 grid of warps become an operand of the next product; a tile is A and B of one
// product; what is inferred meets layouts that are written, as operand and as result, whole and in
// part.
const std::vector<Converted>& all_converted() {
  static const std::vector<Converted> kConverted = {
      {R"(def kernel(A: T.Buffer((64, 32), "float16"), B: T.Buffer((32, 64), "float16"),
           V: T.Buffer((64, 32), "float16"), O: T.Buffer((64, 32), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    A_s = T.alloc_shared((64, 32), "float16", layout="auto")
    B_s = T.alloc_shared((32, 64), "float16", layout="auto")
    V_s = T.alloc_shared((64, 32), "float16", layout="auto")
    s = T.alloc_local((64, 64), "float32", layout=mma_tile_layout("D", (64, 64), "float32", (2, 2)))
    p = T.alloc_local((64, 64), "float16", layout="auto")
    o = T.alloc_local((64, 32), "float32", layout="auto")
    Tx.cta.copy(A_s, A)
    Tx.cta.copy(B_s, B)
    Tx.cta.copy(V_s, V)
    T.cuda.cta_sync()
    Tx.cta.gemm(s, A_s, B_s, s, stage=True)
    Tx.cta.cast(p, s)
    Tx.cta.gemm(o, p, V_s, o, stage=True)
    Tx.cta.copy(O, o)
)",
       {"p out of Tx.cta.cast"}},
      {R"(def kernel(A: T.Buffer((64, 64), "float16"), D: T.Buffer((64, 64), "float32"),
           Row: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    a = T.alloc_local((64, 64), "float16", layout="auto")
    d = T.alloc_local((64, 64), "float32", layout="auto")
    x = T.alloc_local((64, 64), "float32", layout="auto")
    r = T.alloc_local((64,), "float32", layout="auto")
    Tx.cta.copy(a, A)
    Tx.cta.gemm(d, a, a, d)
    Tx.cta.cast(x, a)
    Tx.cta.add(d, d, x)
    Tx.cta.sum(r, x)
    Tx.cta.copy(Row, r)
    Tx.cta.copy(D, d)
)",
       {"a into Tx.cta.gemm"}},
      {R"(def kernel(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float32"),
           S: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    r = T.alloc_local((64, 64), "float32", layout=row_layout((64, 64), 128))
    c = T.alloc_local((64, 64), "float32", layout=column_layout((64, 64), 128))
    x = T.alloc_local((64, 64), "float32", layout="auto")
    total = T.alloc_local((64,), "float32", layout=coalesced_layout((64,), 16, "float32"))
    Tx.cta.copy(r, X)
    Tx.cta.copy(c, X)
    Tx.cta.mul(x, c, c)
    Tx.cta.fma(x, x, r, r)
    Tx.cta.fill(total, 1.0)
    Tx.cta.sum(total, x, accum=True)
    Tx.cta.copy(Y, x)
    Tx.cta.copy(S, total)
)",
       {"r into Tx.cta.fma", "total out of Tx.cta.sum"}},
      {R"(def kernel(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    r = T.alloc_local((64, 64), "float32", layout=row_layout((64, 64), 128))
    x = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.copy(r, X)
    Tx.cta.copy(x, X)
    Tx.cta.add(x[0:32, :], x[0:32, :], r[32:64, :])
    Tx.cta.mul(x[32:64, :], r[0:32, :], r[0:32, :])
    Tx.cta.copy(Y, x)
)",
       {"r into Tx.cta.add", "r into Tx.cta.mul"}},
  };
  return kConverted;
}

TEST(AutoLayout, UsesThatDisagreeGetCopies) {
  Family family("conversions");
  for (const Converted& each : all_converted()) {
    const std::string source = std::string(kHead) + each.body;
    const driver::Build build = tile_of(source);
    ASSERT_TRUE(build.good()) << build.errors;
    EXPECT_EQ(conversions_of(build), each.conversions) << ir::print(build.tile());
    family.run({.source = source, .inputs = Inputs::Whole});
    family.count();
  }
}

// --- what has nothing to do with it --------------------------------------------------------------

std::map<std::string, std::string> layouts_of(const std::string& source) {
  const driver::Build build = tile_of(source);
  EXPECT_TRUE(build.good()) << build.errors;
  std::map<std::string, std::string> out;
  if (build.good())
    for (const infer::Inferred& each : build.compiled->layouts.buffers)
      out[build.tile()[each.buffer].name] = each.text;
  return out;
}

TEST(AutoLayout, AChangeOfOneUseLeavesOtherBuffersAlone) {
  const std::string body =
      R"(def kernel(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float16"),
           D: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    x = T.alloc_local((64, 64), "float32", layout="auto")
    row = T.alloc_local((64,), "float32", layout="auto")
    y = T.alloc_local((64, 64), "float16", layout="auto")
    d = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.copy(x, X)
    Tx.cta.sum(row, x, axes=0)
    Tx.cta.copy(y, Y)
    Tx.cta.cast(d, y)
    Tx.cta.copy(X, x)
    Tx.cta.copy(D, d)
)";
  const std::string source = std::string(kHead) + body;
  const auto before = layouts_of(source);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = source;
    text.replace(text.find(from), from.size(), to);
    return layouts_of(text);
  };
  const auto by_rows = changed("axes=0", "axes=1");
  const auto product = changed("Tx.cta.cast(d, y)", "Tx.cta.gemm(d, y, y, d)");
  EXPECT_NE(by_rows.at("row"), before.at("row"));
  EXPECT_NE(by_rows.at("x"), before.at("x"));
  EXPECT_NE(product.at("y"), before.at("y"));
  for (const char* name : {"y", "d"}) EXPECT_EQ(by_rows.at(name), before.at(name));
  for (const char* name : {"x", "row"}) EXPECT_EQ(product.at(name), before.at(name));
}

// --- products of gemm_async ----------------------------------------------------------------------

std::string with_each(std::string text, const std::string& what, const std::string& by) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
    ++count;
  }
  EXPECT_GT(count, 0U) << what;
  return text;
}

// gemm_hopper.py writes the layouts of its factors and sums; inference finds the same.
TEST(AutoLayout, AsyncProductsAreAsWritten) {
  const std::string written = source_of("gemm_hopper.py");
  std::string inferred = written;
  for (const std::string layout : {"mma_shared_layout(dtype, \"auto\", (stages,) + x_tile)",
                                   "mma_shared_layout(dtype, \"auto\", (stages,) + y_tile)",
                                   "wgmma_tile_layout(\"D\", (64, BN), acc_dtype)"})
    inferred = with_each(inferred, "layout=" + layout, "layout=\"auto\"");
  for (const std::string kernel :
       {"build()", "build(trans_a=True, trans_b=False)", "build(BN=96, dtype=\"bfloat16\")",
        "build(BN=128, dtype=\"float8_e4m3fn\", promote=True)",
        "build(BM=64, BN=64, dtype=\"int8\", acc_dtype=\"int32\", out=\"int32\")",
        "build(M=16, N=512, BM=64, BN=16, swap=True)"}) {
    const auto ptx = [&](const std::string& text) {
      const driver::Build build =
          driver::build_kernel(SourceText("gemm_hopper.py", text), {.kernel = kernel});
      EXPECT_TRUE(build.good()) << kernel << build.errors;
      return build.ptx;
    };
    EXPECT_EQ(ptx(written), ptx(inferred)) << kernel;
  }
}

}  // namespace
}  // namespace ww::test::auto_layout_test
