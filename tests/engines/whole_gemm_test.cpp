// SPDX-License-Identifier: Apache-2.0
// The matrix products of examples/, whole: copies into shared memory, pipelines, products, results
// back. Each row is a kernel of an example and runs twice: on small whole numbers, where D must be
// what three loops over the inputs give, bit for bit; and on normal numbers, where the virtual GPU
// must be near to the evaluator and a GPU equal to the virtual one (without a GPU one row of each
// group).
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file_io.h"
#include "engines/family.h"
#include "eval/value/arithmetic.h"

namespace ww::test::whole_gemm_test {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string kernel;       // "build(M=128)"
  bool is_ragged = false;   // sizes that tiles do not divide, or bank conflicts
  std::string copies = {};  // the variant of copy_async; empty: any
  std::string target = "sm_90a";
};

struct Example {
  std::string file;
  bool turns_a = false, turns_b = false;
  double tolerance = 1e-2;
  bool has_relu = false;  // and a bias
  bool has_scale = false;
  bool has_residual = false;  // and a bias
};

Program program_of(const Example& example, const Row& row, Inputs inputs) {
  const fs::path path = fs::path(WW_SOURCE_DIR) / "examples" / example.file;
  return {.source = read_file(path, std::size_t{1} << 20U).value(),
          .target = row.target,
          .kernel = row.kernel,
          .inputs = inputs,
          .tolerance = inputs == Inputs::Normal ? example.tolerance : 0};
}

// --- what D must be ------------------------------------------------------------------------------

/// An array as numbers, and its two inner extents.
struct Numbers {
  explicit Numbers(const Arg& arg, const Bytes& bytes)
      : columns(static_cast<std::size_t>(arg.shape.back())),
        rows(arg.shape.size() < 2 ? 1 : static_cast<std::size_t>(arg.shape[arg.shape.size() - 2])) {
    for (std::size_t i = 0; i * arg.element_bytes < bytes.size(); ++i)
      values.push_back(number_at(arg, bytes, i));
  }
  /// Row i of a matrix, or column i, as its first number and the distance to the next.
  struct Line {
    const double* first;
    std::size_t step;
  };
  [[nodiscard]] Line row(std::size_t batch, std::size_t i) const {
    return {values.data() + (batch * rows + i) * columns, 1};
  }
  [[nodiscard]] Line column(std::size_t batch, std::size_t i) const {
    return {values.data() + batch * rows * columns + i, columns};
  }

  std::size_t columns, rows;
  std::vector<double> values = {};
};

/// The first element of D that is not what the example says it is, or nothing.
std::string wrong_element(const Example& example, const Ran& ran) {
  const auto index = [&](std::string_view name) {
    const auto named = [&](const Arg& arg) { return arg.name == name; };
    return static_cast<std::size_t>(std::find_if(ran.args.begin(), ran.args.end(), named) -
                                    ran.args.begin());
  };
  const auto input = [&](std::string_view name) {
    const Arg& arg = ran.args.at(index(name));
    return Numbers(arg, arg.bytes);
  };
  const std::size_t out = index("D");
  const num::DType type = ran.args[out].dtype;
  const Numbers a = input("A"), b = input("B"), d(ran.args[out], ran.expected.arrays[out]);
  const std::size_t depth = example.turns_a ? a.rows : a.columns;
  const auto extra = [&](bool is_there, std::string_view name, double otherwise) {
    return is_there ? input(name).values : std::vector<double>(d.values.size(), otherwise);
  };
  const std::vector<double> bias = extra(example.has_relu || example.has_residual, "bias", 0);
  const std::vector<double> scale = extra(example.has_scale, "scale", 1);
  const std::vector<double> residual = extra(example.has_residual, "C", 0);
  for (std::size_t at = 0; at < d.values.size(); ++at) {
    const std::size_t batch = at / d.columns / d.rows, i = at / d.columns % d.rows;
    const std::size_t j = at % d.columns;
    const auto [x, x_step] = example.turns_a ? a.column(batch, i) : a.row(batch, i);
    const auto [y, y_step] = example.turns_b ? b.row(batch, j) : b.column(batch, j);
    double sum = 0;
    for (std::size_t k = 0; k < depth; ++k) sum += x[k * x_step] * y[k * y_step];
    sum = sum * scale[i] + bias[j];
    if (example.has_relu) sum = std::max(0., sum);
    sum += residual[at];
    const double wanted = eval::as_real(type, eval::from_real(type, sum));
    if (d.values[at] != wanted)
      return fmt::format("D[{}, {}] of {} is {}, expected {}", i, j, batch, d.values[at], wanted);
  }
  return "";
}

