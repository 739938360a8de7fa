// SPDX-License-Identifier: Apache-2.0
// PTX instructions against the catalogue. A call lists its operands flat; here they are put into
// the braces and brackets of each form that the opcode may be of, as registers of the types that
// the expressions have, and the catalogue's checker judges the instruction.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "ir/engine_fallback.h"
#include "ir/ptx_placement.h"
#include "ir/signatures.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"
#include "isa/catalogue.h"
#include "isa/check.h"

namespace ww::ir::verifying {
namespace {

using isa::OperandKind;
using isa::OperandSpec;
using isa::Role;

int bits_of(Type type) {
  return type.is_pointer() ? 64 : num::bits_of(type.dtype) * static_cast<int>(type.lanes);
}

bool has_bits_type(int bits) {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
}

isa::Type float_register(Type type) {
  if (type.dtype == num::DType::Float16 && type.lanes == 2) return isa::Type::F16x2;
  if (type.lanes == 1 && type.dtype == num::DType::Float16) return isa::Type::F16;
  if (type.lanes == 1 && type.dtype == num::DType::Float32) return isa::Type::F32;
  if (type.lanes == 1 && type.dtype == num::DType::Float64) return isa::Type::F64;
  return isa::bits_type(bits_of(type));
}

isa::Type int_register(Type type) {
  const char letter = num::kind_of(type.dtype) == num::DTypeKind::Int ? 's' : 'u';
  return isa::parse_type(fmt::format("{}{}", letter, bits_of(type))).value_or(isa::Type::B32);
}

/// The register that a value of an IR type stands in where the instruction wants `wanted`. Bits are
/// bits: words pass for packed and for untyped operands, but an integer for no scalar float, except a
/// `uint16` for a half.
isa::Type register_for(Type type, std::optional<isa::Type> wanted) {
  if (wanted == isa::Type::Pred && (type.is_bool() || type.is_int())) return isa::Type::Pred;
  const int bits = bits_of(type);
  if (!has_bits_type(bits)) return isa::Type::B32;
  const isa::TypeClass cls = wanted ? isa::info(*wanted).cls : isa::TypeClass::Bits;
  if (cls == isa::TypeClass::Bits || cls == isa::TypeClass::Other) return isa::bits_type(bits);
  if (type.is_float()) return float_register(type);
  if (type.is_pointer() || wanted == isa::Type::F16x2 || type.lanes > 1 || type.is_bool())
    return isa::bits_type(bits);
  // Code for nvcc has no other register for a half.
  if (cls == isa::TypeClass::Float && bits == 16 && type == Type::of(num::DType::Uint16))
    return isa::bits_type(bits);
  return int_register(type);
}

class PtxCheck {
 public:
  PtxCheck(Context& c, const PtxCall& call, Span span) : c_(c), f_(c.f), call_(call), span_(span) {}

  void run() {
    check_operands();
    if (call_.opcode.forms().empty()) {
      c_.findings.push_back(isa::to_diag(call_.opcode.misfit()).with_span(span_));
      return;
    }
    for (const isa::Binding& binding : call_.opcode.forms()) {
      if (fits(binding)) return;
    }
    if (!problem_) problem_ = wrong_count(call_.opcode.binding());
    c_.findings.push_back(std::move(*problem_).with_span(span_));
    if (c_.findings.back().kind == DiagKind::NotOnTarget) note_fallback();
  }

 private:
  // --- what does not depend on the form ---

  void check_operands() {
    if (call_.predicate.valid()) {
      const Type type = f_[call_.predicate].type;
      if (!type.is_scalar() || type.is_float())
        c_.report(DiagKind::BadOperand, span_, "the guard of `{}` has type `{}`, expected `bool`",
                  call_.opcode.text(), to_text(type));
    }
    for (const PtxOperand& operand : call_.operands) {
      if (operand.kind == PtxOperandKind::Address) check_address(operand);
      if (operand.kind != PtxOperandKind::At) continue;
      const Expr& e = f_[operand.expr];
      const bool elsewhere = e.op == ExprOp::AddressOf && f_[e.buffer].scope != Scope::Local;
      if (!e.type.is_pointer() || elsewhere)
        c_.report(DiagKind::BadOperand, span_of(operand),
                  "a register of `{}` is given by {}, expected a pointer to local memory",
                  call_.opcode.text(),
                  elsewhere ? fmt::format("the address of `{}` in {}", f_[e.buffer].name,
                                          name_of(f_[e.buffer].scope))
                            : fmt::format("`{}`", to_text(e.type)));
    }
  }

  void check_address(const PtxOperand& operand) {
    const Type type = f_[operand.expr].type;
    const bool is_number = type.is_int() && type.is_scalar() && num::bits_of(type.dtype) >= 32;
    if (!type.is_pointer() && !is_number)
      c_.report(DiagKind::BadOperand, span_of(operand),
                "an address of `{}` has type `{}`, expected a pointer or `uint32`",
                call_.opcode.text(), to_text(type));
  }

