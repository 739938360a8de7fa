// SPDX-License-Identifier: Apache-2.0
// Programs of a few lines whose expressions, values or sizes are enormous: compiling them ends,
// with a program or with an error that has a place. Nothing here measures time; what is not bounded
// does not come back, or takes the stack.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/cuda/emit.h"
#include "emit/ptx/emit.h"
#include "lower/lower.h"
#include "script/compile.h"

namespace ww::test::bombs_test {
namespace {

// `N` in the host's code is how often something happens.
struct Bomb {
  std::string_view host;
  std::string_view body;
};

std::string source_of(const Bomb& bomb, int count) {
  return fmt::format(
      "from tvm.script import tirx as T\n"
      "from tvm.script.tirx import tile as Tx\n"
      "N = {}\n"
      "{}\n"
      "@T.prim_func\n"
      "def kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
      "    A = T.match_buffer(A_ptr, (64,), \"float32\"); B = T.match_buffer(B_ptr, (64,), "
      "\"float32\")\n"
      "    T.device_entry(); T.cta_id([1]); tid = T.thread_id([64])\n"
      "{}\n",
      count, bomb.host, bomb.body);
}

// The kinds of the errors on the way to PTX and CUDA C++; all of them have a place.
std::vector<DiagKind> compiled(const std::string& source) {
  std::vector<Diag> errors;
  const script::Compiled tile = script::compile(SourceText("bomb.py", source), {});
  errors = tile.errors;
  const target::Target target;
  if (tile.function) {
    lower::Lowered lowered = lower::lower(*tile.function, {.target = target});
    errors.insert(errors.end(), lowered.errors.begin(), lowered.errors.end());
    if (lowered.function) {
      const auto ptx = emit::ptx_module(*lowered.function, {.target = target});
      if (!ptx) errors.push_back(ptx.error());
      const auto cuda = emit::cuda_source(*lowered.function, {.target = target});
      if (!cuda) errors.push_back(cuda.error());
    }
  }
  std::vector<DiagKind> kinds;
  for (const Diag& error : errors) {
    EXPECT_TRUE(error.span.known) << error.text;
    kinds.push_back(error.kind);
  }
  return kinds;
}

std::string repeated(std::string_view step) {
  return fmt::format("def f(x):\n    for i in range(N):\n        x = {}\n    return x\n", step);
}

// What a host function makes of a value by doing the same thing again and again: small as a graph,
// deep, or endless when it is written out.
TEST(Bombs, ExpressionsOfAnyDepthCompile) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"x + 1", "    B[f(tid) % 64] = A[tid]"},
      {"x + x", "    B[f(tid) % 64] = A[tid]"},
      {"(x * 3 + 1) % 64", "    B[f(tid)] = A[tid]"},
      {"(x * x + x) % 64", "    B[f(tid)] = A[tid]"},
      {"T.Select(x > 3, x - 1, x + 1)", "    B[f(tid) % 64] = A[tid]"},
      {"T.if_then_else(x > 3, x - 1, x + 1)", "    if f(tid) > 3:\n        B[tid] = A[tid]"},
      {"T.And(T.Or(x, x), x)", "    if f(tid > 3):\n        B[tid] = A[tid]"},
      {"T.cast(T.cast(x, \"int64\"), \"int32\")", "    B[f(tid) % 64] = A[tid]"},
      {"x + x", "    B[tid] = T.cast(f(A[tid]), \"float32\")"},
      {"-x", "    y: T.let = f(tid)\n    B[y % 64] = A[tid]"},
      {"x + 1", "    for i in range(f(tid)):\n        B[tid] = A[tid]"},
      {"(x + x) % 64", "    Tx.thread.copy(B[f(tid) : f(tid) + 1], A[f(tid) : f(tid) + 1])"},
      {"x + x", "    Tx.thread.copy(B[f(tid) % 64 : f(tid) % 64 + 1], A[tid : tid + 1])"},
  };
  for (const auto& [step, body] : rows) {
    const std::string host = repeated(step);
    // What a remainder of a polynomial takes grows with the square of its depth.
    for (const int count : {10, 60, step == "(x * x + x) % 64" ? 300 : 1'000})
      EXPECT_TRUE(compiled(source_of({host, body}, count)).empty()) << step << " " << count;
  }
}

TEST(Bombs, VeryDeepExpressionsEnd) {
  const std::string host = repeated("x + 1.0");
  for (const int count : {10'000, 100'000})
    for (const DiagKind kind : compiled(source_of({host, "    B[tid] = f(A[tid])"}, count)))
      EXPECT_EQ(kind, DiagKind::Budget);
}

// Where a part cannot be computed ahead, the error says so.
TEST(Bombs, WhatCannotBeNamedIsRefused) {
  const std::string host = repeated("x + x");
  const std::string_view body = "    while f(A[tid]) < 0.0:\n        B[tid] = A[tid]";
  const auto kinds = compiled(source_of({host, body}, 60));
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0], DiagKind::Budget);
}

