// SPDX-License-Identifier: Apache-2.0
// What the server says about a document: problems, quick fixes, hovers, hints, lenses, completion,
// signatures, definitions.
#include "lsp/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "lsp/test_server.h"

namespace ww::lsp {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

const Json kMarkdown = {
    {"textDocument", {{"hover", {{"contentFormat", Json::array({"markdown"})}}}}}};

std::vector<std::string> texts(const Json& list, const char* key) {
  std::vector<std::string> out;
  for (const Json& each : list) out.push_back(each[key].get<std::string>());
  return out;
}

// --- problems ------------------------------------------------------------------------------------

TEST(Problems, AreAtTheirPlaces) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  EXPECT_THAT(client.diagnostics(), IsEmpty());
  client.show(kernel_text("    T.cuda.cta_synk()\n    x = tid / 2\n"));
  EXPECT_THAT(
      client.diagnostics(),
      ElementsAre("12:12 1 UnknownName `T.cuda` has no `cta_synk`; did you mean `cta_sync`?",
                  StartsWith("13:9 1 BadType")));
}

TEST(Problems, CountUtf16) {
  TestServer client;
  client.show(kernel_text("    s = \"\xF0\x9F\x98\x80\"; T.cuda.cta_synk()\n"));
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("12:22 1 UnknownName")));
}

TEST(Problems, HaveRelatedPlaces) {
  const std::string text = kernel_text("    tid = 1\n");
  TestServer plain;
  plain.show(text);
  EXPECT_THAT(plain.diagnostics(), ElementsAre(HasSubstr("\nnote, line 10: bound here")));
  const Json related = {{"textDocument", {{"publishDiagnostics", {{"relatedInformation", true}}}}}};
  TestServer client(related);
  client.show(text);
  const Json problem = client.last("textDocument/publishDiagnostics")["diagnostics"][0];
  EXPECT_EQ(problem["relatedInformation"][0]["message"], "bound here");
  EXPECT_EQ(problem["relatedInformation"][0]["location"]["range"]["start"]["line"], 9);
}

TEST(Problems, OfTextThatCannotBeParsed) {
  TestServer client;
  client.show(kernel_text("    x = (\n"));
  EXPECT_THAT(client.diagnostics(), ElementsAre(HasSubstr(" 1 Syntax ")));
  client.show("x = (\n");
  EXPECT_THAT(client.diagnostics(), IsEmpty()) << "no file of ours";
  client.show("import os\nprint(os)\n");
  EXPECT_THAT(client.diagnostics(), IsEmpty());
}

TEST(Problems, OfAPrimitiveThatNothingTakes) {
  TestServer client;
  client.show(kernel_text("    Tx.cta.copy(A[0:2, :], A[1:3, :])\n"));
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("12:5 1 NoVariant")));
  EXPECT_THAT(texts(client.all("inlayHint"), "label"), ElementsAre("nothing takes this call"));
}

TEST(Problems, OfPtxFollow) {
  TestServer client;
  client.show(
      "from tvm.tirx.layout import S, TileLayout, laneid, mma_shared_layout, wid_in_wg\n"
      "SUMS = TileLayout(S[(2, 4, 2, 8, 2, 4, 2) : (8, 1 @ wid_in_wg, 2, 4 @ laneid, 4, 1 @ "
      "laneid, "
      "1)])\n"
      "@T.prim_func\n"
      "def product(n: T.int32):\n"
      "    T.device_entry()\n"
      "    T.cta_id([1])\n"
      "    T.thread_id([128])\n"
      "    X = T.alloc_buffer((64, 16), \"float16\", scope=\"shared\", align=256, "
      "layout=mma_shared_layout(\"float16\", \"32B\", (64, 16)))\n"
      "    C = T.alloc_buffer((2, 64, 16), \"float32\", scope=\"local\", layout=SUMS)\n"
      "    Tx.wg.gemm_async(C[n % 2, :, :], X, X[0:16, :])\n");
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("10:5 1 NotEmitted")));
}

TEST(Problems, ValuesOfPythonAreRemarksInItsPackage) {
  const std::string text =
      "import numpy as np\nn = np.load(\"n.npy\")[0]\n" + kernel_text("    B[n, 0] = A[0, 0]\n");
  TestServer client;
  client.show(text);
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("14:5 1 Opaque")));
  client.show("import warpwright as ww\n" + text);
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("15:5 3 Opaque")));
}