// --- running -------------------------------------------------------------------------------------

// Shared memory is read and written in as few turns as its banks allow.
void expect_no_conflicts(const Checked& checked) {
  ASSERT_FALSE(checked.turns.empty());
  Turns sum;
  for (const Turns& each : checked.turns) {
    sum.needed += each.needed;
    sum.ideal += each.ideal;
  }
  EXPECT_GT(sum.ideal, 0);
  EXPECT_EQ(sum.needed, sum.ideal) << checked.source;
}

void run(const Example& example, const std::vector<Row>& rows) {
  Family family(example.file);
  const bool has_gpu = std::getenv("WW_DEVICE") != nullptr;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kernel);
    const Checked exact = family.run(program_of(example, row, Inputs::Whole));
    if (!exact.right()) continue;
    EXPECT_EQ(wrong_element(example, *exact.ran), "");
    if (!row.is_ragged) expect_no_conflicts(exact);
    for (const lower::CallReport& call : exact.report.calls) {
      if (call.op == "copy_async" && !row.copies.empty()) {
        EXPECT_EQ(call.chosen, row.copies);
      }
    }
    family.count();
    if (&row != &rows.front() && !has_gpu) continue;
    const Checked normal = check(program_of(example, row, Inputs::Normal));
    EXPECT_TRUE(normal.right()) << normal.explain();
  }
}

// --- rows ----------------------------------------------------------------------------------------

TEST(WholeGemm, Tiles) {
  run({.file = "gemm_mma.py"},
      {{"build(M=128, N=128, K=128, BM=64, BN=64, WM=32, WN=32, stages=2)", false, "ldgsts"},
       {"build(M=128, N=192, K=256, BM=64, BN=64, WM=32, WN=32, stages=3)", false, "ldgsts"},
       {"build(M=64, N=64, K=64, BM=64, BN=64, WM=32, WN=32, stages=4)", false, "ldgsts"},
       {"build(M=128, N=128, K=192, stages=4)", false, "ldgsts"},
       {"build(M=256, N=128, K=128, BM=128, BN=64, WM=64, WN=32, stages=2)", false, "ldgsts"},
       {"build(M=64, N=256, K=128, BM=64, BN=128, WM=32, WN=64, stages=2)", false, "ldgsts"},
       {"build(M=256, N=192, K=64, BM=64, BN=64, WM=32, WN=32, group=2)", false, "ldgsts"}});
}

// Without stmatrix, and where only ptxas can judge.
TEST(WholeGemm, OtherTargets) {
  const std::string kernel = "build(M=64, N=64, K=128, BM=64, BN=64, WM=32, WN=32)";
  const Example example{.file = "gemm_mma.py"};
  run(example, {{kernel, true, "ldgsts", "sm_80"}, {kernel, true, "ldgsts", "sm_89"}});
  Assembly assembly;
  for (const std::string target : {"sm_86", "sm_100a", "sm_120a"}) {
    const Checked compiled =
        compile_only(program_of(example, {kernel, true, "", target}, Inputs::Whole));
    EXPECT_TRUE(compiled.right()) << compiled.explain();
    assembly.add(target, compiled.ptx);
  }
  assemble_later(std::move(assembly));
}

TEST(WholeGemm, TypesAndTransposes) {
  for (const bool turns_a : {false, true})
    for (const bool turns_b : {false, true}) {
      const auto kernel = [&](const std::string& rest) {
        return fmt::format(
            "build(M=64, N=128, K=128, BM=64, BN=64, WM=32, WN=32, trans_a={}, "
            "trans_b={}{})",
            turns_a ? "True" : "False", turns_b ? "True" : "False", rest);
      };
      run({.file = "gemm_mma.py", .turns_a = turns_a, .turns_b = turns_b},
          {{kernel(", out=\"float32\"")},
           {kernel(", stages=2, dtype=\"bfloat16\", out=\"bfloat16\"")},
           {kernel(", stages=4, dtype=\"bfloat16\", out=\"float32\"")}});
    }
}

