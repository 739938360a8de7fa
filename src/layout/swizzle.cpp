// SPDX-License-Identifier: Apache-2.0
#include "layout/swizzle.h"

#include <fmt/format.h>

namespace ww::layout {

std::int64_t SwizzledAddress::evaluate(const std::function<std::int64_t(Sym)>& value_of) const {
  const std::int64_t h = high.evaluate(value_of);
  const std::int64_t d = low.evaluate(value_of);
  if (swizzle.is_none()) return h + d + constant;
  const int atom_bits = swizzle.per_element() + swizzle.atom();
  const std::int64_t row = (h >> atom_bits) & ((std::int64_t{1} << swizzle.len()) - 1);
  return (h + (d ^ (row << swizzle.per_element()))) ^ constant;
}

std::string SwizzledAddress::text() const {
  if (swizzle.is_none()) return (high + low + Expr(constant)).text();
  if (high.is_constant() && low.is_constant())
    return fmt::format("{}", evaluate([](Sym) { return std::int64_t{0}; }));
  std::string base = low.text();
  if (!(high == Expr(0))) {
    const std::int64_t atom = std::int64_t{1} << (swizzle.per_element() + swizzle.atom());
    const std::int64_t mask = (std::int64_t{1} << swizzle.len()) - 1;
    const std::string row =
        high.is_constant()
            ? fmt::format("{}", ((high.constant() / atom) & mask) << swizzle.per_element())
            : fmt::format("((({}) / {} & {}) << {})", high.text(), atom, mask,
                          swizzle.per_element());
    base = low == Expr(0) ? fmt::format("{} + {}", high.text(), row)
                          : fmt::format("{} + (({}) ^ {})", high.text(), low.text(), row);
  }
  return constant == 0 ? base : fmt::format("({}) ^ {}", base, constant);
}

Result<SwizzledAddress> split_swizzled(const Expr& address, const Swizzle& swizzle) {
  SwizzledAddress out;
  out.swizzle = swizzle;
  if (swizzle.is_none()) {
    out.high = address;
    return out;
  }
  if (!swizzle.inner())
    return fail(DiagKind::Unprovable,
                "the outer direction moves address bits upwards and has no split form");
  if (address.range().min < 0)
    return fail(DiagKind::Unprovable, "address {} may be negative ({})", address.text(),
                address.range().min);
  const std::int64_t atom = std::int64_t{1} << (swizzle.per_element() + swizzle.atom());
  const auto high = floor_div(address, atom);
  const auto low = floor_mod(address, atom);
  if (!high || !low)
    return fail(DiagKind::Unprovable,
                "address {} may carry over the atom of {} within its runtime part", address.text(),
                atom);
  out.high = *high * atom;
  out.constant = low->constant();
  out.low = *low - Expr(out.constant);
  const Range range = out.low.range();
  const std::int64_t lowest_bit = out.constant & -out.constant;
  const bool carries = range.min < 0 || (out.constant != 0 && range.max >= lowest_bit);
  if (carries)
    return fail(DiagKind::Unprovable,
                "the runtime part {} (up to {}) may carry into the constant {} of the address",
                out.low.text(), range.max, out.constant);
  return out;
}

}  // namespace ww::layout
