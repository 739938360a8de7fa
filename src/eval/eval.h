// SPDX-License-Identifier: Apache-2.0
// The reference evaluator: runs a tile program by its meaning. Buffers are logical tensors placed
// by their layouts, tile primitives move and combine logical elements by definition, no instruction
// is chosen. It is the oracle that everything lowered is compared with, so it shares number formats
// and layouts with the rest, and nothing else.
//
// Threads of a CTA run in groups that stand at the same point of the program; the group furthest
// behind goes first, so threads that parted meet again as early as they can, and threads that wait
// for others let them pass. CTAs run one after the other (CTAs of a cluster together).
//
// A primitive reads all its operands before it writes. Its accesses to shared and global memory are
// those of some thread of its unit, so that another thread of the unit needs a barrier; only copies
// into registers are read by the threads that get the elements. Elementwise primitives and
// reductions with a shared destination end with a barrier of their unit. A copy between memories
// that only part of its unit can reach is made by that part. Registers that a layout does not
// assign to one thread of the unit (no thread axis, or fewer than the unit has) are held by all of
// them. The CTAs of a cluster make its reductions together, once all have come; that orders nothing
// else they do.
//
// What has no meaning is found, not computed around:
//
//   uninit    an element is used that nothing has written (copying it is no use)
//   race      two threads touch an element, at least one writes it, and nothing orders them,
//             whatever the value. Lanes of one warp that write by one statement do not race: one of
//             them wins, here the last
//   bounds    an index leaves the shape, a place leaves the storage, or a register belongs to a
//             thread that is not in the unit
//   overflow  a sum or product in an index, a region's start or a loop's bound leaves its type
//             (ir/indices.h); in values it wraps around
//   async     an asynchronous copy's target is read, or its source written, before its wait; the
//             kernel ends without one
//   barrier   threads wait at barriers that the others never reach (the run ends there); a barrier
//             or collective that only part of its unit reaches; operands that differ in a unit
//   replica   the copies of a replicated element differ
//   tensor    tensor memory is used before it is allocated, or not given back
//   assert    an `assert` of the program fails
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/function.h"

namespace ww::eval {

/// Memory for a buffer parameter: packed elements in C order (see `Element storage` below), shape
/// in case the kernel's has runtime extents. `is_defined` says whether its contents count as
/// written.
///
/// Element storage: 8 bits and more in whole little-endian bytes; 6 bits in a byte; 4 bits two to a
/// byte, the element of even index in the low nibble.
struct BufferArg {
  std::vector<std::byte>* bytes = nullptr;
  std::vector<std::int64_t> shape;
  bool is_defined = true;
  /// Instead of memory, how many bytes there are: enough for bind_arguments.
  std::optional<std::size_t> size = {};
};
/// The bits of a scalar parameter.
struct ScalarArg {
  std::uint64_t bits = 0;
};
using Argument = std::variant<BufferArg, ScalarArg>;

enum class Check : std::uint8_t {
  Uninit,
  Race,
  Bounds,
  Overflow,
  Async,
  Barrier,
  Replica,
  Operand,  // what must be one value for a unit differs between its threads
  Tensor,
  Assert
};
std::string_view name_of(Check check);

/// Something without meaning, at a statement; equal ones of one statement are counted once.
struct Finding {
  Check check{};
  /// "`A_smem[3, 5]` is used by thread 7 of CTA (0,0,0), and nothing has written it"
  std::string text;
  Span span;         // where it happened
  std::string note;  // "written here by thread 3", or empty
  Span note_span;
  std::uint64_t times = 1;
};

/// The limits of a run; a run that exceeds one ends with RunLimit at its current statement, and a
/// note names the loop that took most. The terms match the virtual GPU's.
struct Limits {
  /// Statements and the operations in their expressions, each counted once for every 32 threads, or
  /// fewer, that execute it together; a tile primitive counts one more for every 16 elements, or
  /// fewer, of each operand, and for every 1024 products. A million takes about half a second.
  std::uint64_t instructions = 5'000'000;
  double seconds = 0;                              // 0: no limit
  std::uint64_t memory = std::uint64_t{8} << 30U;  // bytes of buffers and what is kept beside them
};

struct Options {
  Limits limits = {};
  std::uint64_t seed = 0;         // 0: groups furthest behind first; else in an order drawn from it
  std::size_t max_findings = 20;  // different ones that are kept
  std::function<bool()> keep_going = {};  // asked now and then; false ends with RunLimit
};

struct Report {
  std::array<std::int64_t, 3> grid{1, 1, 1};  // CTAs that ran, x first
  std::vector<Finding> findings;
  std::uint64_t dropped = 0;               // findings beyond max_findings
  std::uint64_t steps = 0;                 // statements executed, times threads
  std::vector<std::vector<bool>> written;  // per parameter: which elements were written
  std::string printed;                     // by printf
  [[nodiscard]] bool good() const { return findings.empty(); }
};

/// Runs the kernel. `arguments` correspond to function.params. Fails with BadArgument when they do
/// not fit (count, size, extents that contradict each other), NotEvaluated, with the location, for
/// code that the evaluator does not execute, RunLimit.
Result<Report> run(const ir::Function& function, std::vector<Argument> arguments,
                   const Options& options = {});

}  // namespace ww::eval