  [[nodiscard]] Span span_of(const PtxOperand& operand) const {
    if (!operand.expr.valid() || !f_[operand.expr].span.known) return span_;
    return f_[operand.expr].span;
  }

  // --- one form ---

  // Tries all ways to give the flat operands to those of the form.
  bool fits(const isa::Binding& binding) {
    return place_operands(
        binding, call_.operands.size(),
        [&](std::span<const PlacedOperand> placed) { return judge(binding, placed); });
  }

  // All operands have found a place: is it an instruction?
  bool judge(const isa::Binding& binding, std::span<const PlacedOperand> all) {
    pool_.clear();
    texts_.clear();
    std::vector<isa::Operand> operands;
    for (const PlacedOperand& placed : all) operands.push_back(made(placed, binding));
    const isa::Instruction instruction{call_.opcode.text(), operands, {}};
    Result<isa::Legal> legal =
        isa::check_forms(call_.opcode.forms(), instruction, target_for(binding));
    if (!legal) {
      if (!problem_) problem_ = std::move(legal).error();
      return false;
    }
    for (const PlacedOperand& placed : all) check_destination(placed);
    for (const PlacedOperand& placed : all) check_space(placed, binding);
    return true;
  }

  // Lowering takes it out, if the kernel says so.
  [[nodiscard]] bool is_replaced() const {
    return f_.level == Level::Tile && c_.options.target && allows_engine_fallback(f_) &&
           needs_engine_fallback(*c_.options.target) && is_of_engine(call_.opcode);
  }

  // Once for each phase, not for every fence.
  void note_fallback() {
    if (call_.opcode.mnemonic() == "mbarrier.arrive.expect_tx" && c_.options.target &&
        needs_engine_fallback(*c_.options.target))
      c_.findings.back().notes.push_back(
          {fmt::format("`T.func_attr({{\"{}\": \"{}\"}})` lets threads copy in place of the copy "
                       "engine",
                       kEngineFallback, kByCpAsync),
           {}});
  }

  // Without a target, the first architecture that has the form.
  [[nodiscard]] target::Target target_for(const isa::Binding& binding) const {
    if (c_.options.target && !is_replaced()) return *c_.options.target;
    const target::ArchSet archs = isa::archs_of(binding);
    target::Target target{.ptx = target::ptx_versions().back()};
    for (const target::ArchInfo& arch : target::kArchs) {
      if (!archs.contains(arch.arch)) continue;
      target.arch = arch.arch;
      break;
    }
    return target;
  }

  isa::Operand composite(OperandKind kind, std::vector<isa::Operand> parts, Span span) {
    isa::Operand out;
    out.kind = kind;
    out.parts = pool_.emplace_back(std::move(parts));
    out.span = span;
    return out;
  }

  isa::Operand made(const PlacedOperand& placed, const isa::Binding& binding) {
    const std::span<const PtxOperand> all(call_.operands);
    const auto own = all.subspan(placed.first, placed.count);
    const OperandSpec& spec = *placed.spec;
    const auto listed = isa::count_of(spec, binding);
    if (spec.role == Role::Address) return address(own, spec);
    const auto type = isa::type_of(spec, binding);
    const std::size_t count = static_cast<std::size_t>(listed.value_or(1));
    isa::Operand main;
    if (listed) {
      std::vector<isa::Operand> parts;
      for (const PtxOperand& operand : own.first(count)) parts.push_back(one(operand, spec, type));
      main = composite(OperandKind::Vector, std::move(parts), span_of(own[0]));
    } else {
      main = one(own[0], spec, type);
    }
    if (placed.count == count) return main;
    std::vector<isa::Operand> pair = {main, one(own[count], spec, isa::Type::Pred)};
    return composite(OperandKind::Pair, std::move(pair), main.span);
  }

  isa::Operand one(const PtxOperand& operand, const OperandSpec& spec,
                   std::optional<isa::Type> wanted) {
    isa::Operand out;
    out.kind = OperandKind::Register;
    out.span = span_of(operand);
    if (operand.kind == PtxOperandKind::Sink) {
      out.kind = OperandKind::Sink;
      return out;
    }
    const Expr& e = f_[operand.expr];
    out.text = name_of_operand(e);
    if (operand.kind == PtxOperandKind::At) {
      out.type = wanted == isa::Type::B128 ? isa::Type::B128 : isa::Type::B32;
    } else if (operand.kind == PtxOperandKind::Predicate) {
      out.type = isa::Type::Pred;
    } else if (operand.kind == PtxOperandKind::Address) {
      out = composite(OperandKind::Address, {base_register(e, operand)}, out.span);
    } else if (is_literal(e, spec)) {
      out.kind = OperandKind::Integer;
      out.value = e.integer;
    } else if (e.type.is_value() || e.type.is_pointer()) {
      out.type = register_for(e.type, wanted);
    } else {
      out.kind = OperandKind::Undeclared;  // a text or nothing at all
    }
    return out;
  }