TEST(Bombs, ValuesOfTheHost) {
  const std::vector<std::string_view> hosts = {
      "x = [1]\nfor i in range(N):\n    x = [x, x]\n",
      "x = []\nfor i in range(N):\n    x = [x]\n",
      "x = ()\nfor i in range(N):\n    x = (x, x)\n",
      "x = {}\nfor i in range(N):\n    x = {1: x, 2: x}\n",
      "x = []\nx.append(x)\n",
      "x = {}\nx[1] = x\n",
      "class C:\n    pass\n\nx = C()\nx.x = x\n",
      "x = slice(1)\nfor i in range(N):\n    x = slice(x, x, x)\n",
  };
  for (const std::string_view host : hosts)
    for (const std::string_view use :
         {"    T.evaluate(x)", "    B[x] = A[tid]", "    C = T.alloc_buffer(x, \"float32\")",
          "    print(x)", "    T.attr(x)", "    y = x == [x]"})
      for (const int count : {10, 60, 100'000}) {
        const std::string source =
            source_of({host, std::string(use) + "\n    B[tid] = A[tid]"}, count);
        const script::Compiled out = script::compile(SourceText("bomb.py", source), {});
        for (const Diag& error : out.errors) EXPECT_TRUE(error.span.known) << error.text;
      }
}

// Each name stands for twice the one before.
TEST(Bombs, NamesOfNames) {
  for (const int count : {60, 2'000}) {
    std::string body = "    x0: T.let = tid\n";
    for (int i = 0; i < count; ++i)
      body += fmt::format("    x{}: T.let = (x{} + x{}) % 64\n", i + 1, i, i);
    const std::string last = fmt::format("x{}", count);
    for (const std::string& use :
         {fmt::format("    B[{}] = A[tid]", last),
          fmt::format("    if {} > 3:\n        B[tid] = A[tid]", last),
          fmt::format("    R = T.alloc_local((64,), \"float32\")\n    R[{}] = A[tid]\n"
                      "    B[tid] = R[0]",
                      last),
          std::string("    B[tid] = A[tid]")})
      EXPECT_TRUE(compiled(source_of({"", body + use}, 0)).empty()) << count << use;
  }
}

// Sizes that nothing can enumerate: refused before anything is.
TEST(Bombs, Sizes) {
  for (const int bits : {25, 28, 31, 37}) {
    const std::int64_t n = std::int64_t{1} << bits;
    for (const std::string_view call :
         {"Tx.cta.copy(B[0:{0}], A[0:{0}])", "Tx.thread.copy(B[0:{0}], A[0:{0}])",
          "Tx.cta.fill(B[0:{0}], 1.0)", "Tx.cta.zero(B[0:{0}])"}) {
      const std::string source = fmt::format(
          "from tvm.script import tirx as T\n"
          "from tvm.script.tirx import tile as Tx\n"
          "@T.prim_func\n"
          "def kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
          "    A = T.match_buffer(A_ptr, ({0},), \"float32\")\n"
          "    B = T.match_buffer(B_ptr, ({0},), \"float32\")\n"
          "    T.device_entry(); T.cta_id([1]); T.thread_id([64])\n"
          "    {1}\n",
          n, fmt::format(fmt::runtime(call), n));
      const auto kinds = compiled(source);
      ASSERT_EQ(kinds.size(), 1U) << source;
      EXPECT_EQ(kinds[0], DiagKind::TooLarge) << source;
    }
  }
}

}  // namespace
}  // namespace ww::test::bombs_test
