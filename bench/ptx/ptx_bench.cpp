// SPDX-License-Identifier: Apache-2.0
// Reading, printing and checking PTX, on a module such as compilers write: kernels of a few
// thousand instructions with loads, address arithmetic, matrix products, branches and line
// information. The text is made here, the same each time; whether it reads and prints back is
// checked before timing.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/append.h"
#include "ptx/check.h"
#include "ptx/module.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace ww::ptx_bench {
namespace {

using namespace ww::ptx;  // NOLINT(google-build-using-namespace): a benchmark file

void must_hold(bool claim) {
  if (!claim) std::abort();
}

// Lines with holes: `^` is the number of a new register of the kind before it, `~` of one of the
// last few, `#` any small number, `?` the number of a label.
constexpr std::string_view kLines[] = {
    "\tld.global.nc.v4.f32 \t{%f^, %f^, %f^, %f^}, [%rd~+#];\n",
    "\tfma.rn.f32 \t%f^, %f~, %f~, %f~;\n",
    "\tfma.rn.f32 \t%f^, %f~, %f~, %f~;\n",
    "\tadd.s32 \t%r^, %r~, #;\n",
    "\tmul.wide.s32 \t%rd^, %r~, 4;\n",
    "\tadd.s64 \t%rd^, %rd~, %rd~;\n",
    "\tst.shared.v2.b32 \t[%r~+#], {%r~, %r~};\n",
    "\tsetp.lt.s32 \t%p^, %r~, #;\n",
    "\t@%p~ bra \t$L__BB?;\n",
    "\tand.b32  \t%r^, %r~, -2147483648;\n",
    "\tmul.f32 \t%f^, %f~, 0f3FB8AA3B;\n",
    ("\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \t{%f^, %f^, %f^, %f^}, "
     "{%r~, %r~, %r~, %r~}, {%r~, %r~}, {%f~, %f~, %f~, %f~};\n"),
    "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 \t{%r^, %r^, %r^, %r^}, [%r~+#];\n",
    "\tcp.async.cg.shared.global [%r~], [%rd~], 16;\n",
    "\tselp.b32 \t%r^, %r~, %r~, %p~;\n",
    "\tcvt.rn.f16x2.f32 \t%r^, %f~, %f~;\n",
    "\tshfl.sync.bfly.b32 \t%r^|%p^, %r~, #, 31, -1;\n",
    "\t.loc\t1 # #\n",
};

// Numbers that look random and are the same everywhere.
class Numbers {
 public:
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_ = 1;
};

constexpr int kKernels = 64;
constexpr int kLinesPerKernel = 2000;
constexpr int kLinesPerBlock = 40;

// One kernel in the making.
class Kernel {
 public:
  Kernel(int index, Numbers& numbers, std::string& out)
      : index_(index), numbers_(numbers), out_(out) {}

  void add() {
    add_text(
        "\t// .globl\tkernel_{0}\n.visible .entry kernel_{0}(\n"
        "\t.param .u64 kernel_{0}_param_0,\n\t.param .u64 kernel_{0}_param_1,\n"
        "\t.param .align 4 .b8 kernel_{0}_param_2[12]\n)\n.maxntid 128, 1, 1\n{{\n"
        "\t.reg .pred \t%p<9999>;\n\t.reg .f32 \t%f<9999>;\n\t.reg .b32 \t%r<9999>;\n"
        "\t.reg .b64 \t%rd<9999>;\n\tld.param.u64 \t%rd1, [kernel_{0}_param_0];\n"
        "\tmov.u32 \t%r1, %tid.x;\n",
        index_);
    for (int i = 0; i < kLinesPerKernel; ++i) {
      if (i % kLinesPerBlock == 0) add_text("\n$L__BB{}_{}:\n", index_, i / kLinesPerBlock);
      add_line(kLines[numbers_.below(std::size(kLines))]);
    }
    out_ += "\tret;\n\n}\n";
  }

 private:
  template <typename... Args>
  void add_text(fmt::format_string<Args...> format, Args&&... args) {
    ww::append(out_, format, std::forward<Args>(args)...);
  }

  void add_line(std::string_view line) {
    for (const char c : line) {
      if (c == '^' || c == '~')
        add_text("{}", c == '^' ? ++newest() : one_of_the_last(newest()));
      else if (c == '#')
        add_text("{}", numbers_.below(4096));
      else if (c == '?')
        add_text("{}_{}", index_, numbers_.below(kLinesPerKernel / kLinesPerBlock));
      else
        out_ += c;
    }
  }

  // The register of the kind whose letters were just written.
  std::uint32_t& newest() {
    const bool is_wide = out_.ends_with("%rd");
    return newest_[is_wide ? 0U : static_cast<unsigned char>(out_.back())];
  }
  std::uint32_t one_of_the_last(std::uint32_t newest) {
    return newest > 40 ? newest - numbers_.below(40) : numbers_.below(40) + 1;
  }

  int index_;
  Numbers& numbers_;
  std::string& out_;
  std::array<std::uint32_t, 256> newest_{};
};

const std::string& text() {
  static const std::string text = [] {
    std::string out = "//\n// Made for a benchmark\n//\n\n";
    out += ".version 8.8\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 16 .b8 s[];\n";
    Numbers numbers;
    for (int i = 0; i < kKernels; ++i) Kernel(i, numbers, out).add();
    return out;
  }();
  return text;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void read(benchmark::State& state) {
  const ParseResult once = parse(text());
  must_hold(once.ok() && once.module.functions.size() == kKernels);
  must_hold(equal(once.module, parse(print(once.module)).module));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(parse(text()));
  count_bytes(state, text().size());
}

void write(benchmark::State& state) {
  const Module module = parse(text()).module;
  const std::string once = print(module);
  must_hold(equal(module, parse(once).module));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(print(module));
  count_bytes(state, once.size());
}

void judge(benchmark::State& state) {
  const Module module = parse(text()).module;
  const CheckResult once = check(module);
  must_hold(once.ok());
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(check(module));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(once.instructions));
}

}  // namespace

BENCHMARK(read)->Name("ptx/read")->Unit(benchmark::kMillisecond);
BENCHMARK(write)->Name("ptx/print")->Unit(benchmark::kMillisecond);
BENCHMARK(judge)->Name("ptx/check")->Unit(benchmark::kMillisecond);

}  // namespace ww::ptx_bench