TEST(Problems, SlowPrimitivesAreRemarks) {
  TestServer client;
  client.show("from tvm.tirx.layout import S, TileLayout, tx\n" +
              kernel_text("    R = T.alloc_buffer((64, 32), \"float32\", scope=\"local\", "
                          "layout=TileLayout(S[(64, 2, 16) : (2 @ tx, 1 @ tx, 1)]))\n"
                          "    Tx.cta.copy(R[:, :], staged[:, :])\n"));
  EXPECT_THAT(client.diagnostics(),
              ElementsAre(AllOf(StartsWith("14:5 3 slow wavefronts of shared memory: "),
                                HasSubstr("bank conflicts\nnote: "))));
}

const std::string kBuilder =
    "from tvm.script import tirx as T\n"
    "\n"
    "def build(n):\n"
    "    @T.prim_func\n"
    "    def fill(A_ptr: T.handle):\n"
    "        A = T.match_buffer(A_ptr, (n,), \"float32\")\n"
    "        T.device_entry()\n"
    "        tid = T.thread_id([n])\n"
    "        A[tid] = T.float32(1)\n"
    "    return fill\n";

TEST(Problems, ABuilderNeedsArguments) {
  TestServer client;
  client.show(kBuilder);
  EXPECT_THAT(
      client.diagnostics(),
      ElementsAre("3:5 3 NotAKernel `build(n)` needs arguments, so nothing of it is checked; "
                  "a comment `# warpwright: build(…)` gives them"));
  EXPECT_THAT(texts(client.all("codeAction"), "title"),
              ElementsAre("say which kernel of `build` to check"));
  client.show("# warpwright: build(64)\n# warpwright: build(2000)\n" + kBuilder);
  EXPECT_THAT(client.diagnostics(), ElementsAre(HasSubstr("2000")));
  const Json lenses = client.all("codeLens");
  ASSERT_EQ(lenses.size(), 4U);
  EXPECT_EQ(lenses[0]["command"]["title"], "run build(64) on the virtual GPU");
  EXPECT_EQ(lenses[2]["command"]["arguments"][1], "build(2000)");
  client.show("#   warpwright run kernel.py --kernel 'build(32)'\n" + kBuilder);
  EXPECT_THAT(client.diagnostics(), IsEmpty());
  EXPECT_EQ(client.all("codeLens")[0]["command"]["arguments"][1], "build(32)");
}

TEST(Problems, OfAnOrderAreInTheComment) {
  TestServer client;
  client.show("# warpwright: build(nn)\n" + kBuilder);
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("1:21 1 UnknownName")));
  client.show("# warpwright: build(4) --expct 1\n" + kBuilder);
  EXPECT_THAT(client.diagnostics(), ElementsAre(StartsWith("1:24 2 UnknownName `--expct` behind")));
  client.show("# warpwright: build(4) --target sm_1\n" + kBuilder);
  EXPECT_THAT(client.diagnostics(), ElementsAre(HasSubstr("sm_1")));
}

// --- actions -------------------------------------------------------------------------------------

TEST(Actions, WriteTheProposedWord) {
  TestServer client;
  client.show(kernel_text("    T.cuda.cta_synk()\n"));
  const Json actions = client.all("codeAction");
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0]["title"], "change to `cta_sync`");
  EXPECT_EQ(actions[0]["kind"], "quickfix");
  const Json edit = actions[0]["edit"]["changes"][kTestUri][0];
  EXPECT_EQ(edit["newText"], "cta_sync");
  EXPECT_EQ(edit["range"]["start"]["character"], 11);
  EXPECT_EQ(edit["range"]["end"]["character"], 19);
}

TEST(Actions, WriteTheInferredLayout) {
  TestServer client;
  client.show(
      kernel_text("    R = T.alloc_local((64, 32), \"float32\", layout=\"auto\")\n"
                  "    Tx.cta.copy(R[:, :], A[:, :])\n"));
  EXPECT_THAT(client.diagnostics(), IsEmpty());
  const Json actions = client.all("codeAction");
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_THAT(actions[0]["title"].get<std::string>(), StartsWith("write the inferred layout, `"));
  const Json edits = actions[0]["edit"]["changes"][kTestUri];
  ASSERT_EQ(edits.size(), 2U);
  EXPECT_THAT(edits[1]["newText"].get<std::string>(),
              MatchesRegex("from tvm\\.tirx\\.layout import [A-Za-z_]+(, [A-Za-z_]+)*\n"));
  EXPECT_EQ(edits[1]["range"]["start"]["line"], 2);
}

