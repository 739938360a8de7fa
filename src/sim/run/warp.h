// SPDX-License-Identifier: Apache-2.0
// A warp: 32 lanes that execute together while they can. The members at the top are those of the
// split that runs now (splits.h); ops work on them directly. A warp's other operations are
// functions of run/splits.h, run/meet.h, run/calls.h, memory/access.h and checks/undefined.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sim/checks/findings.h"
#include "sim/checks/register_watch.h"
#include "sim/checks/undefined_marks.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/op.h"
#include "sim/program.h"
#include "sim/run/pending.h"
#include "sim/run/splits.h"
#include "sim/run/stack.h"

namespace ww::sim {

class Cta;
class Unit;

class Warp {
 public:
  // --- the split that runs -----------------------------------------------------------------------
  Mask exec = 0;           // lanes that execute this op: the active ones whose guard holds
  Mask active = 0;         // lanes of the split
  std::uint32_t pc = 0;    // of the next op
  std::uint32_t stop = 0;  // at this pc or beyond it the loop asks who runs next
  std::byte* frame = nullptr;
  const std::byte* constants = nullptr;
  UndefinedMarks undefined;
  Activation here{};          // the function
  Grant grant{};              // for the next op
  std::uint32_t current = 0;  // the op that runs, or whose earlier work comes to its end

  // --- the warp ----------------------------------------------------------------------------------
  const Program* program = nullptr;
  Cta* cta = nullptr;
  Unit* unit = nullptr;
  unsigned index = 0;  // in the CTA
  Mask live = 0;       // lanes that exist and have not ended
  Mask born = 0;       // lanes that exist
  std::uint64_t executed = 0;
  std::uint32_t ended_at = kNoOp;  // the op that ended the last of its lanes
  std::uint32_t rank = 0;          // lower ones first (run/turns.h)
  std::uint64_t acts = 0;          // a sketch of the ops by which it let others go on
  std::uint32_t registers = 0;     // of a thread, since a setmaxnreg; 0: as it started
  Splits splits;
  Stack stack;
  PendingWork pending;
  std::unique_ptr<RegisterWatch> register_watch;  // null: no wgmma, or not checked
  Region* last_region = nullptr;                  // of global memory

  // --- registers ---------------------------------------------------------------------------------
  /// The further places of an op.
  [[nodiscard]] std::span<const Place> places(const Op& op) const {
    return {&program->places[op.first_place], op.place_count};
  }
  /// The 32 lanes of a register.
  template <typename T>
  [[nodiscard]] T* lanes(Place place) {
    return reinterpret_cast<T*>(frame + place.offset());  // NOLINT: raw bits by design
  }
  /// The 32 lanes of a register or constant that is only read.
  template <typename T>
  [[nodiscard]] const T* source(Place place) const {
    const std::byte* base = place.is_constant() ? constants : frame;
    return reinterpret_cast<const T*>(base + place.offset());  // NOLINT
  }
  /// Predicates: bit l is lane l.
  [[nodiscard]] Mask pred(Place place) const { return *source<Mask>(place); }
  void set_pred(Place place, Mask value) {
    Mask& bits = *lanes<Mask>(place);
    bits = (bits & ~exec) | (value & exec);
  }
  /// to = value in the executing lanes.
  template <typename T>
  void write(Place place, const T* value) {
    blend(lanes<T>(place), value, exec);
  }

  // --- running -----------------------------------------------------------------------------------
  [[nodiscard]] bool done() const { return live == 0; }
  /// Makes a function of the stack the running one.
  void enter(const Activation& function);

  // --- findings ----------------------------------------------------------------------------------
  /// Its number among all warps of the unit.
  [[nodiscard]] unsigned unit_warp() const;
  [[nodiscard]] bool checks(Check check) const;
  /// Whether the check is on and has found nothing yet at the running op, and at the other one; if
  /// it has, counts it up. Spares the text of what is found again and again.
  [[nodiscard]] bool is_new(Check check, std::uint32_t other_op = kNoOp, std::uint64_t count = 1);
  /// Adds a finding about the op that runs, in these lanes.
  void report(Check check, Mask who, std::string text);
  void report_at(Check check, Mask who, std::uint64_t address, std::string text,
                 const Party& other = {});
  void report_found(Check check, Mask who, std::uint64_t address, std::string text,
                    FoundOrigin origin, const Party& other = {});
};

/// Makes the warp ready to run a kernel with these lanes.
void start_warp(Warp& warp, const Code& code, Mask born);
/// Runs up to `budget` ops; returns how many it did. 0: nothing can run now.
std::uint32_t run_warp(Warp& warp, std::uint32_t budget);
/// Stops the whole run: `trap`, an exhausted stack.
void trap(Warp& warp, const char* reason);

}  // namespace ww::sim
