// SPDX-License-Identifier: Apache-2.0
#include "ptx/variable_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/check.h"
#include "ptx/resolve.h"

namespace ww::ptx {
namespace {

using target::Feature;
using target::Target;

Diag at_name(Diag problem, const Module& module, const Variable& variable) {
  problem.span = Span::at(variable.offset, variable.offset + module.text(variable.name).size());
  return problem;
}

Diag at_offset(Diag problem, std::uint32_t offset) {
  problem.span = Span::at(offset, offset + 1);
  return problem;
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kMaxVariableBytes / b ? kMaxVariableBytes : a * b;
}

// `[]` has as many elements as its initial value.
std::uint64_t extent_of(const Variable& variable, std::size_t dimension) {
  const std::uint64_t extent = variable.dims[dimension];
  if (extent != kUnsized) return extent;
  const bool counts =
      dimension == 0 && variable.has_init() && variable.init_root().kind == OperandKind::Vector;
  return counts ? variable.init_root().children().count : 0;
}

std::uint64_t element_bytes(const Variable& variable) {
  if (variable.opaque != Opaque::None) return 8;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(isa::info(variable.type).bits) / 8, 1) *
         variable.vector;
}

std::uint64_t single_bytes(const Variable& variable) {
  std::uint64_t bytes = element_bytes(variable);
  for (std::size_t d = 0; d < variable.dims.size(); ++d)
    bytes = saturating_product(bytes, extent_of(variable, d));
  return bytes;
}

std::optional<Diag> type_problem(const Module& module, const Variable& variable, Target target) {
  const std::string_view name = module.text(variable.name);
  const isa::TypeInfo& type = isa::info(variable.type);
  if (variable.type == isa::Type::Pred && variable.space != Space::Reg) {
    return at_name(diag(DiagKind::BadOperand, "the predicate `{}` is not in a register", name),
                   module, variable);
  }
  if (!type.declarable) {
    return at_name(diag(DiagKind::BadOperand,
                        "`.{}` is the type of an instruction, not of a variable", type.name),
                   module, variable);
  }
  if (variable.vector > 4 || type.bits * variable.vector > 128) {
    return at_name(diag(DiagKind::BadOperand,
                        "`.v{} .{}` has {} bits; vectors are `.v2` or `.v4` of at most 128",
                        variable.vector, type.name, type.bits * variable.vector),
                   module, variable);
  }
  if (variable.vector > 1 && variable.space == Space::Param) {
    return at_name(diag(DiagKind::BadOperand,
                        "the parameter `{}` is a vector; give it as `.align {} .b8 {}[{}]`", name,
                        element_bytes(variable), name, element_bytes(variable)),
                   module, variable);
  }
  if (variable.type == isa::Type::B128) {
    if (auto problem = isa::lacking("`.b128`", Feature::Sm75, 83, target))
      return at_name(std::move(*problem), module, variable);
  }
  return std::nullopt;
}

/// Walks over an initial value.
class Initializer {
 public:
  Initializer(const Module& module, const Scope& scope, const Variable& variable,
              std::optional<std::size_t> item)
      : module_(module), scope_(scope), variable_(variable), item_(item) {}

  [[nodiscard]] std::optional<Diag> problem() const {
    const isa::Type type = variable_.type;
    if (isa::info(type).bits == 16 && isa::info(type).cls == isa::TypeClass::Float)
      return bad("a `.{}` variable cannot have an initial value", isa::info(type).name);
    return check(variable_.init_root(), 0);
  }

 private:
  template <typename... Args>
  [[nodiscard]] std::optional<Diag> bad(fmt::format_string<Args...> format, Args&&... args) const {
    return at_name(diag(DiagKind::BadOperand, format, std::forward<Args>(args)...), module_,
                   variable_);
  }

