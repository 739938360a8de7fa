// SPDX-License-Identifier: Apache-2.0
// What may stand where a register is read: `r+5` is the sum and `!p` the opposite, in every operand
// of every instruction of the sweep. Each kernel runs as it is and again with one operand written
// that way, from a register that makes up for it; the results must be the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hardware/sweep/forms.h"
#include "hardware/sweep/kernel.h"
#include "hardware/sweep/virtual_run.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/scope.h"

namespace ww::sweep::operands_test {
namespace {

constexpr std::size_t kCases = kBlockThreads;
constexpr std::size_t kStep = WW_VALUE_STEP;

/// A module with its scopes, stopped at one instruction.
class Stopped {
 public:
  Stopped(const std::string& text, std::string_view opcode)
      : parsed_(ptx::parse(text)), scope_(parsed_.module, errors_) {
    if (!parsed_.ok()) return;
    for (const ptx::Function& function : parsed_.module.functions) {
      scope_.begin(function, errors_);
      for (const ptx::Statement& statement : function.statements) {
        scope_.enter(statement, errors_);
        if (statement.kind != ptx::StatementKind::Instruction) continue;
        const ptx::Instruction& it = function.instructions[statement.index];
        if (parsed_.module.text(it.opcode) != opcode) continue;
        begin = statement.offset;
        for (const ptx::Operand& operand : function.operands_of(it)) operands.push_back(operand);
        return;
      }
      scope_.end();
    }
  }
  [[nodiscard]] ptx::Declared find(const ptx::Operand& operand) const {
    return scope_.find(operand.name);
  }

  std::size_t begin = 0;  // of the statement in the text
  std::vector<ptx::Operand> operands;

 private:
  ptx::ParseResult parsed_;
  std::vector<Diag> errors_;
  ptx::Scope scope_;
};

// The text with the operand written another way; nullopt: it is not a register, or cannot be.
std::optional<std::string> rewritten(const std::string& text, const Stopped& at,
                                     const ptx::Operand& operand) {
  if (operand.kind != ptx::OperandKind::Name) return std::nullopt;
  const ptx::Declared what = at.find(operand);
  if (what.kind != ptx::Declared::Kind::Register || what.lanes != 1) return std::nullopt;
  const std::string name = text.substr(operand.offset, operand.length);
  const int bits = isa::info(what.type).bits;
  std::string before = ".reg .pred other; not.pred other, " + name + "; ";
  std::string written = "!other";
  if (what.type != isa::Type::Pred) {
    if (bits < 16 || bits > 64) return std::nullopt;
    before = fmt::format(
        ".reg .b{0} other; .reg .b{0} same; mov.b{0} same, {1}; "
        "sub.u{0} other, same, 5; ",
        bits, name);
    written = "other+5";
  }
  std::string out = text;
  out.replace(operand.offset, operand.length, written);
  out.insert(at.begin, before);
  const ptx::ParseResult parsed = ptx::parse(out);
  if (!parsed.ok() || !ptx::check(parsed.module).ok()) return std::nullopt;
  return out;
}

TEST(SimOperands, SumsAndOpposites) {
  const std::vector<Kernel> kernels = all_kernels();
  std::map<std::string, std::size_t> sums;
  std::size_t opposites = 0;
  for (std::size_t i = 0; i < kernels.size(); i += kStep) {
    const Kernel& kernel = kernels[i];
    const std::string head = module_header(kernel.ptx);
    const std::string text = head + kernel_text(kernel, "k");
    const Stopped at(text, kernel.opcode);
    const std::vector<std::byte> inputs = make_inputs(kernel, kCases);
    const VirtualResult plain = run_virtual(kernel, inputs, kCases, {});
    for (const ptx::Operand& operand : at.operands) {
      const auto other = rewritten(text, at, operand);
      if (!other) continue;
      Kernel changed = kernel;
      changed.body = other->substr(head.size());
      const VirtualResult result = run_virtual(changed, inputs, kCases, {.checked = true});
      EXPECT_EQ(result.problem, plain.problem) << kernel.title() << "\n" << *other;
      EXPECT_TRUE(result.outputs == plain.outputs) << kernel.title() << "\n" << *other;
      if (at.find(operand).type == isa::Type::Pred)
        ++opposites;
      else
        ++sums[kernel.family];
    }
  }
  EXPECT_GT(opposites, 100 / kStep);
  for (const char* const family : {"integer", "logic", "load_store", "atomic", "warp", "convert"})
    EXPECT_GT(sums[family], 0U) << family;
}

}  // namespace
}  // namespace ww::sweep::operands_test
