// SPDX-License-Identifier: Apache-2.0
// The proof of a lowering: the code that a variant has written is carried out, by the definition of
// each instruction, on names of elements (copies) or on numbers that stand for them (what
// computes), and what has come out is compared with what the call means.
//
// Nothing here looks at a plan, or at how a variant thinks. Addresses come from evaluating the
// written expressions for every thread of a unit; which bytes a vector access or a matrix copy
// moves comes from the catalogue's fragments (isa/fragment.h); what must come out comes from
// applying the two layouts to the coordinates of every element (layout/apply.h). Variables whose
// value is known at run time only take a few values from their range; all threads, registers and
// elements are gone through for each.
#pragma once

#include <string>

#include "lower/call.h"

namespace ww::lower {

/// Nothing when the code does exactly what the call means; otherwise the first difference in words.
/// `could_not` is set when there is something in the code or the call that cannot be carried out
/// here.
struct Proof {
  std::string difference;
  std::string could_not;
  [[nodiscard]] bool holds() const { return difference.empty() && could_not.empty(); }
};

/// Of a copy, or of permute_layout, which may work in place.
Proof prove_copy(const Call& call, const ir::Block& code);

/// A copy out of memory into which a later copy of the same primitive writes.
struct EarlierRead {
  ir::TileCall tile;
  ir::Block code = {};
  ir::Unit ordered = ir::Unit::Thread;  // by barriers since, within units of this size
};
/// Of such a later copy: no thread may write what another may still read. Copies of clusters hold.
Proof prove_in_place(const Call& call, const ir::Block& code, const EarlierRead& read);

/// The same for a product. Here registers hold numbers modulo 2^64 that stand for the elements, mma
/// multiplies and adds them, and what comes out is compared with the sums that the call means.
Proof prove_gemm(const Call& call, const ir::Block& code);

/// The same for an asynchronous product. Factors in shared memory are found by decoding descriptors.
Proof prove_async_gemm(const Call& call, const ir::Block& code);
/// A `gemm` by asynchronous products that the code fences, commits and waits for.
Proof prove_waited_gemm(const Call& call, const ir::Block& code);

/// The same for an elementwise primitive. Values are numbers that are hashed with the operation.
Proof prove_elementwise(const Call& call, const ir::Block& code);

/// The same for a reduction. Values are multisets of names; sums of floats also have the order in
/// which they were added.
Proof prove_reduction(const Call& call, const ir::Block& code);

/// The same for a gather or scatter. Indices take a few choices of numbers, of any order and, where
/// the call allows that, out of range.
Proof prove_indexed(const Call& call, const ir::Block& code);
/// The same for a scan.
Proof prove_scan(const Call& call, const ir::Block& code);

}  // namespace ww::lower