// --- hover ---------------------------------------------------------------------------------------

std::string hover_text(const Json& hover) {
  return hover.is_null() ? "nothing" : hover["contents"]["value"].get<std::string>();
}

TEST(Hover, ShowsABuffer) {
  TestServer client(kMarkdown);
  client.show(kernel_text(kGoodBody));
  const std::string text = hover_text(client.at("hover", "copy(st|aged"));
  EXPECT_THAT(text, AllOf(StartsWith("`staged`: float32[64, 32], shared, 8192 bytes\n"),
                          HasSubstr("layout `S[(64,32):(32,1)]`"), HasSubstr("line:bank of 32-bit"),
                          Not(HasSubstr("data:image"))));
}

TEST(Hover, ShowsABufferOfRunTimeShape) {
  TestServer client(kMarkdown);
  client.show(R"(@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, 64), "float32", layout=T.TileLayout(T.S[(32, 64):(64, 1)]))
    T.device_entry()
    T.cta_id([1])
    tx = T.thread_id([32])
    A[0, tx] = 1.0
)");
  EXPECT_THAT(
      hover_text(client.at("hover", "|A[0, tx]")),
      AllOf(StartsWith("`A`: float32[n, 64], global\n"), HasSubstr("layout `S[(32,64):(64,1)]`")));
}

TEST(Hover, ShowsWhatAThreadHolds) {
  TestServer client(kMarkdown);
  client.show(
      kernel_text("    R = T.alloc_local((64, 32), \"float32\", layout=\"auto\")\n"
                  "    Tx.cta.copy(R[:, :], A[:, :])\n"));
  EXPECT_THAT(
      hover_text(client.at("hover", "copy(|R[")),
      AllOf(HasSubstr("16 elements (64 bytes) of a thread"), HasSubstr("layout inferred, ")));
}

TEST(Hover, DrawsWhereTheClientRenders) {
  Json capabilities = kMarkdown;
  capabilities["general"] = {{"markdown", {{"parser", "marked"}}}};
  TestServer client(capabilities);
  client.show(kernel_text(kGoodBody));
  const std::string text = hover_text(client.at("hover", "copy(st|aged"));
  EXPECT_THAT(text,
              HasSubstr("![the first 256 elements of staged](data:image/svg+xml;base64,PD94bWwg"));
  EXPECT_LT(text.size(), 100'000U);
}

TEST(Hover, IsPlainForOthers) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  const Json hover = client.at("hover", "copy(st|aged");
  EXPECT_EQ(hover["contents"]["kind"], "plaintext");
  EXPECT_THAT(hover_text(hover), Not(HasSubstr("`")));
}

TEST(Hover, ShowsThePlanOfAPrimitive) {
  TestServer client(kMarkdown);
  client.show(kernel_text(kGoodBody));
  EXPECT_THAT(hover_text(client.at("hover", "Tx.cta.co|py(staged")),
              AllOf(StartsWith("`gmem_smem`: "), HasSubstr("Tx.cta.copy by all 128 threads"),
                    HasSubstr("ldstmatrix  not asked"), HasSubstr("wavefronts")));
}

// A line that is lowered several times shows each of its plans once, up to three.
TEST(Hover, ShowsThePlansOfALine) {
  const auto hover = [](const std::vector<int>& widths) {
    std::string body =
        "    @T.inline\n    def part(n):\n"
        "        Tx.cta.copy(staged[:, 0:n], A[:, 0:n])\n";
    for (const int width : widths) body += fmt::format("    part({})\n", width);
    TestServer client(kMarkdown);
    client.show(kernel_text(body));
    return hover_text(client.at("hover", "Tx.cta.co|py("));
  };
  const auto shown = [](const std::string& text) {
    std::vector<std::string> out;
    for (const char* const width : {"0:1]", "0:2]", "0:4]", "0:16]"})
      if (text.contains(fmt::format("dst  staged[0:64, {}", width))) out.emplace_back(width);
    return out;
  };
  const std::string one = hover({4}), three = hover({1, 2, 4}), same = hover({4, 4, 4});
  const std::string four = hover({16, 4, 2, 1});
  EXPECT_THAT(shown(one), ElementsAre("0:4]"));
  EXPECT_THAT(one, Not(HasSubstr("is lowered")));
  EXPECT_THAT(shown(three), ElementsAre("0:1]", "0:2]", "0:4]"));
  EXPECT_THAT(three, Not(HasSubstr("is lowered")));
  EXPECT_THAT(shown(same), ElementsAre("0:4]"));
  EXPECT_THAT(same, HasSubstr("the line is lowered 3 times, in 1 way: "));
  EXPECT_THAT(shown(four), ElementsAre("0:2]", "0:4]", "0:16]"));
  EXPECT_THAT(four, HasSubstr("the line is lowered 4 times, in 4 ways: "));
}