// Sizes that tiles do not divide. Rows that do not begin at multiples of 4 bytes cannot be copied
// by cp.async.
TEST(WholeGemm, Ragged) {
  for (const bool turns_a : {false, true})
    for (const bool turns_b : {false, true}) {
      const auto kernel = [&](const std::string& sizes, const std::string& rest = "") {
        return fmt::format("build({}, BM=64, BN=64, WM=32, WN=32, trans_a={}, trans_b={}{})", sizes,
                           turns_a ? "True" : "False", turns_b ? "True" : "False", rest);
      };
      run({.file = "gemm_mma.py", .turns_a = turns_a, .turns_b = turns_b},
          {{kernel("M=72, N=136, K=88"), true, "ldgsts"},
           {kernel("M=66, N=34, K=102", ", out=\"float32\""), true, "ldgsts"},
           {kernel("M=65, N=67, K=33", ", dtype=\"bfloat16\""), true, "sync"},
           {kernel("M=1, N=3, K=129", ", stages=2"), true, "sync"}});
    }
}

TEST(WholeGemm, Int8) {
  run({.file = "gemm_int8.py", .turns_b = true},
      {{"build(M=128, N=128, K=128)", false, "ldgsts"},
       {"build(M=128, N=128, K=256, stages=2)", false, "ldgsts"},
       {"build(M=128, N=64, K=512, BM=64, BN=64, WM=32, WN=32)", false, "ldgsts"},
       {"build(M=64, N=64, K=256, BM=64, BN=64, WM=32, WN=32, dtype=\"uint8\")"}});
}

TEST(WholeGemm, Batched) {
  run({.file = "gemm_batched.py"},
      {{"build()"}, {"build(batch=2, M=128, N=128, K=64)"}, {"build(batch=3, dtype=\"float16\")"}});
}

TEST(WholeGemm, BiasRelu) {
  run({.file = "gemm_bias_relu.py", .has_relu = true},
      {{"build(M=64, N=128, K=128, BM=64, BN=64, WM=32, WN=32)", false, "ldgsts"},
       {"build(M=128, N=128, K=256)", false, "ldgsts"},
       {"build(M=128, N=64, K=64, BM=64, BN=64, WM=32, WN=32, stages=2, dtype=\"bfloat16\")"}});
}

// wgmma and the copy engine, whose copies may begin and end outside of the arrays.
TEST(WholeGemm, Hopper) {
  run({.file = "gemm_hopper.py", .turns_b = true},
      {{"build(M=128, N=256, K=128)", false, "tma"},
       {"build(M=192, N=128, K=192, BM=64, BN=64, ctas=4, group=2)", false, "tma"},
       {"build(M=64, N=128, K=128, BM=64, BN=128, BK=128, stages=2, dtype=\"bfloat16\")", false,
        "tma"},
       {"build(M=16, N=128, K=128, BM=64, BN=16, BK=128, swap=True)", true, "tma"},
       {"build(M=128, N=24, K=72, BM=64, BN=24, BK=128)", true, "tma"},
       {"build(M=72, N=72, K=136, BM=64, BN=64, ctas=4)", true, "tma"},
       {"build(M=24, N=136, K=72, BM=64, BN=32, swap=True)", true, "tma"},
       {"build(M=136, N=104, K=72, BN=96)", true, "tma"},
       {"build(M=136, N=72, K=40, BN=64, out=\"float32\")", true, "tma"},
       {"build(M=64, N=64, K=96, BM=64, BN=64, dtype=\"int8\", acc_dtype=\"int32\", "
        "out=\"int32\")",
        true, "tma"},
       {"build(M=64, N=64, K=96, BM=64, BN=64, dtype=\"float32\", out=\"float32\")", true, "tma"},
       {"build(M=72, N=136, K=88, BM=64, BN=64, group=2)", true, "tma"},
       {"build(M=64, N=64, K=256, BM=64, BN=64, dtype=\"float8_e4m3fn\", promote=True)", true,
        "tma"}});
}

