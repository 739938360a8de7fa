// SPDX-License-Identifier: Apache-2.0
// Where local buffers live. One whose every access is at a constant place is an array of registers,
// cut into *cells* of one register each:
//
//   element cells   all accesses are of one width: a register per element
//   64-bit cells    all accesses are whole 64-bit words
//   32-bit cells    everything else: several narrow elements share a register, wide ones take two
//
// The rest lies in local memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/small_vec.h"
#include "emit/ptx/types.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::emit::to_ptx {

struct LocalPlan {
  bool is_local = false;  // a local Alloc buffer at all
  bool in_registers = false;
  int cell_bits = 32;
  Class cls = Class::R;                 // of a cell
  std::optional<num::DType> type = {};  // of all accesses
  std::int64_t bytes = 0;
  std::vector<bool> is_assigned_once = {};  // by cell: the register of its only value stands for it
};

/// By BufferId index; views share the plan of their storage, which is not repeated for them.
std::vector<LocalPlan> plan_locals(const ir::Function& function, const ir::Ranges& ranges);

/// An integer expression that has one value only.
std::optional<std::int64_t> constant_of(const ir::Function& function, ir::ExprId expr,
                                        const ir::Ranges& ranges);
/// The element number of an index list, when it is constant.
std::optional<std::int64_t> constant_index(const ir::Function& function, const ir::Buffer& buffer,
                                           std::span<const ir::ExprId> indices,
                                           const ir::Ranges& ranges);
/// Elements between neighbours in each dimension; buffers are row-major. Empty when an extent that
/// counts is not constant.
using Strides = SmallVec<std::int64_t, 3>;
Strides strides_of(const ir::Function& function, const ir::Buffer& buffer);

}  // namespace ww::emit::to_ptx
