// SPDX-License-Identifier: Apache-2.0
// The marks of undefined bytes in a warp's registers, with two shortcuts: which registers may hold
// any, and which ops had none in theirs. The rules are in checks/undefined.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/checks/lane_table.h"
#include "sim/op.h"
#include "sim/run/stack.h"

namespace ww::sim {

/// Of the registers of the function that runs; those of others are in the stack.
class UndefinedMarks {
 public:
  /// Of the whole stack: bits of undefined bytes that shifts and masks leave known, of registers of up to
  /// 64 bits, and where undefined bytes come from (origins.h), which may be stale where none is left.
  LaneTable<std::uint64_t> known;
  LaneTable<std::uint32_t> origins;
  bool are_early = false;  // `uninit=early`: calculations are accused, too

  [[nodiscard]] bool are_kept() const { return bytes_ != nullptr; }
  /// Bit b of lane l's byte is byte b of its value; of a 128-bit register, bytes 8 to 15 are in the 32
  /// bytes that follow. For predicates a mask of lanes in the first four bytes. Only while they are kept.
  [[nodiscard]] const std::uint8_t* of(Place place) const { return bytes_ + place.offset(); }
  /// The same to be written anew, in these lanes.
  [[nodiscard]] std::uint8_t* write(Place place, Mask who) {
    if (!known.empty()) known.drop(at(place), who);
    if (suspect_ != nullptr && std::exchange(note(place), 1) == 0) suspect_anew();
    return bytes_ + place.offset();
  }
  /// Its offset in the stack.
  [[nodiscard]] std::uint64_t at(Place place) const { return frame_ + place.offset(); }

  /// Whether the register may hold undefined bytes; if not, there is nothing to look for.
  [[nodiscard]] bool is_suspect(Place place) const {
    return suspect_ == nullptr || suspect_[place.offset() / kSuspectBytes] != 0;
  }
  /// Notes of all registers, as in Stack; null: none are kept, all are suspect.
  [[nodiscard]] const std::uint8_t* suspects() const { return suspect_; }
  /// The register holds no undefined bytes.
  void clear_suspicion(Place place) {
    if (suspect_ != nullptr) note(place) = 0;
  }
  /// Some register is suspect that was not, or the registers are another function's.
  void suspect_anew() {
    if (++suspicions_ == 0) forget();
  }

  /// Registers of an op, when it was last looked at, were all defined, and none is suspect since.
  [[nodiscard]] bool was_defined(std::uint32_t op) const {
    return defined_at_[op & (defined_at_.size() - 1)] == now(op);
  }
  void note_defined(std::uint32_t op) { defined_at_[op & (defined_at_.size() - 1)] = now(op); }

  /// A program of so many ops begins.
  void start(std::size_t ops) {
    constexpr std::size_t kMaxRemembered = 1024;  // as many as most loops have
    known.clear();
    origins.clear();
    if (are_kept()) defined_at_.resize(std::min(std::bit_ceil(ops), kMaxRemembered));
    forget();
  }
  /// From here on the registers are those at that offset of the stack; no marks if it keeps none.
  void enter(const Stack& stack, std::uint32_t frame) {
    if (frame != frame_) suspect_anew();
    frame_ = frame;
    begin(stack.undefined_at(frame), stack.suspect_at(frame));
  }
  /// The registers' marks, and their notes or null.
  void begin(std::uint8_t* bytes, std::uint8_t* suspect) {
    bytes_ = bytes;
    suspect_ = suspect;
  }

 private:
  [[nodiscard]] std::uint8_t& note(Place place) { return suspect_[place.offset() / kSuspectBytes]; }
  [[nodiscard]] std::uint64_t now(std::uint32_t op) const {
    return (std::uint64_t{op} << 8U) | suspicions_;
  }
  // Of no op it is known that its registers are all defined.
  void forget() {
    suspicions_ = 1;
    std::ranges::fill(defined_at_, 0);
  }

  std::uint8_t* bytes_ = nullptr;    // null: not kept
  std::uint8_t* suspect_ = nullptr;  // as in Stack
  // Of ops, each at its number modulo the size, a power of two: the op in the upper bits, in the lowest
  // eight the count of suspicions when its registers were all defined.
  std::vector<std::uint64_t> defined_at_;
  std::uint8_t suspicions_ = 1;
  std::uint32_t frame_ = 0;
};

}  // namespace ww::sim
