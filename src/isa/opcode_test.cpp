// SPDX-License-Identifier: Apache-2.0
#include "isa/opcode.h"

#include <gtest/gtest.h>

#include <thread>

#include "isa/catalogue.h"

namespace ww::isa::opcode_test {
namespace {

TEST(Opcode, HoldsMnemonicAndModifiers) {
  const Opcode opcode = opcode_of("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
  EXPECT_TRUE(opcode.valid());
  EXPECT_EQ(opcode.mnemonic(), Mnemonic("ldmatrix"));
  ASSERT_EQ(opcode.forms().size(), 1U);
  EXPECT_EQ(opcode.binding().number("num"), 2);
  EXPECT_TRUE(opcode.binding().has("trans"));
  EXPECT_EQ(opcode.binding().given_count(), 7U);
}

TEST(Opcode, KeepsTheTextAsItWasWritten) {
  const Opcode opcode = opcode_of("ld.v4.global.f32");
  EXPECT_EQ(opcode.text(), "ld.v4.global.f32");
  EXPECT_EQ(opcode.binding().opcode(), "ld.global.v4.f32");
}

TEST(Opcode, IsEqualForTheSameText) {
  EXPECT_EQ(opcode_of("bar.warp.sync"), opcode_of(std::string("bar.warp.") + "sync"));
  EXPECT_NE(opcode_of("add.s32"), opcode_of("add.u32"));
  EXPECT_NE(opcode_of("add.s32"), Opcode());
}

// More texts than are kept: a handle holds what it stands for, and equality is that of the text.
TEST(Opcode, OutlivesTheTableOfBoundOnes) {
  const auto text = [](int i) { return "add.s" + std::to_string(i); };
  std::vector<Opcode> all;
  for (int i = 0; i < 3000; ++i) all.push_back(opcode_of(text(i)));
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(all[static_cast<std::size_t>(i)].text(), text(i));
    EXPECT_EQ(all[static_cast<std::size_t>(i)], opcode_of(text(i)));
  }
  EXPECT_NE(all[0], all[1]);
}

TEST(Opcode, HasAllFormsThatItsOperandsMayBeOf) {
  const Opcode opcode = opcode_of("mov.b64");
  EXPECT_GT(opcode.forms().size(), 1U);
  for (const Binding& form : opcode.forms()) EXPECT_EQ(form.form().mnemonic, opcode.mnemonic());
}

TEST(Opcode, FormsOfOneOpcodeShareTheirMnemonic) {
  std::size_t several = 0;
  for (const Family& family : families())
    for (const Form& form : family.forms) {
      std::size_t seen = 0;
      for_each_binding(form, [&](const Binding& binding) {
        if (++seen > 40) return;
        const Bindings all = bind_opcode(binding.opcode());
        several += all.fits.size() > 1 ? 1U : 0U;
        for (const Binding& other : all.fits)
          EXPECT_EQ(other.form().mnemonic, form.mnemonic) << binding.opcode();
      });
    }
  EXPECT_GT(several, 500U);
}

TEST(Opcode, WithoutFormsSaysWhy) {
  const Opcode opcode = opcode_of("ldmatrix.sync.aligned.m8n8.x3.shared.b16");
  EXPECT_TRUE(opcode.valid());
  EXPECT_TRUE(opcode.forms().empty());
  EXPECT_EQ(opcode.mnemonic(), Mnemonic());
  ASSERT_NE(opcode.misfit().form, nullptr);
  EXPECT_EQ(opcode.misfit().text, "`ldmatrix` has no modifier `.x3`; did you mean `.x1`?");
  EXPECT_EQ(opcode_of("ldmatrux").misfit().form, nullptr);
}

TEST(Opcode, NoneHasNeitherTextNorForms) {
  EXPECT_FALSE(Opcode().valid());
  EXPECT_EQ(Opcode().text(), "");
  EXPECT_EQ(Opcode().mnemonic(), Mnemonic());
  EXPECT_TRUE(Opcode().forms().empty());
}

TEST(Opcode, MayBeBoundByManyThreads) {
  std::vector<Opcode> found(8);
  std::vector<std::thread> threads;
  for (Opcode& each : found)
    threads.emplace_back([&each] { each = opcode_of("tcgen05.ld.sync.aligned.32x32b.x64.b32"); });
  for (std::thread& thread : threads) thread.join();
  for (const Opcode& each : found) EXPECT_EQ(each, found[0]);
}

}  // namespace
}  // namespace ww::isa::opcode_test
