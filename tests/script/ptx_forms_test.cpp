// SPDX-License-Identifier: Apache-2.0
// Every form of the PTX catalogue can be issued from a kernel: for each, a program with one
// instruction of it is written, compiled and verified. Forms that a kernel cannot name are listed
// with their reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/source.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "script/compile.h"

namespace ww::script {
namespace {

using isa::OperandSpec;
using isa::Role;

// Forms that no program can write, by mnemonic: those with labels, functions and lists of calls,
// and those with 128-bit registers (`mov.b128`, cancel requests), a width that the language does
// not have.
const std::set<std::string, std::less<>> kNotExpressible = {
    "bra", "brx.idx", "call", "mov", "clusterlaunchcontrol.query_cancel",
};

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
  std::optional<std::string> program() {
    for (const OperandSpec& spec : binding_.form().operands) {
      if (spec.role == Role::Label || spec.role == Role::Rest) return std::nullopt;
      // A scale stands alone or in braces: two optional operands of one name.
      if (spec.optional && (!with_optional_ || !names_.insert(spec.name).second)) continue;
      if (spec.present && !binding_.holds(*spec.present)) continue;
      if (!add(spec)) return std::nullopt;
    }
    std::string out =
        "@T.prim_func\ndef k(G: T.Buffer((1024,), \"uint8\")):\n    T.device_entry()\n"
        "    tid = T.thread_id([32])\n    S = T.alloc_shared((1024,), \"uint8\")\n"
        "    L = T.alloc_local((1024,), \"uint8\")\n";
    for (const std::string& dtype : dtypes_) out += fmt::format("    r_{0}: T.{0}[300]\n", dtype);
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

struct Attempt {
  bool is_expressible = false;
  bool is_issued = false;
  std::string errors;  // of the first program that was refused
};

// Rules that no table states refuse some combinations of modifiers; one that is issued will do.
Attempt issue(const isa::Form& form) {
  constexpr int kMostTries = 60;
  Attempt out;
  int tries = 0;
  isa::for_each_binding(form, [&](const isa::Binding& binding) {
    if (out.is_issued || tries >= kMostTries || isa::archs_of(binding).empty()) return;
    ++tries;
    for (const bool with_optional : {false, true}) {
      const std::optional<std::string> program = Writer(binding, with_optional).program();
      if (!program || out.is_issued) continue;
      out.is_expressible = true;
      const Compiled compiled = compile(SourceText("k.py", *program));
      out.is_issued = compiled.function.has_value();
      if (!out.is_issued && out.errors.empty())
        out.errors = *program + compiled.render(compiled.errors[0]);
    }
  });
  return out;
}

TEST(PtxForms, EveryOneCanBeIssuedFromAKernel) {
  int issued = 0;
  for (const isa::Family& family : isa::families())
    for (const isa::Form& form : family.forms) {
      const Attempt attempt = issue(form);
      if (attempt.is_issued) ++issued;
      if (!attempt.is_expressible)
        EXPECT_TRUE(kNotExpressible.contains(form.mnemonic)) << isa::syntax_line(form);
      else
        EXPECT_TRUE(attempt.is_issued) << isa::syntax_line(form) << "\n" << attempt.errors;
    }
  EXPECT_GT(issued, 400);
}

}  // namespace
}  // namespace ww::script
