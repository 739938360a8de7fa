// SPDX-License-Identifier: Apache-2.0
#include "script/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "script/api/builtins.h"

namespace ww::script::compile_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;
constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

std::string read_text(const fs::path& path) {
  const Result<std::string> text = read_file(path, kMaxBytes);
  EXPECT_TRUE(text.has_value()) << path;
  return text.value_or("");
}

std::string rendered(const Compiled& compiled) {
  std::string out;
  for (const Diag& error : compiled.errors) out += compiled.render(error);
  return out;
}

// A file with one kernel of the given body, behind what gives it a buffer `B` and an id `tid`.
std::string kernel_with(std::string_view body) {
  return fmt::format(
      "@T.prim_func\n"
      "def kernel(B_ptr: T.handle):\n"
      "    B = T.match_buffer(B_ptr, (32,), \"float32\")\n"
      "    T.device_entry()\n"
      "    T.cta_id([1])\n"
      "    tid = T.thread_id([32])\n"
      "{}",
      body);
}

Compiled compiled(std::string text, const Options& options = {}) {
  return compile(SourceText("test.py", std::move(text)), options);
}

std::vector<std::int64_t> shape_of(const ir::Function& f, std::string_view buffer) {
  for (std::uint32_t i = 0; i < f.buffer_count(); ++i) {
    const ir::Buffer& b = f[ir::BufferId{i}];
    if (b.name != buffer) continue;
    std::vector<std::int64_t> out;
    for (const ir::ExprId extent : b.shape) out.push_back(ir::const_int(f, extent).value_or(-1));
    return out;
  }
  ADD_FAILURE() << "no buffer " << buffer;
  return {};
}

std::vector<std::string> params_of(const ir::Function& f) {
  std::vector<std::string> out;
  for (const ir::Param& param : f.params) out.emplace_back(f[param.var].name);
  return out;
}

// --- a file as people have them ------------------------------------------------------------------

SourceText real_life() {
  std::string text = read_text(fs::path(WW_SOURCE_DIR) / "tests/golden/script/opaque/real_life.py");
  text.resize(std::min(text.find("#--- expected"), text.size()));
  return SourceText("real_life.py", std::move(text));
}

TEST(RealLife, BuildsEveryCombination) {
  const SourceText source = real_life();
  for (const int num : {1, 2, 4})
    for (const bool trans : {false, true})
      for (const bool loads : {false, true}) {
        const std::string kernel = fmt::format("build_ldst({}, trans={}, direction=\"{}\")", num,
                                               trans ? "True" : "False", loads ? "ld" : "st");
        SCOPED_TRACE(kernel);
        const Compiled out = compile(source, {.kernel = kernel});
        ASSERT_TRUE(out.function.has_value()) << rendered(out);
        EXPECT_EQ(out.function->name, loads ? "load" : "store");
        EXPECT_THAT(params_of(*out.function), ElementsAre("A_ptr", "B_ptr"));
        EXPECT_THAT(shape_of(*out.function, "A"), ElementsAre(8, 8 * num));
        EXPECT_THAT(shape_of(*out.function, "R"), ElementsAre(8, 4, num, 2));
        EXPECT_THAT(shape_of(*out.function, "r"), ElementsAre(2 * num));
      }
}

TEST(RealLife, TestsNameTheirKernels) {
  const SourceText source = real_life();
  for (const int num : {1, 2, 4}) {
    const std::string call = fmt::format("test_ldst({}, True, \"st\")::store", num);
    const Compiled out = compile(source, {.kernel = call});
    ASSERT_TRUE(out.function.has_value()) << call << "\n" << rendered(out);
    EXPECT_THAT(shape_of(*out.function, "S_smem"), ElementsAre(8, 4, num, 2));
  }
  for (const char* const dtype : {"float32", "int32"})
    for (const int stages : {1, 2, 3}) {
      const std::string call =
          fmt::format("test_chain(BY_NAME[\"{}_64x2\"], stages={})::chain", dtype, stages);
      const Compiled out = compile(source, {.kernel = call});
      ASSERT_TRUE(out.function.has_value()) << call << "\n" << rendered(out);
      EXPECT_EQ(out.function->params.size(), 1U);
      EXPECT_THAT(shape_of(*out.function, "A"), ElementsAre(64, 2));
      EXPECT_THAT(shape_of(*out.function, "acc"), ElementsAre(4));
      EXPECT_THAT(shape_of(*out.function, "frags_0"), ElementsAre(2, 32, 2));
    }
}

