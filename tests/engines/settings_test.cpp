// SPDX-License-Identifier: Apache-2.0
// Every setting of tile_settings.def with every word it takes, on copies of every kind and on a
// product: it changes the code, or the program is refused with a reason. What rightly changes
// nothing is named here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/check.h"
#include "ir/settings.h"

namespace ww::test::settings_test {
namespace {

struct Case {
  std::string name;
  ir::TileOp op;
  std::string target, source;  // `@` stands for the settings of the call
};

std::string kernel_of(const std::string& params, const std::string& body) {
  return "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
         "from tvm.tirx.layout import S, TileLayout, TCol, TLane, laneid, warpid\n\n"
         "@T.prim_func\ndef kernel(" +
         params + "):\n    T.device_entry()\n    T.cta_id([1])\n" + body;
}

std::vector<Case> cases() {
  const std::string tiles = R"(A: T.Buffer((32, 16), "float32"), B: T.Buffer((32, 16), "float32"))";
  const std::string threads = "    T.thread_id([32])\n";
  const std::string shared = threads + "    s = T.alloc_shared((32, 16), \"float32\")\n";
  const std::string registers = threads +
                                "    r = T.alloc_buffer((32, 16), \"float32\", scope=\"local\", "
                                "layout=TileLayout(S[(32, 16) : (1 @ laneid, 1)]))\n";
  return {
      {"global to local", ir::TileOp::Copy, "sm_90a",
       kernel_of(tiles, registers + "    Tx.warp.copy(r, A@)\n    Tx.warp.copy(B, r)\n")},
      {"local to global", ir::TileOp::Copy, "sm_90a",
       kernel_of(tiles, registers + "    Tx.warp.copy(r, A)\n    Tx.warp.copy(B, r@)\n")},
      {"global to shared", ir::TileOp::Copy, "sm_90a",
       kernel_of(tiles, shared + "    Tx.cta.copy(s, A@)\n    T.cuda.cta_sync()\n"
                                 "    Tx.cta.copy(B, s)\n")},
      {"global to shared, asynchronous", ir::TileOp::CopyAsync, "sm_90a",
       kernel_of(tiles, shared + "    Tx.cta.copy_async(s, A@)\n"
                                 "    T.ptx.cp_async.commit_group()\n"
                                 "    T.ptx.cp_async.wait_group(0)\n    T.cuda.cta_sync()\n"
                                 "    Tx.cta.copy(B, s)\n")},
      {"product", ir::TileOp::Gemm, "sm_90a",
       kernel_of(
           R"(A: T.Buffer((16, 16), "float16"), B: T.Buffer((8, 16), "float16"), C: T.Buffer((16, 8), "float32"))",
           threads +
               R"(    a = T.alloc_shared((16, 16), "float16")
    b = T.alloc_shared((8, 16), "float16")
    c = T.alloc_buffer((16, 8), "float32", scope="local", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]))
    Tx.cta.copy(a, A)
    Tx.cta.copy(b, B)
    T.cuda.cta_sync()
    Tx.warp.gemm(c, a, b, c, transpose_B=True, alpha=1.0, beta=0.0@)
    Tx.warp.copy(C, c)
)")},
  };
}

// A value of every kind that the setting takes.
std::vector<std::string> values_of(const ir::SettingFacts& setting) {
  std::vector<std::string> out;
  for (const std::string_view word : setting.words()) {
    const bool is_number = word.find_first_not_of("0123456789") == std::string_view::npos;
    out.push_back(is_number ? std::string(word) : fmt::format("\"{}\"", word));
  }
  if (setting.values == "condition") return {"T.bool(False)"};
  if (setting.values == "flag") return {"True"};
  return out.empty() ? std::vector<std::string>{"1", "\"1\""} : out;
}

// Nothing to fill inside a buffer; one CTA is what a copy is by itself.
const std::set<std::pair<std::string, std::string>> kChangeNothing = {
    {"fill_mode", "\"zero\""}, {"fill_value", "1"}, {"clip", "True"},
    {"cta_group", "1"},        {"oob", "\"zero\""}, {"oob", "\"nan\""}};

std::string without_comments(const std::string& ptx) {
  std::string out;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string line = ptx.substr(at, end - at);
    const bool says_where = line.contains("//") || line.contains(".loc") || line.contains(".file");
    if (!says_where) out += line + "\n";
    at = end + 1;
  }
  return out;
}

Checked check_with(const Case& each, const std::string& settings) {
  std::string source = each.source;
  source.replace(source.find('@', source.find("Tx.")), 1, settings);
  return check({.source = std::move(source),
                .target = each.target,
                .inputs = Inputs::Normal,
                .tolerance = each.op == ir::TileOp::Gemm ? 1e-3 : 0});
}

TEST(TileSettings, AreHonouredOrRefused) {
  std::size_t honoured = 0, refused = 0;
  for (const Case& each : cases()) {
    const Checked plain = check_with(each, "");
    // A product of shared tiles needs `stage=True`.
    ASSERT_TRUE(plain.right() || each.op == ir::TileOp::Gemm) << each.name << plain.explain();
    for (const std::string_view name : ir::settings_of(each.op))
      for (const std::string& value : values_of(*ir::find_setting_facts(each.op, name))) {
        const std::string text = fmt::format("{}={}", name, value);
        const Checked with = check_with(each, ", " + text);
        if (with.stage == Stage::Script || with.stage == Stage::Lower) {
          EXPECT_TRUE(with.why.starts_with("test.py:")) << each.name << ", " << text << with.why;
          EXPECT_TRUE(with.why.contains(name) || !plain.right())
              << each.name << ", " << text << ": " << with.why;
          ++refused;
          continue;
        }
        // A copy under a false predicate leaves what is read behind it without contents.
        const bool is_about_contents = with.why.starts_with("uninit: ");
        EXPECT_TRUE(with.right() || is_about_contents)
            << each.name << ", " << text << with.explain();
        if (kChangeNothing.contains({std::string(name), value}) || is_about_contents) continue;
        EXPECT_NE(without_comments(with.ptx), without_comments(plain.ptx))
            << each.name << ": `" << text << "` was taken and has changed nothing";
        ++honoured;
      }
  }
  EXPECT_GT(honoured, 10U);
  EXPECT_GT(refused, 20U);
}

// What no primitive has is refused.
TEST(TileSettings, UnknownOnesAreRefused) {
  for (const Case& each : cases()) {
    const Checked with = check_with(each, ", no_such_setting=1");
    EXPECT_TRUE(with.why.contains("no setting `no_such_setting`")) << each.name << with.explain();
  }
}

}  // namespace
}  // namespace ww::test::settings_test
