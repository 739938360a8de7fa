// SPDX-License-Identifier: Apache-2.0
// Products of one warp whose operands are all in registers: mma and wmma.mma.
#pragma once

#include <vector>

#include "sim/ops/matrix_product.h"
#include "sim/ops/register_matrix.h"

namespace ww::sim::mma_ops {

struct RegisterProduct {
  ProductRule rule{};
  RegisterMatrix a{}, b{}, c{}, d{};
  PlaceOrder order = PlaceOrder::Any;  // of a sparse A
  unsigned selector = 0;               // of lanes with its metadata
};

/// The end of decoding. Places: D, A, B, C, the metadata of a sparse A, then scale, byte and thread
/// of the scale factors of A, and those of B.
bool runs_product(Decode& in, const RegisterProduct& product, const std::vector<Place>& places);
/// Places of D, A, B and C, where these are the first four operands; `exchanges`: of D, B, A and C.
std::vector<Place> product_places(Decode& in, bool exchanges = false);

}  // namespace ww::sim::mma_ops
