// SPDX-License-Identifier: Apache-2.0
#include "isa/match_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "isa/operand.h"
#include "isa/special_registers.h"
#include "isa/type.h"

namespace ww::isa {

// --- operand words -------------------------------------------------------------------------------
//
// Operands in words, for messages.

namespace {

// "a register", "a list in braces".
std::string_view kind_text(OperandKind kind) {
  switch (kind) {
    case OperandKind::Register:
      return "a register";
    case OperandKind::Part:
      return "a part of a register";
    case OperandKind::Special:
      return "a special register";
    case OperandKind::Integer:
      return "an integer";
    case OperandKind::Decimal:
    case OperandKind::F32Bits:
    case OperandKind::F64Bits:
      return "a floating-point number";
    case OperandKind::Symbol:
      return "a variable";
    case OperandKind::Label:
      return "a label";
    case OperandKind::Targets:
      return "a list of labels";
    case OperandKind::Function:
      return "a function";
    case OperandKind::Callees:
      return "a list of functions or a prototype";
    case OperandKind::Sink:
      return "`_`";
    case OperandKind::Vector:
      return "a list in braces";
    case OperandKind::Address:
      return "an address";
    case OperandKind::Pair:
      return "a pair";
    case OperandKind::List:
      return "a list in parentheses";
    case OperandKind::Undeclared:
      return "an undeclared name";
  }
  return "";
}

// What an operand is, with the declared type of a register: "a `.b64` register".
std::string seen(const Operand& operand) {
  if (operand.kind != OperandKind::Register) return std::string(kind_text(operand.kind));
  return fmt::format("a `.{}` register", info(operand.type).name);
}

// What a register must be to hold a value of the type: "any 32-bit type, or wider".
std::string wanted_text(Type type, bool wider) {
  const TypeInfo& t = info(type);
  std::string text;
  switch (t.cls) {
    case TypeClass::Pred:
      return "a predicate";
    case TypeClass::Bits:
      text = fmt::format("any {}-bit type", t.bits);
      break;
    case TypeClass::Unsigned:
    case TypeClass::Signed:
      text = fmt::format("`.b{0}`, `.s{0}` or `.u{0}`", t.bits);
      break;
    case TypeClass::Float:
      text = fmt::format("`.b{}` or `.{}`", t.bits, t.name);
      break;
    case TypeClass::Other:
      text = fmt::format("`.b{}`", t.bits);
      break;
  }
  return wider ? text + ", or wider" : text;
}

using Problem = std::optional<OperandProblem>;

OperandProblem shape(const Operand& operand, std::string text) {
  return {Stage::OperandShape, std::move(text), operand.span};
}
OperandProblem types(const Operand& operand, std::string text) {
  return {Stage::OperandTypes, std::move(text), operand.span};
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool is_float(Type type) { return info(type).cls == TypeClass::Float; }

// ptxas: an integer literal is no float and the other way round; `0f` bits also fit `.b32`.
bool literal_fits(OperandKind literal, Type wanted) {
  switch (literal) {
    case OperandKind::Integer:
      return !is_float(wanted) && wanted != Type::Bf16 && wanted != Type::Bf16x2;
    case OperandKind::Decimal:
      return wanted == Type::F32 || wanted == Type::F64 || wanted == Type::B64;
    case OperandKind::F32Bits:
      return wanted == Type::F32 || wanted == Type::B32 || wanted == Type::F64;
    case OperandKind::F64Bits:
      return wanted == Type::F64 || wanted == Type::B64 || wanted == Type::F32;
    default:
      return false;
  }
}

class OperandMatcher {
 public:
  OperandMatcher(const Binding& binding, std::span<const Operand> operands)
      : binding_(binding), form_(binding.form()), operands_(operands) {
    match_.operand_of.assign(form_.operands.size(), -1);
  }

  OperandMatch run() {
    if (place(0, 0)) {
      match_.problem.reset();
    } else {
      match_.problem = std::move(furthest_);
    }
    return std::move(match_);
  }

 private:
  // Places operands from `given` on against the form's from `wanted` on.
  bool place(std::size_t wanted, std::size_t given) {
    if (wanted == form_.operands.size()) {
      return given == operands_.size() || give_up(given, too_many(given));
    }
    const OperandSpec& spec = form_.operands[wanted];
    if (spec.role == Role::Rest) return true;
    const bool expected = !spec.present || binding_.holds(*spec.present);
    if (expected) {
      if (given < operands_.size()) {
        Problem problem = check(spec, operands_[given]);
        if (!problem) {
          match_.operand_of[wanted] = static_cast<int>(given);
          if (place(wanted + 1, given + 1)) return true;
          match_.operand_of[wanted] = -1;
        } else {
          give_up(given, std::move(*problem));
        }
      } else if (!spec.optional) {
        return give_up(given, too_few(spec));
      }
      if (!spec.optional) return false;
    }
    return place(wanted + 1, given);
  }

  // Remembers the problem of the attempt that came furthest.
  bool give_up(std::size_t given, OperandProblem problem) {
    const std::pair rank{given, problem.stage};
    if (!furthest_ || rank > furthest_rank_) {
      furthest_ = std::move(problem);
      furthest_rank_ = rank;
    }
    return false;
  }

  [[nodiscard]] OperandProblem too_many(std::size_t given) const {
    return shape(operands_[given], fmt::format("`{}` takes no operand here; its form is `{}`",
                                               form_.mnemonic, syntax_line(form_)));
  }
  [[nodiscard]] OperandProblem too_few(const OperandSpec& spec) const {
    Span span;
    if (!operands_.empty()) span = operands_.back().span;
    return {Stage::OperandShape,
            fmt::format("operand `{}` is missing; the form is `{}`", spec.name, syntax_line(form_)),
            span};
  }

  [[nodiscard]] Problem check(const OperandSpec& spec, const Operand& operand) const {
    if (operand.kind == OperandKind::Undeclared) {
      return types(operand, fmt::format("`{}` is not declared", operand.text));
    }
    switch (spec.role) {
      case Role::Write:
      case Role::Read:
        return check_value(spec, operand);
      case Role::Immediate:
        return check_immediate(spec, operand);
      case Role::Address:
        return check_address(spec, operand);
      case Role::Label:
        return check_target(spec, operand, OperandKind::Label);
      case Role::Targets:
        return check_target(spec, operand, OperandKind::Targets);
      case Role::Rest:
        return std::nullopt;
    }
    return std::nullopt;
  }

  static Problem check_target(const OperandSpec& spec, const Operand& operand, OperandKind wanted) {
    if (operand.kind == wanted && !operand.has_offset) return std::nullopt;
    return shape(
        operand,
        fmt::format("operand `{}` is {}{}, {} is wanted", spec.name, kind_text(operand.kind),
                    operand.has_offset ? " with an offset" : "", kind_text(wanted)));
  }

  [[nodiscard]] Problem check_value(const OperandSpec& spec, const Operand& operand) const {
    const Operand* main = &operand;
    if (operand.kind == OperandKind::Pair) {
      if (spec.pair == OperandSpec::Pair::None) {
        return shape(operand,
                     fmt::format("operand `{}` of `{}` takes no second result behind a bar",
                                 spec.name, form_.mnemonic));
      }
      const bool may_drop = spec.pair == OperandSpec::Pair::Optional;
      if (Problem problem = check_second(operand.parts[1], may_drop)) return problem;
      main = operand.parts.data();
      if (main->kind == OperandKind::Sink && operand.parts[1].kind == OperandKind::Sink)
        return shape(operand, "at least one of the two results must not be `_`");
    } else if (spec.pair == OperandSpec::Pair::Required) {
      return shape(operand, fmt::format("operand `{}` of `{}` needs a predicate behind a bar",
                                        spec.name, form_.mnemonic));
    }
    if (const auto count = count_of(spec, binding_)) return check_list(spec, *main, *count);
    const bool is_braced = spec.braces && main->kind == OperandKind::Vector;
    return is_braced ? check_list(spec, *main, 1) : check_scalar(spec, *main);
  }

  // A second result that need not be there may be dropped, too.
  [[nodiscard]] static Problem check_second(const Operand& second, bool may_drop) {
    if (second.kind == OperandKind::Sink && may_drop) return std::nullopt;
    if (second.kind == OperandKind::Register && second.type == Type::Pred) return std::nullopt;
    return types(second,
                 fmt::format("the second result is {}, a predicate is wanted", seen(second)));
  }

  [[nodiscard]] Problem check_list(const OperandSpec& spec, const Operand& operand,
                                   int count) const {
    if (operand.kind == OperandKind::Register && operand.lanes == count && count > 1)
      return check_register(spec, operand);  // a `.v4` register stands for its four
    if (operand.kind == OperandKind::Special && operand.lanes == count && spec.special)
      return check_whole_special(spec, operand);  // `%tid` as well
    if (operand.kind != OperandKind::Vector) {
      return shape(operand, fmt::format("operand `{}` is {}, a list in braces is wanted", spec.name,
                                        kind_text(operand.kind)));
    }
    if (operand.parts.size() != static_cast<std::size_t>(count)) {
      return shape(operand, fmt::format("operand `{}` has {}, `{}` takes {}", spec.name,
                                        counted(operand.parts.size(), "register"),
                                        binding_.opcode(), count));
    }
    if (std::ranges::all_of(operand.parts,
                            [](const Operand& part) { return part.kind == OperandKind::Sink; })) {
      return shape(operand, "at least one element of the list must not be `_`");
    }
    for (const Operand& part : operand.parts) {
      if (part.kind == OperandKind::Undeclared)
        return types(part, fmt::format("`{}` is not declared", part.text));
      if (Problem problem = check_scalar(spec, part)) return problem;
    }
    return std::nullopt;
  }

  // ptxas: what may be dropped from a list may not be dropped as the only result.
  [[nodiscard]] bool is_single(const OperandSpec& spec) const {
    return spec.count == OperandSpec::Count::BySlot && !count_of(spec, binding_);
  }

  [[nodiscard]] Problem check_whole_special(const OperandSpec& spec, const Operand& operand) const {
    const auto wanted = type_of(spec, binding_);
    if (!wanted || accepts(*wanted, operand.type)) return std::nullopt;
    return types(operand, fmt::format("`{}` is `.{}`; operand `{}` of `{}` takes {}", operand.text,
                                      info(operand.type).name, spec.name, binding_.opcode(),
                                      wanted_text(*wanted, false)));
  }

  [[nodiscard]] Problem check_scalar(const OperandSpec& spec, const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::Register:
        if (operand.lanes == 1) return check_register(spec, operand);
        break;
      case OperandKind::Part:
        if (spec.select != Select::None) return check_part(spec, operand);
        break;
      case OperandKind::Special:
        if (operand.lanes > 1) {
          return shape(operand, fmt::format("`{0}` has four components; name one, as in `{0}.x`",
                                            operand.text));
        }
        if (!spec.special) {
          return shape(operand, fmt::format("`{}` cannot read the special register `{}`; move it "
                                            "into a register first",
                                            form_.mnemonic, operand.text));
        }
        return check_register(spec, operand);
      case OperandKind::Integer:
      case OperandKind::Decimal:
      case OperandKind::F32Bits:
      case OperandKind::F64Bits:
        return check_literal(spec, operand);
      case OperandKind::Sink:
        if (spec.sink && !is_single(spec)) return std::nullopt;
        return shape(operand, spec.role == Role::Write
                                  ? fmt::format("`{}` cannot drop its result `{}`", form_.mnemonic,
                                                spec.name)
                                  : fmt::format("`_` is not a value; `{}` reads operand `{}`",
                                                form_.mnemonic, spec.name));
      case OperandKind::Symbol:
        if (spec.symbol || (operand.has_offset && spec.role == Role::Read))
          return check_symbol(spec, operand);
        break;
      case OperandKind::Function:
        if (spec.symbol && !operand.has_offset) return check_symbol(spec, operand);
        break;
      default:
        break;
    }
    const bool only_register = spec.role == Role::Write || spec.register_only;
    return shape(operand, fmt::format("operand `{}` of `{}` is {}, {} is wanted", spec.name,
                                      form_.mnemonic, kind_text(operand.kind),
                                      only_register ? "a register" : "a register or a constant"));
  }

  // An address is a number: no float and no predicate. ptxas takes it in any width.
  [[nodiscard]] Problem check_symbol(const OperandSpec& spec, const Operand& operand) const {
    if (operand.is_indexed && !operand.is_array)
      return shape(operand, fmt::format("`{}` has an index but is not an array", operand.text));
    const auto wanted = type_of(spec, binding_);
    if (!wanted || is_whole(*wanted)) return std::nullopt;
    return types(operand, fmt::format("the address of `{}` is not a `.{}` value", operand.text,
                                      info(*wanted).name));
  }

  [[nodiscard]] Problem check_register(const OperandSpec& spec, const Operand& operand) const {
    const auto wanted = type_of(spec, binding_);
    if (!wanted) return std::nullopt;
    if (operand.negated && operand.type != Type::Pred) {
      return shape(operand, fmt::format("`{}` is declared `.{}`; only predicates can be negated",
                                        operand.text, info(operand.type).name));
    }
    if (operand.negated && spec.role == Role::Write) {
      return shape(operand, fmt::format("operand `{}` of `{}` is written and cannot be negated",
                                        spec.name, form_.mnemonic));
    }
    if (Problem problem = check_offset(spec, operand)) return problem;
    const Width width = spec.wider ? Width::OrWider : Width::Exact;
    const bool fits = operand.kind == OperandKind::Special
                          ? special_accepts(operand.text, *wanted, width)
                          : accepts(*wanted, operand.type, width);
    if (fits) return std::nullopt;
    return types(operand, fmt::format("`{}` is declared `.{}`; operand `{}` of `{}` takes {}",
                                      operand.text, info(operand.type).name, spec.name,
                                      binding_.opcode(), wanted_text(*wanted, spec.wider)));
  }

  [[nodiscard]] Problem check_part(const OperandSpec& spec, const Operand& operand) const {
    const bool is_result = spec.role == Role::Write;
    if (allows_selection(spec.select, is_result, operand.selection))
      return check_register(spec, operand);
    return types(operand, fmt::format("`{}` selects `.{}`; operand `{}` of `{}` takes {}",
                                      operand.text, operand.selection, spec.name, form_.mnemonic,
                                      selection_text(spec.select, is_result)));
  }

  // `r+4` is the sum wherever a register is read, as ptxas has it; of floats and predicates it
  // makes nothing.
  [[nodiscard]] static Problem check_offset(const OperandSpec& spec, const Operand& operand) {
    if (operand.is_indexed)
      return shape(operand, fmt::format("`{}` has an index but is not an array", operand.text));
    if (!operand.has_offset) return std::nullopt;
    if (spec.role == Role::Write) {
      return shape(operand,
                   fmt::format("operand `{}` is written; nothing can be added to `{}` here",
                               spec.name, operand.text));
    }
    if (is_whole(operand.type)) return std::nullopt;
    return shape(operand, fmt::format("`{}` is declared `.{}`; an offset can be added to integers "
                                      "only",
                                      operand.text, info(operand.type).name));
  }

  [[nodiscard]] Problem check_literal(const OperandSpec& spec, const Operand& operand) const {
    if (spec.role == Role::Write || spec.register_only) {
      return shape(operand, fmt::format("operand `{}` of `{}` must be a register", spec.name,
                                        form_.mnemonic));
    }
    const auto wanted = type_of(spec, binding_);
    if (wanted && !literal_fits(operand.kind, *wanted)) {
      const bool integer = operand.kind == OperandKind::Integer;
      return types(operand, fmt::format("{} is not a `.{}` value",
                                        integer ? fmt::format("the integer {}", operand.value)
                                                : "a floating-point number",
                                        info(*wanted).name));
    }
    return check_range(spec, operand);
  }

  [[nodiscard]] static Problem check_range(const OperandSpec& spec, const Operand& operand) {
    if (operand.kind != OperandKind::Integer || spec.allows(operand.value)) return std::nullopt;
    return types(operand, fmt::format("operand `{}` is {}, allowed: {}", spec.name, operand.value,
                                      spec.values_text()));
  }

  [[nodiscard]] Problem check_immediate(const OperandSpec& spec, const Operand& operand) const {
    if (operand.kind != OperandKind::Integer) {
      return shape(operand, fmt::format("operand `{}` of `{}` must be a constant", spec.name,
                                        form_.mnemonic));
    }
    return check_range(spec, operand);
  }

  // --- addresses ---

  [[nodiscard]] Problem check_address(const OperandSpec& spec, const Operand& operand) const {
    // ptxas: `table[4]` is an address, too, of `ld` and `st`.
    const bool takes_index = form_.mnemonic == "ld" || form_.mnemonic == "st";
    if (operand.kind == OperandKind::Symbol && operand.is_indexed && takes_index) {
      if (Problem problem = check_symbol(spec, operand)) return problem;
      return check_address_symbol(spec, operand);
    }
    if (operand.kind != OperandKind::Address) {
      return shape(operand, fmt::format("operand `{}` is {}, an address in brackets is wanted",
                                        spec.name, kind_text(operand.kind)));
    }
    if (Problem problem = check_coordinates(spec, operand)) return problem;
    const Operand& base = operand.parts[0];
    switch (base.kind) {
      case OperandKind::Register:
        return check_address_register(spec, base);
      case OperandKind::Symbol:
        return check_address_symbol(spec, base);
      case OperandKind::Integer:
        return check_address_number(spec, base);
      case OperandKind::Undeclared:
        return types(base, fmt::format("`{}` is not declared", base.text));
      default:
        return shape(base, fmt::format("{} is not an address", kind_text(base.kind)));
    }
  }

  [[nodiscard]] Problem check_coordinates(const OperandSpec& spec, const Operand& operand) const {
    const auto count = count_of(spec, binding_);
    const bool given = operand.parts.size() > 1;
    if (!count && !given) return std::nullopt;
    if (!count) return shape(operand, fmt::format("address `{}` takes no coordinates", spec.name));
    const std::size_t have = given ? operand.parts[1].parts.size() : 0;
    if (have != static_cast<std::size_t>(*count)) {
      return shape(operand, fmt::format("address `{}` has {}, `{}` takes {}", spec.name,
                                        counted(have, "coordinate"), binding_.opcode(), *count));
    }
    if (operand.parts[0].value != 0) {
      return shape(operand,
                   fmt::format("address `{}` has coordinates and takes no offset", spec.name));
    }
    for (const Operand& part : operand.parts[1].parts) {
      const Type wanted = coordinate_type(&part == operand.parts[1].parts.data());
      const bool good = literal_fits(part.kind, wanted) ||
                        (part.kind == OperandKind::Register && accepts(wanted, part.type));
      if (!good) {
        return types(part, fmt::format("a coordinate is {}, a 32-bit {} is wanted", seen(part),
                                       wanted == Type::F32 ? "float" : "integer"));
      }
    }
    return std::nullopt;
  }

  // Textures may have coordinates of floats, but for the layer, which comes first.
  [[nodiscard]] Type coordinate_type(bool is_first) const {
    const bool is_layer = is_first && binding_.word("geom").is_one_of({"a1d", "a2d", "acube"});
    return binding_.word("ctype") == "f32" && !is_layer ? Type::F32 : Type::S32;
  }

  // ptxas: addresses in the small windows may be 32 bits wide, tensor ones must be; others are 64.
  [[nodiscard]] Problem check_address_register(const OperandSpec& spec, const Operand& base) const {
    const Space space = space_of(spec, binding_);
    const int bits = info(base.type).bits;
    const bool short_fits = space != Space::Global && space != Space::Generic;
    const bool fits =
        space == Space::Tensor ? bits == 32 : bits == 64 || (short_fits && bits == 32);
    if (is_whole(base.type) && fits && base.lanes == 1) return std::nullopt;
    return types(base, fmt::format("`{}` is declared `.{}`; an address in the {} space is {}",
                                   base.text, info(base.type).name, name_of(space),
                                   space == Space::Tensor ? "a 32-bit integer"
                                   : short_fits           ? "a 32- or 64-bit integer"
                                                          : "a 64-bit integer"));
  }

  [[nodiscard]] Problem check_address_symbol(const OperandSpec& spec, const Operand& base) const {
    const Space wanted = space_of(spec, binding_);
    const bool shared = base.space == Space::Shared;
    const bool in_window = base.space != Space::Const && base.space != Space::Param;
    if (wanted == Space::Generic && in_window) return std::nullopt;
    if (wanted == base.space || (shared && wanted == Space::SharedCluster)) return std::nullopt;
    return types(base,
                 fmt::format("`{}` is in the {} space, `{}` addresses the {} space", base.text,
                             name_of(base.space), binding_.opcode(), name_of(wanted)));
  }

  [[nodiscard]] Problem check_address_number(const OperandSpec& spec, const Operand& base) const {
    if (space_of(spec, binding_) == Space::Local) return std::nullopt;
    return types(base, fmt::format("{} is a plain number, which is an address in the local space "
                                   "only",
                                   base.text));
  }

  const Binding& binding_;
  const Form& form_;
  std::span<const Operand> operands_;
  OperandMatch match_;
  Problem furthest_;
  std::pair<std::size_t, Stage> furthest_rank_{};
};

}  // namespace

OperandMatch match_operands(const Binding& binding, std::span<const Operand> operands) {
  return OperandMatcher(binding, operands).run();
}

}  // namespace ww::isa
