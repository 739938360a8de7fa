// SPDX-License-Identifier: Apache-2.0
// Results of matrix products for people, a line at a time while they come in, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "gemm_measure.h"
#include "json/json.h"

namespace ww::bench {

/// The columns' titles.
std::string table_head();
/// A line per kernel of ours; why one has no number stands below it.
std::string table_lines(const GemmResult& result);
/// Below the table: what was measured how, who was not there, what ptxas says.
std::string table_foot(const std::vector<GemmResult>& results);

/// An object per kernel of ours, with everything that is known.
Json products_json(const std::vector<GemmResult>& results);

}  // namespace ww::bench
