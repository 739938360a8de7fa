// SPDX-License-Identifier: Apache-2.0
#include "isa/example.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/join.h"
#include "isa/match_operands.h"

namespace ww::isa {
namespace {

// What stays open once the modifiers are known.
struct Choices {
  unsigned optional = 0;                  // bit i: the i-th optional operand is there
  bool drop_results = false;              // `_` for every result that may be dropped
  std::optional<std::int64_t> immediate;  // where it is allowed, instead of the first allowed value
};

std::int64_t first_allowed(const OperandSpec& spec) {
  if (!spec.values.empty()) return spec.values.front();
  return spec.low <= spec.high ? spec.low : 0;
}

// Makes the operands of one instruction and keeps what they point to.
class Maker {
 public:
  Maker(const Binding& binding, const Choices& choices) : binding_(binding), choices_(choices) {
    unsigned optional_seen = 0;
    for (const OperandSpec& spec : binding.form().operands) {
      if (spec.present && !binding.holds(*spec.present)) continue;
      if (spec.optional && (choices.optional >> optional_seen++ & 1U) == 0) continue;
      operands_.push_back(operand(spec));
    }
  }

  [[nodiscard]] std::span<const Operand> operands() const { return operands_; }

 private:
  Operand operand(const OperandSpec& spec) {
    switch (spec.role) {
      case Role::Write:
      case Role::Read:
        return value(spec);
      case Role::Immediate:
        return immediate(spec);
      case Role::Address:
        return address(spec);
      case Role::Label:
        return named(OperandKind::Label, Type::B32, "L");
      case Role::Targets:
        return named(OperandKind::Targets, Type::B32, "L");
      case Role::Rest:
        break;
    }
    return {};
  }

  Operand value(const OperandSpec& spec) {
    const bool drop = choices_.drop_results && spec.sink && spec.role == Role::Write;
    const Type type = type_of(spec, binding_).value_or(Type::B32);
    const auto count = count_of(spec, binding_);
    const Operand main = count  ? list(type, *count)
                         : drop ? named(OperandKind::Sink, type, "_")
                                : register_of(type);
    if (spec.pair != OperandSpec::Pair::Required) return main;
    return compound(OperandKind::Pair, {main, register_of(Type::Pred)});
  }

  Operand immediate(const OperandSpec& spec) {
    Operand made;
    made.kind = OperandKind::Integer;
    const bool chosen = choices_.immediate && spec.allows(*choices_.immediate);
    made.value = chosen ? *choices_.immediate : first_allowed(spec);
    return made;
  }

  Operand address(const OperandSpec& spec) {
    const Space space = space_of(spec, binding_);
    const bool narrow =
        space == Space::Shared || space == Space::SharedCluster || space == Space::Tensor;
    std::vector<Operand> parts = {register_of(narrow ? Type::B32 : Type::B64)};
    if (const auto count = count_of(spec, binding_)) parts.push_back(list(Type::B32, *count));
    return compound(OperandKind::Address, std::move(parts));
  }

  Operand list(Type type, int count) {
    std::vector<Operand> parts;
    for (int i = 0; i < count; ++i) parts.push_back(register_of(type));
    return compound(OperandKind::Vector, std::move(parts));
  }

  Operand register_of(Type type) {
    const Type declared = bits_type(info(type).bits);
    int& number = numbers_[static_cast<std::size_t>(declared)];
    return named(OperandKind::Register, declared,
                 fmt::format("{}{}", register_prefix(info(declared).bits), number++));
  }

  Operand named(OperandKind kind, Type type, std::string name) {
    Operand made;
    made.kind = kind;
    made.type = type;
    made.text = names_.emplace_back(std::move(name));
    return made;
  }

  Operand compound(OperandKind kind, std::vector<Operand> parts) {
    Operand made;
    made.kind = kind;
    made.parts = parts_.emplace_back(std::move(parts));
    return made;
  }

  const Binding& binding_;
  const Choices& choices_;
  std::vector<Operand> operands_;
  std::deque<std::string> names_;
  std::deque<std::vector<Operand>> parts_;
  std::array<int, 64> numbers_{};  // by declared type: the next register
};

std::string text_of(const Operand& operand) {
  std::vector<std::string> parts;
  for (const Operand& part : operand.parts) parts.push_back(text_of(part));
  switch (operand.kind) {
    case OperandKind::Integer:
      return fmt::format("{}", operand.value);
    case OperandKind::Vector:
      return fmt::format("{{{}}}", join(parts, ", "));
    case OperandKind::Address:
      return fmt::format("[{}]", join(parts, ", "));
    case OperandKind::Pair:
      return join(parts, "|");
    default:
      return std::string(operand.text);
  }
}

bool is_legal(const Binding& binding, std::span<const Operand> operands) {
  if (match_operands(binding, operands).problem) return false;
  const auto verify = binding.form().row->verify;
  return verify == nullptr || verify(binding, operands).empty();
}

std::optional<std::string> attempt(const Binding& binding, const Choices& choices) {
  const Maker maker(binding, choices);
  if (!is_legal(binding, maker.operands())) return std::nullopt;
  std::vector<std::string> texts;
  for (const Operand& operand : maker.operands()) texts.push_back(text_of(operand));
  return fmt::format("{}{}{};", binding.opcode(), texts.empty() ? "" : " ", join(texts, ", "));
}

}  // namespace

std::string_view register_prefix(int bits) {
  static constexpr std::pair<int, std::string_view> kPrefixes[] = {
      {1, "%p"}, {8, "%b"}, {16, "%rs"}, {32, "%r"}, {64, "%rd"}};
  for (const auto& [width, prefix] : kPrefixes)
    if (width == bits) return prefix;
  return "%rq";
}

std::string example(const Binding& binding) {
  const std::vector<OperandSpec>& specs = binding.form().operands;
  if (std::ranges::find(specs, Role::Rest, &OperandSpec::role) != specs.end()) return "";
  const auto optional = std::ranges::count(specs, true, &OperandSpec::optional);
  for (unsigned chosen = 0; chosen < 1U << optional; ++chosen) {
    for (const bool drop : {false, true}) {
      for (const auto immediate : {-1, 0, 1, 16, 32, 128}) {
        Choices choices{chosen, drop, std::nullopt};
        if (immediate >= 0) choices.immediate = immediate;
        if (auto text = attempt(binding, choices)) return *text;
      }
    }
  }
  return "";
}

}  // namespace ww::isa
