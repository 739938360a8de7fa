// SPDX-License-Identifier: Apache-2.0
// An instruction of every form of the PTX catalogue that a kernel can issue, through the CUDA
// emitter: nvcc compiles the functions around them without a warning and ptxas assembles them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>

#include "base/source.h"
#include "foreign/toolchain.h"
#include "harness/cuda_run.h"
#include "hostile/script/form_operands.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "script/compile.h"

namespace ww::emit::test::cuda_forms_test {
namespace {

// A program with one instruction; nothing where an operand has no counterpart in a kernel.
std::optional<std::string> program_of(const isa::Binding& binding, bool with_optional,
                                      const std::string& name) {
  ww::test::FormOperands operands(binding, with_optional);
  if (!operands.write()) return std::nullopt;
  std::string out = fmt::format(
      "@T.prim_func\ndef {}(G: T.Buffer((1024,), \"uint8\")):\n    T.device_entry()\n"
      "    tx = T.launch_thread(\"threadIdx.x\", 128)\n"
      "    S = T.alloc_shared((1024,), \"uint8\")\n"
      "    L = T.alloc_local((1024,), \"uint8\")\n",
      name);
  for (const std::string& dtype : operands.dtypes())
    out += fmt::format(
        "    r_{0}: T.{0}[{1}]\n"
        "    for i in T.unroll({1}):\n        r_{0}[i] = T.Cast(\"{0}\", G[i])\n",
        dtype, operands.elements());
  return out + operands.call();
}

// One instruction of the form that the target has, as CUDA C++; nothing where there is none.
// Rules that no table states refuse some combinations of modifiers; one that is issued will do.
std::optional<std::string> emitted(const isa::Form& form, const CudaOptions& options,
                                   const std::string& name, std::string& problem) {
  constexpr int kMaxTries = 60;
  std::optional<std::string> out;
  int tries = 0;
  isa::for_each_binding(form, [&](const isa::Binding& binding) {
    if (out || tries >= kMaxTries || isa::missing_on(binding, options.target)) return;
    ++tries;
    for (const bool with_optional : {false, true}) {
      const std::optional<std::string> program = program_of(binding, with_optional, name);
      if (!program || out) continue;
      const script::Compiled compiled =
          script::compile(SourceText("k.py", *program), {.target = options.target});
      if (!compiled.function) continue;
      const auto source = cuda_source(*compiled.function, options);
      if (source)
        out = *source;
      else
        problem = fmt::format("{}: {}\n", binding.opcode(), source.error().text);
    }
  });
  return out;
}

std::string assembled(const corpus::Toolchain& tools, const std::vector<std::string>& sources,
                      const std::string& arch) {
  const corpus::TestFolder folder;
  std::ofstream(folder.path() / "forms.cu") << joined(sources);
  const corpus::Outcome compiled =
      tools.compile(folder.path() / "forms.cu", arch, {"-std=c++17", "-Werror", "all-warnings"},
                    folder.path(), "forms.ptx");
  if (compiled.status != 0) return compiled.output;
  const corpus::Outcome outcome =
      tools.try_assemble(folder.path(), "forms.ptx", arch, "forms.cubin");
  return outcome.status == 0 ? "" : outcome.output;
}

class CudaForms : public testing::TestWithParam<std::string> {};

TEST_P(CudaForms, OneOfEachAssembles) {
  const auto tools = corpus::Toolchain::find();
  if (!tools || !tools->knows(GetParam())) GTEST_SKIP() << "no nvcc for " << GetParam();
  CudaOptions options;
  options.target.arch = target::parse_arch(GetParam()).value();
  std::vector<std::string> sources;
  std::string problems;
  for (const isa::Family& family : isa::families())
    for (const isa::Form& form : family.forms) {
      std::string problem;
      const auto source = emitted(form, options, fmt::format("k{}", sources.size()), problem);
      if (source)
        sources.push_back(*source);
      else
        problems += problem;
    }
  EXPECT_EQ(problems, "");
  EXPECT_GT(sources.size(), 200U);
  EXPECT_EQ(assembled(*tools, sources, GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(Targets, CudaForms, testing::Values("sm_90a", "sm_100a"));

}  // namespace
}  // namespace ww::emit::test::cuda_forms_test
