// SPDX-License-Identifier: Apache-2.0
// One decoded instruction. Everything that can be known from the text is decided when a module is
// loaded: which function executes it, and where its operands lie. Executing is one indirect call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isa/family_id.h"
#include "isa/operand.h"
#include "ptx/module.h"

namespace ww::sim {

class Warp;
struct Op;

/// Where the 32 lanes of an operand lie: a byte offset into the frame of the running function, or
/// into the program's constants. A register of n bytes takes 32 * n of them; a predicate takes
/// four, one bit per lane.
class Place {
 public:
  constexpr Place() = default;
  static constexpr Place in_frame(std::uint32_t offset) { return Place(offset); }
  static constexpr Place in_constants(std::uint32_t offset) { return Place(offset | kConstant); }

  [[nodiscard]] constexpr bool present() const { return bits_ != kNone; }
  [[nodiscard]] constexpr bool is_constant() const { return (bits_ & kConstant) != 0; }
  [[nodiscard]] constexpr std::uint32_t offset() const { return bits_ & ~kConstant; }
  friend constexpr bool operator==(Place, Place) = default;

 private:
  static constexpr std::uint32_t kConstant = 0x8000'0000U;
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  explicit constexpr Place(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = kNone;
};

using RunOp = void (*)(Warp&, const Op&);

/// Properties of an op for the run loop.
enum OpFlags : std::uint8_t {
  kPlain = 0,
  kTracksItself = 1,  // its run function tracks undefined bytes; the loop looks at the guard alone
  kWatchesRegisters = 2,  // its run function tells the register watch; the loop does not
  kSettlesReads = 4,      // it needs values of loads that may end late (Program::settled_reads)
  kOnlyComputes =
      8,  // it changes nothing but its results, so an undefined guard decides nothing yet
};

/// Registers have places that are multiples of this, and a note for each whether they may hold
/// undefined bytes.
constexpr std::uint32_t kSuspectBytes = 4;

/// The registers of an op, each as its note of suspicion; repeated where it has fewer.
struct WatchedPlaces {
  static constexpr std::uint32_t kMany = ~std::uint32_t{0};  // more than fit, or none

  std::array<std::uint32_t, 6> at{kMany};
};

struct Op {
  RunOp run = nullptr;
  /// How undefined bytes go from sources to results, called before `run` when that is checked.
  /// Null: all sources decide something, all results are defined.
  RunOp track = nullptr;
  std::array<Place, 5> p{};  // results, then sources, in the order that its decoder chose
  Place guard{};
  /// What the modifiers say, in a type of the family's own: its decoder sets it, `run` gets it.
  /// Decode::keep takes what is larger.
  alignas(8) std::array<std::byte, 10> payload{};
  std::uint16_t place_count = 0;  // this op's further places: how many, and
  std::uint32_t first_place = 0;  // the first of them in Program::places
  std::uint32_t address = 0;      // first of this op's addresses in Program::addresses
  std::uint8_t flags = kPlain;
  bool guard_negated = false;
  std::uint8_t bytes = 0;    // size of one element, of those that move data
  std::uint8_t negated = 0;  // bit k: p[k] is a predicate of which the opposite counts

  template <typename Payload>
  void set(const Payload& it) {
    static_assert(std::is_trivially_copyable_v<Payload> && sizeof(Payload) <= sizeof payload &&
                  alignof(Payload) <= 8);
    new (payload.data()) Payload(it);
  }
  template <typename Payload>
  [[nodiscard]] const Payload& as() const {
    static_assert(std::is_trivially_copyable_v<Payload> && sizeof(Payload) <= sizeof payload);
    return *std::launder(reinterpret_cast<const Payload*>(payload.data()));  // NOLINT: set made it
  }
};
static_assert(sizeof(Op) == 64);

/// The payload of ops that need a number of their text and nothing else.
struct Constant {
  std::int64_t value = 0;
};

struct BranchOp {
  std::uint32_t target = 0;  // an op
};
struct CallOp {
  std::uint32_t site = 0;  // in Program::calls
};

/// What the modifiers of an op say, where its decoder has kept that (Decode::keep).
template <typename Form>
const Form& form_of(const Op& op) {
  return *op.as<const Form*>();
}

/// What the address of a variable is relative to: nothing, the local memory of the running function, or
/// the shared memory of the CTA.
enum class AddressOrigin : std::uint8_t { Absolute, Local, Shared };

/// `[base+offset]`: what is added up to make a lane's address.
struct Address {
  Place base{};  // a register, or a constant; not present: none
  std::int64_t offset = 0;
  isa::Space space = isa::Space::Generic;
  bool is_narrow = false;  // the base has 32 bits
  AddressOrigin origin = AddressOrigin::Absolute;
};

/// An operand as the text has it, for tracking and for traces.
struct OperandInfo {
  Place place{};
  isa::Type type = isa::Type::B32;  // of the register
  isa::Type as = isa::Type::B32;    // what the instruction takes it for
  bool is_result = false;
  ptx::NameId name = ptx::kNoName;  // kNoName: an immediate

  [[nodiscard]] bool is_predicate() const { return type == isa::Type::Pred; }
};

/// What is known about an op besides how to run it; same index as the op.
struct OpInfo {
  std::uint32_t offset = 0;  // of the opcode in the text
  std::uint32_t line = 0;    // of the text
  std::uint32_t loc = 0;     // index into Program::locs plus one; 0: none
  std::uint32_t function = 0;
  ptx::NameId opcode = ptx::kNoName;
  isa::FamilyId family{};
  std::uint32_t first_operand = 0;
  std::uint32_t operand_count = 0;
};

}  // namespace ww::sim
