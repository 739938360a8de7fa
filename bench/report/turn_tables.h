// SPDX-License-Identifier: Apache-2.0
// The tables of what takes turns: matrix products (kernels/) and row kernels (rows/), from their
// JSON.
#pragma once

#include <string>

#include "json/json.h"

namespace ww::bench {

/// Nothing where there are no results.
/// Of the products by mma.sync, or of those by wgmma; "" without any.
enum class ProductKind { Mma, Wgmma };
std::string product_table(const Json& result, ProductKind kind);
std::string row_tables(const Json& result);
/// The most rounds among "products" or "rows".
int rounds_of(const Json& result, const char* kind);

}  // namespace ww::bench
