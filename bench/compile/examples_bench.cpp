// SPDX-License-Identifier: Apache-2.0
// Programs of examples/ from source text to PTX, whole and by phase, and what NVIDIA's compilers
// take for the same kernels: nvcc for the CUDA C++ that we emit, ptxas for our PTX. The `ratio` of
// a tool's row is its time over that of source_to_ptx, measured next to it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "base/heap.h"
#include "base/process.h"
#include "driver/build.h"
#include "driver/examples.h"
#include "emit/cuda/emit.h"
#include "emit/ptx/emit.h"
#include "examples.h"
#include "lower/code_observer.h"
#include "lower/lower.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace ww::bench::examples_bench {
namespace {

// There are many examples, and each repetition is a median's sample.
constexpr double kSecondsPerPhase = 0.1;

// As the program does.
[[maybe_unused]] const bool kKeepsFreedMemory = (keep_freed_memory(), true);

using driver::Example;

// For the target that suits it: driver/build.h.
driver::Build build(const SourceText& source, driver::Phase until = driver::Phase::Ptx) {
  return driver::build_file({.path = source.name(), .text = &source}, until);
}

// What the example was compiled from: compiling may have added a file of the language's own.
SourceText source_of(const driver::Build& of) {
  return {of.compiled->source.name(), std::string(of.compiled->source.file_text(0))};
}

// Compiles an example, and checks that its PTX is legal, before anything is timed.
Result<driver::Build> checked_build(const Example& program) {
  driver::Build out = build(SourceText(program.path, std::string(program.text)));
  if (!out.good()) return fail(DiagKind::BadArgument, "{}", out.errors);
  const ptx::ParseResult parsed = ptx::parse(out.ptx);
  if (!parsed.ok() || !ptx::check(parsed.module).ok())
    return fail(DiagKind::BadArgument, "the PTX of `{}` is not legal", program.path);
  return out;
}

std::string ptx_text(const driver::Build& of) {
  const auto module =
      emit::ptx_module(*of.lowered, {.target = *of.target, .source = &of.compiled->source});
  return module ? ptx::print(*module) : std::string();
}

// --- in this process -----------------------------------------------------------------------------

/// Lets all code pass without a proof.
struct Unproven final : lower::CodeObserver {
  lower::Proof observe(ir::Function&, ir::Block&, const std::function<lower::Proof()>&) override {
    return {};
  }
};

using Phase = std::size_t (*)(const driver::Build& of);
struct NamedPhase {
  std::string_view name;
  Phase run;
};
// What each takes from the build that is given to it was made before.
constexpr NamedPhase kPhases[] = {
    {"source_to_ptx", [](const driver::Build& of) { return build(source_of(of)).ptx.size(); }},
    {"source_to_tile",
     [](const driver::Build& of) {
       return build(source_of(of), driver::Phase::Tile).tile().stmt_count();
     }},
    {"tile_to_lowered",
     [](const driver::Build& of) {
       return lower::lower(of.tile(), {.target = *of.target}).function->stmt_count();
     }},
    // The same without the proof, whose time is the difference.
    {"tile_to_unproven",
     [](const driver::Build& of) {
       Unproven all;
       return lower::lower(of.tile(), {.target = *of.target, .observer = &all})
           .function->stmt_count();
     }},
    {"lowered_to_ptx", [](const driver::Build& of) { return ptx_text(of).size(); }},
};

void run_phase(benchmark::State& state, const Example& program, Phase phase) {
  const auto of = checked_build(program);
  if (!of) return state.SkipWithError(of.error().text.c_str());
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(phase(*of));
}

// --- NVIDIA's compilers --------------------------------------------------------------------------

// Processor time of this process, or of programs that it has waited for: what else the machine does
// counts for neither.
double seconds_of(int whom, const std::function<void()>& work) {
  const auto used = [&] {
    rusage usage{};
    ::getrusage(whom, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const double before = used();
  work();
  return used() - before;
}

// The median time from source to PTX.
double own_seconds(const driver::Build& of) {
  constexpr std::size_t kRuns = 5;
  std::vector<double> seconds(kRuns);
  for (double& one : seconds)
    one =
        seconds_of(RUSAGE_SELF, [&] { benchmark::DoNotOptimize(build(source_of(of)).ptx.size()); });
  std::ranges::nth_element(seconds, seconds.begin() + kRuns / 2);
  return seconds[kRuns / 2];
}

struct Tool {
  std::string_view name;
  std::string_view program;
  std::string_view option;
  std::string_view input;  // .cu: the CUDA C++ that we emit; .ptx: our PTX
};
constexpr Tool kTools[] = {{"nvcc_to_ptx", "nvcc", "-ptx", "kernel.cu"},
                           {"ptxas", "ptxas", "-O3", "kernel.ptx"}};

// With the last line that the program wrote when it fails.
Result<void> run_tool(const std::vector<std::string>& words) {
  Finished finished = WW_TRY(run_program(words));
  if (finished.good()) return {};
  std::string& said = finished.output;
  while (said.ends_with('\n')) said.pop_back();
  return fail(DiagKind::DeviceError, "`{}` failed: {}", words[0],
              said.substr(said.rfind('\n') + 1));
}

Result<std::string> input_text(const Tool& with, const driver::Build& of) {
  if (with.program == "ptxas") return of.ptx;
  return emit::cuda_source(*of.lowered, {.target = *of.target, .source = &of.compiled->source});
}

Result<void> time_tool(benchmark::State& state, const Example& program, const Tool& with) {
  const driver::Build of = WW_TRY(checked_build(program));
  const std::string path = find_tool(with.program);
  const ScratchFolder folder = WW_TRY(ScratchFolder::make());
  const std::string input = folder.file(with.input);
  WW_TRY_VOID(write_file_atomically(input, WW_TRY(input_text(with, of))));
  const std::vector<std::string> words = {
      path,  std::string(with.option),
      input, fmt::format("-arch={}", target::info(of.target->arch).name),
      "-o",  folder.file("result")};
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    Result<void> done;
    const double once = seconds_of(RUSAGE_CHILDREN, [&] { done = run_tool(words); });
    WW_TRY_VOID(done);
    state.SetIterationTime(once);
    seconds += once;
  }
  state.counters["ratio"] = seconds / static_cast<double>(state.iterations()) / own_seconds(of);
  return {};
}

void run_tool_row(benchmark::State& state, const Example& program, const Tool& with) {
  if (find_tool(with.program).empty())
    return state.SkipWithError(
        fmt::format("skipped: `{}` is not on this machine", with.program).c_str());
  if (const auto done = time_tool(state, program, with); !done)
    state.SkipWithError(done.error().text.c_str());
}

// --- rows ----------------------------------------------------------------------------------------

void add_tool(const Example& program, const Tool& with) {
  auto* const made = benchmark::RegisterBenchmark(
      fmt::format("compile/{}/{}", program.name, with.name).c_str(), run_tool_row, program, with);
  made->Unit(benchmark::kMillisecond)->Iterations(1)->UseManualTime();
  if (find_tool(with.program).empty()) made->Repetitions(1);  // enough to say it once
}

bool add_rows() {
  for (const Example& program : driver::examples()) {
    for (const NamedPhase& phase : kPhases)
      benchmark::RegisterBenchmark(fmt::format("compile/{}/{}", program.name, phase.name).c_str(),
                                   run_phase, program, phase.run)
          ->Unit(benchmark::kMicrosecond)
          ->MinTime(kSecondsPerPhase)
          ->MeasureProcessCPUTime();  // proofs have a thread of their own
    for (const Tool& with : kTools) add_tool(program, with);
  }
  return true;
}
[[maybe_unused]] const bool kAdded = add_rows();

}  // namespace
}  // namespace ww::bench::examples_bench
