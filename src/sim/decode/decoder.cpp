// SPDX-License-Identifier: Apache-2.0
#include "sim/decode/decoder.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "num/float_format.h"
#include "sim/decode/function_decoder.h"
#include "sim/ops/families.h"

namespace ww::sim {

std::uint64_t number_bits(const isa::Operand& number, isa::Type type) {
  const auto bits = static_cast<std::uint64_t>(number.value);
  const auto type_bits = isa::info(type).bits;
  switch (number.kind) {
    case isa::OperandKind::F32Bits:
      if (type != isa::Type::F64) return bits;
      return std::bit_cast<std::uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    case isa::OperandKind::F64Bits:
      if (type_bits == 64) return bits;
      return num::encode(num::DType::Float32, std::bit_cast<double>(bits));
    case isa::OperandKind::Decimal:
      return num::encode(type_bits == 64 ? num::DType::Float64 : num::DType::Float32,
                         std::strtod(std::string(number.text).c_str(), nullptr));
    default:
      return bits;
  }
}

Decode::Decode(FunctionDecoder& function, const isa::Binding& form_binding,
               std::span<const isa::Operand> operands, std::span<const int> operand_of, Op& out)
    : op(out),
      form(form_binding),
      function_(function),
      operands_(operands),
      operand_of_(operand_of) {}

const isa::Operand& Decode::operand(std::size_t i) const {
  WW_CHECK(given(i), "operand {} was not given", i);
  return operands_[static_cast<std::size_t>(operand_of_[i])];
}

Place Decode::place_of(const isa::Operand& operand, isa::Type type, bool is_result) {
  switch (operand.kind) {
    case isa::OperandKind::Part:
    case isa::OperandKind::Register: {
      const Place place = function_.register_place(operand.text);
      if (operand.has_offset)
        return function_.sum(place, operand.type, operand.value, operand.text);
      function_.note_operand(place, operand.type, type, is_result, operand.text);
      return place;
    }
    case isa::OperandKind::Special: {
      const Place place = function_.special_place(operand);
      if (operand.has_offset)
        return function_.sum(place, operand.type, operand.value, operand.text);
      function_.note_operand(place, operand.type, type, false, operand.text);
      return place;
    }
    case isa::OperandKind::Sink:
      return scratch(lane_bytes(type));
    case isa::OperandKind::Symbol: {
      const auto [address, origin] = function_.symbol_address(operand);
      switch (origin) {
        case AddressOrigin::Absolute:
          return constant(address, lane_bytes(type));
        case AddressOrigin::Local:
          return function_.frame_address(address, lane_bytes(type));
        case AddressOrigin::Shared:
          return function_.shared_address(address, lane_bytes(type));
      }
      return {};
    }
    case isa::OperandKind::Function: {
      return constant(function_.function_address(operand.text), lane_bytes(type));
    }
    default:
      break;
  }
  if (type == isa::Type::Pred) return constant(operand.value != 0 ? ~std::uint64_t{0} : 0, 4);
  const std::uint64_t bits = number_bits(operand, type);
  // 128-bit constants are integers and keep their sign.
  const std::uint64_t high = operand.value < 0 ? ~std::uint64_t{0} : 0;
  return function_.constant(bits, high, lane_bytes(type));
}

Place Decode::result(std::size_t i) {
  const isa::Operand& it = operand(i);
  const isa::Type wanted = type_of(form.form().operands[i], form).value_or(isa::Type::B32);
  if (it.kind == isa::OperandKind::Pair) return place_of(it.parts[0], wanted, true);
  if (it.kind == isa::OperandKind::Vector) return place_of(it.parts[0], wanted, true);
  return place_of(it, wanted, true);
}

Place Decode::result_pair(std::size_t i) {
  const isa::Operand& it = operand(i);
  if (it.kind != isa::OperandKind::Pair || it.parts[1].kind == isa::OperandKind::Sink) return {};
  return place_of(it.parts[1], isa::Type::Pred, true);
}

Place Decode::source(std::size_t i) {
  const isa::Operand& it = operand(i);
  const isa::Type wanted = type_of(form.form().operands[i], form).value_or(isa::Type::B32);
  if (it.kind == isa::OperandKind::Vector) return place_of(it.parts[0], wanted, false);
  return place_of(it, wanted, false);
}

std::vector<Place> Decode::parts(std::size_t i, bool is_result) {
  const isa::Operand& it = operand(i);
  const isa::Type wanted = type_of(form.form().operands[i], form).value_or(isa::Type::B32);
  std::vector<Place> places;
  if (it.kind == isa::OperandKind::Vector) {
    for (const isa::Operand& part : it.parts) places.push_back(place_of(part, wanted, is_result));
    return places;
  }
  if (it.kind == isa::OperandKind::Special && it.lanes > 1) {
    for (const char component : {'x', 'y', 'z', 'w'}) {
      places.push_back(function_.special_place(it, component));
      function_.note_operand(places.back(), it.type, wanted, false, it.text);
    }
    return places;
  }
  const Place first = place_of(it, wanted, is_result);
  places.push_back(first);
  // A `.v4` register used whole: its components lie side by side.
  for (unsigned c = 1; it.kind == isa::OperandKind::Register && c < it.lanes; ++c) {
    const std::uint32_t step = c * lane_bytes(it.type) * 32;
    places.push_back(Place::in_frame(first.offset() + step));
    function_.note_operand(places.back(), it.type, wanted, is_result, it.text);
  }
  return places;
}

std::vector<Place> Decode::results(std::size_t i) { return parts(i, true); }
std::vector<Place> Decode::sources(std::size_t i) { return parts(i, false); }

unsigned Decode::width(std::size_t i, std::size_t part) const {
  const isa::Operand* it = &operand(i);
  if (it->kind == isa::OperandKind::Vector || it->kind == isa::OperandKind::Pair) {
    it = &it->parts[part];
  }
  const bool has_type =
      it->kind == isa::OperandKind::Register || it->kind == isa::OperandKind::Special;
  if (has_type) return lane_bytes(it->type);
  return lane_bytes(type_of(form.form().operands[i], form).value_or(isa::Type::B32));
}

std::uint32_t Decode::address(std::size_t i) {
  const isa::Operand& it = operand(i);
  const isa::Operand& base = it.kind == isa::OperandKind::Address ? it.parts[0] : it;
  Address address;
  address.space = space_of(form.form().operands[i], form);
  switch (base.kind) {
    case isa::OperandKind::Register:
      address.base = function_.register_place(base.text);
      address.offset = base.value;
      address.is_narrow = isa::info(base.type).bits == 32;
      function_.note_operand(address.base, base.type, base.type, false, base.text);
      break;
    case isa::OperandKind::Symbol: {
      const auto [at, origin] = function_.symbol_address(base);
      address.offset = static_cast<std::int64_t>(at);
      address.origin = origin;
      // Parameters of functions are in their local memory.
      if (origin == AddressOrigin::Local) address.space = isa::Space::Local;
      break;
    }
    default:
      address.offset = base.value;
      break;
  }
  auto& all = function_.program().addresses;
  all.push_back(address);
  return static_cast<std::uint32_t>(all.size() - 1);
}

std::vector<Place> Decode::coordinates(std::size_t i, isa::Type type) {
  std::vector<Place> places;
  for (const isa::Operand& part : operand(i).parts[1].parts)
    places.push_back(place_of(part, type, false));
  return places;
}

bool Decode::is_immediate(std::size_t i) const {
  const isa::OperandKind kind = operand(i).kind;
  return kind == isa::OperandKind::Integer;
}

std::int64_t Decode::immediate(std::size_t i) const { return operand(i).value; }
std::size_t Decode::find(std::string_view name) const {
  std::size_t i = 0;
  while (i < count() && (form.form().operands[i].name != name || !given(i))) ++i;
  return i;
}

bool Decode::is_negated(std::size_t i) const { return operand(i).negated; }

Place Decode::frame_offset(std::size_t i) {
  const isa::Operand& it = operand(i);
  if (it.kind != isa::OperandKind::Symbol) return {};
  const auto [offset, origin] = function_.symbol_address(it);
  const isa::Type type = type_of(form.form().operands[i], form).value_or(isa::Type::B64);
  return origin == AddressOrigin::Local ? constant(offset, lane_bytes(type)) : Place{};
}

void Decode::operands(std::initializer_list<Place> places) {
  WW_CHECK(places.size() <= op.p.size(), "too many places");
  std::size_t i = 0;
  for (const Place place : places) op.p[i++] = place;
}

void Decode::keep_form(std::shared_ptr<const void> it) {
  op.set(it.get());
  function_.program().forms.push_back(std::move(it));
}

void Decode::further(std::span<const Place> places) {
  auto& all = function_.program().places;
  op.first_place = static_cast<std::uint32_t>(all.size());
  op.place_count = static_cast<std::uint16_t>(places.size());
  all.insert(all.end(), places.begin(), places.end());
}

Place Decode::scratch(unsigned bytes) { return function_.frame().scratch(bytes); }
Place Decode::constant(std::uint64_t bits, unsigned bytes) {
  return function_.constant(bits, 0, bytes);
}
Place Decode::carry() { return function_.frame().carry(); }

void Decode::target_label(std::size_t i) { function_.add_label_fixup(operand(i).text); }

namespace {

const OpFamily* find_family(std::string_view name) {
  static const OpFamily* const kFamilies[] = {
#define WW_OPS(file) &file##_ops::family,
#include "sim/ops/families.def"
#undef WW_OPS
  };
  const auto* const found = std::ranges::find(kFamilies, name, &OpFamily::name);
  return found != std::end(kFamilies) ? *found : nullptr;
}

}  // namespace

const OpRow* find_op(std::string_view family, Mnemonic mnemonic) {
  const OpFamily* const candidate = find_family(family);
  if (candidate == nullptr) return nullptr;
  const auto row = std::ranges::find(candidate->rows, mnemonic, &OpRow::mnemonic);
  return row != candidate->rows.end() ? &*row : nullptr;
}

bool only_computes(std::string_view family) {
  const OpFamily* const found = find_family(family);
  return found != nullptr && found->only_computes;
}

}  // namespace ww::sim
