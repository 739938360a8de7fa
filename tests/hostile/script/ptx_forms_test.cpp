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
#include "hostile/script/form_operands.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "script/compile.h"

namespace ww::script::ptx_forms_test {
namespace {

// Forms that no program can write, by mnemonic: those with labels, functions and lists of calls,
// those with 128-bit registers (`mov.b128`, cancel requests), a width that the language does not
// have, and those of old PTX alone (`shfl` and `vote` without `.sync`).
const std::set<std::string, std::less<>> kNotExpressible = {
    "bra", "brx.idx", "call", "mov", "clusterlaunchcontrol.query_cancel", "shfl", "vote",
};

// A program with one instruction; nothing where an operand has no counterpart in a kernel.
std::optional<std::string> program_of(const isa::Binding& binding, bool with_optional) {
  test::FormOperands operands(binding, with_optional);
  if (!operands.write()) return std::nullopt;
  std::string out =
      "@T.prim_func\ndef k(G: T.Buffer((1024,), \"uint8\")):\n    T.device_entry()\n"
      "    tid = T.thread_id([32])\n    S = T.alloc_shared((1024,), \"uint8\")\n"
      "    L = T.alloc_local((1024,), \"uint8\")\n";
  for (const std::string& dtype : operands.dtypes())
    out += fmt::format("    r_{0}: T.{0}[300]\n", dtype);
  return out + operands.call();
}

struct Attempt {
  bool is_expressible = false;
  bool is_issued = false;
  std::string errors;  // of the first program that was refused
};

// Rules that no table states refuse some combinations of modifiers; one that is issued will do.
Attempt issue(const isa::Form& form) {
  constexpr int kMaxTries = 60;
  Attempt out;
  int tries = 0;
  isa::for_each_binding(form, [&](const isa::Binding& binding) {
    if (out.is_issued || tries >= kMaxTries || isa::archs_of(binding).empty()) return;
    ++tries;
    for (const bool with_optional : {false, true}) {
      const std::optional<std::string> program = program_of(binding, with_optional);
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
        EXPECT_TRUE(kNotExpressible.contains(form.mnemonic.text())) << isa::syntax_line(form);
      else
        EXPECT_TRUE(attempt.is_issued) << isa::syntax_line(form) << "\n" << attempt.errors;
    }
  EXPECT_GT(issued, 400);
}

}  // namespace
}  // namespace ww::script::ptx_forms_test
