// SPDX-License-Identifier: Apache-2.0
// The kernels of examples/rows/ on all engines, with rows that fill their tiles and rows that do not,
// against loops in doubles.
#include <cmath>
#include <numbers>

#include "driver/build.h"
#include "engines/example_oracle.h"

namespace ww::test::rows_test {
namespace {

Program row_program(const std::string& file, const std::string& arguments, double tolerance) {
  Program program = program_of("rows/" + file + ".py", "build(" + arguments + ")");
  program.inputs = Inputs::Normal;
  program.tolerance = tolerance;
  program.is_approximate = true;
  return program;
}

/// Runs the kernel and compares its last array with what `wanted` makes of the inputs.
void run(Family& family, const Program& program,
         const std::function<std::function<double(std::size_t)>(const Ran&)>& wanted) {
  const Checked checked = family.run(program);
  if (!checked.right()) return;
  const auto element = wanted(*checked.ran);
  EXPECT_EQ(wrong_element(
                *checked.ran, [&](std::size_t i) { return element(i); }, program.tolerance),
            "")
      << program.kernel;
  family.count();
}

using Row = std::vector<double>;
Row row_of(const Numbers& x, std::size_t row) {
  Row out;
  for (std::size_t i = 0; i < x.extent(1); ++i) out.push_back(x(row, i));
  return out;
}
double mean_of(const Row& row, const std::function<double(double)>& of) {
  double sum = 0;
  for (const double each : row) sum += of(each);
  return sum / static_cast<double>(row.size());
}

std::function<double(std::size_t)> softmax_of(const Ran& ran) {
  const Numbers x(ran, "X");
  return [x, at = std::size_t(-1), total = 0.0](std::size_t i) mutable {
    const std::size_t row = i / x.extent(1);
    if (at != row) total = mean_of(row_of(x, row), [](double v) { return std::exp(v); });
    at = row;
    return std::exp(x(row, i % x.extent(1))) / total / static_cast<double>(x.extent(1));
  };
}

std::function<double(std::size_t)> norm_of(const Ran& ran, bool is_layer_norm) {
  const Numbers x(ran, "X"), w(ran, "W");
  const std::optional<Numbers> b =
      is_layer_norm ? std::optional<Numbers>(Numbers(ran, "B")) : std::nullopt;
  struct OfRow {
    std::size_t row = std::size_t(-1);
    double mean = 0, deviation = 1;
  };
  return [=, of = OfRow()](std::size_t i) mutable {
    const std::size_t row = i / x.extent(1), column = i % x.extent(1);
    if (of.row != row) {
      const Row all = row_of(x, row);
      const double mean = b ? mean_of(all, [](double v) { return v; }) : 0;
      const double square = mean_of(all, [&](double v) { return (v - mean) * (v - mean); });
      of = {row, mean, std::sqrt(square + 1e-5)};
    }
    return (x(row, column) - of.mean) / of.deviation * w(column) + (b ? (*b)(column) : 0);
  };
}

constexpr const char* kShapes[] = {"m=2",
                                   "m=5, n=33",
                                   "m=3, n=1",
                                   "m=2, n=999, dtype=\"float32\"",
                                   "m=2, n=4096, lanes=64",
                                   "m=2, n=1500, lanes=64, cluster=2, dtype=\"float32\""};

TEST(Rows, SoftmaxAndNorms) {
  Family family("rows", Nvcc::Always);
  for (const std::string shape : kShapes) {
    const double tolerance = shape.ends_with("\"float32\"") ? 1e-5 : 1.6e-2;
    run(family, row_program("softmax_tuned", shape, tolerance), softmax_of);
    run(family, row_program("layer_norm_tuned", shape, tolerance),
        [](const Ran& ran) { return norm_of(ran, true); });
    run(family, row_program("rms_norm_tuned", shape, tolerance),
        [](const Ran& ran) { return norm_of(ran, false); });
  }
}

// Long rows: some parts in registers and some in shared memory, W and B parts ahead.
TEST(Rows, NormsWithPartsInSharedMemory) {
  Family family("rows in shared memory", Nvcc::Always);
  for (const std::string shape :
       {"m=2, n=3000, lanes=64, cluster=2, kept=2, ahead=2, dtype=\"float32\"",
        "m=1, n=6144, lanes=64, cluster=4, kept=2, ahead=1, dtype=\"float32\""}) {
    run(family, row_program("layer_norm_tuned", shape, 1e-5),
        [](const Ran& ran) { return norm_of(ran, true); });
    run(family, row_program("rms_norm_tuned", shape, 1e-5),
        [](const Ran& ran) { return norm_of(ran, false); });
  }
  run(family, row_program("layer_norm_tuned", "m=1, n=6000, lanes=64, cluster=4, kept=0", 1.6e-2),
      [](const Ran& ran) { return norm_of(ran, true); });
}

// Clusters that keep W and B and take one row after the other: as many as rows, fewer, and more; the
// next row lands in shared memory or in registers; W and B stay there or come from the cache.
TEST(Rows, LayerNormOfClustersThatStay) {
  Family family("clusters that stay", Nvcc::Always);
  for (const std::string shape :
       {"m=5, n=6144, lanes=64, cluster=2, clusters=2, hints={\"l2_evict\": \"evict_last\"}",
        "m=2, n=40, lanes=32, cluster=2, clusters=4",
        "m=5, n=3000, lanes=64, cluster=2, clusters=2, land=2, w_kept=3, b_kept=1, ahead=2, "
        "dtype=\"float32\"",
        "m=3, n=2048, lanes=64, cluster=2, clusters=3, land=1, w_kept=0, b_kept=0, "
        "dtype=\"float32\""})
    run(family,
        row_program("layer_norm_staying", shape, shape.ends_with("\"float32\"") ? 1e-5 : 1.6e-2),
        [](const Ran& ran) { return norm_of(ran, true); });
}

// What is larger than the L2 cache is read so that results leave the cache first; very long rows are for
// clusters that stay.
TEST(Rows, LargeArraysAreReadWithAPriority) {
  const auto ptx_of = [](const std::string& file, const std::string& arguments) {
    const std::string path = fmt::format("{}/examples/rows/{}.py", WW_SOURCE_DIR, file);
    const std::string kernel = fmt::format("build({})", arguments);
    return driver::build_file({.path = path, .kernel = kernel}, driver::Phase::Ptx).ptx;
  };
  const std::string priority = "ld.global.L2::cache_hint";
  for (const std::string file : {"softmax_tuned", "layer_norm_tuned", "rms_norm_tuned"}) {
    EXPECT_NE(ptx_of(file, "m=8192, n=4096").find(priority), std::string::npos) << file;
    EXPECT_EQ(ptx_of(file, "m=8191, n=4096").find(priority), std::string::npos) << file;
    EXPECT_EQ(ptx_of(file, "m=8192, n=4099").find(priority), std::string::npos) << file;
    EXPECT_EQ(ptx_of(file, "m=8192, n=4096, hints={}").find(priority), std::string::npos) << file;
  }
  const std::string many = ptx_of("layer_norm_tuned", "m=128, n=262144");
  EXPECT_NE(many.find(".reqntid 512"), std::string::npos);
  EXPECT_NE(many.find("cp.async.cg.shared.global.L2::cache_hint"), std::string::npos);
  EXPECT_EQ(ptx_of("layer_norm_tuned", "m=127, n=262144").find(".reqntid 512"), std::string::npos);
  // What is asked for is not dropped.
  EXPECT_NE(ptx_of("layer_norm_tuned", "m=128, n=262144, lanes=256").find(".reqntid 256"),
            std::string::npos);
}

TEST(Rows, SumsOfRows) {
  Family family("sums of rows", Nvcc::Always);
  for (const std::string shape :
       {"m=2", "m=5, n=33", "m=3, n=1", "m=2, n=999, dtype=\"float32\""}) {
    const double tolerance = shape.ends_with("\"float32\"") ? 1e-5 : 1.6e-2;
    run(family, row_program("row_sum", shape, 1e-4), [](const Ran& ran) {
      const Numbers x(ran, "X");
      return [x](std::size_t i) {
        return mean_of(row_of(x, i), [](double v) { return v; }) * static_cast<double>(x.extent(1));
      };
    });
    run(family, row_program("cumsum", shape, tolerance), [](const Ran& ran) {
      const Numbers x(ran, "X");
      return [x](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k <= i % x.extent(1); ++k) sum += x(i / x.extent(1), k);
        return sum;
      };
    });
    run(family, row_program("bias_gelu", shape, tolerance), [](const Ran& ran) {
      const Numbers x(ran, "X"), b(ran, "B");
      return [x, b](std::size_t i) {
        const double v = x(i / x.extent(1), i % x.extent(1)) + b(i % x.extent(1));
        return v / 2 * (1 + std::erf(v / std::numbers::sqrt2));
      };
    });
  }
}

std::function<double(std::size_t)> attention_of(const Ran& ran, bool is_causal) {
  const Numbers q(ran, "Q"), k(ran, "K"), v(ran, "V");
  const std::size_t heads = q.extent(2), dim = q.extent(3);
  const std::size_t shared = heads / k.extent(2);
  return [=, of_row = Row()](std::size_t i) mutable {
    const std::size_t row = i / dim / heads, head = i / dim % heads;
    const std::size_t end = is_causal ? row + 1 : k.extent(1);
    if (i % dim == 0) {
      of_row.clear();
      double total = 0;
      for (std::size_t key = 0; key < end; ++key) {
        double score = 0;
        for (std::size_t d = 0; d < dim; ++d)
          score += q(0, row, head, d) * k(0, key, head / shared, d);
        of_row.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
        total += of_row.back();
      }
      for (double& each : of_row) each /= total;
    }
    double sum = 0;
    for (std::size_t key = 0; key < end; ++key)
      sum += of_row[key] * v(0, key, head / shared, i % dim);
    return sum;
  };
}

TEST(Rows, Attention) {
  Family family("attention", Nvcc::Always);
  const auto attention = [&](const std::string& arguments, bool is_causal) {
    Program program = row_program("attention_tuned", arguments, 4e-3);
    run(family, program, [&](const Ran& ran) { return attention_of(ran, is_causal); });
  };
  attention("seq=150, heads=2, kv_heads=1", false);
  attention("seq=200, heads=1, causal=True", true);
  attention("seq=70, heads=2, kv_heads=2, dim=48", false);
  attention("seq=65, heads=1, dim=64, BM=64, BN=32, causal=True", true);
}

// What sm_80 and later take; a cluster needs sm_90.
TEST(Rows, OtherTargets) {
  Assembly assembly;
  for (const std::string target : {"sm_80", "sm_100a", "sm_120a"})
    for (const std::string file :
         {"softmax_tuned", "layer_norm_tuned", "rms_norm_tuned", "cross_entropy", "row_sum",
          "column_sum", "cumsum", "bias_gelu", "rope", "attention_tuned"}) {
      Program program = program_of("rows/" + file + ".py", "kernel");
      program.target = target;
      const Checked compiled = compile_only(program);
      EXPECT_TRUE(compiled.right()) << compiled.explain();
      assembly.add(target, compiled.ptx);
    }
  assemble_later(std::move(assembly));
}

// Rows that overlap by a part of the tile, and a sum without its last part.
TEST(Rows, OraclesSayNo) {
  const Program softmax = row_program("softmax_tuned", "m=2, n=4096, lanes=64", 1.6e-2);
  const Checked shorter = check(edited(softmax, "Tx.cta.zero(each)", "Tx.cta.fill(each, 1.0)"));
  ASSERT_TRUE(shorter.right()) << shorter.why;
  const auto element = softmax_of(*shorter.ran);
  EXPECT_NE(wrong_element(
                *shorter.ran, [&](std::size_t i) { return element(i); }, 1e-5),
            "");
}

}  // namespace
}  // namespace ww::test::rows_test
