// SPDX-License-Identifier: Apache-2.0
// For tests alone, and not installed: lowering with faults. What a variant has written can be
// changed before it is proven, and stays in the program whatever the proof says of it.
#pragma once

#include <functional>
#include <optional>

#include "lower/lower.h"
#include "lower/proof/proof.h"

namespace ww::lower {

struct Tampering {
  /// May change the code of a call; says whether it has. Calls come in the order of the report.
  std::function<bool(ir::Function&, ir::Block&)> change;
  /// What the proof says of the changed code. Code that was left alone is not proven.
  std::optional<Proof> proof = {};
};

Lowered lower_tampered(const ir::Function& tile, const Options& options, Tampering& tampering);

}  // namespace ww::lower