  // A constant where the form limits the values or takes nothing else.
  static bool is_literal(const Expr& e, const OperandSpec& spec) {
    const bool is_limited = !spec.values.empty() || spec.low <= spec.high;
    return e.op == ExprOp::IntImm && (spec.role == Role::Immediate || is_limited);
  }

  isa::Operand base_register(const Expr& e, const PtxOperand& operand) {
    const int bits = bits_of(e.type);
    isa::Operand out;
    out.kind = OperandKind::Register;
    out.type = bits == 32 ? isa::Type::B32 : bits == 64 ? isa::Type::B64 : isa::Type::B16;
    out.text = name_of_operand(e);
    out.span = span_of(operand);
    return out;
  }

  isa::Operand address(std::span<const PtxOperand> own, const OperandSpec& spec) {
    if (own[0].kind != PtxOperandKind::Address) return one(own[0], spec, std::nullopt);
    std::vector<isa::Operand> parts = {base_register(f_[own[0].expr], own[0])};
    if (own.size() > 1) {
      std::vector<isa::Operand> coordinates;
      for (const PtxOperand& operand : own.subspan(1))
        coordinates.push_back(one(operand, spec, isa::Type::S32));
      parts.push_back(composite(OperandKind::Vector, std::move(coordinates), span_of(own[0])));
    }
    isa::Operand out = composite(OperandKind::Address, std::move(parts), span_of(own[0]));
    out.value = const_int(f_, own[0].offset).value_or(0);
    return out;
  }

  // --- with the form known ---

  void check_destination(const PlacedOperand& placed) {
    if (placed.spec->role != Role::Write) return;
    for (std::size_t i = placed.first; i < placed.first + placed.count; ++i) {
      const PtxOperand& operand = call_.operands[i];
      if (operand.kind == PtxOperandKind::At || operand.kind == PtxOperandKind::Sink) continue;
      const Expr& e = f_[operand.expr];
      if (e.op == ExprOp::Load) continue;
      if (e.op == ExprOp::Var) {
        c_.report(DiagKind::ReadOnly, span_of(operand),
                  "`{}` writes to `{}`, which cannot be assigned", call_.opcode.text(),
                  f_[e.var].name);
      } else {
        c_.report(DiagKind::BadOperand, span_of(operand),
                  "`{}` writes to an expression, expected an element of a buffer",
                  call_.opcode.text());
      }
    }
  }

  // A pointer whose buffer is known must lead where the instruction looks.
  void check_space(const PlacedOperand& placed, const isa::Binding& binding) {
    const PtxOperand& operand = call_.operands[placed.first];
    if (placed.spec->role != Role::Address || operand.kind != PtxOperandKind::Address) return;
    const BufferId id = pointed_to(f_, c_.bound, operand.expr);
    if (!id.valid()) return;
    const Buffer& buffer = f_[id];
    const isa::Space space = isa::space_of(*placed.spec, binding);
    const bool fits = space == isa::Space::Shared || space == isa::Space::SharedCluster
                          ? is_shared(buffer.scope)
                      : space == isa::Space::Global ? buffer.scope == Scope::Global
                      : space == isa::Space::Local  ? buffer.scope == Scope::Local
                                                    : true;
    if (!fits)
      c_.report(DiagKind::BadOperand, span_of(operand), buffer,
                "`{}` addresses the {} space, `{}` is in {}", call_.opcode.text(),
                isa::name_of(space), buffer.name, name_of(buffer.scope));
  }

  // --- messages ---

  std::string_view name_of_operand(const Expr& e) {
    std::string text = "a value";
    if (e.op == ExprOp::Var) text = f_[e.var].name;
    if (e.op == ExprOp::Load || e.op == ExprOp::AddressOf) text = f_[e.buffer].name;
    return texts_.emplace_back(std::move(text));
  }

  [[nodiscard]] Diag wrong_count(const isa::Binding& binding) const {
    return diag(DiagKind::BadOperand, "`{}` with {}; its form is `{}`", call_.opcode.text(),
                counted(call_.operands.size(), "operand", "operands"),
                isa::syntax_line(binding.form()));
  }

  Context& c_;
  const Function& f_;
  const PtxCall& call_;
  Span span_;
  std::optional<Diag> problem_;                 // of the first attempt
  std::deque<std::vector<isa::Operand>> pool_;  // parts of operands, which hold views of them
  std::deque<std::string> texts_;
};

}  // namespace

void check_ptx(Context& c) {
  for_each_stmt(c.f, c.f.body, [&](StmtId id) {
    const Stmt& s = c.f[id];
    if (s.kind == StmtKind::Ptx) PtxCheck(c, c.f[s.ptx], s.span).run();
  });
}

}  // namespace ww::ir::verifying
