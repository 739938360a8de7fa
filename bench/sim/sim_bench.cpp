// SPDX-License-Identifier: Apache-2.0
// The virtual GPU: warp instructions per second on ordinary code, with checks and without; matrix
// products per second, with the tensor cores' own rounding and without; a whole matrix product; the
// time from text to first instruction. Kernels are made here; each checks its result once before it
// is timed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gemm_kernel.h"
#include "isa/product_descriptor.h"
#include "num/half_lanes.h"
#include "sim/launch.h"

namespace ww::sim_bench {
namespace {

using namespace ww::sim;  // NOLINT(google-build-using-namespace): a benchmark file

void must_hold(bool claim) {
  if (!claim) std::abort();
}

constexpr std::string_view kHead = R"(.version 8.0
.target sm_90a
.address_size 64
)";

// A loop of `body` 256 times. %r1 counts, %r2 .. %r9 and %f2 .. %f9 are the body's; %rd1 points at
// the thread's own 16 bytes of `out`, %r30 at those of shared memory.
std::string loop_kernel(std::string_view body, std::string_view before = "") {
  return fmt::format(R"({}.visible .entry k(.param .u64 out) {{
  .reg .pred %p<4>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<10>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %rd1, [out];
  mov.u32 %r31, %tid.x; mov.u32 %r32, %ctaid.x; mov.u32 %r33, %ntid.x;
  mad.lo.u32 %r34, %r32, %r33, %r31; mul.wide.u32 %rd2, %r34, 16; add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r30, tile; shl.b32 %r35, %r31, 4; add.u32 %r30, %r30, %r35;
  mov.u32 %r1, 0; mov.u32 %r2, %r34; mov.u32 %r3, 3; mov.u32 %r4, 5; mov.u32 %r5, 7; mov.u32 %r6, 1;
  mov.u32 %r7, 2; mov.u32 %r8, 3; mov.u32 %r9, 4;
  mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f3F000000; mov.f32 %f4, 0f3F800000; mov.f32 %f5, 0f3E800000;
  mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f3F800000; mov.f32 %f8, 0f40000000; mov.f32 %f9, 0f3F800000;
  st.global.v4.u32 [%rd1], {{%r2, %r3, %r4, %r5}}; st.shared.v4.u32 [%r30], {{%r2, %r3, %r4, %r5}};
{}
LOOP:
{}
  add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 256; @%p1 bra LOOP;
  st.global.u32 [%rd1], %r1; ret;
}}
)",
                     kHead, before, body);
}

constexpr std::string_view kInteger = R"(
  add.u32 %r2, %r2, %r3; xor.b32 %r3, %r3, %r2; shl.b32 %r4, %r2, 3; and.b32 %r5, %r4, %r3;
  mad.lo.u32 %r6, %r2, %r3, %r5; shr.u32 %r7, %r6, 5; or.b32 %r8, %r7, %r2; sub.u32 %r9, %r8, %r6;
  min.u32 %r2, %r9, %r8; lop3.b32 %r3, %r2, %r9, %r6, 0x96; mul.hi.u32 %r4, %r3, %r2;
  setp.lt.u32 %p2, %r4, %r5; selp.b32 %r5, %r4, %r3, %p2;
)";
constexpr std::string_view kFloat = R"(
  fma.rn.f32 %f2, %f3, %f4, %f2; mul.f32 %f5, %f2, %f3; add.f32 %f6, %f5, %f4; sub.f32 %f7, %f6, %f2;
  fma.rn.f32 %f8, %f7, %f6, %f5; max.f32 %f9, %f8, %f2; min.f32 %f2, %f9, %f4; mul.f32 %f3, %f2, %f4;
  fma.rn.f32 %f6, %f3, %f2, %f9; add.f32 %f4, %f4, %f5; neg.f32 %f5, %f6; abs.f32 %f9, %f5;
)";
constexpr std::string_view kMemory = R"(
  ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+4]; add.u32 %r4, %r2, %r3; st.shared.u32 [%r30], %r4;
  ld.shared.u32 %r5, [%r30+4]; add.u32 %r6, %r5, %r4; st.global.u32 [%rd1+8], %r6; ld.shared.u32 %r7, [%r30];
  xor.b32 %r8, %r7, %r6; st.shared.u32 [%r30+8], %r8; mul.wide.u32 %rd5, %r31, 4; add.u64 %rd6, %rd5, %rd1;
)";
constexpr std::string_view kMixed = R"(
  ld.shared.u32 %r2, [%r30]; mad.lo.u32 %r3, %r2, %r4, %r1; fma.rn.f32 %f2, %f3, %f4, %f2;
  setp.gt.f32 %p2, %f2, %f5; selp.f32 %f6, %f2, %f5, %p2; cvt.rn.f32.u32 %f7, %r3; mul.f32 %f8, %f7, %f3;
  add.u32 %r5, %r3, %r2; shl.b32 %r6, %r5, 2; and.b32 %r7, %r6, 1023; st.shared.u32 [%r30+4], %r7;
  fma.rn.f32 %f9, %f8, %f3, %f6; shfl.sync.bfly.b32 %r8, %r7, 1, 31, -1; add.u32 %r4, %r8, 1;
)";
constexpr std::string_view kMma = R"(
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%f2,%f3,%f4,%f5};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f6,%f7,%f8,%f9}, {%r2,%r3,%r4,%r5}, {%r8,%r9}, {%f6,%f7,%f8,%f9};
)";

