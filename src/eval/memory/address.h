// SPDX-License-Identifier: Apache-2.0
// From pointers, buffers and indices to addresses.
#pragma once

#include <span>
#include <vector>

#include "eval/cta/cta.h"

namespace ww::eval {

/// The pointer to the byte of an address; 0 for none.
Word pointer_to(Address at);
/// The number of a CTA within its cluster.
std::int32_t rank_of(const Cta& cta);
/// The same place in the shared memory of another CTA of the cluster, by its number; a finding, and no
/// address, when there is no such CTA.
Address address_in(Cta& cta, Address at, std::int64_t rank);
/// The address in the shared window of a place in shared memory.
Word window_address(const Cta& cta, Address at);
/// Of an address of the shared window, the same place in another CTA.
Word window_address_in(Cta& cta, Word address, std::int64_t rank);
/// Where a pointer points to; no address when it names no memory.
Address pointee(const Cta& cta, Word pointer);
/// Where an address of the shared window is.
Address shared_address(const Cta& cta, std::uint32_t address);
/// The same for a value of a type: 32 bits are in the shared window, others are a pointer.
Address address_from(const Cta& cta, ir::Type type, Word value);

/// Where the buffer begins in each thread.
class Bases {
 public:
  Bases(Cta& cta, const BufferInfo& info, Threads ts);
  /// Of the n-th of the threads.
  const Address& operator[](std::size_t n) const { return each_.empty() ? all_ : each_[n]; }
  /// Does it begin at the same place in all threads?
  [[nodiscard]] bool are_equal() const;

 private:
  Address all_;
  std::vector<Address> each_;  // empty: the same by definition
};

/// The elements that indices name, `lanes` of them for each thread, lane by lane. One that leaves
/// the buffer is a finding, and is at no address.
class Located {
 public:
  static constexpr Word kOutside = ~Word{0};
  Located(Cta& cta, const BufferInfo& info, std::span<const ir::ExprId> indices, int lanes,
          Threads ts);
  [[nodiscard]] std::size_t size() const { return flats_.size(); }
  Element operator[](std::size_t i) const {
    const std::size_t n = i < threads_.size() ? i : i % threads_.size();
    if (flats_[i] == kOutside) return {.at = {}, .owner = threads_[n], .info = info_, .flat = 0};
    const auto flat = static_cast<std::int64_t>(flats_[i]);
    const Spot spot = info_->placement.spot(flat);
    const std::int64_t lane = is_tmem_ ? spot.owner * kTmemLaneBits : 0;
    return {.at = bases_[n] + (spot.memory * info_->bits + lane),
            .owner = threads_[n],
            .info = info_,
            .flat = flat};
  }

 private:
  const BufferInfo* info_;
  Threads threads_;
  Words flats_;  // row-major numbers, or kOutside
  Bases bases_;
  bool is_tmem_;
};

}  // namespace ww::eval
