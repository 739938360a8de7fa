// SPDX-License-Identifier: Apache-2.0
// The layouts that inference picks from: those with names in the language, each with the text that
// can be written in its place.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "ir/function.h"
#include "layout/ready_made.h"
#include "num/dtype.h"

namespace ww::infer {

struct Named {
  layout::Layout layout = {};
  std::string text = {};  // `coalesced_layout((64, 64), 128, "float32")`
};

/// The threads that share a tile: how many, and the axis on which they are counted.
struct Sharers {
  std::int64_t count = 1;
  layout::Axis axis = layout::axes::tx();
};

/// `mma_tile_layout(…)`: operand 'A', 'B', 'C' or 'D' of a product.
Result<Named> mma_named(char operand, const layout::Shape& shape, num::DType dtype,
                        const layout::WarpGrid& warps, bool is_transposed);
/// `wgmma_tile_layout(…)`: operand 'A' or 'D' of an asynchronous product.
Result<Named> wgmma_named(char operand, const layout::Shape& shape, num::DType dtype,
                          std::int64_t warpgroups);
/// `mma_shared_layout(…, "auto", …)`.
Result<Named> shared_named(const layout::Shape& shape, num::DType dtype);
/// `coalesced_layout(…)`, `row_layout(…)`.
Result<Named> coalesced_named(const layout::Shape& shape, const Sharers& by, num::DType dtype);
Result<Named> row_named(const layout::Shape& shape, const Sharers& by);
/// `wg_local_layout(…)`: a row in each thread of a warpgroup.
Result<Named> wg_named(std::int64_t columns);
/// `reduced_layout(…)` of a tile of this shape.
Result<Named> reduced_named(const Named& whole, const layout::Shape& shape,
                            const layout::Shape& dims);
/// A layout that the source gives, written out.
Named given_named(const layout::Layout& layout);

}  // namespace ww::infer
