// SPDX-License-Identifier: Apache-2.0
// Source predicates, which PTX allows as `!p`: bit k of op.negated says that of p[k].
#pragma once

#include <cstdint>

#include "sim/decode/decoder.h"
#include "sim/lanes.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// Makes operand i of the form the op's place k, a predicate that is read.
inline void take_pred(Decode& in, std::size_t i, unsigned k) {
  in.op.p[k] = in.source(i);
  if (in.is_negated(i)) in.op.negated = static_cast<std::uint8_t>(in.op.negated | (1U << k));
}

/// The lanes in which the predicate at place k holds.
inline Mask source_pred(const Warp& warp, const Op& op, unsigned k) {
  return warp.pred(op.p[k]) ^ (Mask{0} - ((static_cast<Mask>(op.negated) >> k) & 1U));
}

}  // namespace ww::sim