TEST(WholeGemm, HopperTransposes) {
  for (const bool turns_a : {false, true})
    for (const bool turns_b : {false, true}) {
      const auto kernel = [&](const std::string& rest) {
        return fmt::format("build({}, trans_a={}, trans_b={})", rest, turns_a ? "True" : "False",
                           turns_b ? "True" : "False");
      };
      run({.file = "gemm_hopper.py", .turns_a = turns_a, .turns_b = turns_b},
          {{kernel("M=128, N=128, K=128, BN=128, dtype=\"bfloat16\""), false, "tma"},
           {kernel("M=72, N=136, K=104, BM=64, BN=64"), true, "tma"},
           {kernel("M=16, N=72, K=72, BM=64, BN=64, swap=True"), true, "tma"}});
    }
}

TEST(WholeGemm, HopperEpilogues) {
  const std::string small = "M=72, N=136, K=64, BM=64, BN=64";
  run({.file = "gemm_hopper.py", .turns_b = true, .has_relu = true},
      {{"build(" + small + ", bias=True, activation=relu)", true},
       {"build(M=64, N=128, K=64, BM=64, BN=64, bias=True, activation=relu)"}});
  run({.file = "gemm_hopper.py", .turns_b = true, .has_residual = true},
      {{"build(" + small + ", bias=True, residual=True)", true},
       {"build(M=64, N=128, K=64, BM=64, BN=64, bias=True, residual=True)"}});
  run({.file = "gemm_hopper.py", .turns_b = true, .tolerance = 0.13, .has_scale = true},
      {{"build(M=72, N=144, K=128, BM=64, BN=64, row_scale=True, dtype=\"float8_e4m3fn\", "
        "out=\"float8_e4m3fn\")",
        true}});
}

// Parameters that make no kernel are refused with their values.
TEST(WholeGemm, HopperRefusals) {
  const std::pair<std::string, std::string> rows[] = {
      {"build(BM=32)", "BM is 32, expected a multiple of 64: a warpgroup has 64 rows"},
      {"build(BN=200, chunk=128)", "BN is 200, expected a multiple of the chunk of 128 columns"},
      {"build(BN=100)", "BN is 100, expected a multiple of 8"},
      {"build(stages=1)", "1 stages of 49152 bytes: one is multiplied while another is filled"},
      {"build(cluster=4)", "2 CTAs make no cluster of 4"},
      {"build(dtype=\"int8\", trans_b=False)", "int8 must lie along K: A as (M, K), B as (N, K)"},
      {"build(swap=True, bias=True)", "bias, row_scale and residual need swap=False"},
      {"build(residual=True)", "residual needs bias=True"},
      {"build(row_scale=True, bias=True)", "row_scale needs bias=False"}};
  for (const auto& [kernel, text] : rows) {
    const Checked checked =
        compile_only(program_of({.file = "gemm_hopper.py"}, {kernel}, Inputs::Whole));
    EXPECT_EQ(checked.stage, Stage::Script) << kernel;
    EXPECT_NE(checked.why.find(text), std::string::npos) << kernel << "\n" << checked.why;
  }
  const Checked checked = compile_only(
      program_of({.file = "gemm_splitk.py"}, {"build(K=128, split=4)"}, Inputs::Whole));
  EXPECT_NE(checked.why.find("4 parts of K, which has 1 slices of 128"), std::string::npos)
      << checked.why;
  const Checked uneven =
      compile_only(program_of({.file = "gemm_splitk.py"}, {"build(split=3)"}, Inputs::Whole));
  EXPECT_NE(uneven.why.find("BN is 64, expected a multiple of 8 for each of 3 parts"),
            std::string::npos)
      << uneven.why;
}

TEST(WholeGemm, SplitK) {
  for (const bool turns_b : {false, true}) {
    const std::string last = turns_b ? ", trans_b=True)" : ", trans_b=False)";
    run({.file = "gemm_splitk.py", .turns_b = turns_b},
        {{"build(M=64, N=64, K=256, split=2" + last, true, "tma"},
         {"build(M=72, N=72, K=328, BN=48, split=3" + last, true, "tma"},
         {"build(M=72, N=72, K=64, split=1, out=\"float32\"" + last, true, "tma"}});
  }
  run({.file = "gemm_splitk.py", .turns_b = true},
      {{"build(M=64, N=64, K=512, dtype=\"int8\", acc_dtype=\"int32\", out=\"int32\", split=2)",
        true, "tma"}});
}

