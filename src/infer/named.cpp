// SPDX-License-Identifier: Apache-2.0
#include "infer/named.h"

#include <fmt/format.h>

#include "base/join.h"
#include "ir/print/printer.h"

namespace ww::infer {
namespace {

// As Python writes it: "(8,)", "(8, 16)".
std::string tuple_text(std::span<const std::int64_t> items) {
  if (items.size() == 1) return fmt::format("({},)", items[0]);
  return fmt::format("({})", join(items, ", "));
}

std::string axis_text(const Sharers& by) {
  if (by.axis == layout::axes::tx()) return "";
  return fmt::format(", axis={}", by.axis.name());
}

Result<Named> with_text(Result<layout::Layout> layout, std::string text) {
  if (!layout) return std::move(layout).failure();
  return Named{*std::move(layout), std::move(text)};
}

}  // namespace

Result<Named> mma_named(char operand, const layout::Shape& shape, num::DType dtype,
                        const layout::WarpGrid& warps, bool is_transposed) {
  std::string text = fmt::format(R"(mma_tile_layout("{}", {}, "{}", warps=({}, {}){}))", operand,
                                 tuple_text(shape), num::name_of(dtype), warps.m, warps.n,
                                 is_transposed ? ", transposed=True" : "");
  return with_text(layout::mma_tile(operand, shape, num::storage_bits(dtype), warps, is_transposed),
                   std::move(text));
}

Result<Named> wgmma_named(char operand, const layout::Shape& shape, num::DType dtype,
                          std::int64_t warpgroups) {
  return with_text(
      layout::wgmma_tile(operand, shape, num::storage_bits(dtype), warpgroups),
      fmt::format(R"(wgmma_tile_layout("{}", {}, "{}"{}))", operand, tuple_text(shape),
                  num::name_of(dtype), warpgroups > 1 ? fmt::format(", {}", warpgroups) : ""));
}

Result<Named> shared_named(const layout::Shape& shape, num::DType dtype) {
  const int bits = num::storage_bits(dtype);
  return with_text(layout::mma_shared(shape, layout::widest_swizzle(shape, bits), bits),
                   fmt::format(R"(mma_shared_layout("{}", "auto", {}))", num::name_of(dtype),
                               tuple_text(shape)));
}

Result<Named> coalesced_named(const layout::Shape& shape, const Sharers& by, num::DType dtype) {
  return with_text(layout::coalesced(shape, by.count, num::storage_bits(dtype), by.axis),
                   fmt::format("coalesced_layout({}, {}, \"{}\"{})", tuple_text(shape), by.count,
                               num::name_of(dtype), axis_text(by)));
}

Result<Named> row_named(const layout::Shape& shape, const Sharers& by) {
  return with_text(layout::row_owned(shape, by.count, by.axis),
                   fmt::format("row_layout({}, {}{})", tuple_text(shape), by.count, axis_text(by)));
}

Result<Named> wg_named(std::int64_t columns) {
  return with_text(layout::wg_local(columns), fmt::format("wg_local_layout({})", columns));
}

Result<Named> reduced_named(const Named& whole, const layout::Shape& shape,
                            const layout::Shape& dims) {
  const std::string axes = dims.size() == 1 ? fmt::format("{}", dims[0]) : tuple_text(dims);
  return with_text(layout::reduced(whole.layout, shape, dims),
                   fmt::format("reduced_layout({}, {}, {})", whole.text, tuple_text(shape), axes));
}

Named given_named(const layout::Layout& layout) {
  return {layout, ir::printing::layout_text(layout)};
}

}  // namespace ww::infer
