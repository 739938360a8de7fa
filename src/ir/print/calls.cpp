// SPDX-License-Identifier: Apache-2.0
// Tile primitives and PTX instructions. The instructions that the language has functions of its own
// for (matrix copies, mma, tensor memory) print as those; all others by their opcode.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/join.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "isa/catalogue.h"
#include "num/dtype.h"

namespace ww::ir::printing {
namespace {

using Operands = std::span<const PtxOperand>;

bool all_of_kind(Operands operands, PtxOperandKind kind) {
  return std::ranges::all_of(operands,
                             [kind](const PtxOperand& operand) { return operand.kind == kind; });
}

bool is_plain_address(const PtxOperand& operand) {
  return operand.kind == PtxOperandKind::Address && !operand.offset.valid();
}

/// The address and the registers of a load or store between memory and registers.
struct Copy {
  PtxOperand address;
  Operands registers;
};
std::optional<Copy> split_copy(const PtxCall& call, bool address_first) {
  const Operands all = call.operands;
  if (all.size() < 2) return std::nullopt;
  Copy copy{address_first ? all.front() : all.back(),
            address_first ? all.subspan(1) : all.first(all.size() - 1)};
  if (!is_plain_address(copy.address)) return std::nullopt;
  return copy;
}

/// The words of a dense mma that has no more than these; empty for any other instruction.
std::vector<std::string_view> plain_mma_words(const isa::Opcode& opcode) {
  if (opcode.mnemonic() != "mma") return {};
  std::vector<std::string_view> words;
  const isa::Binding& binding = opcode.binding();
  static constexpr isa::SlotName kSlots[] = {"sync",  "aligned", "shape", "alayout", "blayout",
                                             "dtype", "atype",   "btype", "ctype"};
  for (const isa::SlotName slot : kSlots)
    if (binding.has(slot)) words.push_back(binding.word(slot).text());
  return words.size() == 9 && binding.given_count() == 9 ? words : std::vector<std::string_view>();
}

/// Registers per operand of an mma, d a b c; nothing when there is more than one form or operand.
std::optional<std::vector<int>> mma_counts(const isa::Opcode& opcode) {
  if (opcode.forms().size() != 1) return std::nullopt;
  std::vector<int> counts;
  for (const isa::OperandSpec& spec : opcode.binding().form().operands)
    counts.push_back(isa::count_of(spec, opcode.binding()).value_or(1));
  if (counts.size() != 4) return std::nullopt;
  return counts;
}

std::string tile_arg(const Context& c, const TileArg& arg) {
  if (const auto* where = std::get_if<Region>(&arg)) return region(c, *where);
  if (const auto* id = std::get_if<ExprId>(&arg)) return expr(c, *id);
  // Several axes of a reduction.
  if (const auto* axes = std::get_if<std::string>(&std::get<Setting>(arg)))
    return fmt::format("({})", *axes);
  return setting(c, std::get<Setting>(arg));
}

std::string ptx_operand(const Context& c, const PtxOperand& operand) {
  switch (operand.kind) {
    case PtxOperandKind::Value:
      break;
    case PtxOperandKind::At:
      return fmt::format("T.ptx.at({})", expr(c, operand.expr));
    case PtxOperandKind::Address:
      if (!operand.offset.valid()) break;
      return fmt::format("T.ptx.addr({}, {})", expr(c, operand.expr), expr(c, operand.offset));
    case PtxOperandKind::Sink:
      return "T.ptx.SINK";
    case PtxOperandKind::Predicate:
      return fmt::format("T.ptx.pred({})", expr(c, operand.expr));
  }
  return expr(c, operand.expr);
}

std::string plain_ptx(const Context& c, const PtxCall& call) {
  std::vector<std::string> args;
  for (const PtxOperand& operand : call.operands) args.push_back(ptx_operand(c, operand));
  if (call.predicate.valid()) args.push_back(fmt::format("pred={}", expr(c, call.predicate)));
  if (call.keep) args.emplace_back("keep=True");
  return fmt::format("T.ptx[{}]({})", quoted(call.opcode.text()), join(args, ", "));
}

// ldmatrix and stmatrix of 8x8 matrices of 16-bit elements; "" for anything else, as below.
std::string matrix_copy(const Context& c, const PtxCall& call) {
  const isa::Mnemonic called = call.opcode.mnemonic();
  const bool is_store = called == "stmatrix";
  if (called != "ldmatrix" && !is_store) return "";
  const isa::Binding& binding = call.opcode.binding();
  if (binding.word("shape") != "m8n8" || binding.word("space") != "shared") return "";
  const std::optional<Copy> copy = split_copy(call, is_store);
  if (!copy || !all_of_kind(copy->registers, PtxOperandKind::At)) return "";
  std::vector<std::string> args = {expr(c, copy->address.expr)};
  for (const PtxOperand& reg : copy->registers) args.push_back(expr(c, reg.expr));
  return fmt::format("T.ptx.{}(T.bool({}), {}, \".b16\", {})", called,
                     binding.has("trans") ? "True" : "False", binding.number("num"),
                     join(args, ", "));
}

std::string mma_call(const Context& c, const PtxCall& call) {
  const std::vector<std::string_view> words = plain_mma_words(call.opcode);
  if (words.empty() || !all_of_kind(call.operands, PtxOperandKind::At)) return "";
  std::vector<std::string> args = {quoted(words[2]), quoted(words[3]), quoted(words[4])};
  for (std::size_t i = 5; i < words.size(); ++i) {
    const Result<num::DType> dtype = num::parse_dtype(words[i]);
    if (!dtype) return "";
    args.push_back(quoted(num::name_of(*dtype)));
  }
  const std::optional<std::vector<int>> counts = mma_counts(call.opcode);
  if (!counts) return "";
  std::size_t total = 0;
  for (const int count : *counts) {
    total += static_cast<std::size_t>(count);
    args.push_back(fmt::format("{}", count));
  }
  if (total != call.operands.size()) return "";
  args.emplace_back("False");  // no saturation
  for (const PtxOperand& reg : call.operands) args.push_back(expr(c, reg.expr));
  return fmt::format("T.ptx.mma({})", join(args, ", "));
}

// tcgen05.ld and .st at an address that is made of base, row and column.
std::string tensor_copy(const Context& c, const PtxCall& call) {
  const bool is_store = call.opcode.mnemonic() == "tcgen05.st";
  if (call.opcode.mnemonic() != "tcgen05.ld" && !is_store) return "";
  const isa::Binding& binding = call.opcode.binding();
  if (!binding.has("aligned") || binding.word("shape") == "16x32bx2") return "";
  const std::optional<Copy> copy = split_copy(call, is_store);
  if (!copy || !all_of_kind(copy->registers, PtxOperandKind::Value)) return "";
  const Expr& address = c.f[copy->address.expr];
  if (address.op != ExprOp::Call || address.callee != Intrinsic::TmemAddr) return "";
  std::vector<std::string> args;
  for (const PtxOperand& reg : copy->registers) args.push_back(expr(c, reg.expr));
  const bool is_packed = binding.has("pack") || binding.has("unpack");
  return fmt::format("T.ptx.{}({}, {}, {}, {}, {})", call.opcode.mnemonic(),
                     expr_list(c, address.args, 0, 3), quoted(binding.word("shape").text()),
                     binding.number("num"), is_packed ? "True" : "False", join(args, ", "));
}

}  // namespace

std::string tile_call(const Context& c, const TileCall& call) {
  const std::vector<TileParam>& params = params_of(call.op);
  std::vector<std::string> args;
  std::vector<std::string> keywords;
  for (std::size_t i = 0; i < params.size() && i < call.args.size(); ++i) {
    if (std::holds_alternative<std::monostate>(call.args[i])) continue;
    std::string text = tile_arg(c, call.args[i]);
    if (params[i].required) {
      args.push_back(std::move(text));
    } else if (text != params[i].default_text) {
      keywords.push_back(fmt::format("{}={}", params[i].name, text));
    }
  }
  for (const auto& [key, value] : call.config)
    keywords.push_back(fmt::format("{}={}", key, setting(c, value)));
  if (!call.dispatch.empty()) keywords.push_back(fmt::format("dispatch={}", quoted(call.dispatch)));
  if (!call.workspace.empty()) {
    std::vector<std::string> buffers;
    for (const auto& [key, buffer] : call.workspace)
      buffers.push_back(fmt::format("{}: {}", quoted(key), c.names.of(buffer)));
    keywords.push_back(fmt::format("workspace={{{}}}", join(buffers, ", ")));
  }
  args.insert(args.end(), keywords.begin(), keywords.end());
  return fmt::format("{}({})", tile_name(call), join(args, ", "));
}

std::string ptx_call(const Context& c, const PtxCall& call) {
  if (!call.predicate.valid() && !call.keep) {
    for (std::string text : {matrix_copy(c, call), mma_call(c, call), tensor_copy(c, call)}) {
      if (!text.empty()) return text;
    }
  }
  return plain_ptx(c, call);
}

}  // namespace ww::ir::printing

namespace ww::ir {

std::string tile_name(const TileCall& call) {
  if (call.scope == Unit::Thread) return fmt::format("Tx.{}", name_of(call.op));
  const bool is_short = call.scope == Unit::Warpgroup;
  return fmt::format("Tx.{}.{}", is_short ? "wg" : name_of(call.scope), name_of(call.op));
}

}  // namespace ww::ir
