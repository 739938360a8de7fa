// SPDX-License-Identifier: Apache-2.0
#include "gemm_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "name_filter.h"

namespace ww::bench {
namespace {

using num::DType;

// A file of examples/ and what its `build` takes.
struct Kernel {
  std::string_view name;
  std::string_view takes;
};
constexpr Kernel kMma{"gemm_mma", "M N K BM BN BK WM WN stages group dtype out trans_a trans_b"};
constexpr Kernel kInt8{"gemm_int8", "M N K BM BN BK WM WN stages group"};
constexpr Kernel kBatched{"gemm_batched", "batch M N K dtype"};
constexpr Kernel kBiasRelu{"gemm_bias_relu", "M N K BM BN BK WM WN stages group dtype"};

constexpr Tile kLarge{};
constexpr Tile kSquare{.bm = 128, .bn = 128};
constexpr Tile kMedium{.bm = 64, .bn = 128, .bk = 64, .wm = 64, .wn = 32};
constexpr Tile kSmall{.bm = 64, .bn = 64, .bk = 64, .wm = 32, .wn = 32};
// A CTA per SM where D has few rows: the time goes into reading B.
constexpr Tile kSkinny16{.bm = 16, .bn = 64, .bk = 128, .wm = 16, .wn = 16, .stages = 6};
constexpr Tile kSkinny64{.bm = 64, .bn = 64, .bk = 128, .wm = 32, .wn = 32, .stages = 6};
constexpr Tile kSkinny64Thin{.bm = 64, .bn = 64, .bk = 64, .wm = 64, .wn = 16, .stages = 8};
// Whole numbers: twice as many to the byte.
constexpr Tile kDeep{.bk = 128};
constexpr Tile kDeepSquare{.bm = 128, .bn = 128, .bk = 128};
// What the short kernel has fixed.
constexpr Tile kPlain{.bm = 64, .bn = 64, .bk = 64, .wm = 32, .wn = 32, .stages = 1, .group = 1};

Problem cube(std::int64_t size, DType dtype = DType::Float16) {
  return {.m = size, .n = size, .k = size, .dtype = dtype, .out = dtype};
}

GemmRow row(const Kernel& kernel, std::string_view what, Problem problem, std::vector<Tile> tiles) {
  return {.name = fmt::format("kernels/{}/{}/{}", kernel.name, num::name_of(problem.dtype), what),
          .file = fmt::format("{}.py", kernel.name),
          .takes = kernel.takes,
          .problem = problem,
          .tiles = std::move(tiles)};
}

// The three others; the fourth is the cube itself.
void add_transposes(std::vector<GemmRow>& out) {
  for (const auto& [trans_a, trans_b, name] :
       {std::tuple(true, false, "4096_at"), std::tuple(false, true, "4096_bt"),
        std::tuple(true, true, "4096_at_bt")}) {
    Problem problem = cube(4096);
    problem.trans_a = trans_a;
    problem.trans_b = trans_b;
    out.push_back(row(kMma, name, problem, {kLarge}));
  }
}

void add_short_kernels(std::vector<GemmRow>& out) {
  Problem whole = cube(4096, DType::Int8);
  whole.out = DType::Int32;
  whole.trans_b = true;
  out.push_back(row(kInt8, "4096", whole, {kDeep, kDeepSquare}));
  Problem batched = cube(1024, DType::Bfloat16);
  batched.out = DType::Float32;
  batched.batch = 16;
  out.push_back(row(kBatched, "16x1024", batched, {kPlain}));
  Problem fused = cube(4096);
  fused.epilogue = Epilogue::BiasRelu;
  out.push_back(row(kBiasRelu, "4096", fused, {kLarge}));
}

bool takes(const GemmRow& row, std::string_view parameter) {
  return fmt::format(" {} ", row.takes).find(fmt::format(" {} ", parameter)) != std::string::npos;
}

}  // namespace

std::vector<GemmRow> gemm_rows() {
  std::vector<GemmRow> out = {
      row(kMma, "512", cube(512), {kSmall, kMedium}),
      row(kMma, "1024", cube(1024), {kMedium, kSquare}),
      row(kMma, "2048", cube(2048), {kLarge, kSquare}),
      row(kMma, "4096", cube(4096), {kLarge, kSquare}),
      row(kMma, "8192", cube(8192), {kLarge}),
      row(kMma, "16384", cube(16384), {kLarge}),
      row(kMma, "4096", cube(4096, DType::Bfloat16), {kLarge}),
      row(kMma, "8192", cube(8192, DType::Bfloat16), {kLarge}),
      row(kMma, "16x8192x8192", {.m = 16, .n = 8192, .k = 8192}, {kSkinny16}),
      row(kMma, "64x8192x8192", {.m = 64, .n = 8192, .k = 8192}, {kSkinny64, kSkinny64Thin})};
  add_transposes(out);
  add_short_kernels(out);
  return out;
}

std::vector<GemmRow> gemm_rows(const std::string& filter) {
  std::vector<GemmRow> out = gemm_rows();
  const NameFilter names(filter);
  std::erase_if(out, [&](const GemmRow& row) { return !names.takes(row.name); });
  return out;
}

std::string tile_text(const Tile& tile) {
  return fmt::format("{}x{}x{} {}x{} s{} g{}", tile.bm, tile.bn, tile.bk, tile.wm, tile.wn,
                     tile.stages, tile.group);
}

std::string_view kernel_name(const GemmRow& row) {
  return std::string_view(row.file).substr(0, row.file.rfind('.'));
}

std::string expression_of(const GemmRow& row, const Tile& tile) {
  const Problem& of = row.problem;
  std::vector<std::string> given;
  const auto give = [&](std::string_view name, const auto& value) {
    if (takes(row, name)) given.push_back(fmt::format("{}={}", name, value));
  };
  const auto quoted = [](DType type) { return fmt::format("\"{}\"", num::name_of(type)); };
  give("batch", of.batch);
  give("M", of.m);
  give("N", of.n);
  give("K", of.k);
  give("BM", tile.bm);
  give("BN", tile.bn);
  give("BK", tile.bk);
  give("WM", tile.wm);
  give("WN", tile.wn);
  give("stages", tile.stages);
  give("group", tile.group);
  give("dtype", quoted(of.dtype));
  give("out", quoted(of.out));
  give("trans_a", of.trans_a ? "True" : "False");
  give("trans_b", of.trans_b ? "True" : "False");
  return fmt::format("build({})", fmt::join(given, ", "));
}

}  // namespace ww::bench
