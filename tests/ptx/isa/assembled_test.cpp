// SPDX-License-Identifier: Apache-2.0
// What we emit, given to ptxas: the selector's instructions, and registers under their declared
// names. The spellings that do not assemble are given to it as well, to show why they are not used.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "foreign/toolchain.h"
#include "isa/catalogue.h"
#include "isa/matrix_copy.h"
#include "ptx/register_class.h"

namespace ww::assembled_test {
namespace {

class Assembled : public testing::Test {
 protected:
  void SetUp() override {
    tools_ = corpus::Toolchain::find();
    if (!tools_) GTEST_SKIP() << "no ptxas here";
  }

  // The assembler's answer to a kernel with this body.
  [[nodiscard]] corpus::Outcome assemble(std::string_view target, std::string_view body) const {
    std::ofstream(folder_.path() / "k.ptx")
        << ".version 8.8\n.target " << target << "\n.address_size 64\n.visible .entry k()\n{\n"
        << body << "\tret;\n}\n";
    return tools_->try_assemble(folder_.path(), "k.ptx", std::string(target), "k.cubin");
  }

  std::optional<corpus::Toolchain> tools_;
  corpus::TestFolder folder_;
};

std::string_view target_of(const isa::MatrixCopy& copy) {
  return target::info(copy.min_arch().value_or(target::Arch::Sm100a)).name;
}

// The instruction with its registers and a generic address.
std::string statement(const isa::MatrixCopy& copy, std::string_view opcode) {
  std::string list;
  for (int i = 0; i < copy.registers; ++i) list += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
  const std::string registers = "\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<2>;\n";
  if (copy.props.family == "movmatrix") return fmt::format("{}\t{} %r0, %r1;\n", registers, opcode);
  if (copy.props.family == "stmatrix")
    return fmt::format("{}\t{} [%rd0], {{{}}};\n", registers, opcode, list);
  return fmt::format("{}\t{} {{{}}}, [%rd0];\n", registers, opcode, list);
}

TEST_F(Assembled, EverySelectedMatrixCopy) {
  for (const isa::MatrixCopy& copy : isa::matrix_copies()) {
    if (copy.ptx.empty()) continue;
    // sm_110 is newer than the version these kernels name.
    const corpus::Outcome outcome = assemble(target_of(copy), statement(copy, copy.ptx));
    EXPECT_EQ(outcome.status, 0) << copy.ptx << ": " << outcome.output;
  }
}

TEST_F(Assembled, PublishedMnemonicsExactlyWhereTheCatalogueHasThem) {
  for (const isa::MatrixCopy& copy : isa::matrix_copies()) {
    const bool sibling =
        copy.props.family == "stmatrix_alt" || copy.props.family == "ldmatrix_sibling";
    if (sibling) continue;  // no mnemonics, only remarks
    const bool known = !isa::bind_opcode(copy.document_mnemonic).fits.empty();
    const corpus::Outcome outcome =
        assemble(target_of(copy), statement(copy, copy.document_mnemonic));
    EXPECT_EQ(outcome.status == 0, known) << copy.document_mnemonic << ": " << outcome.output;
  }
}

// x = a + b in single precision and y = c + d in double, with registers in the given style.
std::string sums(ptx::RegisterStyle style) {
  using isa::Type;
  ptx::RegisterUse use;
  for (const std::uint32_t i : {0U, 1U, 2U}) {
    use.note(ptx::class_of(Type::F32), i);
    use.note(ptx::class_of(Type::F64), i);
  }
  const auto name = [&](Type type, std::uint32_t i) { return register_name(type, i, style); };
  return fmt::format("{}\tadd.f32 {}, {}, {};\n\tadd.f64 {}, {}, {};\n", use.declarations(),
                     name(Type::F32, 0), name(Type::F32, 1), name(Type::F32, 2), name(Type::F64, 0),
                     name(Type::F64, 1), name(Type::F64, 2));
}

TEST_F(Assembled, RegistersUnderDeclaredNames) {
  const corpus::Outcome outcome = assemble("sm_90", sums(ptx::RegisterStyle::Assembled));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_F(Assembled, ViewsAreRefusedBecauseNothingDeclaresThem) {
  const corpus::Outcome outcome = assemble("sm_90", sums(ptx::RegisterStyle::Views));
  EXPECT_NE(outcome.status, 0);
  EXPECT_TRUE(outcome.output.contains("Unknown symbol '%f")) << outcome.output;
}

}  // namespace
}  // namespace ww::assembled_test
