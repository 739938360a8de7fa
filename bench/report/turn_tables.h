// SPDX-License-Identifier: Apache-2.0
// The tables of what takes turns: matrix products (kernels/) and row kernels (rows/), from their
// JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ww::bench {

/// Nothing where there are no results.
/// Of the products by mma.sync, or of those by wgmma; "" without any.
enum class ProductKind { Mma, Wgmma };
std::string product_table(const nlohmann::ordered_json& result, ProductKind kind);
std::string row_tables(const nlohmann::ordered_json& result);
/// The most rounds among "products" or "rows".
int rounds_of(const nlohmann::ordered_json& result, const char* kind);

}  // namespace ww::bench
