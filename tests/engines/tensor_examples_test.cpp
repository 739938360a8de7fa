// SPDX-License-Identifier: Apache-2.0
// The examples of tensor memory, whole: each row runs on all engines on small whole numbers, where
// the result must be what a loop over the inputs gives, bit for bit; ptxas takes what came out for
// both Blackwell targets; and mistakes written into the examples are found.
#include <filesystem>
#include <functional>

#include "base/file_io.h"
#include "engines/family.h"
#include "eval/value/arithmetic.h"

namespace ww::test::tensor_examples_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTargets[] = {"sm_100a", "sm_103a"};

std::string source_of(const std::string& file) {
  return read_file(fs::path(WW_SOURCE_DIR) / "examples" / file, std::size_t{1} << 20U).value();
}

// --- what comes out ------------------------------------------------------------------------------

/// The element of the result at a place, from the inputs by name.
using At = std::function<double(const std::string& name, std::size_t i)>;
using Wanted = std::function<double(const At& at, std::size_t i, std::size_t columns)>;

/// The first element of the last array that is not as wanted, or nothing.
std::string wrong_element(const Ran& ran, const Wanted& wanted) {
  const auto input = [&](const std::string& name, std::size_t i) {
    for (const Arg& arg : ran.args)
      if (arg.name == name) return number_at(arg, arg.bytes, i);
    ADD_FAILURE() << "no argument " << name;
    return 0.;
  };
  const Arg& out = ran.args.back();
  const auto columns = static_cast<std::size_t>(out.shape.back());
  const Bytes& seen = ran.expected.arrays.back();
  for (std::size_t i = 0; i * out.element_bytes < seen.size(); ++i) {
    const double is = number_at(out, seen, i);
    const double exact = wanted(input, i, columns);
    const double rounded = eval::as_real(out.dtype, eval::from_real(out.dtype, exact));
    if (is != rounded) return fmt::format("element {} is {}, expected {}", i, is, rounded);
  }
  return "";
}

/// A kernel of an example, and the opcodes that its k-th copies between tensor memory and registers
/// must be made of.
struct Row {
  std::string kernel;
  std::vector<std::string> opcodes;
};

void run(const std::string& file, const std::vector<Row>& rows, const Wanted& wanted) {
  Family family(file, Nvcc::Always);
  for (const Row& row : rows) {
    for (const std::string_view target : kTargets) {
      SCOPED_TRACE(fmt::format("{} for {}", row.kernel, target));
      const Checked checked = family.run({.source = source_of(file),
                                          .target = std::string(target),
                                          .kernel = row.kernel,
                                          .inputs = Inputs::Whole});
      if (!checked.right()) continue;
      EXPECT_EQ(wrong_element(*checked.ran, wanted), "");
      EXPECT_TRUE(checked.report.spilled.empty()) << "registers in local memory";
      std::vector<std::string> seen;
      for (const lower::CallReport& call : checked.report.calls) {
        if (call.op != "copy_async") continue;
        EXPECT_EQ(call.chosen, "tcgen05_ldst");
        seen.push_back(opcodes_of(call));
      }
      EXPECT_EQ(seen, row.opcodes);
      for (const Turns& turns : checked.turns) EXPECT_EQ(turns.needed, turns.ideal);
      family.count();
    }
  }
}

std::string st(int num, int times = 1) {
  return fmt::format("tcgen05.st.sync.aligned.32x32b.x{}.b32 x {}; ", num, times);
}
std::string ld(int num, int times = 1) {
  return fmt::format("tcgen05.ld.sync.aligned.32x32b.x{}.b32 x {}; ", num, times);
}
std::string ld_blocks(int num) {
  return fmt::format("tcgen05.ld.sync.aligned.16x256b.x{}.b32 x 2; ", num);
}

TEST(TensorExamples, Epilogue) {
  const auto row = [](const std::string& arguments, int chunk) {
    return Row{fmt::format("build({})", arguments), {st(chunk), ld_blocks(chunk / 8)}};
  };
  run("tcgen05_epilogue.py",
      {row("", 64), row("M=128, N=512, chunk=128", 128), row("M=128, N=64", 64),
       row("M=128, N=128, dtype=\"bfloat16\"", 64)},
      [](const At& at, std::size_t i, std::size_t columns) {
        return 0.5 * at("acc", i) + at("bias", i % columns);
      });
}

