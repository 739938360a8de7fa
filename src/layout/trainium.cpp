// SPDX-License-Identifier: Apache-2.0
// Trainium: on-chip memories are 128 partitions (axis P) with a free dimension (axis F) in each.
// PSUM, the accumulators' memory, cuts the free dimension into banks of 512 elements (axis Bank).
#include <algorithm>

#include "layout/canonical.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

constexpr std::int64_t kPartitions = 128;
constexpr std::int64_t kBankElements = 512;

struct Extents {
  std::int64_t partitions = 1;  // product of the P dimensions
  std::int64_t free = 1;        // product of the F dimensions
};

Result<Extents> measure(std::string_view pattern, std::span<const std::int64_t> shape) {
  if (pattern.size() != shape.size())
    return fail(DiagKind::BadArgument,
                "pattern `{}` has {} letters for the {} dimensions of shape {}", pattern,
                pattern.size(), shape.size(), shape_text(shape));
  WW_TRY_VOID(element_count(shape));
  Extents out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != 'P' && pattern[i] != 'F')
      return fail(DiagKind::BadArgument, "letter `{}` in pattern `{}`; dimensions are P or F",
                  pattern[i], pattern);
    (pattern[i] == 'P' ? out.partitions : out.free) *= shape[i];
  }
  const bool several = std::count(pattern.begin(), pattern.end(), 'P') > 1;
  if (out.partitions > kPartitions && (several || out.partitions % kPartitions != 0))
    return fail(DiagKind::BadArgument,
                "{} partitions from pattern `{}` over shape {}; there are {}, and only a single P "
                "dimension "
                "of a multiple wraps around",
                out.partitions, pattern, shape_text(shape), kPartitions);
  return out;
}

// The pieces of a digit on F: whole banks, and what stays inside a bank.
Result<void> split_free(const Iter& iter, Iters& out, std::int64_t& reach) {
  const auto keep = [&](std::int64_t extent, std::int64_t stride) {
    out.push_back({extent, stride, axes::f()});
    reach += (extent - 1) * stride;
  };
  if (iter.stride < 0)
    return fail(DiagKind::BadArgument, "digit {}:{} descends on F; banks are counted upwards",
                iter.extent, place_text(iter.stride, iter.axis));
  if (iter.extent > 1 && iter.stride % kBankElements == 0 && iter.stride > 0) {
    out.push_back({iter.extent, iter.stride / kBankElements, axes::bank()});
  } else if ((iter.extent - 1) * iter.stride < kBankElements) {
    keep(iter.extent, iter.stride);
  } else {
    const std::int64_t inside = kBankElements / iter.stride;
    if (kBankElements % iter.stride != 0 || iter.extent % inside != 0)
      return fail(DiagKind::BadArgument,
                  "digit {}:{} does not end at a bank; banks have {} elements", iter.extent,
                  place_text(iter.stride, iter.axis), kBankElements);
    out.push_back({iter.extent / inside, 1, axes::bank()});
    keep(inside, iter.stride);
  }
  return {};
}

Result<Iters> split_all(const Iters& iters, std::int64_t& reach) {
  Iters out;
  for (const Iter& iter : iters) {
    if (iter.axis == axes::f())
      WW_TRY_VOID(split_free(iter, out, reach));
    else
      out.push_back(iter);
  }
  return out;
}

Result<void> check_axes(const Layout& layout) {
  WW_TRY_VOID(require_constant(layout, "to_psum"));
  if (layout.is_swizzled())
    return fail(DiagKind::BadArgument, "`{}` is swizzled; PSUM is not", to_text(layout));
  for (const Axis axis : layout.tile().axes())
    if (axis.is_memory() && !(axis == axes::p()) && !(axis == axes::f()) && !(axis == axes::bank()))
      return fail(DiagKind::BadArgument, "`{}` uses the memory axis {}; PSUM has P, F and Bank",
                  to_text(layout), axis.name());
  return {};
}

}  // namespace

Result<Layout> trainium(std::string_view pattern, std::span<const std::int64_t> shape) {
  const Extents extents = WW_TRY(measure(pattern, shape));
  Extents left = extents;  // strides still to hand out
  Iters shard;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool wraps = pattern[i] == 'P' && shape[i] > kPartitions;
    if (wraps) {
      shard.push_back({shape[i] / kPartitions, extents.free, axes::f()});
      shard.push_back({kPartitions, 1, axes::p()});
    } else if (pattern[i] == 'P') {
      shard.push_back({shape[i], left.partitions /= shape[i], axes::p()});
    } else {
      shard.push_back({shape[i], left.free /= shape[i], axes::f()});
    }
  }
  return TileLayout::make(std::move(shard));
}

Result<Layout> to_psum(const Layout& layout) {
  WW_TRY_VOID(check_axes(layout));
  const TileLayout& tile = layout.tile();
  const std::int64_t start = tile.offset().constant_on(axes::f());
  if (start < 0)
    return fail(DiagKind::BadArgument, "offset {} on F; banks are counted upwards", start);
  std::int64_t reach = start % kBankElements;  // largest value left on F
  Iters shard = WW_TRY(split_all(tile.shard(), reach));
  Iters replica = WW_TRY(split_all(tile.replica(), reach));
  if (reach >= kBankElements)
    return fail(DiagKind::BadArgument,
                "the digits of `{}` reach {} within a bank; banks have {} elements",
                to_text(layout), reach, kBankElements);
  Offsets offset = tile.offset();
  offset.add(axes::f(), start % kBankElements - start);
  offset.add(axes::bank(), start / kBankElements);
  return TileLayout::make(std::move(shard), std::move(replica), std::move(offset));
}

}  // namespace ww::layout
