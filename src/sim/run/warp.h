// SPDX-License-Identifier: Apache-2.0
// A warp: 32 lanes that execute together while they can. The members at the top are those of the
// split that runs now (splits.h); ops work on them directly. What else a warp can do is in the
// functions of run/splits.h, run/meet.h, run/calls.h, memory/access.h and checks/undefined.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/checks/known_bits.h"
#include "sim/checks/register_watch.h"
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
  std::uint8_t* undefined = nullptr;  // of the frame, as below; null: not tracked
  std::uint8_t* suspect = nullptr;    // of the frame, as in Stack; null: not tracked
  /// Of ops, each at its number modulo the size, a power of two: the op in the upper bits, in the
  /// lowest eight the count of suspicions when its registers were all defined. If there were none
  /// since, they still are. Empty: not tracked.
  std::vector<std::uint64_t> defined_at;
  std::uint8_t suspicions = 1;
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
  std::uint32_t registers = 0;     // of a thread, since a setmaxnreg; 0: as it started
  Splits splits;
  Stack stack;
  KnownBitsTable known;  // of its registers, while undefined bytes are tracked
  PendingWork pending;
  std::unique_ptr<RegisterWatch> register_watch;  // null: no wgmma, or not checked
  Region* last_region = nullptr;                  // of global memory

  // --- registers ---------------------------------------------------------------------------------
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
  /// Undefined bytes of a register: bit b of lane l's byte is byte b of its value; of a 128-bit
  /// register, bytes 8 to 15 are in the 32 bytes that follow. For predicates a mask of lanes in the
  /// first four bytes. Only while undefined bytes are tracked.
  [[nodiscard]] const std::uint8_t* undefined_lanes(Place place) const {
    return undefined + place.offset();
  }
  /// The same to be written anew, in these lanes.
  [[nodiscard]] std::uint8_t* mark_lanes(Place place, Mask who) {
    if (!known.empty()) known.drop(here.frame + place.offset(), who);
    if (suspect != nullptr && std::exchange(suspect[place.offset() / kSuspectBytes], 1) == 0)
      suspect_anew();
    return undefined + place.offset();
  }
  /// Some register is suspect that was not, or the registers are another function's.
  void suspect_anew() {
    if (++suspicions == 0) forget_defined();
  }
  /// Whether the register may hold undefined bytes; if not, there is nothing to look for.
  [[nodiscard]] bool is_suspect(Place place) const {
    return suspect == nullptr || suspect[place.offset() / kSuspectBytes] != 0;
  }
  [[nodiscard]] bool tracks() const { return undefined != nullptr; }

  // --- running -----------------------------------------------------------------------------------
  [[nodiscard]] bool done() const { return live == 0; }
  /// Makes a function of the stack the running one.
  void enter(const Activation& function);
  /// Of no op it is known that its registers are all defined.
  void forget_defined();

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
};

/// Makes the warp ready to run a kernel with these lanes.
void start_warp(Warp& warp, const Code& code, Mask born);
/// Runs up to `budget` ops; returns how many it did. 0: nothing can run now.
std::uint32_t run_warp(Warp& warp, std::uint32_t budget);
/// Stops the whole run: `trap`, an exhausted stack.
void trap(Warp& warp, const char* reason);

}  // namespace ww::sim
