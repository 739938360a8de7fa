// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/numbers.h"

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Lanes in which the numbers are finite: not all bits of the exponent are set.
template <typename T>
Mask finite_among(const Warp& warp, Place place, T exponent) {
  const T* const values = warp.source<T>(place);
  Mask finite = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    finite |= static_cast<Mask>((values[l] & exponent) != exponent) << l;
  }
  return finite;
}

Mask finite_in(const Warp& warp, Place place, isa::Type as) {
  switch (as) {
    case isa::Type::F32:
      return finite_among<std::uint32_t>(warp, place, 0x7F80'0000U);
    case isa::Type::F64:
      return finite_among<std::uint64_t>(warp, place, 0x7FF0'0000'0000'0000U);
    case isa::Type::F16:
      return finite_among<std::uint16_t>(warp, place, 0x7C00U);
    case isa::Type::Bf16:
      return finite_among<std::uint16_t>(warp, place, 0x7F80U);
    case isa::Type::F16x2:
      return finite_among<std::uint32_t>(warp, place, 0x7C00U) &
             finite_among<std::uint32_t>(warp, place, 0x7C00'0000U);
    case isa::Type::Bf16x2:
      return finite_among<std::uint32_t>(warp, place, 0x7F80U) &
             finite_among<std::uint32_t>(warp, place, 0x7F80'0000U);
    default:
      return kAllLanes;
  }
}

}  // namespace

Mask finite_lanes(const Warp& warp, bool results) {
  Mask finite = kAllLanes;
  for (const OperandInfo& operand : warp.program->operands_of(warp.current)) {
    if (operand.is_result == results) finite &= finite_in(warp, operand.place, operand.as);
  }
  return finite;
}

void report_numbers(Warp& warp, Mask lanes, Mask finite_before) {
  const Mask born_now = lanes & finite_before & ~finite_lanes(warp, true);
  // Loads and moves only pass numbers on.
  using isa::FamilyId;
  const FamilyId family = warp.program->infos[warp.current].family;
  const bool makes_numbers = family == FamilyId::float_rows || family == FamilyId::half_rows ||
                             family == FamilyId::mma_rows || family == FamilyId::convert_rows;
  if (born_now == 0 || !makes_numbers) return;
  if (!warp.is_new(Check::Numbers, kNoOp, count_lanes(born_now))) return;
  warp.report(Check::Numbers, born_now, "finite operands gave a NaN or an infinity");
}

}  // namespace ww::sim
