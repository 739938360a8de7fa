// SPDX-License-Identifier: Apache-2.0
// `argmax` and `argmin` of elements of 64 bits, which leave no room for an index beside them in what
// lanes and warps hand on: first the greatest element, then where it is.
//
//     Tx.cta.argmax(index, A[0:64, 0:32])              A float64
//
//     Tx.cta.max(A_best, A[0:64, 0:32])                in every thread that holds part of a row
//     Tx.cta.equal(A_is_best, A, A_best)               by their bits: -0 is less than +0
//     Tx.cta.equal(A_is_number, A, A_best)             floats only: NaN is not the greatest
//     Tx.cta.logical_and(A_is_best, A_is_best, A_is_number)
//     Tx.cta.argmax(index, A_is_best)                  the first that is; 0 where none is
#pragma once

#include "lower/lowered_op.h"

namespace ww::lower {

/// Does a reduction between registers look for the index of such an element?
bool is_wide_index(const ir::Function& f, const ir::TileCall& fold);
/// Adds the calls that it stands for. Declines a source whose rows no layout of threads reduces to.
Match<void> add_wide_index(const Call& call, const ir::TileCall& fold, Expansion& out);

}  // namespace ww::lower
