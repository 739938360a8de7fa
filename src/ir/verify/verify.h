// SPDX-License-Identifier: Apache-2.0
// The verifier: what every function must satisfy after each phase. The invariants, by the names
// that appear in findings:
//
//   nodes        ids name nodes, nodes have the parts of their kind, operands are made before
//                their users, a statement stands in one place; where this fails, nothing else
//                is looked at
//   scoping      every variable and buffer is used inside the block that binds it, after its
//                binding, and is bound once; views of views do not exist; parameters are bound
//                by the header
//   types        each node's operands have the types that ir/build.h would give them;
//                conditions are bool, indices are integers, a store's value has the buffer's
//                element type
//   shapes       extents are integers, constant ones at least 1; ranks agree; constant indices
//                lie inside the shape, and regions do for all ids of the launch, as far as these
//                decide where they are; those of a copy with `fill_value` or `clip`
//                (ir/settings.h) may leave their buffers
//   layouts      an explicit layout has as many elements as the shape; a local buffer's memory
//                and a shared buffer's addresses are not negative; two elements of an Alloc do
//                not share a place; a view lies inside the storage it views
//   threads      a buffer with thread axes is not read or written element by element; its
//                thread axes fit the launch
//   scopes       a view is in the scope of its base; global memory is not allocated; at most
//                one shared.dyn allocation; shared and local allocations have constant sizes;
//                static shared memory fits the target
//   tensor       tmem buffers have an address, TLane/TCol layouts, at most 128 lanes and 512
//                columns, and are not accessed element by element; tcgen05.alloc column counts
//                are powers of two, 32 to 512
//   ids          scope ids describe a launch (ir/launch/launch.h)
//   collective   a tile call's scope is reached by whole units of it (ir/launch/active_set.h):
//                otherwise the finding names the threads. A copy between memories at warpgroup or
//                cta scope may be reached by part of a unit, if that part comes together
//   tile calls   arguments are of the kinds the op declares; regions of a copy agree in shape
//                after dropping unit extents; element types agree where the op needs it; the
//                operands of gemm have fitting shapes; elementwise sources stretch to the
//                destination
//   ptx          every instruction is a form of the catalogue with operands of its kinds; what
//                it writes can be written; addresses lead to the state space it looks in
//   registers    what warps ask for with setmaxnreg: `inc` takes and `dec` gives back, the warps of
//                a warpgroup ask for the same, and all together have what the CTA starts with
//   arrivals     an mbarrier that a thread certainly waits for, phase 0, is one at which as many threads
//                may arrive as it was made for
//   products     C of a product under way is not touched, nor its factors written; a stage of
//                factors is not given back to a copy while a product reads it
//   control      break and continue stand in loops; unroll and vectorized extents are constant
//   level        nodes of the other level do not occur: no tile call, scope id, layout or
//                thread axis in a lowered function, no launch variable in a tile program
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/diag.h"
#include "ir/function.h"
#include "target/target.h"

namespace ww::ir {

struct VerifyOptions {
  std::optional<target::Target> target;  // its limits and instructions; none: those of any target
  bool check_uniform = true;             // `collective`
  std::size_t max_findings = 50;
};

/// All violations found, in source order (those without a place last); empty when the function is
/// good.
std::vector<Diag> verify(const Function& function, const VerifyOptions& options = {});
/// What the target adds for a function in which `verify` found nothing, without a target or for
/// another one: limits of its memory, and instructions that it does not have.
std::vector<Diag> verify_on_target(const Function& function, const target::Target& target);

}  // namespace ww::ir
