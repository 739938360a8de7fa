// SPDX-License-Identifier: Apache-2.0
// Shared memory: banks, conflicts of an access, swizzled addresses as short expressions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/banks.h"
#include "layout/image.h"
#include "layout/swizzle.h"
#include "num/dtype.h"

namespace ww::driver {
namespace {

using layout::Axis;
using layout::Expr;

Result<int> parse_bits(Piece piece) {
  return num::bits_of(WW_TRY(located(num::parse_dtype(piece.text), piece)));
}

Result<void> require_addresses(const LayoutState& state) {
  for (const Axis axis : state.layout.tile().axes())
    if (axis != layout::axes::m())
      return fail(DiagKind::BadAxis,
                  "banks are those of addresses on `m`, and the layout uses `{}`", axis.name());
  WW_TRY_VOID(layout::require_constant(state.layout, "banks"));
  const layout::Range range = state.layout.tile().range_on(layout::axes::m());
  if (range.min < 0)
    return fail(DiagKind::OutOfBounds, "the smallest address is {}, below the first bank",
                range.min);
  return {};
}

// ---- banks

Result<void> banks(LayoutState& state, Piece arguments) {
  const int bits = WW_TRY(parse_bits(arguments));
  WW_TRY_VOID(require_addresses(state));
  const layout::Image image = WW_TRY(layout::enumerate(state.layout));
  std::set<int> used;
  std::set<std::int64_t> lines;
  const auto addresses =
      image.axes.empty() ? std::span<const std::int64_t>() : image.on(layout::axes::m());
  for (const std::int64_t address : addresses) {
    const layout::BankPlace place = layout::bank_place(address, bits);
    used.insert(place.bank);
    lines.insert(place.line);
  }
  if (addresses.empty()) used.insert(0), lines.insert(0);
  add_answer(
      state,
      fmt::format("{} of {} banks, {} line{} of {} bytes", used.size(), layout::kBanks,
                  lines.size(), lines.size() == 1 ? "" : "s", layout::kBanks * layout::kBankBytes),
      {{"banks", used.size()}, {"lines", lines.size()}});
  state.bits = bits;
  return {};
}

// ---- conflicts

constexpr std::int64_t kLanes = 32;

struct Access {
  int bits = 32;
  layout::Layout elements;
  std::optional<std::int64_t> vec = {};    // 1 unless given
  std::optional<std::int64_t> lanes = {};  // 32 unless given
};

Result<void> read_option(Access& access, Piece piece) {
  const auto sides = cut_first(piece, '=');
  const bool is_vec = sides && sides->first.text == "vec";
  if (!is_vec && !(sides && sides->first.text == "lanes"))
    return fail(diag(DiagKind::BadArgument, "expected vec=N or lanes=N, found `{}`", piece.text)
                    .with_span(piece.span()));
  const std::int64_t value = WW_TRY(parse_int(sides->second));
  if (value < 1)
    return fail(
        diag(DiagKind::BadArgument, "{} is {}; it must be at least 1", sides->first.text, value)
            .with_span(sides->second.span()));
  std::optional<std::int64_t>& option = is_vec ? access.vec : access.lanes;
  if (option)
    return fail(diag(DiagKind::BadArgument, "{} is given twice", sides->first.text)
                    .with_span(piece.span()));
  option = value;
  return {};
}

// DTYPE,NOTATION[,vec=N][,lanes=N]
Result<Access> parse_access(const LayoutState& state, Piece arguments) {
  const auto parts = split_top(arguments, ',');
  if (parts.size() < 2)
    return fail(diag(DiagKind::BadArgument, "expected DTYPE,ACCESS[,vec=N][,lanes=N], found `{}`",
                     arguments.text)
                    .with_span(arguments.span()));
  Access access;
  access.bits = WW_TRY(parse_bits(parts[0]));
  access.elements = WW_TRY(parse_notation_at(parts[1], state.names)).layout;
  for (std::size_t i = 2; i < parts.size(); ++i) WW_TRY_VOID(read_option(access, parts[i]));
  return access;
}

Result<void> conflicts(LayoutState& state, Piece arguments) {
  const Access access = WW_TRY(parse_access(state, arguments));
  const auto cost =
      WW_TRY(layout::access_cost(state.layout, access.elements, access.lanes.value_or(kLanes),
                                 access.vec.value_or(1), access.bits));
  add_answer(state,
             fmt::format("wavefronts {}, ideal {}, conflicts {}; most lines from one bank {}",
                         cost.wavefronts, cost.ideal, cost.conflicts(), cost.worst_bank),
             {{"wavefronts", cost.wavefronts},
              {"ideal", cost.ideal},
              {"conflicts", cost.conflicts()},
              {"worst_bank", cost.worst_bank}});
  state.bits = access.bits;
  return {};
}

// ---- swizzled addresses

// The address of an element (by default the first), as the split form.
Result<void> swizzle_form(LayoutState& state, Piece arguments) {
  std::vector<Expr> coordinate(arguments.empty() ? state.shape.size() : 0, Expr(0));
  for (const Piece& piece : split_top(unwrapped(arguments), ','))
    coordinate.push_back(WW_TRY(parse_expr_at(piece, state.names)));
  const auto place = WW_TRY(layout::apply_symbolic(state.layout, coordinate, state.shape));
  const auto axes = state.layout.tile().axes();
  if (!axes.empty() && std::find(axes.begin(), axes.end(), layout::axes::m()) == axes.end())
    return fail(DiagKind::BadAxis, "addresses are on `m`, and the layout uses `{}`",
                axes.front().name());
  const Expr address = place.on(layout::axes::m());
  const auto split = WW_TRY(layout::split_swizzled(address, state.layout.swizzle()));
  add_answer(state, split.text(),
             {{"address", address.text()},
              {"high", split.high.text()},
              {"low", split.low.text()},
              {"constant", split.constant},
              {"text", split.text()}});
  return {};
}

constexpr std::array kBankOps = {
    LayoutOp{"banks", "", "DTYPE", "line and bank of each element for this element type",
             "mma_shared(float16,128B,8,64)", "banks:float16", banks},
    LayoutOp{"conflicts", "", "DTYPE,ACCESS[,vec=N][,lanes=N]",
             "cost of a warp's access; ACCESS maps (lane, element) to flat indices",
             "mma_shared(float16,128B,8,64)", "conflicts:float16,S[(8,8):(64,1)],vec=8,lanes=8",
             conflicts},
    LayoutOp{"swizzle_form", "", "[COORDINATE]", "a swizzled address split for cheap code",
             "mma_shared(float16,128B,8,64)", "swizzle_form:3,16", swizzle_form},
};

}  // namespace

std::span<const LayoutOp> bank_ops() { return kBankOps; }

}  // namespace ww::driver