TEST(Hover, ShowsTheReference) {
  TestServer client(kMarkdown);
  client.show("from tvm.script import tirx as lang\n" +
              kernel_text(kGoodBody + "    lang.cast(1, \"int8\")\n"));
  EXPECT_EQ(hover_text(client.at("hover", "T.cuda.cta|_sync")),
            "```python\nT.cuda.cta_sync()\n```\n\nSynchronisation");
  EXPECT_THAT(hover_text(client.at("hover", "lang.ca|st(")),
              StartsWith("```python\nT.cast(value, dtype)\n```"));
  EXPECT_EQ(hover_text(client.at("hover", "def mo|ve")), "nothing");
  EXPECT_EQ(hover_text(client.at("hover", "\"floa|t32\"")), "nothing");
}

// --- hints, lenses, symbols ----------------------------------------------------------------------

TEST(Hints, AreBehindPrimitives) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  const Json hints = client.all("inlayHint");
  EXPECT_THAT(texts(hints, "label"),
              ElementsAre("ld.global.v4 × 4, st.shared.v4 × 4, no conflicts",
                          "ld.shared.v4 × 4, st.global.v4 × 4, no conflicts"));
  EXPECT_EQ(hints[0]["position"]["line"], 11);
  EXPECT_EQ(hints[0]["position"]["character"], 38);
}

TEST(Hints, ShortenOpcodes) {
  const std::pair<const char*, const char*> cases[] = {
      {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "ldmatrix.x4.trans"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.m16n8k16"},
      {"ld.shared.v4.b32", "ld.shared.v4"},
      {"cp.async.cg.shared.global", "cp.async.cg"},
      {"add.rn.f32", "add"},
      {"bar.sync", "bar"},
  };
  for (const auto& [opcode, wanted] : cases) EXPECT_EQ(short_opcode(opcode), wanted);
}

TEST(Lenses, AreAtKernels) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  const Json lenses = client.all("codeLens");
  ASSERT_EQ(lenses.size(), 2U);
  EXPECT_EQ(lenses[0]["range"]["start"]["line"], 4);
  EXPECT_EQ(lenses[0]["command"]["title"], "run on the virtual GPU");
  EXPECT_EQ(lenses[1]["command"]["title"], "open in the explorer");
  EXPECT_EQ(lenses[1]["command"]["command"], "warpwright.explore");
  const Json symbols = client.all("documentSymbol");
  ASSERT_EQ(symbols.size(), 1U);
  EXPECT_EQ(symbols[0]["name"], "move");
  EXPECT_EQ(symbols[0]["detail"], "kernel (A_ptr: T.handle, B_ptr: T.handle)");
}

// --- completion, signatures ----------------------------------------------------------------------

std::vector<std::string> offered(TestServer& client, const std::string& line) {
  client.show(kernel_text(kGoodBody) + line);
  return texts(client.at("completion", line + "|")["items"], "label");
}

TEST(Completion, OffersNamesOfTheLanguage) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  EXPECT_THAT(offered(client, "    T.cuda.cta_s"), ElementsAre("cta_sum", "cta_sync"));
  EXPECT_THAT(offered(client, "    T.alloc_b"), ElementsAre("alloc_buffer"));
  EXPECT_THAT(offered(client, "    Tx.cta.copy"), ElementsAre("copy", "copy_async"));
  EXPECT_THAT(offered(client, "    Tx."),
              AllOf(Contains("cta"), Contains("warp"), Contains("gemm")));
  EXPECT_THAT(offered(client, "    staged.vi"), Contains("view"));
  EXPECT_THAT(offered(client, "    # T.alloc_b"), IsEmpty());
  EXPECT_THAT(offered(client, "    stage"), ElementsAre("staged"));
}