// Halves between 1 and 2 and between -1/8 and 1/4.
constexpr std::string_view kMmaInputs = R"(
  mov.b32 %r2, 0x3C003D10; mov.b32 %r3, 0x3E553C01; mov.b32 %r4, 0x3F003C80; mov.b32 %r5, 0x3CCC3DDD;
  mov.b32 %r6, 0xB0002C10; mov.b32 %r7, 0x3011AF00; mov.b32 %r8, 0x2E00B011; mov.b32 %r9, 0xAC00AE00;
)";

// Products of a warpgroup, m64n128k16 of halves from shared memory: four to a group, 64 groups.
std::string wgmma_kernel() {
  std::string list;
  for (int i = 0; i < 64; ++i) list += fmt::format("{}%f{}", i == 0 ? "" : ",", i);
  std::string body;
  for (int i = 0; i < 4; ++i) {
    body += fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{}}}, %rd3, %rd4, %p2, 1, 1, 0, "
        "0;\n"
        "  setp.eq.u32 %p2, 0, 0;\n",
        list);
  }
  return fmt::format(R"({}.visible .entry k(.param .u64 out) {{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .f32 %f<64>; .reg .b64 %rd<8>;
  .shared .align 1024 .b8 tile[8192];
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r5, 0;
  mad.lo.u32 %r3, %r1, 64, %r2; mad.lo.u32 %r4, %r1, 0x00310017, 0x2C003410; and.b32 %r4, %r4, 0x37FF37FF;
FILL:
  st.shared.v4.b32 [%r3], {{%r4, %r4, %r4, %r4}}; add.u32 %r3, %r3, 16; xor.b32 %r4, %r4, 0x80010155;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra FILL;
  shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd3, %r2; or.b64 %rd3, %rd3, 0x0000001000080000;
  add.u64 %rd4, %rd3, 256; setp.ne.u32 %p2, 0, 0; mov.u32 %r5, 0;
  fence.proxy.async; bar.sync 0;
LOOP:
  wgmma.fence.sync.aligned;
{}  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 64; @%p1 bra LOOP;
  mad.wide.u32 %rd5, %r1, 16, %rd1; st.global.f32 [%rd5], %f0; ret;
}}
)",
                     kHead, body);
}

// Products of m128n256k16 of halves from shared memory by one thread: four to a commit, 16 commits.
constexpr std::string_view kTcgen05Start = R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<6>; .reg .b32 %r<30>; .reg .b64 %rd<8>;
  .shared .align 1024 .b8 tile[12288]; .shared .align 8 .b64 bar; .shared .b32 base;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r5, 0;
  setp.eq.u32 %p0, %r1, 0; setp.lt.u32 %p3, %r1, 32;
  @%p3 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 256;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  mad.lo.u32 %r3, %r1, 96, %r2; mad.lo.u32 %r4, %r1, 0x00310017, 0x2C003410; and.b32 %r4, %r4, 0x37FF37FF;
FILL:
  st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4}; add.u32 %r3, %r3, 16; xor.b32 %r4, %r4, 0x80010155;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 6; @%p1 bra FILL;
  shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd3, %r2; or.b64 %rd3, %rd3, 0x0000401000080000;
  add.u64 %rd4, %rd3, 256; setp.ne.u32 %p2, 0, 0; mov.u32 %r5, 0;
  fence.proxy.async; bar.sync 0; ld.shared.b32 %r20, [base];
LOOP:
  @!%p0 bra WAIT;
)";
constexpr std::string_view kTcgen05End = R"(
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
WAIT:
  and.b32 %r6, %r5, 1; mbarrier.try_wait.parity.shared.b64 %p4, [bar], %r6; @!%p4 bra WAIT;
  bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 16; @%p1 bra LOOP;
  tcgen05.fence::after_thread_sync;
  and.b32 %r7, %r1, 96; shl.b32 %r7, %r7, 16; add.u32 %r7, %r7, %r20;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r8}, [%r7]; tcgen05.wait::ld.sync.aligned;
  mad.wide.u32 %rd5, %r1, 16, %rd1; st.global.b32 [%rd5], %r8;
  tcgen05.fence::before_thread_sync; bar.sync 0;
  @%p3 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 256; ret;
}
)";

