// SPDX-License-Identifier: Apache-2.0
// Which threads hold the elements of a tile, whatever axes its layout counts them on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/layout.h"

namespace ww::infer {

/// By element, the threads of the CTA that hold it, each once, ascending: thread t of a warp is t,
/// so that a tile of one warp is held alike in all warps. Nothing for layouts that cannot be
/// enumerated.
using Holders = std::vector<std::vector<std::int64_t>>;
std::optional<Holders> holders_of(const layout::Layout& layout);
/// Does every thread that needs an element hold it?
bool have(const Holders& held, const Holders& wanted);

}  // namespace ww::infer
