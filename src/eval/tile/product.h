// SPDX-License-Identifier: Apache-2.0
// Matrix products by their definition, for `gemm` and `gemm_async`.
#pragma once

#include <optional>

#include "eval/tile/operands.h"

namespace ww::eval {

/// A matrix product: `turns_…` operands are transposed first.
struct Product {
  bool turns_a = false;
  bool turns_b = false;
  double alpha = 1;
  double beta = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
};

/// Fills in the sizes: D is (rows, columns), A (rows, depth), B (depth, columns) once they are
/// transposed. False: they do not fit each other, and `why` says how.
bool fit_sizes(const Tile& d, const Tile& a, const Tile& b, Product& product,
               std::string_view& why);

/// alpha · A·B + beta · C in the type of `out`, whose elements are there; no C where it is empty.
void multiply(Cta& cta, const Product& product, const TileValues& a, const TileValues& b,
              const TileValues& c, TileValues& out);

}  // namespace ww::eval