std::string tcgen05_kernel() {
  const std::uint32_t descriptor =
      isa::write_descriptor(isa::ProductKind::F16, {.m = 128,
                                                    .n = 256,
                                                    .a = num::DType::Float16,
                                                    .b = num::DType::Float16,
                                                    .d = num::DType::Float32});
  std::string text(kTcgen05Start);
  text += fmt::format("  mov.b32 %r21, 0x{:08X};\n", descriptor);
  for (int i = 0; i < 4; ++i) {
    text +=
        "  tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd3, %rd4, %r21, %p2;\n"
        "  setp.eq.u32 %p2, 0, 0;\n";
  }
  return text.append(kTcgen05End);
}

struct Setup {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Device> device;
  Launch launch;
};

Setup set_up(const std::string& text, Dim3 grid, Dim3 block) {
  Setup it;
  LoadResult loaded = load(text, "bench.ptx");
  for (const ww::Diag& error : loaded.errors) fmt::print(stderr, "{}\n", error.text);
  must_hold(loaded.program != nullptr);
  it.program = loaded.program;
  it.device = std::make_unique<Device>(it.program);
  it.launch.kernel = it.program->kernels().at(0);
  it.launch.grid = grid;
  it.launch.block = block;
  it.launch.params.resize(it.launch.kernel->param_bytes);
  return it;
}

void set_pointer(Setup& it, std::size_t param, std::uint64_t value) {
  const Param& at = it.launch.kernel->params[param];
  std::memcpy(it.launch.params.data() + at.offset, &value, at.bytes);
}

enum class Checks : std::uint8_t { Off, On };

RunOptions options_of(Checks checks, unsigned threads) {
  RunOptions options;
  if (checks == Checks::Off) options.checks = CheckSet::nothing();
  options.threads = threads;
  return options;
}

void run_loop(benchmark::State& state, std::string_view body, Checks checks, unsigned threads,
              bool exact = true, std::uint32_t blocks = 16) {
  constexpr std::uint32_t kThreads = 128;
  Setup it = set_up(loop_kernel(body, body == kMma ? kMmaInputs : ""), {blocks}, {kThreads});
  Region& out = it.device->memory().allocate(std::size_t{16} * blocks * kThreads, 256, "out");
  set_pointer(it, 0, out.base);
  RunOptions options = options_of(checks, threads);
  options.exact_matrix = exact;
  std::uint64_t instructions = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto report = it.device->run(it.launch, options);
    must_hold(report && report->ok());
    instructions += report->counters.instructions;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  if (body == kMma) {
    state.counters["FLOP"] = benchmark::Counter(
        static_cast<double>(state.iterations()) * 2 * 4096 * 256 * blocks * kThreads / 32,
        benchmark::Counter::kIsRate);
  }
}

// Kernels that multiply asynchronously: `flop` operations in a block.
void run_products(benchmark::State& state, const std::string& kernel, double flop, Checks checks,
                  bool exact) {
  constexpr std::uint32_t kBlocks = 2;
  Setup it = set_up(kernel, {kBlocks}, {128});
  Region& out = it.device->memory().allocate(std::size_t{16} * 128, 256, "out");
  set_pointer(it, 0, out.base);
  RunOptions options = options_of(checks, 1);
  options.checks.remove(Check::Race);  // all blocks store one result
  options.exact_matrix = exact;
  for ([[maybe_unused]] auto _ : state) {
    const auto report = it.device->run(it.launch, options);
    must_hold(report && report->ok());
  }
  state.counters["FLOP"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * flop * kBlocks, benchmark::Counter::kIsRate);
}

void run_wgmma(benchmark::State& state, Checks checks, bool exact) {
  run_products(state, wgmma_kernel(), 2.0 * 64 * 128 * 16 * 4 * 64, checks, exact);
}
void run_tcgen05(benchmark::State& state, Checks checks, bool exact) {
  run_products(state, tcgen05_kernel(), 2.0 * 128 * 256 * 16 * 4 * 16, checks, exact);
}

