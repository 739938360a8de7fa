// SPDX-License-Identifier: Apache-2.0
// The storage that the places of an operand are in: its alignment, flat views of it, bits from its
// start.
#include <algorithm>
#include <numeric>

#include "ir/equal.h"
#include "ir/simplify/simplify.h"
#include "layout/image.h"
#include "lower/operand_places.h"

namespace ww::lower {

using ir::ExprId;

std::int64_t storage_alignment(const Context& context, ir::BufferId id) {
  const ir::Buffer& buffer = context.f[id];
  const std::int64_t element = std::max<std::int64_t>(1, num::storage_bits(buffer.dtype) / 8);
  const auto divisor = [&](ExprId expr, std::int64_t scale) {
    return expr.valid() ? ir::divisor_of(context.f, expr, context.facts) * scale : 0;
  };
  constexpr std::int64_t kDefault = 64;
  constexpr std::int64_t kShared = 128;  // one row of the banks
  switch (buffer.origin) {
    case ir::BufferOrigin::Param:
      return std::gcd(buffer.align > 0 ? buffer.align : kDefault,
                      divisor(buffer.elem_offset, element));
    case ir::BufferOrigin::Alloc:
      return std::max(buffer.align,
                      ir::is_shared(buffer.scope) && buffer.align == 0 ? kShared : kDefault);
    case ir::BufferOrigin::View: {
      const std::int64_t own =
          std::gcd(divisor(buffer.elem_offset, element), divisor(buffer.byte_offset, 1));
      return std::gcd(storage_alignment(context, buffer.base), own);
    }
    case ir::BufferOrigin::Pointer:
      break;
  }
  return std::gcd(buffer.align > 0 ? buffer.align : element, divisor(buffer.elem_offset, element));
}

std::int64_t view_elements(const Call& call, const OperandPlaces& side) {
  const ir::Buffer& buffer = call.f()[side.buffer];
  // The simplifier takes the index into a single element for 0.
  std::int64_t most = side.base.valid() || !side.strides.empty() ? 2 : 1;
  if (const auto whole = ir::layout_of(call.f(), buffer))
    if (const auto span = layout::span_on(*whole, layout::axes::m())) {
      most = std::max(most, *span);
      if (side.edges.empty()) return most;
    }
  for (std::size_t x = 0; x < side.size(); ++x)
    most = std::max(most, side.swizzle(side.linear[x]) + 1);
  return most;
}

ir::BufferId flat_view(const Call& call, CodeWriter& code, const OperandPlaces& side) {
  return code.flat_view(side.buffer, side.dtype, view_elements(call, side),
                        call.f()[side.buffer].name);
}

std::optional<std::int64_t> constant_offset(const ir::Function& f, const ir::Buffer& buffer,
                                            int element_bits) {
  const auto number = [&](ExprId expr) {
    return expr.valid() ? ir::const_int(f, expr) : std::optional<std::int64_t>(0);
  };
  const auto elements = number(buffer.elem_offset), bytes = number(buffer.byte_offset);
  if (!elements || !bytes) return std::nullopt;
  return *elements * element_bits + *bytes * 8;
}

std::optional<std::vector<std::int64_t>> bit_places(const Call& call, const OperandPlaces& side) {
  const auto start = constant_offset(call.f(), call.f()[side.buffer], side.bits);
  if (side.base.valid() || !side.strides.empty() || !start) return std::nullopt;
  std::vector<std::int64_t> out;
  for (std::size_t x = 0; x < side.size(); ++x)
    out.push_back(side.swizzle(side.linear[x]) * side.bits + *start);
  return out;
}

bool are_same_places(const ir::Function& f, const OperandPlaces& a, const OperandPlaces& b) {
  if (a.buffer != b.buffer || a.base.valid() != b.base.valid()) return false;
  if (a.base.valid() && !ir::same(f, a.base, b.base)) return false;
  if (a.linear != b.linear || a.owner != b.owner || a.strides.size() != b.strides.size())
    return false;
  for (std::size_t i = 0; i < a.strides.size(); ++i)
    if (a.strides[i].coef != b.strides[i].coef ||
        !ir::same(f, a.strides[i].stride, b.strides[i].stride))
      return false;
  return !a.is_register() || a.replicas.size() == 1;
}

}  // namespace ww::lower
