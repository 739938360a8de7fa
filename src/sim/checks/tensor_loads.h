// SPDX-License-Identifier: Apache-2.0
// Registers of tcgen05.ld before tcgen05.wait::ld: no instruction may use them yet.
#pragma once

namespace ww::sim {

class Warp;

/// An op is about to run in the executing lanes, while the warp has loads without a wait: reports
/// registers of these that it reads, each once (`async`). One that it writes is its own from then
/// on.
void check_tensor_loads(Warp& warp);

}  // namespace ww::sim
