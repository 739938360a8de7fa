// SPDX-License-Identifier: Apache-2.0
// Machine code that costs more than the PTX looks: what ptxas makes of it inside loops, found in its
// disassembly. Nothing here is wrong. Each remark has a line of PTX, what is there, and a remedy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sass/listing.h"
#include "runtime/sass/loops.h"
#include "target/target.h"

namespace ww::runtime {

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
