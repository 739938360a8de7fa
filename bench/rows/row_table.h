// SPDX-License-Identifier: Apache-2.0
// Results of row kernels for people, a line at a time while they come in, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "json/json.h"
#include "row_measure.h"

namespace ww::bench::rows {

/// The columns' titles, for kernels of that kind: attention has others.
std::string table_head(const RowProblem& problem);
/// The line of a kernel; why it has no number stands below it.
std::string table_line(const RowResult& result);
/// Below the table: what was measured how, who was not there, what ptxas says.
std::string table_foot(const std::vector<RowResult>& results);

/// An object per kernel, with everything that is known.
Json rows_json(const std::vector<RowResult>& results);

}  // namespace ww::bench::rows
