// SPDX-License-Identifier: Apache-2.0
#include "ir/scan.h"

#include <limits>

#include "ir/settings.h"

namespace ww::ir {

bool is_scan(TileOp op) {
  return op == TileOp::Cumsum || op == TileOp::Cumprod || op == TileOp::Cummax ||
         op == TileOp::Cummin;
}

ExprOp scanning_operator(TileOp op) {
  if (op == TileOp::Cumsum) return ExprOp::Add;
  if (op == TileOp::Cumprod) return ExprOp::Mul;
  return op == TileOp::Cummax ? ExprOp::Max : ExprOp::Min;
}

std::size_t scanned_dimension(const TileCall& call) {
  const auto rank = static_cast<std::int64_t>(std::get<Region>(call.args[1]).ranges.size());
  const std::int64_t axis = folded_axes(call)[0];
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

bool is_exclusive(const TileCall& call) { return call.args.size() > 3 && is_true(call.args[3]); }

Constant scan_identity(ExprOp op, num::DType dtype) {
  const num::DType type = fold_type(dtype);
  const bool is_real = num::is_float(type);
  if (op == ExprOp::Add) return {type, 0, 0};
  if (op == ExprOp::Mul) return {type, is_real ? 0 : 1, is_real ? 1.0 : 0.0};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_real) return {type, 0, op == ExprOp::Max ? -kInfinity : kInfinity};
  const std::uint64_t ones = ~std::uint64_t{0} >> static_cast<unsigned>(64 - num::bits_of(dtype));
  const bool is_signed = num::kind_of(dtype) == num::DTypeKind::Int;
  const std::uint64_t greatest = is_signed ? ones >> 1U : ones;
  const std::uint64_t least = is_signed ? ~greatest : 0;
  return {type, static_cast<std::int64_t>(op == ExprOp::Max ? least : greatest), 0};
}

ScanShare scan_share(std::span<const std::int64_t> extents, std::size_t dimension,
                     std::int64_t threads) {
  std::vector<bool> is_scanned(extents.size());
  is_scanned[dimension] = true;
  const MemoryShare shared = memory_share(extents, is_scanned, threads);
  // That deals elements out one by one: of G threads, element i goes to thread i % G. Here thread
  // i / (extent / G) gets it, so it takes the place of the element that was dealt there.
  const std::int64_t each = extents[dimension] / shared.parts;
  std::int64_t stride = 1;
  for (std::size_t d = dimension + 1; d < extents.size(); ++d) stride *= extents[d];
  ScanShare out;
  for (std::size_t x = 0; x < shared.thread.size(); ++x) {
    const auto at = static_cast<std::int64_t>(x);
    const std::int64_t i = at / stride % extents[dimension];
    const std::int64_t other = i % each * shared.parts + i / each;
    const auto dealt = static_cast<std::size_t>(at + (other - i) * stride);
    out.thread.push_back(shared.thread[dealt]);
    out.slot.push_back(shared.slot[dealt]);
  }
  return out;
}

}  // namespace ww::ir
