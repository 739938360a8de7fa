// SPDX-License-Identifier: Apache-2.0
// What ptxas says in passing, with exit status 0: remarks C7504 to C7520, by which wgmma instructions
// wait for one another or `setmaxnreg` is ignored. A kernel that should be fast is slow then, and
// nothing else says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ww::runtime {

struct PtxasRemark {
  std::string line;      // ptxas's own words
  std::string_view why;  // what brings it about, and what to do
};

/// Those in ptxas's output that cost speed; repaired ones (C7517, C7519) are not among them.
std::vector<PtxasRemark> slow_remarks(std::string_view output);

}  // namespace ww::runtime
