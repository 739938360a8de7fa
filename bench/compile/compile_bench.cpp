// SPDX-License-Identifier: Apache-2.0
// From source text to a verified tile program, for programs of a screen and of 2000 lines.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/source.h"
#include "driver/examples.h"
#include "ir/print/print.h"
#include "script/compile.h"
#include "script/syntax/parser.h"

namespace ww::script::compile_bench {
namespace {

// One kernel of about 2000 lines: scalar code, loops, branches and tile calls.
std::string large_program() {
  std::string out = R"py(from tvm.tirx.layout import S, TileLayout, laneid

frag = TileLayout(S[(32, 8) : (1 @ laneid, 1)])

@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (4096, 8), "float32")
    B = T.match_buffer(B_ptr, (4096, 8), "float32")
    T.device_entry()
    bx = T.cta_id([4])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    smem = T.alloc_buffer((128, 8), "float32", scope="shared")
    regs = T.alloc_buffer((32, 8), "float32", scope="local", layout=frag)
    mine = regs.local(8)
)py";
  for (int i = 0; i < 198; ++i) {
    out += fmt::format("    base_{0} = bx * 128 + warp * 32 + {0}\n", i);
    out += fmt::format(
        "    for k in range(8):\n        smem[warp * 32 + lane, k] = A[(base_{0} + lane) % 4096, "
        "k] * T.float32({0})\n",
        i);
    out += "    T.cuda.cta_sync()\n";
    out += fmt::format("    if warp == {}:\n        Tx.warp.copy(regs[:, :], smem[{}:{}, :])\n",
                       i % 4, i % 4 * 32, i % 4 * 32 + 32);
    out += "    T.cuda.cta_sync()\n";
    out += fmt::format(
        "    for k in T.unroll(8):\n        mine[k] = T.max(mine[k] + T.float32({}), "
        "T.float32(0))\n",
        i);
    out += fmt::format("    B[(base_{0} + lane) % 4096, {1}] = mine[{1}]\n", i, i % 8);
  }
  return out;
}

void compile_program(benchmark::State& state, std::string_view text) {
  const SourceText source("bench.py", std::string(text));
  for ([[maybe_unused]] auto _ : state) {
    const Compiled compiled = compile(source);
    if (!compiled.function) {
      state.SkipWithError(compiled.render(compiled.errors[0]).c_str());
      break;
    }
    benchmark::DoNotOptimize(compiled.function->stmt_count());
  }
  const auto lines = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
  state.counters["lines"] =
      benchmark::Counter(lines, benchmark::Counter::kIsIterationInvariantRate);
}

void parse_program(benchmark::State& state, std::string_view text) {
  for ([[maybe_unused]] auto _ : state) {
    SymbolTable symbols;
    benchmark::DoNotOptimize(parse_file(text, symbols)->stmts.size());
  }
}

// A warp copies a tile through shared memory: what most kernels are made of.
void small(benchmark::State& state) {
  compile_program(state, driver::find_example("basics/ldstmatrix")->text);
}
void large(benchmark::State& state) { compile_program(state, large_program()); }
void parse_large(benchmark::State& state) { parse_program(state, large_program()); }
void print_large(benchmark::State& state) {
  const Compiled compiled = compile(SourceText("bench.py", large_program()));
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(ir::print(*compiled.function).size());
}

BENCHMARK(small)->Name("compile/one_screen")->Unit(benchmark::kMicrosecond);
BENCHMARK(large)->Name("compile/2000_lines")->Unit(benchmark::kMillisecond);
BENCHMARK(parse_large)->Name("compile/2000_lines_parse_only")->Unit(benchmark::kMillisecond);
BENCHMARK(print_large)->Name("compile/2000_lines_print")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ww::script::compile_bench
