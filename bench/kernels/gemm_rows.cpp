// SPDX-License-Identifier: Apache-2.0
#include "gemm_rows.h"
#include "base/join.h"

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
constexpr Kernel kHopper{"gemm_hopper",
                         "M N K BM BN BK stages group ctas cluster dtype out trans_a trans_b"};
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

// Of warpgroups. The depth and the stages follow from the type and shared memory unless they are given.
constexpr Tile hopper(int bm, int bn, int bk = 0, int stages = 0) {
  return {.bm = bm, .bn = bn, .bk = bk, .wm = 0, .wn = 0, .stages = stages, .group = 8};
}

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

// --- Hopper's own instruction ---

GemmRow hopper_row(std::string_view what, const Problem& problem, const Tile& tile,
                   std::string more = "") {
  GemmRow out = row(kHopper, what, problem, {tile});
  out.more = std::move(more);
  return out;
}

void add_hopper_floats(std::vector<GemmRow>& out) {
  const auto stored = [](Problem problem, bool trans_a, bool trans_b) {
    problem.trans_a = trans_a;
    problem.trans_b = trans_b;
    return problem;
  };
  for (const auto& [size, tile] :
       {std::pair(512, hopper(64, 32, 128)), {1024, hopper(128, 64)}, {2048, hopper(128, 128)}})
    out.push_back(hopper_row(fmt::format("{}", size), stored(cube(size), false, true), tile));
  for (const DType type : {DType::Float16, DType::Bfloat16})
    for (const std::int64_t size : {4096, 8192, 16384})
      for (const bool trans_a : {false, true})
        for (const bool trans_b : {true, false})
          out.push_back(
              hopper_row(fmt::format("{}{}{}", size, trans_a ? "_at" : "", trans_b ? "_bt" : ""),
                         stored(cube(size, type), trans_a, trans_b), hopper(128, 256)));
  // Tiles of D': rows of B take the place of rows of A.
  for (const auto& [rows, tile] :
       {std::pair(16, hopper(64, 16, 256, 5)), {64, hopper(64, 64, 128)}})
    out.push_back(hopper_row(fmt::format("{}x8192x8192", rows),
                             {.m = rows, .n = 8192, .k = 8192, .trans_b = true}, tile,
                             "swap=True"));
  Problem fused = stored(cube(4096), false, true);
  fused.epilogue = Epilogue::BiasGelu;
  out.push_back(
      hopper_row("4096_gelu", fused, hopper(128, 256), "bias=True, activation=gelu_tanh"));
}

void add_hopper_bytes(std::vector<GemmRow>& out) {
  for (const std::int64_t size : {4096, 8192}) {
    Problem floats = cube(size, DType::Float8E4M3fn);
    floats.out = DType::Bfloat16;
    floats.trans_b = true;
    out.push_back(hopper_row(fmt::format("{}", size), floats, hopper(128, 256)));
    floats.has_exact_sums = true;
    out.push_back(hopper_row(fmt::format("{}_exact", size), floats,
                             hopper(128, size == 4096 ? 128 : 192),
                             size == 4096 ? "promote=True" : "promote=True, chunk=64"));
  }
  Problem whole = cube(4096, DType::Int8);
  whole.out = DType::Int32;
  whole.trans_b = true;
  GemmRow bytes = hopper_row("4096", whole, hopper(128, 128), "acc_dtype=\"int32\"");
  bytes.tiles.push_back(hopper(128, 256));
  out.push_back(std::move(bytes));
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
  add_hopper_floats(out);
  add_hopper_bytes(out);
  return out;
}

std::vector<GemmRow> gemm_rows(const std::string& filter) {
  std::vector<GemmRow> out = gemm_rows();
  const NameFilter names(filter);
  std::erase_if(out, [&](const GemmRow& row) { return !names.takes(row.name); });
  return out;
}

std::string tile_text(const Tile& tile) {
  std::string out = fmt::format("{}x{}", tile.bm, tile.bn);
  if (tile.bk > 0) out += fmt::format("x{}", tile.bk);
  if (tile.is_of_warps()) out += fmt::format(" {}x{}", tile.wm, tile.wn);
  if (tile.stages > 0) out += fmt::format(" s{}", tile.stages);
  out += fmt::format(" g{}", tile.group);
  if (!tile.is_of_warps()) out += fmt::format(" c{}", tile.cluster);
  if (!tile.is_of_warps() && tile.ctas != Tile{}.ctas) out += fmt::format(" of {}", tile.ctas);
  return out;
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
  if (tile.bk > 0) give("BK", tile.bk);
  give("WM", tile.wm);
  give("WN", tile.wn);
  if (tile.stages > 0) give("stages", tile.stages);
  give("group", tile.group);
  give("ctas", tile.ctas);
  give("cluster", tile.cluster);
  give("dtype", quoted(of.dtype));
  give("out", quoted(of.out));
  give("trans_a", of.trans_a ? "True" : "False");
  give("trans_b", of.trans_b ? "True" : "False");
  if (!row.more.empty()) given.push_back(row.more);
  return fmt::format("build({})", join(given, ", "));
}

}  // namespace ww::bench