TEST(RealLife, ArgumentsFromNestedLoops) {
  const SourceText source = real_life();
  const std::string all = "[build_chain(c, s) for c in CASES for s in range(1, 4)]";
  for (int i = 0; i < 18; ++i) {
    const Compiled out = compile(source, {.kernel = fmt::format("{}[{}]", all, i)});
    ASSERT_TRUE(out.function.has_value()) << i << "\n" << rendered(out);
    const bool is_wide = i / 6 == 1;
    EXPECT_THAT(shape_of(*out.function, "acc"), ElementsAre(is_wide ? 8 : 4)) << i;
  }
}

TEST(RealLife, MistakesInArgumentsAreTheBuilders) {
  const Compiled out = compile(real_life(), {.kernel = "build_chain(Case(3, 5), 1)"});
  EXPECT_THAT(rendered(out), HasSubstr("assertion failed: 3x5 leaves lanes out [HostError]"));
}

TEST(RealLife, OffersItsBuilders) {
  const std::string text = rendered(compile(real_life()));
  EXPECT_THAT(text, HasSubstr("`build_ldst(num: int, trans: bool, direction: str)`"));
  EXPECT_THAT(text, HasSubstr("with `load`, `store` inside"));
}

// --- the result ----------------------------------------------------------------------------------

TEST(Compile, ErrorsAreInTheOrderOfTheSource) {
  const Compiled out =
      compiled(kernel_with("    B[tid] = first\n    B[tid] = second\n") + "    B[third] = 1.0\n");
  ASSERT_EQ(out.errors.size(), 3U);
  EXPECT_FALSE(out.function.has_value());
  EXPECT_LT(out.errors[0].span.begin, out.errors[1].span.begin);
  EXPECT_LT(out.errors[1].span.begin, out.errors[2].span.begin);
}

TEST(Compile, SyntaxErrorsHaveNoFunction) {
  const Compiled out = compiled("def f(:\n    pass\n");
  EXPECT_FALSE(out.function.has_value());
  ASSERT_EQ(out.errors.size(), 1U);
  EXPECT_EQ(out.errors[0].kind, DiagKind::Syntax);
}

TEST(Compile, PlacesInTheExpressionAreRenderedInIt) {
  const std::string file = kernel_with("    B[tid] = 1.0\n");
  EXPECT_THAT(rendered(compiled(file, {.kernel = "kernel[0"})), HasSubstr("--kernel:1:"));
  EXPECT_EQ(rendered(compiled(file, {.kernel = "krnel"})),
            "--kernel:1:1: error: `krnel` has no value here; did you mean `kernel`? [UnknownName]\n"
            "    krnel\n"
            "    ^~~~~\n");
}

TEST(Compile, EmptyTextsAreNoKernels) {
  for (const char* const text : {"", "\n", "# only a comment", "\"\"\"docstring\"\"\""}) {
    const Compiled out = compiled(text);
    ASSERT_EQ(out.errors.size(), 1U);
    EXPECT_EQ(out.errors[0].kind, DiagKind::NotAKernel);
  }
}

TEST(Compile, TheSameTextGivesTheSameFunction) {
  const SourceText source = real_life();
  const Options options{.kernel = "build_ldst(4, False, \"ld\")"};
  const Compiled first = compile(source, options);
  const Compiled second = compile(source, options);
  ASSERT_TRUE(first.function && second.function);
  EXPECT_EQ(ir::print(*first.function), ir::print(*second.function));
  EXPECT_EQ(ir::difference(*first.function, *second.function).value_or(""), "");
}

TEST(Compile, StepsAreBounded) {
  const std::string file = "def build():\n    while True:\n        pass\n";
  Options options;
  options.kernel = "build()";
  options.max_steps = 1000;
  const Compiled out = compiled(file, options);
  ASSERT_EQ(out.errors.size(), 1U);
  EXPECT_EQ(out.errors[0].kind, DiagKind::Budget);
}

// --- the dialect ---------------------------------------------------------------------------------

TEST(Compile, TheImportsTellTheDialect) {
  const std::string body = kernel_with("    B[tid] = 1.0\n");
  EXPECT_EQ(compiled(body).dialect, Dialect::D1);
  EXPECT_EQ(compiled("from tvm.script import tirx as T\n" + body).dialect, Dialect::D1);
  const std::string tile = "from tvm.script.tirx import tile as Tx\n";
  EXPECT_EQ(compiled(tile + body).dialect, Dialect::D2);
  EXPECT_EQ(compiled(tile + body, {.dialect = Dialect::D1}).dialect, Dialect::D1);
  EXPECT_EQ(compiled(body, {.dialect = Dialect::D2}).dialect, Dialect::D2);
  EXPECT_EQ(name_of(Dialect::D1), "d1");
  EXPECT_EQ(name_of(Dialect::D2), "d2");
}

