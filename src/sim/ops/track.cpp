// SPDX-License-Identifier: Apache-2.0
// Copies, packs and selections of undefined bytes.
#include "sim/ops/track.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "isa/type.h"
#include "sim/checks/undefined.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/pred_source.h"

namespace ww::sim {
namespace {

constexpr unsigned kHalfRow = kLanes;  // bytes 8 to 15 of 128-bit registers are that much further

bool is_zero(const std::uint8_t* bytes) {
  std::uint64_t words[4];
  std::memcpy(words, bytes, sizeof words);
  return (words[0] | words[1] | words[2] | words[3]) == 0;
}

// The undefined bytes of the lanes from which a register takes them, or those of a constant.
const std::uint8_t* rows(Warp& warp, Place place) {
  static constexpr std::uint8_t kNone[2 * kLanes] = {};
  return place.is_constant() ? kNone : warp.undefined.of(place);
}

std::uint8_t shifted(unsigned bits, int by) {
  return static_cast<std::uint8_t>(by >= 0 ? bits << static_cast<unsigned>(by)
                                           : bits >> static_cast<unsigned>(-by));
}

// Of the 16 possible bytes of a value, row h holds 8. Adds `count` bytes from byte `from` of a
// source to byte `to` of a result; neither crosses a row.
void add_part(std::uint8_t* result, unsigned to, const std::uint8_t* source, unsigned from,
              unsigned count) {
  const auto wanted = static_cast<std::uint8_t>((1U << count) - 1U);
  result += to / 8 * kHalfRow;
  source += from / 8 * kHalfRow;
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::uint8_t part = shifted(source[l], -static_cast<int>(from % 8)) & wanted;
    result[l] = static_cast<std::uint8_t>(result[l] | shifted(part, static_cast<int>(to % 8)));
  }
}

void write_rows(Warp& warp, Place place, const std::uint8_t* rows_of_result, unsigned bytes) {
  std::uint8_t* const to = warp.undefined.write(place, warp.exec);
  blend(to, rows_of_result, warp.exec);
  if (bytes > 8) blend(to + kHalfRow, rows_of_result + kHalfRow, warp.exec);
}

// Bits of undefined bytes that are known all the same, in all lanes.
struct KnownBits {
  std::uint64_t lane[kLanes] = {};

  KnownBits() = default;
  KnownBits(const Warp& warp, Place place) {
    for (unsigned l = 0; l < kLanes; ++l) lane[l] = known_bits(warp, place, l);
  }
};

}  // namespace

bool has_undefined(Warp& warp, Place place) {
  return !place.is_constant() && !is_zero(warp.undefined.of(place));
}

std::uint8_t undefined_in_lane(Warp& warp, Place place, unsigned lane) {
  return place.is_constant() ? std::uint8_t{0} : warp.undefined.of(place)[lane];
}

void set_undefined(Warp& warp, Place place, const std::uint8_t* bytes) {
  blend(warp.undefined.write(place, warp.exec), bytes, warp.exec);
}

Mask undefined_pred(Warp& warp, Place place) {
  Mask lanes = 0;
  if (!place.is_constant()) std::memcpy(&lanes, warp.undefined.of(place), sizeof lanes);
  return lanes;
}

void set_undefined_pred(Warp& warp, Place place, Mask lanes) {
  const Mask all = (undefined_pred(warp, place) & ~warp.exec) | (lanes & warp.exec);
  std::memcpy(warp.undefined.write(place, 0), &all, sizeof all);
}

void track_copy(Warp& warp, const Op& op) {
  const KnownBits known(warp, op.p[1]);
  set_undefined(warp, op.p[0], rows(warp, op.p[1]));
  set_known_bits(warp, op.p[0], known.lane);
}

void track_copy_wide(Warp& warp, const Op& op) {
  write_rows(warp, op.p[0], rows(warp, op.p[1]), sizeof(Wide));
}

void track_copy_pred(Warp& warp, const Op& op) {
  set_undefined_pred(warp, op.p[0], undefined_pred(warp, op.p[1]));
}

void track_pack(Warp& warp, const Op& op) {
  std::uint8_t result[2 * kHalfRow] = {};
  KnownBits known;
  const unsigned count = op.as<Parts>().count, whole = count * op.bytes;
  for (unsigned i = 0; i < count; ++i) {
    if (!has_undefined(warp, op.p[i + 1])) continue;
    add_part(result, i * op.bytes, warp.undefined.of(op.p[i + 1]), 0, op.bytes);
    const KnownBits part(warp, op.p[i + 1]);
    for (unsigned l = 0; l < kLanes && whole <= 8; ++l)
      known.lane[l] |= part.lane[l] << (8 * i * op.bytes);
  }
  write_rows(warp, op.p[0], result, whole);
  set_known_bits(warp, op.p[0], known.lane);
}

