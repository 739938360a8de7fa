// SPDX-License-Identifier: Apache-2.0
// What lowering decided, call by call: every variant's verdict, the plan that was chosen, and what
// it costs. `driver` turns it into text and JSON; nothing here is formatted for people but single
// phrases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diag.h"
#include "ir/function.h"
#include "ir/unroll/unroll.h"

namespace ww::lower {

/// What a variant said to a call.
struct Verdict {
  enum class Kind : std::uint8_t {
    Chosen,
    Declined,
    NotAsked,  // an earlier variant had taken the call, or `dispatch=` names another one
  };
  std::string variant;  // "ldstmatrix"
  int priority = 0;
  Kind kind = Kind::NotAsked;
  std::string rule = {};    // Declined: "alignment"
  std::string reason = {};  // Declined: in words, with the values seen
};

/// One kind of instruction of a plan.
struct InstructionCount {
  std::string opcode;           // "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
  std::int64_t per_thread = 0;  // executed by a thread that takes part in all of them
  std::int64_t bytes = 0;       // moved by one thread in one of them
};

/// Shared-memory turns of the whole primitive, over all warps of its unit.
struct Wavefronts {
  std::int64_t needed = 0;
  std::int64_t ideal = 0;
  [[nodiscard]] std::int64_t conflicts() const { return needed - ideal; }
};

/// The chosen plan.
struct PlanReport {
  std::string summary;                         // "ldmatrix .x2, 1 per thread"
  std::vector<InstructionCount> instructions;  // in the order of their first use
  std::int64_t elements = 0;                   // of the tile
  std::int64_t bytes = 0;                      // of the tile
  std::int64_t threads = 0;                    // that take part, of one unit
  std::int64_t registers = 0;  // 32-bit registers per thread of the register operand
  // The same by operand where all of them are in registers: "A", 4.
  std::vector<std::pair<std::string, std::int64_t>> operand_registers;
  std::string tiling;                    // of a product: "4 x 8 x 1 tiles of m16n8k16"
  std::int64_t flops = 0;                // of one unit; of a product: multiplications and additions
  int vector_bits = 0;                   // of the widest access; 0: not vectors
  std::int64_t rounds = 0;               // of a thread
  std::optional<Wavefronts> wavefronts;  // where shared memory takes part
  std::string
      remedy;  // a layout that would be free of bank conflicts, proven by counting; or empty
  std::vector<std::string> notes;  // "3 of 16 words do not fit ldmatrix and are moved by `reg`"

  /// Counts instructions, each of which moves so many bytes of a thread; equal ones are one row.
  void add_instruction(std::string opcode, std::int64_t count, std::int64_t moved) {
    for (InstructionCount& each : instructions)
      if (each.opcode == opcode) {
        each.per_thread += count;
        return;
      }
    instructions.push_back({std::move(opcode), count, moved});
  }
};

struct OperandReport {
  std::string role;    // "dst"
  std::string region;  // "R[0:8, 0:4]"
  std::string dtype;
  std::string scope;   // "shared"
  std::string layout;  // in layout notation; empty: row-major with runtime extents
};

struct CallReport {
  Span span;
  std::string name;     // "Tx.wg.copy"
  std::string op;       // "copy"
  std::string scope;    // "warp"
  std::string threads;  // who comes here: "all 128 threads"
  std::vector<OperandReport> operands;
  std::vector<Verdict> verdicts;
  std::string chosen;  // empty: nothing accepted
  PlanReport plan;     // of the chosen variant
};

/// What became of an access to memory in a `T.vectorized` loop.
struct VectorAccess {
  std::string buffer;
  bool is_store = false;
  int bits = 0;             // of one instruction
  std::string reason = {};  // why it moves one element
};
struct VectorLoop {
  Span span;
  std::string var;
  std::vector<VectorAccess> accesses = {};
  std::string reason = {};  // why it goes round by round
};

struct LoweringReport {
  std::vector<CallReport> calls;          // in the order of the source
  std::vector<ir::SpilledArray> spilled;  // register arrays that went to local memory
  std::vector<VectorLoop> vectorized;
};

}  // namespace ww::lower