// --- nothing outside is touched ------------------------------------------------------------------

TEST(Compile, TouchesNothingOutside) {
  const fs::path folder = fs::temp_directory_path() / "ww_script_touches_nothing";
  fs::create_directories(folder);
  const std::string file = fmt::format(
      "import os, sys, subprocess, shutil, pathlib\n"
      "os.chdir('{0}')\n"
      "open('{0}/made', 'w').write('x')\n"
      "subprocess.run(['touch', '{0}/run'])\n"
      "os.system('touch {0}/system')\n"
      "pathlib.Path('{0}/path').write_text('x')\n"
      "exec('import os')\n"
      "eval('open()')\n"
      "__import__('os').mkdir('{0}/dir')\n"
      "sys.exit(3)\n",
      folder.string());
  const Compiled out = compiled(file + kernel_with("    B[tid] = 1.0\n"));
  EXPECT_TRUE(out.function.has_value()) << rendered(out);
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

// --- deep and wide programs ----------------------------------------------------------------------

// Either it compiles, or it says that it is too deep; it never takes the stack.
void expect_bounded(const std::string& file, const std::string& kernel = "") {
  const Compiled out = compiled(file, {.kernel = kernel});
  for (const Diag& error : out.errors)
    EXPECT_TRUE(error.kind == DiagKind::Budget || error.kind == DiagKind::TooLarge)
        << out.render(error).substr(0, 2000);
}

TEST(Deep, ElifChains) {
  std::string host = "def build(n):\n    if n == 0:\n        x = 0\n";
  std::string device = "    if tid == 0:\n        B[tid] = 0.0\n";
  for (int i = 1; i < 990; ++i) {
    host += fmt::format("    elif n == {0}:\n        x = {0}\n", i);
    device += fmt::format("    elif tid == {0}:\n        B[tid] = {0}.0\n", i);
  }
  const std::string kernel = kernel_with("    B[tid] = 1.0\n");
  expect_bounded(kernel + host + "    return kernel\n", "build(5000)");
  expect_bounded(kernel_with(device));
}

TEST(Deep, BlocksAndExpressions) {
  std::string blocks;
  std::string sum = "tid";
  std::string brackets = "tid";
  for (int i = 0; i < 90; ++i) {
    blocks += std::string(static_cast<std::size_t>(i) + 4, ' ') + fmt::format("if tid > {}:\n", i);
    brackets = "(" + brackets + " + 1)";
  }
  for (int i = 0; i < 900; ++i) sum += " + tid";
  blocks += std::string(94, ' ') + "B[tid] = 1.0\n";
  expect_bounded(kernel_with(blocks));
  expect_bounded(kernel_with("    B[tid] = " + sum + "\n"));
  expect_bounded(kernel_with("    B[tid] = " + brackets + "\n"));
}

TEST(Deep, CallsOfEveryKind) {
  const std::string kernel = kernel_with("    B[tid] = f(tid)\n");
  for (const char* const def :
       {"def f(x):\n    return f(x)\n", "f = lambda x: f(x)\n",
        "f = lambda x: [f(y) for y in [x]]\n", "def f(x):\n    return sorted([1, 2], key=f)\n",
        "def f(x):\n    for i in range(2):\n        with f(x) as y:\n            return 1\n",
        "class C:\n    def __init__(self):\n        C()\ndef f(x):\n    return C()\n",
        "def f(x, y=None):\n    return max([1, 2], key=lambda v: f(v))\n",
        "def f(x):\n    return f'{f(x)}'\n"})
    expect_bounded(def + kernel);
  expect_bounded("@T.inline\ndef f(x):\n    if x > 1:\n        f(x)\n" +
                 kernel_with("    f(tid)\n"));
}

// --- examples ------------------------------------------------------------------------------------

// With the files of its folder that it imports.
Compiled compiled_file(const fs::path& path) {
  const std::string text = read_text(path);
  SourceText source("test.py", text);
  Options options;
  for (const std::string& module : imported_modules(text)) {
    const fs::path beside = path.parent_path() / (module + ".py");
    if (!fs::exists(beside)) continue;
    source.add_file(beside.string(), read_text(beside));
    options.modules.push_back({.module = module});
  }
  return compile(source, options);
}

TEST(Examples, Compile) {
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WW_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".py") continue;
    ++found;
    const Compiled out = compiled_file(entry.path());
    const bool is_bad = entry.path().parent_path().filename() == "errors";
    EXPECT_EQ(out.function.has_value(), !is_bad) << entry.path() << "\n" << rendered(out);
    const bool is_new = entry.path().stem().string().ends_with("_new");
    if (entry.path().parent_path().filename() == "basics") {
      EXPECT_EQ(out.dialect, is_new ? Dialect::D2 : Dialect::D1) << entry.path();
    }
  }
  EXPECT_GE(found, 8U);
}

