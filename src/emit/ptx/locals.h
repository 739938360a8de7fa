// SPDX-License-Identifier: Apache-2.0
// The contents of register arrays. A 32-bit cell that narrow elements share is kept in one of two
// shapes, the one written last: the whole word, or its pieces (two halves, four bytes, or eight pieces of 4 bits).
// Reading the word packs the pieces, and reading a piece unpacks the word; so writing consecutive
// elements costs one `mov.b32 %r, {%rs, %rs}`, and copying a word costs nothing.
//
// Where control flow splits or joins, all cells must be words: `settle` packs them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/small_vec.h"
#include "emit/ptx/kernel_code.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::emit::to_ptx {

// Names of the program that all files here use.
using ir::BufferId;
using ir::BufferOrigin;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::Stmt;
using ir::StmtKind;
using ir::VarId;
using num::DType;

// --- local plan ----------------------------------------------------------------------------------
//
// Where local buffers live. One whose every access is at a constant place is an array of registers,
// cut into *cells* of one register each:
//
//   element cells   all accesses are of one width: a register per element
//   64-bit cells    all accesses are whole 64-bit words
//   32-bit cells    everything else: several narrow elements share a register, wide ones take two
//
// The rest lies in local memory.

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

class Locals {
 public:
  Locals(std::vector<LocalPlan> plans, KernelCode& code)
      : plans_(std::move(plans)), code_(code), cells_(plans_.size()) {}

  [[nodiscard]] const LocalPlan& plan(ir::BufferId storage) const { return plans_[storage.index]; }

  /// One element at a bit of the storage.
  Value read(ir::BufferId storage, std::int64_t bit, num::DType type);
  /// `since`: KernelCode::now() before the value was computed.
  void write(ir::BufferId storage, std::int64_t bit, num::DType type, Value value,
             std::uint32_t since, Guard guard = {});

  /// A whole cell that holds its contents: 32 or 64 bits, or an element.
  Value cell(ir::BufferId storage, std::int64_t bit);
  /// The register of a whole cell that is about to be written; what it holds is kept if `keeps`.
  Value cell_to_write(ir::BufferId storage, std::int64_t bit, bool keeps);

  /// Makes every cell a word again.
  void settle();

  /// Which cells hold anything yet: what one branch fills, the other has not.
  using Filled = std::vector<std::pair<std::size_t, std::size_t>>;  // buffer and cell
  [[nodiscard]] Filled filled() const;
  void set_filled(const Filled& filled);
  void add_filled(const Filled& filled);

 private:
  struct Cell {
    Value value = {};                  // the register; a constant too when assigned once
    bool has_word = false;             // the register holds the contents
    int piece_bits = 0;                // 0: no pieces are known
    std::array<Value, 8> pieces = {};  // by number; none: not known
    std::uint8_t written = 0;          // pieces that the register does not have yet
  };
  Cell& cell_at(ir::BufferId storage, std::int64_t bit);
  Cell& cell_of(std::size_t storage, std::size_t number);
  void pack(Cell& cell);
  void pack_halves(Cell& cell);
  void pack_small(Cell& cell);
  void unpack(Cell& cell, int bits, std::size_t number);
  Value read_piece(Cell& cell, int bits, std::size_t number);
  void write_piece(Cell& cell, int bits, std::size_t number, Value raw);
  void write_cell(Cell& cell, Value raw, bool is_once, std::uint32_t since, Guard guard);
  Value to_raw(Value value, Class cls);
  Value from_raw(Value raw, num::DType type);
  Value choose(Guard guard, Value yes, Value no);

  std::vector<LocalPlan> plans_;
  KernelCode& code_;
  std::vector<std::vector<Cell>> cells_;  // by buffer, as far as they were met
};

}  // namespace ww::emit::to_ptx
