// SPDX-License-Identifier: Apache-2.0
#include "ptx/operand.h"

#include <bit>
#include <functional>
#include <limits>

#include "base/check.h"

namespace ww::ptx {

Operand name_operand(NameId name) { return {.kind = OperandKind::Name, .name = name}; }

Operand name_offset(NameId name, std::int64_t offset) {
  Operand operand = int_operand(offset);
  operand.kind = OperandKind::NameOffset;
  operand.name = name;
  return operand;
}

Operand not_name(NameId name) { return {.kind = OperandKind::NotName, .name = name}; }

Operand sink() { return {.kind = OperandKind::Sink}; }

Operand int_operand(std::int64_t value) {
  return {.kind = OperandKind::Int,
          .spelling = {.minus = value < 0},
          .bits = static_cast<std::uint64_t>(value)};
}

Operand hex_operand(std::uint64_t value) {
  return {.kind = OperandKind::Int, .spelling = {.radix = Radix::Hex}, .bits = value};
}

Operand f32_operand(float value) {
  return {.kind = OperandKind::F32, .bits = std::bit_cast<std::uint32_t>(value)};
}

Operand f64_operand(double value) {
  return {.kind = OperandKind::F64, .bits = std::bit_cast<std::uint64_t>(value)};
}

Operand OperandPool::make(OperandKind kind, std::span<const Operand> children) {
  WW_CHECK(has_children(kind), "kind {} has no children", static_cast<int>(kind));
  const Range range = append(children);
  return {.kind = kind, .bits = range.first | static_cast<std::uint64_t>(range.count) << 32U};
}

Range OperandPool::append(std::span<const Operand> operands) {
  if (holds(operands)) return append(std::vector(operands.begin(), operands.end()));
  const std::size_t first = nodes_.size();
  WW_CHECK(operands.size() <= std::numeric_limits<std::uint32_t>::max() - first,
           "{} operands and {} more", first, operands.size());
  for (const Operand& operand : operands) nodes_.push_back(operand);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(operands.size())};
}

bool OperandPool::holds(std::span<const Operand> operands) const {
  const std::less<> before;
  return !before(operands.data(), nodes_.data()) &&
         before(operands.data(), nodes_.data() + nodes_.size());
}

}  // namespace ww::ptx