// The two spellings of one program differ in the order of registers and in instructions alone.
TEST(Examples, TwinsHaveTheSameBuffers) {
  for (const char* const name : {"ldstmatrix", "reg", "tcgen05_ldst", "gemm"}) {
    const fs::path folder = fs::path(WW_SOURCE_DIR) / "examples/basics";
    const Compiled seed = compiled(read_text(folder / fmt::format("{}.py", name)));
    const Compiled twin = compiled(read_text(folder / fmt::format("{}_new.py", name)));
    ASSERT_TRUE(seed.function && twin.function) << rendered(seed) << rendered(twin);
    EXPECT_EQ(seed.function->name, twin.function->name);
    EXPECT_EQ(params_of(*seed.function), params_of(*twin.function));
    EXPECT_EQ(seed.function->buffer_count(), twin.function->buffer_count()) << name;
  }
}

// --- attributes ----------------------------------------------------------------------------------

// An expression whose value has the attributes of a row of attributes.def.
std::string value_of(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kValues[] = {
      {"T", "T"},
      {"buffer", "B"},
      {"pool", "pool"},
      {"layout", "plain"},
      {"swizzle", "SwizzleLayout(3, 3, 3)"},
      {"iter", "plain.shard[0]"},
      {"axis", "plain.shard[0].axis"},
      {"region", "B[0:4]"},
      {"range", "B[0:4].region[0]"},
      {"dtype", "T.float32"}};
  for (const auto& [name, value] : kValues)
    if (name == type) return std::string(value);
  ADD_FAILURE() << "no value of type " << type;
  return "";
}

constexpr std::string_view kImports =
    "from tvm.tirx.layout import ComposeLayout, S, SwizzleLayout, TileLayout\n";

// Reads one attribute of a value in a kernel that has one of each type.
Compiled with_attribute(std::string_view value, std::string_view name) {
  const std::string body = fmt::format(
      "    plain = TileLayout(S[(32,) : (1,)])\n"
      "    swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(512,) : (1,)]))\n"
      "    pool = T.SMEMPool()\n"
      "    columns = T.TMEMPool(pool, total_cols=32)\n"
      "    pool.commit()\n"
      "    columns.commit()\n"
      "    seen = T.meta_var({}.{})\n"
      "    columns.dealloc()\n",
      value, name);
  return compiled(std::string(kImports) + kernel_with(body));
}

constexpr std::string_view kPreludeUser =
    "@T.prim_func\n"
    "def f(A: T.Buffer((32,), \"int32\")):\n"
    "    T.device_entry()\n"
    "    t = T.thread_id([32])\n"
    "    A[t] = SCALE\n";

TEST(Prelude, BindsNamesOfTheFile) {
  const Compiled out =
      compiled(std::string(kPreludeUser),
               {.kernel = "f", .prelude = "from tvm.script import tirx as T\nSCALE = 7\n"});
  ASSERT_THAT(rendered(out), IsEmpty());
  EXPECT_THAT(ir::print(*out.function), HasSubstr("A[t] = 7"));
}

TEST(Prelude, LeavesThePlacesOfTheFileAlone) {
  const Compiled out = compiled(std::string(kPreludeUser),
                                {.kernel = "f", .prelude = "from tvm.script import tirx as T\n"});
  EXPECT_THAT(rendered(out), HasSubstr(":5:12: error: "));
  EXPECT_THAT(rendered(out), HasSubstr("SCALE"));
}

TEST(Prelude, ThatCannotBeReadIsSaidSo) {
  const Compiled out = compiled(std::string(kPreludeUser), {.kernel = "f", .prelude = "1 +\n"});
  EXPECT_THAT(rendered(out), HasSubstr("the prelude cannot be read: "));
}

// A kernel whose file is followed by others.
Compiled with_files(std::string_view main, std::vector<std::pair<std::string, std::string>> files,
                    Options options) {
  SourceText source("main.py", std::string(main));
  for (const auto& [name, text] : files) source.add_file(name, text);
  return compile(source, options);
}

constexpr std::string_view kModuleUser =
    "@T.prim_func\n"
    "def f(A: T.Buffer((32,), \"int32\")):\n"
    "    T.device_entry()\n"
    "    t = T.thread_id([32])\n"
    "    A[t] = scaled(t) + other.FACTOR\n";
constexpr std::string_view kT = "from tvm.script import tirx as T\n";