TEST(Completion, OffersSettingsAndTheirValues) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  EXPECT_THAT(offered(client, "    Tx.cta.copy_async(staged, A, fill"),
              ElementsAre("fill_mode=", "fill_value="));
  EXPECT_THAT(offered(client, "    Tx.cta.copy(staged, A, l2_evict=\"evict_f"),
              ElementsAre("evict_first"));
  EXPECT_THAT(offered(client, "    Tx.cta.copy(staged, A, dispatch=\"ldst"),
              ElementsAre("ldstmatrix"));
  EXPECT_THAT(offered(client, "    T.alloc_buffer((4,), \"float16\", scope=\"sh"),
              ElementsAre("shared", "shared.dyn"));
  EXPECT_THAT(offered(client, "    T.alloc_buffer((4,), \"bf"), ElementsAre("bfloat16"));
}

TEST(Signatures, AreOfTheOpenCall) {
  TestServer client;
  const auto help = [&](const std::string& line) {
    client.show(kernel_text(kGoodBody) + line);
    return client.at("signatureHelp", line + "|");
  };
  const Json copy = help("    Tx.cta.copy(staged[:, :], ");
  EXPECT_EQ(copy["signatures"][0]["label"], "Tx.cta.copy(dst, src, predicate=None)");
  EXPECT_EQ(copy["activeParameter"], 1);
  EXPECT_EQ(help("    Tx.cta.copy(src=")["activeParameter"], 1);
  EXPECT_EQ(help("    T.cast(tid, ")["signatures"][0]["label"], "T.cast(value, dtype)");
  EXPECT_TRUE(help("    x = 1").is_null());
  const std::string written = "build(n, tile=(8, 8), *more, kinds=[1, 2], names={3: 4})";
  client.show("def " + written + ":\n    return n\n\nx = build(1)\n");
  const Json own = client.at("signatureHelp", "x = build(1|");
  EXPECT_EQ(own["signatures"][0]["label"], written);
  EXPECT_THAT(texts(own["signatures"][0]["parameters"], "label"),
              ElementsAre("n", "tile=(8, 8)", "*more", "kinds=[1, 2]", "names={3: 4}"));
}

// --- definitions ---------------------------------------------------------------------------------

TEST(Definitions, FollowScopes) {
  TestServer client;
  client.show("n = 1\n\ndef f(n):\n    m = n\n    return [k for k in range(m)]\n\nx = n + f(2)\n");
  const auto line = [&](const std::string& part) {
    const Json found = client.at("definition", part);
    return found.is_null() ? -1 : found["range"]["start"]["line"].get<int>();
  };
  EXPECT_EQ(line("m = |n"), 2);
  EXPECT_EQ(line("x = |n"), 0);
  EXPECT_EQ(line("range(|m)"), 3);
  EXPECT_EQ(line("[|k for"), 4);
  EXPECT_EQ(line("+ |f(2)"), 2);
  EXPECT_EQ(line("|range(m)"), -1);
}

TEST(Definitions, GoToImportedModules) {
  const ScratchFolder folder = *ScratchFolder::make();
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
    std::ofstream(folder.file(name)) << text;
  };
  write("tiles.py", "x = 1\n\ndef build(n):\n    return n\n");
  write("pkg/__init__.py", "from .inner import make\n");
  write("pkg/inner.py", "\n\nmake = 3\n");
  TestServer client;
  const std::string uri = uri_of(folder.file("main.py"));
  const std::string text =
      "from tiles import build\nimport tiles\nimport pkg.inner\nfrom pkg import make as m\n"
      "a = build(1)\nb = tiles.build(2)\nc = pkg.inner.make\nd = m\nfrom tvm.script import tirx as "
      "T\n"
      "e = T.cast\n";
  client.notify("textDocument/didOpen",
                {{"textDocument", {{"uri", uri}, {"version", 1}, {"text", text}}}});
  const auto place = [&](int line, int character) -> std::string {
    const Json found =
        client.request("textDocument/definition",
                       {{"textDocument", {{"uri", uri}}},
                        {"position", {{"line", line}, {"character", character}}}})["result"];
    if (found.is_null()) return "nothing";
    const std::string path = path_of(found["uri"].get<std::string>());
    return fmt::format("{}:{}", path.substr(folder.path().size() + 1),
                       found["range"]["start"]["line"].get<int>());
  };
  EXPECT_EQ(place(4, 5), "tiles.py:2");
  EXPECT_EQ(place(5, 5), "tiles.py:0") << "the module";
  EXPECT_EQ(place(5, 11), "tiles.py:2");
  EXPECT_EQ(place(6, 15), "pkg/inner.py:2");
  EXPECT_EQ(place(7, 4), "pkg/inner.py:2") << "through the package";
  EXPECT_EQ(place(9, 6), "nothing");
}

}  // namespace
}  // namespace ww::lsp
