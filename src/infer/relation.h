// SPDX-License-Identifier: Apache-2.0
// Derives the layout of one operand of a call from that of another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infer/state.h"
#include "layout/layout.h"

namespace ww::infer {

/// By element, the threads of the CTA that hold it, each once, ascending: thread t of a warp is t,
/// so that a tile of one warp is held alike in all warps. Nothing for layouts that cannot be
/// enumerated.
using Holders = std::vector<std::vector<std::int64_t>>;
std::optional<Holders> holders_of(const layout::Layout& layout);
/// Does every thread that needs an element hold it?
bool have(const Holders& held, const Holders& wanted);

/// Does the call combine the two element by element, so that each is best where the other is? Both
/// are tiles in registers of the same shape, extents of 1 aside; of parts of tiles, the same part.
bool are_alike(const State& state, const Use& use, const Operand& a, const Operand& b);

/// The dimensions of its source along which a reduction folds.
layout::Shape folded_dims(const State& state, const Use& use, const Operand& source);

/// The layout of `b` that goes with this one of `a`: the same, or without the dimensions along which
/// `b` is stretched or `a` is folded. Nothing: the call does not say.
std::optional<Named> related(const State& state, const Use& use, const Operand& a,
                             const Named& of_a, const Operand& b);

}  // namespace ww::infer