void track_unpack(Warp& warp, const Op& op) {
  std::uint8_t source[2 * kHalfRow];  // a copy: a part may lie in the source's own place
  const unsigned count = op.as<Parts>().count, whole = count * op.bytes;
  std::memcpy(source, rows(warp, op.p[count]), whole > 8 ? sizeof source : kHalfRow);
  const KnownBits known(warp, op.p[count]);
  const std::uint64_t in_part = ~std::uint64_t{0} >> (64U - 8U * std::min<unsigned>(op.bytes, 8));
  for (unsigned i = 0; i < count; ++i) {
    std::uint8_t part[kLanes] = {};
    add_part(part, 0, source, i * op.bytes, op.bytes);
    set_undefined(warp, op.p[i], part);
    KnownBits of_part;
    for (unsigned l = 0; l < kLanes && whole <= 8; ++l)
      of_part.lane[l] = (known.lane[l] >> (8 * i * op.bytes)) & in_part;
    set_known_bits(warp, op.p[i], of_part.lane);
  }
}

namespace {

// --- calculations --------------------------------------------------------------------------------

// Values side by side in a register: 2 of `f16x2`, 4 of `e4m3x4`.
unsigned part_count(isa::Type type) {
  const std::string_view name = isa::info(type).name;
  return name.ends_with("x2") ? 2 : name.ends_with("x4") ? 4 : 1;
}

unsigned register_bytes_of(isa::Type type) {
  return static_cast<unsigned>(std::max(isa::info(type).bits, 8)) / 8;
}

// The bytes of part i of so many.
unsigned part_bytes(unsigned i, unsigned parts, unsigned bytes) {
  const unsigned first = i * bytes / parts;
  const unsigned last = ((i + 1) * bytes - 1) / parts;
  return (2U << last) - (1U << first);
}

/// The parts of an op's results that depend on undefined bytes.
class Spread {
 public:
  explicit Spread(Warp& warp) : warp_(warp), operands_(warp.program->operands_of(warp.current)) {
    unsigned results = 0;
    for (const OperandInfo& operand : operands_) {
      if (!operand.is_result) {
        ++sources_;
        most_source_ = std::max(most_source_, part_count(operand.as));
        continue;
      }
      ++results;
      parts_ = std::max(parts_, part_count(operand.as));
      are_pair_ = results == 2 && operand.is_predicate();
    }
    are_pair_ = are_pair_ && most_source_ == 2;  // setp of two halves
    if (are_pair_) parts_ = 2;
  }

  void add_sources() {
    unsigned index = 0;
    for (const OperandInfo& operand : operands_)
      if (!operand.is_result) add(operand, index++);
  }

  void write_results() {
    unsigned index = 0;
    for (const OperandInfo& operand : operands_)
      if (operand.is_result) write(operand, index++);
  }

 private:
  [[nodiscard]] unsigned all() const { return (1U << parts_) - 1U; }

  // Which parts of the results undefined bytes of a source reach.
  [[nodiscard]] unsigned reached(const OperandInfo& source, unsigned index, unsigned bytes) const {
    const unsigned own = part_count(source.as);
    if (parts_ == 1 || source.is_predicate()) return all();
    if (own == 1) return sources_ == parts_ ? 1U << (parts_ - 1 - index) : all();
    if (own != parts_) return all();
    unsigned out = 0;
    for (unsigned i = 0; i < parts_; ++i)
      if ((bytes & part_bytes(i, parts_, register_bytes_of(source.as))) != 0) out |= 1U << i;
    return out;
  }

  void add(const OperandInfo& source, unsigned index) {
    if (source.place.is_constant() || !warp_.undefined.is_suspect(source.place)) return;
    const unsigned bytes = register_bytes_of(source.as);
    calculate_with(warp_, source.place, warp_.exec, bytes, source.is_predicate());
    if (source.is_predicate()) {
      for_each_lane(undefined_pred(warp_, source.place) & warp_.exec,
                    [&](unsigned l) { open_[l] = static_cast<std::uint8_t>(all()); });
      return;
    }
    const std::uint8_t* const marks = warp_.undefined.of(source.place);
    const unsigned wanted = (1U << std::min(bytes, 8U)) - 1U;
    for_each_lane(warp_.exec, [&](unsigned l) {
      const unsigned used = marks[l] & wanted;
      if (used != 0) open_[l] = static_cast<std::uint8_t>(open_[l] | reached(source, index, used));
    });
  }

  void write(const OperandInfo& result, unsigned index) {
    const unsigned bytes = std::min(register_bytes_of(result.type), 8U);
    Mask lanes = 0;
    std::uint8_t marks[kLanes] = {};
    for_each_lane(warp_.exec, [&](unsigned l) {
      const unsigned open = are_pair_ ? open_[l] & (1U << index) : open_[l];
      if (open == 0) return;
      lanes |= lane_bit(l);
      unsigned own = 0;
      for (unsigned i = 0; i < parts_; ++i)
        if (((open >> i) & 1U) != 0) own |= part_bytes(i, parts_, bytes);
      marks[l] = static_cast<std::uint8_t>(own);
    });
    if (result.is_predicate())
      set_undefined_pred(warp_, result.place, lanes);
    else
      set_undefined_bytes(warp_, result.place, marks);
  }

  Warp& warp_;
  std::span<const OperandInfo> operands_;
  unsigned parts_ = 1, sources_ = 0, most_source_ = 1;
  bool are_pair_ = false;  // of predicates, one for each half
  std::uint8_t open_[kLanes] = {};
};

}  // namespace

void spread_undefined(Warp& warp, const Op&) {
  Spread spread(warp);
  spread.add_sources();
  spread.write_results();
}

}  // namespace ww::sim