void run_gemm(benchmark::State& state, Checks checks, bool exact, unsigned threads) {
  constexpr unsigned kSize = 1024;
  Setup it = set_up(ww::bench::gemm_kernel(), {kSize / 128, kSize / 128}, {128});
  std::vector<std::uint16_t> a(kSize * kSize);
  std::vector<std::uint16_t> b(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = ww::num::f32_to_f16(static_cast<float>(i * 7 % 13) - 6.0F);
    b[i] = ww::num::f32_to_f16(static_cast<float>(i * 5 % 11) - 5.0F);
  }
  GlobalMemory& memory = it.device->memory();
  Region& in_a = memory.allocate(2 * a.size(), 256, "a");
  Region& in_b = memory.allocate(2 * b.size(), 256, "b");
  Region& out = memory.allocate(4 * a.size(), 256, "d");
  GlobalMemory::write(in_a, std::as_bytes(std::span(a)));
  GlobalMemory::write(in_b, std::as_bytes(std::span(b)));
  set_pointer(it, 0, in_a.base);
  set_pointer(it, 1, in_b.base);
  set_pointer(it, 2, out.base);
  const std::uint32_t size = kSize;
  std::memcpy(it.launch.params.data() + it.launch.kernel->params[3].offset, &size, sizeof size);
  RunOptions options = options_of(checks, threads);
  options.exact_matrix = exact;
  for ([[maybe_unused]] auto _ : state) {
    const auto report = it.device->run(it.launch, options);
    must_hold(report && report->ok());
  }
  for (const unsigned row : {0U, 17U, 1023U}) {
    float sum = 0;
    for (unsigned k = 0; k < kSize; ++k) {
      sum += ww::num::f16_to_f32(a[row * kSize + k]) * ww::num::f16_to_f32(b[5 * kSize + k]);
    }
    float seen = 0;
    std::memcpy(&seen, out.data + (std::size_t{row} * kSize + 5) * 4, sizeof seen);
    must_hold(seen == sum);  // small integers: exact
  }
  state.counters["FLOP"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 2.0 * kSize * kSize * kSize,
                         benchmark::Counter::kIsRate);
}

void start_up(benchmark::State& state) {
  const std::string text = loop_kernel(kMixed);
  for ([[maybe_unused]] auto _ : state) {
    LoadResult loaded = load(text, "bench.ptx");
    must_hold(loaded.program != nullptr);
    benchmark::DoNotOptimize(loaded.program.get());
  }
}

// On one core processor time counts, which the rest of the machine does not disturb.
#define WW_LOOP(name, body)                                        \
  BENCHMARK_CAPTURE(run_loop, name, body, Checks::Off, 1)          \
      ->Name("sim/" #name "/unchecked")                            \
      ->Unit(benchmark::kMillisecond)                              \
      ->MeasureProcessCPUTime();                                   \
  BENCHMARK_CAPTURE(run_loop, name##_checked, body, Checks::On, 1) \
      ->Name("sim/" #name "/checked")                              \
      ->Unit(benchmark::kMillisecond)                              \
      ->MeasureProcessCPUTime()

WW_LOOP(integer, kInteger);
WW_LOOP(float, kFloat);
WW_LOOP(memory, kMemory);
WW_LOOP(mixed, kMixed);
BENCHMARK_CAPTURE(run_loop, mma_exact, kMma, Checks::Off, 1, true)
    ->Name("sim/mma_f16/exact")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(run_loop, mma_plain, kMma, Checks::Off, 1, false)
    ->Name("sim/mma_f16/plain")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
#define WW_PRODUCTS(kind, name, checks, exact)                \
  BENCHMARK_CAPTURE(run_##kind, kind##_##name, checks, exact) \
      ->Name("sim/" #kind "_f16/" #name)                      \
      ->Unit(benchmark::kMillisecond)                         \
      ->MeasureProcessCPUTime()
WW_PRODUCTS(wgmma, exact, Checks::Off, true);
WW_PRODUCTS(wgmma, plain, Checks::Off, false);
WW_PRODUCTS(wgmma, checked, Checks::On, true);
WW_PRODUCTS(tcgen05, exact, Checks::Off, true);
WW_PRODUCTS(tcgen05, plain, Checks::Off, false);
WW_PRODUCTS(tcgen05, checked, Checks::On, true);
BENCHMARK_CAPTURE(run_gemm, gemm, Checks::Off, true, 0)
    ->Name("sim/gemm_1024/exact")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(run_gemm, gemm_plain, Checks::Off, false, 0)
    ->Name("sim/gemm_1024/plain")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(run_gemm, gemm_checked, Checks::On, true, 0)
    ->Name("sim/gemm_1024/checked")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK(start_up)->Name("sim/start_up")->Unit(benchmark::kMillisecond);

// One core, two, four and so on, and all of them.
bool add_cores() {
  constexpr std::uint32_t kBlocks = 512;
  const unsigned all = std::max(1U, std::thread::hardware_concurrency());
  for (const auto& [name, checks] : {std::pair("unchecked", Checks::Off), {"checked", Checks::On}})
    for (unsigned cores = 1; cores != 0; cores = cores == all ? 0 : std::min(2 * cores, all))
      benchmark::RegisterBenchmark(fmt::format("sim/cores/{}/{}", name, cores).c_str(), run_loop,
                                   kMixed, checks, cores, true, kBlocks)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
  return true;
}
[[maybe_unused]] const bool kAdded = add_cores();

}  // namespace

}  // namespace ww::sim_bench
