// SPDX-License-Identifier: Apache-2.0
// Small sources of large things: expressions that are deep or shared many times over, lists that
// hold themselves, nested text, extents beyond any memory. They compile or are refused, soon and in
// bounded memory. The bytes choose what, how large, and where it is used.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "hostile/script/change_text.h"
#include "hostile/targets.h"
#include "ir/function.h"
#include "script/compile.h"

namespace ww::fuzz {
namespace {

using Texts = std::vector<std::string>;

constexpr std::uint64_t kMaxSteps = 2'000'000;

class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  std::size_t below(std::size_t n) {
    if (bytes_.empty()) return 0;
    const auto next = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return next % n;
  }
  const std::string& pick(const Texts& texts) { return texts[below(texts.size())]; }

 private:
  std::string_view bytes_;
};

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

constexpr std::string_view kHead =
    "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
    "from tvm.tirx.layout import S, R, TileLayout, laneid, tx\n";

std::string kernel(std::string_view before, std::string_view extent, std::string_view body) {
  return fmt::format(
      "{}{}@T.prim_func\ndef k(A_ptr: T.handle, B_ptr: T.handle, n: T.int32):\n"
      "    A = T.match_buffer(A_ptr, ({},), \"float32\")\n"
      "    B = T.match_buffer(B_ptr, ({},), \"float32\")\n"
      "    T.device_entry(); T.cta_id([1]); tid = T.thread_id([64])\n{}",
      kHead, before, extent, extent, body);
}

// --- expressions ---------------------------------------------------------------------------------

const Texts kSizes = {"20", "60", "300", "1000", "10000", "100000"};

// A host function that puts an expression together round by round.
std::string expression_bomb(Choices& choices) {
  const std::string step = choices.pick(
      {"x + x", "(x * 3 + 1) % 64", "T.max(x, x // 2)", "x * x", "T.Select(x < 5, x, x + 1)", "-x",
       "x + n", "T.if_then_else(x > n, x - 1, x)", "T.cast(T.cast(x, \"int64\"), \"int32\")"});
  const std::string rounds = choices.pick(kSizes);
  const std::string before =
      fmt::format("def f(x, n):\n    for i in range({}): x = {}\n    return x\n", rounds, step);
  const std::string body = choices.pick(
      {"    B[f(tid, n) % 64] = A[tid]\n", "    B[tid] = T.cast(f(tid, n), \"float32\")\n",
       "    if f(tid, n) < 7:\n        B[tid] = A[tid]\n",
       "    for i in range(f(n, n)):\n        B[tid] = A[tid]\n",
       "    Tx.cta.copy(B[0:16], A[f(n, n) : f(n, n) + 16])\n",
       "    Tx.cta.copy(B[0:16], A[0:16], predicate=f(n, n) > 3)\n",
       "    y: T.int32 = f(tid, n)\n    while y > 3:\n        y = y // 2\n    B[y & 63] = A[tid]\n",
       "    y: T.let = f(tid, n)\n    B[y & 63] = A[y & 63]\n"});
  return kernel(before, "64", body);
}

// --- lists ---------------------------------------------------------------------------------------

std::string list_bomb(Choices& choices) {
  const std::string made = choices.pick(
      {"x = []\nx.append(x)\n", "x = [1]\nfor i in range(60): x = [x, x]\n",
       "x = {}\nx[\"a\"] = x\n", "x = (1,)\nfor i in range(60): x = (x, x)\n",
       "x = [1]\nfor i in range(3000): x = [x]\n", "x = [0]\nx[0] = (x, x)\n",
       "x = [1]\nfor i in range(40): x = x + x\n", "x = \"a\"\nfor i in range(40): x = x + x\n"});
  const std::string used = choices.pick(
      {"    T.meta_var(str(x))\n", "    T.evaluate(x)\n", "    B[tid] = A[len(str(x)) % 64]\n",
       "    if x == x:\n        B[tid] = A[tid]\n", "    B[x] = A[tid]\n",
       "    y = T.meta_var(x)\n    B[tid] = A[y]\n", "    Tx.cta.copy(B[x], A[x])\n",
       "    for i in x:\n        B[tid] = A[tid]\n", "    B[tid] = A[hash(x)]\n",
       "    T.func_attr({\"a\": x})\n", "    assert x, f\"{x}\"\n"});
  return kernel(made, "64", used);
}

// --- extents -------------------------------------------------------------------------------------

std::string extent_bomb(Choices& choices) {
  const Texts extents = {"1024",  "2**20", "2**24", "2**28", "2**31 - 1",
                         "2**31", "2**32", "2**40", "2**62", "2**63"};
  const std::string whole = choices.pick(extents), part = choices.pick(extents);
  const std::string scope = choices.pick({"cta.", "warp.", ""});
  const std::string body = choices.pick(
      {"    Tx.{1}copy(B[0:{0}], A[0:{0}])\n", "    Tx.{1}fill(B[0:{0}], 3)\n",
       "    s = T.alloc_shared(({0},), \"float32\")\n    Tx.{1}copy(s[0:64], A[0:64])\n",
       "    r = T.alloc_local(({0},), \"float32\")\n    r[n] = A[tid]\n    B[tid] = r[tid]\n",
       "    r = T.alloc_buffer(({0},), \"float32\", scope=\"local\", layout=TileLayout(S[(64, "
       "({0}) // 64) : (1 @ tx, 1)]))\n    Tx.{1}copy(r, A[0:{0}])\n",
       "    for i in T.unroll({0}):\n        B[i % 64] = A[tid]\n",
       "    for i in range({0}):\n        for j in T.unroll(64):\n            B[j] = A[i % 64]\n",
       "    Tx.{1}copy_async(B[0:{0}], A[0:{0}])\n",
       "    v = T.Broadcast(n, {0})\n    B[tid] = A[tid]\n"});
  return kernel("", whole, fmt::format(fmt::runtime(body), part, scope));
}

// --- text ----------------------------------------------------------------------------------------

std::string text_bomb(Choices& choices) {
  static constexpr std::size_t kCounts[] = {10, 100, 900, 3000, 20'000};
  const std::size_t count = kCounts[choices.below(std::size(kCounts))];
  switch (choices.below(6)) {
    case 0:
      return kernel("", "64",
                    "    B[tid] = " + times(count, "(") + "A[tid]" + times(count, ")") + "\n");
    case 1:
      return kernel("", "64", "    B[tid] = A[tid]" + times(count, " + A[tid]") + "\n");
    case 2:
      return kernel("x = " + times(count, "[") + times(count, "]") + "\n", "64",
                    "    T.meta_var(str(x))\n");
    case 3:
      return kernel("", "64", "    B[tid] = A[" + times(count, "-") + "tid]\n");
    case 4: {
      std::string body;
      for (std::size_t i = 0; i < std::min<std::size_t>(count, 900); ++i)
        body += fmt::format("{}if n > {}:\n", times(i + 1, " "), i);
      body += times(std::min<std::size_t>(count, 900) + 1, " ") + "B[tid] = A[tid]\n";
      return kernel("", "64", body);
    }
    default:
      return kernel(
          "", "64",
          "    if tid < 3" + times(count, " and n > tid") + ":\n        B[tid] = A[tid]\n");
  }
}

}  // namespace

std::string bomb_source(std::string_view bytes) {
  Choices choices(bytes);
  switch (choices.below(4)) {
    case 0:
      return expression_bomb(choices);
    case 1:
      return list_bomb(choices);
    case 2:
      return extent_bomb(choices);
    default:
      return text_bomb(choices);
  }
}

std::string bomb_law(std::string_view bytes) {
  const script::Compiled compiled =
      script::compile(SourceText("bomb", bomb_source(bytes)), {.max_steps = kMaxSteps});
  for (const Diag& error : compiled.errors)
    if (compiled.render(error).empty()) return "an error renders to nothing";
  if (compiled.function.has_value() != compiled.errors.empty()) return "a function beside errors";
  return compiled.function ? broken_lowering(*compiled.function) : "";
}

std::string change_program(std::string_view bytes, std::uint32_t seed) {
  script::Chance chance(seed);
  return seed / 2 % 2 == 0 ? script::exchanged(std::string(bytes), chance)
                           : script::changed(std::string(bytes), chance);
}

}  // namespace ww::fuzz
