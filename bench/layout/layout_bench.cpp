// SPDX-License-Identifier: Apache-2.0
// The layout algebra on the layouts that kernels use: an mma fragment over two warps, a swizzled
// shared tile, a tensor-memory register tile. Structural operations work on ranks 4 to 6;
// enumeration on a 128×256 tile. Every benchmark checks its own answer once before it is timed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/group.h"
#include "layout/image.h"
#include "layout/slice.h"
#include "layout/text.h"
#include "layout/threads.h"
#include "layout/tile.h"

namespace ww::layout_bench {
namespace {

using namespace ww::layout;  // NOLINT(google-build-using-namespace): a benchmark file

// Rank 4: mma C fragment with a warp grid; rank 5: A fragment k16; rank 6: tcgen05 16x256b.
constexpr const char* kRank4 = "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]";
constexpr const char* kRank5 = "S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]";
constexpr const char* kRank6 = "S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]";

const char* notation(std::int64_t rank) { return rank == 4 ? kRank4 : rank == 5 ? kRank5 : kRank6; }
Shape shape_of(std::int64_t rank) {
  return rank == 4 ? Shape{16, 8} : rank == 5 ? Shape{16, 16} : Shape{64, 64};
}

template <typename T>
T must(ww::Result<T> result) {
  if (!result) std::abort();
  return *std::move(result);
}
void must_hold(bool claim) {
  if (!claim) std::abort();
}
Layout layout_of(std::int64_t rank) { return must(parse_layout(notation(rank))); }

void parse(benchmark::State& state) {
  const std::string text = notation(state.range(0));
  must_hold(to_text(must(parse_layout(text))) == text);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(parse_layout(text));
}

void print(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(to_text(layout));
}

void canonical(benchmark::State& state) {
  // As grouping leaves it: digits split that belong together.
  const Layout layout = layout_of(state.range(0));
  const Shape halves{2, layout.size() / 2};
  const Layout raw = must(group(layout, halves)).layout;
  must_hold(must(same_places(canonicalize(raw), layout)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(canonicalize(raw));
}

void fuse(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(fuse_threads(layout, Machine::Cuda));
}

void group_by_shape(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  const Shape shape = shape_of(state.range(0));
  must_hold(must(group(layout, shape)).seps.size() == 3);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(group(layout, shape));
}

void slice_region(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  const Shape shape = shape_of(state.range(0));
  const std::vector<Slice1> region{{shape[0] / 2, shape[0] / 2}, {0, shape[1] / 2}};
  must_hold(must(slice(layout, shape, region)).size() == layout.size() / 4);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(slice(layout, shape, region));
}

void slice_runtime(benchmark::State& state) {
  const Layout tile = must(parse_layout("ComposeLayout(3, 3, 3, S[(128,4,64):(64,8192,1)])"));
  const Shape shape{128, 256};
  const Expr k = must(Sym::make("k", {0, 15}));
  const std::vector<Slice1> region{{0, 128}, {k * 16, 16}};
  must_hold(must(slice(tile, shape, region)).size() == 2048);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(slice(tile, shape, region));
}

void compose_tiles(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  const std::int64_t n = layout.size();
  Iters transposed{{8, 1, Axis()}, {n / 8, 8, Axis()}};
  const Layout order = must(TileLayout::make(transposed));
  must_hold(must(compose(layout, order)).size() == n);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(compose(layout, order));
}

void invert(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  must_hold(must(inverse(layout)).map.size() == layout.size());
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(inverse(layout));
}

void apply_one(benchmark::State& state) {
  const Layout layout = layout_of(state.range(0));
  const std::int64_t n = layout.size();
  std::int64_t x = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(apply(layout, x));
    if (++x == n) x = 0;
  }
}

void tile_up(benchmark::State& state) {
  const Layout inner = layout_of(state.range(0));
  const Shape from = shape_of(state.range(0));
  const Shape to{from[0] * 4, from[1] * 2};
  must_hold(must(tile_to(inner, to, from)).size() == inner.size() * 8);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(tile_to(inner, to, from));
}

void ranks(benchmark::internal::Benchmark* b) {
  for (const std::int64_t rank : {4, 5, 6}) b->Arg(rank);
}

constexpr std::int64_t kTile = 128 * 256;

void per_element(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kTile);
}

void enumerate_tile(benchmark::State& state, const char* text) {
  const Layout layout = must(parse_layout(text));
  must_hold(layout.size() == kTile);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(enumerate(layout));
  per_element(state);
}

void enumerate_again(benchmark::State& state, const char* text) {
  const Layout layout = must(parse_layout(text));
  Image image;
  for ([[maybe_unused]] auto _ : state) {
    must_hold(enumerate_into(layout, image).has_value());
    benchmark::DoNotOptimize(image.values.data());
  }
  per_element(state);
}

void facts_of_tile(benchmark::State& state, const char* text) {
  const Layout layout = must(parse_layout(text));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(image_facts(layout));
  per_element(state);
}

void fit_tile(benchmark::State& state, const char* text) {
  const Layout layout = must(parse_layout(text));
  const Image image = must(enumerate(layout));
  must_hold(must(same_places(must(fit_image(image)), layout)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(fit_image(image));
  per_element(state);
}

constexpr const char* kShared = "ComposeLayout(3, 3, 3, S[(128,4,64):(64,8192,1)])";
constexpr const char* kFragments = "S[(8,2,8,32,4,2):(1@warpid,2,4@laneid,4,1@laneid,1)]";

}  // namespace

BENCHMARK(parse)->Name("layout/parse")->Apply(ranks);
BENCHMARK(print)->Name("layout/print")->Apply(ranks);
BENCHMARK(canonical)->Name("layout/canonicalize")->Apply(ranks);
BENCHMARK(fuse)->Name("layout/fuse_threads")->Apply(ranks);
BENCHMARK(group_by_shape)->Name("layout/group")->Apply(ranks);
BENCHMARK(slice_region)->Name("layout/slice")->Apply(ranks);
BENCHMARK(slice_runtime)->Name("layout/slice_runtime");
BENCHMARK(compose_tiles)->Name("layout/compose")->Apply(ranks);
BENCHMARK(invert)->Name("layout/inverse")->Apply(ranks);
BENCHMARK(apply_one)->Name("layout/apply")->Apply(ranks);
BENCHMARK(tile_up)->Name("layout/tile_to")->Apply(ranks);
BENCHMARK_CAPTURE(enumerate_tile, registers, kFragments)
    ->Name("layout/enumerate_128x256/registers");
BENCHMARK_CAPTURE(enumerate_tile, shared, kShared)->Name("layout/enumerate_128x256/swizzled");
BENCHMARK_CAPTURE(enumerate_again, registers, kFragments)
    ->Name("layout/enumerate_128x256/registers_reused");
BENCHMARK_CAPTURE(enumerate_again, shared, kShared)
    ->Name("layout/enumerate_128x256/swizzled_reused");
BENCHMARK_CAPTURE(facts_of_tile, shared, kShared)->Name("layout/facts_128x256/swizzled");
BENCHMARK_CAPTURE(fit_tile, registers, kFragments)->Name("layout/fit_128x256/registers");

}  // namespace ww::layout_bench