TEST(Modules, HaveScopesOfTheirOwn) {
  const Compiled out = with_files(
      kModuleUser, {{"a.py", "def scaled(x):\n    return x * FACTOR\n"}, {"b.py", ""}},
      {.kernel = "f",
       .prelude = std::string(kT) + "from a import scaled\nimport b as other\nFACTOR = 5\n",
       .modules = {{"a", "FACTOR = 3\n"}, {"b", "FACTOR = 7\n"}}});
  ASSERT_THAT(rendered(out), IsEmpty());
  EXPECT_THAT(ir::print(*out.function), HasSubstr("A[t] = t * 3 + 7"));
}

TEST(Modules, MayImportEachOther) {
  const Compiled out = with_files(
      kModuleUser,
      {{"a.py", "def scaled(x):\n    return twice(x)\nHALF = 4\n"},
       {"b.py", "def twice(x):\n    return x * HALF * second()\n"}},
      {.kernel = "f",
       .prelude = std::string(kT) + "from a import scaled\nimport b as other\n",
       .modules = {{"a", "from b import twice\n"}, {"b", "from a import HALF\nFACTOR = 1\n"}}});
  // `second` is nowhere: the error is in the file that uses it.
  EXPECT_THAT(rendered(out), HasSubstr("b.py:2:23: error: "));
  EXPECT_THAT(rendered(out), HasSubstr("second"));
}

TEST(Modules, ImportFromTheFirstFile) {
  constexpr std::string_view kMain =
      "def two():\n"
      "    return 2\n"
      "@T.jit\n"
      "def f(A: T.Buffer((32,), \"int32\")):\n"
      "    T.device_entry()\n"
      "    t = T.thread_id([32])\n"
      "    A[t] = scaled(t) + again()\n";
  const Compiled out = with_files(
      kMain, {{"a.py", "def scaled(x):\n    return x * two()\n"}},
      {.kernel = "f",
       .prelude = std::string(kT) + "from a import scaled\nfrom main import two as again\n",
       .module = "main",
       .modules = {{"a", "from main import two\n"}}});
  ASSERT_THAT(rendered(out), IsEmpty());
  EXPECT_THAT(ir::print(*out.function), HasSubstr("A[t] = t * 2 + 2"));
}

TEST(Modules, DecideTheDialectWithTheFile) {
  const auto dialect = [](const std::string& prelude) {
    return with_files(kModuleUser, {{"a.py", "def scaled(x):\n    return x\n"}, {"b.py", ""}},
                      {.kernel = "f",
                       .prelude = std::string(kT) + "from a import scaled\nimport b as other\n",
                       .modules = {{"a", prelude}, {"b", "FACTOR = 1\n"}}})
        .dialect;
  };
  EXPECT_EQ(dialect(""), Dialect::D1);
  EXPECT_EQ(dialect("from tvm.script.tirx import tile as Tx\n"), Dialect::D2);
}

TEST(Modules, HaveTheirErrorsInTheirFiles) {
  const auto broken = [](const std::string& text) {
    return rendered(with_files(kModuleUser, {{"a.py", text}},
                               {.kernel = "f",
                                .prelude = std::string(kT) + "from a import scaled\n",
                                .modules = {{"a"}}}));
  };
  EXPECT_THAT(broken("def scaled(x):\n    return (x\n"), HasSubstr("a.py:"));
  EXPECT_THAT(broken("\ndef scaled(x):\n    return x.nosuch\n"), HasSubstr("a.py:3:14: error: "));
  EXPECT_THAT(broken("def scaled(x):\n    return x\n"), HasSubstr("main.py:5:"));
}

TEST(Attributes, ThoseListedExist) {
  for (const AttributeRow& row : attribute_rows())
    for (std::size_t at = 0; at < row.names.size();) {
      const std::size_t end = std::min(row.names.find(' ', at), row.names.size());
      const std::string name(row.names.substr(at, end - at));
      at = end + 1;
      std::string value = value_of(row.type);
      if (row.type == "pool" && (name == "total_cols" || name == "addr")) value = "columns";
      if (row.type == "layout" && is_attribute("swizzle", name)) value = "swizzled";
      EXPECT_THAT(rendered(with_attribute(value, name)), IsEmpty()) << row.type << "." << name;
    }
}

TEST(Attributes, OthersDoNot) {
  for (const std::string_view value : {"B", "pool", "plain", "plain.shard[0]", "T.float32"})
    EXPECT_THAT(rendered(with_attribute(value, "nosuch")), HasSubstr("has no `nosuch`")) << value;
}

}  // namespace
}  // namespace ww::script::compile_test