// Sums that are fetched before they are there, or from a CTA that has ended.
TEST(WholeGemm, SplitKFaultsAreFound) {
  const Row row{"build(M=64, N=64, K=256, split=2)"};
  const Program right = program_of({.file = "gemm_splitk.py"}, row, Inputs::Whole);
  for (const std::string text :
       {"        # All sums of the cluster are there.\n        T.cuda.cluster_sync()\n",
        "fetch its sums.\n        T.cuda.cluster_sync()\n"}) {
    Program program = right;
    const std::size_t at = program.source.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    program.source.replace(at, text.size(), "\n");
    EXPECT_EQ(check_on_virtual_gpu(program).stage, Stage::Device) << text;
  }
}

// --- the tests themselves ------------------------------------------------------------------------

TEST(WholeGemm, OracleSaysNo) {
  const Example example{.file = "gemm_batched.py"};
  const Checked checked = check(program_of(example, {"build(batch=1, K=64)"}, Inputs::Whole));
  ASSERT_TRUE(checked.right()) << checked.explain();
  EXPECT_EQ(wrong_element(example, *checked.ran), "");
  const Example other{.file = "gemm_batched.py", .turns_b = true};
  EXPECT_NE(wrong_element(other, *checked.ran), "");
}

// A pipeline that lacks a barrier or a wait is no right program any more, and that is found.
TEST(WholeGemm, PipelineFaultsAreFound) {
  const Row row{"build(M=64, N=64, K=256, BM=64, BN=64, WM=32, WN=32)"};
  const Program right = program_of({.file = "gemm_mma.py"}, row, Inputs::Whole);
  const std::string in_loop = "                    ";
  for (const std::string line :
       {"T.cuda.cta_sync()\n", "T.ptx.cp_async.wait_group(stages - 2)\n"}) {
    Program program = right;
    const std::size_t at = program.source.find(in_loop + line);
    ASSERT_NE(at, std::string::npos);
    program.source.erase(at, in_loop.size() + line.size());
    const Checked checked = check(program);
    EXPECT_EQ(checked.stage, Stage::Tile) << line << checked.why;
  }
}

// The same for the ring of stages and the way out of gemm_hopper.py.
TEST(WholeGemm, HopperFaultsAreFound) {
  const Row row{"build(M=128, N=64, K=256, BM=64, BN=64, chunk=32, stages=2, ctas=1)"};
  const Program right = program_of({.file = "gemm_hopper.py"}, row, Inputs::Whole);
  for (const std::string line :
       {"pipe.empty.wait(at.stage, at.phase)\n", "pipe.full.wait(at.stage, at.phase)\n",
        "T.ptx.wgmma.wait_group(1)\n", "T.ptx.cp_async.bulk.wait_group(0, read=True)\n",
        "T.ptx.fence.proxy_async(\"shared::cta\")\n", "pipe.empty.arrive(stage)\n"}) {
    Program program = right;
    const std::size_t at = program.source.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    program.source.replace(at, line.size(), "pass\n");
    EXPECT_FALSE(check(program).right()) << line;
  }
}

// A stage that goes back to the producer while a product reads it is seen before anything runs.
TEST(WholeGemm, StagesReleasedEarlyAreSeen) {
  struct Early {
    std::string file, kernel, text, by, words;
  };
  const std::string hopper = "build(M=128, N=64, K=512, BM=64, BN=64, stages=4, ctas=1)";
  const std::string promoted =
      "build(M=64, N=64, K=512, BM=64, BN=64, dtype=\"float8_e4m3fn\", promote=True, ctas=1)";
  const std::string cluster = "build(M=128, N=64, K=512, BM=64, BN=64, cluster=2, stages=2)";
  const std::string wait = "T.ptx.wgmma.wait_group(1)\n", none = "T.ptx.wgmma.wait_group(0)\n";
  const std::string lagging = "release(read.stage)\n                            read.advance()";
  const Early rows[] = {
      {"gemm_hopper.py", hopper, wait, "T.ptx.wgmma.wait_group(2)\n",
       "stage 0 of `X_s` is given back while a product reads it: `T.ptx.wgmma.wait_group(1)` or "
       "less comes first"},
      {"gemm_hopper.py", hopper, lagging, "release(at.stage)",
       "stage 1 of `X_s` is given back while a product reads it: `T.ptx.wgmma.wait_group(0)` or "
       "less comes first"},
      {"gemm_hopper.py", hopper, "if k > 0:\n                            release",
       "if True:\n                            release", "stage 0 of `X_s` is given back"},
      {"gemm_hopper.py", hopper, "T.ptx.wgmma.commit_group()\n", "pass\n",
       "no `T.ptx.wgmma.commit_group()` has closed its group"},
      {"gemm_hopper.py", promoted, none, wait, "stage 0 of `X_s` is given back"},
      {"gemm_hopper.py", cluster, wait, "T.ptx.wgmma.wait_group(2)\n",
       "stage 0 of `X_s` is given back"},
      {"gemm_splitk.py", "build(K=2048)", wait, "T.ptx.wgmma.wait_group(2)\n",
       "stage 0 of `A_s` is given back"}};
  for (const Early& row : rows) {
    Program program = program_of({.file = row.file}, {row.kernel}, Inputs::Whole);
    EXPECT_NE(compile_only(program).stage, Stage::Script) << row.kernel;
    const std::size_t at = program.source.find(row.text);
    ASSERT_NE(at, std::string::npos) << row.text;
    program.source.replace(at, row.text.size(), row.by);
    const Checked checked = compile_only(program);
    EXPECT_EQ(checked.stage, Stage::Script) << row.text;
    EXPECT_NE(checked.why.find(row.words), std::string::npos) << row.text << checked.why;
  }
}

