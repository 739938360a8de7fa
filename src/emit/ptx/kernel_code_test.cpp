// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/kernel_code.h"

#include <gtest/gtest.h>

#include "emit/ptx/finish.h"
#include "ptx/printer.h"

namespace ww::emit::to_ptx {
namespace {

constexpr target::Target kBlackwell{target::Arch::Sm100a, 90};

/// The text of the module, or the first thing that is wrong with the code.
std::string finished(const KernelCode& code) {
  ptx::Module module;
  ptx::Function function;
  function.name = module.names.intern("kernel");
  if (const auto good = finish(code, kBlackwell, {}, module, function); !good)
    return good.error().text;
  module.add_function(std::move(function));
  return ptx::print(module);
}

constexpr std::string_view kAlloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32";

TEST(KernelCode, RefusesAnotherClassThanThatOfALegalInstruction) {
  KernelCode code;
  const Value word = code.new_variable(Class::R);
  code.add("add.s32", {word, word, word});
  code.add("add.s32", {word, word, code.new_variable(Class::R)});
  code.add("add.s32", {word, word, code.new_variable(Class::Rd)});
  EXPECT_EQ(finished(code),
            "`%rd1` is declared `.b64`; operand `b` of `add.s32` takes `.b32`, `.s32` or `.u32`");
}

TEST(KernelCode, RefusesAnotherNumberThanThatOfALegalInstruction) {
  KernelCode code;
  const Value word = code.new_variable(Class::R);
  for (const std::int64_t columns : {32, 64, 32, 48})
    code.add(kAlloc, {address_arg(word, 0), int_value(columns)});
  EXPECT_EQ(finished(code), "operand `columns` is 48, allowed: 32, 64, 128, 256, 512");
}

TEST(KernelCode, GivesOneRegisterForOneOperation) {
  KernelCode code;
  const Value x = code.new_register(Class::R);
  const Value variable = code.new_variable(Class::R);
  EXPECT_EQ(code.pure("add.s32", Class::R, {x, int_value(1)}),
            code.pure("add.s32", Class::R, {x, int_value(1)}));
  EXPECT_NE(code.pure("add.s32", Class::R, {x, int_value(1)}),
            code.pure("add.s32", Class::R, {x, int_value(2)}));
  EXPECT_NE(code.pure("add.s32", Class::R, {x, int_value(1)}),
            code.pure("sub.s32", Class::R, {x, int_value(1)}));
  EXPECT_EQ(code.pure_vector("mov.b32", Class::Rs, 2, {x}),
            code.pure_vector("mov.b32", Class::Rs, 2, {x}));
  EXPECT_NE(code.pure_vector("mov.b32", Class::Rs, 2, {x})[0], code.pure("mov.b32", Class::R, {x}));
  const Value before = code.pure("mov.b32", Class::R, {variable});
  EXPECT_EQ(code.pure("mov.b32", Class::R, {variable}), before);
  code.touch(variable);
  EXPECT_NE(code.pure("mov.b32", Class::R, {variable}), before);
}

TEST(KernelCode, ForgetsWhatABranchComputed) {
  KernelCode code;
  const Value x = code.new_register(Class::R);
  code.open_scope(false);
  const Value inside = code.pure("add.s32", Class::R, {x, int_value(1)});
  code.close_scope();
  EXPECT_NE(code.pure("add.s32", Class::R, {x, int_value(1)}), inside);
}

TEST(KernelCode, KeepsNamesOfOperandsThatAreGone) {
  KernelCode code;
  const Value x = code.new_variable(Class::R);
  {
    std::string name = "%tid.";
    name += 'x';
    code.add("mov.u32", {x, special_arg(name)});
    name.assign(name.size(), '?');
  }
  EXPECT_NE(finished(code).find("mov.u32\t%r1, %tid.x;"), std::string::npos);
}

}  // namespace
}  // namespace ww::emit::to_ptx
