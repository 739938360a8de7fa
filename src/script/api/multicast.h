// SPDX-License-Identifier: Apache-2.0
// `multicast=` and `split=` of copy_async: settings that the script turns into others.
//
//     Tx.copy_async(tile[0:64, :], A[m:m + 64, k:k + 64], mbar=bar, multicast=(0, 1), split=True)
//
// is, in the CTA of rank r, a copy of its half that goes to both:
//
//     Tx.copy_async(tile[r * 32:r * 32 + 32, :], A[m + r * 32:m + r * 32 + 32, k:k + 64], mbar=bar, cta_mask=3)
#pragma once

#include <optional>
#include <vector>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

/// The ranks that `multicast=` lists, and whether they share the copy among them.
struct Multicast {
  std::vector<ir::ExprId> ranks = {};
  Span at = {};
  std::optional<Span> split = {};  // where it says so
};

/// Takes a keyword of a call that is one of the two; false: it is not, or is meant for tensor memory.
Result<bool> read_multicast(Context& in, const CallArgs::Named& named, Multicast& multicast);
/// Makes the call what the settings say.
Result<void> apply_multicast(Context& in, const Multicast& multicast, ir::TileCall& call);

}  // namespace ww::script
