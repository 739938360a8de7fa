// SPDX-License-Identifier: Apache-2.0
// Machine code (SASS) as `nvdisasm -c -gp` lists it: the instructions of each function, its labels,
// and the line of PTX that each instruction was made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace ww::runtime {

/// Views into the listing.
struct SassInstruction {
  std::uint32_t address = 0;
  std::uint32_t line = 0;          // of the PTX; 0: unknown
  std::string_view guard = {};     // "@!P0"; empty: always executed
  std::string_view opcode = {};    // "MEMBAR.ALL.GPU"
  std::string_view operands = {};  // "R24, gdesc[UR4], R24"
};

struct SassFunction {
  std::string_view name = {};
  std::vector<SassInstruction> code = {};
  std::map<std::string_view, std::size_t, std::less<>> labels = {};  // places in the code
};

/// The functions of a listing, which must outlive them. DeviceError for a text without any code, or
/// with a line of code that has no instruction.
Result<std::vector<SassFunction>> read_listing(std::string_view text);

// --- loops ---------------------------------------------------------------------------------------
//
// Loops of machine code: from branches to blocks, to which blocks come before which on every way, to
// natural loops. Code that is unreachable from the function's start (padding, the assembler's own
// functions after it) is in no loop.

struct SassLoop {
  std::size_t first = 0;  // the instruction that each round starts with
  std::vector<std::size_t> code =
      {};              // places of its instructions, ascending, those of inner loops too
  unsigned depth = 1;  // 1: in no other loop
};

/// By their first instruction.
std::vector<SassLoop> find_loops(const SassFunction& function);

/// For each instruction the number of loops around it.
std::vector<unsigned> loop_depths(const SassFunction& function, const std::vector<SassLoop>& loops);

// --- remarks -------------------------------------------------------------------------------------
//
// Machine code that costs more than the PTX looks: what ptxas makes of it inside loops, found in its
// disassembly. Nothing here is wrong. Each remark has a line of PTX, what is there, and a remedy.

enum class SassKind : std::uint8_t {
  Fence,             // a memory barrier of the whole GPU
  SerialProducts,    // each wgmma is waited for before the next
  AccumulatorMoves,  // between the registers of wgmma
  DescriptorMoves,   // from registers to the uniform registers that wgmma reads
  Spill,             // registers kept in local memory
  LocalMemory,       // arrays there
  Division,          // and square roots: many instructions, or a call
  Doubles,           // where the GPU has next to no units for them
  Assembler,         // what ptxas says itself
};
/// "gpu fence", "serialised wgmma".
std::string_view name_of(SassKind kind);

struct SassRemark {
  SassKind kind{};
  std::uint32_t line = 0;   // of the PTX; 0: unknown
  std::uint32_t count = 0;  // instructions
  unsigned depth = 0;       // of the loop that they are in; 0: in none
  std::string sass = {};    // "MEMBAR.ALL.GPU"
  std::string text = {};    // what it costs, and what to do
};

/// What the code was made from and for.
struct SassSource {
  target::Arch arch{};
  std::string_view ptx = {};
  bool has_spills = false;  // by what ptxas says
};

/// By line.
std::vector<SassRemark> sass_remarks(const SassFunction& function, const SassSource& source);

/// A function with its loops, for the parts of sass_remarks.
struct SassView {
  const SassFunction& function;
  const SassSource& source;
  std::vector<SassLoop> loops;
  std::vector<unsigned> depths;  // by instruction

  /// nullptr: it is in no loop.
  [[nodiscard]] const SassLoop* innermost(std::size_t instruction) const;
};
/// "in a loop", "in a loop of depth 2".
std::string loop_text(unsigned depth);
/// Of matrix products of warpgroups.
void add_product_remarks(const SassView& view, std::vector<SassRemark>& out);

}  // namespace ww::runtime