TEST(TensorExamples, Stages) {
  run("tcgen05_stages.py",
      {{"build()", {st(32), ld(32)}},
       {"build(tiles=2, N=128)", {st(128), ld(128)}},
       {"build(tiles=3, N=64, dtype=\"float16\")", {st(32), ld(32)}},
       {"build(tiles=1, N=24)", {st(16) + st(8), ld(16) + ld(8)}}},
      [](const At& at, std::size_t i, std::size_t) { return 2 * at("A", i); });
}

TEST(TensorExamples, Shapes) {
  const auto row = [](const std::string& arguments, const std::string& form, int times) {
    const auto opcode = [&](std::string_view mnemonic, std::string_view halves) {
      return fmt::format("tcgen05.{}.sync.aligned.{}{}.b32 x {}; ", mnemonic,
                         form.substr(0, form.find('+')), form.ends_with("+") ? halves : "", times);
    };
    return Row{"build(" + arguments + ")",
               {opcode("st", ".unpack::16b"), opcode("ld", ".pack::16b")}};
  };
  run("tcgen05_shapes.py",
      {row("", "16x256b.x4", 1),
       row("128, datapath(\"D\", 128, 32), atom(\"32x32b\", 128, 32)", "32x32b.x32", 1),
       row("128, datapath(\"D\", 128, 32), atom(\"16x64b\", 128, 32)", "16x64b.x16", 2),
       row("64, datapath(\"F\", 64, 32, 1), atom(\"16x128b\", 64, 32)", "16x128b.x8", 1),
       row("64, datapath(\"B\", 64, 64), atom(\"32x32b\", 64, 64)", "32x32b.x32", 1),
       row("32, datapath(\"G\", 32, 32), TileLayout(S[(32, 4, 8) : (1 @ laneid, 1 @ wid_in_wg, "
           "1)])",
           "32x32b.x8", 1),
       row("128, datapath(\"D\", 128, 32), atom(\"16x256b\", 128, 32, \"float16\"), \"float16\"",
           "16x256b.x2", 2),
       row("64, datapath(\"F\", 64, 32), "
           "TileLayout(S[(4, 16, 2, 16) : (1 @ wid_in_wg, 1 @ laneid, 16 @ laneid, 1)])",
           "16x32bx2.x16", 1),
       row("128, TileLayout(S[(128, 32) : (1 @ TLane, 2 @ TCol)]), "
           "TileLayout(S[(128, 32) : (1 @ tid_in_wg, 1)]), \"float16\"",
           "32x32b.x16+", 1),
       row("128, datapath(\"D\", 128, 32), TileLayout(S[(128, 4, 8) : (1 @ tid_in_wg, 1, 4)])",
           "32x32b.x32", 1)},
      [](const At& at, std::size_t i, std::size_t) { return at("A", i); });
}

// --- mistakes ------------------------------------------------------------------------------------

/// The example with a text of it replaced, every time it occurs.
std::string edited(const std::string& file, const std::string& what, const std::string& with) {
  std::string text = source_of(file);
  std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << "`" << what << "` is not in " << file;
  for (; at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

void expect_found(const std::string& source, std::string_view why) {
  const Checked checked = check({.source = source, .target = "sm_100a"});
  EXPECT_FALSE(checked.right());
  EXPECT_NE(checked.why.find(why), std::string::npos) << checked.why;
}

TEST(TensorExamples, MistakesAreFound) {
  const std::string epilogue = "tcgen05_epilogue.py", stages = "tcgen05_stages.py";
  expect_found(edited(epilogue, "T.ptx.tcgen05.wait.ld()", "pass"), "while a copy into it");
  expect_found(edited(epilogue, "T.ptx.tcgen05.wait.st()", "pass"), "while a copy into it");
  expect_found(edited(epilogue, "D_s[c % 2,", "D_s[0,"), "nothing orders them");
  expect_found(edited(epilogue, "            T.ptx.tcgen05.dealloc", "            # "),
               "never given back");
  expect_found(edited(epilogue, "max(32, 1 <<", "min(128, 1 <<"), "not allocated");
  expect_found(edited(stages, "T.ptx.tcgen05.wait.st()", "pass"), "while a copy into it");
}

}  // namespace
}  // namespace ww::test::tensor_examples_test
