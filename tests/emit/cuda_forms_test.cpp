// SPDX-License-Identifier: Apache-2.0
// An instruction of every form of the PTX catalogue that a kernel can issue, through the CUDA
// emitter: nvcc compiles the functions around them without a warning and ptxas assembles them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>

#include "base/source.h"
#include "corpus/toolchain.h"
#include "emit/cuda_run.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "script/compile.h"

namespace ww::emit::test {
namespace {

using isa::OperandSpec;
using isa::Role;

std::optional<std::string> dtype_of(isa::Type type) {
  const isa::TypeInfo& info = isa::info(type);
  if (type == isa::Type::Pred) return "bool";
  if (type == isa::Type::F16) return "float16";
  if (type == isa::Type::F32) return "float32";
  if (type == isa::Type::F64) return "float64";
  const bool is_signed = info.cls == isa::TypeClass::Signed;
  for (const int bits : {8, 16, 32, 64})
    if (info.bits == bits) return fmt::format("{}int{}", is_signed ? "" : "u", bits);
  return std::nullopt;
}

// Writes the program for one binding, register by register.
class Writer {
 public:
  Writer(const isa::Binding& binding, bool with_optional)
      : binding_(binding), with_optional_(with_optional) {}

  // Nothing where an operand has no counterpart in a kernel.
  std::optional<std::string> program(const std::string& name) {
    for (const OperandSpec& spec : binding_.form().operands) {
      if (spec.role == Role::Label || spec.role == Role::Rest) return std::nullopt;
      // A scale stands alone or in braces: two optional operands of one name.
      if (spec.optional && (!with_optional_ || !names_.insert(spec.name).second)) continue;
      if (spec.present && !binding_.holds(*spec.present)) continue;
      if (!add(spec)) return std::nullopt;
    }
    std::string out = fmt::format(
        "@T.prim_func\ndef {}(G: T.Buffer((1024,), \"uint8\")):\n    T.device_entry()\n"
        "    tx = T.launch_thread(\"threadIdx.x\", 128)\n"
        "    S = T.alloc_shared((1024,), \"uint8\")\n"
        "    L = T.alloc_local((1024,), \"uint8\")\n",
        name);
    for (const std::string& dtype : dtypes_)
      out += fmt::format(
          "    r_{0}: T.{0}[{1}]\n"
          "    for i in T.unroll({1}):\n        r_{0}[i] = T.Cast(\"{0}\", G[i])\n",
          dtype, next_);
    return out + fmt::format("    T.ptx[\"{}\"]({})\n", binding_.opcode(), args_);
  }

 private:
  void put(const std::string& argument) {
    if (!args_.empty()) args_ += ", ";
    args_ += argument;
  }
  std::string element(const std::string& dtype) {
    dtypes_.insert(dtype);
    return fmt::format("r_{}[{}]", dtype, next_++);
  }

  bool add(const OperandSpec& spec) {
    if (spec.role == Role::Address) return add_address(spec);
    const bool is_limited = !spec.values.empty() || spec.low <= spec.high;
    if (spec.role == Role::Immediate || (is_limited && spec.role == Role::Read)) {
      put(fmt::format("{}", !spec.values.empty()    ? spec.values[0]
                            : spec.low <= spec.high ? spec.low
                                                    : 0));
      return true;
    }
    const std::optional<isa::Type> type = isa::type_of(spec, binding_);
    const std::optional<std::string> dtype = type ? dtype_of(*type) : std::nullopt;
    if (!dtype) return false;
    const int count = isa::count_of(spec, binding_).value_or(1);
    for (int i = 0; i < count; ++i) put(element(*dtype));
    if (spec.pair == OperandSpec::Pair::Required) put(element("bool"));
    return true;
  }

  bool add_address(const OperandSpec& spec) {
    switch (isa::space_of(spec, binding_)) {
      case isa::Space::Tensor:
        put(element("uint32"));
        break;
      case isa::Space::Shared:
      case isa::Space::SharedCluster:
        put("S.ptr_to([0])");
        break;
      case isa::Space::Local:
        put("L.ptr_to([0])");
        break;
      default:
        put("G.ptr_to([0])");
        break;
    }
    const int coordinates = isa::count_of(spec, binding_).value_or(0);
    for (int i = 0; i < coordinates; ++i) put(element("int32"));
    return true;
  }

  const isa::Binding& binding_;
  bool with_optional_;
  std::string args_;
  std::set<std::string> dtypes_;
  std::set<std::string_view> names_;
  int next_ = 0;
};

// One instruction of the form that the target has, as CUDA C++; nothing where there is none.
// Rules that no table states refuse some combinations of modifiers; one that is issued will do.
std::optional<std::string> emitted(const isa::Form& form, const CudaOptions& options,
                                   const std::string& name, std::string& problem) {
  constexpr int kMostTries = 60;
  std::optional<std::string> out;
  int tries = 0;
  isa::for_each_binding(form, [&](const isa::Binding& binding) {
    if (out || tries >= kMostTries || isa::missing_on(binding, options.target)) return;
    ++tries;
    for (const bool with_optional : {false, true}) {
      const std::optional<std::string> program = Writer(binding, with_optional).program(name);
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
  const corpus::ScratchFolder folder;
  std::ofstream(folder.path() / "forms.cu") << joined(sources);
  const corpus::Outcome compiled =
      tools.compile(folder.path() / "forms.cu", arch, {"-std=c++17", "-Werror", "all-warnings"},
                    folder.path(), "forms.ptx");
  if (compiled.status != 0) return compiled.output;
  const corpus::Outcome outcome = tools.assemble(folder.path(), "forms.ptx", arch, "forms.cubin");
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
}  // namespace ww::emit::test