  // Dimensions from the outermost, then the elements of a vector, then numbers.
  [[nodiscard]] std::optional<Diag> check(const Operand& value, std::size_t level) const {
    const std::size_t dims = variable_.dims.size();
    const bool is_vector = level == dims && variable_.vector > 1;
    if (level == dims && !is_vector) return check_number(value);
    if (level > dims) return check_number(value);
    if (value.kind != OperandKind::Vector) {
      return bad("the initial value of `{}` has a number where braces are expected",
                 module_.text(variable_.name));
    }
    const auto children = variable_.init.children(value);
    const std::uint64_t room = is_vector ? variable_.vector : variable_.dims[level];
    if (children.size() > room || (is_vector && children.size() != room)) {
      return bad("the initial value of `{}` has {} elements in braces for {}",
                 module_.text(variable_.name), children.size(), room);
    }
    for (const Operand& child : children) {
      if (auto problem = check(child, level + 1)) return problem;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Diag> check_number(const Operand& value) const {
    const isa::TypeClass cls = isa::info(variable_.type).cls;
    const bool is_float = cls == isa::TypeClass::Float;
    const bool is_bits = cls == isa::TypeClass::Bits;
    switch (value.kind) {
      case OperandKind::Vector:
        return bad("the initial value of `{}` has braces where a number is expected",
                   module_.text(variable_.name));
      case OperandKind::Int:
        if (!is_float) return std::nullopt;
        return bad("the integer {} is not a `.{}` value", value.value(),
                   isa::info(variable_.type).name);
      case OperandKind::F32:
      case OperandKind::F64:
      case OperandKind::Decimal:
        if (is_float || is_bits) return std::nullopt;
        return bad("a floating-point number is not a `.{}` value", isa::info(variable_.type).name);
      case OperandKind::Mask:
        return check_mask(variable_.init.children(value));
      default:
        return check_address(value, 32);
    }
  }

  // ptxas: a mask takes one byte of the address out.
  [[nodiscard]] std::optional<Diag> check_mask(std::span<const Operand> parts) const {
    const std::uint64_t mask = parts[0].bits;
    const bool is_byte = mask != 0 && mask >> (std::countr_zero(mask) / 8 * 8) == 0xFF;
    if (!is_byte) return bad("the mask 0x{:x} does not select one byte of an address", mask);
    return check_address(parts[1], 8);
  }

  [[nodiscard]] std::optional<Diag> check_address(const Operand& value, int fewest_bits) const {
    const std::string_view text = module_.text(value.name);
    if (value.kind == OperandKind::Name && text == "WARP_SZ") return std::nullopt;
    const Declared what = item_ ? scope_.find_global(value.name, *item_) : scope_.find(value.name);
    const bool is_function = what.kind == Declared::Kind::Function;
    const bool is_variable = what.kind == Declared::Kind::Variable &&
                             (what.space == Space::Global || what.space == Space::Const);
    const bool is_plain = value.kind == OperandKind::Name;
    if ((!is_function || !is_plain) && !is_variable) {
      auto problem =
          bad("the initial value `{}` is not an address that is known before the launch: a "
              "`.global` or `.const` variable or a function declared above",
              text);
      if (auto note = scope_.elsewhere(value.name)) problem->notes.push_back(std::move(*note));
      return problem;
    }
    const isa::TypeInfo& type = isa::info(variable_.type);
    if (type.cls == isa::TypeClass::Unsigned && type.bits >= fewest_bits) return std::nullopt;
    return bad("the address of `{}` is not a `.{}` value; it fits `.u64`, or byte by byte `.u8`",
               text, type.name);
  }

  const Module& module_;
  const Scope& scope_;
  const Variable& variable_;
  std::optional<std::size_t> item_;
};

}  // namespace

std::uint64_t align_in_bytes(const Variable& variable) {
  return variable.align != 0 ? variable.align : element_bytes(variable);
}

std::uint64_t member_bytes(const Variable& variable) {
  const std::uint64_t align = align_in_bytes(variable);
  return (single_bytes(variable) + align - 1) / align * align;
}

std::uint64_t size_in_bytes(const Variable& variable) {
  if (variable.count == kSingle) return single_bytes(variable);
  return saturating_product(member_bytes(variable), variable.count);
}

std::optional<Diag> variable_problem(const Module& module, const Variable& variable,
                                     Target target) {
  if (variable.opaque != Opaque::None) return std::nullopt;
  if (auto problem = type_problem(module, variable, target)) return problem;
  const bool may_begin = variable.space == Space::Global || variable.space == Space::Const;
  if (variable.has_init() && !may_begin) {
    return at_name(diag(DiagKind::BadOperand,
                        "`{}` cannot have an initial value; only `.global` and "
                        "`.const` variables can",
                        module.text(variable.name)),
                   module, variable);
  }
  return std::nullopt;
}

std::optional<Diag> global_problem(const Module& module, const Variable& variable) {
  if (variable.space != Space::Local && variable.space != Space::Param) return std::nullopt;
  return at_name(
      diag(DiagKind::BadOperand, "`{}` is in `.{}`, which only functions have; declare it in one",
           module.text(variable.name), isa::name_of(address_space(variable.space))),
      module, variable);
}

std::optional<Diag> extents_problem(const Module& module, const Variable& variable) {
  const std::string_view name = module.text(variable.name);
  for (std::size_t d = 0; d < variable.dims.size(); ++d) {
    if (d > 0 && (variable.dims[d] == kUnsized || variable.dims[d] == 0)) {
      return at_name(
          diag(DiagKind::BadOperand,
               "extent {} of `{}` is missing or 0; only the first can be left out", d + 1, name),
          module, variable);
    }
  }
  const bool is_open = !variable.dims.empty() && single_bytes(variable) == 0;
  if (!is_open || variable.linkage == Linkage::Extern) return std::nullopt;
  return at_name(diag(DiagKind::BadOperand,
                      "`{}` has no size; give its first extent, or declare it `.extern`", name),
                 module, variable);
}

std::optional<Diag> parameter_problem(const Module& module, const Variable& param,
                                      FunctionKind kind) {
  const std::string_view name = module.text(param.name);
  const bool is_entry = kind == FunctionKind::Entry;
  if (is_entry && param.space != Space::Param) {
    return at_name(diag(DiagKind::BadOperand,
                        "the parameter `{}` of a kernel is in `.reg`, expected `.param`", name),
                   module, param);
  }
  if (param.dims.size() > 1) {
    return at_name(diag(DiagKind::BadOperand, "the parameter `{}` has {} extents; one is allowed",
                        name, param.dims.size()),
                   module, param);
  }
  if (is_entry && size_in_bytes(param) == 0) {
    return at_name(diag(DiagKind::BadOperand,
                        "the parameter `{}` has no size; parameters of a kernel need one", name),
                   module, param);
  }
  return std::nullopt;
}

std::optional<Diag> initializer_problem(const Module& module, const Scope& scope,
                                        const Variable& variable, std::optional<std::size_t> item) {
  if (!variable.has_init()) return std::nullopt;
  return Initializer(module, scope, variable, item).problem();
}

std::optional<Diag> register_problem(const Function& function, const RegisterDecl& decl,
                                     Target target) {
  const std::uint32_t offset =
      function.names_of(decl).empty() ? 0 : function.names_of(decl)[0].offset;
  const isa::TypeInfo& type = isa::info(decl.type);
  if (!type.declarable) {
    return at_offset(diag(DiagKind::BadOperand,
                          "`.{}` is the type of an instruction, not of a register", type.name),
                     offset);
  }
  if (decl.vector > 4) {
    return at_offset(
        diag(DiagKind::BadOperand, "registers are `.v2` or `.v4`, not `.v{}`", decl.vector),
        offset);
  }
  if (type.bits * decl.vector > 128) {
    return at_offset(diag(DiagKind::BadOperand, "`.v{} .{}` has {} bits; vectors have at most 128",
                          decl.vector, type.name, type.bits * decl.vector),
                     offset);
  }
  if (decl.type == isa::Type::B128) {
    if (auto problem = isa::lacking("`.b128`", Feature::Sm75, 83, target))
      return at_offset(std::move(*problem), offset);
  }
  return std::nullopt;
}

}  // namespace ww::ptx