// An early arrival that is not the last one of its phase starts no copy.
TEST(WholeGemm, ArrivalsBeforeTheLastMayBeEarly) {
  Program program = program_of(
      {.file = "gemm_hopper.py"},
      {"build(M=64, N=64, K=512, BM=64, BN=64, dtype=\"float8_e4m3fn\", promote=True, ctas=1)"},
      Inputs::Whole);
  const std::pair<std::string, std::string> changes[] = {
      {"init_empty=consumers * cluster", "init_empty=2 * consumers"},
      {"T.ptx.wgmma.wait_group(0)\n                        release(at.stage)",
       "release(at.stage)\n                        T.ptx.wgmma.wait_group(0)\n"
       "                        release(at.stage)"}};
  for (const auto& [text, by] : changes) {
    const std::size_t at = program.source.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    program.source.replace(at, text.size(), by);
  }
  const Checked checked = check(program);
  EXPECT_TRUE(checked.right()) << checked.explain();
}

// A cluster whose CTAs do not wait for each other. The evaluator has no arrivals at other CTAs.
TEST(WholeGemm, ClusterFaultsAreFound) {
  const Row row{"build(M=128, N=64, K=512, BM=64, BN=64, cluster=2, stages=2)"};
  const Program right = program_of({.file = "gemm_hopper.py"}, row, Inputs::Whole);
  const Checked checked = check_on_virtual_gpu(right);
  EXPECT_TRUE(checked.right()) << checked.explain();
  const std::pair<std::string, std::string> faults[] = {
      {"if lane < cluster:\n", "if lane < 1:\n"},  // only its own CTA hears of a free stage
      {"init_empty=consumers * cluster", "init_empty=consumers"},  // one CTA's consumers suffice
      {"if cluster > 1:\n            T.cuda.cluster_sync()\n\n", "\n"}};  // ends too soon
  for (const auto& [text, by] : faults) {
    Program program = right;
    const std::size_t at = program.source.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    program.source.replace(at, text.size(), by);
    EXPECT_EQ(check_on_virtual_gpu(program).stage, Stage::Device) << text;
  }
}

// A layout whose rows all begin in the same bank is not free of conflicts.
TEST(WholeGemm, ConflictsAreCounted) {
  const Example example{.file = "gemm_batched.py"};
  Program program = program_of(example, {"build(batch=1, K=64)"}, Inputs::Whole);
  const auto replace = [&](const std::string& text, const std::string& by) {
    const std::size_t at = program.source.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    program.source.replace(at, text.size(), by);
  };
  replace("import mma_shared_layout", "import S, TileLayout");
  replace("mma_shared_layout(dtype, \"auto\", (64, 64))", "TileLayout(S[(64, 64) : (64, 1)])");
  const Checked checked = check(program);
  ASSERT_TRUE(checked.right()) << checked.explain();
  EXPECT_TRUE(std::any_of(checked.turns.begin(), checked.turns.end(),
                          [](const Turns& each) { return each.needed > each.ideal; }));
}

}  // namespace
}  // namespace ww::test::whole_gemm_test
